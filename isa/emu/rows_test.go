package emu_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
)

// rowCase is one line of the table of all instructions: registers and memory
// before, the code, registers and memory after. A register has one value for
// all four lanes, or one per lane: "a1=1,2,3,4". m0, m4, … are words of memory
// from address data on, where a0 points unless it is given.
type rowCase struct{ row, before, code, after string }

// Expected values are written out, not computed: from the RISC-V manual's
// definitions and, for floats, from the definition of the format.
var rowCases = []rowCase{
	// RV32I
	{"lui", "", "lui a1, 0x12345", "a1=0x12345000"},
	{"lui", "", "lui a1, 0xfffff", "a1=0xfffff000"},
	{"auipc", "", "auipc a1, 1", "a1=0x8000100c"}, // the code is at 0x8000000c
	{"auipc", "", "auipc a1, 0x80000", "a1=0x0000000c"},
	{"jal", "", "jal a1, over; addi a2, zero, 1; over: addi a3, zero, 1", "a1=0x80000010 a2=0 a3=1"},
	{"mret", "a1=5", "la t0, there; csrrw zero, mepc, t0; mret; addi a1, a1, 1; there: addi a1, a1, 2", "a1=7"},
	// bit 0 is cleared
	{"jalr", "a1=0x80000015", "jalr a1, 0(a1); addi a2, zero, 1; addi a3, zero, 1", "a1=0x80000010 a2=0 a3=1"},
	{"jalr", "a1=0x80000018", "jalr a4, -4(a1); addi a2, zero, 1; addi a3, zero, 1", "a4=0x80000010 a2=0 a3=1"},

	{"beq", "a1=7 a2=7", "beq a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"beq", "a1=7 a2=8", "beq a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"bne", "a1=7 a2=8", "bne a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"bne", "a1=7 a2=7", "bne a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"blt", "a1=-1 a2=1", "blt a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"blt", "a1=1 a2=1", "blt a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"blt", "a1=1 a2=-1", "blt a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"bge", "a1=1 a2=-1", "bge a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"bge", "a1=1 a2=1", "bge a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"bge", "a1=-1 a2=1", "bge a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"bltu", "a1=1 a2=-1", "bltu a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"bltu", "a1=-1 a2=1", "bltu a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"bgeu", "a1=-1 a2=1", "bgeu a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=0 a4=1"},
	{"bgeu", "a1=1 a2=-1", "bgeu a1, a2, over; addi a3, zero, 1; over: addi a4, zero, 1", "a3=1 a4=1"},
	{"bne", "a1=3", "back: addi a1, a1, -1; addi a2, a2, 1; bne a1, zero, back", "a1=0 a2=3"},

	{"lb", "m0=0x807f55aa", "lb a1, 0(a0); lb a2, 3(a0)", "a1=0xffffffaa a2=0xffffff80"},
	{"lb", "m0=0x807f55aa", "lb a1, 1(a0); lb a2, 2(a0)", "a1=0x55 a2=0x7f"},
	{"lh", "m0=0x807f55aa", "lh a1, 0(a0); lh a2, 2(a0)", "a1=0x55aa a2=0xffff807f"},
	{"lw", "m0=1 m4=2", "lw a1, 0(a0); lw a2, 4(a0)", "a1=1 a2=2"},
	{"lw", "a0=0x10000008,0x10000004,0x10000000,0x10000004 m0=1 m4=2 m8=3", "lw a0, 0(a0)", "a0=3,2,1,2"},
	{"lbu", "m0=0x807f55aa", "lbu a1, 0(a0); lbu a2, 3(a0)", "a1=0xaa a2=0x80"},
	{"lhu", "m0=0x807f55aa", "lhu a1, 0(a0); lhu a2, 2(a0)", "a1=0x55aa a2=0x807f"},
	{"sb", "a1=0x12345678 m0=-1", "sb a1, 1(a0)", "m0=0xffff78ff"},
	{"sh", "a1=0x12345678 m0=-1", "sh a1, 2(a0)", "m0=0x5678ffff"},
	{"sw", "a1=0x12345678", "addi a0, a0, 16; sw a1, -12(a0)", "m0=0 m4=0x12345678 m8=0"},
	{"sw", "a1=1,2,3,4", "sw a1, 0(a0)", "m0=4"}, // the last lane wins

	{"addi", "a1=1,-1,0x7fffffff,5", "addi a2, a1, 1", "a2=2,0,0x80000000,6"},
	{"addi", "a1=1,-1,0x80000000,2048", "addi a2, a1, -2048", "a2=0xfffff801,0xfffff7ff,0x7ffff800,0"},
	{"slti", "a1=-1,0,-2,0x7fffffff", "slti a2, a1, -1", "a2=0,0,1,0"},
	{"sltiu", "a1=-1,0,-2,0x7fffffff", "sltiu a2, a1, -1", "a2=0,1,1,1"},
	{"xori", "a1=0x0f0,-1", "xori a2, a1, -1", "a2=0xffffff0f,0"},
	{"ori", "a1=0x0f0", "ori a2, a1, 0x70f", "a2=0x7ff"},
	{"andi", "a1=0xfffffff0", "andi a2, a1, -2041", "a2=0xfffff800"},
	{"slli", "a1=1,3,0x80000001,0", "slli a2, a1, 31", "a2=0x80000000,0x80000000,0x80000000,0"},
	{"srli", "a1=0x80000000,-1,1,0", "srli a2, a1, 31", "a2=1,1,0,0"},
	{"srai", "a1=0x80000000,-1,0x40000000,7", "srai a2, a1, 2", "a2=0xe0000000,-1,0x10000000,1"},
	{"add", "a1=1,-1,0x7fffffff,0x80000000 a2=2,1,1,0x80000000", "add a3, a1, a2", "a3=3,0,0x80000000,0"},
	{"sub", "a1=1,0,0x80000000,5 a2=2,1,1,5", "sub a3, a1, a2", "a3=-1,-1,0x7fffffff,0"},
	{"sll", "a1=1 a2=0,31,32,33", "sll a3, a1, a2", "a3=1,0x80000000,1,2"},
	{"slt", "a1=-1,1,0x80000000,3 a2=1,-1,0x7fffffff,3", "slt a3, a1, a2", "a3=1,0,1,0"},
	{"sltu", "a1=-1,1,0x80000000,3 a2=1,-1,0x7fffffff,3", "sltu a3, a1, a2", "a3=0,1,0,0"},
	{"czero.eqz", "a1=5,-7,9,0 a2=1,0,0x80000000,0", "czero.eqz a3, a1, a2", "a3=5,0,9,0"},
	{"czero.nez", "a1=5,-7,9,0 a2=1,0,0x80000000,0", "czero.nez a3, a1, a2", "a3=0,-7,0,0"},
	{"sh1add", "a1=5,-7,0xC0000000,0 a2=1,0,3,4", "sh1add a3, a1, a2", "a3=11,-14,0x80000003,4"},
	{"sh2add", "a1=5,-7,0xC0000001,0 a2=1,0,3,4", "sh2add a3, a1, a2", "a3=21,-28,7,4"},
	{"sh3add", "a1=5,-7,0xE0000001,0 a2=1,0,3,4", "sh3add a3, a1, a2", "a3=41,-56,11,4"},
	{"xor", "a1=0b1100 a2=0b1010", "xor a3, a1, a2", "a3=0b0110"},
	{"srl", "a1=0x80000000 a2=0,31,32,33", "srl a3, a1, a2", "a3=0x80000000,1,0x80000000,0x40000000"},
	{"sra", "a1=0x80000000 a2=0,31,32,33", "sra a3, a1, a2", "a3=0x80000000,-1,0x80000000,0xc0000000"},
	{"or", "a1=0b1100 a2=0b1010", "or a3, a1, a2", "a3=0b1110"},
	{"and", "a1=0b1100 a2=0b1010", "and a3, a1, a2", "a3=0b1000"},
	{"fence", "a1=5", "fence 0xff; addi a1, a1, 1", "a1=6"},
	{"fence.tso", "a1=5", "fence.tso; addi a1, a1, 1", "a1=6"},
	{"fence.i", "a1=5", "fence.i; addi a1, a1, 1", "a1=6"},

	// RV32M
	{"mul", "a1=3,-3,0x10000,-1 a2=5,5,0x10000,-1", "mul a3, a1, a2", "a3=15,-15,0,1"},
	{"mulh", "a1=0x80000000,-1,0x40000000,-1 a2=0x80000000,-1,8,1", "mulh a3, a1, a2", "a3=0x40000000,0,2,-1"},
	{"mulhsu", "a1=0x80000000,-1,-1,2 a2=0x80000000,-1,1,-1", "mulhsu a3, a1, a2", "a3=0xc0000000,-1,-1,1"},
	{"mulhu", "a1=0x80000000,-1,-1,2 a2=0x80000000,-1,1,-1", "mulhu a3, a1, a2", "a3=0x40000000,0xfffffffe,0,1"},
	{"div", "a1=7,-7,5,0x80000000 a2=-2,2,0,-1", "div a3, a1, a2", "a3=-3,-3,-1,0x80000000"},
	{"divu", "a1=7,-7,5,0x80000000 a2=-2,2,0,-1", "divu a3, a1, a2", "a3=0,0x7ffffffc,-1,0"},
	{"rem", "a1=7,-7,5,0x80000000 a2=-2,2,0,-1", "rem a3, a1, a2", "a3=1,-1,5,0"},
	{"remu", "a1=7,-7,5,0x80000000 a2=-2,2,0,-1", "remu a3, a1, a2", "a3=7,1,5,0x80000000"},

	// RV32A. Every lane on the same word, in lane order, or each on its own.
	{"lr.w", "m0=9", "lr.w a1, (a0)", "a1=9"},
	{"sc.w", "m0=9 a2=5,6,7,8", "lr.w a1, (a0); sc.w a3, a2, (a0)", "a3=0,1,1,1 m0=5"},
	{"amoswap.w", "m0=9 a2=5,6,7,8", "amoswap.w a1, a2, (a0)", "a1=9,5,6,7 m0=8"},
	{"amoadd.w", "m0=-1 a2=5,6,7,8", "amoadd.w a1, a2, (a0)", "a1=-1,4,10,17 m0=25"},
	{"amoxor.w", "m0=0b1111 a2=1,2,4,8", "amoxor.w.aqrl a1, a2, (a0)", "a1=15,14,12,8 m0=0"},
	{"amoand.w", "m0=0b1111 a2=14,13,-1,7", "amoand.w.aq a1, a2, (a0)", "a1=15,14,12,12 m0=4"},
	{"amoor.w", "m0=0 a2=1,2,1,8", "amoor.w.rl a1, a2, (a0)", "a1=0,1,3,3 m0=11"},
	{"amomin.w", "m0=3 a2=5,-1,2,-2", "amomin.w a1, a2, (a0)", "a1=3,3,-1,-1 m0=-2"},
	{"amomax.w", "m0=3 a2=5,-1,2,9", "amomax.w a1, a2, (a0)", "a1=3,5,5,5 m0=9"},
	{"amominu.w", "m0=3 a2=5,-1,2,-2", "amominu.w a1, a2, (a0)", "a1=3,3,3,2 m0=2"},
	{"amomaxu.w", "m0=3 a2=5,-1,2,9", "amomaxu.w a1, a2, (a0)", "a1=3,5,-1,-1 m0=-1"},
	{"amocas.w", "m0=3 a1=4,3,3,8 a2=5,6,7,8", "amocas.w a1, a2, (a0)", "a1=3,3,6,6 m0=6"},
	{"amofadd.w", "m0=0x3f800000 a2=0x3f800000,0x40000000,0x80000000,0xc0800000", "amofadd.w a1, a2, (a0)",
		"a1=0x3f800000,0x40000000,0x40800000,0x40800000 m0=0"}, // 1 + 1 + 2 - 0 - 4

	// RV32F: 1.0 is 0x3f800000, 2.0 0x40000000, 3.0 0x40400000, 0.5 0x3f000000
	{"flw", "m0=0x7f800001 m4=2", "flw fa1, 0(a0)", "fa1=0x7f800001"}, // bits, not values
	{"fsw", "fa1=0x7f800001", "fsw fa1, 4(a0)", "m0=0 m4=0x7f800001"},
	{"fmadd.s", "fa1=0x40000000 fa2=0x40400000 fa3=0x3f800000", "fmadd.s fa0, fa1, fa2, fa3", "fa0=0x40e00000 fcsr=0"},
	{"fmsub.s", "fa1=0x40000000 fa2=0x40400000 fa3=0x3f800000", "fmsub.s fa0, fa1, fa2, fa3", "fa0=0x40a00000 fcsr=0"},
	{"fnmsub.s", "fa1=0x40000000 fa2=0x40400000 fa3=0x3f800000", "fnmsub.s fa0, fa1, fa2, fa3", "fa0=0xc0a00000 fcsr=0"},
	{"fnmadd.s", "fa1=0x40000000 fa2=0x40400000 fa3=0x3f800000", "fnmadd.s fa0, fa1, fa2, fa3", "fa0=0xc0e00000 fcsr=0"},
	{"fadd.s", "fa1=0x3f800000,0x3f800000,0x7f800000,0 fa2=0x40000000,0x33800000,0xff800000,0x80000000", "fadd.s fa0, fa1, fa2, rup",
		"fa0=0x40400000,0x3f800001,0x7fc00000,0 fcsr=0x11"}, // 3, 1+2^-23 (inexact), ∞-∞ (invalid), +0
	// frm is up
	{"fadd.s", "fa1=0x3f800000 fa2=0x33800000 fcsr=0x60", "fadd.s fa0, fa1, fa2", "fa0=0x3f800001 fcsr=0x61"},
	{"fadd.s", "fa1=0x3f800000 fa2=0x33800000 fcsr=0x60", "fadd.s fa0, fa1, fa2, rne", "fa0=0x3f800000 fcsr=0x61"},
	{"fsub.s", "fa1=0x40400000 fa2=0x3f800000", "fsub.s fa0, fa1, fa2", "fa0=0x40000000 fcsr=0"},
	{"fmul.s", "fa1=0x40400000,0x7f7fffff fa2=0x40000000", "fmul.s fa0, fa1, fa2", "fa0=0x40c00000,0x7f800000 fcsr=5"},
	{"fdiv.s", "fa1=0x40400000,0x3f800000 fa2=0x40000000,0", "fdiv.s fa0, fa1, fa2", "fa0=0x3fc00000,0x7f800000 fcsr=8"},
	{"fsqrt.s", "fa1=0x41100000,0x80000000", "fsqrt.s fa0, fa1", "fa0=0x40400000,0x80000000 fcsr=0"},
	{"fsgnj.s", "fa1=0x3f800000,0xbf800000 fa2=0x80000000,0", "fsgnj.s fa0, fa1, fa2", "fa0=0xbf800000,0x3f800000"},
	{"fsgnjn.s", "fa1=0x3f800000,0xbf800000 fa2=0x80000000,0", "fsgnjn.s fa0, fa1, fa2", "fa0=0x3f800000,0xbf800000"},
	{"fsgnjx.s", "fa1=0x3f800000,0xbf800000 fa2=0x80000000,0x80000000", "fsgnjx.s fa0, fa1, fa2", "fa0=0xbf800000,0x3f800000"},
	{"fmin.s", "fa1=0x3f800000,0x7fc00000,0 fa2=0xc0000000,0x40000000,0x80000000", "fmin.s fa0, fa1, fa2", "fa0=0xc0000000,0x40000000,0x80000000 fcsr=0"},
	{"fmax.s", "fa1=0x3f800000,0x7f800001,0 fa2=0xc0000000,0x40000000,0x80000000", "fmax.s fa0, fa1, fa2", "fa0=0x3f800000,0x40000000,0 fcsr=0x10"},
	{"fle.s", "fa1=0x3f800000,0x3f800000,0x40000000,0 fa2=0x40000000,0x3f800000,0x3f800000,0x80000000", "fle.s a1, fa1, fa2", "a1=1,1,0,1"},
	{"flt.s", "fa1=0x3f800000,0x3f800000,0x40000000,0xbf800000 fa2=0x40000000,0x3f800000,0x3f800000,0", "flt.s a1, fa1, fa2", "a1=1,0,0,1"},
	{"feq.s", "fa1=0x3f800000,0x7fc00000,0x40000000,0 fa2=0x3f800000,0x7fc00000,0x3f800000,0x80000000", "feq.s a1, fa1, fa2", "a1=1,0,0,1 fcsr=0"},
	{"fcvt.w.s", "fa1=0x40200000,0xc0200000,0x7fc00000,0xcf000000", "fcvt.w.s a1, fa1, rtz", "a1=2,-2,0x7fffffff,0x80000000 fcsr=0x11"},
	{"fcvt.wu.s", "fa1=0x40200000,0xbf800000,0x7fc00000,0x4f000000", "fcvt.wu.s a1, fa1, rup", "a1=3,0,-1,0x80000000 fcsr=0x11"},
	{"fcvt.s.w", "a1=3,-3,0x01000001,0x80000000", "fcvt.s.w fa1, a1, rtz", "fa1=0x40400000,0xc0400000,0x4b800000,0xcf000000 fcsr=1"},
	{"fcvt.s.wu", "a1=3,-1,0x01000001,0x80000000", "fcvt.s.wu fa1, a1, rup", "fa1=0x40400000,0x4f800000,0x4b800001,0x4f000000 fcsr=1"},
	{"fmv.x.w", "fa1=0x7f800001", "fmv.x.w a1, fa1", "a1=0x7f800001 fcsr=0"},
	{"fclass.s", "fa1=0xff800000,0x80000000,1,0x7f800001", "fclass.s a1, fa1", "a1=1,8,32,256"},
	{"fmv.w.x", "a1=0x7f800001", "fmv.w.x fa1, a1", "fa1=0x7f800001 fcsr=0"},

	// Zicsr, on fcsr and mscratch; a source comes from the last lane
	{"csrrw", "fcsr=0x25 a1=1,2,3,0x1a", "csrrw a2, fcsr, a1", "a2=0x25 fcsr=0x1a"},
	{"csrrs", "fcsr=0x25 a1=0,0,0,0x42", "csrrs a2, fcsr, a1", "a2=0x25 fcsr=0x67"},
	{"csrrs", "", "csrrs a2, vx_tid, zero", "a2=0,1,2,3"},
	{"csrrc", "fcsr=0x25 a1=0,0,0,0x21", "csrrc a2, fcsr, a1", "a2=0x25 fcsr=4"},
	{"csrrwi", "fcsr=0x25", "csrrwi a2, fcsr, 31", "a2=0x25 fcsr=31"},
	{"csrrsi", "fcsr=0x25", "csrrsi a2, fcsr, 2", "a2=0x25 fcsr=0x27"},
	{"csrrci", "fcsr=0x25", "csrrci a2, fcsr, 4", "a2=0x25 fcsr=0x21"},

	// SIMT control
	{"tmc", "a1=15,15,15,5 a2=1", "tmc a1; addi a2, a2, 1; tmc t6", "a2=2,1,2,1"}, // the last lane says 0b0101
	{"tmc", "a1=-1,-1,-1,1", "tmc a1; addi a2, a2, 1; tmc t6", "a2=1,0,0,0"},
	{"wspawn", "a1=1", "wspawn a1, a2; addi a3, a3, 5", "a3=5"},                   // with other warps: TestWspawn…
	{"split", "a1=0,1,1,1", "split a2, a1; addi a3, a3, 1; join a2", "a2=0 a3=1"}, // each side runs the middle once
	{"split", "a1=0,1,1,1", "split a2, a1; csrrs a3, vx_active_threads, zero; csrrs a4, minstret, zero; join a2", "a3=1,14,14,14 a4=8,5,5,5"},
	// tie: then
	{"split", "a1=0,0,1,1", "split a2, a1; csrrs a3, vx_active_threads, zero; csrrs a4, minstret, zero; join a2", "a3=3,3,12,12 a4=8,8,5,5"},
	// tie: then, negated
	{"split", "a1=0,0,1,1", "split.n a2, a1; csrrs a3, vx_active_threads, zero; csrrs a4, minstret, zero; join a2", "a3=3,3,12,12 a4=5,5,8,8"},
	{"split", "a1=0,0,0,1", "split a2, a1; csrrs a3, vx_active_threads, zero; csrrs a4, minstret, zero; join a2", "a3=7,7,7,8 a4=5,5,5,8"},
	{"split", "a1=2,3,5,1", "split a2, a1; csrrs a4, vx_active_threads, zero; join a2", "a4=1,14,14,14"}, // bit 0 only
	{"split", "a1=1", "split a2, a1; csrrs a3, vx_active_threads, zero; join a2", "a2=0 a3=15"},
	{"join", "a1=0,1,1,1 a4=0,0,0,1", "split a2, a1; split a3, a4; addi a5, a5, 1; join a3; join a2; csrrs a6, vx_active_threads, zero", "a2=0 a3=1,1,1,1 a5=1 a6=15"},
	// with other warps: TestBarrier… and the random programs
	{"bar", "a1=0 a2=1 a3=1", "bar a1, a2; addi a3, a3, 1", "a3=2"},
	{"pred", "a1=0,1,0,3 a2=15 a3=1", "pred a1, a2; addi a3, a3, 1; tmc t6", "a3=1,2,1,2"},
	{"pred", "a1=2,0,0,4 a2=9,9,9,7 a3=1", "pred a1, a2; addi a3, a3, 1; tmc t6", "a3=2,2,2,1"},
	{"pred", "a1=0,1,0,3 a2=15 a3=1", "pred.n a1, a2; addi a3, a3, 1; tmc t6", "a3=2,1,2,1"},
	{"pred", "a1=1,1,3,5 a2=9,9,9,6 a3=1", "pred.n a1, a2; addi a3, a3, 1; tmc t6", "a3=1,2,2,1"},

	// Votes and shuffles: b | c<<6 | mask<<12; c = 31 is 0x7c0, mask 0x1e (pairs) is 0x1e000
	{"vote.all", "a1=1,3,5,7", "vote.all a2, a1", "a2=1"},
	{"vote.all", "a1=1,3,4,7", "vote.all a2, a1", "a2=0"},
	{"vote.any", "a1=0,2,5,8", "vote.any a2, a1", "a2=1"},
	{"vote.any", "a1=0,2,4,8", "vote.any a2, a1", "a2=0"},
	{"vote.uni", "a1=0,2,4,8", "vote.uni a2, a1", "a2=1"},
	{"vote.uni", "a1=1", "vote.uni a2, a1", "a2=1"},
	{"vote.uni", "a1=0,2,5,8", "vote.uni a2, a1", "a2=0"},
	{"vote.ballot", "a1=1,0,2,3", "vote.ballot a2, a1", "a2=9"},
	{"vote.ballot", "a1=1,0,2,3 a3=14 a2=5", "tmc a3; vote.ballot a2, a1; tmc t6", "a2=5,8,8,8"},
	{"shfl.up", "a1=10,11,12,13 a2=1", "shfl.up a3, a1, a2", "a3=10,10,11,12"},
	{"shfl.up", "a1=10,11,12,13 a2=0x1e001", "shfl.up a3, a1, a2", "a3=10,10,12,12"},
	{"shfl.down", "a1=10,11,12,13 a2=0x7c1", "shfl.down a3, a1, a2", "a3=11,12,13,13"},
	{"shfl.down", "a1=10,11,12,13 a2=0x1e7c1", "shfl.down a3, a1, a2", "a3=11,11,13,13"},
	{"shfl.down", "a1=10,11,12,13 a2=0x81", "shfl.down a3, a1, a2", "a3=11,12,12,13"}, // c = 2
	{"shfl.bfly", "a1=10,11,12,13 a2=0x7c3", "shfl.bfly a3, a1, a2", "a3=13,12,11,10"},
	{"shfl.bfly", "a1=10,11,12,13 a2=0x41", "shfl.bfly a3, a1, a2", "a3=11,10,12,13"}, // c = 1
	{"shfl.idx", "a1=10,11,12,13 a2=0x7c2", "shfl.idx a3, a1, a2", "a3=12"},
	{"shfl.idx", "a1=10,11,12,13 a2=0x1e7c1", "shfl.idx a3, a1, a2", "a3=11,11,13,13"},
	// lane 9 does not exist
	{"shfl.idx", "a1=10,11,12,13 a2=0x7c0,0x7c1,0x7c9,0x7c3 a4=14 a3=1", "tmc a4; shfl.idx a3, a1, a2; tmc t6", "a3=1,11,12,13"},
	// lane 0 is inactive, and is read
	{"shfl.idx", "a1=10,11,12,13 a2=0x7c0 a4=14 a3=1", "tmc a4; shfl.idx a3, a1, a2; tmc t6", "a3=1,10,10,10"},
}

