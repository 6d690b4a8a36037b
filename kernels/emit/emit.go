// Package emit holds the code that schedules, layouts, active sets and algorithms share when they write a kernel: its
// parameters and common code sequences.
//
// It knows none of those packages.
package emit

import (
	"math/bits"

	"heddle/kernels/ir"
)

// Kernel is a kernel being written. Parameters are words of the argument block, requested by name; the host side fills
// in those that the finished kernel uses.
type Kernel struct {
	*ir.Builder
	// Unroll is how many edges at a time a thread handles in loops over edges: so many as long as there are so many,
	// then as many as follows, and one at a time last.
	Unroll []int
	// UnrollShared is the same for loops whose steps the lanes of a warp or a thread block take together (Whole).
	UnrollShared []int

	block int // warps of a thread block that together do the work of one thread; 0: no blocks
}

// New returns an empty kernel.
func New(name string) *Kernel {
	return &Kernel{Builder: ir.NewBuilder(name)}
}

// Together makes each thread block of block warps, out of the warps that a core runs the kernel with, do together the
// work of a single thread. It must be called before any code that distributes work over threads.
func (k *Kernel) Together(warps, block int) {
	k.Launch(warps, block)
	k.block = block
}

// blockInCore returns the number of the warp's thread block within its core.
func (k *Kernel) blockInCore() ir.Value { return k.Div(k.WarpID(), k.blockWarps()) }

func (k *Kernel) blockWarps() ir.Value { return k.U32(uint32(k.block)) }

// NumThreads returns the number of threads (or of thread blocks, after Together) that run the kernel.
func (k *Kernel) NumThreads() ir.Value {
	if k.block == 0 {
		return k.Builder.NumThreads()
	}
	return k.Mul(k.Div(k.NumWarps(), k.blockWarps()), k.NumCores())
}

// SpreadThread returns the thread's (or thread block's) number among NumThreads; neighbouring warps or blocks are on
// different cores.
func (k *Kernel) SpreadThread() ir.Value {
	if k.block == 0 {
		return k.Builder.SpreadThread()
	}
	return k.Add(k.Mul(k.blockInCore(), k.NumCores()), k.CoreID())
}

// GlobalThread returns the thread's (or thread block's) number among NumThreads, core by core.
func (k *Kernel) GlobalThread() ir.Value {
	if k.block == 0 {
		return k.Builder.GlobalThread()
	}
	return k.Add(k.Mul(k.CoreID(), k.Div(k.NumWarps(), k.blockWarps())), k.blockInCore())
}

// Edge marks that the thread, or its thread block after Together, handles an edge.
func (k *Kernel) Edge() {
	if k.block == 0 {
		k.Builder.Edge()
		return
	}
	k.BlockEdge()
}

// Addr returns the parameter that holds an array's address.
func (k *Kernel) Addr(array string) ir.Value { return k.Array(array) }

// Count returns an integer parameter.
func (k *Kernel) Count(name string) ir.Value { return k.Param(name, ir.U32) }

// Float returns a floating-point parameter.
func (k *Kernel) Float(name string) ir.Value { return k.Param(name, ir.F32) }

// When executes body in the lanes with p.
func (k *Kernel) When(p ir.Value, body func()) { k.If(p, body, nil) }

// Strided executes body for every NumThreads-th number below n, starting from the thread's own: each number goes to one
// thread of the device. Neighbouring lanes have neighbouring numbers; neighbouring warps' numbers are on different
// cores.
func (k *Kernel) Strided(n ir.Value, body func(i ir.Value)) {
	k.For(k.SpreadThread(), n, k.NumThreads(), body)
}

// SpreadWarp returns the first of the warp's numbers, one per lane. Neighbouring warps' numbers are on different cores,
// so that a few vertices keep all cores busy.
func (k *Kernel) SpreadWarp() ir.Value { return k.Mul(k.SpreadNumber(), k.NumLanes()) }

