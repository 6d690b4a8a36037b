package experiment_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/store"
	"heddle/sim/stats"
)

// keeps the finished part, with its samples.
type keeper struct {
	experiment.Quiet
	outcomes map[int]experiment.Outcome
}

func (k keeper) Finished(o experiment.Outcome) { k.outcomes[o.Point] = o }

// runPart runs one point.
func runPart(t *testing.T, text string, set ...string) experiment.Outcome {
	t.Helper()
	k := keeper{outcomes: map[int]experiment.Outcome{}}
	r := &experiment.Runner{Points: points(t, text, set...), Jobs: 1, Observer: k, Check: true}
	r.Run(context.Background())
	o := k.outcomes[0]
	o.Seconds, o.Building = 0, 0
	return o
}

func value(t *testing.T, o *experiment.Outcome, name string) float64 {
	t.Helper()
	s, ok := o.Stats.Get(name)
	require.True(t, ok, name)
	return s.Float()
}

// frontiers has a run of many super-steps with few launches' cycles each.
const frontiers = `
name: frontiers
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 60, edges: 130}, weights: {from: random}}
workload: {algorithm: sssp, order: near-far, delta: 20}
`

// bucketed has vertices that wait in buckets, and lists made of maps.
var bucketed = strings.Replace(frontiers, "near-far", "buckets, buckets: 2, active_set: qnb-bitmap", 1)

// Samples change nothing else, and their counts add up to the point's.
func TestSamplesChangeNothingElse(t *testing.T) {
	for _, text := range []string{small + "workload: {max_iterations: 3}\n", frontiers, bucketed} {
		want := runPart(t, text)
		require.True(t, want.Verified)
		got := runPart(t, text, "stats.interval=333", `stats.keys=["*"]`)
		samples := got.Samples
		got.Samples = nil
		require.Equal(t, want, got)
		require.Greater(t, len(samples.Rows), 5)
		for k, name := range samples.Rows[0].Values {
			total, counted := uint64(0), true
			for _, r := range samples.Rows {
				n, ok := r.Values[k].Uint()
				total, counted = total+n, ok
			}
			if s, _ := want.Stats.Get(name.Name); counted && name.Name != "cycles" {
				require.Equal(t, s.String(), fmt.Sprint(total), name.Name)
			}
		}
	}
}

// TestWarmRuns: a run before the one that counts leaves the L2 warm, and nothing of it is counted.
func TestWarmRuns(t *testing.T) {
	for _, text := range []string{
		small + "workload: {max_iterations: 2}\n", small + "workload: {kernel: handwritten, max_iterations: 2}\n", frontiers,
		bucketed, small + "workload: {algorithm: bc, source: 1}\n",
	} {
		set := []string{"machine=vortex-6c32w32t", "machine.sockets=1", "machine.core.warps=4", "machine.core.threads=4",
			"machine.l2.write_policy=back"}
		cold := runPart(t, text, set...)
		require.NoError(t, cold.Err)
		require.Positive(t, value(t, &cold, "dram.bytes"))
		for _, warm := range []string{
			"region.warm_runs=1", "region.warm_runs=2", "region.warm_runs=1 region.outside=timed",
		} {
			o := runPart(t, text, append(strings.Fields(warm), set...)...)
			require.NoError(t, o.Err, warm)
			require.True(t, o.Verified)
			require.Less(t, o.Cycles, cold.Cycles, warm)
			require.Less(t, value(t, &o, "dram.bytes"), value(t, &cold, "dram.bytes")/4, warm)
			for _, counted := range []string{"launch.count", "edges", "super_steps"} {
				require.Equal(t, value(t, &cold, counted), value(t, &o, counted), "%s: %s", warm, counted)
			}
			require.Len(t, o.Steps, len(cold.Steps))
		}
	}
	_, err := loaded(t, small+"region: {warm_runs: 1}\nstop: {max_edges: 5}\n")
	require.ErrorContains(t, err, "region.warm_runs: 1, beside stop.max_edges")
}