// trapRows end the program, so the table of results cannot hold them.
var trapRows = map[string]emu.Cause{"ecall": emu.EnvironmentCall, "ebreak": emu.EnvironmentCall}

// unitRows lists the requests to graph units: which function of which unit,
// which of rs1, rs2, rs3 it is given, and whether it answers.
var unitRows = []struct {
	row, code, unit string
	fn              uint8
	sources         string
	answers         bool
}{
	{"weaver.reg", "weaver.reg a1, a2, a3", "weaver", isa.WeaverReg, "ABC", false},
	{"weaver.skip", "weaver.skip a1", "weaver", isa.WeaverSkip, "A", false},
	{"weaver.dec.id", "weaver.dec.id a4", "weaver", isa.WeaverDecID, "", true},
	{"weaver.dec.loc", "weaver.dec.loc a4", "weaver", isa.WeaverDecLoc, "", true},
	{"peg.get.src", "peg.get.src a4", "peg", isa.PegGet + isa.PegSrc, "", true},
	{"peg.get.dst", "peg.get.dst a4", "peg", isa.PegGet + isa.PegDst, "", true},
	{"peg.get.wt", "peg.get.wt a4", "peg", isa.PegGet + isa.PegWt, "", true},
	{"peg.get.idx", "peg.get.idx a4", "peg", isa.PegGet + isa.PegIdx, "", true},
	{"peg.pop.src", "peg.pop.src a4, a2", "peg", isa.PegPop + isa.PegSrc, "B", true},
	{"peg.pop.dst", "peg.pop.dst a4, a2", "peg", isa.PegPop + isa.PegDst, "B", true},
	{"peg.pop.wt", "peg.pop.wt a4, a2", "peg", isa.PegPop + isa.PegWt, "B", true},
	{"peg.pop.idx", "peg.pop.idx a4, a2", "peg", isa.PegPop + isa.PegIdx, "B", true},
	{"peg.popv", "peg.popv a4, a2", "peg", isa.PegPopV, "B", true},
	{"peg.push", "peg.push a1, a2", "peg", isa.PegPush, "AB", false},
	{"eghw.push", "eghw.push a1", "eghw", isa.EghwPush, "A", false},
	{"eghw.pop", "eghw.pop a4", "eghw", isa.EghwPop, "", true},
	{"eghw.get.other", "eghw.get.other a4", "eghw", isa.EghwGetOther, "", true},
	{"eghw.get.wt", "eghw.get.wt a4", "eghw", isa.EghwGetWt, "", true},
	{"hwwl.pop", "hwwl.pop a4", "hwwl", isa.HwwlPop, "", true},
	{"hwwl.push", "hwwl.push a1", "hwwl", isa.HwwlPush, "A", false},
	{"swarm.enqueue", "swarm.enqueue a1, a2", "swarm", isa.SwarmEnqueue, "AB", false},
	{"swarm.finish", "swarm.finish", "swarm", isa.SwarmFinish, "", false},
}

