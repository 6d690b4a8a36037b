package emu_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
)

const (
	data    = 0x10000000 // where the tests keep words in memory
	scratch = emu.ScratchpadBase

	// allLanes starts most programs: every lane of warp 0 runs. The second addi
	// gives t6 to the lanes that did not run before.
	allLanes = "addi t6, zero, -1; tmc t6; addi t6, zero, -1\n"
	// allWarps makes every lane of every warp run the code after it.
	allWarps = "csrrs t6, vx_num_warps, zero; la t5, every; wspawn t6, t5\n every: " + allLanes
	stop     = "tmc zero\n"
)

// registers of the tests, by name
var (
	a0, a1, a2 = registers["a0"], registers["a1"], registers["a2"]
)

func shape(cores, warps, threads int) emu.Config {
	return emu.Config{Cores: cores, Warps: warps, Threads: threads}
}

// run executes a program that must end without an error.
func run(t *testing.T, cfg emu.Config, src string) *emu.Machine {
	t.Helper()
	m := load(t, cfg, src)
	require.NoError(t, m.Run(context.Background()))
	return m
}

// lanes returns a register of all lanes of warp 0 of core 0.
func lanes(m *emu.Machine, r isa.Reg, n int) []uint32 {
	var v []uint32
	for l := range n {
		v = append(v, m.Core(0).Warp(0).Reg(r, l))
	}
	return v
}

func words(m *emu.Machine, addr uint32, n int) []uint32 {
	var v []uint32
	for i := range n {
		v = append(v, m.Mem.Load32(addr+4*uint32(i)))
	}
	return v
}

