package feature

import (
	"math"

	"heddle/kernels/ir"
)

// modes is multimodal learning (ONYX, Fig. 2.1e): a vertex sums the outer products of edges' weights and its
// in-neighbours' modes, a matrix of k rows, and takes a weighted sum of its rows. The figure does not define its vector
// of weights: here row r has 2(r+1)/(k(k+1)) of damping, so that they add up to it. Nor does it say how edges' weights
// are scaled: here those of a vertex's in-edges add up to 1, so that α and 1−α divide a mean, as in its other
// algorithms. (Until 2026-11-28 they added up to about a half, and runs converged in nine super-steps on any graph.
// When this was changed, it was known that ONYX's change-driven runs gain more than they did here.)
var modes = &Algorithm{
	Name: "mml",
	Doc: "multimodal learning: each of k modes is the weighted sum of a matrix's rows, to which every in-edge has " +
		"added its k weights times its source's modes, and a part of the first mode",
	Properties: []Property{
		{Name: "matrix", Words: square, Sum: true},
		{Name: "first", Words: whole, Data: uniform}, {Name: "edge", Words: whole, Edges: true, Data: edgeShares},
	},
	First: uniform,
	Edges: []EdgeFunc{{Name: "gather", Into: "matrix", Emit: func(g *Group, e *Edge) ir.Value {
		sent := g.Let(e.Sent)
		g.Rows(func(row ir.Value) {
			weight := g.Element("edge", e.ID, row)
			at := g.Row(e.Dst, row)
			g.Each(func(i Index) { g.AddTo("matrix", at, i, g.Mul(weight, sent.At(i))) })
		})
		return nil
	}}},
	Vertices: []VertexFunc{{Name: "mode", Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
		damping := g.Damping()
		part := g.Mul(damping, g.F32(float32(2/float64(g.K*(g.K+1)))))
		own := g.Sub(g.F32(1), damping)
		return g.Let(func(i Index) ir.Value {
			sum := g.Var(g.Mul(own, g.Load("first", v, i)))
			g.Rows(func(row ir.Value) {
				weight := g.Mul(part, g.ToF32(g.Kernel.Add(row, g.U32(1))))
				sum.Set(g.Kernel.Add(sum.Get(), g.Mul(weight, g.Load("matrix", g.Row(v, row), i))))
			})
			return sum.Get()
		}), nil
	}}},
	Check: Reference{
		Terms: func(p *Problem, _ *EdgeFunc, e *HostEdge, value, terms []float64) {
			weights := p.Data("edge", edgeShares)[e.ID*p.K:]
			for r := range p.K {
				for f, x := range value {
					terms[r*p.K+f] = float64(weights[r]) * x
				}
			}
		},
		Next: func(p *Problem, v int, of func(string, int) float64, _, got, off, bound []float64) {
			k, first := p.K, p.Data("first", uniform)
			part := float64(p.Damping) * 2 / float64(k*(k+1))
			for f := range off {
				sum := float64(1-p.Damping) * float64(first[v*k+f])
				mag := math.Abs(sum)
				for r := range k {
					x := part * float64(r+1) * of("matrix", (v*k+r)*k+f)
					sum, mag = sum+x, mag+math.Abs(x)
				}
				off[f], bound[f] = got[f]-(sum), float64(k+6)*unit*mag+float64(2*k+1)*underflow
			}
		},
	},
}
