package experiment_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/sim"
)

// repeating has super-steps that repeat themselves, on a machine whose L2 holds a part of the graph.
const repeating = `
name: repeating
machine: vortex-1c32w32t-slice
graph: {rmat: {scale: 9, edge_factor: 8}, weights: {from: random}}
workload: {algorithm: pagerank, schedule: vertex, max_iterations: 12}
`

// wandering has some hundred super-steps whose active sets grow and shrink.
const wandering = `
name: wandering
machine: vortex-1c32w32t-slice
graph: {grid: {width: 40, height: 40, remove: 0.2}, weights: {from: random}}
workload: {algorithm: bfs, schedule: vertex}
`

// timedSteps returns the launches that were simulated in time: those without an interval.
func timedSteps(o *experiment.Outcome) (n int) {
	for i := range o.Steps {
		if o.Steps[i].Half == 0 {
			n++
		}
	}
	return n
}

// TestSampledSteps: a run sampled by super-step has the right result, exact counts of executed instructions, and an
// interval that holds the cycles of the whole run. It does not depend on the processors.
func TestSampledSteps(t *testing.T) {
	for name, text := range map[string]string{"repeating": repeating, "wandering": wandering} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole, set := runPart(t, text), "sample.steps=10"
			require.NoError(t, whole.Err)
			sampled := runPart(t, text, set)
			require.NoError(t, sampled.Err)
			require.True(t, sampled.Verified)
			require.Positive(t, sampled.Half)
			require.Less(t, sampled.Half, 0.1*float64(whole.Cycles))
			require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), 1.5*sampled.Half)
			require.Len(t, sampled.Steps, len(whole.Steps))
			require.Less(t, 2*timedSteps(&sampled), len(whole.Steps))
			for _, n := range []string{"edges", "launch.count", "super_steps"} {
				require.Equal(t, value(t, &whole, n), value(t, &sampled, n), n)
			}
			for _, n := range []string{"warp_instrs", "thread_instrs", "simd_efficiency", "warp_instrs.load",
				"warp_iterations", "imbalance.lanes"} {
				w, s := value(t, &whole, n), value(t, &sampled, n)
				if name == "repeating" {
					require.Equal(t, w, s, n)
				}
				require.InEpsilon(t, w, s, 0.01, "another order of warps has other races, so that %s differs", n)
			}
			for _, n := range []string{"device_cycles", "ipc", "core.cycles", "l1d.reads", "l1d.read_misses"} {
				s, ok := sampled.Stats.Get(n)
				require.True(t, ok, n)
				w := value(t, &whole, n)
				require.InDelta(t, w, s.Float(), max(2*s.Half, 0.02*w), n)
				require.Positive(t, s.Half, n)
			}
			sum, half := uint64(0), 0.0
			for _, s := range sampled.Steps {
				sum, half = sum+s.Cycles, half+s.Half
			}
			require.InDelta(t, value(t, &sampled, "device_cycles"), float64(sum), 0)
			require.InDelta(t, sampled.Half, half, 1e-6*half)
			require.Equal(t, sampled, runPart(t, text, set))
			require.Equal(t, sampled, runThreads(t, text, 3, set))
		})
	}
}

// TestFirstStepThatFillsTheCaches: a first super-step that brings in several times what the caches hold takes as long
// as the others, which it then stands for. In a larger L2 it takes longer, and the second is simulated, too.
func TestFirstStepThatFillsTheCaches(t *testing.T) {
	for _, c := range []struct {
		l2    string
		timed int
	}{{"2KiB", 3}, {"128KiB", 5}} {
		set := []string{"machine.l2.bytes=" + c.l2, "machine.l1d.bytes=2KiB", "graph.rmat.scale=10"}
		whole, sampled := runPart(t, repeating, set...), runPart(t, repeating, append(set, "sample.steps=20")...)
		require.NoError(t, whole.Err)
		require.NoError(t, sampled.Err)
		require.Equal(t, c.timed, timedSteps(&sampled), c.l2)
		for i := range c.timed {
			require.Equal(t, whole.Steps[i].Cycles, sampled.Steps[i].Cycles, "%s: launch %d", c.l2, i)
		}
		if first, second := float64(whole.Steps[1].Cycles), float64(whole.Steps[3].Cycles); c.timed < 5 {
			require.InEpsilon(t, second, first, 0.01)
		} else {
			require.Greater(t, first, 1.05*second)
		}
		require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), min(sampled.Half, 0.01*float64(whole.Cycles)))
	}
}

