package random_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/accel"
	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// TestRandomVariants draws experiments that compare machines of different units, with axes of their own and of all:
// their points equal those laid out independently here, each with the baseline that agrees with it, and so do the
// command's. One experiment in sixteen is run, and the first that can be, for few cycles.
func TestRandomVariants(t *testing.T) {
	first, cases := testenv.Seed(t, 9000), testenv.Cases(t, 16, 1000)
	points, swept, shared, ran := 0, 0, 0, 0
	for seed := first; seed < first+cases; seed++ {
		r := rand.New(rand.NewPCG(seed, 2311))
		c := randomComparison(t, r)
		text := config.Schema.YAML(c.whole)
		l, err := config.ParseWith("compared.yaml", text, nil)
		require.NoError(t, err, "%d\n%s", seed, text)
		laidOut, err := experiment.Points(l, nil)
		require.NoError(t, err, "%d\n%s", seed, text)
		want := c.points(t)
		require.Len(t, laidOut, len(want), "%d\n%s", seed, text)
		for _, p := range laidOut {
			name := experiment.Label(p.Axes)
			at := slices.IndexFunc(want, func(w expected) bool {
				return w.config == unsealed(&p) &&
					w.variant == p.Coordinates[0]
			})
			require.NotEqual(t, -1, at, "%d: %s\n%s", seed, name, text)
			baseline := ""
			if p.Baseline >= 0 {
				baseline = unsealed(&laidOut[p.Baseline])
			}
			require.Equal(t, want[at].baseline, baseline, "%d: %s\n%s", seed, name, text)
			want = slices.Delete(want, at, at+1)
			swept += len(p.Axes) - 1
		}
		points, shared = points+len(laidOut), shared+len(c.whole.Sweep)
		if (seed%16 == 0 || ran == 0) && c.run(t, fmt.Sprint("variants ", seed), laidOut) {
			ran++
		}
	}
	t.Logf("%d experiments of %d points, %d settings of axes, %d axes of all, %d run", cases, points, swept, shared,
		ran)
	require.Positive(t, ran)
}

// unsealed is a point without its program's sum, which is written down when points are laid out.
func unsealed(p *experiment.Point) string {
	return sealed.ReplaceAllString(p.YAML(), `sha256: ""`)
}

var sealed = regexp.MustCompile(`sha256: .*`)

// comparison is an experiment with variants, and each variant by itself.
type comparison struct {
	whole    config.Experiment
	variants []config.Experiment
}

// expected is a point, and that whose cycles its speedup is relative to; "": none.
type expected struct {
	config, baseline string
	variant          int
}

// randomComparison draws variants of an experiment: other machines, with or without units, and schedules that they can
// run.
func randomComparison(t *testing.T, r *rand.Rand) *comparison {
	base := randomExperiment(t, r)
	base.Sample.Period = 0
	c := &comparison{variants: []config.Experiment{base}, whole: base}
	c.whole.Compare = schema.Variants{{Name: "base"}}
	names := []string{""}
	for _, u := range accel.Registered() {
		names = append(names, u.Name)
	}
	for range 1 + r.IntN(3) {
		e := base
		machine := drawing(r, names[r.IntN(len(names))])
		machine.Keep = append(machine.Keep, "workload")
		e, err := config.Schema.Draw(e, machine)
		require.NoError(t, err)
		e.Sample, e.Run = base.Sample, base.Run
		if !schedulable(t, r, &e) {
			continue
		}
		v := schema.Variant{Name: fmt.Sprintf("v %d", len(c.variants)), Set: settings(base, e)}
		if key, values := randomAxis(r, &e); r.IntN(3) > 0 &&
			!slices.ContainsFunc(v.Set, func(s schema.Setting) bool { return s.Key == key }) {
			own := comparison{variants: []config.Experiment{e}}
			if own.legal(key, values) {
				v.Sweep = schema.Axes{{Key: key, Values: values}}
			}
		}
		c.whole.Compare = append(c.whole.Compare, v)
		c.variants = append(c.variants, e)
	}
	for range r.IntN(3) {
		key, values := randomAxis(r, &c.variants[r.IntN(len(c.variants))])
		taken := slices.Contains(c.whole.Compare.Keys(), key) ||
			slices.ContainsFunc(c.whole.Sweep, func(a schema.Axis) bool { return a.Key == key }) ||
			slices.ContainsFunc(c.whole.Compare,
				func(v schema.Variant) bool { return len(v.Sweep) > 0 && v.Sweep[0].Key == key })
		if !taken && c.legal(key, values) {
			c.whole.Sweep = append(c.whole.Sweep, schema.Axis{Key: key, Values: values})
		}
	}
	return c
}

