package emu_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

const microDir = "../asm/testdata/micro"

// assembleFile reads and assembles a program file.
func assembleFile(t testing.TB, path string, defines map[string]int64) *isa.Program {
	t.Helper()
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	p, err := asm.Assemble(path, src, asm.Options{Defines: defines})
	require.NoError(t, err)
	return p
}

// microCounts are the warp instructions that Vortex's RTL executes, from the
// table of the micro-programs' README: ITERS and count on machines a and c (the
// same ITERS), d, and m6.
var microCounts = []struct {
	name    string
	ac      int64
	a, c    uint64
	dIters  int64
	d       uint64
	m6Iters int64
	m6      uint64
}{
	{"alu_chain", 300, 21693, 43377, 30, 17961, 60, 52877},
	{"barrier", 300, 8493, 16977, 20, 5161, 40, 14477},
	{"div_chain", 300, 7297, 14585, 20, 4553, 60, 18365},
	{"diverge", 200, 14493, 28977, 20, 12201, 40, 35597},
	{"fadd_chain", 150, 10913, 21817, 15, 9481, 30, 27197},
	{"fdiv_chain", 150, 3713, 7417, 10, 2761, 30, 9917},
	{"fma_chain", 150, 10913, 21817, 15, 9481, 30, 27197},
	{"ld_coal", 100, 4109, 8209, 10, 4009, 30, 15629},
	{"ld_rand", 30, 3257, 6505, 2, 2697, 8, 11549},
	{"lmem_ld", 100, 7309, 14609, 10, 6569, 20, 18509},
	{"mul_chain", 200, 14493, 28977, 30, 17961, 60, 52877},
	{"st_coal", 100, 4105, 8201, 10, 3977, 30, 15581},
}

// Warp instructions do not depend on timing, so they must equal the RTL's.
func TestMicroProgramsExecuteAsManyInstructionsAsTheRTL(t *testing.T) {
	for _, c := range microCounts {
		for _, m := range []struct {
			name                  string
			cores, warps, threads int
			iters                 int64
			want                  uint64
		}{
			{"a", 1, 4, 4, c.ac, c.a}, {"c", 1, 8, 8, c.ac, c.c}, {"d", 1, 32, 32, c.dIters, c.d}, {"m6", 6, 8, 8, c.m6Iters, c.m6},
		} {
			p := assembleFile(t, filepath.Join(microDir, c.name+".s"), map[string]int64{"ITERS": m.iters})
			mach, err := emu.New(emu.Config{Cores: m.cores, Warps: m.warps, Threads: m.threads})
			require.NoError(t, err)
			mach.Load(p)
			require.NoError(t, mach.Run(context.Background()), "%s on %s", c.name, m.name)
			require.Equal(t, m.want, mach.Stats().WarpInstrs, "%s on %s", c.name, m.name)
			code, ok := mach.ExitCode()
			require.True(t, ok)
			require.Zero(t, code)
		}
	}
}

// endless is a machine running a micro-program's loop for ever.
func endless(tb testing.TB, name string, threads int, instrs uint64) *emu.Machine {
	p := assembleFile(tb, filepath.Join(microDir, name+".s"), map[string]int64{"ITERS": 0x7FFFFFFF})
	m, err := emu.New(emu.Config{Cores: 1, Warps: 4, Threads: threads, MaxInstrs: instrs})
	require.NoError(tb, err)
	m.Load(p)
	return m
}

func TestNoAllocationPerInstruction(t *testing.T) {
	for _, name := range []string{"alu_chain", "fma_chain", "ld_rand", "st_coal", "lmem_ld", "diverge", "barrier", "lat_csr"} {
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
