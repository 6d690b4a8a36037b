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
type Kernel struct{ *ir.Builder }

// New begins a kernel.
func New(name string) *Kernel {
	return &Kernel{ir.NewBuilder(name)}
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
// number has one thread of the device.
func (k *Kernel) Strided(n ir.Value, body func(i ir.Value)) {
	k.For(k.GlobalThread(), n, k.NumThreads(), body)
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

// Descend is LastNotAbove for an n known now: the same few steps for every lane, without a loop.
func (k *Kernel) Descend(key ir.Value, n int, at func(i ir.Value) ir.Value) ir.Value {
	i := k.U32(0)
	for bit := bits.Len(uint(n-1)) - 1; bit >= 0; bit-- {
		next := k.Or(i, k.U32(1<<bit))
		var below ir.Value
		if n&(n-1) == 0 {
			below = k.Le(at(next), key)
		} else {
			there := k.Lt(next, k.U32(uint32(n)))
			below = k.And(there, k.Le(at(k.Select(there, next, k.U32(0))), key))
		}
		i = k.Or(i, k.Shl(k.ToU32(below), k.U32(uint32(bit))))
	}
	return i
}
