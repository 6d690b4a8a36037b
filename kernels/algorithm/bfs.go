package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// bfs computes levels. A vertex's level is the number of the super-step that reached it.
var bfs = &Algorithm{
	Name:       "bfs",
	Doc:        "breadth-first search: the level of every vertex, in edges from the source",
	FromSource: true,
	Once:       true,
	Arrays:     []Array{{"level", nil}},
	Result:     "level",
	Sum:        emit.ClaimU32,
	Into:       "level",
	Init: func(k *emit.Kernel, v ir.Value) {
		set(k, "level", v, k.Select(k.Eq(v, k.Count("source")), k.U32(0), k.U32(none)))
	},
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.Eq(word(k, "level", v), k.Sub(k.Count("step"), k.U32(1)))
	},
	DstFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Eq(word(k, "level", v), k.U32(none)) },
	Gather:    func(k *emit.Kernel, _ *layout.Edge) ir.Value { return k.Count("step") },
	Exact:     true,
	Check: func(p *Problem, o *Outcome) error {
		return reference.Equal("level", o.Result, reference.Levels(p.Graph.CSR(), p.Source))
	},
	Stopped: &Stopped{Alike: true, Check: func(p *Problem, o *Outcome) error {
		levels := reference.Levels(p.Graph.CSR(), p.Source)
		if err := reference.Equal("level", o.Result, reference.LevelsWithin(levels, o.Steps)); err != nil {
			return err
		}
		return checkFront(o, levels)
	}},
}

// checkFront compares the active vertices with those of a search's last level.
func checkFront(o *Outcome, levels []uint32) error {
	return o.Undone.Check(func(v int) bool { return levels[v] == uint32(o.Steps) }, len(levels))
}