func TestTraps(t *testing.T) {
	// Lanes 0 and 1 of four get 0 in t0, lanes 2 and 3 get 1.
	const twoSides = allLanes + "csrrs t0, vx_tid, zero; srli t0, t0, 1\n"
	// Each split sees two sides, since tmc makes all lanes run again.
	const openSplit = "split t1, t0; tmc t6\n"
	for _, c := range []struct {
		name  string
		src   string // the faulting instruction is labelled bad
		cause emu.Cause
		lane  int
		want  string
	}{
		{"zero word", "bad: .word 0", emu.IllegalInstruction, -1, "0x00000000 is no instruction of this machine"},
		{"unknown word", "bad: .word 0x0000600b", emu.IllegalInstruction, -1, "0x0000600b is no instruction of this machine"},
		{"CSR unknown", "bad: csrrs t0, 0x123, zero", emu.IllegalInstruction, -1, "CSR 0x123 does not exist"},
		{"CSR read-only, csrrw", "bad: csrrw zero, mhartid, zero", emu.IllegalInstruction, -1, "CSR mhartid is read-only"},
		{"CSR read-only, csrrs", "bad: csrrs t0, vx_tid, t1", emu.IllegalInstruction, -1, "CSR vx_tid is read-only"},
		{"CSR read-only, csrrci", "bad: csrrci t0, mcycle, 1", emu.IllegalInstruction, -1, "CSR mcycle is read-only"},
		{"CSR read-only, csrrwi", "bad: csrrwi t0, units, 0", emu.IllegalInstruction, -1, "CSR units is read-only"},
		{"frm reserved", "csrrwi zero, frm, 5; bad: fadd.s ft0, ft1, ft2", emu.IllegalInstruction, -1, "rounding mode dyn, but frm holds 5, which is reserved"},
		{"frm reserved, conversion", "li t0, 0xe0; csrrw zero, fcsr, t0; bad: fcvt.w.s t0, ft2", emu.IllegalInstruction, -1, "rounding mode dyn, but frm holds 7, which is reserved"},

		{"fetch of nothing", "li t0, 0x30000000; jalr zero, 0(t0)", emu.FetchFault, -1, "nothing is loaded at 0x30000000"},
		{"fetch misaligned, jalr", "la t0, bad; bad: jalr zero, 2(t0)", emu.MisalignedFetch, -1, "0x8000000a is not a multiple of 4 (there are no compressed instructions)"},
		{"fetch misaligned, jal", ".word 0x0020006f", emu.MisalignedFetch, -1, "0x80000002 is not a multiple of 4 (there are no compressed instructions)"},

		{"lh", "li t0, 0x10000001; bad: lh t1, 0(t0)", emu.MisalignedAccess, 0, "address 0x10000001 is not a multiple of 2"},
		{"lhu", "li t0, 0x10000000; bad: lhu t1, -1(t0)", emu.MisalignedAccess, 0, "address 0x0fffffff is not a multiple of 2"},
		{"lw", "li t0, 0x10000000; bad: lw t1, 2(t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"flw", "li t0, 0x10000001; bad: flw ft1, 0(t0)", emu.MisalignedAccess, 0, "address 0x10000001 is not a multiple of 4"},
		{"sh", "li t0, 0x10000003; bad: sh t1, 0(t0)", emu.MisalignedAccess, 0, "address 0x10000003 is not a multiple of 2"},
		{"sw", "li t0, 0x10000002; bad: sw t1, 0(t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"fsw", "li t0, 0x10000002; bad: fsw ft1, 0(t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"amo", "li t0, 0x10000002; bad: amoadd.w t1, t1, (t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"amocas", "li t0, 0x10000001; bad: amocas.w t1, t1, (t0)", emu.MisalignedAccess, 0, "address 0x10000001 is not a multiple of 4"},
		{"lr", "li t0, 0x10000002; bad: lr.w t1, (t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"sc", "li t0, 0x10000002; bad: sc.w t1, t1, (t0)", emu.MisalignedAccess, 0, "address 0x10000002 is not a multiple of 4"},
		{"lane of a misaligned access", twoSides + "li t1, 0x10000000; add t0, t0, t1; bad: lw t1, 0(t0)", emu.MisalignedAccess, 2, "address 0x10000001 is not a multiple of 4"},

		{"null load", "bad: lw t0, 0(zero)", emu.AccessFault, 0, "address 0x00000000: nothing below 0x40 may be accessed (null pointer?)"},
		{"null load, byte", "bad: lbu t0, 63(zero)", emu.AccessFault, 0, "address 0x0000003f: nothing below 0x40 may be accessed (null pointer?)"},
		{"null store", "bad: sw t0, 60(zero)", emu.AccessFault, 0, "address 0x0000003c: nothing below 0x40 may be accessed (null pointer?)"},
		{"null store, byte", "bad: sb t0, 0(zero)", emu.AccessFault, 0, "address 0x00000000: nothing below 0x40 may be accessed (null pointer?)"},
		{"null amo", "bad: amoswap.w t0, t0, (zero)", emu.AccessFault, 0, "address 0x00000000: nothing below 0x40 may be accessed (null pointer?)"},
		{"lane of a null access", twoSides + "addi t0, t0, -1; li t1, 0x10000000; and t0, t0, t1; bad: lw t0, 0(t0)", emu.AccessFault, 2, "address 0x00000000: nothing below 0x40 may be accessed (null pointer?)"},
		{"beyond scratchpad, load", "li t0, 0xffff4000; lw t1, -4(t0); bad: lw t1, 0(t0)", emu.AccessFault, 0, "address 0xffff4000 is beyond the scratchpad of 16384 bytes at 0xffff0000"},
		{"beyond scratchpad, store", "li t0, 0xffff4000; sw t1, -4(t0); bad: sb t1, 0(t0)", emu.AccessFault, 0, "address 0xffff4000 is beyond the scratchpad of 16384 bytes at 0xffff0000"},
		{"beyond scratchpad, last word", "bad: lw t1, -4(zero)", emu.AccessFault, 0, "address 0xfffffffc is beyond the scratchpad of 16384 bytes at 0xffff0000"},
		{"beyond scratchpad, amo", "li t0, 0xffff8000; bad: amoor.w t1, t1, (t0)", emu.AccessFault, 0, "address 0xffff8000 is beyond the scratchpad of 16384 bytes at 0xffff0000"},

		{"branch", twoSides + "bad: bne t0, zero, bad", emu.DivergentBranch, -1, "of the active lanes 0xf, only 0xc take it; lanes part with split/join or pred, not with a branch"},
		{"branch, not taken by the last lane", twoSides + "bad: beq t0, zero, bad", emu.DivergentBranch, -1, "of the active lanes 0xf, only 0x3 take it; lanes part with split/join or pred, not with a branch"},
		{"indirect jump", twoSides + "la t1, bad; slli t0, t0, 2; add t1, t1, t0; bad: jalr zero, 0(t1)", emu.DivergentBranch, -1, "the lanes hold different targets; an indirect jump takes all lanes to one"},

		{"IPDOM overflow", twoSides + strings.Repeat(openSplit, 3) + "bad: split t1, t0", emu.StackFault, -1, "IPDOM stack overflow: 3 splits are open and the stack has 3 entries (threads-1)"},
		{"join without split", "li t0, 5; bad: join t0", emu.StackFault, -1, "join of depth 5 does not match: 0 splits are open, so it must be 0 or 0"},
		{"join of the outer split first", twoSides + openSplit + openSplit + "li t1, 0; bad: join t1", emu.StackFault, -1, "join of depth 0 does not match: 2 splits are open, so it must be 1 or 2"},
		{"join of a deeper split", twoSides + openSplit + "li t1, 2; bad: join t1", emu.StackFault, -1, "join of depth 2 does not match: 1 splits are open, so it must be 0 or 1"},

		{"barrier number", "li t0, 2; li t1, 2; bad: bar t0, t1", emu.BarrierMisuse, -1, "barrier 2 does not exist: a core of 4 warps has 2"},
		{"device barrier number", "li t0, 0x80000002; li t1, 2; bad: bar t0, t1", emu.BarrierMisuse, -1, "barrier 2 does not exist: a core of 4 warps has 2"},
		{"barrier for too many warps", "li t1, 5; bad: bar zero, t1", emu.BarrierMisuse, -1, "barrier 0 for 5 warps on a core of 4"},
		{"device barrier for too many cores", "li t0, 0x80000001; li t1, 3; bad: bar t0, t1", emu.BarrierMisuse, -1, "device barrier 1 for 3 cores on a device of 2"},
		{"wspawn", "li t0, 5; la t1, bad; bad: wspawn t0, t1", emu.BarrierMisuse, -1, "wspawn of 5 warps on a core of 4"},
		{"wspawn, as signed", "li t0, -1; la t1, bad; bad: wspawn t0, t1", emu.BarrierMisuse, -1, "wspawn of 4294967295 warps on a core of 4"},

		{"ecall", "bad: ecall", emu.EnvironmentCall, -1, "ecall: there is no operating system and no debugger; a program ends with `tmc zero`"},
		{"ebreak", "bad: ebreak", emu.EnvironmentCall, -1, "ebreak: there is no operating system and no debugger; a program ends with `tmc zero`"},
		{"no unit", "bad: weaver.dec.id t0", emu.MissingUnit, -1, "this machine has no weaver unit"},
		{"no unit of that name", "bad: peg.popv t0, t1", emu.MissingUnit, -1, "this machine has no peg unit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := load(t, shape(2, 4, 4), c.src+"\n"+stop)
			var trap *emu.Trap
			require.ErrorAs(t, m.Run(context.Background()), &trap)
			assert.Equal(t, c.cause, trap.Cause, trap)
			assert.Equal(t, c.lane, trap.Lane)
			assert.Equal(t, c.want, trap.Detail)
			assert.Zero(t, trap.Core)
			assert.Zero(t, trap.Warp)
			if strings.Contains(c.src, "bad:") && c.cause != emu.MisalignedFetch {
				assert.Equal(t, "bad+0x0", trap.Symbol)
			}
		})
	}
}

// wantTrap runs a program that must trap.
func wantTrap(t *testing.T, m *emu.Machine) *emu.Trap {
	t.Helper()
	var trap *emu.Trap
	require.ErrorAs(t, m.Run(context.Background()), &trap)
	return trap
}

func TestTrapSaysWhere(t *testing.T) {
	// Core 1, warp 2, lane 3 loads from 1.
	m := load(t, shape(2, 3, 4), allWarps+`
		li t0, 0x10000000
		csrrs t1, mhartid, zero
		addi t1, t1, -23 # (1·3 + 2)·4 + 3
		sltiu t1, t1, 1
		add t0, t0, t1
		load: addi zero, zero, 0
		lhu a0, 0(t0)
	`+stop)
	trap := wantTrap(t, m)
	assert.Equal(t, "misaligned access: address 0x10000001 is not a multiple of 2\n"+
		"  at pc 0x80000038 <load+0x4>: lhu a0, 0(t0)\n  core 1, warp 2, lane 3", trap.Error())

	m = load(t, shape(1, 1, 1), "ebreak")
	assert.Equal(t, "environment call: ebreak: there is no operating system and no debugger; a program ends with `tmc "+
		"zero`\n"+
		"  at pc 0x80000000: ebreak\n  core 0, warp 0", wantTrap(t, m).Error(), "no symbol, no lane")
}

func TestStaticRoundingModeNeedsNoFrm(t *testing.T) {
	run(t, shape(1, 1, 1), "csrrwi zero, frm, 6; fadd.s ft0, ft1, ft2, rtz; fmin.s ft0, ft1, ft2; "+stop)
}

func TestCSRReadThatDoesNotWrite(t *testing.T) {
	run(t, shape(1, 1, 1), "csrrs t0, mhartid, zero; csrrc t0, mcycle, zero; csrrsi t0, units, 0; "+
		"csrrci t0, vx_tid, 0; "+stop)
}

func TestBarrierCountMismatch(t *testing.T) {
	// The first says 2, the others 3.
	m := load(t, shape(1, 4, 2), allWarps+"csrrs t0, vx_wid, zero; sltu t0, zero, t0; addi t0, t0, 2; bar zero, t0;"+
		stop)
	trap := wantTrap(t, m)
	assert.Equal(t, emu.BarrierMisuse, trap.Cause)
	assert.Equal(t, "barrier 0 for 3 warps, but warps that wait there said 2", trap.Detail)
	assert.Equal(t, 1, trap.Warp)

	m = load(t, shape(3, 1, 2), "li t1, 0x80000000; csrrs t0, vx_cid, zero; sltu t0, zero, t0; addi t0, t0, 2; bar t1, "+
		"t0;"+stop)
	trap = wantTrap(t, m)
	assert.Equal(t, emu.BarrierMisuse, trap.Cause)
	assert.Equal(t, "device barrier 0 for 3 cores, but warps that wait there said 2", trap.Detail)
	assert.Equal(t, 1, trap.Core)
}

func TestInstructionLimit(t *testing.T) {
	cfg := shape(2, 2, 2)
	cfg.MaxInstrs, cfg.Quantum = 99, 7 // the last turn has one instruction left
	m := load(t, cfg, allWarps+"loop: jal zero, loop")
	var limit *emu.LimitError
	require.ErrorAs(t, m.Run(context.Background()), &limit)
	assert.Equal(t, uint64(99), limit.Limit)
	assert.EqualError(t, limit, "instruction limit reached: 99 warp instructions")
	assert.Equal(t, uint64(99), m.Stats().WarpInstrs, "exactly the limit has run")

	cfg = shape(1, 1, 1)
	cfg.MaxInstrs = 3
	run(t, cfg, "addi t0, t0, 1; addi t0, t0, 1;"+stop) // a program of exactly that length ends well
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	m := load(t, shape(1, 1, 1), "loop: jal zero, loop")
	assert.ErrorIs(t, m.Run(ctx), context.Canceled)
}

func TestDeadlockNamesEveryWaitingWarp(t *testing.T) {
	m := load(t, shape(2, 2, 2), allWarps+`
		csrrs t0, vx_cid, zero; slli t0, t0, 1; csrrs t1, vx_wid, zero; add t0, t0, t1
		li t2, 2; li t3, 1
		beq t0, zero, local; beq t0, t3, end; beq t0, t2, device
		again: wspawn t2, t5
		end: tmc zero
		local: bar zero, t2; tmc zero
		device: li t3, 0x80000000; bar t3, t2; tmc zero`)
	var d *emu.DeadlockError
	require.ErrorAs(t, m.Run(context.Background()), &d)
	assert.Equal(t, []string{
		"core 0 warp 0, next pc 0x80000054 <local+0x4>: at barrier 0: 1 of 2 warps have arrived",
		"core 1 warp 0, next pc 0x80000064 <device+0xc>: at device barrier 0 for 2 cores",
		"core 1 warp 1, next pc 0x8000004c <end+0x0>: wspawn waits until it is the only warp of its core; 1 others are left",
	}, d.Waiting)
	assert.EqualError(t, d, "no progress: every warp that is left waits\n  "+strings.Join(d.Waiting, "\n  "))
}

func TestWspawnWaitsUntilItIsTheOnlyWarp(t *testing.T) {
	for _, quantum := range []int{1, 3, 1000} {
		cfg := shape(1, 4, 2)
		cfg.Quantum = quantum
		m := run(t, cfg, `
			li a1, 0x10000000
			li t0, 3; la t1, first; wspawn t0, t1
			li t0, 4; la t1, second; wspawn t0, t1 # waits for the first
			lw a0, 4(a1); lw a2, 8(a1)
			tmc zero
			first:
			li a1, 0x10000000; li t1, 50
			loop: addi t1, t1, -1; bne t1, zero, loop
			csrrs t0, vx_wid, zero; slli t1, t0, 2; add t1, t1, a1; addi t0, t0, 10; sw t0, 0(t1)
			tmc zero
			second:
			li a1, 0x10000000
			csrrs t0, vx_wid, zero; slli t1, t0, 2; add t1, t1, a1; lw t2, 0(t1); addi t2, t2, 100; sw t2, 16(t1)
			tmc zero`)
		assert.Equal(t, []uint32{11, 12}, []uint32{m.Core(0).Warp(0).Reg(a0, 0), m.Core(0).Warp(0).Reg(a2, 0)},
			"what the first left")
		assert.Equal(t, []uint32{0, 111, 112, 100}, words(m, data+16, 4), "warps 1..3 of the second ran after it")
	}
}

// What a warp left open when it ended is gone when it is spawned again.
func TestSpawnedWarpStartsAfresh(t *testing.T) {
	m := run(t, shape(1, 2, 4), `
		addi t0, zero, 2; la t1, first; wspawn t0, t1; la t1, second; wspawn t0, t1; tmc zero
		first: `+allLanes+`
		csrrwi zero, fcsr, 31; csrrwi zero, frm, 1
		csrrs t0, vx_tid, zero; split t1, t0; tmc zero
		second: csrrs t2, vx_active_threads, zero; csrrs t3, fcsr, zero; split t4, zero`+"\n"+stop)
	for reg, want := range map[string]uint32{"t2": 1, "t3": 0, "t4": 0} {
		assert.Equal(t, want, m.Core(0).Warp(1).Reg(registers[reg], 0), reg)
	}
}

// A wspawn of one warp or none starts nothing, not even the caller again.
func TestWspawnOfNone(t *testing.T) {
	for n := range 2 {
		m := run(t, shape(1, 4, 2), fmt.Sprintf("li t0, %d; la t1, bad; wspawn t0, t1; addi a0, a0, 1; tmc zero; bad: ebreak",
			n))
		assert.Equal(t, uint32(1), m.Core(0).Warp(0).Reg(a0, 0))
		assert.Equal(t, uint64(7), m.Stats().WarpInstrs)
	}
}

// A barrier that fewer than two must reach lets everyone through, whatever its number.
func TestBarrierOfOnePasses(t *testing.T) {
	run(t, shape(1, 1, 1), "li t0, 77; li t1, 1; bar t0, t1; bar t0, zero; li t0, 0x80000005; bar t0, t1;"+stop)
}

// A core has arrived at a device barrier when all warps it still has are there:
// a warp that ends may be the one that opens it.
func TestDeviceBarrierOpensWhenAWarpEnds(t *testing.T) {
	cfg := shape(2, 2, 1)
	cfg.Quantum = 1
	m := run(t, cfg, allWarps+`
		li a1, 0x10000000; csrrs t0, vx_wid, zero; beq t0, zero, wait
		li t1, 60
		loop: addi t1, t1, -1; bne t1, zero, loop
		addi t0, zero, 1; amoadd.w zero, t0, (a1)
		tmc zero
		wait: li t0, 0x80000000; li t1, 2; bar t0, t1
		lw a0, 0(a1)
		tmc zero`)
	for c := range 2 {
		assert.Equal(t, uint32(2), m.Core(c).Warp(0).Reg(a0, 0), "core %d went on before both warps 1 had ended", c)
	}
}

// lrsc lets warp 0 reserve the word at data, warp 1 do something, and warp 0 try.
func lrsc(t *testing.T, reserve, between string) (result, word uint32) {
	t.Helper()
	m := run(t, shape(1, 2, 1), allWarps+`
		li a1, 0x10000000; addi t2, zero, 2; addi t3, zero, 77; csrrs t0, vx_wid, zero; bne t0, zero, other
		`+reserve+`
		bar zero, t2
		bar zero, t2
		sc.w a0, t3, (a1)
		tmc zero
		other: bar zero, t2
		`+between+`
		bar zero, t2
		tmc zero`)
	return m.Core(0).Warp(0).Reg(a0, 0), m.Mem.Load32(data)
}

func TestLoadReservedStoreConditional(t *testing.T) {
	const lr = "lr.w a2, (a1)"
	for _, c := range []struct {
		name             string
		reserve, between string
		fails            bool
		word             uint32 // in memory afterwards
	}{
		{"undisturbed", lr, "", false, 77},
		{"without a reservation", "", "", true, 0},
		{"own store between", lr + "; sw t3, 0(a1)", "", false, 77},
		{"other's load", lr, "lw t4, 0(a1)", false, 77},
		{"other's store", lr, "sw t2, 0(a1)", true, 2},
		{"other's store of the same value", lr, "sw zero, 0(a1)", true, 0},
		{"other's store of a byte", lr, "sb t2, 3(a1)", true, 2 << 24},
		{"other's store of a half", lr, "sh t2, 2(a1)", true, 2 << 16},
		{"other's store to the next word", lr, "sw t2, 4(a1)", false, 77},
		{"other's amo", lr, "amoadd.w t4, t2, (a1)", true, 2},
		{"other's float amo", lr, "amofadd.w t4, t2, (a1)", true, 2},
		{"other's amocas that stores", lr, "amocas.w zero, t2, (a1)", true, 2},
		{"other's amocas that does not", lr, "addi t4, zero, 3; amocas.w t4, t2, (a1)", false, 77},
		{"other's reservation", lr, "lr.w t4, (a1)", false, 77},
		{"other's successful sc", lr, "lr.w t4, (a1); sc.w t4, t2, (a1)", true, 2},
		{"other's failing sc", lr, "sc.w t4, t2, (a1)", false, 77},
		{"reservation of another word", "addi t4, a1, 4; lr.w a2, (t4)", "", true, 0},
		{"only the last reservation counts", lr + "; addi t4, a1, 4; lr.w a2, (t4)", "", true, 0},
		{"reserved twice", "addi t4, a1, 4; lr.w a2, (t4); " + lr, "", false, 77},
		{"an sc elsewhere ends it", lr + "; addi t4, a1, 4; sc.w a2, t3, (t4)", "", true, 0},
		{"an sc here ends it", lr + "; sc.w a2, t2, (a1)", "", true, 2},
	} {
		result, word := lrsc(t, c.reserve, c.between)
		assert.Equal(t, map[bool]uint32{false: 0, true: 1}[c.fails], result, c.name)
		assert.Equal(t, c.word, word, c.name)
	}
}

func TestReservationsOfLanes(t *testing.T) {
	own := run(t, shape(1, 1, 4), allLanes+"li a1, 0x10000000; csrrs t0, vx_tid, zero; slli t1, t0, 2; add a1, a1, t1; "+
		"lr.w t2, (a1); sc.w a0, t0, (a1);"+stop)
	assert.Equal(t, []uint32{0, 0, 0, 0}, lanes(own, a0, 4), "each lane has its own reservation")
	assert.Equal(t, []uint32{0, 1, 2, 3}, words(own, data, 4))

	shared := run(t, shape(1, 1, 4), allLanes+
		"li a1, 0x10000000; csrrs t0, vx_tid, zero; lr.w t2, (a1); addi t0, t0, 5; sc.w a0, t0, (a1);"+stop)
	assert.Equal(t, []uint32{0, 1, 1, 1}, lanes(shared, a0, 4), "the first lane's sc breaks the others'")
	assert.Equal(t, uint32(5), shared.Mem.Load32(data))
}

// One scratchpad address is a different word on every core.
func TestReservationInScratchpad(t *testing.T) {
	cfg := shape(2, 1, 1)
	cfg.Quantum = 1 // the cores run in step: core 1's store falls between core 0's lr and sc
	m := run(t, cfg, `
		li a1, 0xffff0000; csrrs t0, vx_cid, zero; addi t1, t0, 7
		bne t0, zero, store
		lr.w t2, (a1)
		addi t2, zero, 0; addi t2, zero, 0
		sc.w a0, t1, (a1); tmc zero
		store: addi t2, zero, 0
		sw t1, 0(a1)
		tmc zero`)
	assert.Zero(t, m.Core(0).Warp(0).Reg(a0, 0), "sc")
	assert.Equal(t, byte(7), m.Core(0).Scratchpad()[0])
	assert.Equal(t, byte(8), m.Core(1).Scratchpad()[0])
}

func TestLaunchForgetsReservations(t *testing.T) {
	m := run(t, shape(1, 1, 1), "li a1, 0x10000000; bne a2, zero, second; addi a2, zero, 1; lr.w t0, (a1); tmc zero; "+
		"second: sc.w a0, a2, (a1);"+stop)
	m.Launch(emu.CodeBase)
	require.NoError(t, m.Run(context.Background()))
	assert.Equal(t, uint32(1), m.Core(0).Warp(0).Reg(a0, 0))
}

// Lanes of one warp perform their atomics in order of their number, on one word.
func TestAtomicsOfOneWarp(t *testing.T) {
	m := run(t, shape(1, 1, 4), allLanes+`
		li a1, 0x10000000; csrrs t0, vx_tid, zero; addi t0, t0, 1
		amoadd.w a0, t0, (a1)`+"\n"+stop)
	assert.Equal(t, []uint32{0, 1, 3, 6}, lanes(m, a0, 4))
	assert.Equal(t, uint32(10), m.Mem.Load32(data))

	// Each lane swaps its number in if it finds its predecessor's.
	m = run(t, shape(1, 1, 4), allLanes+`
		li a1, 0x10000000; csrrs a0, vx_tid, zero; addi t0, a0, 1
		amocas.w a0, t0, (a1)`+"\n"+stop)
	assert.Equal(t, []uint32{0, 1, 2, 3}, lanes(m, a0, 4))
	assert.Equal(t, uint32(4), m.Mem.Load32(data))
}

// amofadd.w rounds to nearest whatever the value of frm, and raises no flags.
func TestFloatAtomicIgnoresFcsr(t *testing.T) {
	m := run(t, shape(1, 1, 1), `
		csrrwi zero, frm, 3
		li a1, 0x10000000; li t0, 0x3f800000; sw t0, 0(a1)
		li t1, 0x33000000 # 2^-25: rounds away to nearest, up to 1+2^-23 in mode rup
		amofadd.w a0, t1, (a1)
		csrrs a2, fcsr, zero`+"\n"+stop)
	assert.Equal(t, uint32(0x3F800000), m.Mem.Load32(data))
	assert.Equal(t, uint32(3<<5), m.Core(0).Warp(0).Reg(a2, 0))
}

func TestScratchpadIsPerCore(t *testing.T) {
	cfg := shape(3, 2, 2)
	cfg.ScratchpadBytes = 64
	m := run(t, cfg, allWarps+`
		li a1, 0xffff0000; csrrs t0, mhartid, zero
		csrrs t1, vx_wid, zero; slli t1, t1, 1; csrrs t2, vx_tid, zero; add t1, t1, t2; slli t1, t1, 2; add a1, a1, t1
		addi t0, t0, 1; sw t0, 0(a1); lw a0, 0(a1)`+"\n"+stop)
	for c := range 3 {
		s := m.Core(c).Scratchpad()
		require.Len(t, s, 64)
		for i := range 4 {
			assert.Equal(t, uint32(c*4+i+1), binary.LittleEndian.Uint32(s[4*i:]), "core %d word %d", c, i)
			assert.Equal(t, uint32(c*4+i+1), m.Core(c).Warp(i/2).Reg(a0, i%2))
		}
	}
	assert.Zero(t, m.Mem.Load32(scratch), "and not in memory")
}

// Loads of each size from the scratchpad, which has its own code for them.
func TestScratchpadSizes(t *testing.T) {
	m := run(t, shape(1, 1, 1), `
		li a1, 0xffff0000; li t0, 0x8182f3f4; sw t0, 4(a1)
		lb a0, 4(a1); lhu a2, 6(a1); lh a3, 4(a1); lbu a4, 7(a1)
		sb t0, 8(a1); sh t0, 10(a1); lw a5, 8(a1)`+"\n"+stop)
	for reg, want := range map[string]uint32{"a0": 0xFFFFFFF4, "a2": 0x8182, "a3": 0xFFFFF3F4, "a4": 0x81,
		"a5": 0xF3F400F4} {
		assert.Equal(t, want, m.Core(0).Warp(0).Reg(registers[reg], 0), reg)
	}
}

func TestSelfModifyingCode(t *testing.T) {
	m := run(t, shape(1, 1, 1), `
		la a1, target
		la t2, other; lw t2, 0(t2)
		target: addi a0, a0, 1 # becomes addi a0, a0, 16 after its first run
		bne t1, zero, end
		addi t1, zero, 1
		sw t2, 0(a1)
		fence.i
		jal zero, target
		end: tmc zero
		other: addi a0, a0, 16`)
	assert.Equal(t, uint32(17), m.Core(0).Warp(0).Reg(a0, 0))
}

// One warp changes what another has executed; single bytes change too.
func TestCodeModifiedByAnotherWarp(t *testing.T) {
	m := run(t, shape(1, 2, 1), allWarps+`
		la a1, target; addi t2, zero, 2; addi t4, zero, 0x20; csrrs t0, vx_wid, zero
		target: addi a0, a0, 1
		bne t1, zero, end
		addi t1, zero, 1
		bar zero, t2
		beq t0, zero, over
		sb t4, 3(a1) # imm = 0x201
		over: bar zero, t2
		fence.i
		jal zero, target
		end: tmc zero`)
	for w := range 2 {
		assert.Equal(t, uint32(0x202), m.Core(0).Warp(w).Reg(a0, 0), "warp %d", w)
	}
}

func TestConsoleLinesDoNotMix(t *testing.T) {
	var out []string
	cfg := shape(2, 2, 2)
	cfg.Quantum = 1
	cfg.Out = func(line []byte) { out = append(out, string(line)) }
	m := run(t, cfg, allWarps+`
		csrrs a0, mhartid, zero; addi a2, zero, 3
		loop:
		addi t0, a0, 0x61; sb t0, 0x40(a0); sb t0, 0x40(a0); sb t0, 0x40(a0)
		addi t0, zero, 10; sb t0, 0x40(a0)
		addi a2, a2, -1; bne a2, zero, loop
		addi t0, zero, 0x2e; sb t0, 0x40(a0) # an open line at the end`+"\n"+stop)
	count := map[string]int{}
	for _, line := range out {
		count[line]++
	}
	want := map[string]int{".": 8}
	for h := range 8 {
		want[strings.Repeat(string(rune('a'+h)), 3)+"\n"] = 3
	}
	assert.Equal(t, want, count)
	assert.Equal(t, strings.Join(out, ""), string(m.Console()))
	assert.False(t, m.ConsoleTruncated())
}

// Only byte stores to 0x40..0x7f are output.
func TestConsoleRange(t *testing.T) {
	m := run(t, shape(1, 1, 1), "li t0, 0x41; sb t0, 0x7f(zero); sw t0, 0x44(zero); sh t0, 0x48(zero); sb t0, "+
		"0x80(zero); sb t0, 0x40(zero);"+stop)
	assert.Equal(t, "AA", string(m.Console()))
	assert.Equal(t, uint32(0x41), m.Mem.Load32(0x44), "the rest of the region is memory")
}

func TestExitCode(t *testing.T) {
	_, ok := run(t, shape(1, 1, 1), stop).ExitCode()
	assert.False(t, ok, "nothing stored")

	m := run(t, shape(1, 1, 1), "bne a2, zero, second; addi a2, zero, 1; addi t0, zero, 42; sw t0, 0x88(zero); fence "+
		"0xff; second: "+stop)
	code, ok := m.ExitCode()
	assert.True(t, ok)
	assert.Equal(t, uint32(42), code)
	m.Launch(emu.CodeBase)
	require.NoError(t, m.Run(context.Background()))
	_, ok = m.ExitCode()
	assert.False(t, ok, "a launch forgets it")
}

func TestLoadZeroesTheTail(t *testing.T) {
	m, err := emu.New(shape(1, 1, 1))
	require.NoError(t, err)
	const base, size = data + 0xFFC, 0x2008 // over three pages, one of which does not exist
	for a := uint32(base - 4); a <= base+size; a += 4 {
		if a>>12 != base>>12+1 {
			m.Mem.Store32(a, 0xAAAAAAAA)
		}
	}
	m.Load(&isa.Program{Entry: emu.CodeBase, Segments: []isa.Segment{{Addr: base, Data: []byte{1, 2, 3, 4},
		Size: size}}})
	assert.Equal(t, []uint32{0xAAAAAAAA, 0x04030201, 0}, words(m, base-4, 3))
	assert.Equal(t, []uint32{0, 0xAAAAAAAA}, words(m, base+size-4, 2))
}

func TestConfigIsChecked(t *testing.T) {
	for _, c := range []struct {
		cfg  emu.Config
		want string
	}{
		{shape(0, 1, 1), "cores = 0: expected 1..1024"},
		{shape(1, 65, 1), "warps = 65: expected 1..64"},
		{shape(1, 1, 33), "threads = 33: expected 1..32"},
		{emu.Config{Cores: 1, Warps: 1, Threads: 1, ScratchpadBytes: 6}, "scratchpad bytes = 6: expected a multiple of 4"},
		{emu.Config{Cores: 1, Warps: 1, Threads: 1, Quantum: -1}, "quantum = -1"},
	} {
		_, err := emu.New(c.cfg)
		assert.ErrorContains(t, err, c.want)
	}
}

// fakeUnit is a graph unit that records its requests.
type fakeUnit struct {
	name     string
	presence uint32
	csrs     map[uint16]uint32
	launches int
	requests []emu.UnitRequest
	answer   func(*emu.UnitRequest) error
}

func (u *fakeUnit) Name() string     { return u.name }
func (u *fakeUnit) Launch()          { u.launches++ }
func (u *fakeUnit) Presence() uint32 { return u.presence }

func (u *fakeUnit) CSR(num uint16) (uint32, bool) {
	v, ok := u.csrs[num]
	return v, ok
}

func (u *fakeUnit) Exec(r *emu.UnitRequest) error {
	copied := *r
	copied.A, copied.B, copied.C = append([]uint32{}, r.A...), append([]uint32{}, r.B...), append([]uint32{}, r.C...)
	u.requests = append(u.requests, copied)
	if u.answer == nil {
		return nil
	}
	return u.answer(r)
}

// withUnits gives every core the same units.
func withUnits(cfg emu.Config, list ...*fakeUnit) emu.Config {
	cfg.Units = func(core int) []emu.Unit {
		var units []emu.Unit
		for _, u := range list {
			units = append(units, u)
		}
		return units
	}
	return cfg
}

func TestUnitErrorTraps(t *testing.T) {
	u := &fakeUnit{name: "peg", answer: func(*emu.UnitRequest) error { return fmt.Errorf("list 9 does not exist") }}
	trap := wantTrap(t, load(t, withUnits(shape(1, 1, 1), u), "peg.popv t0, t1"))
	assert.Equal(t, emu.UnitError, trap.Cause)
	assert.Equal(t, "list 9 does not exist", trap.Detail)
	assert.Equal(t, "peg.popv t0, t1", trap.Inst)
	assert.Equal(t, 1, u.launches)
}

func TestUnitRetries(t *testing.T) {
	left := 3
	u := &fakeUnit{name: "hwwl", answer: func(r *emu.UnitRequest) error {
		if r.Warp == 0 && left > 0 {
			left--
			r.Retry, r.Out[0] = true, 99
			return nil
		}
		r.Out[0] = 7
		return nil
	}}
	cfg := withUnits(shape(1, 2, 1), u)
	cfg.Quantum = 2
	m := run(t, cfg, allWarps+`
		csrrs t0, vx_wid, zero; bne t0, zero, busy
		hwwl.pop a0
		tmc zero
		busy: addi t0, t0, 1; slti t1, t0, 40; bne t1, zero, busy
		tmc zero`)
	assert.Equal(t, uint32(7), m.Core(0).Warp(0).Reg(a0, 0))
	assert.Len(t, u.requests, 4)
	assert.Equal(t, uint64(1), m.Stats().ByClass[isa.ClassUnit], "an unanswered request is not an executed instruction")
}

func TestUnitWithoutAnswerIsADeadlock(t *testing.T) {
	u := &fakeUnit{name: "hwwl", answer: func(r *emu.UnitRequest) error { r.Retry = true; return nil }}
	m := load(t, withUnits(shape(1, 1, 1), u), "pop: hwwl.pop a0;"+stop)
	assert.EqualError(t, m.Run(context.Background()),
		"no progress: every warp that is left waits\n  core 0 warp 0, next pc 0x80000000 <pop+0x0>: its graph unit has no "+
			"answer")
}

func TestUnitChangesTheMask(t *testing.T) {
	u := &fakeUnit{name: "eghw", answer: func(r *emu.UnitRequest) error {
		r.NewMask = r.Mask & 0b0110
		if len(r.Out) > 0 {
			for l := range r.Out {
				r.Out[l] = uint32(l + 1)
			}
		}
		return nil
	}}
	m := run(t, withUnits(shape(1, 1, 4), u), allLanes+"eghw.pop a0; addi a0, a0, 100;"+stop)
	assert.Equal(t, []uint32{1, 102, 103, 4}, lanes(m, a0, 4), "rd is written under the old mask")

	u.answer = func(r *emu.UnitRequest) error { r.NewMask = 0; return nil }
	m = run(t, withUnits(shape(1, 1, 4), u), allLanes+"eghw.pop a0; ebreak")
	assert.Equal(t, uint64(4), m.Stats().WarpInstrs, "no lane left: the warp has ended")
}

// Every CSR, read by every lane of a machine while all warps run.
func TestEveryCSRReads(t *testing.T) {
	const cores, warps, threads = 2, 3, 5
	want := map[string]func(c, w, l int) uint32{
		"fflags":            func(c, w, l int) uint32 { return 0b00001 },
		"frm":               func(c, w, l int) uint32 { return 2 },
		"fcsr":              func(c, w, l int) uint32 { return 2<<5 | 1 },
		"mscratch":          func(c, w, l int) uint32 { return 0x12345678 },
		"weaver_capacity":   func(c, w, l int) uint32 { return 15 },
		"units":             func(c, w, l int) uint32 { return isa.HasWeaver | isa.HasEGHW },
		"mcycleh":           func(c, w, l int) uint32 { return 0 },
		"minstreth":         func(c, w, l int) uint32 { return 0 },
		"vx_tid":            func(c, w, l int) uint32 { return uint32(l) },
		"vx_wid":            func(c, w, l int) uint32 { return uint32(w) },
		"vx_cid":            func(c, w, l int) uint32 { return uint32(c) },
		"vx_active_warps":   func(c, w, l int) uint32 { return 0b111 },
		"vx_active_threads": func(c, w, l int) uint32 { return 0b11111 },
		"mhartid":           func(c, w, l int) uint32 { return uint32((c*warps+w)*threads + l) },
		"vx_num_threads":    func(c, w, l int) uint32 { return threads },
		"vx_num_warps":      func(c, w, l int) uint32 { return warps },
		"vx_num_cores":      func(c, w, l int) uint32 { return cores },
		"vx_local_mem_base": func(c, w, l int) uint32 { return 0xFFFF0000 },
		"mstatus":           func(c, w, l int) uint32 { return 1<<31 | 3<<13 | 3<<11 },
		"misa":              func(c, w, l int) uint32 { return 1<<30 | 1<<23 | 1<<12 | 1<<8 | 1<<5 | 1 },
	}
	zero := func(c, w, l int) uint32 { return 0 }
	for _, name := range strings.Fields(`mtvec mepc mcause mtval mie mip medeleg mideleg satp pmpcfg0 pmpaddr0 mnstatus mvendorid marchid mimpid
		vx_mpm_reserved vx_mpm_reservedh cycleh instreth`) {
		want[name] = zero
	}
	for i := 3; i < 32; i++ {
		want[fmt.Sprintf("mhpmcounter%d", i)], want[fmt.Sprintf("mhpmcounter%dh", i)] = zero, zero
	}
	// The counters: instructions that the core had executed before the read.
	var executed [cores]uint32
	var before [cores][warps]uint32
	count := func(c, w, l int) uint32 { return before[c][w] }
	want["mcycle"], want["minstret"], want["cycle"], want["instret"] = count, count, count, count

	for _, info := range isa.CSRs {
		executed, before = [cores]uint32{}, [cores][warps]uint32{}
		cfg := withUnits(shape(cores, warps, threads),
			&fakeUnit{name: "weaver", presence: isa.HasWeaver, csrs: map[uint16]uint32{isa.CSRWeaverCapacity: 15}},
			&fakeUnit{name: "eghw", presence: isa.HasEGHW})
		cfg.Arg, cfg.Quantum = 0x12345678, 7
		cfg.Trace = func(s *emu.Step) {
			if s.Inst.Name == "csrrs" && s.Inst.Rd == a0 {
				before[s.Core][s.Warp] = executed[s.Core]
			}
			executed[s.Core]++
		}
		// Barriers, so that every warp is there when any reads. 1 + 2^-25 is inexact.
		m := run(t, cfg, allWarps+`
			li t0, 0x3f800000; fmv.w.x ft0, t0; li t0, 0x33000000; fmv.w.x ft1, t0; fadd.s ft0, ft0, ft1, rne
			csrrwi zero, frm, 2
			addi t2, zero, 3; bar zero, t2
			csrrs a0, `+info.Name+`, zero
			bar zero, t2`+"\n"+stop)
		require.Contains(t, want, info.Name)
		for c := range cores {
			for w := range warps {
				for l := range threads {
					assert.Equal(t, want[info.Name](c, w, l), m.Core(c).Warp(w).Reg(a0, l),
						"%s: core %d warp %d lane %d", info.Name, c, w, l)
				}
			}
		}
	}
}

func TestUnitCSRsWithoutUnits(t *testing.T) {
	m := run(t, shape(1, 1, 1), "addi a0, zero, 9; addi a2, zero, 9; csrrs a0, units, zero; csrrs a2, weaver_capacity, "+
		"zero;"+stop)
	assert.Zero(t, m.Core(0).Warp(0).Reg(a0, 0))
	assert.Zero(t, m.Core(0).Warp(0).Reg(a2, 0))
}

func TestFcsrAliasesFrmAndFflags(t *testing.T) {
	for _, c := range []struct {
		src  string
		want uint32 // fcsr afterwards
	}{
		{"csrrwi zero, frm, 3", 0x60},
		{"csrrwi zero, fflags, 21", 0x15},
		{"csrrwi zero, frm, 15", 0xE0},              // three bits
		{"li t0, -1; csrrw zero, fflags, t0", 0x1F}, // five bits
		{"li t0, -1; csrrw zero, fcsr, t0", 0xFF},   // eight bits
		{"li t0, 0x5a; csrrw zero, fcsr, t0; csrrwi zero, frm, 1", 0x3A},
		{"li t0, 0x5a; csrrw zero, fcsr, t0; csrrci zero, fflags, 2", 0x58},
		{"li t0, 0x5a; csrrw zero, fcsr, t0; csrrsi zero, fcsr, 5", 0x5F},
		{"li t0, 0x5a; csrrw zero, fcsr, t0; csrrc zero, fcsr, t0", 0},
		{"csrrwi zero, frm, 3; fdiv.s ft0, ft1, ft2", 0x70}, // 0/0: invalid
	} {
		m := run(t, shape(1, 1, 1), c.src+"; csrrs a0, fcsr, zero; csrrs a1, frm, zero; csrrs a2, fflags, zero;"+stop)
		w := m.Core(0).Warp(0)
		assert.Equal(t, c.want, w.Reg(a0, 0), c.src)
		assert.Equal(t, c.want>>5, w.Reg(a1, 0), c.src)
		assert.Equal(t, c.want&31, w.Reg(a2, 0), c.src)
		assert.Equal(t, c.want, w.Fcsr())
	}
}

// The old value goes to rd even when rd is the source; scalars of a write come
// from the last active lane; fcsr is the warp's.
func TestCSRWriteTakesTheLastLane(t *testing.T) {
	m := run(t, shape(1, 2, 4), allWarps+`
		csrrs t0, vx_tid, zero; csrrs t1, vx_wid, zero; slli t1, t1, 3; add a0, t0, t1
		csrrw a0, fflags, a0
		csrrs a2, fflags, zero`+"\n"+stop)
	for w := range 2 {
		for l := range 4 {
			assert.Equal(t, uint32(0), m.Core(0).Warp(w).Reg(a0, l), "old value")
			assert.Equal(t, uint32(w*8+3), m.Core(0).Warp(w).Reg(a2, l), "warp %d", w)
		}
	}
}

func TestMscratchIsPerCore(t *testing.T) {
	cfg := shape(2, 1, 1)
	cfg.Arg = 100
	m := run(t, cfg, "csrrs t0, vx_cid, zero; addi t0, t0, 5; csrrw a0, mscratch, t0; csrrs a2, mscratch, zero;"+stop)
	for c := range 2 {
		assert.Equal(t, uint32(100), m.Core(c).Warp(0).Reg(a0, 0))
		assert.Equal(t, uint32(5+c), m.Core(c).Warp(0).Reg(a2, 0))
	}
}

// Flags of all active lanes are ORed; those of inactive lanes are not raised.
func TestFflagsOfLanes(t *testing.T) {
	for mask, want := range map[int]uint32{1: 0, 2: 8, 4: 16, 7: 24} {
		m := run(t, shape(1, 1, 3), allLanes+fmt.Sprintf(`
			csrrs t0, vx_tid, zero; addi t1, zero, 2; sltu t1, t0, t1 # dividend 1 1 0
			sltiu t0, t0, 1                                             # divisor  1 0 0
			fcvt.s.wu ft1, t1; fcvt.s.wu ft0, t0
			addi t2, zero, %d; tmc t2; fdiv.s ft2, ft1, ft0; tmc t6
			csrrs a0, fflags, zero; tmc zero`, mask))
		assert.Equal(t, want, m.Core(0).Warp(0).Reg(a0, 0), "mask %b", mask)
	}
}

// Whatever writes x0, it stays zero, and reads as zero right after.
func TestX0IsNeverWritten(t *testing.T) {
	u := &fakeUnit{name: "weaver", answer: func(r *emu.UnitRequest) error {
		for l := range r.Out {
			r.Out[l] = 0xDEAD
		}
		return nil
	}}
	writers := []string{
		"addi zero, zero, 5", "add zero, t0, t0", "lui zero, 5", "auipc zero, 5", "mul zero, t0, t0", "div zero, t0, zero",
		"jal zero, %s", "lw zero, 0(a1)", "lb zero, 0(a1)",
		"amoadd.w zero, t0, (a1)", "amocas.w zero, t0, (a1)", "lr.w zero, (a1)", "sc.w zero, t0, (a1)", "amofadd.w zero, t0, (a1)",
		"csrrs zero, vx_num_threads, zero", "csrrs zero, mhartid, zero", "csrrw zero, mscratch, t0", "csrrwi zero, mscratch, 9",
		"feq.s zero, ft0, ft0", "fcvt.w.s zero, ft1", "fmv.x.w zero, ft1", "fclass.s zero, ft0",
		"vote.any zero, t0", "vote.ballot zero, t0", "shfl.up zero, t0, zero", "shfl.idx zero, t0, t0",
		"split zero, zero", "weaver.dec.id zero", "jalr zero, 0(t3)",
	}
	src := allLanes + "li a1, 0x10000000; addi t0, zero, 7; sw t0, 0(a1); li t1, 0x41200000; fmv.w.x ft1, t1; li a0, 0\n"
	for i, w := range writers {
		next := fmt.Sprintf("next%d", i)
		src += "la t3, " + next + "\n" + strings.ReplaceAll(w, "%s", next) + "\n" + next + ": or a0, a0, zero\n"
	}
	m := run(t, withUnits(shape(1, 1, 4), u), src+stop)
	assert.Equal(t, []uint32{0, 0, 0, 0}, lanes(m, a0, 4))
	assert.Equal(t, []uint32{0, 0, 0, 0}, lanes(m, 0, 4))

	// A divergent split returns its depth, 0 at first and 1 inside.
	m = run(t, shape(1, 1, 4), allLanes+"csrrs t0, vx_tid, zero; split t1, t0; srli t2, t0, 1; split zero, t2; or a0, "+
		"a0, zero; addi t3, zero, 1; join t3; join t1;"+stop)
	assert.Equal(t, []uint32{0, 0, 0, 0}, lanes(m, a0, 4))
	m.Core(0).Warp(0).SetReg(0, 0, 5)
	assert.Zero(t, m.Core(0).Warp(0).Reg(0, 0), "not even from outside")
}

// busy uses every class of instruction that needs no unit, with divergence,
// several warps that end at different times, and barriers.
const busy = allWarps + `
	li a1, 0x10000000; csrrs a2, mhartid, zero; slli t0, a2, 2; add a3, a1, t0
	andi t0, a2, 1
	split t1, t0
	beq t0, zero, even
	mul a4, a2, a2; addi a5, zero, 3; div a4, a4, a5
	jal zero, joined
	even: sw a2, 256(a3); lw a4, 256(a3); addi a4, a4, 9
	joined: join t1
	vote.ballot a5, t0; fcvt.s.w ft0, a4; fadd.s ft1, ft0, ft0; fdiv.s ft2, ft0, ft1; fsqrt.s ft3, ft1; fmin.s ft4, ft2, ft3
	amoadd.w a6, a4, (a1); fence 0xff
	csrrs t2, vx_active_threads, zero
	andi t3, a2, 3
	loop: addi t3, t3, -1; slt t4, zero, t3; add a7, a7, t3; pred t4, t2
	vote.any t5, t4; bne t5, zero, loop
	csrrs t5, vx_num_warps, zero; bar zero, t5
	addi t5, zero, 1; shfl.down a7, a7, t5
	fsw ft4, 512(a3); sw a7, 1024(a3)
` + stop

func TestStatsAddUp(t *testing.T) {
	for _, cfg := range []emu.Config{shape(1, 1, 1), shape(1, 4, 4), shape(3, 2, 5), shape(2, 3, 32)} {
		var seen emu.Stats
		cfg.Quantum = 5
		cfg.Trace = func(s *emu.Step) {
			seen.WarpInstrs++
			seen.ThreadInstrs += uint64(bits.OnesCount32(s.Mask))
			seen.ByClass[s.Inst.Class]++
			seen.LanesByClass[s.Inst.Class] += uint64(bits.OnesCount32(s.Mask))
			if s.Inst.Name == "bar" && cfg.Warps > 1 {
				seen.Barriers++
			}
			switch lanes := uint64(bits.OnesCount32(s.Mask)); {
			case s.Inst.Class == isa.ClassAtomic:
				seen.Atomics += lanes
			case strings.HasPrefix(s.Inst.Name, "shfl."):
				seen.Shuffles += lanes
			}
		}
		m := run(t, cfg, busy)
		got, sum := m.Stats(), uint64(0)
		for class, n := range got.ByClass {
			sum += n
			if c := isa.Class(class); c != isa.ClassUnit && cfg.Threads > 1 { // a lone hart takes one side
				assert.NotZero(t, n, "the program has no %s", c)
			}
		}
		assert.Equal(t, got.WarpInstrs, sum)
		assert.Equal(t, seen, got)
	}
}

// Trace must tell one story: each step of a warp starts where and with the
// lanes that its last one ended.
func TestTraceIsContinuous(t *testing.T) {
	type warp struct{ core, warp int }
	type place struct{ pc, mask uint32 }
	next := map[warp]place{}
	cfg := shape(2, 4, 6)
	cfg.Quantum = 3
	cfg.Trace = func(s *emu.Step) {
		at, started := next[warp{s.Core, s.Warp}]
		if started {
			assert.Equal(t, at, place{s.PC, s.Mask})
		} else {
			assert.Equal(t, uint32(1), s.Mask, "a warp starts with lane 0")
		}
		next[warp{s.Core, s.Warp}] = place{s.NextPC, s.NextMask}
		switch s.Inst.Class {
		case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
			assert.Len(t, s.Addrs, 6)
		default:
			assert.Nil(t, s.Addrs)
		}
	}
	run(t, cfg, busy)
	assert.Len(t, next, 8)
	for w, p := range next {
		assert.Zero(t, p.mask, "warp %v has ended", w)
	}
}

func TestTraceChangesNothing(t *testing.T) {
	for _, cfg := range []emu.Config{shape(1, 2, 4), shape(2, 3, 7)} {
		quiet := run(t, cfg, busy)
		cfg.Trace = func(*emu.Step) {}
		traced := run(t, cfg, busy)
		assert.Equal(t, quiet.Stats(), traced.Stats())
		assert.Equal(t, words(quiet, data, 512), words(traced, data, 512))
		for c := range cfg.Cores {
			for w := range cfg.Warps {
				for l := range cfg.Threads {
					for r := range isa.Reg(isa.NumRegs) {
						require.Equal(t, quiet.Core(c).Warp(w).Reg(r, l), traced.Core(c).Warp(w).Reg(r, l))
					}
				}
			}
		}
	}
}
