package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// bfsParents computes a breadth-first tree. The tree depends on timing, so its validity is checked.
var bfsParents = &Algorithm{
	Name:       "bfs-parents",
	Doc:        "breadth-first search: a parent of every vertex, one level nearer to the source",
	FromSource: true,
	Once:       true,
	NeedsSet:   true,
	Arrays:     []Array{{"parent", nil}},
	Result:     "parent",
	Sum:        emit.ClaimU32,
	Into:       "parent",
	Init: func(k *emit.Kernel, v ir.Value) {
		set(k, "parent", v, k.Select(k.Eq(v, k.Count("source")), v, k.U32(none)))
	},
	DstFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Eq(word(k, "parent", v), k.U32(none)) },
	Gather:    func(_ *emit.Kernel, e *layout.Edge) ir.Value { return e.Src },
	Check: func(p *Problem, o *Outcome) error {
		return reference.CheckParents(p.Graph.CSR(), p.Source, o.Result)
	},
	Stopped: &Stopped{Alike: true, Check: func(p *Problem, o *Outcome) error {
		levels := reference.Levels(p.Graph.CSR(), p.Source)
		within := reference.LevelsWithin(levels, o.Steps)
		if err := reference.CheckParentsOf(p.Graph.CSR(), within, p.Source, o.Result); err != nil {
			return err
		}
		return checkFront(o, levels)
	}},
}
