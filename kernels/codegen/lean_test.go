package codegen

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// TestMasks: a selection by a comparison that is the opposite of an instruction's costs no inversion, and selects the
// same, whatever else reads the comparison.
func TestMasks(t *testing.T) {
	const at, words, inversion = 0x100000, 64, `xori \w+, \w+, 1\n`
	for name, also := range map[string]func(b *ir.Builder, p ir.Value) ir.Value{
		"alone":               func(b *ir.Builder, _ ir.Value) ir.Value { return b.U32(5) },
		"and another":         func(b *ir.Builder, p ir.Value) ir.Value { return b.Select(p, b.U32(7), b.LaneID()) },
		"and its opposite":    func(b *ir.Builder, p ir.Value) ir.Value { return b.Select(b.Not(p), b.U32(7), b.LaneID()) },
		"and the other lanes": func(b *ir.Builder, p ir.Value) ir.Value { return b.Ballot(p) },
	} {
		k := build(t, func(b *ir.Builder, a ir.Value) {
			b.For(b.GlobalThread(), b.U32(words), b.NumThreads(), func(i ir.Value) {
				x := b.Load(ir.U32, a, i)
				y := b.And(b.Mul(x, b.U32(5)), b.U32(31))
				ge, le := b.Ge(x, y), b.Le(x, b.U32(13))
				z := b.Add(b.Select(ge, b.Mul(x, b.U32(3)), y), also(b, ge))
				b.Store(a, i, b.Xor(b.Select(le, z, b.Add(y, b.U32(9))), b.Shl(also(b, le), b.U32(8))))
			})
		})
		run := func(o Options) *emu.Machine {
			m, err := emu.New(emu.Config{Cores: 1, Warps: 2, Threads: 4, Arg: argsAt, MaxInstrs: 100_000,
				ArgumentRegisters: o.ArgumentRegisters, SilentExit: o.SilentExit, Zba: o.Zba})
			require.NoError(t, err)
			m.Mem.Store32(argsAt, at)
			for i := range uint32(words) {
				m.Mem.Store32(at+4*i, i*7%words)
			}
			m.Load(compiled(t, k, o).Program)
			require.NoError(t, m.Run(context.Background()))
			return m
		}
		was, is := run(Options{}), run(likeGPU())
		for i := range uint32(words) {
			require.Equal(t, was.Mem.Load32(at+4*i), is.Mem.Load32(at+4*i), "%s, word %d", name, i)
		}
		if name == "alone" {
			require.Regexp(t, inversion, text(compiled(t, k, Options{}).Program))
			require.NotRegexp(t, inversion, text(compiled(t, k, likeGPU()).Program))
		}
	}
}
