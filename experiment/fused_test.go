package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/internal/testenv"
)

// fusedSettings are those of a run of frontiers, and of PageRank, BFS with several launches a gather, and BC.
var fusedSettings = [][]string{
	{"workload.max_iterations=3", "workload.algorithm.tolerance=1e-9"},
	{"workload.algorithm=bfs", "workload.schedule=twc", "workload.algorithm.source=3"},
	{"workload.algorithm=bc", "workload.algorithm.source=3"},
	{"workload.algorithm=sssp", "workload.order=near-far", "workload.order.delta=20", "graph.weights.from=random"},
}

// TestFusedRun: a run that is one launch pays for one, its super-steps are distinguished, and their counts add
// up (the runner checks that); samples change nothing, and neither does the number of threads.
func TestFusedRun(t *testing.T) {
	for _, set := range testenv.Some(t, 0, len(fusedSettings), fusedSettings) {
		set = append([]string{"machine=vortex-6c32w32t", "machine.sockets=5", "machine.core.warps=4",
			"machine.core.threads=8", "machine.l2={}", "machine.concentrator={}",
			"graph.erdos_renyi.vertices=200", "graph.erdos_renyi.edges=1200"}, set...)
		host := runPart(t, small, set...)
		fused := runPart(t, small, append(set, "workload.compiler.fusion=loop")...)
		require.NoError(t, fused.Err)
		require.True(t, fused.Verified)
		require.Equal(t, 1.0, value(t, &fused, "launch.count"))
		require.Equal(t, 2000.0, value(t, &fused, "launch.overhead_cycles"))
		require.Positive(t, value(t, &fused, "kernel.loop.cycles"))
		require.Zero(t, value(t, &host, "kernel.loop.cycles"))
		kernels := 0.0
		for _, s := range fused.Stats.Tree() {
			if len(s.Name) > 7 && s.Name[:7] == "kernel." {
				kernels += s.Float()
			}
		}
		require.Equal(t, value(t, &fused, "device_cycles"), kernels)
		if set[len(set)-1] != "graph.weights.from=random" { // sssp's updates are used in the same super-step, or not
			for _, name := range []string{"super_steps", "frontier.vertices", "frontier.edges", "edges"} {
				require.Equal(t, value(t, &host, name), value(t, &fused, name), name)
			}
		}
		sampled := runPart(t, small, append(set, "workload.compiler.fusion=loop", "stats.interval=333",
			`stats.keys=["*"]`)...)
		require.Greater(t, len(sampled.Samples.Rows), 5)
		sampled.Samples = nil
		require.Equal(t, fused, sampled)
		for i, o := range onThreads(t, points(t, small, append(set, "workload.compiler.fusion=loop")...), 3) {
			require.Zero(t, i)
			require.Equal(t, fused.Cycles, o.Cycles)
			require.Equal(t, fused.Stats, o.Stats)
			require.Equal(t, fused.Steps, o.Steps)
		}
	}
}

// TestFusedInPart: max_edges ends it, with the super-steps that were done; a region, a sample and a trace are refused.
func TestFusedInPart(t *testing.T) {
	set := []string{"workload.compiler.fusion=loop", "workload.max_iterations=5"}
	whole := runPart(t, small, set...)
	require.NoError(t, whole.Err)
	o := runPart(t, small, append(set, "stop.max_edges=250")...)
	require.NoError(t, o.Err)
	require.Equal(t, experiment.PartialEdges, o.Partial)
	require.Less(t, o.Cycles, whole.Cycles)
	require.Equal(t, whole.Steps[:len(o.Steps)], o.Steps)
	require.Greater(t, len(o.Steps), 2)
	for set, want := range map[string]string{
		"region.from=2":        "region: a run with workload.compiler.fusion loop",
		"sample.period=100000": "sample.period: ",
	} {
		_, err := tryPoints(t, small, "workload.compiler.fusion=loop", set)
		require.ErrorContains(t, err, want)
	}
	r := &experiment.Runner{Points: points(t, small, "workload.compiler.fusion=loop"), Observer: experiment.Quiet{}}
	_, err := r.Record(t.Context(), 0, t.TempDir()+"/x.trace", "test")
	require.ErrorContains(t, err, "workload.compiler.fusion: loop: ")
}