const rowLanes = 4

// parse reads "name=v" or "name=v,v,v,v"; missing lanes repeat the first.
func parse(t *testing.T, s string) (list []struct {
	name   string
	values [rowLanes]uint32
}) {
	t.Helper()
	for _, f := range strings.Fields(s) {
		name, text, _ := strings.Cut(f, "=")
		parts := strings.Split(text, ",")
		var v [rowLanes]uint32
		for l := range v {
			p := parts[0]
			if l < len(parts) {
				p = parts[l]
			}
			n, err := strconv.ParseInt(p, 0, 64)
			require.NoError(t, err, f)
			v[l] = uint32(n)
		}
		list = append(list, struct {
			name   string
			values [rowLanes]uint32
		}{name, v})
	}
	return list
}

// memoryWord reads a name like m8.
func memoryWord(name string) (addr uint32, ok bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "m"))
	return data + uint32(n), err == nil && name[0] == 'm'
}

func setUp(t *testing.T, m *emu.Machine, state string) {
	w := m.Core(0).Warp(0)
	for l := range rowLanes {
		w.SetReg(a0, l, data)
	}
	for _, s := range parse(t, state) {
		if a, ok := memoryWord(s.name); ok {
			m.Mem.Store32(a, s.values[0])
		} else if s.name == "fcsr" {
			w.SetFcsr(s.values[0])
		} else {
			require.Contains(t, registers, s.name)
			for l, v := range s.values {
				w.SetReg(registers[s.name], l, v)
			}
		}
	}
}

