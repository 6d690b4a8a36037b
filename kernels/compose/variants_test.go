package compose

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/algorithm"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// TestVariants: the code of each variant of a schedule gives right results, with every algorithm, in every direction
// and by both means of exchange, and schedules without a variant refuse it.
func TestVariants(t *testing.T) {
	ran := map[schedule.Variant]int{}
	for _, s := range schedule.Software() {
		for _, v := range schedule.Variants()[1:] {
			for _, a := range algorithm.Algorithms() {
				for _, d := range []string{"push", "pull", "hybrid"} {
					for _, scan := range schedule.Scans() {
						w := choose("algorithm="+a.Name, "schedule="+s.Name, "direction="+d, "scan="+string(scan))
						if _, err := NewPlan(w); err != nil {
							continue
						}
						w.Variant = workload.Choice(v)
						p, err := NewPlan(w)
						if !s.Has(v) {
							require.ErrorContains(t, err, "has no such code here", "%s %s", s.Name, v)
							continue
						}
						require.NoError(t, err)
						ran[v]++
						runTiny(t, p)
					}
				}
			}
		}
	}
	for _, v := range schedule.Variants()[1:] {
		require.Greater(t, ran[v], 30, v)
	}
}

// runTiny runs a plan on small graphs, whose results are verified.
func runTiny(t *testing.T, p *Plan) {
	for name, g := range tiny() {
		r, err := Run(context.Background(), functional(t, p), g, workloadOf(p))
		require.NoError(t, err, fmt.Sprintf("%s on the %s", p.Name(), name))
		require.True(t, r.Verified)
	}
}

// TestOperatorsHaveNoOutputs: a program's operator refuses the frontier of outputs, which other operators cannot read.
func TestOperatorsHaveNoOutputs(t *testing.T) {
	bfs, err := algorithm.ByName("bfs")
	require.NoError(t, err)
	w := choose("algorithm=bfs", "schedule=strict", "direction=push", "set=outputs", "dedup=bytemap")
	_, err = NewPlan(w)
	require.NoError(t, err)
	w.Recipe = NoRecipe
	_, err = NewEdgeOperator("step", bfs, w, graph.NoWeights)
	require.ErrorContains(t, err, "workload.frontier.set = outputs: an operator's frontier may go to another one")
}
