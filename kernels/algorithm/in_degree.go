package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// inDegree has the least possible gather: it measures the cost of a schedule by itself.
var inDegree = &Algorithm{
	Name:   "in-degree",
	Doc:    "the number of edges that enter each vertex, counted one by one, once",
	Dense:  true,
	Single: true,
	Arrays: []Array{{"degree", nil}},
	Result: "degree",
	Sum:    emit.AddU32,
	Into:   "degree",
	Init:   func(k *emit.Kernel, v ir.Value) { set(k, "degree", v, k.U32(0)) },
	Gather: func(k *emit.Kernel, _ *layout.Edge) ir.Value { return k.U32(1) },
	Exact:  true,
	Check: func(p *Problem, o *Outcome) error {
		return reference.Equal("in-degree", o.Result, reference.InDegrees(p.Graph.CSR()))
	},
}
