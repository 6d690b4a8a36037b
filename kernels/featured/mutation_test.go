package featured

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs/schema"
	"heddle/graph"
	"heddle/graph/graphspec"
	"heddle/internal/testenv"
	"heddle/isa/emu"
	"heddle/kernels/feature"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/workload"
)

// TestMutations: a small error in an edge or vertex function is found in the first super-step in which it matters, and
// so is a vertex that should be active but is not.
func TestMutations(t *testing.T) {
	testenv.NeedSlow(t, "it executes mutated kernels")
	edge := func(e func(g *feature.Group, edge *feature.Edge)) func(a *feature.Algorithm) {
		return func(a *feature.Algorithm) {
			last := &a.Edges[len(a.Edges)-1]
			own := last.Emit
			last.Emit = func(g *feature.Group, edge *feature.Edge) ir.Value {
				goes := own(g, edge)
				e(g, edge)
				return goes
			}
		}
	}
	for _, m := range []struct {
		name, algorithm string
		changes, kept   bool
		touched, apart  bool
		inverts         bool
		sets            int
		unfolded        bool
		mutate          func(a *feature.Algorithm)
		build           func(r *run) func() // the device's kernels are made between the two
		set             func(r *run)        // after that
		says            string
	}{
		{name: "a little more at each edge", algorithm: "lp", says: "have added up to", mutate: edge(func(g *feature.Group, e *feature.Edge) {
			g.Each(func(i feature.Index) { g.AddTo("sum", e.Dst, i, g.F32(1e-4)) })
		})},
		{name: "one feature of one edge", algorithm: "mmr", changes: true, says: "have added up to", mutate: edge(func(g *feature.Group, e *feature.Edge) {
			g.When(g.Eq(e.Src.Bytes, g.Of(g.U32(3)).Bytes), func() {
				g.Each(func(i feature.Index) {
					g.When(g.Eq(i.F, g.U32(2)), func() { g.AddTo("sum", e.Dst, i, g.F32(0.01)) })
				})
			})
		})},
		{name: "an element of a matrix", algorithm: "als", says: "gram of vertex", mutate: edge(func(g *feature.Group, e *feature.Edge) {
			g.Once(func() { g.AtomicAddF(g.Add(g.Addr("gram"), g.Row(e.Dst, g.U32(1)).Bytes), g.U32(0), g.F32(0.01)) })
		})},
		{name: "no second normalisation", algorithm: "lp", says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[2].Emit = func(_ *feature.Group, _ feature.Place,
				left func(string) feature.Feature) (feature.Feature, ir.Value) {
				return left("blend"), nil
			}
			a.Vertices[1].Emit = scaledBy(a.Vertices[1].Emit, 1.001)
		}},
		{name: "a little more at each vertex", algorithm: "mml", changes: true, says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[0].Emit = scaledBy(a.Vertices[0].Emit, 1+1e-5)
		}},
		{name: "a solution that is none", algorithm: "als", changes: true, says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[0].Emit = scaledBy(a.Vertices[0].Emit, 1+1e-3)
		}},
		{name: "an inverse that is none", algorithm: "als", inverts: true, says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[0].Emit = scaledBy(a.Vertices[0].Emit, 1+1e-3)
		}},
		{name: "a message that is a little larger", algorithm: "bp", changes: true, says: "of edge", mutate: func(a *feature.Algorithm) {
			send := a.Edges[0].Emit
			a.Edges[0].Emit = func(g *feature.Group, e *feature.Edge) ir.Value {
				goes := send(g, e)
				at := feature.Place{Bytes: e.Found[1]}
				g.Each(func(i feature.Index) {
					g.Store("message", at, i,
						g.Mul(g.Load("message", at, i), g.F32(1+1e-5)))
				})
				return goes
			}
		}},
		{name: "a little more in the product", algorithm: "bp", says: "have added up to", mutate: edge(func(g *feature.Group, e *feature.Edge) {
			g.Each(func(i feature.Index) { g.AddTo("sum", e.Dst, i, g.F32(1e-4)) })
		})},
		{name: "a belief that is a little larger", algorithm: "bp", says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[1].Emit = scaledBy(a.Vertices[1].Emit, 1+1e-5)
		}},
		{name: "slots that stay", algorithm: "bp", changes: true, build: func(r *run) func() {
			r.Algorithm.Slots = false
			return func() { r.Algorithm.Slots = true }
		}, says: "slot 0: expected 1"},
		{name: "another epsilon", algorithm: "lp", says: "is active", set: func(r *run) { r.problem.Epsilon *= 4 }},
		{name: "changes that are lost", algorithm: "lp", changes: true, kept: true, build: func(r *run) func() {
			r.Plan.Kept = false
			return func() { r.Plan.Kept = true }
		}, says: "is kept as what it has sent"},
		{name: "edges that mark nothing", algorithm: "mmr", changes: true, touched: true, says: "is marked as changed by an edge: false", mutate: func(a *feature.Algorithm) {
			a.Edges[1].Emit = stops(a.Edges[1].Emit)
		}},
		{name: "edges that do not go on", algorithm: "bp", changes: true, touched: true, says: "have added up to", mutate: func(a *feature.Algorithm) {
			a.Edges[0].Emit = stops(a.Edges[0].Emit)
		}},
		{name: "a set of labels", algorithm: "lp", sets: 3, changes: true, says: "have added up to", mutate: edge(func(g *feature.Group, e *feature.Edge) {
			g.When(g.Eq(e.Src.Bytes, g.U32(4*4*(3*5+2))), func() { // the third of vertex 5
				g.Each(func(i feature.Index) { g.AddTo("sum", e.Dst, i, g.F32(0.01)) })
			})
		})},
		{name: "vertices that stop", algorithm: "lp", says: "is off by", mutate: neverGoes},
		{name: "vertices that stop, unfolded", algorithm: "lp", unfolded: true, says: "is off by", mutate: neverGoes},
		{name: "an old message that stays", algorithm: "bp", changes: true, apart: true, says: "have added up to", mutate: func(a *feature.Algorithm) {
			a.Edges[1].Emit = func(g *feature.Group, e *feature.Edge) ir.Value {
				g.Each(func(i feature.Index) {
					g.AddTo("sum", e.Dst, i, g.Log(g.Load("message", feature.Place{Bytes: e.Found[1]}, i)))
				})
				return nil
			}
		}},
		{name: "messages that were there before", algorithm: "bp", changes: true, says: "the changes add up to", mutate: func(a *feature.Algorithm) {
			a.Properties = slices.Clone(a.Properties)
			for i, x := range a.Properties {
				if own := x.Data; x.Slots {
					a.Properties[i].Data = func(p *feature.Problem) []float32 {
						of := own(p)
						of[len(of)-1], of[len(of)-5] = 1.5, 1.5
						return of
					}
				}
			}
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			for _, mutated := range []bool{false, true} {
				w := schema.New[workload.Workload]("").Default()
				w.Algorithm, w.Schedule, w.Iterations = workload.Algorithm(m.algorithm), "strict", 9
				w.Features.Changes = m.changes
				if m.touched {
					w.Features.Vertices = "touched"
				}
				if m.sets > 0 {
					w.Features.Sets = m.sets
				}
				if m.inverts {
					w.Features.Solver, w.Features.Lambda = "inverse", 1
				}
				if m.apart {
					w.Features.Retracts = "separate"
				}
				if m.unfolded {
					w.Features.Folding = "none"
				}
				if m.kept {
					w.Features.Unsent, w.Features.Epsilon = "kept", 0.02
				}
				a, err := feature.ByName(m.algorithm)
				require.NoError(t, err)
				own := *a.With(w.Features.Sets)
				own.Edges, own.Vertices = slices.Clone(a.Edges), slices.Clone(a.Vertices)
				if mutated && m.mutate != nil {
					m.mutate(&own)
				}
				g := mutationGraph(t)
				d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 2, Threads: 4}, nil)
				require.NoError(t, err)
				r, err := planOf(&own, &w, d.Shape(), g)
				require.NoError(t, err)
				undo := func() {}
				if mutated && m.build != nil {
					undo = m.build(r)
				}
				require.NoError(t, r.open(d, g, &w))
				undo()
				if mutated && m.set != nil {
					m.set(r)
				}
				_, err = r.do(context.Background(), &w)
				if !mutated {
					require.NoError(t, err)
					continue
				}
				require.ErrorContains(t, err, m.says)
			}
		})
	}
}

