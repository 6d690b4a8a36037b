package experiment_test

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/sim/stats"
)

// loaded puts an experiment into a file, e.yaml, and loads it.
func loaded(t *testing.T, text string) (*schema.Loaded[config.Experiment], error) {
	t.Helper()
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("e.yaml", []byte(text), 0o644))
	return config.Load("./e.yaml", nil, nil)
}

func labels(points []experiment.Point) (out []string) {
	for _, p := range points {
		out = append(out, experiment.Label(p.Axes))
	}
	return out
}

func TestAxesThatGoTogetherAreOneDimension(t *testing.T) {
	p := points(t, small+`
sweep:
  machine.l1d.bytes, machine.l1d.ways: [[1KiB, 1], [4KiB, 4]]
  workload.algorithm.damping: {from: 0.1, to: 0.3, step: 0.1}
`)
	require.Equal(t, []string{
		"bytes=1KiB ways=1 damping=0.1", "bytes=1KiB ways=1 damping=0.2", "bytes=1KiB ways=1 damping=0.3",
		"bytes=4KiB ways=4 damping=0.1", "bytes=4KiB ways=4 damping=0.2", "bytes=4KiB ways=4 damping=0.3",
	}, labels(p))
	require.Equal(t, 4, p[5].Config.Machine.L1D.Ways)
	require.Equal(t, 4096, p[5].Config.Machine.L1D.Bytes)
	require.Equal(t, 0.3, p[5].Config.Workload.Damping)
}

func TestExcludedPointsAreLeftOut(t *testing.T) {
	p := points(t, small+`
compare: {workload.schedule: [vertex, edge]}
sweep: {workload.algorithm.damping: [0.1, 0.2, 0.3], machine.l1d.ways: [1, 2]}
exclude:
  - {workload.algorithm.damping: [0.1, 0.20], machine.l1d.ways: 2}
  - {workload.schedule: vertex, workload.algorithm.damping: 0.3, machine.l1d.ways: 1}
`)
	require.Equal(t, []string{
		"schedule=vertex damping=0.1 ways=1", "schedule=edge damping=0.1 ways=1", "schedule=vertex damping=0.2 ways=1", "schedule=edge damping=0.2 ways=1",
		"schedule=edge damping=0.3 ways=1", "schedule=vertex damping=0.3 ways=2", "schedule=edge damping=0.3 ways=2",
	}, labels(p))
	for i, baseline := range []int{0, 0, 2, 2, -1, 5, 5} {
		require.Equal(t, baseline, p[i].Baseline, "a point whose baseline is left out has none")
	}
}

func TestSeeds(t *testing.T) {
	p := points(t, small+"compare: {workload.schedule: [vertex, edge]}\nsweep: {machine.l1d.ways: [1, 2]}\nseeds: [7, "+
		"3, 5]\n")
	require.Len(t, p, 12)
	require.Equal(t, "schedule=edge ways=1 seed=3", experiment.Label(p[4].Axes))
	for i := range p {
		require.Equal(t, []uint64{7, 3, 5}[i%3], p[i].Config.Graph.ErdosRenyi.Seed)
		require.Equal(t, i/6*6+i%3, p[i].Baseline, "the first variant with the same seed")
	}
	require.Equal(t, []experiment.Group{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}}, experiment.Groups(p))

	r := &experiment.Runner{Points: p, Jobs: 2, Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	s := r.Summarise("small", "v", out, experiment.HostSummary{})
	require.Len(t, s.Groups, 4)
	var cycles, speedups []float64
	require.Equal(t, []int{4, 5, 6}, s.Groups[1].Points, "numbers, from 1")
	for _, i := range []int{3, 4, 5} {
		require.NoError(t, out[i].Err)
		cycles = append(cycles, float64(out[i].Cycles))
		speedups = append(speedups, float64(out[p[i].Baseline].Cycles)/float64(out[i].Cycles))
	}
	require.NotEqual(t, out[3].Graph, out[4].Graph)
	require.Equal(t, experiment.Estimated(cycles), s.Groups[1].Cycles)
	require.Equal(t, experiment.Estimated(speedups), *s.Groups[1].Speedup)
	require.Equal(t, map[string]string{"workload.schedule": "edge", "machine.l1d.ways": "1"}, s.Groups[1].Axes)

	var b bytes.Buffer
	out[4].Err, out[4].Verified = &experiment.Crash{}, false
	experiment.WriteTable(&b, p, out)
	require.Regexp(t, `vertex +│ 1 +│ +3 │ +[0-9,]+ ± [0-9,]+ │ +1.00× ± 0.00× │`, b.String())
	require.Contains(t, b.String(), "NO: crash (1 of 3)")
}

