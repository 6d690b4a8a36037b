package emu_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
	"heddle/isa/emu"
)

// instructions are those that BenchmarkInstruction repeats, by name.
var instructions = []struct{ name, text string }{
	{"add", "add a7, a1, a2"},
	{"addi", "addi a7, a1, 5"},
	{"slli", "slli a7, a1, 5"},
	{"slt", "slt a7, a1, a2"},
	{"mul", "mul a7, a1, a2"},
	{"mulh", "mulh a7, a1, a2"},
	{"div", "div a7, a1, a2"},
	{"lui", "lui a7, 5"},
	{"branch", "bltu a1, a1, loop"},
	{"lw-line", "lw a7, 0(a3)"},
	{"lw-same", "lw a7, 0(a4)"},
	{"lw-page", "lw a7, 0(a5)"},
	{"lw-pages", "lw a7, 0(a6)"},
	{"lbu-line", "lbu a7, 0(a3)"},
	{"sw-line", "sw a1, 0(a3)"},
	{"sw-pages", "sw a1, 0(a6)"},
	{"lw-scratchpad", "lw a7, 0(s2)"},
	{"amoadd-line", "amoadd.w a7, a1, (a3)"},
	{"amoadd-same", "amoadd.w a7, a1, (a4)"},
	{"amoadd-pages", "amoadd.w a7, a1, (a6)"},
	{"amofadd-line", "amofadd.w a7, a1, (s1)"},
	{"fadd", "fadd.s fa7, fa1, fa2"},
	{"fadd-exact", "fadd.s fa7, fa3, fa4"},
	{"fmul", "fmul.s fa7, fa1, fa2"},
	{"fmadd", "fmadd.s fa7, fa1, fa2, fa3"},
	{"fdiv", "fdiv.s fa7, fa1, fa2"},
	{"flt", "flt.s a7, fa1, fa2"},
	{"fcvt", "fcvt.s.w fa7, a1"},
	{"fsgnj", "fsgnj.s fa7, fa1, fa2"},
	{"vote", "vote.ballot a7, a1"},
	{"shfl", "shfl.bfly a7, a1, s3"},
	{"csr", "csrr a7, vx_tid"},
}

// instructionLoop repeats one instruction on operands that differ by lane, with the lanes of the mask.
func instructionLoop(text string, mask uint32) string {
	return fmt.Sprintf(`
_start:	li t0, -1
	tmc t0
	csrr t1, vx_tid
	li t2, 0x90000000
	slli t3, t1, 2
	add a3, t2, t3		# a word after another
	mv a4, t2		# one word
	slli a5, t1, 7
	andi a5, a5, 0x7ff
	add a5, a5, t2		# words of one page
	slli a6, t1, 12
	add a6, a6, t2		# a page each
	li s1, 0x90100000
	add s1, s1, t3
	csrr s2, vx_local_mem_base
	add s2, s2, t3		# words of the scratchpad
	li s3, 1 | 31<<6
	li t4, 0x9e3779b9
	mul a1, t1, t4
	addi a1, a1, 77
	srli a2, a1, 7
	addi a2, a2, 3
	fcvt.s.w fa3, t1
	fcvt.s.w fa4, t3
	fcvt.s.w fa1, a1
	fcvt.s.w fa2, a2
	li t5, 3
	fcvt.s.w fa5, t5
	fdiv.s fa1, fa1, fa5
	fdiv.s fa2, fa2, fa5
	sw a1, 0(a3)
	sw a1, 0(a5)
	sw a1, 0(a6)
	sw zero, 0(s1)
	sw a1, 0(s2)
	csrwi fflags, 0
	li t0, 0x%x
	tmc t0
loop:
%s	j loop
`, mask, strings.Repeat("\t"+text+"\n", 255))
}

// BenchmarkInstruction measures the host's cost per instruction, with all lanes and with every other one.
func BenchmarkInstruction(b *testing.B) {
	for _, i := range instructions {
		for _, shape := range []struct {
			threads int
			mask    uint32
		}{{4, 0xF}, {32, 0xFFFFFFFF}, {32, 0x55555555}} {
			b.Run(fmt.Sprintf("%s/lanes=%d/mask=%x", i.name, shape.threads, shape.mask), func(b *testing.B) {
				const chunk = 100_000
				p, err := asm.Assemble(i.name, []byte(instructionLoop(i.text, shape.mask)),
					asm.Options{Base: emu.CodeBase})
				require.NoError(b, err)
				m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: shape.threads, MaxInstrs: chunk})
				require.NoError(b, err)
				m.Load(p)
				for b.Loop() {
					var limit *emu.LimitError
					require.ErrorAs(b, m.Run(context.Background()), &limit)
				}
				b.ReportMetric(float64(chunk)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mwarp-instr/s")
			})
		}
	}
}
