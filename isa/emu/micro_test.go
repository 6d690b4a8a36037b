package emu_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/isa/micro"
)

// shapes are the machines of the references: cores, warps, threads.
var shapes = map[string][3]int{"a": {1, 4, 4}, "c": {1, 8, 8}, "d": {1, 32, 32}, "m6": {6, 8, 8}}

// Warp instructions do not depend on timing, so they must equal the RTL's.
func TestMicroProgramsExecuteAsManyInstructionsAsTheRTL(t *testing.T) {
	n := 0
	for _, r := range micro.References() {
		shape, ok := shapes[r.Machine]
		if !ok {
			continue
		}
		p, err := micro.Program(r.Program, r.Iters)
		require.NoError(t, err)
		m, err := emu.New(emu.Config{Cores: shape[0], Warps: shape[1], Threads: shape[2]})
		require.NoError(t, err)
		m.Load(p)
		require.NoError(t, m.Run(context.Background()), "%s on %s", r.Program, r.Machine)
		require.Equal(t, r.WarpInstrs, m.Stats().WarpInstrs, "%s on %s", r.Program, r.Machine)
		code, ok := m.ExitCode()
		require.True(t, ok)
		require.Zero(t, code)
		n++
	}
	require.Equal(t, 142, n)
}

// endless is a machine running a micro-program's loop for ever.
func endless(tb testing.TB, name string, threads int, instrs uint64) *emu.Machine {
	p, err := micro.Program(name, 0x7FFFFFFF)
	require.NoError(tb, err)
	m, err := emu.New(emu.Config{Cores: 1, Warps: 4, Threads: threads, MaxInstrs: instrs})
	require.NoError(tb, err)
	m.Load(p)
	return m
}

func TestNoAllocationPerInstruction(t *testing.T) {
	for _, name := range []string{"alu_chain", "fma_chain", "ld_rand", "st_coal", "lmem_ld", "diverge", "barrier",
		"lat_csr"} {
		m := endless(t, name, 8, 200_000)
		_ = m.Run(context.Background()) // the loop's instructions
		pages := int64(0)
		n := testing.AllocsPerRun(1, func() {
			before := m.Mem.Bytes()
			_ = m.Run(context.Background())
			pages = (m.Mem.Bytes() - before) / 4096
		})
		// Memory met for the first time costs a page, and a table now and then;
		// the end of a run costs its error.
		require.LessOrEqual(t, n, float64(2+pages+pages/100+1), "%s: allocations in 200,000 instructions", name)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, name := range []string{"alu_chain", "mul_chain", "fma_chain", "ld_coal", "ld_rand", "diverge", "barrier"} {
		for _, threads := range []int{4, 32} {
			b.Run(fmt.Sprintf("%s/lanes=%d", name, threads), func(b *testing.B) {
				const chunk = 1_000_000
				m := endless(b, name, threads, chunk)
				_ = m.Run(context.Background())
				b.ReportAllocs()
				for b.Loop() {
					_ = m.Run(context.Background())
				}
				b.ReportMetric(float64(chunk)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mwarp-instr/s")
			})
		}
	}
}
