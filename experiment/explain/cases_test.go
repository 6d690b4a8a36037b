package explain_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/experiment/explain"
	"heddle/experiment/store"
	"heddle/internal/testenv"
)

// Machines and graphs of the cases. The graphs are small, and so are the caches.
const (
	one  = "machine: {core: {warps: 4, threads: 4, idiv: serial}, l1d: {bytes: 1KiB}}\n"
	two  = "machine: {core: {warps: 4, threads: 4, idiv: serial}, sockets: 2, l1d: {bytes: 1KiB}, l2: {bytes: 8KiB}}\n"
	wide = "machine: {sockets: 2, core: {warps: 8, threads: 8}, l1d: {bytes: 1KiB}, l2: {bytes: 8KiB}, " +
		"memory: {clock_ratio: 16}}\n"
	hot   = "machine: {core: {warps: 8, threads: 8, idiv: serial}, l1d: {bytes: 64KiB}}\n"
	tiny  = "machine: {core: {warps: 4, threads: 4, idiv: serial}, l1i: {ways: 1}}\n"
	kron  = "graph: {rmat: {scale: 8, edge_factor: 8}}\n"
	even  = "graph: {erdos_renyi: {vertices: 400, edges: 3000}}\n"
	road  = "graph: {grid: {width: 24, height: 24}}\n"
	ranks = "workload: {algorithm: pagerank, schedule: vertex, max_iterations: 1}\n"
	walk  = "workload: {algorithm: bfs, schedule: vertex}\n"
)

// cases change one thing, and name the finding and the quantity that have to come first.
var cases = []struct {
	name, base, compare string
	finding, quantity   string // keys; quantity "": any, or none
}{
	{"latency to memory", one + even + ranks, "machine.to_memory.response: [3, 80]", "stall.scoreboard.memory", ""},
	{"latency of the ALU", one + even + ranks, "machine.core.latency.alu: [2, 20]", "stall.scoreboard.alu", ""},
	{"latency of the FPU", one + even + ranks, "machine.core.latency.fma: [5, 60]", "stall.scoreboard.fpu", ""},
	{"latency of warp control", one + kron + walk, "machine.core.latency.warp: [3, 40]", "stall.scoreboard.sfu", ""},
	{"size of the L1D", one + even + ranks,
		"machine.l1d.bytes: [1KiB, 64KiB]", "stall.scoreboard.memory", "l1d.misses"},
	{"size of the L2", two + even + ranks,
		"machine.l2.bytes: [1KiB, 256KiB]", "stall.scoreboard.memory", "l2.misses"},
	{"MSHRs of the L1D", one + even + ranks, "machine.l1d.mshrs: [1, 16]", "stall.scoreboard.memory", "l1d.mshr"},
	{"channels of the DRAM", wide + even + ranks, "machine.memory.channels: [1, 8]", "stall.lsu_queue",
		"dram.read"},
	{"clock of the DRAM", two + even + ranks, "machine.memory.clock_ratio: [1, 4]", "stall.scoreboard.memory", ""},
	{"warps", one + even + ranks, "machine.core.warps: [1, 4]", "stall.ibuffer", ""},
	{"lanes", one + even + ranks, "machine.core.threads: [2, 16]", "instructions", "simd"},
	{"cores", two + even + ranks, "machine.sockets: [1, 4]", "stall.scoreboard.memory", ""},
	{"size of the L1I", tiny + even + ranks, "machine.l1i.bytes: [64, 16KiB]", "stall.ibuffer", "l1i.misses"},
	{"DRAM part", one + even + ranks,
		"machine.memory.preset: [hbm2-2gbps, ddr4-3200]", "stall.scoreboard.memory", "dram.read"},
	{"latency of the GraphPEG", "machine: vortex-1c4w4t-graphpeg\n" + kron +
		"workload: {algorithm: bfs, recipe: graphpeg}\n",
		"machine.core.graphpeg.buffer_latency: [0, 200]", "stall.scoreboard.unit", ""},
	{"scan", one + kron + "workload: {algorithm: pagerank, schedule: warp, max_iterations: 1}\n",
		"workload.schedule.scan: [shuffle, scratchpad]", "stall.scoreboard.scratchpad", ""},
	{"active set", one + road + walk, "workload.frontier: [queue, bytemap]", "instructions", ""},
	{"launches", one + road + walk, "workload.launch_overhead: [100, 20000]", "launch", ""},
	{"fusion", one + road + walk, "workload.compiler.fusion: [none, loop]", "launches", "launches"},
	{"schedule", one + kron + ranks, "workload.schedule: [vertex, edge]", "instructions", "simd"},
	{"iterations", one + even + ranks, "workload.max_iterations: [1, 3]", "instructions", ""},
	{"latency of the divider", one + even + ranks, "machine.core.latency.fdiv: [16, 60]", "stall.scoreboard.fpu", ""},
	{"lanes of the LSU", hot + even + ranks, "machine.core.lsu_lanes: [1, 8]", "stall.lsu_queue", ""},
	{"blocks of threads", one + kron + ranks, "workload.schedule: [warp, cta]", "instructions", ""},
	{"atomics", two + kron + "workload: {algorithm: pagerank, schedule: vertex, direction: push, max_iterations: 1}\n",
		"machine.atomics.interval: [1, 40]", "stall.scoreboard.memory", "atomics.wait"},
	{"latency of the Weaver", "machine: vortex-1c4w4t-weaver\n" + kron +
		"workload: {algorithm: pagerank, schedule: weaver, max_iterations: 1}\n",
		"machine.core.weaver.table_latency: [0, 200]", "stall.scoreboard.unit", ""},
}