// Regions that follow each other add up to the whole run: a super-step does not depend on the
// region.
func TestRegionsAddUp(t *testing.T) {
	for _, text := range []string{
		small + "workload: {max_iterations: 4}\n", small + "workload: {kernel: handwritten, max_iterations: 4}\n",
		frontiers, bucketed,
	} {
		whole := runPart(t, text)
		require.NoError(t, whole.Err)
		require.GreaterOrEqual(t, value(t, &whole, "super_steps"), 4.0)
		sum := map[string]float64{}
		var steps []store.Step
		for _, region := range []string{"to=1", "from=2 to=3", "from=4"} {
			set := []string{"region.outside=timed"}
			for _, s := range strings.Fields(region) {
				set = append(set, "region."+s)
			}
			part := runPart(t, text, set...)
			require.NoError(t, part.Err)
			require.True(t, part.Verified)
			for _, s := range part.Stats.Tree() {
				if _, counted := s.Uint(); counted {
					sum[s.Name] += s.Float()
				}
			}
			require.Less(t, part.Cycles, whole.Cycles)
			steps = append(steps, part.Steps...)
		}
		require.Equal(t, whole.Steps, steps)
		for _, s := range whole.Stats.Tree() {
			ofTheRun := []string{"source", "frontier.max_vertices", "arrays.bytes"}
			if _, counted := s.Uint(); counted && !slices.Contains(ofTheRun, s.Name) {
				require.Equal(t, s.Float(), sum[s.Name], s.Name)
			}
		}
	}
}

// Whatever the schedule and the algorithm, super-steps outside a region are executed functionally, the result is the
// reference's, and the region's counts keep all invariants. A super-step of PageRank takes about as many cycles as in a
// run that is simulated whole.
func TestRegionsBehindExecution(t *testing.T) {
	for schedule, machine := range map[string]string{
		"vertex": "vortex-1c4w4t", "edge": "vortex-6c32w32t", "warp": "vortex-6c32w32t-sharedl1", "cta": "vortex-6c32w32t", "strict": "vortex-6c32w32t",
		"weaver": "vortex-6c32w32t-weaver", "peg": "vortex-6c32w32t-graphpeg", "hwwl": "vortex-6c32w32t-hwwl", "eghw": "vortex-6c32w32t-eghw",
	} {
		for _, algorithm := range []string{"pagerank", "bfs", "sssp"} {
			text := fmt.Sprintf("name: e\nmachine: %s\ngraph: {erdos_renyi: {vertices: 300, edges: 900}, weights: {from: "+
				"random}}\n"+
				"workload: {algorithm: %s, schedule: %s, max_iterations: %d}\nregion: {from: 2, to: 3}\n", machine, algorithm,
				schedule, map[bool]int{true: 4, false: 0}[algorithm == "pagerank"])
			got := runPart(t, text, "machine.core.warps=4", "machine.core.threads=8")
			require.NoError(t, got.Err, "%s %s", schedule, algorithm)
			require.True(t, got.Verified, "%s %s", schedule, algorithm)
			if algorithm == "pagerank" {
				whole := runPart(t, text, "machine.core.warps=4", "machine.core.threads=8", "region.outside=timed")
				require.NoError(t, whole.Err)
				require.InEpsilon(t, whole.Cycles, got.Cycles, 0.05, "%s: %d, %d", schedule, whole.Cycles, got.Cycles)
				require.InEpsilon(t, value(t, &whole, "l1d.read_misses"), value(t, &got, "l1d.read_misses"), 0.05,
					schedule)
				require.InEpsilon(t, value(t, &whole, "edges"), value(t, &got, "edges"), 1e-9, schedule)
			}
		}
	}
}

