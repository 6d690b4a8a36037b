package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/clock"
	"heddle/components/core"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// trapStart has traps counted in s6, their causes and places summed up in s5, and goes on behind them. Every lane of
// every warp runs the code that follows, with four words of its own in memory at s0 and one in the scratchpad at s4.
const trapStart = `
_start:
	la s7, handle
	csrw mtvec, s7
	csrr t6, vx_num_warps
	la t5, every
	wspawn t6, t5
every:
	li t6, -1
	tmc t6
	csrr s0, vx_wid
	slli s0, s0, 12
	li t0, 0x10000000
	add s0, s0, t0
	csrr t0, vx_tid
	slli t0, t0, 4
	add s0, s0, t0
	csrr s4, mhartid
	slli s4, s4, 2
	li t0, 0xffff0000
	add s4, s4, t0
	j main
	.balign 4
handle:
	csrr s7, mcause
	slli s5, s5, 1
	add s5, s5, s7
	csrr s7, mtval
	add s5, s5, s7
	csrr s7, mepc
	add s5, s5, s7
	addi s6, s6, 1
	addi s7, s7, 4
	csrw mepc, s7
	mret
main:
`

// trapping are instructions that trap.
var trapping = []string{
	"ecall", "ebreak", ".word 0", ".word 0xffffffff", "csrw mhartid, a0", "csrr a1, 0x123", "lw a2, 1(s0)", "lh a3, 3(s0)", "sw a4, 2(s0)",
	"amoadd.w a1, a2, (s8)", "flw ft1, 2(s0)", "fsw ft1, 1(s0)", "lr.w a1, (s8)", "jalr a3, 2(s9)", "weaver.dec.id a1", ".word 0x00000163",
}

// harmless are instructions that do not trap, of every class that a pipeline distinguishes.
var harmless = []string{
	"addi a0, a0, 3", "add a1, a1, a0", "mul a2, a0, a1", "div a3, a2, a0", "lw a0, 0(s0)", "lw a4, 4(s0)", "lb a1, 9(s0)", "sw a1, 4(s0)", "sw a2, 0(s0)",
	"sb a3, 9(s0)", "amoadd.w a4, a0, (s4)", "lw a3, 0(s4)", "sw a3, 0(s4)", "fence", "fcvt.s.w ft0, a0", "fadd.s ft1, ft1, ft0", "fmul.s ft0, ft0, ft1", "fcvt.w.s a2, ft1",
	"csrr a1, vx_tid", "csrr a1, fflags", "csrw fflags, zero", "csrsi mcause, 3", "vote.any a3, a0", "shfl.bfly a4, a0, s1", "tmc t6",
	"split s2, s1\n join s2", "beq s1, s1, 1f\n addi a0, a0, 7\n1:", "bne s1, s1, 1f\n addi a0, a0, 7\n1:", "jal s3, 1f\n addi a0, a0, 9\n1:",
}

// runBoth runs a program timed and functionally, and compares the final states.
func runBoth(t *testing.T, warps, threads int, text string, change ...func(*core.Spec)) *machine {
	t.Helper()
	p, err := asm.Assemble("x.s", []byte(text), asm.Options{Base: 0x80000000})
	require.NoError(t, err)
	u, err := emu.New(emu.Config{Cores: 1, Warps: warps, Threads: threads, MaxInstrs: 1e6})
	require.NoError(t, err)
	u.Load(p)
	require.NoError(t, u.Run(context.Background()), text)
	m := newMachine(t, warps, threads, change...)
	m.cyclesOf(t, text)
	require.NoError(t, m.core.CheckInvariants(), text)
	require.Equal(t, u.Stats(), m.emu.Stats(), text)
	require.Equal(t, u.Stats().WarpInstrs, m.core.Issued-m.core.Squashed, text)
	for w := range warps {
		want, got := make([]byte, 16*threads), make([]byte, 16*threads)
		u.Mem.Read(0x10000000+uint32(w)<<12, want)
		m.emu.Mem.Read(0x10000000+uint32(w)<<12, got)
		require.Equal(t, want, got, "memory of warp %d\n%s", w, text)
		for r := range isa.Reg(isa.NumRegs) {
			for l := range threads {
				require.Equal(t, u.Core(0).Warp(w).Reg(r, l), m.emu.Core(0).Warp(w).Reg(r, l),
					"warp %d, lane %d, %s\n%s", w, l, r, text)
			}
		}
	}
	return m
}

