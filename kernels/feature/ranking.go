package feature

import (
	"math"

	"heddle/kernels/ir"
)

// ranking is multi-manifold ranking (ONYX, Fig. 2.1c). The figure's haggr lacks a parenthesis; as printed, ranks grow
// without bound with a vertex's degree. Here it is the inverse of the sum of weights, which makes waggr a mean.
var ranking = &Algorithm{
	Name: "mmr",
	Doc: "multi-manifold ranking: each of k ranks is the damped mean of the in-neighbours' by that feature's " +
		"weight of the edge, and a part of the first rank",
	Properties: []Property{
		{Name: "sum", Words: whole, Sum: true}, {Name: "weights", Words: whole, Sum: true},
		{Name: "first", Words: whole, Data: uniform}, {Name: "edge", Words: whole, Edges: true, Data: edgeWeights},
	},
	First: uniform,
	Edges: []EdgeFunc{
		{Name: "weigh", Into: "weights", Lone: true, Emit: func(g *Group, e *Edge) ir.Value {
			g.Each(func(i Index) { g.AddTo("weights", e.Dst, i, g.Load("edge", e.ID, i)) })
			return nil
		}},
		{Name: "gather", Into: "sum", Emit: func(g *Group, e *Edge) ir.Value {
			g.Each(func(i Index) { g.AddTo("sum", e.Dst, i, g.Mul(g.Load("edge", e.ID, i), e.Sent(i))) })
			return nil
		}},
	},
	Vertices: []VertexFunc{{Name: "rank", Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
		damping := g.Damping()
		own := g.Sub(g.F32(1), damping)
		return g.Let(func(i Index) ir.Value {
			weights := g.Load("weights", v, i)
			by := g.Select(g.Gt(weights, g.F32(0)), weights, g.F32(1))
			mean := g.Div(g.Load("sum", v, i), by)
			return g.Kernel.Add(g.Mul(damping, mean), g.Mul(own, g.Load("first", v, i)))
		}), nil
	}}},
	Check: Reference{
		Terms: func(p *Problem, f *EdgeFunc, e *HostEdge, value, terms []float64) {
			weights := edgeFeatures(p)[e.ID*p.K:]
			for i, x := range value {
				terms[i] = float64(weights[i])
				if !f.Lone {
					terms[i] *= x
				}
			}
		},
		Next: func(p *Problem, v int, of func(string, int) float64, now, got, off, bound []float64) {
			damping, own, first := float64(p.Damping), float64(1-p.Damping), p.Data("first", uniform)
			for f := range off {
				at := v*len(now) + f
				by := of("weights", at)
				if by <= 0 {
					by = 1
				}
				mean, rest := damping*of("sum", at)/by, own*float64(first[at])
				off[f], bound[f] = got[f]-(mean+rest), 4*unit*(math.Abs(mean)+math.Abs(rest))+(3+1/by)*underflow
			}
		},
	},
}
