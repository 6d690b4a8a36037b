package codegen

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// likeGPU are the options for a machine that launches kernels as GPUs do.
func likeGPU() Options {
	return Options{ArgumentRegisters: 24, Zba: true, SilentExit: true, Sink: true, Lean: true,
		Size: Size{Cores: 1, Warps: 2, Lanes: 4}}
}

// TestWarpsWithoutWork: on a machine like a GPU, a warp that finds no work executes as much as nvcc's code: its number,
// the comparison with a parameter, a vote for the mask, and the end.
func TestWarpsWithoutWork(t *testing.T) {
	const at, idle = 0x100000, 8
	k := build(t, func(b *ir.Builder, a ir.Value) {
		c := b.Array("b")
		n := b.Param("n", ir.U32)
		b.For(b.GlobalThread(), n, b.NumThreads(), func(i ir.Value) {
			b.Store(a, i, b.Add(b.Load(ir.U32, c, i), b.Load(ir.U32, a, b.Load(ir.U32, c, i))))
		})
	})
	run := func(n uint32, o Options) *emu.Machine {
		m, err := emu.New(emu.Config{Cores: 1, Warps: 2, Threads: 4, Arg: argsAt, MaxInstrs: 100_000,
			ArgumentRegisters: o.ArgumentRegisters, SilentExit: o.SilentExit, Zba: o.Zba})
		require.NoError(t, err)
		for i, w := range []uint32{at, at + 0x1000, n} {
			m.Mem.Store32(argsAt+4*uint32(i), w)
		}
		for i := range uint32(64) {
			m.Mem.Store32(at+4*i, 3*i)
			m.Mem.Store32(at+0x1000+4*i, i*7%64)
		}
		m.Load(compiled(t, k, o).Program)
		require.NoError(t, m.Run(context.Background()))
		return m
	}
	const start = 6 // of warp 0, which starts the others
	require.LessOrEqual(t, run(0, likeGPU()).Stats().WarpInstrs, uint64(start+2*idle))
	for _, n := range []uint32{1, 5, 8, 13, 40} {
		was, is := run(n, Options{}), run(n, likeGPU())
		for i := range uint32(64) {
			require.Equal(t, was.Mem.Load32(at+4*i), is.Mem.Load32(at+4*i), "n = %d, word %d", n, i)
		}
		require.Less(t, is.Stats().WarpInstrs, was.Stats().WarpInstrs)
	}
}

// TestArgumentRegisters: arguments are used where the launch has left them; those that get no register, and those of a
// part of a larger program, are loaded.
func TestArgumentRegisters(t *testing.T) {
	k := build(t, func(b *ir.Builder, a ir.Value) {
		sum, x := b.U32(0), b.Param("f", ir.F32)
		var names []ir.Value
		for _, name := range strings.Fields("p q r s t u v") {
			names = append(names, b.Param(name, ir.U32))
		}
		b.For(b.U32(0), names[0], b.U32(1), func(i ir.Value) {
			for n, p := range names {
				b.Store(a, b.Add(i, b.U32(uint32(n))), b.Add(p, i))
			}
			b.Store(a, b.U32(100), x)
		})
		b.Store(a, b.U32(101), sum)
	})
	for _, c := range []struct {
		o     Options
		loads bool
	}{{Options{}, true}, {Options{ArgumentRegisters: 9}, false}, {Options{ArgumentRegisters: 4}, true},
		{Options{ArgumentRegisters: 9, Return: 0x80000004}, true}, {Options{ArgumentRegisters: 9, Registers: 5}, true}} {
		s := text(compiled(t, k, c.o).Program)
		require.Equal(t, c.loads, strings.Contains(s, "mscratch"), "%+v:\n%s", c.o, s)
	}
}
