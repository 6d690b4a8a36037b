package main

import (
	"math"

	"heddle"
)

// restart is k random walks at a time, each of which goes on from a vertex to a neighbour or back to where it began: a
// vertex holds the probabilities that they are there.
var restart = &heddle.FeatureAlgorithm{
	Name: "restart",
	Doc:  "random walks with restart, k at a time: a part of where each began, and the mean of the in-neighbours",
	Properties: []heddle.FeatureProperty{
		{Name: "sum", Words: features, Sum: true},          // of the values that came along edges
		{Name: "begin", Words: features, Data: beginnings}, // of each walk
		{Name: "share", Words: one, Data: shares},          // 1 / in-degree
	},
	First: beginnings,
	Edges: []heddle.EdgeFunc{{Name: "walk", Into: "sum", Emit: func(g *heddle.Group, e *heddle.FeatureEdge) heddle.Value {
		g.Each(func(i heddle.FeatureIndex) { g.AddTo("sum", e.Dst, i, e.Sent(i)) })
		return nil
	}}},
	Vertices: []heddle.VertexFunc{{Name: "restart", Emit: mix}},
	Check: heddle.FeatureReference{
		Terms: func(_ *heddle.FeatureProblem, _ *heddle.EdgeFunc, _ *heddle.HostEdge, value, terms []float64) {
			copy(terms, value)
		},
		Next: next,
	},
}

// mix computes the next values of a vertex; nothing is left by earlier functions.
func mix(g *heddle.Group, v heddle.Place, _ func(string) heddle.Feature) (heddle.Feature, heddle.Value) {
	damping := g.Damping()
	by := g.Mul(damping, g.Word("share", v))
	return g.Let(func(i heddle.FeatureIndex) heddle.Value {
		return g.FMA(by, g.Load("sum", v, i), g.Mul(g.Sub(g.F32(1), damping), g.Load("begin", v, i)))
	}), nil
}

// next returns the error of a vertex's next value, and the bound of its five roundings.
func next(p *heddle.FeatureProblem, v int, of func(property string, word int) float64, _, got, off, bound []float64) {
	begin, share := p.Data("begin", beginnings), p.Data("share", shares)
	for f := range got {
		walked := float64(p.Damping) * float64(share[v]) * of("sum", v*p.K+f)
		began := float64(1-p.Damping) * float64(begin[v*p.K+f])
		off[f] = got[f] - (walked + began)
		bound[f] = 5 * 0x1p-24 * (math.Abs(walked) + math.Abs(began))
	}
}

// features are k words of each vertex, and one is a word.
func features(k int) int { return k }
func one(int) int        { return 1 }

// beginnings has walk f begin at vertex f.
func beginnings(p *heddle.FeatureProblem) []float32 {
	x := make([]float32, p.Graph.Vertices()*p.K)
	for f := range min(p.K, p.Graph.Vertices()) {
		x[f*p.K+f] = 1
	}
	return x
}

func shares(p *heddle.FeatureProblem) []float32 {
	x := make([]float32, p.Graph.Vertices())
	for _, dst := range p.Graph.CSR().IDs {
		x[dst]++
	}
	for v, in := range x {
		x[v] = 1 / max(1, in)
	}
	return x
}
