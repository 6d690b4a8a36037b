package asm_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
)

// words assembles a source and returns the words of its code.
func words(t *testing.T, src string) (out []int32) {
	t.Helper()
	p, err := asm.Assemble("x.s", []byte(src), asm.Options{})
	require.NoError(t, err, "%s", src)
	for data := p.Segments[0].Data; len(data) >= 4; data = data[4:] {
		out = append(out, int32(binary.LittleEndian.Uint32(data)))
	}
	return out
}

// The values are GNU as 2.40's.
func TestOperatorsBindAsGNUs(t *testing.T) {
	for expression, want := range map[string]int32{
		"1<<3-1": 7, "16>>1+1": 9, "6&3+1": 3, "0xff&0x0f|0x30^1": 0x3e, "3>1": -1, "(2==2)*4": -4, "1+1<<2": 5, "1<<2*2": 8,
		"3==1+2": -1, "1<2==-1": -1, "5!3": -3, "5 ! 3": -3, "9!!2": 11, "9 ! !2": 11, "1<>2": -1, "!5": 0, "!0": 1, "!!7": 1, "-!0": -1, "3&&2": 1,
		"0||7": 1, "1||0&&0": 1, "-7/2": -3, "-7%3": -1, "-1>>1>>62": 1, "0x8000000000000000<1": -1, "18446744073709551615/2": 0, "2*3&1": 0,
	} {
		require.Equal(t, []int32{want}, words(t, ".word "+expression), expression)
	}
}

// A symbol that is assigned again means at each use what it does there; before the first assignment it has that one's
// value.
func TestRedefinedSymbols(t *testing.T) {
	for _, c := range []struct {
		src  string
		want []int32
	}{
		{"a=3\n.word a\na=4\n.word a", []int32{3, 4}},
		{".word a\n.set a, 4\n.word a\n.equ a, 5\n.word a", []int32{4, 4, 5}},
		{"b=c+1\nc=5\nc=6\n.word b, c", []int32{6, 6}},
		{".eqv b, c+1\nc=5\n.word b\nc=6\n.word b, c", []int32{6, 7, 6}},
		{".eqv b, c+1\n.word b\nc=5\n.word b\nc=6\n.word b", []int32{6, 6, 7}},
		{"n=1\n.skip 4*n\nn=2\n.skip 4*n\n.word n", []int32{0, 0, 0, 2}},
		{"n=4\n.org n\nn=8\n.org n\n.balign n\n.word n", []int32{0, 0, 8}},
		{"n=1\n.rept 2\n.word n\nn=n*2\n.endr\n.word n", []int32{1, 2, 4}},
		{"n=5\naddi a0, a0, n\nn=6\naddi a0, a0, n", []int32{0x00550513, 0x00650513}},
		{"n=5\nslli a0, a0, n\nn=6\nslli a0, a0, n", []int32{0x00551513, 0x00651513}},
		{"n=0x340\ncsrr a0, n\nn=0x341\ncsrr a0, n", []int32{0x34002573, 0x34102573}},
		{"n=0x1004\nlui a0, %hi(n)\nlw a0, %lo(n)(a0)\nn=0x2008\nlw a0, %lo(n)(a0)", []int32{0x00001537, 0x00452503, 0x00852503}},
		{"l: nop\nt=l\nj t\nt=l+4\nj t", []int32{0x13, -0x3ff391, -0x3ff391}},
	} {
		got := words(t, c.src)
		if strings.HasPrefix(c.src, "l:") { // jumps: to l, and to the jump before
			require.Equal(t, got[1], got[2], c.src)
			continue
		}
		require.Equal(t, c.want, got, c.src)
	}
}

// What gcc writes assembles as it is.
func TestCompilersOutput(t *testing.T) {
	got := words(t, "\ufeff"+`	.file	"x.c"
	.option nopic
	.attribute arch, "rv32i2p1_m2p0_a2p1_f2p2"
	.text
	.section	.rodata.str1.4,"aMS",@progbits,1
	.align	2
.LC0:
	.string	"a;b # c"
	.section	.text.startup,"ax",@progbits
	.align	2
	.globl	main
	.type	main, @function
main:
.LFB0:
	.cfi_startproc
	lui	a5,%hi(.LC0)
	addi	a0,a5,%lo(.LC0)
	ret
	.cfi_endproc
	.size	main, .-main
	.local	x
	.comm	x,400,4
	.section	.debug_info,"",@progbits
	.4byte	0x12345678
	.ident	"GCC: (GNU) 12"
	.section	.note.GNU-stack,"",@progbits
`)
	require.Len(t, got, 3)
}