func checkState(t *testing.T, m *emu.Machine, state string) {
	w := m.Core(0).Warp(0)
	for _, s := range parse(t, state) {
		var got [rowLanes]uint32
		for l := range got {
			if a, ok := memoryWord(s.name); ok {
				got[l] = m.Mem.Load32(a)
			} else if s.name == "fcsr" {
				got[l] = w.Fcsr()
			} else {
				require.Contains(t, registers, s.name)
				got[l] = w.Reg(registers[s.name], l)
			}
		}
		assert.Equal(t, fmt.Sprintf("%#x", s.values), fmt.Sprintf("%#x", got), s.name)
	}
}

// executed runs code with all lanes and returns the rows that it executed.
func executed(t *testing.T, cfg emu.Config, before, code string) (m *emu.Machine, rows map[string]int, err error) {
	t.Helper()
	rows = map[string]int{}
	cfg.Zba = true
	cfg.Trace = func(s *emu.Step) { rows[s.Inst.Name]++ }
	m = load(t, cfg, allLanes+code+"\n"+stop)
	setUp(t, m, before)
	return m, rows, m.Run(context.Background())
}

func TestEveryRowExecutes(t *testing.T) {
	done := map[string]bool{}
	for _, c := range rowCases {
		m, rows, err := executed(t, shape(1, 1, rowLanes), c.before, c.code)
		t.Run(c.row, func(t *testing.T) {
			require.NoError(t, err)
			require.NotZero(t, rows[c.row], "%q does not execute it", c.code)
			require.NotEmpty(t, c.after)
			checkState(t, m, c.after)
		})
		done[c.row] = true
	}
	for row, cause := range trapRows {
		_, _, err := executed(t, shape(1, 1, rowLanes), "", row)
		var trap *emu.Trap
		require.ErrorAs(t, err, &trap)
		assert.Equal(t, cause, trap.Cause)
		assert.Equal(t, row, trap.Inst)
		done[row] = true
	}
	for _, c := range unitRows {
		done[c.row] = true // in TestUnitRowsExecute
	}
	for _, row := range isa.All() {
		assert.True(t, done[row.Name], "%s is in no table of this test", row.Name)
	}
	for name := range done {
		assert.NotNil(t, isa.Lookup(name), "%s is no instruction", name)
	}
}

