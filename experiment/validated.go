package experiment

import (
	"fmt"
	"slices"
	"strings"

	"heddle/configs"
	"heddle/sim/parity"
)

// Unvalidated is a key of the points' machines with those of its values that were not compared with Vortex's RTL.
type Unvalidated struct {
	Key     string
	Values  []string // each once; none: no reference machine has the section
	Derived bool     // the machines leave all of these values to other keys, from which they follow
}

// String returns the key, followed by its values.
func (u *Unvalidated) String() string { return strings.Join(append([]string{u.Key}, u.Values...), " ") }

// NotValidated lists the keys of the points' machines that have values which were not compared with the RTL, each once.
func NotValidated(points []Point) (list []Unvalidated) {
	seen := map[string]bool{} // machines, by the settings of their points
	at := map[string]int{}    // indices by key
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
		for _, v := range notValidated(&p.Config.Machine) {
			n, there := at[v.Key]
			if !there {
				n = len(list)
				at[v.Key] = n
				list = append(list, Unvalidated{Key: v.Key, Derived: true})
			}
			list[n].Derived = list[n].Derived && v.Derived
			if v.Value != "" && !slices.Contains(list[n].Values, v.Value) {
				list[n].Values = append(list[n].Values, v.Value)
			}
		}
	}
	return list
}

// notValidated lists those of one machine. Of Swarm tiles there is no RTL, and the machine's other keys do not count.
func notValidated(m *configs.Machine) []parity.Unvalidated {
	if m.Swarm != nil {
		return []parity.Unvalidated{{Key: "swarm"}}
	}
	return parity.NotValidated(*m)
}

// unvalidatedTexts lists keys with their values.
func unvalidatedTexts(list []Unvalidated) (texts []string) {
	for i := range list {
		texts = append(texts, list[i].String())
	}
	return texts
}

// Bounds of a note on keys that are not validated, so that it takes at most three lines of 80 columns.
const (
	mostNamed = 76 // characters of the keys that are named
	mostNames = 3  // values of a key
)

// UnvalidatedNote says in at most three lines of 80 columns how many keys have values that were not compared with the
// RTL, with the first of them; all is where they are listed. Derived values are counted only if there are no others,
// because they follow from those. Empty: every value was compared.
func UnvalidatedNote(list []Unvalidated, all string) string {
	if set := slices.DeleteFunc(slices.Clone(list), func(u Unvalidated) bool { return u.Derived }); len(set) > 0 {
		list = set
	}
	if len(list) == 0 {
		return ""
	}
	var named []string
	room := mostNamed
	for i := range list {
		u := list[i]
		if n := len(u.Values); n > mostNames {
			u.Values = append(u.Values[:mostNames:mostNames], fmt.Sprintf("(%d values)", n))
		}
		text := u.String()
		if room -= len(text) + 2; room < 0 && i > 0 {
			break
		}
		named = append(named, text)
	}
	text := fmt.Sprintf("%d keys not validated against RTL: %s", len(list), strings.Join(named, ", "))
	if len(list) == 1 {
		text = "not validated against RTL: " + named[0]
	}
	if more := len(list) - len(named); more > 0 {
		return fmt.Sprintf("%s and %d more (all: %s)", text, more, all)
	}
	return text + " (docs/results/validation.md)"
}
