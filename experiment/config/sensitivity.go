package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"heddle/configs/schema"
)

// sensitivityFile is the name of the file beside the packs of a paper that lists the choices left open there.
const sensitivityFile = "sensitivity.yaml"

// Knob is one quantity that a paper leaves open, with the ends of its plausible range.
type Knob struct {
	Name   string   `key:"name" required:"true" doc:"Name in the chart."`
	Low    []string `key:"low" required:"true" doc:"KEY=VALUE settings of the range's lower end."`
	High   []string `key:"high" default:"" doc:"The same of its upper end; none: as described, so that the range has one end."`
	Where  []string `key:"where" default:"" doc:"Conditions on the points that have the knob: KEY=VALUE, or KEY=VALUE|VALUE. None: all."`
	Packs  []string `key:"packs" default:"" doc:"Packs that have the knob. None: all of the paper."`
	Source string   `key:"source" required:"true" lines:"true" doc:"What the paper says of it, and where the range comes from."`
}

// Validate returns an error for settings without keys.
func (k Knob) Validate() error {
	for _, l := range []struct {
		key  string
		list []string
	}{{"low", k.Low}, {"high", k.High}, {"where", k.Where}} {
		if _, err := ParseConditions(l.list); err != nil {
			return &schema.FieldError{Key: l.key, Msg: err.Error()}
		}
	}
	return nil
}

var knobSchema = schema.New[Knob]("")

// LowEnd and HighEnd are added to a knob's name for the reading of an end of its range.
const (
	LowEnd  = " low"
	HighEnd = " high"
)

// Ends returns the readings of the ends of the range.
func (k *Knob) Ends() (list []Reading) {
	for _, e := range []struct {
		name string
		set  []string
	}{{LowEnd, k.Low}, {HighEnd, k.High}} {
		if len(e.set) > 0 {
			list = append(list, Reading{ReadingHead{Name: k.Name + e.name, Says: k.Name + e.name, Source: k.Source},
				[]ReadingRule{{Where: k.Where, Set: e.set}}})
		}
	}
	return list
}

// SensitivityKnobs loads the choices that the paper of a pack leaves open, as far as it concerns the pack.
func (p *Pack) SensitivityKnobs() ([]Knob, error) {
	file, text, err := p.beside(sensitivityFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no %s beside it, which lists the knobs and their ranges", p.File, sensitivityFile)
	}
	if err != nil {
		return nil, err
	}
	top, err := schema.Parse(file, text)
	if err != nil {
		return nil, err
	}
	parts, rest, err := split(file, top, "knobs")
	if err != nil {
		return nil, err
	}
	if len(rest.Content) > 0 {
		return nil, fmt.Errorf("%s:%d:%d: %s: expected knobs alone", file, rest.Content[0].Line, rest.Content[0].Column,
			rest.Content[0].Value)
	}
	var bad []error
	var list []Knob
	for i, l := range loadList(knobSchema, file, "knobs", parts["knobs"], &bad) {
		k := l.Value
		if slices.ContainsFunc(list, func(o Knob) bool { return o.Name == k.Name }) {
			at, _ := l.Origin("name")
			bad = append(bad, fmt.Errorf("%s: knobs[%d].name: %s stands twice", at, i, k.Name))
		}
		if len(k.Packs) == 0 || slices.Contains(k.Packs, p.Name) {
			list = append(list, k)
		}
	}
	return list, errors.Join(bad...)
}