// TestSampledStepsOfFeatures: super-steps of algorithms on features read nothing that they write, so that what is left
// out is known nearly as well as what is simulated.
func TestSampledStepsOfFeatures(t *testing.T) {
	const ranking = `
name: ranking
machine: vortex-1c32w32t-slice
graph: {rmat: {scale: 9, edge_factor: 8}, clean: {symmetrise: true}}
workload: {algorithm: mmr, schedule: warp}
`
	for _, changes := range []string{"false", "true"} {
		set := "workload.features.change_driven=" + changes
		whole, sampled := runPart(t, ranking, set), runPart(t, ranking, set, "sample.steps=10")
		require.NoError(t, sampled.Err)
		require.Less(t, timedSteps(&sampled), len(whole.Steps))
		require.Less(t, sampled.Half, 0.06*float64(whole.Cycles))
		require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), sampled.Half)
	}
}

// TestLargeLaunchesEndTheBeginning: the first 16 launches are simulated where the active set changes, but of large ones
// fewer.
func TestLargeLaunchesEndTheBeginning(t *testing.T) {
	simulated := map[string]int{}
	for _, scale := range []string{"7", "12"} {
		o := runPart(t, `
name: propagation
machine: vortex-1c32w32t-slice
graph: {rmat: {scale: `+scale+`, edge_factor: 8}, clean: {symmetrise: true}}
workload: {algorithm: lp, schedule: warp, features: {change_driven: true}}
sample: {steps: 10}
`)
		require.NoError(t, o.Err)
		require.Greater(t, len(o.Steps), 15)
		for i := range o.Steps[:16] {
			if o.Steps[i].Half == 0 {
				simulated[scale]++
			}
		}
	}
	require.Equal(t, map[string]int{"7": 14, "12": 10}, simulated, "two small ones have no fewer active edges than before")
}

// TestProgressOfSampledSteps: emulated edges are progress, so that the time left can be told.
func TestProgressOfSampledSteps(t *testing.T) {
	for _, text := range []string{repeating, wandering} {
		last := lastProgress{}
		o := (&experiment.Runner{Points: points(t, text, "sample.steps=50"), Jobs: 1, Observer: &last}).Run(t.Context())[0]
		require.NoError(t, o.Err)
		require.Less(t, 2*timedSteps(&o), len(o.Steps))
		require.Greater(t, float64(last.Edges), 0.9*value(t, &o, "edges"))
	}
}

type lastProgress struct {
	experiment.Quiet
	sim.Progress
}

func (l *lastProgress) Running(_ int, p sim.Progress) { l.Progress = p }

// TestSampledStepsWithoutRest: where each super-step is simulated, because the limit is 1 or because none is like
// another, the outcome is that of the whole run, statistics included.
func TestSampledStepsWithoutRest(t *testing.T) {
	for _, c := range []struct{ text, set, steps string }{
		{wandering, "workload.max_iterations=30", "1"},
		{repeating, "workload.max_iterations=1", "1000000"},
		{repeating, "workload.max_iterations=2", "1000000"},
		{wandering, "workload.max_iterations=1", "1000000"},
		{wandering, "workload.max_iterations=2", "1000000"},
		{wandering, "workload.max_iterations=15", "1000000"}, // 16 launches, the first that are simulated in any case
	} {
		whole := runPart(t, c.text, c.set)
		require.NoError(t, whole.Err)
		sampled := runPart(t, c.text, c.set, "sample.steps="+c.steps)
		require.Equal(t, whole, sampled, "%s, %s", c.set, c.steps)
	}
}

// TestSimulatedStepsAreThoseOfTheWholeRun: up to the first emulated super-step, launches have the cycles that they have
// in the whole run; where a kernel's launches repeat themselves exactly, so do all.
func TestSimulatedStepsAreThoseOfTheWholeRun(t *testing.T) {
	for name, text := range map[string]string{"repeating": repeating, "wandering": wandering} {
		whole, sampled := runPart(t, text), runPart(t, text, "sample.steps=6", "workload.tolerance=1e-30")
		if name == "wandering" {
			sampled = runPart(t, text, "sample.steps=6")
		} else {
			whole = runPart(t, text, "workload.tolerance=1e-30")
		}
		same := 0
		for i := range whole.Steps {
			if sampled.Steps[i].Half > 0 {
				break
			}
			require.Equal(t, whole.Steps[i].Cycles, sampled.Steps[i].Cycles, "%s: launch %d", name, i)
			same++
		}
		least := map[string]int{"repeating": 5, "wandering": 16}[name]
		require.GreaterOrEqual(t, same, least)
		require.Less(t, same, len(whole.Steps))
	}
}

// TestSuperStepsWithoutEdges: vertices without edges are emulated and estimated like others.
func TestSuperStepsWithoutEdges(t *testing.T) {
	text := `
name: none
machine: vortex-1c4w4t
graph: {erdos_renyi: {vertices: 300, edges: 1}}
workload: {algorithm: pagerank, schedule: vertex, max_iterations: 9}
`
	whole, sampled := runPart(t, text), runPart(t, text, "sample.steps=5")
	require.NoError(t, sampled.Err)
	require.Positive(t, sampled.Half)
	require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), sampled.Half)
}

