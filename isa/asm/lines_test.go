package asm_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
)

func TestLinesOfAssembly(t *testing.T) {
	var l isa.Lines
	p, err := asm.Assemble("k.s", []byte(`_start: nop
	nop; nop
	li a0, 0x12345678

	.data
v:	.word 1
	.text
	la a0, v	# line 8
	.section .text.other
	.balign 8
	ret`), asm.Options{Lines: &l})
	require.NoError(t, err)
	for offset, want := range map[uint32]int{0: 1, 4: 2, 8: 2, 12: 3, 16: 3, 20: 8, 24: 8, 28: 0, 4096: 11, 4100: 0,
		8192: 0} {
		file, line, ok := l.At(p.Entry + offset)
		require.Equal(t, want, line, offset)
		require.Equal(t, want > 0, ok)
		if ok {
			require.Equal(t, "k.s", file)
		}
	}
	without, err := asm.Assemble("k.s", []byte("nop"), asm.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, without.Segments)
}
