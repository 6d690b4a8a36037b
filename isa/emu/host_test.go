package emu_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
)

// hosted assembles a program with the words for the host, in a page with code.
func hosted(t *testing.T, src string) *isa.Program {
	t.Helper()
	p, err := asm.Assemble("host.s", []byte("_start:\n"+src+"\n.balign 8\ntohost: .word 0, 0\nfar: .word 0\n"),
		asm.Options{Base: emu.CodeBase})
	require.NoError(t, err)
	return p
}

const forEver = "\nspin: j spin"

func TestHostEndsThePrograms(t *testing.T) {
	for _, c := range []struct {
		name, src string
		cfg       emu.Config
		code      uint32
	}{
		{"as riscv-tests do", "la a1, tohost; li a0, 1\nagain: sw a0, 0(a1); sw zero, 4(a1); j again", shape(1, 1, 1), 0},
		{"failed", "la a1, tohost; li a0, 15\nagain: sw a0, 0(a1); sw zero, 4(a1); j again", shape(1, 1, 1), 7},
		{"the lower word only, again and again", "la a1, tohost; li a0, 3\nagain: sw a0, 0(a1); j again", shape(1, 1, 1), 1},
		{"a byte", "la a1, tohost; li a0, 5; sb a0, 0(a1); sw zero, 4(a1)" + forEver, shape(1, 1, 1), 2},
		{"the upper word first", "la a1, tohost; li a0, 9; sw zero, 4(a1); sw a0, 0(a1); sw a0, 0(a1)" + forEver, shape(1, 1, 1), 4},
		{"an atomic", "la a1, tohost; li a0, 9; amoswap.w a0, a0, (a1); sw zero, 4(a1)" + forEver, shape(1, 1, 1), 4},
		{"with a reservation elsewhere", "la a1, tohost; la a2, far; lr.w a3, (a2); li a0, 9; sw a0, 0(a1); sw zero, 4(a1)" + forEver, shape(1, 1, 1), 4},
		{"lanes in several pages", "li t0, -1; tmc t0; la a1, tohost; csrr t1, vx_tid; slli t1, t1, 12; add a1, a1, t1; li a0, 9; sw a0, 0(a1); sw zero, 4(a1)" + forEver, shape(1, 1, 4), 4},
		{"other cores wait for ever", "csrr a0, mhartid\nwait: bnez a0, wait\nla a1, tohost; li a0, 1; sw a0, 0(a1); sw zero, 4(a1)" + forEver, shape(3, 2, 2), 0},
		{"other warps are at a barrier", `li t0, 3; la t1, other; wspawn t0, t1; li t0, 500
			1: addi t0, t0, -1; bnez t0, 1b
			la a1, tohost; li a0, 1; sw a0, 0(a1); sw zero, 4(a1)` + forEver + "\nother: li t0, 3; bar zero, t0" + "\n j other", shape(2, 3, 2), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.MaxInstrs = 100_000
			m, err := emu.New(c.cfg)
			require.NoError(t, err)
			for range 2 {
				m.Load(hosted(t, c.src))
				require.NoError(t, m.Run(context.Background()))
				code, ok := m.ExitCode()
				require.True(t, ok)
				assert.Equal(t, c.code, code)
			}
		})
	}
}

func TestHostDoesNothingElse(t *testing.T) {
	for _, c := range []struct {
		src  string
		want string
	}{
		{"la a1, tohost; la a0, far; sw a0, 0(a1); sw zero, 4(a1)", "the program has asked the host for 0x0000000080000028 at tohost: only its end, an odd number below 2^32, is done"},
		{"la a1, tohost; li a0, 65; sw a0, 0(a1); lui a0, 0x1010; sw a0, 4(a1)", "the program has asked the host for 0x0101000000000041 at tohost: only its end, an odd number below 2^32, is done"},
	} {
		m, err := emu.New(shape(1, 1, 1))
		require.NoError(t, err)
		m.Load(hosted(t, c.src+forEver))
		require.EqualError(t, m.Run(context.Background()), c.want)
	}
	// A program of another name for them, and one that is loaded later, mean nothing by a store there.
	m, err := emu.New(shape(1, 1, 1))
	require.NoError(t, err)
	m.Load(hosted(t, "la a1, tohost; li a0, 1; sw a0, 0(a1); sw zero, 4(a1)"+forEver))
	require.NoError(t, m.Run(context.Background()))
	other := hosted(t, "la a1, tohost; li a0, 1; sw a0, 0(a1); sw zero, 4(a1); li a0, 3; sw a0, 0x88(zero); tmc zero")
	for i := range other.Symbols {
		other.Symbols[i].Name = "x" + other.Symbols[i].Name
	}
	m.Load(other)
	require.NoError(t, m.Run(context.Background()))
	code, _ := m.ExitCode()
	require.EqualValues(t, 3, code)
}

// Code in the page of the words is still code, which stores make stale.
func TestHostPageHoldsCode(t *testing.T) {
	m, err := emu.New(emu.Config{Cores: 1, Warps: 1, Threads: 1, MaxInstrs: 1000})
	require.NoError(t, err)
	m.Load(hosted(t, `li s0, 2; la t0, patched; li t1, 0
again:	li a0, 0
patched: addi a0, a0, 5
	add a2, a2, a0
	li t1, 0x02550513; sw t1, 0(t0)	# addi a0, a0, 37
	addi s0, s0, -1; bnez s0, again
	slli a2, a2, 1; ori a2, a2, 1; la a1, tohost; sw a2, 0(a1); sw zero, 4(a1)`+forEver))
	require.NoError(t, m.Run(context.Background()))
	code, _ := m.ExitCode()
	require.EqualValues(t, 5+37, code)
}