// TestSampledStepsOfARegion: only the region counts.
func TestSampledStepsOfARegion(t *testing.T) {
	set := []string{"region.from=3", "region.to=9"}
	whole := runPart(t, repeating, set...)
	sampled := runPart(t, repeating, append(set, "sample.steps=5")...)
	require.NoError(t, sampled.Err)
	require.Equal(t, value(t, &whole, "super_steps"), value(t, &sampled, "super_steps"))
	require.Equal(t, value(t, &whole, "warp_instrs"), value(t, &sampled, "warp_instrs"))
	require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), sampled.Half)
}

// TestUnitsAreEmulated: runs with graph units, of which some keep lists from launch to launch and are executed
// functionally.
func TestUnitsAreEmulated(t *testing.T) {
	for machine, schedule := range map[string]string{"vortex-1c4w4t-weaver": "weaver", "vortex-1c4w4t-eghw": "eghw",
		"vortex-1c4w4t-graphpeg": "peg"} {
		set := []string{"machine=" + machine, "workload.schedule=" + schedule, "graph.rmat.scale=7"}
		whole := runPart(t, repeating, set...)
		require.NoError(t, whole.Err, machine)
		sampled := runPart(t, repeating, append(set, "sample.steps=10")...)
		require.NoError(t, sampled.Err, machine)
		require.Positive(t, sampled.Half, machine)
		require.Equal(t, value(t, &whole, "edges"), value(t, &sampled, "edges"), machine)
		require.InDelta(t, float64(whole.Cycles), float64(sampled.Cycles), sampled.Half, machine)
		alike(t, &whole, &sampled)
	}
}

// TestUnitsCountWhatIsSampled: the statistics of units that are executed functionally between the super-steps that are
// simulated are those of the run, not of the rest once more.
func TestUnitsCountWhatIsSampled(t *testing.T) {
	for machine, schedule := range map[string]string{"vortex-1c4w4t-graphpeg": "peg", "hwwl-15sm": "hwwl",
		"graphpeg-15sm": "peg", "vortex-1c4w4t-weaver": "weaver"} {
		set := []string{"machine=" + machine, "workload.schedule=" + schedule}
		if strings.HasSuffix(machine, "-15sm") {
			set = append(set, "machine.sockets=3")
		}
		whole := runPart(t, wandering, set...)
		require.NoError(t, whole.Err, machine)
		sampled := runPart(t, wandering, append(set, "sample.steps=10")...)
		require.NoError(t, sampled.Err, machine)
		require.Positive(t, sampled.Half, machine)
		alike(t, &whole, &sampled)
	}
}

// alike requires that a sampled run's rates, and counts of its unit, are about those of the whole run.
func alike(t *testing.T, whole, sampled *experiment.Outcome) {
	compared := 0
	for _, x := range whole.Stats.Tree() {
		unit, _, _ := strings.Cut(x.Name, ".")
		rate := slices.Contains([]string{"edges_per_cycle", "ipc", "core.cycles", "l2.reads", "l1d.reads"}, x.Name)
		counted := slices.Contains([]string{"peg", "hwwl", "weaver", "eghw"}, unit) &&
			(strings.Contains(x.Name, "edges") || strings.Contains(x.Name, "vertices"))
		if s, ok := sampled.Stats.Get(x.Name); (rate || counted) && ok && x.Float() > 300 || x.Name == "edges_per_cycle" {
			// Counted twice, they were 0.8 off and more; the estimates themselves are up to 0.36 off on so short a run.
			require.InEpsilon(t, x.Float(), s.Float(), 0.5, x.Name)
			compared++
		}
	}
	require.Greater(t, compared, 2)
}

// TestSampledStepsThatAreRefused: with a reason and what to do.
func TestSampledStepsThatAreRefused(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"stats.interval=100", "sample.steps: 10, beside stats.interval"},
		{"stop.max_edges=100", "sample.steps: 10, beside stop.max_edges"},
		{"sample.period=1000", "sample.steps: 10, beside period: 1000: expected one of them"},
		{"sample.steps=-1", "sample.steps: expected an integer"},
	} {
		_, err := config.ParseWith("repeating.yaml", []byte(repeating+"sample: {steps: 10}\n"), []string{c.set})
		require.ErrorContains(t, err, c.says, c.set)
	}
	_, err := tryPoints(t, wandering+"sample: {steps: 10}\n", "workload.compiler.fusion=loop")
	require.ErrorContains(t, err, "sample.steps: cannot be sampled")
	wrong := runPoints(t, points(t, tasksBFS+"sample: {steps: 10}\n"))[0]
	require.ErrorContains(t, wrong.Err, "cannot be sampled")
}
