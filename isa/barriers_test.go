package isa_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
)

// TestUnfencedBarriers: those that may be device-wide and have no fence before them.
func TestUnfencedBarriers(t *testing.T) {
	for text, want := range map[string]int{
		"li a0, 0x80000000\nbar a0, a1":                                           1,
		"lui s10, 0x80000\nloop: sw t0, 0(t1)\nbar s10, a1\nbnez t0, loop":        1,
		"lui s10, 0x80000\nloop: sw t0, 0(t1)\nfence\nbar s10, a1\nbnez t0, loop": 0,
		"li a0, 0x80000000\nsw t0, 0(t1)\nfence\naddi t0, t0, 1\nbar a0, a1":      0,
		"li a0, 0x80000000\nfence\nsw t0, 0(t1)\nbar a0, a1":                      1,
		"li a0, 0x80000000\nfence\namoadd.w t0, t1, (t2)\nbar a0, a1":             1,
		"li a0, 0x80000000\nbeqz t0, over\nfence\nover: bar a0, a1":               1,
		"li a0, 0x80000000\nfence\nbeqz t0, over\nbar a0, a1\nover: nop":          0,
		"li a0, 0x80000000\nfence\ncall f\nbar a0, a1\nf: ret":                    1,
		"li a0, 3\nbar a0, a1":                                    0,
		"loop: bar zero, a1\nbnez t0, loop":                       0,
		"li a0, 0x12345\nloop: bar a0, a1\nbnez t0, loop":         0,
		"csrr a0, 0xCC0\nbar a0, a1":                              1,
		"lw a0, 0(sp)\nloop: bar a0, a1\nli a0, 1\nbnez t0, loop": 1,
		"li a0, 0x80000001\nfence\nbar a0, a1\nbar a0, a1":        0,
		"nop\n.word 0\nbar a0, a1":                                1,
		".data\n.word 0x00b5400b\n.text\nnop":                     0,
	} {
		p, err := asm.Assemble("t.s", []byte(".globl _start\n_start:\n"+text+"\ntmc zero\n"), asm.Options{})
		require.NoError(t, err, text)
		require.Len(t, p.UnfencedBarriers(), want, text)
	}
}
