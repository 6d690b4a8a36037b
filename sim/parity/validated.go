package parity

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"heddle/configs"
	"heddle/configs/schema"
)

// Knob is a key of the machine with those of its values that were compared with the RTL.
type Knob struct {
	Key    string
	Values []KnobValue
}

// KnobValue is a value of a key, and the reference machines that have it.
type KnobValue struct {
	Text     string
	Machines []string
}

// Knobs lists the keys of reference machines, in declared order. A value of 0 is replaced by its derived value.
var Knobs = sync.OnceValue(func() (knobs []Knob) {
	at := map[string]int{}
	for _, machine := range Machines {
		cfg, err := Config(machine)
		if err != nil {
			panic(fmt.Sprintf("BUG: parity: %v", err))
		}
		for _, v := range values(cfg) {
			i, there := at[v.Key]
			if !there {
				i = len(knobs)
				at[v.Key] = i
				knobs = append(knobs, Knob{Key: v.Key})
			}
			knobs[i].add(v.Text, machine)
		}
	}
	return knobs
})

// known finds a knob by its key.
var known = sync.OnceValue(func() map[string]*Knob {
	all := Knobs()
	by := map[string]*Knob{}
	for i := range all {
		by[all[i].Key] = &all[i]
	}
	return by
})

func values(cfg configs.Machine) []schema.Value {
	cfg.Core.Spec = cfg.Core.Spec.Derived()
	return configs.Schema.Values(cfg)
}

func (k *Knob) add(text, machine string) {
	i := slices.IndexFunc(k.Values, func(v KnobValue) bool { return v.Text == text })
	if i < 0 {
		i = len(k.Values)
		k.Values = append(k.Values, KnobValue{Text: text})
	}
	k.Values[i].Machines = append(k.Values[i].Machines, machine)
}

func (k *Knob) has(text string) bool {
	return slices.ContainsFunc(k.Values, func(v KnobValue) bool { return v.Text == text })
}

// Unvalidated is a key of a machine with a value that no reference machine has.
type Unvalidated struct {
	Key     string
	Value   string // empty: no reference machine has the section
	Derived bool   // the machine leaves the value to others, from which it follows
}

// NotValidated lists the keys of a machine at which no reference machine has its value, in declared order. Of a section
// that none has, only its name.
func NotValidated(cfg configs.Machine) (list []Unvalidated) {
	section := "" // that none has
	given := configs.Schema.Values(cfg)
	for i, v := range values(cfg) {
		if section != "" && strings.HasPrefix(v.Key, section) {
			continue
		}
		k := known()[v.Key]
		switch {
		case k != nil && k.has(v.Text):
		case v.Text == schema.Present:
			section = v.Key + "."
			list = append(list, Unvalidated{Key: v.Key})
		default:
			list = append(list, Unvalidated{v.Key, v.Text, v.Text != given[i].Text})
		}
	}
	return list
}

// WriteKnobs prints the keys that reference machines differ in, with their values, as Markdown.
func WriteKnobs(w io.Writer) error {
	var s strings.Builder
	s.WriteString("| key | values that were compared, and on which machines |\n|---|---|\n")
	for _, k := range Knobs() {
		if len(k.Values) < 2 {
			continue
		}
		slices.SortStableFunc(k.Values, byNumber)
		var texts []string
		for _, v := range k.Values {
			texts = append(texts, fmt.Sprintf("%s (%s)", v.Text, strings.Join(v.Machines, " ")))
		}
		fmt.Fprintf(&s, "| `%s` | %s |\n", k.Key, strings.Join(texts, ", "))
	}
	_, err := io.WriteString(w, s.String())
	return err
}

func byNumber(a, b KnobValue) int {
	x, errX := strconv.Atoi(a.Text)
	y, errY := strconv.Atoi(b.Text)
	if errX != nil || errY != nil {
		return strings.Compare(a.Text, b.Text)
	}
	return x - y
}
