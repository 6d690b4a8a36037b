package experiment_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/workload"
)

const variants = small + `
compare:
  - {name: plain}
  - {name: weaver, schedule: weaver, machine.core.weaver: {}}
  - name: peg
    schedule: peg
    machine: {core: {graphpeg: {}, scratchpad_bytes: 64KiB}}
    sweep: {machine.core.graphpeg.alwt_entries: [8, 16]}
sweep:
  machine.core.lsu_queue: [2, 4]
  machine.core.weaver.table_latency: [10, 40]
`

// A variant's own axes, and those of a unit that others lack, are for its points alone: the baseline runs once for each
// point of the axes that it has, and each point is compared with that which agrees with it in these.
func TestVariantsWithAxesOfTheirOwn(t *testing.T) {
	p := points(t, variants)
	require.Equal(t, []string{
		"variant=plain lsu_queue=2",
		"variant=weaver lsu_queue=2 table_latency=10",
		"variant=weaver lsu_queue=2 table_latency=40",
		"variant=peg lsu_queue=2 alwt_entries=8",
		"variant=peg lsu_queue=2 alwt_entries=16",
		"variant=plain lsu_queue=4",
		"variant=weaver lsu_queue=4 table_latency=10",
		"variant=weaver lsu_queue=4 table_latency=40",
		"variant=peg lsu_queue=4 alwt_entries=8",
		"variant=peg lsu_queue=4 alwt_entries=16",
	}, labels(p))
	for i, b := range []int{0, 0, 0, 0, 0, 5, 5, 5, 5, 5} {
		require.Equal(t, b, p[i].Baseline)
		require.Equal(t, i%5 == 0, p[i].Config.Machine.Core.Unit.Spec == nil, labels(p)[i])
	}
	require.Contains(t, p[9].YAML(), "alwt_entries: 16\n")
	require.Equal(t, 4, p[9].Config.Machine.Core.LSUQueue)

	r := &experiment.Runner{Points: p, Jobs: 2, Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	for i := range out {
		require.NoError(t, out[i].Err)
		s, ok := experiment.Speedup(p, out, i)
		require.True(t, ok)
		require.Equal(t, float64(out[i/5*5].Cycles)/float64(out[i].Cycles), s)
	}
	means := experiment.Geomeans(p, out)
	require.Len(t, means, 3)
	require.Equal(t, []int{2, 4, 4}, []int{means[0].Points, means[1].Points, means[2].Points})
	require.Equal(t, []string{"machine.core.graphpeg.alwt_entries", "machine.core.lsu_queue"}, means[2].Over)

	var b bytes.Buffer
	experiment.WriteTable(&b, p, out)
	require.Regexp(t, `variant +│ lsu_queue +│ table_latency +│ alwt_entries +│`, b.String())
	require.Regexp(t, `plain +│ 2 +│ – +│ – +│`, b.String())
	require.Regexp(t, `peg +│ 4 +│ – +│ 16 +│`, b.String())

	dir := t.TempDir()
	s := r.Summarise("small", "v", out, experiment.HostSummary{})
	require.Equal(t, map[string]string{
		"variant": "weaver", "machine.core.lsu_queue": "2", "machine.core.weaver.table_latency": "40",
	}, s.Point(2, nil).Axes)
	require.Equal(t, map[string]string{"variant": "peg"}, s.Geomeans[2].Axes)
	require.NoError(t, s.Write(dir))
	text, err := os.ReadFile(filepath.Join(dir, "summary.csv"))
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	require.True(t,
		strings.HasPrefix(lines[0],
			"point,variant,machine.core.lsu_queue,machine.core.weaver.table_latency,machine.core.graphpeg.alwt_entries,cycles,"),
		lines[0])
	require.True(t, strings.HasPrefix(lines[1], "1,plain,2,,,"), lines[1])
	require.True(t, strings.HasPrefix(lines[5], "5,peg,2,,16,"), lines[5])
}

// A unit that every machine of a list lacks but one is swept there alone; null takes a unit away.
func TestAxesOfUnitsThatPointsLack(t *testing.T) {
	for _, c := range []struct {
		name, text string
		points     string // short
	}{
		{"of a machine in lists that go together", "compare: {workload.schedule: [vertex, weaver], machine: [vortex-1c4w4t, " +
			"vortex-1c4w4t-weaver]}\nsweep: {machine.core.weaver.table_latency: [1, 2]}\n",
			"schedule=vertex machine=vortex-1c4w4t|schedule=weaver machine=vortex-1c4w4t-weaver table_latency=1|schedule=weaver " +
				"machine=vortex-1c4w4t-weaver table_latency=2"},
		{"of a machine that is an axis", "sweep: {machine: [vortex-1c4w4t, vortex-1c4w4t-weaver], " +
			"machine.core.weaver.table_latency: [1, 2]}\n",
			"machine=vortex-1c4w4t|machine=vortex-1c4w4t-weaver table_latency=1|machine=vortex-1c4w4t-weaver table_latency=2"},
		{"without variants it makes the unit", "sweep: {machine.core.weaver.table_latency: [1, 2]}\n", "table_latency=1|table_latency=2"},
		{"that go together with others", "compare: [{name: a}, {name: b, machine: vortex-1c4w4t-weaver, schedule: " +
			"weaver}]\nsweep: {'machine.core.weaver.table_latency, machine.core.lsu_queue': [[1, 2], [2, 2], [3, 4]]}\n",
			"variant=a lsu_queue=2|variant=b table_latency=1 lsu_queue=2|variant=b table_latency=2 lsu_queue=2|variant=a " +
				"lsu_queue=4|variant=b table_latency=3 lsu_queue=4"},
		{"null", "machine: vortex-1c4w4t-weaver\ncompare: [{name: a, machine: {core: {weaver: null}}}, {name: b, schedule: " +
			"weaver}]\nsweep: {machine.core.weaver.table_latency: [1, 2]}\n",
			"variant=a|variant=b table_latency=1|variant=b table_latency=2"},
		{"left out by name", "compare: [{name: a}, {name: b, schedule: weaver, sweep: {machine.core.weaver.table_latency: [1, " +
			"2]}}]\nsweep: {machine.core.lsu_queue: [1, 2]}\nexclude: [{variant: b, machine.core.lsu_queue: 2}, " +
			"{machine.core.weaver.table_latency: 2}]\n",
			"variant=a lsu_queue=1|variant=b lsu_queue=1 table_latency=1|variant=a lsu_queue=2"},
		{"with seeds", "seeds: [4, 5]\ncompare: [{name: a}, {name: b, schedule: weaver, sweep: " +
			"{machine.core.weaver.table_latency: [1, 2]}}]\n",
			"variant=a seed=4|variant=a seed=5|variant=b table_latency=1 seed=4|variant=b table_latency=1 seed=5|variant=b " +
				"table_latency=2 seed=4|variant=b table_latency=2 seed=5"},
	} {
		text := small + c.text
		if strings.Contains(c.text, "\ncompare: [{name: a, machine: {core") {
			text = strings.Replace(text, "machine: vortex-1c4w4t\n", "", 1)
		}
		p := points(t, text)
		require.Equal(t, c.points, strings.Join(labels(p), "|"), c.name)
		for i := range p {
			if strings.Contains(c.text, "compare") {
				require.NotEqual(t, -1, p[i].Baseline, c.name)
				require.Zero(t, p[p[i].Baseline].Coordinates[0])
				require.Equal(t, p[i].Config.Graph, p[p[i].Baseline].Config.Graph, "the same seed")
			}
		}
		again, err := config.ParseWith("again", config.Schema.YAML(mustLoad(t, text).Value), nil)
		require.NoError(t, err, c.name)
		q, err := experiment.Points(again, nil)
		require.NoError(t, err)
		require.Equal(t, labels(p), labels(q), "as it is stored")
		for i := range p {
			require.Equal(t, p[i].YAML(), q[i].YAML())
		}
	}
}

// --set of a unit's key applies to the variants that have the unit, and gives it to no other.
func TestSetOfAUnitThatVariantsLack(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.yaml")
	require.NoError(t, os.WriteFile(file, []byte(small+`
compare:
  - {name: plain, machine: vortex-1c4w4t}
  - {name: peg, schedule: peg, machine.core.graphpeg: {}, machine.core.scratchpad_bytes: 64KiB}
  - {name: own, schedule: peg, machine: {core: {graphpeg: {alwt_entries: 16}, scratchpad_bytes: 64KiB}}}
`), 0o644))
	lay := func(set ...string) []experiment.Point {
		l, err := config.Load(file, nil, set)
		require.NoError(t, err)
		p, err := experiment.Points(l, set)
		require.NoError(t, err)
		require.Len(t, p, 3)
		under, err := experiment.Under(l, p, set, func(int) []string { return []string{"machine.core.lsu_queue=3"} })
		require.NoError(t, err)
		another := strings.NewReplacer("lsu_queue: 0", "lsu_queue: 3", "lsu_queue: 2", "lsu_queue: 3")
		for i := range under {
			require.Equal(t, another.Replace(p[i].YAML()), under[i].YAML())
		}
		again, err := config.Parse("resolved", config.Schema.YAML(l.Value))
		require.NoError(t, err)
		require.Equal(t, l.Value.Compare, again.Compare, "the written configuration makes the same points")
		return p
	}
	p := lay("machine.core.graphpeg.alwt_entries=4", "machine.core.lsu_queue=2", "workload.algorithm.damping=0.5")
	require.Nil(t, p[0].Config.Machine.Core.Unit.Spec, "the baseline has none")
	require.Contains(t, p[1].YAML(), "alwt_entries: 4\n")
	require.Contains(t, p[2].YAML(), "alwt_entries: 16\n", "a variant's own settings stay")
	for i := range p {
		require.Equal(t, 0.5, p[i].Config.Workload.Damping)
	}
	for i, p := range lay("machine.l2={}", "machine.l2.ways=4") {
		require.Equal(t, 4, p.Config.Machine.L2.Ways, i)
	}
	for set, says := range map[string]string{
		"machine.core.weaver.table_latency=10": "--set machine.core.weaver.table_latency: no variant of compare has " +
			"machine.core.weaver: " +
			"give it to those that are to have it, or to all with --set machine.core.weaver={}",
		"machine.core.graphpeg.alwt_entries=x": "at variant peg: ",
		"machine.core.graphpeg.alwt_entry=4":   "did you mean machine.core.graphpeg.alwt_entries?",
	} {
		_, err := config.Load(file, nil, []string{set})
		require.ErrorContains(t, err, says)
	}
}

func TestVariantsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{"compare: [{name: a}, {name: b, schedule: edge}]\nsweep: {machine.core.weaver.table_latency: [1, 2]}\n",
			"e.yaml:6:1: sweep: machine.core.weaver.table_latency: no variant of compare has machine.core.weaver: give it to " +
				"those that are to have it"},
		{
			"compare: [{name: a, damping: 0.5}]\nsweep: {workload.algorithm.damping: [0.1]}\n",
			"sweep: workload.algorithm.damping is an axis of compare already",
		},
		{
			"compare: [{name: a, damping: 0.5, sweep: {workload.algorithm.damping: [0.1]}}]\n",
			"compare: compare[0].sweep: workload.algorithm.damping is set by the variant already",
		},
		{
			"compare: [{name: a, sweep: {workload.algorithm.damping: [0.1]}}]\nsweep: {workload.algorithm.damping: [0.1]}\n",
			"compare: compare[0].sweep: workload.algorithm.damping is an axis of the experiment's sweep already",
		},
		{"compare: [{name: a, seeds: [1]}]\n", "compare: seeds cannot be an axis: expected a key of machine, graph, workload or sample"},
		{"compare: [{name: a, schedule: peg}]\n", "at the point variant=a: workload.schedule: peg: the machine's cores have no GraphPEG"},
		{"compare: [{name: a}]\nexclude: [{variant: b}]\n", "exclude[0]: variant: the axis has no value b; it has a"},
		{
			"compare: [{name: a, damping: 0.5}]\nexclude: [{workload.algorithm.damping: 0.5}]\n",
			"exclude[0]: workload.algorithm.damping is no axis of compare or sweep",
		},
		{
			"compare: [{name: a, machine: vortex-1c4w4t-weaver, sweep: {machine.core.graphpeg.alwt_entries: [8]}}]\n",
			"machine.core.graphpeg: ",
		},
	} {
		l, err := loaded(t, small+c.text)
		if err == nil {
			_, err = experiment.Points(l, nil)
		}
		require.ErrorContains(t, err, c.says)
	}
}

