package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// kCore peels: in round k, vertices with at most k neighbours left leave, and take one from the
// degree of each neighbour, which may leave then. The degree of a vertex that has left goes on
// falling, and means nothing any more.
var kCore = &Algorithm{
	Name:       "k-core",
	Doc:        "core numbers by peeling: the largest k such that a vertex is in a part whose vertices have k neighbours in it",
	Undirected: true,
	NeedsSet:   true,
	Once:       true,
	PushOnly:   true,
	Arrays:     []Array{{"degree", outDegrees}, {"core", nil}},
	Result:     "core",
	Sum:        emit.CountDown,
	Into:       "degree",
	Init:       func(k *emit.Kernel, v ir.Value) { set(k, "core", v, k.U32(none)) },
	Seed: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.And(k.Eq(word(k, "core", v), k.U32(none)), k.Le(word(k, "degree", v), k.Count("round")))
	},
	Changed: func(k *emit.Kernel, v ir.Value) { set(k, "core", v, k.Count("round")) },
	Gather:  func(k *emit.Kernel, _ *layout.Edge) ir.Value { return k.Neg(k.U32(1)) },
	Check: func(p *Problem, o *Outcome) error {
		return reference.Equal("core number", o.Result, reference.CoreNumbers(p.Graph.CSR()))
	},
}
