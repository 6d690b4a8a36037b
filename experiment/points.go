// Package experiment runs experiments: it lays out their points, runs each on a
// machine of its own, and writes down what came out.
//
// It ties kernels to machines; it knows neither a unit nor a kernel's inside.
package experiment

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"heddle/configs/schema"
	"heddle/experiment/config"
	"heddle/kernels/compose"
)

// Setting is the value of one axis at a point.
type Setting = schema.Setting

// SeedKey is the axis of an experiment's seeds.
const SeedKey = "seed"

// Point is one simulation.
type Point struct {
	Axes     []Setting // what names it: its variant's, then the sweep's, those of the variant's own sweep, the seed
	Variant  []Setting // of these, those that tell its variant
	Settings []Setting // what is set at it: by the variant, then by axes, the seed too
	Place    []int     // its place in each dimension of the experiment; -1: the dimension is not for its variant
	Baseline int       // the point whose cycles its speedup is relative to; -1: none
	Unused   []string  // keys that the experiment sets, and that are at their defaults at the point, which has no use for them
	Config   config.Experiment

	digest   *digest
	programs *programs // those of the experiment's points
}

// digest is that of a configuration's text, made when it is first asked for. The text is not kept: an experiment may
// have many points.
type digest struct {
	once sync.Once
	sum  [sha256.Size]byte
}

// YAML is Config with all keys.
func (p *Point) YAML() string { return string(config.Schema.YAML(p.Config)) }

// Digest is the same for points of which YAML is.
func (p *Point) Digest() string {
	p.digest.once.Do(func() { p.digest.sum = sha256.Sum256(config.Schema.YAML(p.Config)) })
	return string(p.digest.sum[:])
}

// MaxPoints bounds an experiment: more is a mistake in its axes.
const MaxPoints = 100_000

// Points lays out an experiment: for each point of the sweep, every variant of compare, with every seed. set holds the
// arguments of --set, which apply at all points, also below a section that is an axis.
func Points(l *schema.Loaded[config.Experiment], set []string) ([]Point, error) {
	e := &l.Value
	set = given(l, set)
	d, err := newLayout(l, set)
	if err != nil {
		return nil, err
	}
	places, err := d.places()
	if err != nil {
		return nil, err
	}
	points := make([]Point, 0, len(places))
	fits, programs := make([]int, len(e.Exclude)), &programs{}
	seeds := len(d.seeds().values)
	for i := 0; i < len(places); i += seeds {
		p := d.point(places[i])
		if excluded(e.Exclude, p.Axes, fits) {
			continue
		}
		config, unused, err := applied(l, programs, p.Settings, set)
		for k := range seeds {
			if k > 0 {
				p = d.point(places[i+k])
			}
			p.Config, p.Unused, p.digest, p.programs = config, unused, &digest{}, programs
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
	if err := refuseUnused(l, points, set); err != nil {
		return nil, err
	}
	if len(e.Compare) > 0 {
		setBaselines(points)
	}
	return points, nil
}

// Under returns points with more KEY=VALUE settings over their own: more says which, of each. They are the same points
// of the experiment, on other machines or of other workloads.
func Under(l *schema.Loaded[config.Experiment], points []Point, set []string, more func(i int) []string) ([]Point,
	error) {
	out, set := slices.Clone(points), given(l, set)
	for i := range out {
		p := &out[i]
		over := more(i)
		if len(over) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(p.Settings), func(s Setting) bool { return overridden(s.Key, over) })
		config, err := at(l, p.programs, own, set, slices.Concat(over, defaults(p.Unused))...)
		if err == nil {
			err = seed(&config, p.Axes)
		}
		if err != nil {
			return nil, of(p, err)
		}
		p.Config, p.digest = config, &digest{}
	}
	return out, nil
}

// given leaves out of --set what the variants of compare have been given instead, those that have its unit.
func given(l *schema.Loaded[config.Experiment], set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(s string) bool {
		key, _, _ := strings.Cut(s, "=")
		return len(l.Value.Compare) > 1 && config.Schema.Conditional(key) && !l.Given(key)
	})
}

// of says at which point something is wrong, if there are several.
func of(p *Point, err error) error {
	if len(p.Axes) == 0 {
		return err
	}
	return fmt.Errorf("at the point %s: %w", Label(p.Axes), err)
}