// Mistakes in a comparison are reported before it runs.
func TestNotes(t *testing.T) {
	notes := func(text string) []string {
		l := mustLoad(t, small+text)
		p, err := experiment.Points(l, nil)
		require.NoError(t, err)
		return experiment.Notes(&l.Value, p)
	}
	require.Empty(t, notes(strings.TrimPrefix(variants, small)))
	require.Equal(t,
		[]string{"variants a and c of compare are the same: machine, graph, workload and sample at all points"},
		notes("compare: [{name: a}, {name: b, schedule: edge}, {name: c, schedule: vertex}]\nsweep: "+
			"{machine.core.lsu_queue: [1, 2]}\n"))
	require.Equal(t, []string{"variants schedule=vertex and schedule=vertex of compare are the same: machine, graph, " +
		"workload and sample at all points"},
		notes("compare: {workload.schedule: [vertex, edge, vertex]}\n"))
	require.Equal(t, []string{"compare changes nothing: points that differ in it alone have the same machine, graph and " +
		"workload"},
		notes("compare: [{name: a}, {name: b}]\n"))
	require.Equal(t, []string{"b has no speedups: the baseline, a, varies in machine.core.lsu_queue, which it lacks; " +
		"expected a " +
		"baseline without axes that others lack"},
		notes("compare: [{name: a, sweep: {machine.core.lsu_queue: [1, 2]}}, {name: b, schedule: edge}]\n"))
}