// schedulable gives a configuration a schedule that its machine can run with the other choices, and the scratchpad that
// this takes; false if there is none.
func schedulable(t *testing.T, r *rand.Rand, e *config.Experiment) bool {
	schedules := []workload.Schedule{e.Workload.Schedule, "vertex"}
	if u := accel.KindOf(e.Machine.Core.Unit.Spec); u != nil {
		of := schedule.OfUnit(u.Name)
		schedules = append([]workload.Schedule{workload.Schedule(of[r.IntN(len(of))].Name)}, schedules...)
	}
	for _, s := range schedules {
		x := *e
		x.Workload.Schedule = s
		for refused(&x) != nil && x.Machine.Core.ScratchpadBytes < emu.MaxScratchpadBytes {
			x.Machine.Core.ScratchpadBytes = min(max(1<<10, x.Machine.Core.ScratchpadBytes*2), emu.MaxScratchpadBytes)
		}
		illegal, err := config.Schema.Legal(x)
		require.NoError(t, err)
		if illegal == nil && refused(&x) == nil {
			*e = x
			return true
		}
	}
	return false
}

// settings lead from one configuration to another.
func settings(from, to config.Experiment) (set []schema.Setting) {
	gone := ""
	for _, d := range config.Schema.Diff(from, to) {
		switch {
		case gone != "" && strings.HasPrefix(d.Key, gone+"."):
			continue
		case d.B == schema.Absent:
			gone, d.B = d.Key, "null"
		case d.B == schema.Present:
			d.B = "{}"
		case strings.HasPrefix(d.B, `"`):
			require.NoError(nil, json.Unmarshal([]byte(d.B), &d.B))
		}
		set = append(set, schema.Setting{Key: d.Key, Value: d.B})
	}
	return set
}

// randomAxis draws values of a key, of the unit or common to all machines, that seldom make a configuration illegal.
func randomAxis(r *rand.Rand, e *config.Experiment) (key string, values []string) {
	axes := []schema.Axis{
		{Key: "workload.launch_overhead", Values: []string{"1", "700"}}, {Key: "workload.step_overhead", Values: []string{"1", "700"}}, {Key: "machine.core.lsu_queue", Values: []string{"1", "3", "4"}}, {Key: "workload.algorithm.seed", Values: []string{"1", "2"}},
	}
	for _, a := range []schema.Axis{
		{Key: "machine.core.weaver.table_latency", Values: []string{"1", "7", "10"}},
		{Key: "machine.core.graphpeg.alwt_entries", Values: []string{"8", "16"}},
		{Key: "machine.core.eghw.outstanding_lines", Values: []string{"1", "3"}},
	} {
		if has(e, a.Key) {
			axes = append(axes, a)
		}
	}
	for _, a := range axes {
		if _, known := config.Schema.Lookup(a.Key); !known {
			panic(a.Key)
		}
	}
	a := axes[len(axes)-1]
	if r.IntN(2) == 0 {
		a = axes[r.IntN(len(axes))]
	}
	return a.Key, a.Values
}

// set is a configuration with a key at a value; false if that is not legal. A unit that is not there is not made.
func set(e config.Experiment, key, value string) (config.Experiment, bool) {
	l, err := config.ParseWith("one.yaml", config.Schema.YAML(e), []string{key + "=" + value})
	return must(l, err).Value, err == nil && refused(&l.Value) == nil
}

func must(l *schema.Loaded[config.Experiment], err error) *schema.Loaded[config.Experiment] {
	if err != nil {
		return &schema.Loaded[config.Experiment]{}
	}
	return l
}