// A mistake within a macro is reported where that is used.
func TestMistakesInMacros(t *testing.T) {
	for src, want := range map[string]string{
		".macro m a\n nop\n addi a0, a0, \\a\n.endm\nnop\n m 5000": `x.s:6:2: in macro m: 5000 is out of range -2048..2047`,
		".macro m\n.frob\n.endm\n.macro n\n m\n.endm\n  n":         `x.s:7:3: in macro m: unknown directive .frob`,
		".rept 2\n nop\n frob a0\n.endr":                           `x.s:3:2: unknown instruction "frob"`,
		".macro m a:req\n.endm\nm":                                 `x.s:3:2: macro m needs its argument a`,
		".macro m a\n.endm\nm 1 2":                                 `x.s:3:3: macro m takes 1 arguments, and "2" is one more`,
		".macro m\n.if 1\n.endm\nm":                                `in macro m: this .if has no .endif`,
		".macro m\n.endif\n.endm\n.if 1\nm\n.endif":                `in macro m: .endif without .if`,
		".macro word\n.endm\n.macro .word\n.endm":                  `.word is a directive: a macro needs another name`,
		".rept 3\nnop":                  `x.s:1:7: this .rept has no .endr`,
		"/* nop\nnop":                   `x.s:1:1: this comment does not end`,
		"nop\r# c\rnop":                 `x.s:1:4: a carriage return within the line`,
		".section foo\nnop":             `section foo needs flags`,
		".include \"x\"":                `.include is not supported: preprocess the source`,
		".option rvc":                   `there are no compressed instructions`,
		"\xff\xfen\x00o\x00p\x00":       `x.s:1:1: the text is UTF-16: expected UTF-8`,
		"nop\n.org 2":                   `x.s:2:6: offset 2 lies behind`,
		".data\nd:\n.text\nnop\n.org d": `x.s:5:6: expected a place of section .text, found one of section .data`,
		"a: nop\n.word a*2":             `x.s:2:8: * of an address is not known to an assembler`,
		".equiv a, 1\na = 2":            `x.s:2:1: symbol "a" is already defined`,
		"nop\n.bss\n.word 1":            `section .bss holds no data: expected zeros`,
	} {
		_, err := asm.Assemble("x.s", []byte(src), asm.Options{})
		require.ErrorContains(t, err, want, "%q", src)
	}
}

// Short sources that would become large, or take long, are refused before they do.
func TestBombs(t *testing.T) {
	doubling := "nop\n"
	for i := range 60 {
		doubling += fmt.Sprintf(".macro m%d a:vararg\nm%d \\a,\\a\n.endm\n", i, i+1)
	}
	nested := func(n int) string { return strings.Repeat(".rept 1000\n", n) + strings.Repeat(".endr\n", n) }
	for name, src := range map[string]string{
		"repetitions":  ".rept 1000\n.rept 1000\n.rept 1000\nnop\n.endr\n.endr\n.endr",
		"of nothing":   nested(9),
		"many":         ".rept 1000000000000\n.endr",
		"deep":         ".macro m\nm\n.endm\nm",
		"wide":         ".macro m\nm\nm\n.endm\nm",
		"deep blocks":  strings.Repeat(".rept 1\n", 1000) + strings.Repeat(".endr\n", 1000),
		"arguments":    doubling + "m0 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"one line":     ".macro m a\n.ascii \"" + strings.Repeat(`\a`, 300_000) + "\"\n.endm\nm " + strings.Repeat("a", 300_000),
		"fill":         "nop\n.fill 0x7fffffffffffffff, 8, 1",
		"fill again":   "nop\n.fill 0x10000000, 8",
		"skip":         "nop\n.skip 0x7fffffffffffffff",
		"org":          "nop\n.org 0x7fffffffffffffff, 1",
		"dot":          "nop\n. = 0x40000000",
		"align":        "nop\n.balign 0x40000000",
		"align, log":   "nop\n.align 31",
		"common":       "nop\n.comm x, 0x7fffffff",
		"conditions":   strings.Repeat(".if 1\n", 100_000) + strings.Repeat(".endif\n", 100_000),
		"pushsections": strings.Repeat(".pushsection .data\n", 100_000),
		"parameters":   ".macro m " + strings.Repeat("a,", 100_000) + "\n.endm",
		"parentheses":  ".word " + strings.Repeat("(", 100_000) + "1",
		"signs":        ".word " + strings.Repeat("-", 100_000) + "1",
	} {
		begin := time.Now()
		_, err := asm.Assemble("x.s", []byte(src), asm.Options{})
		require.Error(t, err, name)
		require.Less(t, time.Since(begin), time.Minute, name)
	}
}
