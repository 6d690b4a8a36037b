package feature

import (
	"fmt"
	"math"

	"heddle/graph"
)

// draw returns a sequence of numbers in [0, 1), determined by a seed and a purpose (splitmix64).
func draw(seed, purpose uint64) func() float32 {
	const golden = 0x9E3779B97F4A7C15
	state := seed*golden ^ purpose<<32
	return func() float32 {
		state += golden
		z := state
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		return float32((z^z>>31)>>40) * 0x1p-24
	}
}

// Purposes of random numbers.
const (
	ofVertices = iota + 1
	ofEdges
)

// Words returns a property's initial contents; nil: zeros.
func (p *Problem) Words(x *Property) []uint32 {
	switch {
	case x.Bits != nil:
		return x.Bits(p)
	case x.Data != nil:
		return Words(p.Data(x.Name, x.Data))
	}
	return nil
}

// Words returns the bits of floats.
func Words(of []float32) []uint32 {
	list := make([]uint32, len(of))
	for i, x := range of {
		list[i] = math.Float32bits(x)
	}
	return list
}

// Data returns a property's initial contents, drawn once.
func (p *Problem) Data(name string, fill func(p *Problem) []float32) []float32 {
	x, ok := p.drawn[name]
	if !ok {
		if x = fill(p); p.drawn == nil {
			p.drawn = map[string][]float32{}
		}
		p.drawn[name] = x
	}
	return x
}

// uniform returns features from 0 to 1.
func uniform(p *Problem) []float32 {
	next, x := draw(p.Seed, ofVertices), make([]float32, p.Graph.Vertices()*p.K)
	for i := range x {
		x[i] = next()
	}
	return x
}

// distributions returns positive features that add up to 1.
func distributions(p *Problem) []float32 {
	rows := p.Graph.Vertices() * max(1, p.Sets)
	next, x := draw(p.Seed, ofVertices), make([]float32, rows*p.K)
	for v := range rows {
		row, sum := x[v*p.K:(v+1)*p.K], float32(0)
		for f := range row {
			row[f] = next() + 0x1p-10
			sum += row[f]
		}
		for f := range row {
			row[f] /= sum
		}
	}
	return x
}

// edgeFeatures returns the edges' features.
func edgeFeatures(p *Problem) []float32 { return p.Data("edge", edgeWeights) }

// edgeWeights returns weights from 2^-8 to slightly more than 1.
func edgeWeights(p *Problem) []float32 {
	next, x := draw(p.Seed, ofEdges), make([]float32, p.Graph.Edges()*p.K)
	for i := range x {
		x[i] = next() + 0x1p-8
	}
	return x
}

// edgeShares returns the edges' weights as shares: for each feature, those of a vertex's in-edges add up to 1.
func edgeShares(p *Problem) []float32 {
	x, sums := edgeWeights(p), make([]float32, p.Graph.Vertices()*p.K)
	forEdges(p.Graph, func(e *HostEdge) {
		for f := range p.K {
			sums[e.Dst*p.K+f] += x[e.ID*p.K+f]
		}
	})
	forEdges(p.Graph, func(e *HostEdge) {
		for f := range p.K {
			x[e.ID*p.K+f] /= sums[e.Dst*p.K+f]
		}
	})
	return x
}

// noNegative refuses negative weights, which have no mean.
func noNegative(g *graph.Graph) (key, why string) {
	for e := range g.Edges() {
		if w := weight(g, e); w < 0 || math.IsNaN(w) || math.IsInf(w, 0) {
			return "graph.weights", fmt.Sprintf(": that of edge %d is %v, and what vertices hold is a mean by weight: "+
				"expected weights of 0 and more", e, w)
		}
	}
	return "", ""
}

// weight returns an edge's weight; 1 without weights.
func weight(g *graph.Graph, edge int) float64 {
	if g.WeightKind() == graph.NoWeights {
		return 1
	}
	return g.WeightKind().Float(g.CSR().Weights[edge])
}
