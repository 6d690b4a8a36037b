package compose

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/kernels/workload"
)

// TestHybridRule: both rules change the direction, each after its own counts, and results are as ever.
func TestHybridRule(t *testing.T) {
	g := exportGraph(t, 400, 6000)
	ways := map[string]string{}
	for _, rule := range []string{"beamer", "sep-graph"} {
		for _, algorithm := range []string{"bfs", "sssp", "cc"} {
			p := mustPlan(t, "direction=hybrid", "schedule=warp", "algorithm="+algorithm, "hybrid_rule="+rule)
			w := workloadOf(p)
			w.HybridRule, w.Alpha, w.Beta = workload.Choice(rule), 15, 18
			if algorithm == "cc" {
				g = tiny()["skewed"]
			}
			r, err := Run(t.Context(), functional(t, p), g, w)
			require.NoError(t, err)
			require.True(t, r.Verified)
			for _, s := range r.Steps {
				ways[rule] += s.Direction.String()
			}
		}
		require.Contains(t, ways[rule], "push")
		require.Contains(t, ways[rule], "pull")
	}
	require.NotEqual(t, ways["beamer"], ways["sep-graph"])
}

// TestCountedFirst: the first super-step of k-core-counted has every vertex push along all of its edges.
func TestCountedFirst(t *testing.T) {
	g := tiny()["skewed"]
	p := mustPlan(t, "algorithm=k-core-counted")
	r, err := Run(t.Context(), functional(t, p), g, workloadOf(p))
	require.NoError(t, err)
	require.True(t, r.Verified)
	require.EqualValues(t, g.Edges(), r.Steps[0].Gather.Edges)
	require.EqualValues(t, g.Vertices(), r.Steps[0].Frontier)
	edges := uint64(0)
	for _, s := range r.Steps[1:] {
		edges += s.Handled()
	}
	require.EqualValues(t, g.Edges(), edges, "each is removed once")
}

// TestSomanIsQuick: hooking and pointer jumping need fewer super-steps than labels need to go along a chain.
func TestSomanIsQuick(t *testing.T) {
	var lines []string
	for v := 2; v <= 60; v++ {
		lines = append(lines, fmt.Sprintf("%d %d 1", v, v-1))
	}
	g, steps := read(60, lines...), map[string]int{}
	for _, algorithm := range []string{"cc", "cc-soman"} {
		p := mustPlan(t, "algorithm="+algorithm)
		r, err := Run(t.Context(), timed(t, p), g, workloadOf(p))
		require.NoError(t, err)
		require.True(t, r.Verified)
		steps[algorithm] = len(r.Steps)
	}
	require.Less(t, steps["cc-soman"], steps["cc"])
	require.LessOrEqual(t, steps["cc-soman"], 4)
}

// TestDeltaEnds: PageRank by changes ends when nothing is active, when the changes are below the tolerance, or when it
// is stopped; with a threshold that no change is below, it has PageRank's ranks.
func TestDeltaEnds(t *testing.T) {
	g := exportGraph(t, 300, 2000)
	p := mustPlan(t, "algorithm=pagerank-delta")
	run := func(change func(w *workload.Workload)) Result {
		w := workloadOf(p)
		w.Tolerance = 0
		change(&w)
		r, err := Run(t.Context(), functional(t, p), g, w)
		require.NoError(t, err)
		require.True(t, r.Verified)
		return r
	}
	all := run(func(w *workload.Workload) { w.Threshold = 1e-4 })
	require.True(t, all.Converged)
	require.Less(t, all.Steps[len(all.Steps)-1].Frontier, all.Steps[0].Frontier)
	few := run(func(w *workload.Workload) { w.Threshold, w.Tolerance = 1e-4, 0.01 })
	require.True(t, few.Converged)
	require.Less(t, len(few.Steps), len(all.Steps))
	cut := run(func(w *workload.Workload) { w.Threshold, w.Iterations = 1e-4, 2 })
	require.False(t, cut.Converged)
	require.Len(t, cut.Steps, 2)
	require.EqualValues(t, g.Edges(), cut.Steps[0].Handled())

	w := workloadOf(p)
	w.Damping = 1
	_, err := NewPlan(w)
	require.ErrorContains(t, err, "workload.algorithm.damping = 1: ")
}