// Candidate is one of the points that an experiment without axes stands for all of, as a search makes them one by one:
// with settings of its own over it. Speedups are relative to the first, number 0.
func Candidate(l *schema.Loaded[config.Experiment], set []string, settings []Setting, number int) (Point, error) {
	p := Point{Axes: settings, Variant: settings, Settings: settings, Place: []int{number, 0}, programs: &programs{},
		digest: &digest{}}
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

func excludeError(l *schema.Loaded[config.Experiment], format string, args ...any) error {
	at, _ := l.Origin("exclude")
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// excluded reports whether some exclusion fits, and counts for each how often it does.
func excluded(exclude schema.Exclusions, axes []Setting, fits []int) (out bool) {
	for i, e := range exclude {
		fit := true
		for _, x := range e {
			fit = fit && slices.ContainsFunc(axes,
				func(s Setting) bool { return s.Key == x.Key && slices.Contains(x.Values, s.Value) })
		}
		if fit {
			fits[i]++
			out = true
		}
	}
	return out
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

// SameConfig reports whether points simulate the same, whatever their axes are.
func SameConfig(points []Point) func(i, j int) bool {
	return func(i, j int) bool { return points[i].Digest() == points[j].Digest() }
}

// SameStats reports whether points have come to the same: cycles and all statistics. What has no result is like
// nothing.
func SameStats(outcomes []Outcome) func(i, j int) bool {
	return func(i, j int) bool {
		a, b := &outcomes[i], &outcomes[j]
		return a.Counts() && b.Counts() && a.Cycles == b.Cycles && a.Stats.Equal(b.Stats)
	}
}

// at returns the configuration that the points of all seeds have, but for the seed: that of the axes, with others over
// it.
func at(l *schema.Loaded[config.Experiment], programs *programs, settings []Setting, set []string,
	over ...string) (config.Experiment, error) {
	p, err := l.With(arguments(settings, set, over...)...)
	if err == nil {
		p.Value.Compare, p.Value.Sweep, p.Value.Exclude, p.Value.Seeds = nil, nil, nil, nil
		p.Value.Run, p.Value.Report = config.Host{}, config.Report{}
		err = errors.Join(p.Value.Validate(), checkRecipe(p))
		if err == nil {
			err = checkWork(&p.Value, programs)
		}
	}
	if err != nil {
		return config.Experiment{}, fromKey(l, err, settings)
	}
	return p.Value, nil
}

// applied is at for points of a comparison. A key that the experiment as a whole sets, and that a point has no use for,
// is not applied to it: of {cta_threads: 256} beside schedules cta and vertex, vertex has no thread blocks. A value that
// the point's own settings give is refused.
func applied(l *schema.Loaded[config.Experiment], programs *programs, settings []Setting, set []string) (
	config.Experiment, []string, error) {
	var unused []string
	for {
		e, err := at(l, programs, settings, set, defaults(unused)...)
		key, ok := compose.Unused(err)
		if !ok || sets(settings, key) || len(settings) == 0 || slices.Contains(unused, key) {
			return e, unused, err
		}
		unused = append(unused, key)
	}
}

// sets reports whether settings give a key, or a section around it.
func sets(settings []Setting, key string) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool { return s.Key == key || strings.HasPrefix(key, s.Key+".") })
}

// defaults gives keys of an experiment their defaults, as With takes them.
func defaults(keys []string) (args []string) {
	for _, key := range keys {
		args = append(args, key+"="+defaultTexts()[key])
	}
	return args
}

var defaultTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, v := range config.Schema.Values(config.Schema.Default()) {
		texts[v.Key] = v.Text
		if text, err := strconv.Unquote(v.Text); err == nil {
			texts[v.Key] = text // YAML, and settings are given without quotes
		}
	}
	return texts
})

// refuseUnused refuses a key that no point has a use for, as where there is no comparison.
func refuseUnused(l *schema.Loaded[config.Experiment], points []Point, set []string) error {
	for _, key := range points[0].Unused {
		if !slices.ContainsFunc(points, func(p Point) bool { return !slices.Contains(p.Unused, key) }) {
			p := &points[0]
			others := slices.DeleteFunc(slices.Clone(p.Unused), func(k string) bool { return k == key })
			_, err := at(l, p.programs, p.Settings, set, defaults(others)...)
			return of(p, err)
		}
	}
	return nil
}

// arguments are settings, with others over them, as With takes them; what --set gave below a section among them holds.
func arguments(settings []Setting, set []string, over ...string) []string {
	args := slices.Clone(over)
	for _, s := range settings {
		if s.Key != SeedKey {
			args = append(args, s.Key+"="+s.Value)
		}
	}
	for _, s := range set {
		if key, _, _ := strings.Cut(s, "="); below(key, settings) && !overridden(key, over) {
			args = append(args, s)
		}
	}
	return args
}

// fromKey says where an error's key is given, unless a point's own settings give it.
func fromKey(l *schema.Loaded[config.Experiment], err error, settings []Setting) error {
	var key *compose.KeyError
	if errors.As(err, &key) && !sets(settings, key.Key) {
		if o, ok := l.Origin(key.Key); ok && o.Layer != schema.Default {
			return fmt.Errorf("%s: %w", o, err)
		}
	}
	return err
}

// seed gives the graph the point's seed, if it has one.
func seed(e *config.Experiment, axes []Setting) error {
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
func below(key string, settings []Setting) bool {
	inside := false
	for _, s := range settings {
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
