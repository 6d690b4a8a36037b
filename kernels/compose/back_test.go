package compose

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/kernels/workload"
)

// runFunctional runs a workload on a functional machine.
func runFunctional(t *testing.T, g *graph.Graph, w workload.Workload) (Result, error) {
	p, err := NewPlan(w)
	require.NoError(t, err)
	return Run(context.Background(), functional(t, p), g, w)
}

// TestBack: on a directed graph with loops and parallel edges; the way back has the super-steps between the first and
// the last, last to first, and handles their edges once more.
func TestBack(t *testing.T) {
	g, err := graph.Load(graphspec.Graph{RMAT: &graphspec.RMAT{Scale: 8, EdgeFactor: 3, A: 0.45, B: 0.22, C: 0.22,
		ShuffleIDs: true, Seed: 2}})
	require.NoError(t, err)
	for _, schedule := range []string{"vertex", "edge", "strict", "peg", "hwwl", "eghw"} {
		for _, dir := range []string{"push", "pull", "hybrid"} {
			w := choose("algorithm=bc", "schedule="+schedule, "direction="+dir)
			w.Source, w.Seed, w.Alpha, w.Beta = -1, 4, 4, 4
			r, err := runFunctional(t, g, w)
			require.NoError(t, err)
			require.True(t, r.Verified)
			forward := 0
			for !r.Steps[forward].Back {
				forward++
			}
			require.Greater(t, forward, 4)
			require.Len(t, r.Steps, 2*forward-2)
			for i, s := range r.Steps[forward:] {
				there := r.Steps[forward-2-i]
				require.True(t, s.Back)
				require.Equal(t, there.Edges, s.Handled())
				require.Equal(t, there.Frontier, s.Frontier)
			}
		}
	}
}

// TestBackOfNothing: where no vertex is reached there is no way back.
func TestBackOfNothing(t *testing.T) {
	g, w := tiny()["chain"], choose("algorithm=bc")
	w.Source = 12
	r, err := runFunctional(t, g, w)
	require.NoError(t, err)
	require.Len(t, r.Steps, 1)
}
