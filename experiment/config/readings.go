package config

import (
	"errors"
	"fmt"
	"slices"

	"heddle/configs/schema"
)

// Described is the name of the reading in which a pack's experiments are written: machine and baselines as the paper
// describes them, with this project's best guess where the paper is silent.
const Described = "described"

// readingsFile is the name of the file beside the packs of a paper that holds its readings.
const readingsFile = "readings.yaml"

// Reading is one interpretation of details that a paper leaves open, as changes to a pack's points.
type Reading struct {
	ReadingHead
	Rules []ReadingRule
}

// ReadingHead describes a reading.
type ReadingHead struct {
	Name   string `key:"name" required:"true" doc:"Name in packs and tables."`
	Says   string `key:"says" required:"true" lines:"true" doc:"The interpretation, in a line."`
	Source string `key:"source" required:"true" lines:"true"`
	After  bool   `key:"after" default:"false" doc:"The reading was chosen after outcomes had been seen."`
}

// Docs describes the keys.
func (ReadingHead) Docs() map[string]string {
	return map[string]string{
		"source": "Where the reading comes from: a section of the paper, an RTL file, or this project; and whether " +
			"the paper's text supports it.",
	}
}

// ReadingRule sets keys of the points that meet its conditions.
type ReadingRule struct {
	Where []string `key:"where" default:""`
	Set   []string `key:"set" required:"true"`
}

// Docs describes the keys.
func (ReadingRule) Docs() map[string]string {
	return map[string]string{
		"where": "Conditions on points as the pack describes them: KEY=VALUE, or KEY=VALUE|VALUE. None: all points.",
		"set":   "KEY=VALUE settings of an experiment; later ones override earlier ones.",
	}
}

var (
	readingSchema = schema.New[ReadingHead]("")
	ruleSchema    = schema.New[ReadingRule]("")
)

// Validate returns an error for a rule without an effect.
func (r ReadingRule) Validate() error {
	if _, err := ParseConditions(r.Where); err != nil {
		return &schema.FieldError{Key: "where", Msg: err.Error()}
	}
	if len(r.Set) == 0 {
		return &schema.FieldError{Key: "set", Msg: "expected KEY=VALUE"}
	}
	sets, err := ParseConditions(r.Set)
	if err != nil {
		return &schema.FieldError{Key: "set", Msg: err.Error()}
	}
	if slices.ContainsFunc(sets, func(c Condition) bool { return namesPoint(c.Key) }) {
		return &schema.FieldError{Key: "set", Msg: "expected keys of an experiment"}
	}
	return nil
}

// parseReadings reads a paper's readings.
func parseReadings(file string, text []byte) (list []Reading, err error) {
	top, err := schema.Parse(file, text)
	if err != nil {
		return nil, err
	}
	parts, rest, err := split(file, top, "readings")
	if err != nil {
		return nil, err
	}
	if len(rest.Content) > 0 {
		return nil, fmt.Errorf("%s:%d:%d: %s: expected readings alone", file, rest.Content[0].Line,
			rest.Content[0].Column, rest.Content[0].Value)
	}
	all, err := elements(file, "readings", parts["readings"])
	if err != nil {
		return nil, err
	}
	var bad []error
	for i, n := range all {
		r, err := parseReading(file, fmt.Sprintf("readings[%d]", i), n)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		if slices.ContainsFunc(list, func(o Reading) bool { return o.Name == r.Name }) {
			bad = append(bad, fmt.Errorf("%s:%d:%d: readings[%d].name: %s stands twice", file, n.Line, n.Column, i,
				r.Name))
		}
		list = append(list, r)
	}
	if len(bad) == 0 && (len(list) == 0 || list[0].Name != Described || list[0].Rules != nil) {
		bad = append(bad, fmt.Errorf("%s: expected %s first, with no rules", file, Described))
	}
	return list, errors.Join(bad...)
}

func parseReading(file, key string, n *schema.Node) (r Reading, err error) {
	if schema.Sections(n) == nil {
		return r, fmt.Errorf("%s:%d:%d: %s: expected a section", file, n.Line, n.Column, key)
	}
	parts, head, err := split(file, n, "rules")
	if err != nil {
		return r, err
	}
	var bad []error
	r.ReadingHead = loadPart(readingSchema, file, key, head, &bad).Value
	for _, l := range loadList(ruleSchema, file, key+".rules", parts["rules"], &bad) {
		r.Rules = append(r.Rules, l.Value)
	}
	return r, errors.Join(bad...)
}

// asDescribed is the only reading of a paper without a file of readings.
var asDescribed = Reading{ReadingHead: ReadingHead{Name: Described, Says: "as the pack describes it",
	Source: "the pack"}}

// chooseReadings selects the readings that the pack names. Described always comes first.
func (p *Pack) chooseReadings(file string, all []Reading) error {
	if len(all) == 0 {
		all = []Reading{asDescribed}
	}
	var bad []error
	for _, l := range []struct {
		key   string
		v     Variant
		names []string
	}{{"readings", Quick, p.ReadingNames}, {"full_readings", Full, p.FullReadings}} {
		chosen := all[:1:1]
		for _, name := range l.names {
			i := slices.IndexFunc(all, func(r Reading) bool { return r.Name == name })
			switch {
			case i < 0:
				bad = append(bad, fmt.Errorf("%s: %s: no reading %q in %s", p.File, l.key, name, file))
			case slices.ContainsFunc(chosen, func(r Reading) bool { return r.Name == name }):
				bad = append(bad, fmt.Errorf("%s: %s: %s stands twice, or is %s, which is always there", p.File, l.key,
					name, Described))
			default:
				chosen = append(chosen, all[i])
			}
		}
		p.Readings[l.v] = chosen
	}
	return errors.Join(bad...)
}
