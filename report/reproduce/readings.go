package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"heddle/experiment/config"
)

// Settings are the KEY=VALUE that a reading lays over a point which is as described: those of all rules whose
// conditions it meets, each key once, as its last rule has it.
func Settings(r *config.Reading, p *Point) (out []string) {
	for _, rule := range r.Rules {
		where, err := config.ParseConditions(rule.Where)
		if err != nil {
			panic(fmt.Sprintf("BUG: reproduce: conditions that were checked: %v", err))
		}
		if !p.meets(where) {
			continue
		}
		for _, s := range rule.Set {
			out = slices.DeleteFunc(out, func(o string) bool { return settingPath(o) == settingPath(s) })
			out = append(out, s)
		}
	}
	return out
}

// settingPath returns the path of the key that KEY=VALUE sets, which may be named by a former name.
func settingPath(s string) string {
	key, _, _ := strings.Cut(s, "=")
	return config.Schema.Path(key)
}
