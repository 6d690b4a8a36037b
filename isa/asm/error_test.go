package asm_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
)

// Each source has one mistake; the message names line and column.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"  frobnicate a0", `x.s:1:3: unknown instruction "frobnicate"`},
		{"  add a0, a1", `x.s:1:13: add needs rd, rs1, rs2`},
		{"  add a0, a1, a2, a3", `x.s:1:19: add takes only rd, rs1, rs2`},
		{"  add a0, fa1, a2", `x.s:1:11: expected an integer register for rs1, found "fa1"`},
		{"  fadd.s fa0, a1, fa2", `x.s:1:15: expected a float register for fs1, found "a1"`},
		{"  fadd.s fa0, fa1, fa2, up", `x.s:1:25: expected a rounding mode (rne, rtz, rdn, rup, rmm, dyn), found "up"`},
		{"  addi a0, a1, 2048", `x.s:1:16: 2048 is out of range -2048..2047`},
		{"  addi a0, a1, nowhere", `x.s:1:16: symbol "nowhere" is not defined`},
		{"  slli a0, a1, 32", `x.s:1:16: 32 is out of range 0..31`},
		{"  lui a0, 0x100000", `x.s:1:11: 1048576 is out of range 0..1048575`},
		{"  lw a0, 4 a1", `x.s:1:12: expected )`},
		{"  lw a0, 4(fa1)", `x.s:1:12: expected an integer register, found "fa1"`},
		{"  amoadd.w a0, a1, 4(a2)", `x.s:1:20: amoadd.w takes an address without an offset`},
		{"  csrr a0, 0x1000", `x.s:1:12: CSR number 4096 is out of range 0..4095`},
		{"  li a0, 0x100000000", `x.s:1:10: 4294967296 does not fit 32 bits`},
		{"  li a0, _start\n_start:", `x.s:1:10: symbol "_start" is not defined`},
		{"_start: li a0, _start", `x.s:1:16: expected a number that is known here, found an address`},
		{"  beq a0, a1, far\n .space 5000\nfar:", `x.s:1:15: 5004 is out of range -4096..4095`},
		{"  j 1f", `x.s:1:5: no label 1: after here`},
		{"  j 1b", `x.s:1:5: no label 1: before here`},
		{"a: nop\na: nop", `x.s:2:1: symbol "a" is already defined`},
		{" .byte 256", `x.s:1:8: 256 does not fit 1 bytes`},
		{" .asciz \"abc", `x.s:1:9: the string does not end on this line`},
		{" .asciz \"\\q\"", `x.s:1:10: unknown escape \q`},
		{" .balign 3", `x.s:1:10: alignment 3: expected a power of two up to 4096 bytes`},
		{" .space -1", `x.s:1:9: size -1 is negative`},
		{" .space 0x7fffffff", `image larger than`},
		{" .byte 1\n nop", `x.s:2:2: instruction at an address that is not a multiple of 4 (use .balign 4)`},
		{" .bss\n .word 1", `section .bss holds no data`},
		{" .if 1\n nop", `x.s:1:1: this .if has no .endif`},
		{" .endif", `x.s:1:2: .endif without .if`},
		{" .frob 1", `x.s:1:2: unknown directive .frob`},
		{" .equ a, b\n .equ b, a\n .word a", `is defined by itself`},
		{" .word 1/0", `x.s:1:9: division by zero`},
		{" .word (1", `x.s:1:10: expected )`},
		{" .word 1 +", `x.s:1:11: an expression is missing`},
		{" .word 1.5", `x.s:1:8: expected an expression, found "1.5"`},
		{" .word ,1", `x.s:1:8: an operand is missing`},
		{" .insn q 1, 2", `x.s:1:8: unknown .insn type "q": expected r, r4, i, s, b, u or j`},
		{" .insn r 0x80, 0, 0, a0, a1, a2", `x.s:1:10: opcode 128 does not fit 7 bits`},
		{" addi a0, a0, %pcrel_lo(.)", `which %pcrel_lo refers to`},
		{" fence wr", `fence takes nothing, or two sets`},
		{" fence wr, rw", `x.s:1:8: expected a subset of iorw, in that order, found "wr"`},
		{" nop @", `x.s:1:6: unexpected character '@'`},
		{" .data\n .word 1", `x.s: no instructions`},
	} {
		_, err := asm.Assemble("x.s", []byte(c.src), asm.Options{})
		require.ErrorContains(t, err, c.want, "source %q", c.src)
	}
}