// TestDifferencesThatMayBeNone: a speedup is marked unless the interval of the pairs excludes 1, however far the cycles
// of one point are spread over seeds.
func TestDifferencesThatMayBeNone(t *testing.T) {
	p := points(t, small+"compare: {workload.schedule: [vertex, edge, warp]}\nseeds: [7, 3, 5]\n")
	cycles := []uint64{1000, 2000, 3000, 980, 1955, 2950, 990, 2040, 2980} // edge is 2 % faster with each seed
	var out []experiment.Outcome
	for i, n := range cycles {
		out = append(out, experiment.Outcome{Point: i, Cycles: n, Verified: true})
	}
	var b bytes.Buffer
	experiment.WriteTable(&b, p, out)
	require.Regexp(t, `vertex +│ +3 │ [0-9,]+ ± [0-9,]+ │ +1.00× ± 0.00× │`, b.String())
	require.Regexp(t, `edge +│ +3 │ [0-9,]+ ± [0-9,]+ │ +1.02× ± 0.01× │`, b.String())
	require.Regexp(t, `warp +│ +3 │ [0-9,]+ ± [0-9,]+ │ +≈1.00× ± 0.0[0-9]× │`, b.String())
	require.Contains(t, b.String(), "\n≈: may be no difference")
	b.Reset()
	experiment.WriteTable(&b, p[:6], out[:6])
	require.NotContains(t, b.String(), "≈")
	var list []experiment.Valued
	for i := range p {
		s, _ := experiment.Speedup(p, out, i)
		list = append(list, experiment.Valued{Axes: p[i].Axes, Value: s})
	}
	m, err := experiment.NewPivot(list, "speedup", nil, nil)
	require.NoError(t, err)
	b.Reset()
	require.NoError(t, m.Write(&b, "table", nil))
	require.Equal(t, 2, strings.Count(b.String(), "≈"), b.String())
	require.Contains(t, b.String(), "≈1.00 ± 0.0")
	b.Reset()
	require.NoError(t, m.Write(&b, "latex", nil))
	require.NotContains(t, b.String(), "≈")
}

func TestEstimates(t *testing.T) {
	require.Equal(t, experiment.Estimate{}, experiment.Estimated(nil))
	require.Equal(t, experiment.Estimate{Mean: 4, N: 1}, experiment.Estimated([]float64{4}))
	e := experiment.Estimated([]float64{1, 2, 3, 4})
	require.Equal(t, 2.5, e.Mean)
	require.InDelta(t, 3.182*math.Sqrt(5.0/3/4), e.CI95, 1e-3)
	many := experiment.Estimated(append(make([]float64, 50), 1))
	require.InEpsilon(t, 2.00856*math.Sqrt((50.0/51)/50/51), many.CI95, 1e-5)
}

