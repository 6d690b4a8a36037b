package emu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
)

// handler installs one that leaves what it finds in s2 (mepc), s3 (mcause), s4 (mtval) and s5 (mstatus), counts in s6,
// and goes on behind the instruction that trapped. It uses s7 and s8.
const handler = `
	la s7, handle; csrrw zero, mtvec, s7; jal zero, main
handle:
	csrrs s2, mepc, zero; csrrs s3, mcause, zero; csrrs s4, mtval, zero; csrrs s5, mstatus, zero
	addi s6, s6, 1; addi s7, s2, 4; csrrw zero, mepc, s7
	mret
main:
`

// tval is the content of mtval: a value, or so many bytes behind the instruction.
type tval struct {
	value  uint32
	behind bool
}

// trapCases are instructions that trap, labelled bad, and the values that their handler finds.
var trapCases = []struct {
	name  string
	src   string
	cause uint32
	tval  tval
}{
	{"ecall", "bad: ecall", 11, tval{0, false}},
	{"ebreak", "bad: ebreak", 3, tval{0, true}},
	{"no instruction", "bad: .word 0xffffffff", 2, tval{0xffffffff, false}},
	{"zeros", "bad: .word 0", 2, tval{0, false}},
	{"no such CSR", "bad: csrrw a0, 0x123, zero", 2, tval{0x12301573, false}},
	{"read-only CSR", "bad: csrrw a0, mhartid, zero", 2, tval{0xf1401573, false}},
	{"read-only CSR, fixed", "bad: csrrw a0, mvendorid, zero", 2, tval{0xf1101573, false}},
	{"reserved rounding mode", "csrrwi zero, frm, 5; bad: fadd.s ft0, ft0, ft0", 2, tval{0x00007053, false}},
	{"no graph unit", "bad: weaver.dec.id a0", 2, tval{0x0000750b, false}},
	{"lh", "li t0, 0x10000001; bad: lh a0, 0(t0)", 4, tval{0x10000001, false}},
	{"lhu", "li t0, 0x10000000; bad: lhu a0, -1(t0)", 4, tval{0x0fffffff, false}},
	{"lw", "li t0, 0x10000000; bad: lw a0, 2(t0)", 4, tval{0x10000002, false}},
	{"flw", "li t0, 0x10000000; bad: flw ft0, 3(t0)", 4, tval{0x10000003, false}},
	{"lw from the scratchpad", "li t0, 0xffff0001; bad: lw a0, 0(t0)", 4, tval{0xffff0001, false}},
	{"lr", "li t0, 0x10000002; bad: lr.w a0, (t0)", 4, tval{0x10000002, false}},
	{"sh", "li t0, 0x10000003; bad: sh a0, 0(t0)", 6, tval{0x10000003, false}},
	{"sw", "li t0, 0x10000001; bad: sw a0, 0(t0)", 6, tval{0x10000001, false}},
	{"fsw", "li t0, 0x10000002; bad: fsw ft0, 0(t0)", 6, tval{0x10000002, false}},
	{"sc", "li t0, 0x10000002; bad: sc.w a0, a0, (t0)", 6, tval{0x10000002, false}},
	{"amo", "li t0, 0x10000001; bad: amoadd.w a0, a0, (t0)", 6, tval{0x10000001, false}},
	{"amocas", "li t0, 0x10000003; bad: amocas.w a0, a0, (t0)", 6, tval{0x10000003, false}},
	{"jal", "bad: .word 0x0060056f", 0, tval{6, true}},
	{"jalr", "la t0, bad; bad: jalr a0, 2(t0)", 0, tval{2, true}},
	{"taken branch", "bad: .word 0x00000163", 0, tval{2, true}}, // beq x0, x0, .+2
}

