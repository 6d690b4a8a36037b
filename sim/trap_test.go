package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/sim"
)

// trapping has every lane emulate misaligned loads in a handler, ask for a service, and pass over what is no instruction,
// with loads and stores that miss in front of it and behind it. What it comes to is at logBase.
const trapping = spread + `
	la a0, handle
	csrw mtvec, a0
	j work
	.balign 4
handle:	csrr s7, mcause
	addi s7, s7, -4		# a misaligned load: a5 = the word at a4
	bnez s7, 1f
	lbu s7, 0(a4)
	lbu s8, 1(a4)
	slli s8, s8, 8
	or s7, s7, s8
	lbu s8, 2(a4)
	slli s8, s8, 16
	or s7, s7, s8
	lbu s8, 3(a4)
	slli s8, s8, 24
	or a5, s7, s8
	j 2f
1:	addi s6, s6, 1		# an environment call, or no instruction
2:	csrr s7, mepc
	addi s7, s7, 4
	csrw mepc, s7
	mret
work:	slli a1, t1, 9
	li a2, 0x90000000
	add a1, a1, a2
	slli a3, t1, 9
	li a2, 0xA0000000
	add a3, a3, a2
	li t3, 3
	li t4, 0x01234567
	li s6, 0
loop:	sw t4, 0(a1)
	sw t3, 4(a1)
	addi a4, a1, 1
	lw a5, 0(a4)
	sw a5, 0(a3)
	lw t5, 0(a1)
	ecall
	amoadd.w t6, a5, (a1)
	sw t6, 4(a3)
	.word 0
	fence
	add t4, t4, a5
	addi a1, a1, 32
	addi a3, a3, 8
	addi t3, t3, -1
	bnez t3, loop
	sw s6, 0(a3)
	tmc zero
`

func TestTrapsOnWholeMachines(t *testing.T) {
	p := source(t, trapping)
	for _, name := range []string{"vortex-1c4w4t", "vortex-rtl-a", "vortex-rtl-c"} {
		cfg := load(t, name)
		u, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads})
		require.NoError(t, err)
		u.Load(p)
		require.NoError(t, u.Run(context.Background()))
		m, err := sim.New(cfg, sim.Options{Check: true, MaxCycles: 20_000_000})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
		require.NoError(t, m.CheckLaws())
		require.Equal(t, u.Stats(), m.Arch.Stats())
		want, got := make([]byte, logBytes), make([]byte, logBytes)
		for hart := range harts(cfg) {
			u.Mem.Read(logBase+uint32(hart)*logBytes, want)
			m.Arch.Mem.Read(logBase+uint32(hart)*logBytes, got)
			require.Equal(t, want, got, "%s, hart %d", name, hart)
			require.Equal(t, uint32(6), m.Arch.Mem.Load32(logBase+uint32(hart)*logBytes+3*8), "traps that are counted")
		}
	}
	sameOnThreads(t, load(t, "vortex-6c32w32t", "core.warps=2", "core.threads=4"), p)
}