// TestStoppedEdges: an edge whose first function does not go on adds nothing and marks nothing, by every choice of who
// computes what; without that in the reference the run fails.
func TestStoppedEdges(t *testing.T) {
	for n, says := range []string{"", "", "", "have added up to", "is off by"} {
		a, err := feature.ByName("mmr")
		require.NoError(t, err)
		own := *a
		ask := feature.EdgeFunc{Name: "ask", Emit: func(g *feature.Group, e *feature.Edge) ir.Value {
			return g.Gt(g.Element("edge", e.ID, g.U32(0)), g.F32(0.5))
		}}
		own.Edges = []feature.EdgeFunc{a.Edges[0], ask, a.Edges[1]}
		if n == 4 { // it has added a value before it stops, and its destination keeps its own
			own.Edges = []feature.EdgeFunc{a.Edges[0], a.Edges[1], ask}
		}
		if n != 3 {
			own.Check.Goes = func(p *feature.Problem, f *feature.EdgeFunc, e *feature.HostEdge, _, _ []float64) bool {
				return f.Name != "ask" || p.Data("edge", nil)[e.ID*p.K] > 0.5
			}
		}
		w := schema.New[workload.Workload]("").Default()
		w.Algorithm, w.Schedule, w.Iterations = "mmr", "vertex", 9
		w.Features.Aware, w.Features.Vertices = n > 0, "touched"
		if n == 2 {
			w.Features.Count, w.Features.Group = 6, "block"
		}
		d, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 2, Threads: 4}, nil)
		require.NoError(t, err)
		g := mutationGraph(t)
		r, err := planOf(&own, &w, d.Shape(), g)
		require.NoError(t, err)
		require.Equal(t, n == 2, r.BlockWarps() > 1)
		require.NoError(t, r.open(d, g, &w))
		res, err := r.do(context.Background(), &w)
		if says != "" {
			require.ErrorContains(t, err, says)
			continue
		}
		require.NoError(t, err)
		require.Less(t, res.Active[len(res.Active)-1], g.Vertices(), "not all are active to the end")
	}
}

