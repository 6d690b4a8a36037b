// Package experiment runs experiments: it lays out their points, runs each on a
// machine of its own, and writes down what came out.
//
// It ties kernels to machines; it knows neither a unit nor a kernel's inside.
package experiment

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/kernels/compose"
	"heddle/kernels/program"
)

// Setting is the value of one axis at a point.
type Setting struct{ Key, Value string }

// SeedKey is the axis of an experiment's seeds.
const SeedKey = "seed"

// Point is one simulation.
type Point struct {
	Axes     []Setting // compare's, then the sweep's, then the seed
	Variant  []Setting // compare's axes alone
	Place    []int     // its place in each dimension of Dimensions
	Baseline int       // the point whose cycles its speedup is relative to; -1: nothing is compared
	Config   configs.Experiment

	yaml     *yaml
	programs *program.Cache // those of the experiment's points
}

// yaml is a configuration's text, made when it is first asked for: an experiment may have many points.
type yaml struct {
	once sync.Once
	text string
}

// YAML is Config with all keys.
func (p *Point) YAML() string {
	p.yaml.once.Do(func() { p.yaml.text = string(configs.ExperimentSchema.YAML(p.Config)) })
	return p.yaml.text
}

// MaxPoints bounds an experiment: more is a mistake in its axes.
const MaxPoints = 100_000

// dimension is what varies as one: compare, an axis of the sweep or several that go together, the seeds.
type dimension struct {
	name   string
	values [][]Setting
}

func dimensions(e *configs.Experiment) (all []dimension) {
	all = append(all, dimension{"compare", zip(e.Compare)})
	for i := 0; i < len(e.Sweep); {
		n := i + 1
		for n < len(e.Sweep) && e.Sweep[n].With {
			n++
		}
		all = append(all, dimension{names(e.Sweep[i:n]), zip(e.Sweep[i:n])})
		i = n
	}
	seeds := dimension{"seeds", [][]Setting{nil}}
	for i, s := range e.Seeds {
		seeds.values = append(seeds.values[:i], []Setting{{SeedKey, strconv.FormatUint(s, 10)}})
	}
	return append(all, seeds)
}

func names(axes schema.Axes) string {
	var keys []string
	for _, a := range axes {
		keys = append(keys, a.Key)
	}
	return strings.Join(keys, ", ")
}

// Points lays out an experiment: for each point of the sweep, every variant of
// compare, with every seed. set is what --set gave; it holds at all points, also below a section that is an axis.
func Points(l *schema.Loaded[configs.Experiment], set []string) ([]Point, error) {
	e := &l.Value
	dims := dimensions(e)
	n := 1
	for _, d := range dims {
		if n *= len(d.values); n > MaxPoints {
			return nil, fmt.Errorf("more than %d points: expected at most as many", MaxPoints)
		}
	}
	points := make([]Point, 0, n)
	fits, programs := make([]int, len(e.Exclude)), &program.Cache{}
	seeds := len(dims[len(dims)-1].values)
	for i := 0; i < n; i += seeds {
		p := place(dims, i)
		if excluded(e.Exclude, p.Axes, fits) {
			continue
		}
		config, err := at(l, programs, p.Axes, set)
		for k := range seeds {
			if k > 0 {
				p = place(dims, i+k)
			}
			p.Config, p.yaml, p.programs = config, &yaml{}, programs
			if err = errors.Join(err, seed(&p.Config, p.Axes)); err != nil {
				return nil, of(&p, err)
			}
			points = append(points, p)
		}
	}
	for i, n := range fits {
		if n == 0 {
			return nil, excludeError(l, "exclude[%d]: leaves out no point", i)
		}
	}
	if len(points) == 0 {
		return nil, excludeError(l, "exclude: leaves out all points")
	}
	if len(e.Compare) > 0 {
		setBaselines(points)
	}
	return points, nil
}

// Under returns points with more KEY=VALUE settings over their own: more says which, of each. They are the same points
// of the experiment, on other machines or of other workloads.
func Under(l *schema.Loaded[configs.Experiment], points []Point, set []string, more func(i int) []string) ([]Point, error) {
	out := slices.Clone(points)
	for i := range out {
		p := &out[i]
		over := more(i)
		if len(over) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(p.Axes), func(s Setting) bool { return overridden(s.Key, over) })
		config, err := at(l, p.programs, own, set, over...)
		if err == nil {
			err = seed(&config, p.Axes)
		}
		if err != nil {
			return nil, of(p, err)
		}
		p.Config, p.yaml = config, &yaml{}
	}
	return out, nil
}

// of says at which point something is wrong, if there are several.
func of(p *Point, err error) error {
	if len(p.Axes) == 0 {
		return err
	}
	return fmt.Errorf("at the point %s: %w", Label(p.Axes), err)
}

// Candidate is one of the points that an experiment without axes stands for all of, as a search makes them one by one:
// with settings of its own over it. The first, number 0, is what speedups are relative to.
func Candidate(l *schema.Loaded[configs.Experiment], set []string, settings []Setting, number int) (Point, error) {
	p := Point{Axes: settings, Variant: settings, Place: []int{number, 0}, programs: &program.Cache{}, yaml: &yaml{}}
	var err error
	if p.Config, err = at(l, p.programs, settings, set); err != nil {
		return p, of(&p, err)
	}
	return p, nil
}

