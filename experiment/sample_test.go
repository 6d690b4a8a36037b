package experiment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/internal/testenv"
)

// sizable has launches with some hundred warp instructions a warp.
const sizable = `
name: sizable
machine: vortex-6c32w32t
graph: {rmat: {scale: 13, edge_factor: 16}, weights: {from: random}}
workload: {max_iterations: 2}
`

// TestSampledRuns: a sampled run has the right result, and its intervals hold the true values: of cycles, those of its
// kernels, and counts in them. Counts of executed instructions are exact. Results do not depend on the processors.
func TestSampledRuns(t *testing.T) {
	schedules := []string{"vertex", "weaver", "warp", "strict"}
	if testenv.Long(t) == 0 {
		schedules = schedules[:2]
	}
	for _, schedule := range schedules {
		t.Run(schedule, func(t *testing.T) {
			t.Parallel()
			set := []string{"workload.schedule=" + schedule}
			if schedule == "weaver" {
				set = append(set, "machine="+"vortex-6c32w32t-weaver")
			}
			whole := runPart(t, sizable, set...)
			require.NoError(t, whole.Err)
			set = append(set, "sample.period=120", "sample.begin=10")
			sampled := runPart(t, sizable, set...)
			require.NoError(t, sampled.Err)
			require.True(t, sampled.Verified)
			require.Zero(t, whole.Half)
			require.Positive(t, sampled.Half)
			require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), 1.5*sampled.Half)
			for _, name := range []string{"warp_instrs", "thread_instrs", "edges", "simd_efficiency", "launch.count",
				"super_steps"} {
				require.Equal(t, value(t, &whole, name), value(t, &sampled, name), name)
			}
			for _, name := range []string{"device_cycles", "kernel.gather.cycles", "ipc", "edges_per_cycle",
				"core.cycles", "l1d.reads", "core.scheduler.issued"} {
				s, _ := sampled.Stats.Get(name)
				w := value(t, &whole, name)
				require.InDelta(t, w, s.Float(), max(2*s.Half, 0.02*w), name)
				require.Positive(t, s.Half, name)
			}
			sum, half := uint64(0), 0.0
			for _, s := range sampled.Steps {
				sum, half = sum+s.Cycles, half+s.Half
				for _, x := range s.Stats {
					require.Zero(t, x.Half, x.Name)
				}
			}
			require.InDelta(t, value(t, &sampled, "device_cycles"), float64(sum), 0)
			require.InDelta(t, sampled.Half, half, 1e-6*half)
			require.Equal(t, sampled, runThreads(t, sizable, 3, set...))
			if testenv.Slow() {
				require.Equal(t, sampled, runPart(t, sizable, set...))
			}
		})
	}
}

// runThreads is runPart on several processors.
func runThreads(t *testing.T, text string, threads int, set ...string) experiment.Outcome {
	t.Helper()
	k := keeper{outcomes: map[int]experiment.Outcome{}}
	r := &experiment.Runner{Points: points(t, text, set...), Jobs: 1, Threads: threads, Observer: k, Check: true}
	r.Run(context.Background())
	o := k.outcomes[0]
	o.Seconds, o.Building = 0, 0
	return o
}

// TestSamplingAsAVariant: variants and axes set how a point is sampled, and each point is what it is alone.
func TestSamplingAsAVariant(t *testing.T) {
	const base = "name: v\nmachine: vortex-1c4w4t\nworkload: {max_iterations: 6}\n" +
		"graph: {rmat: {scale: 9, edge_factor: 8}}\n"
	alone := runPart(t, base, "sample.steps=3")
	whole := runPart(t, base)
	require.Positive(t, alone.Half)
	for _, text := range []string{
		"compare: [{name: whole}, {name: steps, sample.steps: 3}]\n", "sweep: {sample.steps: [0, 3]}\n",
	} {
		all := runPoints(t, points(t, base+text))
		require.Len(t, all, 2)
		require.Equal(t, []uint64{whole.Cycles, alone.Cycles}, []uint64{all[0].Cycles, all[1].Cycles})
		require.Equal(t, []float64{0, alone.Half}, []float64{all[0].Half, all[1].Half})
	}
}

