package algorithm

import (
	"math"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// spmv multiplies the transposed adjacency matrix with a vector.
var spmv = &Algorithm{
	Name:   "spmv",
	Doc:    "y[v] = Σ weight·x[u] over u → v, f32, once; x is drawn by seed from 0..1",
	Dense:  true,
	Single: true,
	Arrays: []Array{{"x", drawVector}, {"y", nil}},
	Result: "y",
	Sum:    emit.AddF32,
	Into:   "y",
	Init:   func(k *emit.Kernel, v ir.Value) { set(k, "y", v, k.F32(0)) },
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value {
		return k.Mul(e.Weight(ir.F32), float(k, "x", e.Src))
	},
	Range: func(p *Problem, _ int) (want, bound []float64) {
		return reference.SpMM(p.Graph, 1, floats(drawVector(p)))
	},
	Check: func(p *Problem, o *Outcome) error {
		return reference.CheckSpMV(p.Graph, floats(drawVector(p)), floats(o.Result))
	},
}

// drawVector draws multiples of 2^-24 by splitmix64, one for each number of the vertices' vectors.
func drawVector(p *Problem) []uint32 {
	x, state := make([]uint32, p.Graph.Vertices()*max(1, p.Width)), p.Seed
	for v := range x {
		state += golden
		x[v] = math.Float32bits(float32(finish(state)>>40) * 0x1p-24)
	}
	return x
}

const golden = 0x9E3779B97F4A7C15

// finish is splitmix64's output function.
func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}
