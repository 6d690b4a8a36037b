package compose

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/workload"
)

// stairs has a row of every length up to its number of vertices.
func stairs(n int) *graph.Graph {
	var lines []string
	for a := 2; a <= n; a++ {
		for b := max(1, n+1-a); b < a; b++ {
			lines = append(lines, fmt.Sprintf("%d %d %d", a, b, (a+b)%7+1))
		}
	}
	return read(n, lines...)
}

// loops are plans with loops over edges that a thread goes through.
func loops(plans []*Plan) (list []*Plan) {
	for _, p := range plans {
		if p.unrolls() && p.Coefficient == algorithm.Hardware {
			list = append(list, p)
		}
	}
	return list
}

// TestUnrolled: however many edges a thread handles at a time, as built and compiled, the result is right, for rows of
// every length, and equal to the one without, sums in registers to the last bit.
func TestUnrolled(t *testing.T) {
	plans := append(loops(share(t, legal, thinned(covering, 20), 0)),
		loops(share(t, fusable, thinned(coveringFused, 20), 0))...)
	for i, p := range plans {
		u := Unrollings()[1+i%(len(Unrollings())-1)]
		t.Run(fmt.Sprint(p.Name(), " by ", u), func(t *testing.T) {
			t.Parallel()
			g := stairs(11 + i%9)
			if p.Algorithm.Undirected && i%2 == 0 {
				g = tiny()["skewed"]
			}
			w := workloadOf(p)
			one, err := Run(t.Context(), functional(t, p), g, w)
			require.NoError(t, err)
			w.Unroll, w.Spill = workload.Choice(u), workload.Choice(Spills()[i/4%2])
			res, err := Run(t.Context(), functional(t, p), g, w)
			require.NoError(t, err)
			require.True(t, res.Verified)
			if p.Algorithm.Sum != nil && p.sumsInRegister(p.Direction.Uses[0]) {
				require.Equal(t, one.Values, res.Values)
			}
			if !p.Fused {
				interpretUnrolled(t, p, g, w)
			}
		})
	}
}

// interpretUnrolled runs a workload's kernels as they are built.
func interpretUnrolled(t *testing.T, p *Plan, g *graph.Graph, w workload.Workload) {
	q, err := NewPlan(w)
	require.NoError(t, err)
	q.Weights, q.Residual = g.WeightKind(), w.Tolerance > 0
	m := newInterpreter(t, p.Schedule.UnitName(), 2, 3, 4)
	ks, err := q.Build(coreOf(m.shape))
	require.NoError(t, err)
	r, err := newRun(m, q, ks, g, w)
	require.NoError(t, err)
	res, err := r.runAndVerify(context.Background())
	require.NoError(t, err)
	require.True(t, res.Verified)
}