func TestUnitRowsExecute(t *testing.T) {
	for _, c := range unitRows {
		t.Run(c.row, func(t *testing.T) {
			u := &fakeUnit{name: c.unit, answer: func(r *emu.UnitRequest) error {
				for l := range r.Out {
					r.Out[l] = uint32(100 + l)
				}
				return nil
			}}
			others := &fakeUnit{name: "another"}
			m, rows, err := executed(t, withUnits(shape(1, 1, rowLanes), others, u),
				// lanes 0, 1 and 3
				"a1=11,12,13,14 a2=21,22,23,24 a3=31,32,33,34 a4=7 a5=11", "tmc a5; "+c.code+"; tmc t6")
			require.NoError(t, err)
			require.Equal(t, 1, rows[c.row])
			assert.Empty(t, others.requests)
			require.Len(t, u.requests, 1)
			r := u.requests[0]
			assert.Equal(t, c.fn, r.Fn)
			assert.Equal(t, uint32(0b1011), r.Mask)
			assert.Zero(t, r.Warp)
			given := map[rune][]uint32{'A': r.A, 'B': r.B, 'C': r.C}
			for _, s := range c.sources {
				first := uint32(s-'A')*10 + 11
				assert.Equal(t, []uint32{first, first + 1, first + 2, first + 3}, given[s], "rs%d", s-'A'+1)
			}
			want := []uint32{7, 7, 7, 7}
			if c.answers {
				want = []uint32{100, 101, 7, 103}
			}
			assert.Equal(t, want, lanes(m, registers["a4"], rowLanes))
		})
	}
}