// overridden reports whether a key is among settings.
func overridden(key string, settings []string) bool {
	return slices.ContainsFunc(settings, func(s string) bool { return strings.HasPrefix(s, key+"=") })
}

func excludeError(l *schema.Loaded[configs.Experiment], format string, args ...any) error {
	at, _ := l.Origin("exclude")
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// place lays out the i-th point of the cross product. The seed moves fastest, then compare, then the last axis of the
// sweep.
func place(dims []dimension, i int) Point {
	p := Point{Place: make([]int, len(dims)), Baseline: -1}
	last := len(dims) - 1
	order := []int{last, 0}
	for d := last - 1; d > 0; d-- {
		order = append(order, d)
	}
	for _, d := range order {
		n := len(dims[d].values)
		p.Place[d], i = i%n, i/n
	}
	for d, at := range p.Place {
		p.Axes = append(p.Axes, dims[d].values[at]...)
	}
	p.Variant = dims[0].values[p.Place[0]]
	return p
}

// excluded reports whether some exclusion fits, and counts for each how often it does.
func excluded(exclude schema.Exclusions, axes []Setting, fits []int) (out bool) {
	for i, e := range exclude {
		fit := true
		for _, x := range e {
			fit = fit && slices.ContainsFunc(axes, func(s Setting) bool { return s.Key == x.Key && slices.Contains(x.Values, s.Value) })
		}
		if fit {
			fits[i]++
			out = true
		}
	}
	return out
}

// setBaselines finds for each point the one that differs in compare alone and is its first variant. Where
// that is left out there is none.
func setBaselines(points []Point) {
	first := map[string]int{}
	for i, p := range points {
		if p.Place[0] == 0 {
			first[p.without(0)] = i
		}
	}
	for i := range points {
		if b, ok := first[points[i].without(0)]; ok {
			points[i].Baseline = b
		}
	}
}

// without names a point's place in all dimensions but one.
func (p *Point) without(dim int) string {
	var key []byte
	for d, at := range p.Place {
		if d != dim {
			key = strconv.AppendInt(append(key, ' '), int64(at), 10)
		}
	}
	return string(key)
}

// NoEffect names the dimensions in which points that differ in nothing else are all the same.
func NoEffect(e *configs.Experiment, points []Point, same func(i, j int) bool) (out []string) {
	for d, dim := range dimensions(e) {
		if len(dim.values) < 2 {
			continue
		}
		first, pairs, effect := map[string]int{}, 0, false
		for i := range points {
			key := points[i].without(d)
			j, ok := first[key]
			if !ok {
				first[key] = i
				continue
			}
			pairs++
			if effect = !same(i, j); effect {
				break
			}
		}
		if pairs > 0 && !effect {
			out = append(out, dim.name)
		}
	}
	return out
}

// SameConfig reports whether points simulate the same, whatever their axes are.
func SameConfig(points []Point) func(i, j int) bool {
	return func(i, j int) bool { return points[i].YAML() == points[j].YAML() }
}

// SameStats reports whether points have come to the same: cycles and all statistics. What has no result is like
// nothing.
func SameStats(outcomes []Outcome) func(i, j int) bool {
	return func(i, j int) bool {
		a, b := &outcomes[i], &outcomes[j]
		return a.Counts() && b.Counts() && a.Cycles == b.Cycles && slices.Equal(a.Stats, b.Stats)
	}
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

// at returns the configuration that the points of all seeds have, but for the seed: that of the axes, with others over
// it.
func at(l *schema.Loaded[configs.Experiment], programs *program.Cache, axes []Setting, set []string, over ...string) (configs.Experiment, error) {
	args := slices.Clone(over)
	for _, s := range axes {
		if s.Key != SeedKey {
			args = append(args, s.Key+"="+s.Value)
		}
	}
	for _, s := range set {
		if key, _, _ := strings.Cut(s, "="); below(key, axes) && !overridden(key, over) {
			args = append(args, s)
		}
	}
	p, err := l.With(args...)
	if err == nil {
		p.Value.Compare, p.Value.Sweep, p.Value.Exclude, p.Value.Seeds = nil, nil, nil, nil
		p.Value.Run = configs.Host{}
		err = errors.Join(p.Value.Validate(), checkRecipe(p))
		if err == nil {
			err = checkKernels(&p.Value, programs)
		}
	}
	if err != nil {
		return configs.Experiment{}, fromKey(l, err)
	}
	return p.Value, nil
}

// fromKey says where an error's key is given, if it is.
func fromKey(l *schema.Loaded[configs.Experiment], err error) error {
	var key *compose.KeyError
	if errors.As(err, &key) {
		if o, ok := l.Origin(key.Key); ok && o.Layer != schema.Default {
			return fmt.Errorf("%s: %w", o, err)
		}
	}
	return err
}

// seed gives the graph the point's seed, if it has one.
func seed(e *configs.Experiment, axes []Setting) error {
	for _, s := range axes {
		if s.Key != SeedKey {
			continue
		}
		n, err := strconv.ParseUint(s.Value, 10, 64)
		if err != nil {
			return err
		}
		if !e.Graph.SetSeed(n) {
			return e.NeedsRandom()
		}
	}
	return nil
}

// below reports whether a key is inside a section that is an axis, and no axis itself.
func below(key string, axes []Setting) bool {
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
