// Package experiment runs experiments. Points expands the axes of an experiment into points, a Runner runs each of them
// on a machine of its own, and a Book stores the outcomes and derives summaries.
//
// It connects kernels to machines, and knows no hardware unit and nothing of the inside of a kernel.
package experiment

import (
	"cmp"
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

// Point is one simulation of an experiment.
type Point struct {
	Axes        []Setting // identify it: of the variant, the sweep, the variant's own sweep, the seed
	Variant     []Setting // the leading Axes, which identify the variant
	Settings    []Setting // its configuration over the experiment's: by the variant, then by axes, including the seed
	Coordinates []int     // index into the values of each dimension of the experiment; -1: the dimension does not apply
	Baseline    int       // the point that its speedup is relative to; -1: none
	Unused      []string  // keys of the experiment that the point has no use for, and has at their defaults
	Config      config.Experiment

	digest   *digest
	programs *programs // shared by the experiment's points
}

// digest is the hash of a configuration's text, computed on first use. The text is not kept, since an experiment may
// have many points.
type digest struct {
	once sync.Once
	sum  [sha256.Size]byte

	onceKey sync.Once
	key     string
}

// YAML returns Config with all keys, as stores have it: by names that never change (schema.Canonical).
func (p *Point) YAML() string { return string(config.Schema.Canonical(p.Config)) }

// Digest returns a hash that is equal for points with equal YAML.
func (p *Point) Digest() string {
	p.digest.once.Do(func() { p.digest.sum = sha256.Sum256(config.Schema.Canonical(p.Config)) })
	return string(p.digest.sum[:])
}

// MaxPoints bounds the points of an experiment, as more are probably a mistake in its axes.
const MaxPoints = 100_000

// Points expands an experiment: for each point of the sweep, every variant of compare with every seed. set holds the
// arguments of --set, which apply to all points, even below a section that is an axis.
func Points(l *schema.Loaded[config.Experiment], set []string) ([]Point, error) {
	e := &l.Value
	set = applicableSet(l, set)
	d, err := newPointGrid(l, set)
	if err != nil {
		return nil, err
	}
	coords, err := d.coordinates()
	if err != nil {
		return nil, err
	}
	points := make([]Point, 0, len(coords))
	matches, programs := make([]int, len(e.Exclude)), &programs{}
	seeds := len(d.seeds().values)
	for i := 0; i < len(coords); i += seeds {
		p := d.point(coords[i])
		if excluded(e.Exclude, p.Axes, matches) {
			continue
		}
		config, unused, err := applied(l, programs, p.Settings, set)
		for k := range seeds {
			if k > 0 {
				p = d.point(coords[i+k])
			}
			p.Config, p.Unused, p.digest, p.programs = config, unused, &digest{}, programs
			if err = errors.Join(err, applySeed(&p.Config, p.Axes)); err != nil {
				return nil, withPoint(&p, err)
			}
			points = append(points, p)
		}
	}
	for i, n := range matches {
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
		setBaselines(points, 0)
	}
	return points, nil
}

// Under returns copies of points with the KEY=VALUE settings that more returns for each, which override their own. The
// copies keep axes and coordinates, on another machine or with another workload.
func Under(l *schema.Loaded[config.Experiment], points []Point, set []string, more func(i int) []string) ([]Point,
	error) {
	out, set := slices.Clone(points), applicableSet(l, set)
	for i := range out {
		p := &out[i]
		over := more(i)
		if len(over) == 0 {
			continue
		}
		own := slices.DeleteFunc(slices.Clone(p.Settings), func(s Setting) bool { return overridden(s.Key, over) })
		config, err := resolve(l, p.programs, own, set, slices.Concat(over, defaults(p.Unused))...)
		if err == nil {
			err = applySeed(&config, p.Axes)
		}
		if err != nil {
			return nil, withPoint(p, err)
		}
		p.Config, p.digest = config, &digest{}
	}
	return out, nil
}

// applicableSet drops from set the keys of units that only some variants of compare have: those variants have received
// them already.
func applicableSet(l *schema.Loaded[config.Experiment], set []string) []string {
	return slices.DeleteFunc(slices.Clone(set), func(s string) bool {
		key, _, _ := strings.Cut(s, "=")
		return len(l.Value.Compare) > 1 && config.Schema.Conditional(key) && !l.Given(key)
	})
}

// withPoint names the point of an error if the experiment has several.
func withPoint(p *Point, err error) error {
	if len(p.Axes) == 0 {
		return err
	}
	return fmt.Errorf("at the point %s: %w", Label(p.Axes), err)
}

// Candidate returns a point of a search over an experiment without axes: the experiment with settings over it. Speedups
// are relative to candidate 0.
func Candidate(l *schema.Loaded[config.Experiment], set []string, settings []Setting, number int) (Point, error) {
	p := Point{Axes: settings, Variant: settings, Settings: settings, Coordinates: []int{number, 0},
		programs: &programs{},
		digest:   &digest{}}
	var err error
	if p.Config, err = resolve(l, p.programs, settings, set); err != nil {
		return p, withPoint(&p, err)
	}
	return p, nil
}

// overridden reports whether settings (KEY=VALUE) set a key, by its name or a former one.
func overridden(key string, settings []string) bool {
	path := config.Schema.Path(key)
	return slices.ContainsFunc(settings, func(s string) bool {
		k, _, _ := strings.Cut(s, "=")
		return config.Schema.Path(k) == path
	})
}

func excludeError(l *schema.Loaded[config.Experiment], format string, args ...any) error {
	at, _ := l.Origin("exclude")
	return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
}

// excluded reports whether any exclusion matches, and counts the matches of each, to report those without any.
func excluded(exclude schema.Exclusions, axes []Setting, matches []int) (out bool) {
	for i, e := range exclude {
		fit := true
		for _, x := range e {
			fit = fit && slices.ContainsFunc(axes,
				func(s Setting) bool { return s.Key == x.Key && slices.Contains(x.Values, s.Value) })
		}
		if fit {
			matches[i]++
			out = true
		}
	}
	return out
}

// without returns a text of the coordinates in all dimensions but one.
func (p *Point) without(dim int) string {
	var key []byte
	for d, at := range p.Coordinates {
		if d != dim {
			key = strconv.AppendInt(append(key, ' '), int64(at), 10)
		}
	}
	return string(key)
}

// SameConfig returns a function that reports whether two points have equal configurations, whatever their axes.
func SameConfig(points []Point) func(i, j int) bool {
	return func(i, j int) bool { return points[i].Digest() == points[j].Digest() }
}

// SameStats returns a function that reports whether two points have equal cycles and statistics; false without results.
func SameStats(outcomes []Outcome) func(i, j int) bool {
	return func(i, j int) bool {
		a, b := &outcomes[i], &outcomes[j]
		return a.Counts() && b.Counts() && a.Cycles == b.Cycles && a.Stats.Equal(b.Stats)
	}
}

// resolve returns the checked configuration with settings, and over them the KEY=VALUE settings of over. It is the same
// for all seeds, which applySeed sets.
func resolve(l *schema.Loaded[config.Experiment], programs *programs, settings []Setting, set []string,
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
		return config.Experiment{}, withOrigin(l, err, settings)
	}
	return p.Value, nil
}

