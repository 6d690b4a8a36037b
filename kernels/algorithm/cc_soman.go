package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// ccSoman finds components by the algorithm of Soman, Kishore and Narayanan (IPDPSW 2010): vertices are nodes of trees,
// and a vertex's label is its parent. A super-step hooks, for every edge, the greater of its ends' roots to the smaller
// one; apply jumps pointers until every tree is a star. A label never grows, so the root of a component is its smallest
// vertex.
//
// The paper hooks with plain stores of which any may win, and alternates the direction; here the least wins, by an
// atomic minimum, which needs no second direction. The paper omits edges within a component from later super-steps.
var ccSoman = &Algorithm{
	Name: "cc-soman",
	Doc: "connected components by hooking roots to roots and jumping pointers (Soman et al., IPDPSW 2010): " +
		"each vertex gets its component's smallest vertex",
	Undirected: true,
	Arrays:     []Array{{"label", nil}},
	Result:     "label",
	Sum:        emit.MinU32,
	Into:       "label",
	Init:       func(k *emit.Kernel, v ir.Value) { set(k, "label", v, v) },
	Hook: func(k *emit.Kernel, e *layout.Edge) (to, value, useful ir.Value) {
		a, b := word(k, "label", e.Src), word(k, "label", e.Dst)
		return k.Max(a, b), k.Min(a, b), k.Ne(a, b)
	},
	Apply: func(k *emit.Kernel, v ir.Value, _ func(ir.Value)) {
		first := word(k, "label", v)
		root, next := k.Var(first), k.Var(word(k, "label", first))
		k.While(func() ir.Value { return k.Ne(root.Get(), next.Get()) }, func() {
			root.Set(next.Get())
			next.Set(word(k, "label", next.Get()))
		})
		k.When(k.Ne(root.Get(), first), func() { set(k, "label", v, root.Get()) })
	},
	Exact: true,
	Check: func(p *Problem, o *Outcome) error {
		return reference.Equal("label", o.Result, reference.Components(p.Graph.CSR()))
	},
}
