package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// spmm is a graph convolution's product (SparseWeaver, HPCA 2025, §V-I): spmv of width vectors at once.
var spmm = &Algorithm{
	Name: "spmm",
	Doc: "Y[v] = Σ weight·X[u] over u → v, where X and Y have rows of width numbers, f32, once; X is drawn by " +
		"seed from 0..1",
	Dense:  true,
	Single: true,
	Vector: "x",
	Arrays: []Array{{"x", drawVector}, {"y", nil}},
	Result: "y",
	Sum:    emit.AddF32,
	Into:   "y",
	Init:   func(k *emit.Kernel, v ir.Value) { set(k, "y", v, k.F32(0)) },
	Gather: func(_ *emit.Kernel, e *layout.Edge) ir.Value { return e.Weight(ir.F32) },
	Range: func(p *Problem, _ int) (want, bound []float64) {
		return reference.SpMM(p.Graph, p.Width, floats(drawVector(p)))
	},
	Check: func(p *Problem, o *Outcome) error {
		return reference.CheckSpMM(p.Graph, p.Width, floats(drawVector(p)), floats(o.Result))
	},
}