// TestKeysWithoutUse: a key that the experiment sets as a whole is applied to the variants that have a use for it. One
// that none has a use for, or that a variant sets itself, is refused.
func TestKeysWithoutUse(t *testing.T) {
	const keys = "cta_threads: 8, unroll: 4, ahead: false"
	text := func(schedules ...string) string {
		s := small + "workload: {algorithm: bfs, " + keys + "}\ncompare:\n"
		for _, x := range schedules {
			s += "  - {name: " + x + ", schedule: " + x + ", machine: vortex-1c4w4t-weaver}\n"
		}
		return s
	}
	points := func(text string, set ...string) ([]experiment.Point, []string, error) {
		l := mustLoad(t, text)
		p, err := experiment.Points(l, set)
		return p, experiment.Notes(&l.Value, p), err
	}
	p, notes, err := points(text("vertex", "cta", "weaver"))
	require.NoError(t, err)
	require.Equal(t, []string{
		"workload.schedule.cta_threads is not applied to variant=vertex and variant=weaver, which have no use for it",
		"workload.compiler.ahead is not applied to variant=cta and variant=weaver, which have no use for it",
		"workload.compiler.unroll is not applied to variant=weaver, which has no use for it",
	}, notes)
	usual := workload.Default()
	for i, want := range []workload.Workload{
		{CTAThreads: usual.CTAThreads, Unroll: "4", Ahead: false},
		{CTAThreads: 8, Unroll: "4", Ahead: usual.Ahead},
		{CTAThreads: usual.CTAThreads, Unroll: usual.Unroll, Ahead: usual.Ahead},
	} {
		w := p[i].Config.Workload
		require.Equal(t, want, workload.Workload{CTAThreads: w.CTAThreads, Unroll: w.Unroll, Ahead: w.Ahead}, i)
	}
	l := mustLoad(t, text("vertex", "cta", "weaver"))
	over, err := experiment.Under(l, p, nil, func(int) []string { return []string{"workload.algorithm.seed=7"} })
	require.NoError(t, err, "with more settings over the points")
	require.Equal(t, p[2].Config.Workload.Unroll, over[2].Config.Workload.Unroll)

	_, _, err = points(text("vertex", "edge"))
	require.ErrorContains(t, err, "workload.schedule.cta_threads = 8: nothing is shared by thread blocks under schedule "+
		"vertex")
	_, _, err = points(strings.Replace(text("cta", "vertex"), "schedule: vertex,", "schedule: vertex, cta_threads: 4,", 1))
	require.ErrorContains(t, err, "at the point variant=vertex: workload.schedule.cta_threads = 4")
	_, _, err = points(small + "workload: {cta_threads: 8}\n")
	require.ErrorContains(t, err, "workload.schedule.cta_threads = 8", "without a comparison")
}