// outcomes simulates an experiment of two points.
func outcomes(t *testing.T, text string) ([]experiment.Point, []experiment.Outcome) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "e.yaml")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	l, err := config.Load(name, nil, nil)
	require.NoError(t, err)
	points, err := experiment.Points(l, nil)
	require.NoError(t, err)
	return points, (&experiment.Runner{Points: points, Jobs: 1, Observer: experiment.Quiet{}}).Run(context.Background())
}

// explained simulates an experiment of two points and explains their difference.
func explained(t *testing.T, text string) *explain.Explanation {
	t.Helper()
	e, err := explain.Explain(pair(t, text))
	require.NoError(t, err)
	return e
}

// pair simulates an experiment of two points.
func pair(t *testing.T, text string) (a, b *explain.Run) {
	t.Helper()
	points, all := outcomes(t, text)
	require.Len(t, all, 2)
	var both []store.Point
	for i, o := range all {
		require.NoError(t, o.Err)
		p := store.Point{Position: i, Cycles: o.Cycles, Half: o.Half, Stats: o.Stats, Steps: o.Steps}
		for _, x := range points[i].Axes {
			p.Axes = append(p.Axes, store.Axis(x))
		}
		both = append(both, p)
	}
	return explain.Pair(&both[0], &both[1])
}

// TestSharedStallsSumToTheCycles: shared by all warps, causes sum to the cycles as one cause a slot does. Counting them
// does not change the cycles, and both give the same empty slots.
func TestSharedStallsSumToTheCycles(t *testing.T) {
	const text = "name: case\n" + two + kron + walk + "compare:\n  workload.schedule: [vertex, warp]\n"
	plainA, plainB := pair(t, text)
	_, err := explain.ExplainShared(plainA, plainB)
	require.ErrorContains(t, err, "stats.shared_stalls=true")
	a, b := pair(t, text+"stats: {shared_stalls: true}\n")
	require.Equal(t, []uint64{plainA.Cycles, plainB.Cycles}, []uint64{a.Cycles, b.Cycles})
	one, err := explain.Explain(a, b)
	require.NoError(t, err)
	sums(t, one)
	require.Contains(t, one.Text(), "\nshared ")
	shared, err := explain.ExplainShared(a, b)
	require.NoError(t, err)
	sums(t, shared)
	require.NotContains(t, shared.Text(), "\nshared ")
	of := func(e *explain.Explanation) (memory, stalls float64) {
		for _, p := range e.Parts {
			if strings.HasPrefix(p.Key, "stall.") {
				stalls += p.A
			}
			if p.Key == "stall.scoreboard.memory" {
				memory = p.A
			}
		}
		return memory, stalls
	}
	memory, stalls := of(one)
	sharedMemory, sharedStalls := of(shared)
	require.InDelta(t, stalls, sharedStalls, 1e-6)
	require.NotEqual(t, memory, sharedMemory)
}