// Every trap of the architecture comes to the handler with its cause, changes nothing else, and the program goes on.
func TestHandlerTakesTraps(t *testing.T) {
	for _, c := range trapCases {
		t.Run(c.name, func(t *testing.T) {
			src := handler + "li a0, 77; csrrsi zero, mstatus, 8\n" + c.src + "\naddi a1, a0, 0\n" + stop
			p, err := assemble(src)
			require.NoError(t, err)
			bad, ok := p.Symbol("bad")
			require.True(t, ok)
			m := run(t, shape(1, 1, 1), src)
			reg := func(name string) uint32 { return m.Core(0).Warp(0).Reg(registers[name], 0) }
			assert.EqualValues(t, 1, reg("s6"), "traps")
			assert.Equal(t, c.cause, reg("s3"), "mcause")
			want := c.tval.value
			if c.tval.behind {
				want += bad
			}
			assert.Equal(t, fmt.Sprintf("0x%08x", want), fmt.Sprintf("0x%08x", reg("s4")), "mtval")
			assert.Equal(t, uint32(0x80007800|1<<7), reg("s5"), "mstatus: interrupts are off, and were on")
			assert.EqualValues(t, 77, reg("a1"), "rd of what trapped")
			assert.Equal(t, bad, reg("s2"), "mepc")
		})
	}
}

// A program error that is no trap of the architecture ends the run, with or without a handler.
func TestHandlerDoesNotTakeProgramErrors(t *testing.T) {
	for _, c := range []struct {
		name, src string
		cause     emu.Cause
	}{
		{"divergent branch", allLanes + "csrrs t0, vx_tid, zero; bad: beq t0, zero, bad", emu.DivergentBranch},
		{"join", "li t0, 5; bad: join t0", emu.StackFault},
		{"barrier", "li t1, 5; bad: bar zero, t1", emu.BarrierMisuse},
		{"null", "bad: lw a0, 0(zero)", emu.AccessFault},
	} {
		t.Run(c.name, func(t *testing.T) {
			var trap *emu.Trap
			require.ErrorAs(t, load(t, shape(1, 2, 4), handler+c.src+"\n"+stop).Run(context.Background()), &trap)
			assert.Equal(t, c.cause, trap.Cause)
		})
	}
}

func TestTrapIsTheWarps(t *testing.T) {
	// Lanes 1 and 3 are misaligned; all lanes go to the handler, and none has loaded.
	m := run(t, shape(1, 1, 4), handler+allLanes+`
		csrrs t0, vx_tid, zero; andi t1, t0, 1; li t2, 0x10000000; slli t0, t0, 4; add t0, t0, t1; add t0, t0, t2; li a0, 5
		lw a0, 0(t0)
		`+stop)
	assert.Equal(t, []uint32{5, 5, 5, 5}, lanes(m, a0, 4))
	assert.Equal(t, []uint32{1, 1, 1, 1}, lanes(m, registers["s6"], 4), "lanes in the handler")
	assert.Equal(t, []uint32{0x10000011, 0x10000011, 0x10000011, 0x10000011}, lanes(m, registers["s4"], 4),
		"mtval: the lowest lane that is wrong")

	// mtvec is the core's: warps that wspawn starts have the handler. What a trap leaves is each warp's own.
	m = run(t, shape(2, 3, 2), handler+allWarps+`
		csrrs t0, vx_wid, zero; bne t0, zero, one; ecall; jal zero, two
		one: ebreak
		two: addi t2, zero, 3; bar zero, t2; csrrs a0, mcause, zero
		`+stop)
	for c := range 2 {
		for w := range 3 {
			want := uint32(3)
			if w == 0 {
				want = 11
			}
			assert.Equal(t, want, m.Core(c).Warp(w).Reg(a0, 1), "core %d warp %d", c, w)
		}
	}
}

