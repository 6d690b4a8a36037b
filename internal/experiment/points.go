// Package experiment runs experiments: it lays out their points, runs each on a
// machine of its own, and writes down what came out.
//
// It ties kernels to machines; it knows neither a unit nor a kernel's inside.
package experiment

import (
	"errors"
	"fmt"
	"strings"

	"heddle/configs"
	"heddle/internal/schema"
)

// Setting is the value of one axis at a point.
type Setting struct{ Key, Value string }

// Point is one simulation.
type Point struct {
	Axes     []Setting // compare's, then the sweep's
	Baseline int       // the point whose cycles its speedup is relative to; -1: nothing is compared
	Config   configs.Experiment
	YAML     string // Config, all keys
}

// MaxPoints bounds an experiment: more is a mistake in its axes.
const MaxPoints = 100_000

// Points lays out an experiment: for each point of the sweep, every variant of
// compare. set is what --set gave; it holds at all points, also below a section that is an axis.
func Points(l *schema.Loaded[configs.Experiment], set []string) ([]Point, error) {
	e := &l.Value
	variants := zip(e.Compare)
	sweep, err := cross(e.Sweep)
	if err != nil {
		return nil, err
	}
	if n := len(variants) * len(sweep); n > MaxPoints {
		return nil, fmt.Errorf("%d points: expected at most %d", n, MaxPoints)
	}
	var points []Point
	for _, s := range sweep {
		first := len(points)
		for _, v := range variants {
			p := Point{Axes: append(append([]Setting{}, v...), s...), Baseline: -1}
			if len(e.Compare) > 0 {
				p.Baseline = first
			}
			if p.Config, err = at(l, p.Axes, set); err != nil {
				return nil, err
			}
			p.YAML = string(configs.ExperimentSchema.YAML(p.Config))
			points = append(points, p)
		}
	}
	return points, nil
}

// zip returns the variants of axes that go together; one without settings if there are none.
func zip(axes schema.Axes) [][]Setting {
	if len(axes) == 0 {
		return [][]Setting{nil}
	}
	out := make([][]Setting, len(axes[0].Values))
	for _, a := range axes {
		for i, v := range a.Values {
			out[i] = append(out[i], Setting{a.Key, v})
		}
	}
	return out
}

// cross returns the cross product, the last axis moving fastest.
func cross(axes schema.Axes) ([][]Setting, error) {
	out := [][]Setting{nil}
	for _, a := range axes {
		var next [][]Setting
		for _, s := range out {
			for _, v := range a.Values {
				next = append(next, append(append([]Setting{}, s...), Setting{a.Key, v}))
			}
			if len(next) > MaxPoints {
				return nil, fmt.Errorf("the sweep has more than %d points", MaxPoints)
			}
		}
		out = next
	}
	return out, nil
}

// at returns the configuration of one point.
func at(l *schema.Loaded[configs.Experiment], axes []Setting, set []string) (configs.Experiment, error) {
	args := make([]string, 0, len(axes)+len(set))
	for _, s := range axes {
		args = append(args, s.Key+"="+s.Value)
	}
	for _, s := range set {
		if below(s, axes) {
			args = append(args, s)
		}
	}
	p, err := l.With(args...)
	if err != nil {
		return configs.Experiment{}, fmt.Errorf("at the point %s: %w", Label(axes), err)
	}
	p.Value.Compare, p.Value.Sweep = nil, nil
	if err := p.Value.Validate(); err != nil {
		return configs.Experiment{}, fmt.Errorf("at the point %s: %w", Label(axes), err)
	}
	return p.Value, nil
}

// below tells whether KEY=VALUE is a key inside a section that is an axis, and no axis itself.
func below(arg string, axes []Setting) bool {
	key, _, _ := strings.Cut(arg, "=")
	inside := false
	for _, s := range axes {
		if s.Key == key {
			return false
		}
		inside = inside || strings.HasPrefix(key, s.Key+".")
	}
	return inside
}

// Label names a point for people: its values, with the last part of their keys.
func Label(axes []Setting) string {
	if len(axes) == 0 {
		return "(the only one)"
	}
	var parts []string
	for _, s := range axes {
		parts = append(parts, Short(s.Key)+"="+s.Value)
	}
	return strings.Join(parts, " ")
}

// Short is the last part of a key.
func Short(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// ErrFailed says that some point has no right result.
var ErrFailed = errors.New("not every point has a verified result")