func TestPointsThatCannotBeLaidOut(t *testing.T) {
	file := "name: f\nmachine: vortex-1c4w4t\ngraph: {file: facebook_combined}\n"
	for _, c := range []struct{ text, says string }{
		{small + "sweep: {workload.algorithm.damping: [0.1]}\nexclude: [{machine.l1d.ways: 1}]\n", "e.yaml:6:1: exclude[0]: machine.l1d.ways is no axis of compare or sweep"},
		{small + "sweep: {workload.algorithm.damping: [0.1]}\nexclude: [{workload.algorithm.damping: 0.2}]\n", "e.yaml:6:1: exclude[0]: workload.algorithm.damping: the axis has no value 0.2; it has 0.1"},
		{small + "sweep: {'workload.algorithm.damping, machine.l1d.ways': [[0.1, 1], [0.2, 2]]}\nexclude: [{workload.algorithm.damping: 0.2, machine.l1d.ways: 1}]\n", "e.yaml:6:1: exclude[0]: leaves out no point"},
		{small + "sweep: {workload.algorithm.damping: [0.1]}\nexclude: [{workload.algorithm.damping: 0.1}]\n", "e.yaml:6:1: exclude: leaves out all points"},
		{small + "sweep: {name: [a, b]}\n", "e.yaml:5:1: sweep: name cannot be an axis: expected a key of machine, graph, workload or sample"},
		{small + "compare: {workload.algorithm.damping: [0.1]}\nsweep: {workload.algorithm.damping: [0.1]}\n", "e.yaml:6:1: sweep: workload.algorithm.damping is an axis of compare already"},
		{small + "seeds: [1, 2, 1]\n", "e.yaml:5:8: seeds[2]: 1 stands twice"},
		{file + "seeds: [1, 2]\n", "e.yaml:4:8: seeds: nothing about the graph is random: expected a generator"},
		{file + "seeds: [1, 2]\nsweep: {graph.reorder.order: [random, degree]}\n", "at the point order=degree seed=1: seeds: nothing about the graph is random"},
		{small + "sweep: {workload.max_iterations: {from: 1, to: 400, step: 1}, machine.core.lsu_queue: [1, 2], workload.launch_overhead: {from: 0, to: 999, step: 1}}\n", "more than 100000 points"},
	} {
		l, err := loaded(t, c.text)
		if err == nil {
			_, err = experiment.Points(l, nil)
		}
		require.ErrorContains(t, err, c.says)
	}
}

func TestWhatHasNoEffectIsSaid(t *testing.T) {
	machine := filepath.Join(t.TempDir(), "m.yaml")
	require.NoError(t, os.WriteFile(machine, []byte("extends: vortex-1c4w4t\n"), 0o644))
	l, err := loaded(t, small+"sweep: {machine: [vortex-1c4w4t, "+machine+
		"], workload.algorithm.damping: [0.1, 0.2], machine.l1d.ways: [1, 4]}\n")
	require.NoError(t, err)
	p, err := experiment.Points(l, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"machine"}, experiment.NoEffect(&l.Value, p, experiment.SameConfig(p)))

	out := (&experiment.Runner{Points: p, Jobs: 2, Observer: experiment.Quiet{}}).Run(context.Background())
	require.Equal(t, []string{"machine", "workload.algorithm.damping"},
		experiment.NoEffect(&l.Value, p, experiment.SameStats(out)))
	out[0].Verified = false
	require.Empty(t, experiment.NoEffect(&l.Value, p, experiment.SameStats(out)), "no note on failed points")
}

func TestCost(t *testing.T) {
	r := &experiment.Runner{Points: points(t, small+"sweep: {workload.max_iterations: [1, 2, 3]}\n")}
	c, err := r.EstimateCost(nil)
	require.NoError(t, err)
	require.Equal(t, uint64(200+400+600), c.Edges)
	require.Positive(t, c.Seconds)
	require.Contains(t, c.Basis, "other points")

	done := map[int]experiment.Outcome{0: {Verified: true, Seconds: 20}, 1: {Err: &experiment.TimeLimitError{}}}
	c, err = r.EstimateCost(done)
	require.NoError(t, err)
	require.Equal(t, uint64(400+600), c.Edges)
	require.InDelta(t, 100, c.Seconds, 1e-9)
	var b bytes.Buffer
	c.Write(&b, 4)
	require.Contains(t, b.String(), "max_iterations=1  200 edges, stored\n")
	require.Contains(t, b.String(), "max_iterations=3  600 edges, about 1m0s\n")
	require.Contains(t, b.String(), "3 points, 2 to run: 1,000 edges, about 1m40s of one processor, 50s with --jobs 4 "+
		"(from the points that are stored)")

	// The edges that an algorithm's stored points have handled predict those of its others.
	r = &experiment.Runner{Points: points(t, small+"workload: {algorithm: cc}\nsweep: {machine.l1d.ways: [1, 2]}\n")}
	done = map[int]experiment.Outcome{0: {Verified: true, Seconds: 3,
		Stats: stats.Pack(stats.Tree{stats.Count("edges", "", "", 500)})}, 7: {Verified: true}}
	c, err = r.EstimateCost(done)
	require.NoError(t, err)
	require.Equal(t, uint64(500), c.Edges)
	require.InDelta(t, 3, c.Seconds, 1e-9)

	file := &experiment.Runner{Points: points(t,
		"name: f\nmachine: vortex-1c4w4t\ngraph: {file: facebook_combined, clean: {symmetrise: true}}\n")}
	c, err = file.EstimateCost(nil)
	require.NoError(t, err)
	require.Equal(t, uint64(176_468), c.Edges)
}

