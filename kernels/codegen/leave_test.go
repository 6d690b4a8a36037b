package codegen

import (
	"testing"

	"heddle/kernels/ir"
)

// TestLeavingFromWithinAGuard: the code after a continue that some lanes take is done by the others alone, in an If.
// Where these leave the loop from within an inner one, all together, they meet the first at the end of that If
// nevertheless.
func TestLeavingFromWithinAGuard(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) {
		sum := b.Var(b.U32(0))
		b.For(b.U32(0), b.U32(9), b.U32(1), func(round ir.Value) {
			b.ForLoop(b.U32(0), b.U32(12), b.U32(1), func(i ir.Value, outer *ir.Loop) {
				b.If(b.Lt(b.LaneID(), b.U32(3)), func() {
					outer.ContinueIf(b.Eq(b.And(b.Add(i, b.LaneID()), b.U32(3)), b.U32(1)))
				}, nil)
				n := b.Var(b.U32(0))
				b.Loop(func(inner *ir.Loop) {
					n.Set(b.Add(n.Get(), b.U32(1)))
					inner.BreakIf(b.Gt(n.Get(), b.U32(4)))
					sum.Set(b.Add(b.Mul(sum.Get(), b.U32(3)), n.Get()))
					outer.BreakIf(b.Eq(i, b.Add(round, b.U32(1))))
				})
				sum.Set(b.Add(sum.Get(), i))
			})
			sum.Set(b.Xor(sum.Get(), b.U32(0x55)))
		})
		b.Store(a, b.GlobalThread(), sum.Get())
	})
	runBoth(t, k, 8)
}
