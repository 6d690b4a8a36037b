package algorithm

import (
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// colouring takes independent sets out of the graph, one a super-step: the vertices that no uncoloured
// neighbour beats get its number as their colour, and the others go on. Who beats whom is drawn once (Jones
// and Plassmann, SIAM J. Sci. Comput. 1993; the sets are Luby's, as in Gunrock), so the result does not depend on time.
//
// A vertex's colour is the last super-step in which it was beaten, so that one which is still in has the
// number of the last super-step, or of this one if it has been beaten already.
var colouring = &Algorithm{
	Name:       "colouring",
	Doc:        "graph colouring by independent sets: in each super-step the vertices that beat all uncoloured neighbours, by numbers drawn by seed, get a colour",
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
	// A vertex that is still in has been beaten in every super-step so far.
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

// priorityKey is mixed into a vertex's number before it is scrambled.
func priorityKey(p *Problem) uint32 { return uint32(finish(p.Seed + golden)) }

// scramble is the end of MurmurHash3: a permutation of all words, so that no two vertices have one priority.
func scramble(k *emit.Kernel, x ir.Value) ir.Value {
	for _, s := range []struct{ shift, factor uint32 }{{16, 0x85EBCA6B}, {13, 0xC2B2AE35}} {
		x = k.Mul(k.Xor(x, k.Shr(x, k.U32(s.shift))), k.U32(s.factor))
	}
	return k.Xor(x, k.Shr(x, k.U32(16)))
}
