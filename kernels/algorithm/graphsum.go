package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// graphSum is a graph convolution's mean aggregation (SparseWeaver, HPCA 2025, §V-I). Its coefficient is computed at
// each edge, "determined by the degree of the source and destination vertices".
var graphSum = &Algorithm{
	Name: "graphsum",
	Doc: "Y[v] = Σ X[u]/√(outdegree[u]·indegree[v]) over u → v, where X and Y have rows of width numbers, f32, " +
		"once; X is drawn by seed from 0..1",
	Dense:  true,
	Single: true,
	Vector: "x",
	Arrays: []Array{{"out_degree", outDegrees}, {"in_degree", inDegrees}, {"x", drawVector}, {"y", nil}},
	Result: "y",
	Sum:    emit.AddF32,
	Into:   "y",
	Init:   func(k *emit.Kernel, v ir.Value) { set(k, "y", v, k.F32(0)) },
	GatherBy: func(k *emit.Kernel, e *layout.Edge, by *Coefficient) ir.Value {
		out := func() ir.Value { return word(k, "out_degree", e.Src) }
		in := func() ir.Value { return word(k, "in_degree", e.Dst) }
		return by.emit(k, out, in)
	},
	Range: func(p *Problem, _ int) (want, bound []float64) {
		return reference.GraphSum(p.Graph, p.Width, p.Coefficient.inDouble, floats(drawVector(p)))
	},
	Check: func(p *Problem, o *Outcome) error {
		return reference.CheckGraphSum(p.Graph, p.Width, p.Coefficient.inDouble, floats(drawVector(p)),
			floats(o.Result))
	},
}

func inDegrees(p *Problem) []uint32 { return reference.InDegrees(p.Graph.CSR()) }