// Launches that are over within their beginning are simulated whole, and exact.
func TestRunsShorterThanTheirBeginnings(t *testing.T) {
	for _, text := range []string{frontiers, bucketed} {
		whole := runPart(t, text)
		sampled := runPart(t, text, "sample.period=1000", "sample.begin=1000")
		require.NoError(t, sampled.Err)
		require.Equal(t, whole.Cycles, sampled.Cycles)
		require.Zero(t, sampled.Half)
	}
}

// An estimate with an interval as wide as itself is none.
func TestTooFewIntervals(t *testing.T) {
	o := runPart(t, sizable, "sample.period=100000", "sample.begin=1", "sample.interval=20000", "sample.warm_up=0")
	require.ErrorContains(t, o.Err, "sample.period = 100000: cannot be sampled: cycles are known to ±")
	require.ErrorContains(t, o.Err, "expected a smaller period")
}

// No estimate is shown without its interval.
func TestEstimatesAreShownWithTheirIntervals(t *testing.T) {
	k := keeper{outcomes: map[int]experiment.Outcome{}}
	text := sizable + "sample: {period: 100, begin: 10}\ncompare: {workload.schedule: [vertex, warp]}\n"
	r := &experiment.Runner{Points: points(t, text), Jobs: 1, Observer: k}
	out := r.Run(context.Background())
	var table bytes.Buffer
	experiment.WriteTable(&table, r.Points, out)
	require.Regexp(t, `[0-9] ±[0-9.]+ %.*\n.*× ±[0-9.]+ %`, table.String())
	text2, err := json.Marshal(out[0].Stats.Tree().Map())
	require.NoError(t, err)
	require.Regexp(t, `"ipc":\{"estimate":[0-9.]+,"ci95":[0-9.]+\}`, string(text2))
	require.Regexp(t, `"warp_instrs":[0-9]+,`, string(text2))
}

func TestSamplesThatAreRefused(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"stats.interval=100", "sample.period: 1000, beside stats.interval"},
		{"stop.max_edges=100", "sample.period: 1000, beside stop.max_edges"},
		{"sample.period=50", "sample.period: 50: expected at least 72, twice interval + warm_up"},
		{"sample.period=-1", "sample.period: expected an integer"},
	} {
		_, err := config.ParseWith("sizable.yaml", []byte(sizable+"sample: {period: 1000}\n"), []string{c.set})
		require.ErrorContains(t, err, c.says, c.set)
	}
}

// TestAbandon: a point that exceeds the bound of cycles ends there, timed or sampled; one that stays below it has the
// same result as without the bound.
func TestAbandon(t *testing.T) {
	for _, sample := range []string{"", "sample: {period: 700, interval: 200, warm_up: 100}\n"} {
		p := points(t, small+"workload: {algorithm: pagerank, max_iterations: 4}\n"+sample,
			"graph.erdos_renyi.vertices=1500", "graph.erdos_renyi.edges=6000")
		run := func(most uint64) experiment.Outcome {
			r := &experiment.Runner{Points: p, Observer: silent{}, Abandon: func(int) uint64 { return most }}
			o := r.RunSome(context.Background(), []int{0})[0]
			o.Seconds, o.Building = 0, 0
			return o
		}
		whole := run(0)
		require.NoError(t, whole.Err)
		require.Equal(t, whole, run(2*whole.Cycles))
		cut := run(whole.Cycles / 2)
		require.Equal(t, experiment.Limit, experiment.Class(cut.Err))
		require.Greater(t, cut.Cycles, whole.Cycles/2)
		require.Less(t, cut.Cycles, whole.Cycles)
	}
}
