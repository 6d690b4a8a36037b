package feature

import (
	"math"

	"heddle/kernels/ir"
)

// labels is label propagation (ONYX, Fig. 2.1d), of one set of k labels (the figure's P is 1).
var labels = &Algorithm{
	Name:       "lp",
	Doc:        "label propagation: a vertex's probabilities of k labels are the damped mean of those of its in-neighbours, by weight, and its own",
	Properties: []Property{{Name: "sum", Words: whole, Sum: true}},
	First:      distributions,
	Edges: []EdgeFunc{{Name: "gather", Into: "sum", Emit: func(g *Group, e *Edge) {
		g.Each(func(i Index) { g.AddTo("sum", e.Dst, i, g.Mul(e.Weight, e.Sent(i))) })
	}}},
	Vertices: []VertexFunc{
		{Name: "normalise", Emit: func(g *Group, v Place, _ func(string) Feature) Feature {
			return g.Normalise(g.Let(func(i Index) ir.Value { return g.Load("sum", v, i) }))
		}},
		{Name: "blend", Emit: func(g *Group, v Place, left func(string) Feature) Feature {
			damping, sums := g.Float(WordDamping), left("normalise")
			own := g.Sub(g.F32(1), damping)
			return g.Let(func(i Index) ir.Value {
				return g.Kernel.Add(g.Mul(damping, sums.At(i)), g.Mul(own, g.Load(Now, v, i)))
			})
		}},
		{Name: "label", Emit: func(g *Group, _ Place, left func(string) Feature) Feature { return g.Normalise(left("blend")) }},
	},
	Check:   Reference{Terms: scaled, Next: nextLabels},
	Accepts: noNegative,
}

// scaled is the source's features times the edge's weight.
func scaled(_ *Problem, _ *EdgeFunc, e *HostEdge, value, terms []float64) {
	for f, x := range value {
		terms[f] = e.Weight * x
	}
}

// nextLabels follows the roundings of two normalisations and what is between them. Sums of changes may fall below 0 by
// roundings.
func nextLabels(p *Problem, v int, of func(string, int) float64, now, got, off, bound []float64) {
	want := make([]float64, len(now))
	k, damping := len(now), float64(p.Damping)
	own := float64(1 - p.Damping)
	for f := range want {
		want[f], bound[f] = of("sum", v*k+f), 0
	}
	normalise(want, bound)
	for f := range want {
		want[f], bound[f] = damping*want[f]+own*now[f], damping*bound[f]+4*unit*(damping*math.Abs(want[f])+own*math.Abs(now[f]))
	}
	normalise(want, bound)
	differ(off, got, want)
}

// differ is how far what a device has computed is from what it should have.
func differ(off, got, want []float64) {
	for f := range off {
		off[f] = got[f] - want[f]
	}
}

// normalise divides by the sum, with what errors and roundings make of it. Where they decide whether that is above 0,
// there is no bound.
func normalise(x, bound []float64) {
	var sum, mag, off float64
	for f := range x {
		sum, mag, off = sum+x[f], mag+math.Abs(x[f]), off+bound[f]
	}
	off += float64(len(x)+2) * unit * mag
	switch {
	case sum+off <= 0 || mag == 0:
		return
	case sum-off <= 0:
		for f := range bound {
			bound[f] = math.Inf(1)
		}
		return
	}
	for f := range x {
		bound[f] = (bound[f]+math.Abs(x[f])*off/sum)/(sum-off) + 2*unit*math.Abs(x[f])/(sum-off)
		x[f] /= sum
	}
}