func TestWhatChangedIsNamedFirst(t *testing.T) {
	for _, c := range testenv.Some(t, 0, len(cases), cases) {
		t.Run(c.name, func(t *testing.T) {
			e := explained(t, fmt.Sprintf("name: case\n%s\ncompare:\n  %s\n", c.base, c.compare))
			sums(t, e)
			require.Equal(t, c.finding, e.Findings[0].Key, e.Text())
			if c.quantity != "" {
				require.NotEmpty(t, e.Evidence, e.Text())
				require.Equal(t, c.quantity, e.Evidence[0].Key, e.Text())
				require.Equal(t, c.finding, e.Evidence[0].Finding)
			}
		})
	}
}

// sums checks that parts and findings sum to the cycles, and that the text fits.
func sums(t *testing.T, e *explain.Explanation) {
	t.Helper()
	var a, b, count, each, found float64
	for _, p := range e.Parts {
		require.NotEqual(t, "unattributed", p.Key)
		require.GreaterOrEqual(t, min(p.A, p.B), 0.0, p.Key)
		a, b, count, each = a+p.A, b+p.B, count+p.ByCount, each+p.ByEach
	}
	for _, f := range e.Findings {
		found += f.Cycles
	}
	difference := float64(e.B.Cycles) - float64(e.A.Cycles)
	require.InDelta(t, e.A.Cycles, a, 1e-3)
	require.InDelta(t, e.B.Cycles, b, 1e-3)
	require.InDelta(t, difference, count+each, 1e-3)
	require.InDelta(t, difference, found, 0.5*20) // findings below half a cycle are left out
	lines := strings.Split(strings.TrimSuffix(e.Text(), "\n"), "\n")
	require.LessOrEqual(t, len(lines), 25)
	for _, l := range lines {
		require.LessOrEqual(t, utf8.RuneCountInString(l), 80, l)
	}
	require.False(t, math.IsNaN(found))
}

// The causes of each super-step sum to its cycles, and together they are those of the run. The text names the causes in
// the super-step in which most of the difference lies, also with many super-steps.
func TestCausesOfSuperSteps(t *testing.T) {
	e := explained(t, "name: case\n"+two+road+walk+"compare:\n  workload.schedule: [vertex, edge]\n")
	sums(t, e)
	require.Greater(t, len(e.SuperSteps), 20)
	a, b, worst := map[string]float64{}, map[string]float64{}, 0
	for i, s := range e.SuperSteps {
		var sumA, sumB float64
		for _, c := range s.Causes {
			require.GreaterOrEqual(t, min(c.A, c.B), -1e-6, c.Name)
			sumA, sumB = sumA+c.A, sumB+c.B
			a[c.Name], b[c.Name] = a[c.Name]+c.A, b[c.Name]+c.B
		}
		require.InDelta(t, s.A, sumA, 1e-6)
		require.InDelta(t, s.B, sumB, 1e-6)
		if s.Difference > e.SuperSteps[worst].Difference {
			worst = i
		}
	}
	for _, p := range e.Parts {
		if p.Key != "launch" {
			require.InDelta(t, p.A, a[p.Name], 1e-6, p.Name)
			require.InDelta(t, p.B, b[p.Name], 1e-6, p.Name)
		}
	}
	require.Contains(t, e.Text(), "\nin it    "+e.SuperSteps[worst].Causes[0].Name+" +")
	before := e.A
	for i := range before.Steps { // as an earlier program stored them
		before.Steps[i].Causes = nil
	}
	old, err := explain.Explain(&before, &e.B)
	require.NoError(t, err)
	require.Nil(t, old.SuperSteps[worst].Causes)
	require.NotContains(t, old.Text(), "\nin it ")
}

// Super-steps are matched by number. Those of one run alone are listed, and together with the others they make the time
// on the device.
func TestSuperStepsOfOneRunAlone(t *testing.T) {
	e := explained(t, "name: case\n"+one+"graph: {grid: {width: 24, height: 24}, weights: {from: random, max: 100}}\n"+
		"workload: {algorithm: sssp, schedule: vertex, delta: 40}\ncompare:\n  workload.order: [none, near-far]\n")
	sums(t, e)
	require.NotEmpty(t, e.SuperSteps)
	require.NotEmpty(t, e.Unmatched)
	require.Contains(t, e.Text(), "steps    super-steps of both ")
	var a, b float64
	for _, p := range append(e.SuperSteps, e.Unmatched...) {
		a, b = a+p.A, b+p.B
	}
	require.Equal(t, e.A.Stats["device_cycles"], a)
	require.Equal(t, e.B.Stats["device_cycles"], b)
}
