package lower

import (
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/kernels/ir"
)

// place is where a vector's numbers lie: every stride words of an array, from one on.
type place struct {
	array         string
	stride, first int
}

// placeOf returns the place of a vector of numbers of one word.
func placeOf(p *graphir.Program, v *graphit.Var) place {
	if of, i := p.Field(v); of != nil {
		return place{"struct." + of[0].Name, len(of), i}
	}
	return place{vectorName(v), 1, 0}
}

func (x place) at(n int) int { return n*x.stride + x.first }

// slot returns the array and the index of a vector's element.
func (w *writer) slot(v *graphit.Var, at ir.Value) (array, index ir.Value) {
	x := placeOf(w.program, v)
	array = w.Addr(x.array)
	if x.stride > 1 {
		at = w.Add(w.Mul(at, w.U32(uint32(x.stride))), w.U32(uint32(x.first)))
	}
	return array, at
}

// array is the first contents of the array of a vector; false: another vector of its struct has it.
func (b *backend) array(v *graphit.Var) (a graph.Array, own bool) {
	of, i := b.program.Field(v)
	if of == nil {
		return graph.Array{Name: vectorName(v), Data: b.initial[v]}, true
	}
	if i > 0 {
		return a, false
	}
	a = graph.Array{Name: placeOf(b.program, v).array, Data: make([]uint32, len(of)*len(b.initial[v]))}
	for _, f := range of {
		x := placeOf(b.program, f)
		for n, word := range b.initial[f] {
			a.Data[x.at(n)] = word
		}
	}
	return a, true
}

// contents are a vector's words at the end.
func contents(p *graphir.Program, v *graphit.Var, array func(name string) []uint32) []uint32 {
	x := placeOf(p, v)
	all := array(x.array)
	if x.stride == 1 {
		return all
	}
	out := make([]uint32, len(all)/x.stride)
	for n := range out {
		out[n] = all[x.at(n)]
	}
	return out
}