// The points of all permitted seeds are laid out, and their cost is estimated, within seconds.
func TestManySeeds(t *testing.T) {
	seeds := make([]string, experiment.MaxPoints)
	for i := range seeds {
		seeds[i] = strconv.Itoa(3 * i)
	}
	text := "name: e\nmachine: vortex-1c4w4t\ngraph: {rmat: {scale: 6}, weights: {from: random}}\nworkload: {algorithm: " +
		"sssp}\nseeds: [" + strings.Join(seeds, ", ") + "]\n"
	begin := time.Now()
	p := points(t, text)
	c, err := (&experiment.Runner{Points: p}).EstimateCost(nil)
	require.NoError(t, err)
	var out bytes.Buffer
	c.Write(&out, 1)
	require.Less(t, time.Since(begin), 30*time.Second)
	require.Len(t, p, experiment.MaxPoints)
	last := &p[len(p)-1]
	require.Equal(t, uint64(3*(experiment.MaxPoints-1)), last.Config.Graph.RMAT.Seed)
	require.Equal(t, last.Config.Graph.RMAT.Seed, last.Config.Graph.Weights.Seed)
	require.Contains(t, last.YAML(), "seed: 299997")
	require.Contains(t, p[1].YAML(), "seed: 3\n")
	require.Equal(t, experiment.MaxPoints+1, strings.Count(out.String(), "\n"))
}

// Settings over a point's own change its machine and workload, and neither its axes nor the points without any; an axis
// that they set gives way, and --set of a key that they do not set holds.
func TestUnder(t *testing.T) {
	l, err := loaded(t, small+"compare: {workload.schedule: [vertex, edge], workload.compiler.ahead: [true, true]}\n"+
		"sweep: {machine: [vortex-1c4w4t, vortex-rtl-c], machine.l1d.bytes: [8KiB]}\n")
	require.NoError(t, err)
	set := []string{"machine.core.threads=2", "machine.l1d.ways=2"}
	p, err := experiment.Points(l, set)
	require.NoError(t, err)
	under, err := experiment.Under(l, p, set, func(i int) []string {
		// ahead by its former name
		return [][]string{{"machine.l1d.bytes=32KiB", "machine.l1d.ways=4", "workload.ahead=false"}, nil}[i%2]
	})
	require.NoError(t, err)
	require.Len(t, under, 4)
	for i := range under {
		require.Equal(t, p[i].Axes, under[i].Axes)
		if i%2 == 1 {
			require.Equal(t, p[i].YAML(), under[i].YAML())
			continue
		}
		c := &under[i].Config
		require.Equal(t, []any{32 << 10, 4, 2, false},
			[]any{c.Machine.L1D.Bytes, c.Machine.L1D.Ways, c.Machine.Core.Threads, c.Workload.Ahead})
		require.Equal(t, p[i].Config.Machine.Core.Warps, c.Machine.Core.Warps, "the axis machine stays")
		require.Equal(t, 8<<10, p[i].Config.Machine.L1D.Bytes, "the points as they were stay")
	}
	_, err = experiment.Under(l, p, nil, func(int) []string {
		return []string{"workload.compiler.sum=memory",
			"workload.schedule=edge"}
	})
	require.ErrorContains(t, err, "at the point schedule=vertex")
}
