package featured

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/isa/emu"
	"heddle/kernels/feature"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// TestPulledSums: a thread that walks a row alone adds its edges up without atomics, in registers if the sums are few;
// under twc a thread block alone needs an atomic, one for each sum. Where threads share rows, and in push, each edge
// has atomics.
func TestPulledSums(t *testing.T) {
	sums := map[string]int{"lp": 4, "als": 20, "bp": 4, "mmr": 8, "mml": 16, "aggregate": 4} // words a vertex, of k = 4
	for _, a := range feature.Algorithms() {
		for _, way := range []workload.Choice{"push", "pull"} {
			for _, s := range []workload.Schedule{"vertex", "twc", "warp"} {
				for _, k := range []int{4, 8} {
					w := schema.New[workload.Workload]("").Default()
					w.Algorithm, w.Schedule, w.Direction = workload.Algorithm(a.Name), s, way
					w.Features.Changes, w.Features.Count, w.Features.Aware = false, k, false
					r, err := plan(&w, host.Shape{Cores: 1, Warps: 4, Threads: 8}, nil)
					require.NoError(t, err)
					atomics := 0
					for _, o := range r.edges {
						kernels, err := o.Plan.Build(schedule.Core{Warps: 4, Lanes: 8})
						require.NoError(t, err)
						for _, x := range kernels.All() {
							x.Body.Walk(func(i *ir.Instr) {
								if i.Op == ir.OpAtomicAddF {
									atomics++
								}
							})
						}
					}
					name := fmt.Sprintf("%s, %s, %s, k %d", a.Name, way, s, k)
					switch {
					case way == "push" || s == "warp" || s == "twc" && k == 8:
						require.Positive(t, atomics, name)
					case s == "twc":
						require.Equal(t, sums[a.Name], atomics, name)
					default:
						require.Zero(t, atomics, name)
					}
				}
			}
		}
	}
}

// TestPulledRows: rows of a matrix whose numbers are known only in the machine are added up in memory, some or all of
// them, beside sums in registers.
func TestPulledRows(t *testing.T) {
	for _, s := range []workload.Schedule{"vertex", "twc", "cta"} {
		for from := range 4 {
			a, err := feature.ByName("mml")
			require.NoError(t, err)
			own := *a
			gather := func(g *feature.Group, e *feature.Edge) ir.Value {
				sent := g.Let(e.Sent)
				row := func(row ir.Value) {
					weight, at := g.Element("edge", e.ID, row), g.Row(e.Dst, row)
					g.Each(func(i feature.Index) { g.AddTo("matrix", at, i, g.Mul(weight, sent.At(i))) })
				}
				for n := range from {
					row(g.U32(uint32(n)))
				}
				g.From(g.U32(uint32(from)), row)
				return nil
			}
			own.Edges = []feature.EdgeFunc{{Name: "gather", Into: "matrix", Emit: gather}}
			w := schema.New[workload.Workload]("").Default()
			w.Algorithm, w.Schedule, w.Direction = "mml", s, "pull"
			w.Features.Changes, w.Features.Aware = false, false
			d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4}, nil)
			require.NoError(t, err)
			g := mutationGraph(t)
			r, err := planOf(&own, &w, d.Shape(), g)
			require.NoError(t, err)
			require.NoError(t, r.open(d, g, &w))
			_, err = r.do(t.Context(), &w)
			require.NoError(t, err, "%s, rows from %d", s, from)
		}
	}
}

// TestPulledEdges: what edges hold is in the order in which a pull numbers them; in another order it is found wrong.
func TestPulledEdges(t *testing.T) {
	for a, says := range map[string]string{
		"bp": " of edge ", "mmr": "the edges have added up to", "mml": "the edges have added up to",
	} {
		for _, right := range []bool{true, false} {
			w := schema.New[workload.Workload]("").Default()
			w.Algorithm, w.Schedule, w.Direction = workload.Algorithm(a), "twc", "pull"
			w.Features.Changes, w.Features.Aware = false, false
			d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 2, Threads: 4}, nil)
			require.NoError(t, err)
			g := mutationGraph(t)
			r, err := plan(&w, d.Shape(), g)
			require.NoError(t, err)
			r.Pull = right
			require.NoError(t, r.open(d, g, &w))
			_, err = r.do(t.Context(), &w)
			if right {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, says)
			}
		}
	}
}