// SpreadNumber returns the warp's number in the device, in that order.
func (k *Kernel) SpreadNumber() ir.Value { return k.Add(k.Mul(k.WarpID(), k.NumCores()), k.CoreID()) }

// OnesCount returns the population count of x (Warren, Hacker's Delight, §5-1).
func (k *Kernel) OnesCount(x ir.Value) ir.Value {
	x = k.Sub(x, k.And(k.Shr(x, k.U32(1)), k.U32(0x55555555)))
	x = k.Add(k.And(x, k.U32(0x33333333)), k.And(k.Shr(x, k.U32(2)), k.U32(0x33333333)))
	x = k.And(k.Add(x, k.Shr(x, k.U32(4))), k.U32(0x0F0F0F0F))
	return k.Shr(k.Mul(x, k.U32(0x01010101)), k.U32(24))
}

// Wipe zeroes an array, each thread its share.
func (k *Kernel) Wipe(array, words ir.Value) {
	k.Strided(words, func(i ir.Value) { k.Store(array, i, k.U32(0)) })
}

// LastNotAbove returns the last i below n with at(i) ≤ key; the values ascend and at(0) ≤ key.
func (k *Kernel) LastNotAbove(key, n ir.Value, at func(i ir.Value) ir.Value) ir.Value {
	lo := k.Var(k.U32(0)).Named("low").Noted("A binary search for the last one that is not above.")
	hi := k.Var(n).Named("high")
	k.While(func() ir.Value { return k.Gt(k.Sub(hi.Get(), lo.Get()), k.U32(1)) }, func() {
		mid := k.Label("middle", k.Shr(k.Add(lo.Get(), hi.Get()), k.U32(1)))
		below := k.Label("below", k.Le(at(mid), key))
		lo.Set(k.Select(below, mid, lo.Get()))
		hi.Set(k.Select(below, hi.Get(), mid))
	})
	return lo.Get()
}

// WarpSum sums a number over the warp's lanes; lane 0 has the sum. All lanes must be active.
func (k *Kernel) WarpSum(x ir.Value, lanes int) ir.Value {
	for d := 1; d < lanes; d *= 2 {
		there := k.Lt(k.Add(k.LaneID(), k.U32(uint32(d))), k.NumLanes())
		x = k.Add(x, k.Select(there, k.ShflDown(x, k.U32(uint32(d))), k.Zero(x.Type)))
	}
	return x
}

// FirstAbove returns the first i below n with at(i) > key, or n-1 if there is none; the values ascend. n is known at
// compile time, so every lane takes the same few steps without a loop. The search starts at the end and subtracts the
// excess, so that a step is a comparison, shifted and subtracted, without a select.
func (k *Kernel) FirstAbove(key ir.Value, n int, at func(i ir.Value) ir.Value) ir.Value {
	const note = "A binary search for the first of the lanes' values that is above."
	steps := bits.Len(uint(n - 1))
	i := k.U32(1<<steps - 1)
	for bit := steps - 1; bit >= 0; bit-- {
		above := k.above(key, k.Sub(i, k.U32(1<<bit)), n, func(i ir.Value) ir.Value {
			if bit == steps-1 {
				return k.Note(note, at(i))
			}
			return at(i)
		})
		i = k.Label("i", k.Sub(i, k.Shl(k.ToU32(above), k.U32(uint32(bit)))))
	}
	if n&(n-1) != 0 {
		i = k.Min(i, k.U32(uint32(n-1)))
	}
	return i
}

// above reports whether at(i) > key; every i from n on counts as above.
func (k *Kernel) above(key, i ir.Value, n int, at func(i ir.Value) ir.Value) ir.Value {
	if n&(n-1) == 0 {
		return k.Lt(key, at(i))
	}
	there := k.Lt(i, k.U32(uint32(n)))
	return k.Or(k.Not(there), k.Lt(key, at(k.Select(there, i, k.U32(0)))))
}
