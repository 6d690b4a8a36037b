package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/sim"
)

// trapping has every lane emulate misaligned loads in a handler, ask for a service, and skip an illegal instruction,
// with loads and stores that miss before and after it. Its results are at logBase.
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
		u, err := emu.New(emu.Config{Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps,
			Threads: cfg.Core.Threads})
		require.NoError(t, err)
		u.Load(p)
		require.NoError(t, u.Run(context.Background()))
		m, err := sim.New(cfg, sim.Options{Check: true, MaxCycles: 20_000_000})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
		require.Equal(t, u.Stats(), m.Arch.Stats())
		want, got := make([]byte, logBytes), make([]byte, logBytes)
		for hart := range harts(cfg) {
			u.Mem.Read(logBase+uint32(hart)*logBytes, want)
			m.Arch.Mem.Read(logBase+uint32(hart)*logBytes, got)
			require.Equal(t, want, got, "%s, hart %d", name, hart)
			require.Equal(t, uint32(6), m.Arch.Mem.Load32(logBase+uint32(hart)*logBytes+3*8), "traps that are counted")
		}
	}
	sameOnThreads(t, 3, load(t, "vortex-6c32w32t", "core.warps=2", "core.threads=4"), p)
}

// ending has warp 0 of core 0 ask the host for the end, while other warps wait at barriers of their core and of the
// device, load and store without end, divide, and trap.
const ending = `
_start:	la a0, handle
	csrw mtvec, a0
	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li t0, -1
	tmc t0
	csrr t0, vx_wid
	csrr t1, vx_cid
	csrr a1, mhartid
	slli a1, a1, 6
	li a2, 0x90000000
	add a1, a1, a2
	beqz t0, first
	li t2, 1
	beq t0, t2, 1f
	li t2, 2
	beq t0, t2, 2f
	li a0, 2		# warp 3: traps
3:	ecall
	lw a3, 1(a1)
	fence
	j 3b
1:	li a0, 0		# warp 1: at a barrier for more warps than come
	li a3, 3
	bar a0, a3
	j 1b
2:	lw a3, 0(a1)		# warp 2: loads, stores and divides
	sw a3, 4(a1)
	div a4, a3, t2
	amoadd.w a4, a4, (a1)
	addi a1, a1, 64
	j 2b
first:	bnez t1, 4f
	li a3, END
5:	addi a3, a3, -1
	bnez a3, 5b
	li a0, 1
	tmc a0
	la a1, tohost
	li a0, 85
	sw a0, 0(a1)
	sw zero, 4(a1)
	j 5b
4:	li a0, 0x80000000	# warp 0 of other cores: at a barrier for all cores
	csrr a3, vx_num_cores
	bar a0, a3
	j 4b
	.balign 4
handle:	csrr s7, mepc
	addi s7, s7, 4
	csrw mepc, s7
	mret
	.balign 8
tohost:	.word 0, 0
	.balign 4096
`

func TestHostEndsTheProgramInTime(t *testing.T) {
	for end := int64(1); end < 400; end += 7 + end/2 {
		p, err := asm.Assemble("ending.s", []byte(ending),
			asm.Options{Base: 0x80000000, Defines: map[string]int64{"END": end}})
		require.NoError(t, err)
		for _, name := range []string{"vortex-rtl-a", "vortex-1c4w4t", "vortex-6c32w32t"} {
			cfg := load(t, name, "core.warps=4", "core.threads=4")
			for _, threads := range []int{1, 3} {
				m, err := sim.New(cfg, sim.Options{Check: true, MaxCycles: 1_000_000, Threads: threads})
				require.NoError(t, err)
				for range 2 {
					_, err = m.Run(context.Background(), p)
					require.NoError(t, err, "%s %d", name, end)
					code, ok := m.Arch.ExitCode()
					require.True(t, ok)
					require.EqualValues(t, 42, code)
					require.NoError(t, m.CheckInvariants())
				}
			}
		}
	}
}

// Nor do they go on in functional execution, which takes no traps.
func TestHostEndsTheProgramWithoutTime(t *testing.T) {
	run := func(text string) (*sim.Machine, error) {
		p, err := asm.Assemble("x.s", []byte(text), asm.Options{Base: 0x80000000})
		require.NoError(t, err)
		m, err := sim.New(load(t, "vortex-6c32w32t", "core.warps=4", "core.threads=4"),
			sim.Options{MaxCycles: 1_000_000})
		require.NoError(t, err)
		_, err = m.Execute(context.Background(), p, 0)
		return m, err
	}
	m, err := run("_start: la a0, 1f\n li a1, 4\n wspawn a1, a0\n1: csrr a0, vx_wid\n csrr a1, vx_cid\n or a0, a0, " +
		"a1\n2: lw a1, tohost\n bnez a0, 2b\n" +
		"li a0, 17\n la a1, tohost\n sw a0, 0(a1)\n sw zero, 4(a1)\n3: j 3b\n .balign 8\ntohost: .word 0, 0\n")
	require.NoError(t, err)
	code, ok := m.Arch.ExitCode()
	require.True(t, ok)
	require.EqualValues(t, 8, code)
	_, err = run("_start: la a0, _start\n csrw mtvec, a0\n ecall\n")
	require.ErrorContains(t, err, "the program handles traps, which the parts of a run that are executed without time "+
		"do not take: environment call")
}
