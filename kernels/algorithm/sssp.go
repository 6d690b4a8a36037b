package algorithm

import (
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// sssp is the Bellman–Ford algorithm over the vertices whose distance fell in the last super-step. A distance that
// falls within a super-step may already be used in it.
var sssp = &Algorithm{
	Name:       "sssp",
	Doc:        "shortest paths from the source, Bellman-Ford over a frontier; integer weights, 1 without",
	FromSource: true,
	Weighted:   true,
	Ordered:    true,
	Arrays:     []Array{{"distance", nil}},
	Result:     "distance",
	Sum:        emit.MinU32,
	Into:       "distance",
	Init: func(k *emit.Kernel, v ir.Value) {
		set(k, "distance", v, k.Select(k.Eq(v, k.Count("source")), k.U32(0), k.U32(none)))
	},
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Ne(word(k, "distance", v), k.U32(none)) },
	Unsettled: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.Gt(word(k, "distance", v), k.Count("bound"))
	},
	Bound: leastDistance,
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value {
		return k.Add(word(k, "distance", e.Src), e.Weight(ir.U32))
	},
	Exact: true,
	Check: func(p *Problem, o *Outcome) error {
		want, err := reference.Distances(p.Graph, p.Source)
		if err != nil {
			return err
		}
		return reference.Equal("distance", o.Result, want)
	},
	Stopped: &Stopped{Check: func(p *Problem, o *Outcome) error {
		final, err := reference.Distances(p.Graph, p.Source)
		if err != nil {
			return err
		}
		length, err := reference.Lengths(p.Graph)
		if err != nil {
			return err
		}
		first := make([]uint32, len(final))
		for v := range first {
			first[v] = none
		}
		first[p.Source] = 0
		r := reference.Relaxation{Quantity: "distance", Out: p.Graph.CSR(), Length: length, First: first, Final: final}
		return r.Check(o.Result, o.Steps, o.Undone)
	}},
}

// checkLengths returns an error for weights that are no lengths, and for those with which a tentative distance might
// exceed 32 bits.
func checkLengths(g *graph.Graph) error {
	length, err := reference.Lengths(g)
	if err != nil {
		return err
	}
	longest := uint64(0)
	for e := range uint32(g.Edges()) {
		longest = max(longest, uint64(length(e)))
	}
	if longest*uint64(g.Vertices()) >= none {
		return fmt.Errorf("weights up to %d: a path through %d vertices might not fit 32 bits; give "+
			"graph.weights.from: random or unit", longest, g.Vertices())
	}
	return nil
}

// leastDistance returns the sum of the least distance of an active vertex and the least weight of an edge: a lower
// bound of all contributions.
func leastDistance(p *Problem, active, distance []uint32) uint32 {
	least := uint32(none)
	for _, v := range active {
		least = min(least, distance[v])
	}
	if p.Graph.WeightKind() == graph.NoWeights {
		return least + 1
	}
	weights := p.Graph.CSR().Weights
	if len(weights) == 0 {
		return least
	}
	return least + slices.Min(weights)
}
