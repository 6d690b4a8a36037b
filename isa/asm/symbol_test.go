package asm_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
)

func repeat(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i))
	}
	return b.String()
}

// Symbols that are defined by others: each is evaluated once, and no chain is too long.
func TestChainsOfSymbols(t *testing.T) {
	const long = 200_000
	down := func(i int) string { return fmt.Sprintf("a%d=a%d\n", i, i+1) }
	up := func(i int) string { return fmt.Sprintf("a%d=a%d\n", i+1, i) }
	for _, c := range []struct {
		name, src string
		want      uint32
	}{
		{"doubled 60 times", "nop\n.word a0>>50\n" + repeat(60, func(i int) string { return fmt.Sprintf(".equ a%d, a%d+a%d\n", i, i+1, i+1) }) + "a60=1", 1 << 10},
		{"many, the end last", "nop\n.word a0\n" + repeat(long, down) + fmt.Sprintf("a%d=7", long), 7},
		{"many, the beginning last", fmt.Sprintf("nop\n.word a%d\n", long) + repeat(long, up) + "a0=7", 7},
		{"many, of an address", "nop\na0: .word a" + fmt.Sprint(long) + "-a0\n" + repeat(long, up), 0},
		{"counted", "nop\ni=0\n" + strings.Repeat("i=i+1\n", 100) + ".word i", 100},
		{"defined behind its use, and again", "nop\n.word a\n.equ a, b+1\n.equ b, 3\n.if a == 4\n.equ b, 5\n.endif", 4},
		{"a local label behind", "nop\n.word a\n1: a=1f-1b\nnop\n1:", 4},
		{"of the value then", "nop\nl: b=1\na=l-l+b\nb=2\n.word a", 1},
	} {
		p, err := asm.Assemble("x.s", []byte(c.src), asm.Options{})
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, binary.LittleEndian.Uint32(p.Segments[0].Data[4:]), c.name)
	}
}

// Symbols that cannot be had are refused with the line, however long the chain to the cause is.
func TestChainsWithoutAnEnd(t *testing.T) {
	const long = 50_000
	chain := repeat(long, func(i int) string { return fmt.Sprintf("a%d=a%d\n", i, i+1) })
	for name, c := range map[string]struct{ src, want string }{
		"undefined": {"nop\n.word a0\n" + chain, fmt.Sprintf(`x.s:2:7: symbol "a0": symbol "a%d" is not defined`, long)},
		"circle":    {"nop\n.word a0\n" + chain + fmt.Sprintf("a%d=a0", long), `x.s:2:7: symbol "a0": symbol "a0" is defined by itself`},
		"itself":    {"nop\na=a\n.word a", `x.s:3:7: symbol "a": symbol "a" is defined by itself`},
		// Each line makes the chain longer, and asks for what it comes to.
		"restless":   {"nop\n" + repeat(long, func(i int) string { return fmt.Sprintf("a%d=a%d\nx=a0\n", i, i+1) }), "change too often"},
		"of .eqv":    {"nop\n.eqv a0, 1\n" + repeat(40, func(i int) string { return fmt.Sprintf(".eqv a%d, a%d+a%d\n", i+1, i, i) }), "change too often"},
		"eqv itself": {"nop\n.eqv a, b\n.eqv b, a+1\n.word b", `symbol "b" is defined by itself`},
	} {
		_, err := asm.Assemble("x.s", []byte(c.src), asm.Options{})
		require.ErrorContains(t, err, c.want, name)
	}
}
