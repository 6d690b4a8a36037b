package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// bc computes one source's dependencies of betweenness centrality, which Brandes (J. Math. Sociol. 2001) sums over
// sources: forward, a breadth-first search that counts shortest paths; then backward from level to level.
var bc = &Algorithm{
	Name: "bc",
	Doc: "betweenness centrality from one source (Brandes): for each vertex the sum, over all others, of the " +
		"share of the shortest paths to them that lead through it",
	FromSource: true,
	Once:       true,
	Arrays:     []Array{{"level", nil}, {"paths", nil}, {"dependency", nil}},
	Result:     "dependency",
	Sum:        emit.PathsF32,
	Into:       "paths",
	Init: func(k *emit.Kernel, v ir.Value) {
		atSource := k.Eq(v, k.Count("source"))
		set(k, "level", v, k.Select(atSource, k.U32(0), k.U32(none)))
		set(k, "paths", v, k.Select(atSource, k.F32(1), k.F32(0)))
		set(k, "dependency", v, k.F32(0))
	},
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.Eq(word(k, "level", v), k.Sub(k.Count("step"), k.U32(1)))
	},
	// A vertex reached in this super-step also accepts the paths of its other parents.
	DstFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Ge(word(k, "level", v), k.Count("step")) },
	Changed:   func(k *emit.Kernel, v ir.Value) { set(k, "level", v, k.Count("step")) },
	Gather:    func(k *emit.Kernel, e *layout.Edge) ir.Value { return float(k, "paths", e.Src) },
	Back:      dependencies,
	Fits:      func(p *Problem) error { return reference.PathsFit(p.Graph.CSR(), p.Source) },
	Range: func(p *Problem, _ int) (want, bound []float64) {
		return reference.Dependencies(p.Graph.CSR(), p.Source)
	},
	Check: func(p *Problem, o *Outcome) error {
		return reference.CheckDependencies(p.Graph.CSR(), p.Source, floats(o.Result))
	},
}

// dependencies is the backward pass: a vertex accumulates from its out-neighbours in the next level.
var dependencies = &Algorithm{
	Name:      "bc",
	Sum:       emit.AddF32,
	Into:      "dependency",
	ToSource:  true,
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Eq(word(k, "level", v), k.Count("depth")) },
	DstFilter: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.Eq(word(k, "level", v), k.Add(k.Count("depth"), k.U32(1)))
	},
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value {
		share := k.Div(float(k, "paths", e.Src), float(k, "paths", e.Dst))
		return k.Mul(share, k.Add(k.F32(1), float(k, "dependency", e.Dst)))
	},
}
