package feature

import (
	"math"

	"heddle/kernels/ir"
)

// labels is label propagation (ONYX, Fig. 2.1d), of one or more sets of k labels (the figure's P).
var labels = &Algorithm{
	Name: "lp",
	Doc: "label propagation: a vertex's probabilities of k labels are the damped mean of those of its " +
		"in-neighbours, by weight, and its own",
	Properties: []Property{
		{Name: "sum", Words: whole, Sum: true},
		{Name: setWeightArray, Words: single, Edges: true, Sets: true, Data: setWeights},
	},
	First: distributions,
	Sets:  true,
	PerEdge: func(g *Group, id, _, _ ir.Value) (found []ir.Value) {
		at := g.Kernel.Add(g.Addr(setWeightArray), g.Mul(id, g.U32(uint32(4*g.plan.Sets))))
		for n := range g.plan.Sets {
			found = append(found, g.Kernel.Load(ir.U32, at, g.U32(uint32(n))))
		}
		return found
	},
	Edges: []EdgeFunc{{Name: "gather", Into: "sum", Emit: addWeighted}},
	Vertices: []VertexFunc{
		// Without any contribution there is no mean: a vertex that no label has reached keeps its own.
		{Name: "normalise", Stops: true, Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
			return g.Normalise(g.Let(func(i Index) ir.Value { return g.Load("sum", v, i) }))
		}},
		{Name: "blend", Emit: func(g *Group, v Place, left func(string) Feature) (Feature, ir.Value) {
			damping, sums := g.Damping(), left("normalise")
			own := g.Sub(g.F32(1), damping)
			return g.Let(func(i Index) ir.Value {
				return g.Kernel.Add(g.Mul(damping, sums.At(i)), g.Mul(own, g.Load(Now, v, i)))
			}), nil
		}},
		{Name: "label", Emit: func(g *Group, _ Place, left func(string) Feature) (Feature, ir.Value) {
			x, _ := g.Normalise(left("blend"))
			return x, nil
		}},
	},
	Alone:   true, // a vertex blends its own labels in
	Check:   Reference{Terms: scaled, Next: nextLabels},
	Accepts: noNegative,
}

// setWeightArray holds an edge's weights for each set of labels, with several sets.
const setWeightArray = "set"

// setWeights returns the graph's weights for the first set, and drawn ones for the others.
func setWeights(p *Problem) []float32 {
	next, x := draw(p.Seed, ofEdges), make([]float32, p.Graph.Edges()*p.Sets)
	forEdges(p.Graph, func(e *HostEdge) {
		of := x[e.ID*p.Sets:][:p.Sets]
		of[0] = float32(e.Weight)
		for n := 1; n < p.Sets; n++ {
			of[n] = next() + 0x1p-8
		}
	})
	return x
}

// addWeighted adds the value that the source sends, times the edge's weight.
func addWeighted(g *Group, e *Edge) ir.Value {
	g.Each(func(i Index) { g.AddTo("sum", e.Dst, i, g.Mul(e.Weight, e.Sent(i))) })
	return nil
}

// scaled is the source's features times the edge's weight.
func scaled(_ *Problem, _ *EdgeFunc, e *HostEdge, value, terms []float64) {
	for f, x := range value {
		terms[f] = e.Weight * x
	}
}

// nextLabels follows the roundings of two normalisations and the operations between them. Sums of changes may fall
// below 0 by roundings, and a sum of labels may lie on either side of it: the deciding sum is therefore computed as on
// the device, in f32 and in the same order.
func nextLabels(p *Problem, v int, of func(string, int) float64, now, got, off, bound []float64) {
	k, damping, own := len(now), p.Damping, 1-p.Damping
	sums, device, want := make([]float32, k), make([]float32, k), make([]float64, k)
	for f := range sums {
		sums[f] = float32(of("sum", v*k+f))
	}
	sum := p.plan.hostSum(sums)
	if math.IsInf(float64(sum), 1) {
		p.Refuse("vertex %d: its %d sums of labels add up to more than a float32 holds, %.4g: expected smaller "+
			"weights (graph.weights)",
			v/max(1, p.Sets), k, math.MaxFloat32)
	}
	if !(sum > 0) { // no contribution
		for f := range want {
			want[f], bound[f] = now[f], 0
		}
		differ(off, got, want)
		return
	}
	for f := range want {
		blended := float64(damping)*float64(sums[f])/float64(sum) + float64(own)*now[f]
		device[f] = float32(damping*float32(sums[f]/sum)) + float32(own*float32(now[f]))
		want[f] = blended
		bound[f] = 4*unit*(math.Abs(float64(damping)*float64(sums[f])/float64(sum))+math.Abs(float64(own)*now[f])) +
			3*underflow
	}
	if all := p.plan.hostSum(device); all > 0 && !normalise(want, bound) {
		for f, x := range device {
			want[f] = float64(x / all)
			bound[f] = 2*unit*math.Abs(want[f]) + underflow
		}
	}
	differ(off, got, want)
}

// differ returns the difference between the device's values and the expected ones.
func differ(off, got, want []float64) {
	for f := range off {
		off[f] = got[f] - want[f]
	}
}

// normalise divides by the sum, with the errors and roundings, and reports whether the sum is certainly positive: if
// not, it does nothing.
func normalise(x, bound []float64) bool {
	var sum, mag, off float64
	for f := range x {
		sum, mag, off = sum+x[f], mag+math.Abs(x[f]), off+bound[f]
	}
	off += float64(len(x)+2) * unit * mag
	if sum-off <= 0 {
		return false
	}
	for f := range x {
		bound[f] = (bound[f]+math.Abs(x[f])*off/sum)/(sum-off) + 2*unit*math.Abs(x[f])/(sum-off) + underflow
		x[f] /= sum
	}
	return true
}