// TestNotesOfBarriers: a program of the user's own whose device-wide barriers lack a fence, where they need one.
func TestNotesOfBarriers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.s")
	const text = ".globl _start\n_start:\nmain:\nli a0, 0x80000000\ncsrr a1, vx_num_cores\nsw a0, 0(sp)\n%sbar a0, " +
		"a1\ntmc zero\n"
	notes := func(fence, machine string) []string {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, text, fence), 0o644))
		l := mustLoad(t, fmt.Sprintf("name: b\nmachine: {extends: vortex-1c4w4t%s}\ngraph: {grid: {width: 3, height: 3}}\n"+
			"workload: {program: %q, max_iterations: 1, host: {steps: [main]}}\nsweep: {machine.core.lsu_queue: [1, 2]}\n",
			machine, file))
		p, err := experiment.Points(l, nil)
		require.NoError(t, err)
		return experiment.Notes(&l.Value, p)
	}
	const two, signal = ", sockets: 2, l2: {}", ", core: {device_barrier: signal}"
	require.Equal(t, []string{"core.device_barrier = signal: " + file +
		" may have device-wide barriers without a fence before them (" + file +
		":7): other cores may read what was there before, which hardware does and values here do not show: expected a fence between the last store and the barrier, flush, or one core"},
		notes("", two+signal), "once for all points")
	require.Empty(t, notes("fence\n", two+signal))
	require.Empty(t, notes("", two))
	require.Empty(t, notes("", signal))
}

func mustLoad(t *testing.T, text string) *schema.Loaded[config.Experiment] {
	t.Helper()
	l, err := loaded(t, text)
	require.NoError(t, err)
	return l
}
