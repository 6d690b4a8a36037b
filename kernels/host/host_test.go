package host_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/weaver"
	"heddle/configs"
	"heddle/isa"
	"heddle/isa/asm"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/sim"
)

func program(t *testing.T, text string) *isa.Program {
	t.Helper()
	p, err := asm.Assemble("test.s", []byte(text), asm.Options{})
	require.NoError(t, err)
	return p
}

// devices are one with time and one without, each with two cores and a Weaver.
func devices(t *testing.T) map[string]host.Device {
	t.Helper()
	spec := weaver.DefaultSpec()
	u, err := host.NewFunctional(emu.Config{Cores: 2, Warps: 4, Threads: 4}, &spec)
	require.NoError(t, err)
	l, err := configs.LoadMachine("vortex-1c4w4t-weaver", nil, []string{"cores_per_socket=2"})
	require.NoError(t, err)
	m, err := host.NewTimed(l.Value, sim.Options{})
	require.NoError(t, err)
	return map[string]host.Device{"functional": u, "timed": m}
}

func TestShape(t *testing.T) {
	for name, d := range devices(t) {
		require.Equal(t, host.Shape{Cores: 2, Warps: 4, Threads: 4, ScratchpadBytes: 16 << 10, LineBytes: 64,
			Unit: "weaver"}, d.Shape(), name)
		require.Equal(t, 32, d.Shape().Lanes())
	}
	u, err := host.NewFunctional(emu.Config{Cores: 1, Warps: 2, Threads: 8}, nil)
	require.NoError(t, err)
	require.Equal(t, host.Shape{Cores: 1, Warps: 2, Threads: 8, ScratchpadBytes: 16 << 10, LineBytes: 64}, u.Shape())
	_, err = host.NewFunctional(emu.Config{Cores: 1, Warps: 2, Threads: 8}, &weaver.Spec{STEntries: 1, DTEntries: 15})
	require.ErrorContains(t, err, "dt_entries = 15")
	_, err = host.NewFunctional(emu.Config{}, nil)
	require.ErrorContains(t, err, "cores = 0")
}

// TestWordsRoundTrip: in pieces and sizes around those in which they are copied.
func TestWordsRoundTrip(t *testing.T) {
	for name, d := range devices(t) {
		for _, n := range []int{0, 1, 1<<14 - 1, 1 << 14, 1<<14 + 1, 70_000} {
			want, got := make([]uint32, n+2), make([]uint32, n+2)
			for i := range n {
				want[i+1] = rand.Uint32()
			}
			const at = 0x10000FFC // across pages
			d.WriteWords(at, make([]uint32, n+2))
			d.WriteWords(at+4, want[1:n+1])
			d.ReadWords(at, got)
			require.Equal(t, want, got, "%s %d", name, n)
		}
	}
}

// TestLaunches: memory persists between launches, the argument is each launch's own, and the host sees the device's
// writes.
func TestLaunches(t *testing.T) {
	add := program(t, `
_start:	csrr t0, vx_cid
	bnez t0, done
	csrr a0, mscratch
	lw t1, 0(a0)
	addi t1, t1, 1
	sw t1, 0(a0)
	sw zero, 0x88(zero)
done:	tmc zero`)
	for name, d := range devices(t) {
		word := []uint32{40}
		d.WriteWords(0x20000000, word)
		var first sim.Result
		for i := range uint32(3) {
			r, err := d.Launch(context.Background(), add, 0x20000000)
			require.NoError(t, err, name)
			if i == 0 {
				first = r
			}
			require.Equal(t, first.Stats, r.Stats)
			require.Equal(t, name == "timed", r.Cycles > 0)
			d.ReadWords(0x20000000, word)
			require.Equal(t, 41+i, word[0])
		}
		_, err := d.Launch(context.Background(), add, 0x30000000)
		require.NoError(t, err)
		d.ReadWords(0x20000000, word)
		require.EqualValues(t, 43, word[0])
	}
}

// TestALaunchForgetsRegistrations: registrations left in the Weaver by one launch do not appear in the next.
func TestALaunchForgetsRegistrations(t *testing.T) {
	p := program(t, `
_start:	li a1, 7
	li a2, 100
	li a3, 3
	weaver.reg a1, a2, a3
	weaver.dec.id t0          # one lane: the first of three edges
	weaver.dec.loc t1
	csrr t2, vx_cid
	bnez t2, done
	addi t1, t1, -100
	sw t1, 0x88(zero)
done:	tmc zero`)
	for name, d := range devices(t) {
		for range 3 {
			_, err := d.Launch(context.Background(), p, 0)
			require.NoError(t, err, name)
		}
	}
}

func TestLaunchesThatFail(t *testing.T) {
	ctx := context.Background()
	for name, d := range devices(t) {
		_, err := d.Launch(ctx, program(t, "_start: tmc zero"), 0)
		require.ErrorContains(t, err, "test.s: the program ended without storing an exit code", name)
	}
	for name, d := range devices(t) {
		_, err := d.Launch(ctx, program(t, "_start: li t0, 3\n sw t0, 0x88(zero)\n tmc zero"), 0)
		require.ErrorContains(t, err, "test.s: the program returned 3", name)
	}
	for name, d := range devices(t) {
		_, err := d.Launch(ctx, program(t, "_start: lw t0, 2(zero)"), 0)
		var trap *emu.Trap
		require.True(t, errors.As(err, &trap), "%s: %v", name, err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for name, d := range devices(t) {
		_, err := d.Launch(stopped, program(t, "_start: j _start"), 0)
		require.ErrorIs(t, err, context.Canceled, name)
	}
}

func TestTimes(t *testing.T) {
	var times host.Times
	times.Add(sim.Result{Cycles: 100}, 2000)
	times.Add(sim.Result{Cycles: 30}, 0)
	require.Equal(t, host.Times{Launches: 2, Cycles: 130, Overhead: 2000}, times)
	require.EqualValues(t, 2130, times.Total())
}