// Every trap, with instructions of every class before and after it, has the same outcome in timed and functional
// execution.
func TestTrapsAreExactInTime(t *testing.T) {
	for _, trap := range trapping {
		for _, around := range harmless {
			runBoth(t, 2, 4, trapStart+"li s8, 0x10000002\n la s9, main\n"+around+"\n"+trap+"\n"+around+
				"\n addi a0, a0, 1\n tmc zero\n")
		}
	}
}

func TestRandomTrapsAreExactInTime(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 2))
	traps, squashed := uint64(0), uint64(0)
	cases := testenv.Cases(t, 240, 1000)
	for n := range cases {
		var text strings.Builder
		text.WriteString(trapStart + "li s8, 0x10000002\n la s9, main\n")
		for range 1 + r.IntN(60) {
			from := harmless
			if r.IntN(6) == 0 {
				from = trapping
			}
			fmt.Fprintln(&text, from[r.IntN(len(from))])
		}
		text.WriteString("tmc zero\n")
		shape := [...][2]int{{1, 1}, {1, 4}, {3, 8}, {4, 4}, {8, 2}, {32, 32}, {17, 16}}[n%7]
		m := runBoth(t, shape[0], shape[1], text.String(), func(s *core.Spec) {
			s.Collectors, s.IBuffer = r.IntN(3), 1+r.IntN(8)
			if n%3 == 0 {
				s.IDiv = core.DividerSerial
			}
		})
		squashed += m.core.Squashed
		traps += uint64(m.emu.Core(0).Warp(0).Reg(22, 0)) // s6
	}
	require.Greater(t, traps, 3*cases/2)
	require.Greater(t, squashed, 3*cases)
}

// The cost of a trap: the instruction is dispatched, those behind it leave, and the warp fetches again.
func TestTrapCosts(t *testing.T) {
	const start = "la t3, 1f\n csrw mtvec, t3\n j 2f\n 1: csrr t3, mepc\n addi t3, t3, 4\n csrw mepc, t3\n mret\n 2:\n"
	per := func(text string) uint64 { return (cost(t, 4, 40, start, text) - cost(t, 4, 20, start, text)) / 20 }
	fallsThrough := per("add t0, t0, t1\n")
	require.EqualValues(t, 9, fallsThrough)
	require.Greater(t, per("ecall\n"), 4*fallsThrough)
	require.Greater(t, per("lw t4, 1(zero)\n"), 4*fallsThrough)
	require.Less(t, per("lw t4, 1(zero)\n"), uint64(120))
}

func TestTrapWithoutAHandlerStopsTheCore(t *testing.T) {
	for _, trap := range trapping {
		p, err := asm.Assemble("x.s", []byte("_start: li s0, 0x10000000\n li s8, 0x10000002\n la s9, _start\n"+trap+
			"\n tmc zero\n"), asm.Options{Base: 0x80000000})
		require.NoError(t, err)
		m := newMachine(t, 1, 1)
		m.emu.Load(p)
		m.core.Start()
		require.NoError(t, m.sys.Run())
		var stopped *emu.Trap
		require.ErrorAs(t, m.core.Err(), &stopped, trap)
	}
}

// Requests to a graph unit behind a trap are not sent, and are sent once when the program has come back to them.
func TestTrapsWithAGraphUnit(t *testing.T) {
	for _, trap := range trapping[:len(trapping)-2] { // a Weaver's instruction does not trap here
		text := trapStart + "li s8, 0x10000002\n la s9, main\n weaver.dec.id a0\n" + trap + "\n" +
			strings.Repeat("weaver.dec.id a1\n weaver.dec.loc a2\n weaver.reg a0, a1, a2\n add a1, a1, a2\n", 3) +
			" tmc zero\n"
		m := newMachineWith(t, &gate{Base: clock.NewBase("Gate")}, 4, 2)
		m.cyclesOf(t, text)
		require.NoError(t, m.core.CheckInvariants())
		require.EqualValues(t, 4*(1+9), m.emu.Stats().ByClass[isa.ClassUnit], trap)
		require.EqualValues(t, 1, m.emu.Core(0).Warp(3).Reg(22, 1), "%s: traps", trap)
	}
}
