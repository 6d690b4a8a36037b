package codegen

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// TestSink: warps that find nothing to do compute no values for what they would do, and those that do compute the same
// ones as without Sink.
func TestSink(t *testing.T) {
	const at = 0x100000
	k := build(t, func(b *ir.Builder, a ir.Value) {
		n := b.Load(ir.U32, a, b.U32(0))
		b.For(b.GlobalThread(), n, b.NumThreads(), func(i ir.Value) {
			x := b.Mul(b.LaneID(), b.U32(77)) // does not change in the loop
			y := b.Xor(b.Mul(x, b.WarpID()), b.U32(0x12345))
			b.Store(a, b.Add(i, b.U32(1)), b.Add(i, b.Xor(x, y)))
		})
	})
	run := func(n uint32, sink bool) (*emu.Machine, uint64) {
		m, err := emu.New(emu.Config{Cores: 1, Warps: 4, Threads: 4, Arg: argsAt, MaxInstrs: 100_000})
		require.NoError(t, err)
		m.Mem.Store32(argsAt, at)
		m.Mem.Store32(at, n)
		m.Load(compiled(t, k, Options{Sink: sink}).Program)
		require.NoError(t, m.Run(context.Background()))
		return m, m.Stats().WarpInstrs
	}
	_, before := run(0, false)
	_, idle := run(0, true)
	require.LessOrEqual(t, idle+4*4, before, "each of four warps saves the products, the constants and the sums of "+
		"addresses")
	for _, n := range []uint32{1, 4, 15, 16, 17, 50} {
		was, _ := run(n, false)
		is, _ := run(n, true)
		for i := range n + 2 {
			require.Equal(t, was.Mem.Load32(at+4*i), is.Mem.Load32(at+4*i), "n = %d, word %d", n, i)
		}
	}
}