// A run that ends with its region has counted the same, and is marked as a part.
func TestARegionMayEndTheRun(t *testing.T) {
	const text = small + "workload: {max_iterations: 4}\n"
	whole := runPart(t, text, "region.from=2", "region.to=3", "stats.interval=500")
	part := runPart(t, text, "region.from=2", "region.to=3", "region.verify=false", "stats.interval=500")
	require.NoError(t, part.Err)
	require.False(t, part.Verified)
	require.Equal(t, experiment.PartialRegion, part.Partial)
	require.Equal(t, whole.Cycles, part.Cycles)
	require.Equal(t, whole.Stats, part.Stats)
	require.Equal(t, whole.Samples, part.Samples)
	total := uint64(0)
	for _, r := range part.Samples.Rows {
		total += r.To - r.From
	}
	require.GreaterOrEqual(t, float64(total), value(t, &part, "device_cycles"))
	require.Greater(t, part.Samples.Rows[0].From, uint64(0))

}

// A run that is over before its region has counted nothing, and is a failure: one whose super-steps are as many as
// asked for, one that ends when no vertex is active, and one that looks for more in a far pile after its last
// super-step.
func TestARegionBehindTheRun(t *testing.T) {
	for _, text := range []string{small + "workload: {max_iterations: 4}\n", small + "workload: {algorithm: bfs}\n",
		small + "workload: {kernel: handwritten, max_iterations: 4}\n", frontiers, bucketed} {
		whole := runPart(t, text)
		require.NoError(t, whole.Err)
		n := int(value(t, &whole, "super_steps"))
		last := runPart(t, text, fmt.Sprint("region.from=", n))
		require.NoError(t, last.Err)
		require.Equal(t, 1.0, value(t, &last, "super_steps"))
		require.Equal(t, n, last.Steps[0].Step, "numbered as in region")
		none := runPart(t, text, fmt.Sprint("region.from=", n+1))
		require.EqualError(t, none.Err, fmt.Sprintf("region.from = %d: the run was over after %d super-steps, so nothing "+
			"was counted", n+1, n))
		none = runPart(t, text, fmt.Sprint("region.from=", n+1), fmt.Sprint("region.to=", n+2), "region.verify=false")
		require.ErrorContains(t, none.Err, "nothing was counted")
	}
	edges := runPart(t, small+"workload: {max_iterations: 4}\n", "stop.max_edges=1", "region.from=2")
	require.ErrorContains(t, edges.Err, "nothing was counted")
}

// A run that ends after some edges has handled as many or a few more, and is marked as a part.
func TestMaxEdges(t *testing.T) {
	const text = small + "workload: {max_iterations: 4}\n"
	whole := runPart(t, text)
	for _, most := range []float64{1, 100, 250, 399} {
		part := runPart(t, text, fmt.Sprint("stop.max_edges=", most), "stats.interval=100",
			"stats.keys=[edges, core.cycles, core.scheduler.*]")
		require.NoError(t, part.Err)
		require.False(t, part.Verified)
		require.Equal(t, experiment.PartialEdges, part.Partial)
		require.Less(t, part.Cycles, whole.Cycles)
		edges := value(t, &part, "edges")
		require.GreaterOrEqual(t, edges, most)
		require.Less(t, edges, most+101, "in 100 cycles")
		require.Positive(t, value(t, &part, "kernel.unfinished.cycles"))
		kernels, causes := 0.0, 0.0
		for _, s := range part.Stats.Tree() {
			if strings.HasPrefix(s.Name, "kernel.") {
				kernels += s.Float()
			}
			if strings.HasPrefix(s.Name, "core.scheduler.") {
				causes += s.Float()
			}
		}
		require.Equal(t, value(t, &part, "device_cycles"), kernels)
		require.Equal(t, value(t, &part, "core.cycles"), causes, "a core with one slice")
		require.Equal(t, edges, sumOf(part.Samples.Rows[0].Values[0], &part))
	}
	require.Equal(t, whole, runPart(t, text, "stop.max_edges=801"), "there are 800")
}

