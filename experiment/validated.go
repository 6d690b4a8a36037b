package experiment

import (
	"slices"
	"strings"

	"heddle/sim/parity"
)

// NotValidated lists the keys of the points' machines that have values which were not compared with Vortex's RTL, each
// once, followed by those values.
func NotValidated(points []Point) (list []string) {
	seen := map[string]bool{} // machines, by what is set at their points
	var keys []string
	values := map[string][]string{} // by key
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
			key, value, _ := strings.Cut(v, " ")
			if values[key] == nil {
				keys = append(keys, key)
			}
			if !slices.Contains(values[key], value) {
				values[key] = append(values[key], value)
			}
		}
	}
	for _, key := range keys {
		list = append(list, strings.TrimSpace(key+" "+strings.Join(values[key], " ")))
	}
	return list
}
