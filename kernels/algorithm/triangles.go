package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// triangles counts each triangle u < v < w once, at u, by its edge from u to v: the common neighbours after v in the
// rows of both. Rows ascend, so a merge finds them (one of the intersection methods of GraphIt, tc.gt and
// intersections.h; GAP's tc.cc).
var triangles = &Algorithm{
	Name: "triangles",
	Doc: "triangle count, once: for each vertex the triangles of which it is the least, by a merge of both " +
		"ends' rows for each edge",
	Dense:        true,
	Single:       true,
	Undirected:   true,
	NoLoops:      true,
	NoDuplicates: true,
	ToSource:     true,
	Arrays:       []Array{{"triangles", nil}},
	Result:       "triangles",
	Sum:          emit.CountU32,
	Into:         "triangles",
	Init:         func(k *emit.Kernel, v ir.Value) { set(k, "triangles", v, k.U32(0)) },
	EdgeFilter:   func(k *emit.Kernel, e *layout.Edge) ir.Value { return k.Lt(e.Src, e.Dst) },
	Gather:       closing,
	Exact:        true,
	Check: func(p *Problem, o *Outcome) error {
		return reference.EqualSums("triangles", o.Result, reference.Triangles(p.Graph.CSR()))
	},
}

// closing counts the vertices after an edge's destination to which both of its ends have edges.
func closing(k *emit.Kernel, e *layout.Edge) ir.Value {
	begin, end := e.Row(e.Src)
	otherBegin, otherEnd := e.Row(e.Dst)
	i, j, found := k.Var(begin), k.Var(otherBegin), k.Var(k.U32(0))
	left := func() ir.Value { return k.And(k.Lt(i.Get(), end), k.Lt(j.Get(), otherEnd)) }
	k.While(left, func() {
		x, y := e.Neighbour(i.Get()), e.Neighbour(j.Get())
		closes := k.And(k.Eq(x, y), k.Gt(x, e.Dst))
		found.Set(k.Add(found.Get(), k.ToU32(closes)))
		i.Set(k.Add(i.Get(), k.ToU32(k.Le(x, y))))
		j.Set(k.Add(j.Get(), k.ToU32(k.Le(y, x))))
	})
	return found.Get()
}
