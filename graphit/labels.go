package graphit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// ParseLabels reads schedules as YAML has them: a mapping from labels to mappings, whose keys are the configuring
// functions' names without config, and whose values are the functions' arguments, one or a list of them:
//
//	loop:step: {load_balance: [EDGE_ONLY, BLOCKED, 4096], direction: PUSH}
//	back:step: {threshold: 0.1, below: {direction: PUSH}, above: {direction: [PULL, BITMAP]}}
//
// A mapping with threshold, below and above is a HybridGPUSchedule. The key swarm has the settings of a
// SimpleSwarmSchedule. Errors name the label and the key; Pos of what is
// returned says nothing.
func ParseLabels(src []byte) (*Schedule, error) {
	if len(src) > MaxBytes {
		return nil, fmt.Errorf("larger than %d bytes", MaxBytes)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	s := &Schedule{}
	if len(doc.Content) == 0 {
		return s, nil
	}
	err := entries(doc.Content[0], "labels", func(label string, n *yaml.Node) error {
		n, swarm := swarmOf(n)
		if swarm != nil {
			x, err := swarmSchedule(label+"."+swarmKey, swarm)
			s.Swarm = append(s.Swarm, SwarmApplied{Label: label, Simple: x})
			if err != nil || len(n.Content) == 0 {
				return err
			}
		}
		a, err := applied(label, n)
		s.GPU = append(s.GPU, a)
		return err
	})
	return s, err
}

// entries calls f with each key of a mapping.
func entries(n *yaml.Node, where string, f func(key string, n *yaml.Node) error) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%s: expected a mapping", where)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode || k.Value == "" {
			return fmt.Errorf("%s: expected a key that is a name", where)
		}
		if seen[k.Value] {
			return fmt.Errorf("%s: %q stands twice", where, k.Value)
		}
		seen[k.Value] = true
		if err := f(k.Value, n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Keys of a hybrid.
const thresholdKey, belowKey, aboveKey = "threshold", "below", "above"

// applied reads a label's schedule.
func applied(label string, n *yaml.Node) (a Applied, err error) {
	a.Label = label
	hybrid := false
	err = entries(n, label, func(key string, _ *yaml.Node) error {
		hybrid = hybrid || key == thresholdKey || key == belowKey || key == aboveKey
		return nil
	})
	if err != nil {
		return a, err
	}
	if !hybrid {
		a.Simple, err = simpleSchedule(label, n)
		return a, err
	}
	h := &HybridGPUSchedule{}
	err = entries(n, label, func(key string, n *yaml.Node) (err error) {
		switch key {
		case thresholdKey:
			var args []Arg
			if args, err = arguments(label+"."+key, n); err == nil && (len(args) != 1 || !args[0].isNumber()) {
				err = fmt.Errorf("%s.%s: expected a number, or an argument as \"argv[3]\"", label, key)
			}
			if err == nil {
				h.Threshold = args[0]
			}
		case belowKey:
			h.Below, err = simpleSchedule(label+"."+key, n)
		case aboveKey:
			h.Above, err = simpleSchedule(label+"."+key, n)
		default:
			err = fmt.Errorf("%s.%s: a hybrid has threshold, below and above, and no other key", label, key)
		}
		return err
	})
	if err == nil && (h.Threshold.Text == "" || h.Below == nil || h.Above == nil) {
		err = fmt.Errorf("%s: a hybrid needs threshold, below and above", label)
	}
	a.Hybrid = h
	return a, err
}

// Key returns the YAML name of a configuring function: configLoadBalance is load_balance.
func (c *config) key() string {
	var b strings.Builder
	for i, r := range strings.TrimPrefix(c.name, "config") {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func simpleSchedule(where string, n *yaml.Node) (*SimpleGPUSchedule, error) {
	x := &SimpleGPUSchedule{}
	err := entries(n, where, func(key string, n *yaml.Node) error {
		i := slices.IndexFunc(configFunctions, func(c config) bool { return c.key() == key })
		if i < 0 {
			var known []string
			for k := range configFunctions {
				known = append(known, configFunctions[k].key())
			}
			return fmt.Errorf("%s.%s: unknown key: expected one of %s", where, key, strings.Join(known, ", "))
		}
		c := &configFunctions[i]
		args, err := arguments(where+"."+key, n)
		if err != nil {
			return err
		}
		if wrong := c.wrong(args); wrong != "" {
			return fmt.Errorf("%s.%s%s", where, key, wrong)
		}
		*c.of(x) = &Setting{Args: args}
		return nil
	})
	return x, err
}

// arguments are one, or a list of them.
func arguments(where string, n *yaml.Node) (args []Arg, err error) {
	list := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		list = n.Content
	}
	for _, e := range list {
		if e.Kind != yaml.ScalarNode || e.Tag == "!!null" {
			return nil, fmt.Errorf("%s: expected a word or a number, or a list of them", where)
		}
		a := Arg{Text: e.Value}
		_, a.Quoted = Arg{Text: e.Value, Quoted: true}.Argv()
		args = append(args, a)
	}
	return args, nil
}

// With returns the schedule overridden by another's labels: settings of those labels are replaced. s may be nil.
func (s *Schedule) With(labels *Schedule) *Schedule {
	out := &Schedule{File: labels.File, Pos: labels.Pos}
	said := func(label string) bool {
		return slices.ContainsFunc(labels.GPU, func(a Applied) bool { return a.Label == label })
	}
	if s != nil {
		out.File, out.Pos = s.File, s.Pos
		for _, a := range s.GPU {
			if !said(a.Label) {
				out.GPU = append(out.GPU, a)
			}
		}
		for _, o := range s.CPU {
			if !said(o.Args[0].Text) {
				out.CPU = append(out.CPU, o)
			}
		}
	}
	if s != nil {
		for _, a := range s.Swarm {
			if !slices.ContainsFunc(labels.Swarm, func(b SwarmApplied) bool { return a.Label == b.Label }) {
				out.Swarm = append(out.Swarm, a)
			}
		}
	}
	out.Swarm = append(out.Swarm, labels.Swarm...)
	out.GPU = append(out.GPU, labels.GPU...)
	return out
}
