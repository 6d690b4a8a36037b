package host_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/sim"
)

// likeGPUs are devices of two cores whose launches are those of GPUs, with time and without.
func likeGPUs(t *testing.T, words int, on bool) map[string]host.Device {
	t.Helper()
	u, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4, ArgumentRegisters: words, SilentExit: on,
		Zba: on}, nil)
	require.NoError(t, err)
	l, err := configs.LoadMachine("vortex-1c4w4t", nil, []string{"cores_per_socket=2"})
	require.NoError(t, err)
	l.Value.Core.ArgumentRegisters, l.Value.Core.SilentExit, l.Value.Core.Zba = words, on, on
	m, err := host.NewTimed(l.Value, sim.Options{})
	require.NoError(t, err)
	require.Equal(t, words, m.Shape().ArgumentRegisters)
	require.Equal(t, u.Shape(), m.Shape())
	return map[string]host.Device{"functional": u, "timed": m}
}

// TestArgumentRegisters: at every launch, all lanes of all warps find the first words of the argument block, and those
// behind hold what they did.
func TestArgumentRegisters(t *testing.T) {
	const arg, out = 0x10000000, 0x10010000
	p := program(t, `
_start:	csrr t0, vx_num_warps
	la t1, all
	wspawn t0, t1
all:	li t0, -1
	tmc t0
	csrr t0, mhartid
	slli t0, t0, 4
	li t1, 0x10010000
	add t0, t0, t1
	sw x31, 0(t0)
	sw x30, 4(t0)
	sw x29, 8(t0)
	sw x28, 12(t0)
	li x29, 5
	li x28, 6
	sw zero, 0x88(zero)
	tmc zero`)
	for name, d := range likeGPUs(t, 2, false) {
		for launch := range uint32(2) {
			d.WriteWords(arg, []uint32{launch + 7, launch + 70, 700, 7000})
			_, err := d.Launch(context.Background(), p, arg)
			require.NoError(t, err, name)
			got := make([]uint32, 4*32)
			d.ReadWords(out, got)
			for hart := range 32 {
				require.Equal(t, []uint32{launch + 7, launch + 70, 5 * launch, 6 * launch}, got[4*hart:4*hart+4],
					"%s: launch %d, hart %d", name, launch, hart)
			}
		}
		_, err := d.Launch(context.Background(), p, 0)
		require.NoError(t, err, name)
		got := make([]uint32, 2)
		d.ReadWords(out, got)
		require.Equal(t, []uint32{8, 71}, got, "%s: there is no argument block", name)
	}
}

// TestSilentExit: a program that stores no exit code has failed, unless the machine has it otherwise; one that stores
// another than 0 has in any case.
func TestSilentExit(t *testing.T) {
	silent, fails := program(t, "_start: tmc zero"), program(t, "_start: li t0, 3; sw t0, 0x88(zero); tmc zero")
	for _, on := range []bool{false, true} {
		for name, d := range likeGPUs(t, 0, on) {
			_, err := d.Launch(context.Background(), silent, 0)
			require.Equal(t, on, err == nil, "%s: %v", name, err)
		}
		for name, d := range likeGPUs(t, 0, on) {
			_, err := d.Launch(context.Background(), fails, 0)
			require.ErrorContains(t, err, "returned 3", name)
		}
	}
}

// TestZba: the extension's instructions are illegal on machines without it.
func TestZba(t *testing.T) {
	p := program(t, `
_start:	li t0, 0x40000001
	li t1, 10
	li t3, 0x10000000
	sh1add t2, t0, t1
	sw t2, 0(t3)
	sh2add t2, t0, t1
	sw t2, 4(t3)
	sh3add t2, t0, t1
	sw t2, 8(t3)
	sw zero, 0x88(zero)
	tmc zero`)
	for name, d := range likeGPUs(t, 0, true) {
		_, err := d.Launch(context.Background(), p, 0)
		require.NoError(t, err, name)
		got := make([]uint32, 3)
		d.ReadWords(0x10000000, got)
		require.Equal(t, []uint32{0x8000000C, 14, 18}, got, name)
	}
	for name, d := range likeGPUs(t, 0, false) {
		_, err := d.Launch(context.Background(), p, 0)
		require.ErrorContains(t, err, "sh1add: the machine lacks Zba (core.zba)", name)
	}
}
