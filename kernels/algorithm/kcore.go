package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// kCore peels: in round k, vertices with at most k remaining neighbours leave and decrement the degree of each
// neighbour, which may then leave. The degree of a vertex that has left keeps falling, and is meaningless.
var kCore = &Algorithm{
	Name: "k-core",
	Doc: "core numbers by peeling: the largest k such that a vertex is in a part whose vertices have k " +
		"neighbours in it",
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
	Stopped: &Stopped{Alike: true, Check: func(p *Problem, o *Outcome) error { return checkPeeled(p, o, o.Steps) }},
}

// checkPeeled compares with the reference after that many super-steps of peeling.
func checkPeeled(p *Problem, o *Outcome, steps int) error {
	core, active := reference.Peel(p.Graph.CSR(), steps)
	if err := reference.Equal("core number", o.Result, core); err != nil {
		return err
	}
	is := make([]bool, len(core))
	for _, v := range active {
		is[v] = true
	}
	return o.Undone.Check(func(v int) bool { return is[v] }, len(core))
}

// kCoreCounted counts degrees first, in a super-step in which every vertex pushes along all of its edges.
var kCoreCounted = counted(kCore)

func counted(a *Algorithm) *Algorithm {
	b := *a
	b.Name = "k-core-counted"
	b.Doc = "k-core whose degrees are counted by a first super-step, in which all vertices push: GraphPEG's KC " +
		"begins with all vertices and handles over 4 million edges in its first iteration (ACM TACO 2021, §4.2, §4.3)"
	b.CountsFirst = true
	b.Stopped = &Stopped{Alike: true, Check: func(p *Problem, o *Outcome) error { return checkPeeled(p, o, o.Steps-1) }}
	b.Arrays = []Array{{"degree", nil}, {"core", nil}}
	b.Init = func(k *emit.Kernel, v ir.Value) {
		set(k, "degree", v, k.U32(0))
		set(k, "core", v, k.U32(none))
	}
	b.Gather = func(k *emit.Kernel, _ *layout.Edge) ir.Value {
		return k.Select(k.Eq(k.Count("step"), k.U32(1)), k.U32(1), k.Neg(k.U32(1)))
	}
	return &b
}
