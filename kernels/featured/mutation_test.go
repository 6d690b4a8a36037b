package featured

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/isa/emu"
	"heddle/kernels/feature"
	"heddle/kernels/graph"
	"heddle/kernels/graph/graphspec"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// TestMutations: what edges or vertices compute a little wrong is found in the first super-step in which it matters,
// and so is a vertex that should be active and is not.
func TestMutations(t *testing.T) {
	edge := func(e func(g *feature.Group, edge *feature.Edge)) func(a *feature.Algorithm) {
		return func(a *feature.Algorithm) {
			last := &a.Edges[len(a.Edges)-1]
			own := last.Emit
			last.Emit = func(g *feature.Group, edge *feature.Edge) {
				own(g, edge)
				e(g, edge)
			}
		}
	}
	for _, m := range []struct {
		name, algorithm string
		changes, kept   bool
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
			a.Vertices[2].Emit = func(_ *feature.Group, _ feature.Place, left func(string) feature.Feature) feature.Feature {
				return left("blend")
			}
			a.Vertices[1].Emit = scaledBy(a.Vertices[1].Emit, 1.001)
		}},
		{name: "a little more at each vertex", algorithm: "mml", changes: true, says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[0].Emit = scaledBy(a.Vertices[0].Emit, 1+1e-5)
		}},
		{name: "a solution that is none", algorithm: "als", changes: true, says: "is off by", mutate: func(a *feature.Algorithm) {
			a.Vertices[0].Emit = scaledBy(a.Vertices[0].Emit, 1+1e-3)
		}},
		{name: "a message that is a little larger", algorithm: "bp", changes: true, says: "of edge", mutate: func(a *feature.Algorithm) {
			send := a.Edges[0].Emit
			a.Edges[0].Emit = func(g *feature.Group, e *feature.Edge) {
				send(g, e)
				at := feature.Place{Bytes: e.Found[1]}
				g.Each(func(i feature.Index) { g.Store("message", at, i, g.Mul(g.Load("message", at, i), g.F32(1+1e-5))) })
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
	} {
		t.Run(m.name, func(t *testing.T) {
			for _, mutated := range []bool{false, true} {
				w := schema.New[configs.Workload]("").Default()
				w.Algorithm, w.Schedule, w.Iterations = configs.Algorithm(m.algorithm), "strict", 9
				w.Features.Changes = m.changes
				if m.kept {
					w.Features.Unsent, w.Features.Epsilon = "kept", 0.02
				}
				a, err := feature.ByName(m.algorithm)
				require.NoError(t, err)
				own := *a
				own.Edges, own.Vertices = slices.Clone(a.Edges), slices.Clone(a.Vertices)
				if mutated && m.mutate != nil {
					m.mutate(&own)
				}
				g, err := graph.Load(graphspec.Graph{
					RMAT: &graphspec.RMAT{Scale: 6, EdgeFactor: 6, A: 0.57, B: 0.19, C: 0.19}, Weights: graphspec.Weights{From: graphspec.RandomWeights, Min: 1, Max: 9},
					Clean: graphspec.Clean{Symmetrise: true},
				})
				require.NoError(t, err)
				d, err := host.NewUntimed(emu.Config{Cores: 2, Warps: 2, Threads: 4}, nil)
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

// scaledBy has a function of vertices come to a multiple.
func scaledBy(own func(*feature.Group, feature.Place, func(string) feature.Feature) feature.Feature, by float32) func(*feature.Group, feature.Place, func(string) feature.Feature) feature.Feature {
	return func(g *feature.Group, v feature.Place, left func(string) feature.Feature) feature.Feature {
		x := own(g, v, left)
		return g.Let(func(i feature.Index) ir.Value { return g.Mul(x.At(i), g.F32(by)) })
	}
}
