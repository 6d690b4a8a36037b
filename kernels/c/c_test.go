// Package c_test builds the C programs with gcc and runs them on the functional
// machine, at several optimisation levels: SIMT code is broken by the transformations of an
// optimiser.
package c_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/internal/testenv"
	"heddle/internal/tools"
	"heddle/isa"
	"heddle/isa/elf"
	"heddle/isa/emu"
)

// optimisations are the levels that programs are built at: without testenv.LongVariable, for speed and for size.
func optimisations(t *testing.T) []string {
	if testenv.Long(t) > 0 {
		return []string{"-O1", "-O2", "-O3", "-Os"}
	}
	return testenv.Some(t, 0, 2, []string{"-O3", "-Os"})
}

type shape struct{ cores, warps, threads int }

func (s shape) String() string { return fmt.Sprintf("%dx%dx%d", s.cores, s.warps, s.threads) }

// shapes are the machines that every program runs on; some sides are no powers of two.
var shapes = []shape{{1, 1, 1}, {1, 4, 4}, {1, 1, 32}, {1, 5, 2}, {2, 8, 8}, {3, 3, 7}, {4, 8, 32}}

// quanta are the lengths of a warp's turn: how warps interleave must not matter.
var quanta = []int{1, 7, 128}

const launchArg = 0x1234 // as testdata/intrinsics.c expects in mscratch

// build compiles sources, or all of programs/ when there are none, and returns
// the directory of the results.
func build(t *testing.T, opt string, sources ...string) string {
	t.Helper()
	tools.Need(t, "riscv64-unknown-elf-gcc")
	dir := t.TempDir()
	cmd := exec.Command("./build.sh", append([]string{dir}, sources...)...)
	cmd.Env = append(os.Environ(), "OPT="+opt)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return dir
}

func load(t *testing.T, file string) *isa.Program {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	p, err := elf.Read(file, data)
	require.NoError(t, err)
	return p
}

// units makes the graph units of a core of that shape; nil: none.
type units func(t *testing.T, s shape) []emu.Unit

// run executes p and returns its console output and exit code.
func run(t *testing.T, p *isa.Program, s shape, quantum int, u units) (string, uint32) {
	t.Helper()
	cfg := emu.Config{
		Cores: s.cores, Warps: s.warps, Threads: s.threads,
		Arg: launchArg, Quantum: quantum, MaxInstrs: 200_000_000,
	}
	if u != nil {
		cfg.Units = func(int) []emu.Unit { return u(t, s) }
	}
	m, err := emu.New(cfg)
	require.NoError(t, err)
	m.Load(p)
	litter(m, s)
	require.NoError(t, m.Run(context.Background()))
	code, ok := m.ExitCode()
	require.True(t, ok, "no exit code")
	return string(m.Console()), code
}

// litter fills registers and scratchpads with values that a program must not rely on.
func litter(m *emu.Machine, s shape) {
	for c := range s.cores {
		scratch := m.Core(c).Scratchpad()
		for i := range scratch {
			scratch[i] = 0xEE
		}
		for w := range s.warps {
			for l := range s.threads {
				for r := range isa.Reg(isa.NumRegs) {
					m.Core(c).Warp(w).SetReg(r, l, 0xBAD00000+uint32(c<<14|w<<11|l<<6)+uint32(r))
				}
			}
		}
	}
}

// everywhere runs p on all shapes with all quanta and compares.
func everywhere(t *testing.T, p *isa.Program, u units, console func(shape) string, exit uint32) {
	t.Helper()
	for _, s := range shapes {
		for _, q := range quanta {
			got, code := run(t, p, s, q, u)
			require.Equal(t, console(s), got, "%v, quantum %d", s, q)
			require.Equal(t, exit, code, "%v, quantum %d", s, q)
		}
	}
}

func always(text string) func(shape) string { return func(shape) string { return text } }

func helloText(s shape) string {
	var b strings.Builder
	for c := range s.cores {
		fmt.Fprintf(&b, "hello from core %d of %d: %d warps of %d lanes\n", c, s.cores, s.warps, s.threads)
	}
	n := s.cores * s.warps * s.threads
	fmt.Fprintf(&b, "hello: %d of %d harts\n", n, n)
	return b.String()
}

// reduceText repeats reduce.c's input.
func reduceText() string {
	state, sum, largest := uint32(3), 0.0, math.Inf(-1)
	for range 3000 {
		state = state*1664525 + 1013904223
		x := float64(int32(state>>16%64)-32) / 4
		sum += x
		largest = math.Max(largest, x)
	}
	return fmt.Sprintf("reduce: sum %.2f, maximum %.2f\nreduce: 2 results, all right\n", sum, largest)
}

func TestPrograms(t *testing.T) {
	programs := []struct {
		name    string
		console func(shape) string
		exit    uint32
	}{
		{"hello", helloText, 0},
		{"vecadd", always("vecadd: 1000 results, all right\n"), 0},
		{"matmul", always("matmul: 323 results, all right\n"), 0},
		{"reduce", always(reduceText()), 0},
		{"spmv", always("spmv: 300 results, all right\n"), 0},
		{"weaver_spmv", always("weaver_spmv: this machine has no Weaver\n"), 2},
	}
	for _, opt := range optimisations(t) {
		t.Run(opt, func(t *testing.T) {
			t.Parallel()
			dir := build(t, opt)
			files, err := filepath.Glob(filepath.Join(dir, "*.elf"))
			require.NoError(t, err)
			require.Len(t, files, len(programs), "a program is missing from this test")
			for _, p := range programs {
				t.Run(p.name, func(t *testing.T) {
					everywhere(t, load(t, filepath.Join(dir, p.name+".elf")), nil, p.console, p.exit)
				})
			}
		})
	}
}

