// Package emit holds what schedules, layouts, active sets and algorithms share when they
// write a kernel: its parameters, and code that several of them need.
//
// It knows none of them.
package emit

import (
	"math/bits"

	"heddle/kernels/ir"
)

// Kernel is a kernel being written. Parameters are words of the argument block, asked for
// by name; the host's side fills in those that the finished kernel has.
type Kernel struct {
	*ir.Builder
	// Unroll is how many edges at a time a thread handles in loops over edges: so many as long as there are so many, then
	// as many as follows, and one at a time last.
	Unroll []int

	block int // warps of a thread block that does together what a thread does alone; 0: none does
}

// New begins a kernel.
func New(name string) *Kernel {
	return &Kernel{Builder: ir.NewBuilder(name)}
}

// Together has each thread block of so many warps, of all that a core has for the kernel, do together what a thread
// does elsewhere: it comes before the code that deals something out to threads.
func (k *Kernel) Together(warps, block int) {
	k.Launch(warps, block)
	k.block = block
}

// blockInCore is the warp's thread block.
func (k *Kernel) blockInCore() ir.Value { return k.Div(k.WarpID(), k.blockWarps()) }

func (k *Kernel) blockWarps() ir.Value { return k.U32(uint32(k.block)) }

// NumThreads returns how many threads, or thread blocks that are like one, run the kernel.
func (k *Kernel) NumThreads() ir.Value {
	if k.block == 0 {
		return k.Builder.NumThreads()
	}
	return k.Mul(k.Div(k.NumWarps(), k.blockWarps()), k.NumCores())
}

// SpreadThread is the thread's number among these, neighbouring warps' or blocks' of different cores.
func (k *Kernel) SpreadThread() ir.Value {
	if k.block == 0 {
		return k.Builder.SpreadThread()
	}
	return k.Add(k.Mul(k.blockInCore(), k.NumCores()), k.CoreID())
}

// GlobalThread is the thread's number among these, core by core.
func (k *Kernel) GlobalThread() ir.Value {
	if k.block == 0 {
		return k.Builder.GlobalThread()
	}
	return k.Add(k.Mul(k.CoreID(), k.Div(k.NumWarps(), k.blockWarps())), k.blockInCore())
}

// Edge marks that the thread, or the thread block that is like one, handles an edge.
func (k *Kernel) Edge() {
	if k.block == 0 {
		k.Builder.Edge()
		return
	}
	k.BlockEdge()
}

// Addr is a parameter that holds an array's address.
func (k *Kernel) Addr(array string) ir.Value { return k.Array(array) }

// Count is a parameter that is a number.
func (k *Kernel) Count(name string) ir.Value { return k.Param(name, ir.U32) }

// Float is a parameter that is a float.
func (k *Kernel) Float(name string) ir.Value { return k.Param(name, ir.F32) }

// When runs body in the lanes with p.
func (k *Kernel) When(p ir.Value, body func()) { k.If(p, body, nil) }

// Strided runs body for every NumThreads-th number below n, from the thread's own: each
// number has one thread of the device. Neighbouring lanes have neighbouring numbers, neighbouring
// warps' are of different cores.
func (k *Kernel) Strided(n ir.Value, body func(i ir.Value)) {
	k.For(k.SpreadThread(), n, k.NumThreads(), body)
}

// SpreadWarp is the first of as many numbers as a warp has lanes. Neighbouring numbers are
// of different cores, so that a few vertices keep all of them busy.
func (k *Kernel) SpreadWarp() ir.Value { return k.Mul(k.SpreadNumber(), k.NumLanes()) }

// SpreadNumber is the warp's number in the device, in that order.
func (k *Kernel) SpreadNumber() ir.Value { return k.Add(k.Mul(k.WarpID(), k.NumCores()), k.CoreID()) }

// OnesCount returns how many bits of x are set (Warren, Hacker's Delight, §5-1).
func (k *Kernel) OnesCount(x ir.Value) ir.Value {
	x = k.Sub(x, k.And(k.Shr(x, k.U32(1)), k.U32(0x55555555)))
	x = k.Add(k.And(x, k.U32(0x33333333)), k.And(k.Shr(x, k.U32(2)), k.U32(0x33333333)))
	x = k.And(k.Add(x, k.Shr(x, k.U32(4))), k.U32(0x0F0F0F0F))
	return k.Shr(k.Mul(x, k.U32(0x01010101)), k.U32(24))
}

// Wipe stores zeros into an array, a share a thread.
func (k *Kernel) Wipe(array, words ir.Value) {
	k.Strided(words, func(i ir.Value) { k.Store(array, i, k.U32(0)) })
}

// LastNotAbove finds the last i below n with at(i) ≤ key, of ascending values with at(0) ≤ key.
func (k *Kernel) LastNotAbove(key, n ir.Value, at func(i ir.Value) ir.Value) ir.Value {
	lo, hi := k.Var(k.U32(0)), k.Var(n)
	k.While(func() ir.Value { return k.Gt(k.Sub(hi.Get(), lo.Get()), k.U32(1)) }, func() {
		mid := k.Shr(k.Add(lo.Get(), hi.Get()), k.U32(1))
		below := k.Le(at(mid), key)
		lo.Set(k.Select(below, mid, lo.Get()))
		hi.Set(k.Select(below, hi.Get(), mid))
	})
	return lo.Get()
}

// WarpSum adds a float up over the warp's lanes; lane 0 has the sum. All lanes are on.
func (k *Kernel) WarpSum(x ir.Value, lanes int) ir.Value {
	for d := 1; d < lanes; d *= 2 {
		there := k.Lt(k.Add(k.LaneID(), k.U32(uint32(d))), k.NumLanes())
		x = k.Add(x, k.Select(there, k.ShflDown(x, k.U32(uint32(d))), k.F32(0)))
	}
	return x
}

// FirstAbove finds the first i below n with at(i) > key, of ascending values; n-1 if there
// is none. n is known now: the same few steps for every lane, without a loop. It begins at
// the end and takes off what is too much, so that a step is a comparison that is shifted
// and subtracted, without a selection.
func (k *Kernel) FirstAbove(key ir.Value, n int, at func(i ir.Value) ir.Value) ir.Value {
	steps := bits.Len(uint(n - 1))
	i := k.U32(1<<steps - 1)
	for bit := steps - 1; bit >= 0; bit-- {
		above := k.above(key, k.Sub(i, k.U32(1<<bit)), n, at)
		i = k.Sub(i, k.Shl(k.ToU32(above), k.U32(uint32(bit))))
	}
	if n&(n-1) != 0 {
		i = k.Min(i, k.U32(uint32(n-1)))
	}
	return i
}

// above reports whether at(i) > key; what lies behind n is.
func (k *Kernel) above(key, i ir.Value, n int, at func(i ir.Value) ir.Value) ir.Value {
	if n&(n-1) == 0 {
		return k.Lt(key, at(i))
	}
	there := k.Lt(i, k.U32(uint32(n)))
	return k.Or(k.Not(there), k.Lt(key, at(k.Select(there, i, k.U32(0)))))
}