func TestMachineModeCSRs(t *testing.T) {
	for _, c := range []struct {
		name, src string
		want      uint32 // in a0
	}{
		{"mtvec keeps no mode", "li t0, 0x80000013; csrrw zero, mtvec, t0; csrrs a0, mtvec, zero", 0x80000010},
		{"mepc is a multiple of 4", "li t0, -1; csrrw zero, mepc, t0; csrrs a0, mepc, zero", 0xfffffffc},
		{"mcause", "li t0, 0x8000000b; csrrw zero, mcause, t0; csrrs a0, mcause, zero", 0x8000000b},
		{"mtval", "li t0, -1; csrrw zero, mtval, t0; csrrci a0, mtval, 15; csrrs a0, mtval, zero", 0xfffffff0},
		{"mstatus has two bits", "li t0, -1; csrrw zero, mstatus, t0; csrrs a0, mstatus, zero", 0x80007888},
		{"mstatus cleared", "csrrwi zero, mstatus, 0; csrrs a0, mstatus, zero", 0x80007800},
		{"mret gives MIE back", "csrrsi zero, mstatus, 8; la t0, one; csrrw zero, mepc, t0; mret; one: csrrs a0, mstatus, zero", 0x80007880},
		{"mret twice", "la t0, one; csrrw zero, mepc, t0; mret; one: la t0, two; csrrw zero, mepc, t0; mret; two: csrrs a0, mstatus, zero", 0x80007888},
		{"misa is fixed", "csrrw zero, misa, zero; csrrs a0, misa, zero", 0x40801121},
		{"satp is nothing", "li t0, -1; csrrw zero, satp, t0; csrrs a0, satp, zero", 0},
		{"set and clear", "csrrwi zero, mcause, 12; csrrsi zero, mcause, 3; csrrci a0, mcause, 5; csrrs a0, mcause, zero", 10},
		{"a value is read before it is written", "csrrwi zero, mcause, 12; csrrwi a0, mcause, 3", 12},
		{"mtvec is forgotten at a launch", "csrrs a0, mtvec, zero; csrrwi zero, mtvec, 16", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := run(t, shape(1, 1, 1), c.src+"\n"+stop)
			assert.Equal(t, c.want, m.Core(0).Warp(0).Reg(a0, 0))
			m.Launch(emu.CodeBase)
			require.NoError(t, m.Run(context.Background()))
			assert.Equal(t, c.want, m.Core(0).Warp(0).Reg(a0, 0), "launched again")
		})
	}
}

// A handler that traps itself never comes to an end; it is stopped as an endless loop is.
func TestTrapsCountAsInstructions(t *testing.T) {
	cfg := shape(1, 1, 1)
	cfg.MaxInstrs = 1000
	m := load(t, cfg, "la t0, one; csrrw zero, mtvec, t0; one: ecall\n")
	var limit *emu.LimitError
	require.ErrorAs(t, m.Run(context.Background()), &limit)

	m = load(t, cfg, "la t0, one; csrrw zero, mtvec, t0; one: .word 0\n")
	require.ErrorAs(t, m.Run(context.Background()), &limit)

	// ecall is executed, and so counted; what is no instruction is not.
	count := func(src string) uint64 { return run(t, shape(1, 1, 1), handler+src+"\n"+stop).Stats().WarpInstrs }
	nop := count("addi zero, zero, 0")
	const handled = 8 // instructions of the handler
	assert.Equal(t, nop+handled, count("ecall"))
	assert.Equal(t, nop+handled-1, count(".word 0"))
}

func TestTraceShowsTraps(t *testing.T) {
	var seen []string
	cfg := shape(1, 1, 1)
	cfg.Trace = func(s *emu.Step) { seen = append(seen, s.Inst.Name) }
	run(t, cfg, handler+"ecall\n"+stop)
	require.Contains(t, strings.Join(seen, " "), "jal ecall csrrs csrrs csrrs csrrs addi addi csrrw mret tmc")
}

func TestTrapIsAnErrorWithoutAHandler(t *testing.T) {
	for _, c := range trapCases {
		m := load(t, shape(1, 1, 1), c.src+"\n"+stop)
		var trap *emu.Trap
		require.ErrorAs(t, m.Run(context.Background()), &trap, c.name)
		assert.False(t, m.Core(0).Warp(0).Handles(trap), c.name)
		assert.True(t, trap.Exceptional, c.name)
	}
}