// mutationGraph is a small graph with hubs.
func mutationGraph(t *testing.T) *graph.Graph {
	t.Helper()
	g, err := graph.Load(graphspec.Graph{
		RMAT:    &graphspec.RMAT{Scale: 6, EdgeFactor: 6, A: 0.57, B: 0.19, C: 0.19},
		Weights: graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 9},
		Clean:   graphspec.Clean{Symmetrise: true},
	})
	require.NoError(t, err)
	return g
}

// neverGoes has the first function of vertices stop everywhere.
func neverGoes(a *feature.Algorithm) {
	own := a.Vertices[0].Emit
	a.Vertices[0].Emit = func(g *feature.Group, v feature.Place, left func(string) feature.Feature) (feature.Feature,
		ir.Value) {
		x, _ := own(g, v, left)
		return x, g.Bool(false)
	}
}

// scaledBy has a function of vertices come to a multiple.
func scaledBy(own feature.VertexEmit, by float32) feature.VertexEmit {
	return func(g *feature.Group, v feature.Place, left func(string) feature.Feature) (feature.Feature, ir.Value) {
		x, goes := own(g, v, left)
		return g.Let(func(i feature.Index) ir.Value { return g.Mul(x.At(i), g.F32(by)) }), goes
	}
}

// stops has a function of edges not go on where the source's number is odd.
func stops(own feature.EdgeEmit) feature.EdgeEmit {
	return func(g *feature.Group, e *feature.Edge) ir.Value {
		own(g, e)
		return g.Eq(g.And(e.Src.Bytes, g.Of(g.U32(1)).Bytes), g.U32(0)) // k is a power of two
	}
}