func sumOf(of stats.Stat, o *experiment.Outcome) (n float64) {
	for _, r := range o.Samples.Rows {
		for _, v := range r.Values {
			if v.Name == of.Name {
				n += v.Float()
			}
		}
	}
	return n
}

// Parts are compared with parts, and the table and the summary mark them.
func TestPartialPointsAreMarked(t *testing.T) {
	p := points(t, small+"compare: {workload.schedule: [vertex, edge]}\nstop: {max_edges: 50}\nseeds: [1, 2]\n")
	r := &experiment.Runner{Points: p, Jobs: 2, Observer: experiment.Quiet{}}
	out := r.Run(context.Background())
	var b bytes.Buffer
	experiment.WriteTable(&b, p, out)
	require.Contains(t, b.String(), "partial: max_edges (2 of 2)")
	require.NotContains(t, b.String(), " yes ")
	s, ok := experiment.Speedup(p, out, 2)
	require.True(t, ok)
	require.Positive(t, s)
	sum := r.Summarise("small", "v", out, experiment.HostSummary{})
	require.Equal(t, "max_edges", sum.Point(0, nil).Partial)
	require.False(t, sum.Point(0, nil).Verified)
	require.Empty(t, sum.Point(0, nil).Failure)
	out[2].Partial = experiment.PartialRegion
	_, ok = experiment.Speedup(p, out, 2)
	require.False(t, ok)
}

func TestSamplingIsChecked(t *testing.T) {
	p := points(t, small+"sweep: {machine: [vortex-1c4w4t, vortex-1c4w4t-weaver]}\n", "stats.interval=9",
		"stats.keys=[ipc, weaver.cycles]")
	require.ErrorContains(t, experiment.CheckSampling(p),
		"at the point machine=vortex-1c4w4t: stats.keys: weaver.cycles: the machine has no such statistic")
	require.NoError(t, experiment.CheckSampling(p[1:]))
	require.NoError(t, experiment.CheckSampling(points(t, small, "stats.keys=[x]")), "nothing is sampled")
	for set, says := range map[string]string{
		"region.from=3 region.to=2": "region.to", "region.verify=false": "region.verify", "stats.max_rows=1": "stats.max_rows", "stop.max_edges=-1": "stop.max_edges",
	} {
		_, err := config.Load("quickstart", nil, strings.Fields(set))
		require.ErrorContains(t, err, says)
	}
}

// Too many intervals are said.
func TestCoarse(t *testing.T) {
	k := keeper{outcomes: map[int]experiment.Outcome{}}
	p := points(t, small, "stats.interval=10", "stats.max_rows=20")
	(&experiment.Runner{Points: p, Jobs: 1, Observer: k}).Run(context.Background())
	var c experiment.Coarse
	require.Empty(t, c.Text())
	o := k.outcomes[0]
	c.Add(&p[0], &o)
	require.Regexp(t, `^stats.interval = 10: 1 points would have had stats.max_rows = 20 intervals or more; theirs are up to [\d,]+ cycles$`, c.Text())
	require.Less(t, len(o.Samples.Rows), 20)
}

// TestKeeps: an L1D that keeps read-only lines hits on the graph's arrays, and less than one that keeps all; one that
// keeps none never hits.
func TestKeeps(t *testing.T) {
	const base = "name: k\nmachine: vortex-1c4w4t\nworkload: {max_iterations: 1}\n" +
		"graph: {rmat: {scale: 8, edge_factor: 8}}\n"
	hits := func(keeps string) float64 {
		o := runPart(t, base, "machine.l1d.keeps="+keeps)
		require.NoError(t, o.Err)
		require.True(t, o.Verified)
		return value(t, &o, "l1d.read_hits")
	}
	require.Zero(t, hits("none"))
	require.Positive(t, hits("read_only"))
	require.Greater(t, hits("all"), hits("read_only"))
}