func TestManyErrorsAreCut(t *testing.T) {
	_, err := asm.Assemble("x.s", []byte(strings.Repeat("frob\n", 1000)), asm.Options{})
	require.Len(t, strings.Split(err.Error(), "\n"), 21)
	require.ErrorContains(t, err, "x.s: more errors follow")
}

func TestSectionsAndSymbols(t *testing.T) {
	src := `
.data
v: .word 1, 2
.bss
z: .space 100
.text
f: nop
_start: la a0, v
  la a1, z
`
	p, err := asm.Assemble("x.s", []byte(src), asm.Options{Base: 0x1000})
	require.NoError(t, err)
	require.Len(t, p.Segments, 3)
	require.Equal(t, uint32(0x1000), p.Segments[0].Addr)
	require.Equal(t, uint32(0x1004), p.Entry)
	require.Equal(t, uint32(100), p.Segments[2].Size)
	require.Empty(t, p.Segments[2].Data)
	v, ok := p.Symbol("v")
	require.True(t, ok)
	require.Equal(t, p.Segments[1].Addr, v)
	name, off, ok := p.Where(0x1008)
	require.True(t, ok)
	require.Equal(t, "_start+0x4", fmt.Sprintf("%s+0x%x", name, off))
}

// The disassembly of every row assembles to the same word.
func TestDisassemblyAssembles(t *testing.T) {
	for _, r := range isa.All() {
		for _, fields := range []uint32{0, 0x01084080, 0x0052C200, 0xFFFFFFFF} {
			w := r.Enc.Match | fields&^r.Enc.Mask
			in, ok := isa.Decode(w)
			if !ok || in.Row != r || in.Neg > 1 || r.Name == "fence" && in.Imm>>8 != 0 {
				continue // reserved field, or a spelling that is not canonical
			}
			p, err := asm.Assemble("x.s", []byte(in.Text(asm.DefaultBase)), asm.Options{})
			require.NoError(t, err, in.Text(asm.DefaultBase))
			require.Equal(t, w, binary.LittleEndian.Uint32(p.Segments[0].Data), in.Text(asm.DefaultBase))
		}
	}
}

// FuzzAssemble: any input is an error or a program, never a panic; a program is the same when assembled again.
func FuzzAssemble(f *testing.F) {
	f.Add("_start: li a0, 1\n j _start\n .word 1f - .\n1:")
	f.Add(".equ a, 1\n.if a\n la a0, b\n.else\n.endif\nb: .asciz \"x\\n\"\n.insn r 0xb, 0, 0, x0, x1, x2")
	f.Add("/* */ add a0, a1, 3; fence; lw a0, 1f; .balign 64; 1: .space 3, 4")
	f.Add(".word ((((1+2)*3)/4)%5)<<6>>7&8|9^10, -~!1, %hi(0x1234567)")
	f.Add(".macro m a, b=2, c:vararg\n.rept \\a\n.irp x, \\c\n.byte \\x, \\b\n.endr\n.endr\n.endm\nm 2, , 3, 4\n.macro " +
		"r\nr\nr\n.endm\nr")
	f.Add("a=1; .eqv b, a+1; .set a, b<<a; .fill a, b, -1; .org . + a; . = . + 4; .irpc c, 12\n.half \\c\n.endr\n.if a " +
		"<> b; .elseif !a; .endif")
	f.Add(".pushsection .x, \"aw\", @nobits; .comm y, 9, 4; .popsection; .previous; .section .bss; .p2align 3,,2; " +
		".balign 8, 1; .quad y-.")
	f.Cleanup(asm.LowerLimits())
	f.Fuzz(func(t *testing.T, src string) {
		p, err := asm.Assemble("fuzz.s", []byte(src), asm.Options{})
		if err != nil {
			return
		}
		q, err := asm.Assemble("fuzz.s", []byte(src), asm.Options{})
		require.NoError(t, err)
		require.True(t, bytes.Equal(p.Segments[0].Data, q.Segments[0].Data))
	})
}

func BenchmarkAssemble(b *testing.B) {
	src := []byte(strings.Repeat("1: addi a0, a0, 1\n lw a1, 4(a0)\n bnez a1, 1b\n", 1000))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := asm.Assemble("x.s", src, asm.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
