package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// colouring removes one independent set from the graph per super-step: the vertices whose priority no uncoloured
// neighbour beats receive the super-step's number as their colour; the others remain. Priorities are drawn once (Jones
// and Plassmann, SIAM J. Sci. Comput. 1993; the sets are Luby's, as in Gunrock), so the result does not depend on
// timing.
//
// A vertex's colour is the last super-step in which it was beaten. A vertex that remains therefore holds the number of
// the previous super-step, or of the current one if it has already been beaten in it.
var colouring = &Algorithm{
	Name: "colouring",
	Doc: "graph colouring by independent sets: in each super-step the vertices that beat all uncoloured " +
		"neighbours, by numbers drawn by seed, get a colour",
	Undirected: true,
	NoLoops:    true,
	PushOnly:   true,
	Arrays:     []Array{{"priority", nil}, {"colour", nil}},
	Result:     "colour",
	Sum:        emit.FollowU32,
	Into:       "colour",
	Init: func(k *emit.Kernel, v ir.Value) {
		set(k, "priority", v, scramble(k, k.Xor(v, k.Count("priority.key"))))
		set(k, "colour", v, k.U32(0))
	},
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value {
		return k.Ge(word(k, "colour", v), k.Sub(k.Count("step"), k.U32(1)))
	},
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value {
		beats := k.Gt(word(k, "priority", e.Src), word(k, "priority", e.Dst))
		return k.Select(beats, k.Count("step"), k.U32(0))
	},
	Words: func(p *Problem) map[string]uint32 { return map[string]uint32{"priority.key": priorityKey(p)} },
	Check: func(p *Problem, o *Outcome) error {
		out := p.Graph.CSR()
		return reference.CheckColours(out, reference.Priorities(out.Vertices(), priorityKey(p)), o.Result)
	},
	// A vertex that remains has been beaten in every super-step so far.
	Stopped: &Stopped{Alike: true, Check: func(p *Problem, o *Outcome) error {
		out, k := p.Graph.CSR(), uint32(o.Steps)
		final := reference.Colours(out, reference.Priorities(out.Vertices(), priorityKey(p)))
		want := make([]uint32, len(final))
		for v, c := range final {
			want[v] = min(c, k)
		}
		if err := reference.Equal("colour", o.Result, want); err != nil {
			return err
		}
		return o.Undone.Check(func(v int) bool { return final[v] >= k }, len(final))
	}},
}

// priorityKey is combined with a vertex's number before it is scrambled.
func priorityKey(p *Problem) uint32 { return uint32(finish(p.Seed + golden)) }

// scramble is MurmurHash3's finaliser: a permutation of all words, so that priorities are distinct.
func scramble(k *emit.Kernel, x ir.Value) ir.Value {
	for _, s := range []struct{ shift, factor uint32 }{{16, 0x85EBCA6B}, {13, 0xC2B2AE35}} {
		x = k.Mul(k.Xor(x, k.Shr(x, k.U32(s.shift))), k.U32(s.factor))
	}
	return k.Xor(x, k.Shr(x, k.U32(16)))
}