// applied resolves a point of a comparison. A key that the experiment as a whole sets, and that the point has no use
// for, is not applied to it: of {cta_threads: 256} beside schedules cta and vertex, vertex has no thread blocks. A
// value that the point's own settings give is refused.
func applied(l *schema.Loaded[config.Experiment], programs *programs, settings []Setting, set []string) (
	config.Experiment, []string, error) {
	var unused []string
	for {
		e, err := resolve(l, programs, settings, set, defaults(unused)...)
		key, ok := compose.Unused(err)
		if !ok || sets(settings, key) || len(settings) == 0 || slices.Contains(unused, key) {
			return e, unused, err
		}
		unused = append(unused, key)
	}
}

// sets reports whether settings give a key, a section around it, or a key of it if it is a section.
func sets(settings []Setting, key string) bool {
	return slices.ContainsFunc(settings, func(s Setting) bool {
		return s.Key == key || config.Schema.Within(key, s.Key) || config.Schema.Within(s.Key, key)
	})
}

// defaults gives keys of an experiment their defaults, as With takes them.
func defaults(keys []string) (args []string) {
	for _, key := range keys {
		if !config.Schema.IsSection(key) {
			args = append(args, key+"="+defaultTexts()[key])
			continue
		}
		for _, f := range config.Schema.Fields() {
			if config.Schema.Within(f.Path, key) && f.Key != "sha256" { // that is a program's, and is filled in
				args = append(args, f.Path+"="+defaultTexts()[f.Path])
			}
		}
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
			_, err := resolve(l, p.programs, p.Settings, set, defaults(others)...)
			return withPoint(p, err)
		}
	}
	return nil
}

// arguments returns settings, with over overriding them, in the form that With takes. Keys of --set below a section
// that settings replaces are repeated, since they would be lost with it.
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

// AtOrigin prefixes an error of a key with the place where the experiment gives it.
func AtOrigin(l *schema.Loaded[config.Experiment], err error) error { return withOrigin(l, err, nil) }

// withOrigin prefixes an error of a key with the place where the key was given, unless a point's own settings give it.
func withOrigin(l *schema.Loaded[config.Experiment], err error, settings []Setting) error {
	var key *compose.KeyError
	if errors.As(err, &key) && !sets(settings, key.Key) {
		if o, ok := l.Origin(cmp.Or(key.Given, key.Key)); ok && o.Layer != schema.Default {
			return fmt.Errorf("%s: %w", o, err)
		}
	}
	return err
}

// applySeed sets the seed of the graph's generator if the axes have one.
func applySeed(e *config.Experiment, axes []Setting) error {
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

// below reports whether a key is inside a section that settings has, and not among settings itself.
func below(key string, settings []Setting) bool {
	inside := false
	for _, s := range settings {
		if s.Key == key {
			return false
		}
		inside = inside || config.Schema.Within(key, s.Key)
	}
	return inside
}

// Label names a point in messages: its values with the last part of their keys.
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

// Short returns the last part of a key.
func Short(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// ErrFailed is the error of a run in which some point has no verified result.
var ErrFailed = errors.New("not every point has a verified result")
