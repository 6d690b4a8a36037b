package experiment

import (
	"slices"
	"strings"

	"heddle/sim/parity"
)

// NotValidated lists the keys of the points' machines, with their values, that have not been compared with Vortex's
// RTL: what parity's tables do not cover.
func NotValidated(points []Point) (list []string) {
	seen := map[string]bool{} // machines, by what is set at their points
	for i := range points {
		p := &points[i]
		var set strings.Builder
		for _, s := range p.Settings {
			if strings.HasPrefix(s.Key, "machine") {
				set.WriteString(s.Key + "=" + s.Value + "\n")
			}
		}
		if seen[set.String()] {
			continue
		}
		seen[set.String()] = true
		for _, v := range parity.NotValidated(p.Config.Machine) {
			if !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
	}
	return list
}
