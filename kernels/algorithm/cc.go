package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// cc propagates the least vertex number of each component along edges.
var cc = &Algorithm{
	Name:       "cc",
	Doc:        "connected components by label propagation: each vertex gets its component's smallest vertex",
	Undirected: true,
	Arrays:     []Array{{"label", nil}},
	Result:     "label",
	Sum:        emit.MinU32,
	Into:       "label",
	Init:       func(k *emit.Kernel, v ir.Value) { set(k, "label", v, v) },
	Gather:     func(k *emit.Kernel, e *layout.Edge) ir.Value { return word(k, "label", e.Src) },
	Exact:      true,
	Check: func(p *Problem, o *Outcome) error {
		return reference.Equal("label", o.Result, reference.Components(p.Graph.CSR()))
	},
	Stopped: &Stopped{Check: func(p *Problem, o *Outcome) error {
		return labels(p).Check(o.Result, o.Steps, o.Undone)
	}},
}

// labels is the relaxation by which the least vertex number of each component spreads.
func labels(p *Problem) *reference.Relaxation {
	final, first := reference.Components(p.Graph.CSR()), make([]uint32, p.Graph.Vertices())
	for v := range first {
		first[v] = uint32(v)
	}
	return &reference.Relaxation{
		Quantity: "label", Out: p.Graph.CSR(), Length: func(uint32) uint32 { return 0 }, First: first, Final: final,
		Comes: func(v int, label uint32) bool { return int(label) < len(final) && final[label] == final[v] },
	}
}
