package lower

import (
	"heddle/graphit"
	"heddle/kernels/ir"
)

// intersection emits the number of two vertices' common neighbours that are not beyond a third, unless by a merge,
// which is the function's body.
func (w *writer) intersection(x *graphit.Call) ir.Value {
	a, b, last := w.index(x.Args[0]), w.index(x.Args[1]), w.index(x.Args[2])
	i := &intersecting{writer: w, Intersection: x.Func.Counts, last: last, count: w.Var(w.U32(0))}
	switch i.By {
	case graphit.Bitmap:
		i.bits(a, b)
	default:
		shorter := w.Le(i.of(i.Degrees, a), i.of(i.Degrees, b))
		i.elements(w.Select(shorter, a, b), w.Select(shorter, b, a))
	}
	return i.count.Get()
}

// intersecting is an intersection that is emitted.
type intersecting struct {
	*writer
	*graphit.Intersection
	last  ir.Value
	count *ir.Variable
}

// of is a number of a vector of the program.
func (i *intersecting) of(vector string, at ir.Value) ir.Value {
	return i.Load(ir.U32, i.Addr("vector."+vector), at)
}

func (i *intersecting) bits(a, b ir.Value) {
	words := i.Shr(i.Add(i.Count("vertices"), i.U32(31)), i.U32(5))
	a, b = i.Mul(a, words), i.Mul(b, words)
	final := i.Shr(i.last, i.U32(5))
	mask := i.Sub(i.Shl(i.U32(2), i.And(i.last, i.U32(31))), i.U32(1))
	i.For(i.U32(0), i.Min(i.Add(final, i.U32(1)), words), i.U32(1), func(n ir.Value) {
		both := i.And(i.of(i.Bits, i.Add(a, n)), i.of(i.Bits, i.Add(b, n)))
		both = i.And(both, i.Select(i.Eq(n, final), mask, i.U32(^uint32(0))))
		i.count.Set(i.Add(i.count.Get(), i.OnesCount(both)))
	})
}

// elements looks for each element of one row in the other.
func (i *intersecting) elements(short, long ir.Value) {
	first := i.of(i.Starts, short)
	find := i.search(long)
	if i.By == graphit.Hash {
		find = i.probe(long)
	}
	i.For(first, i.Add(first, i.of(i.Degrees, short)), i.U32(1), func(n ir.Value) {
		x := i.of(i.Targets, n)
		i.When(i.Le(x, i.last), func() { find(x) })
	})
}

// search looks for an element by halving a row.
func (i *intersecting) search(row ir.Value) func(x ir.Value) {
	first := i.of(i.Starts, row)
	n := i.of(i.Degrees, row)
	return func(x ir.Value) {
		lo, hi := i.Var(first), i.Var(i.Add(first, n))
		i.While(func() ir.Value { return i.Lt(lo.Get(), hi.Get()) }, func() {
			middle := i.Shr(i.Add(lo.Get(), hi.Get()), i.U32(1))
			y := i.of(i.Targets, middle)
			i.count.Set(i.Add(i.count.Get(), i.ToU32(i.Eq(y, x))))
			below := i.Lt(y, x)
			lo.Set(i.Select(below, i.Add(middle, i.U32(1)), lo.Get()))
			hi.Set(i.Select(below, hi.Get(), i.Select(i.Eq(y, x), lo.Get(), middle))) // found: the rest is empty
		})
	}
}

// probe looks for an element in a row's hash table.
func (i *intersecting) probe(row ir.Value) func(x ir.Value) {
	first, mask := i.of(i.HashStarts, row), i.of(i.HashMasks, row)
	return func(x ir.Value) {
		h := i.Mul(x, i.U32(graphit.HashFactor))
		at := i.Var(i.And(i.Xor(h, i.Shr(h, i.U32(graphit.HashShift))), mask))
		i.Loop(func(l *ir.Loop) {
			y := i.of(i.Hashes, i.Add(first, at.Get()))
			found := i.Eq(y, x)
			i.count.Set(i.Add(i.count.Get(), i.ToU32(found)))
			l.BreakIf(i.Or(found, i.Eq(y, i.U32(graphit.HashEmpty))))
			at.Set(i.And(i.Add(at.Get(), i.U32(1)), mask))
		})
	}
}