// has reports whether a key's section is there.
func has(e *config.Experiment, key string) bool {
	parts := strings.Split(key, ".")
	if len(parts) < 4 {
		return true
	}
	u := accel.KindOf(e.Machine.Core.Unit.Spec)
	return parts[1] != "core" || u != nil && u.Key == parts[2]
}

// legal reports whether all variants that have a key can have all values.
func (c *comparison) legal(key string, values []string) bool {
	for i := range c.variants {
		for _, v := range values {
			if has(&c.variants[i], key) {
				if _, ok := set(c.variants[i], key, v); !ok {
					return false
				}
			}
		}
	}
	return true
}

// points lists the comparison's points, laid out independently.
func (c *comparison) points(t *testing.T) (all []expected) {
	plain := []map[string]string{{}}
	for _, a := range c.whole.Sweep {
		var next []map[string]string
		for _, at := range plain {
			for _, v := range a.Values {
				more := map[string]string{a.Key: v}
				for k, w := range at {
					more[k] = w
				}
				next = append(next, more)
			}
		}
		plain = next
	}
	seen := map[string]bool{}
	for _, at := range plain {
		for i := range c.variants {
			own := schema.Axes{{Key: "", Values: []string{""}}}
			if s := c.whole.Compare[i].Sweep; len(s) > 0 {
				own = s
			}
			for _, v := range own[0].Values {
				config := c.at(t, i, at, own[0].Key, v)
				if id := fmt.Sprint(i, config); !seen[id] {
					seen[id] = true
					all = append(all, expected{config: config, baseline: c.baseline(t, i, at, plain), variant: i})
				}
			}
		}
	}
	return all
}

// at is a variant's configuration at a point.
func (c *comparison) at(t *testing.T, i int, at map[string]string, own, value string) string {
	e := c.variants[i]
	for key, v := range at {
		if has(&e, key) {
			e, _ = set(e, key, v)
		}
	}
	if own != "" {
		ok := false
		e, ok = set(e, own, value)
		require.True(t, ok)
	}
	e.Run, e.Report = config.Host{}, config.Report{}
	return string(config.Schema.Canonical(e))
}

// baseline is that of a variant's points: none if the first variant has several that agree with it.
func (c *comparison) baseline(t *testing.T, i int, at map[string]string, plain []map[string]string) string {
	found := map[string]bool{}
	for _, other := range plain {
		agree := true
		for key, v := range at {
			if has(&c.variants[0], key) && has(&c.variants[i], key) {
				agree = agree && other[key] == v
			}
		}
		if agree {
			found[c.at(t, 0, other, "", "")] = true
		}
	}
	if i == 0 {
		return c.at(t, 0, at, "", "")
	}
	if len(found) != 1 {
		return ""
	}
	for config := range found {
		return config
	}
	return ""
}

// run runs the command, and compares its results with the expected points; false if the experiment is refused.
func (c *comparison) run(t *testing.T, name string, points []experiment.Point) bool {
	dir := t.TempDir()
	file := filepath.Join(dir, "experiment.yaml")
	require.NoError(t, os.WriteFile(file, config.Schema.YAML(c.whole), 0o644))
	out, errs, code := run(t, "run", file, "--json", "--out", filepath.Join(dir, "results"), "--max-cycles", "30000")
	if code == exitUsage {
		return false
	}
	var s struct {
		Points []struct {
			Axes    map[string]string `json:"axes"`
			Config  string            `json:"config"`
			Cycles  uint64            `json:"cycles"`
			Speedup *float64          `json:"speedup"`
		} `json:"points"`
	}
	require.NoError(t, json.Unmarshal([]byte(out), &s), "%s: %s", name, errs)
	require.Len(t, s.Points, len(points))
	for i, p := range s.Points {
		require.Equal(t, points[i].YAML(), p.Config)
		require.Len(t, p.Axes, len(points[i].Axes))
		if p.Speedup != nil {
			require.InDelta(t, float64(s.Points[points[i].Baseline].Cycles)/float64(p.Cycles), *p.Speedup, 1e-12)
		}
	}
	return true
}