// TestWeaver runs the Weaver's program with tables of which some cover only
// part of a core, so that there are several epochs and idle lanes.
func TestWeaver(t *testing.T) {
	for _, opt := range optimisations(t) {
		p := load(t, filepath.Join(build(t, opt, "programs/weaver_spmv.c"), "weaver_spmv.elf"))
		for _, entries := range []int{3, 40, 512} {
			t.Run(fmt.Sprintf("%s/st_entries=%d", opt, entries), func(t *testing.T) {
				everywhere(t, p, weaverOf(entries), always("weaver_spmv: 300 results, all right\n"), 0)
			})
		}
	}
}

func weaverOf(entries int) units {
	return func(t *testing.T, s shape) []emu.Unit {
		spec := weaver.DefaultSpec()
		spec.STEntries = entries
		w, err := weaver.NewFunctional(spec, s.warps, s.threads)
		require.NoError(t, err)
		return []emu.Unit{w}
	}
}

func TestIntrinsicsAndDivergence(t *testing.T) {
	testenv.NeedSlow(t, "it compiles at each level")
	for _, opt := range append([]string{"-O0"}, optimisations(t)...) {
		t.Run(opt, func(t *testing.T) {
			t.Parallel()
			dir := build(t, opt, "testdata/intrinsics.c", "testdata/divergence.c")
			everywhere(t, load(t, filepath.Join(dir, "intrinsics.elf")), nil, always("intrinsics: all right\n"), 0)
			everywhere(t, load(t, filepath.Join(dir, "divergence.elf")), nil, always("divergence: all right\n"), 0)
		})
	}
}

// TestEncodings holds the header's `.insn` lines against the rows of package isa.
func TestEncodings(t *testing.T) {
	want := strings.Fields(`
		tmc wspawn split join split.n join pred pred.n bar
		vote.all vote.any vote.uni vote.ballot shfl.up shfl.down shfl.bfly shfl.idx
		amofadd.w amocas.w
		weaver.reg weaver.skip weaver.dec.id weaver.dec.loc
		peg.pop.src peg.pop.dst peg.pop.wt peg.pop.idx peg.get.src peg.get.dst peg.get.wt peg.get.idx peg.popv peg.push
		eghw.push eghw.pop eghw.get.other eghw.get.wt hwwl.pop hwwl.push`)
	p := load(t, filepath.Join(build(t, "-O2", "testdata/encodings.c"), "encodings.elf"))
	begin, ok := p.Symbol("encodings")
	require.True(t, ok)
	code := p.Segments[0]
	var got []string
	for pc := begin; ; pc += 4 {
		b := code.Data[pc-code.Addr:]
		word := uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
		in, ok := isa.Decode(word)
		require.True(t, ok, "0x%08x", word)
		if in.Name == "jalr" {
			break
		}
		switch in.Class {
		case isa.ClassWarp, isa.ClassVote, isa.ClassAtomic, isa.ClassUnit:
			got = append(got, strings.Fields(in.Text(pc))[0])
		}
	}
	assert.Equal(t, want, got)
}

func TestPrintf(t *testing.T) {
	for _, opt := range optimisations(t) {
		p := load(t, filepath.Join(build(t, opt, "testdata/printf.c"), "printf.elf"))
		got, code := run(t, p, shape{2, 2, 2}, 128, nil)
		assert.Equal(t, printfText(), got, opt)
		assert.Zero(t, code)
	}
}

func printfText() string {
	var b strings.Builder
	b.WriteString("0|-1|  -42|-0042|-2147483648|7\n")
	b.WriteString("4294967295|deadbeef|0000beef|    beef|1\n")
	b.WriteString("c|text|    ab|%\n")
	for _, r := range []float64{
		0, math.Copysign(0, -1), 1, -1, 0.5, 1.5, 2.5, 0.1, 0.125, 0.375, 0.999999, 0.9999999, 9.9999996, 1234.5678,
		1e-7, 4.9e-7, 5e-7, 5.1e-7,
		4294967295.75, 18446744073709551616.0, 16777217.0, 3.4028234663852886e38, 1.401298464324817e-45,
		2.2250738585072014e-308, 4.9e-324,
		1.7976931348623157e308, 123456789.123456789, 0.0000152587890625, 0.00048828125,
	} {
		fmt.Fprintf(&b, "%f|%.0f|%.1f|%.3f|%.9f|%012.4f|%12.4f\n", r, r, r, r, r, r, r)
	}
	b.WriteString("inf|-inf|    inf|nan\n")
	return b.String()
}

// TestCopiedJoinDoesNotLink proves that the linker's check finds the fault.
func TestCopiedJoinDoesNotLink(t *testing.T) {
	build(t, "-O2") // skips without a compiler
	source := filepath.Join(t.TempDir(), "two_joins.c")
	require.NoError(t, os.WriteFile(source, []byte(`#include "heddle.h"
int main(void)
{
	unsigned c = hd_lane(), depth = hd_split(&c);
	if (c) {
		hd_join(depth);
		return 1;
	}
	hd_join(depth);
	return 0;
}
`), 0o644))
	out, err := exec.Command("./build.sh", t.TempDir(), source).CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "more joins than splits")
}
