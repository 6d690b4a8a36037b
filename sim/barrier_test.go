package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/cache"
	"heddle/sim"
)

// exchange has every hart write a word, meet the others of all cores, and write down the
// word of the hart 5 further on; then the other way round, and so on.
const exchange = spread + `
	li a0, 0x80000000
	csrr a1, vx_num_cores
	li a2, 0x90000000
	li a3, 0x91000000
	csrr t2, vx_num_threads
	csrr t3, vx_num_warps
	mul t2, t2, t3
	mul t2, t2, a1
	slli t3, t1, 2
	add a2, a2, t3
	add a3, a3, t3
	addi t4, t1, 5
	remu t4, t4, t2
	slli t4, t4, 2
	li a4, 0x90000000
	add a4, a4, t4
	li t5, 6
	li t0, 0
loop:	add t6, t1, t5
	sw t6, 0(a2)
	bar a0, a1
	lw t6, 0(a4)
	mul t0, t0, t5
	add t0, t0, t6
	bar a0, a1
	addi t5, t5, -1
	bnez t5, loop
	sw t0, 0(a3)
	tmc zero`

// TestDeviceBarrier: stores before the barrier are visible to loads after it, on all cores.
func TestDeviceBarrier(t *testing.T) {
	for _, machine := range []string{"vortex-rtl-m6", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1"} {
		cfg := load(t, machine, "core.warps=4", "core.threads=8")
		_, m := run(t, cfg, source(t, exchange))
		n := uint32(harts(cfg))
		for h := range n {
			want := uint32(0)
			for i := uint32(6); i > 0; i-- {
				want = want*i + (h+5)%n + i
			}
			require.Equal(t, want, m.Arch.Mem.Load32(results+4*h), "%s: hart %d", machine, h)
		}
	}
}

// TestBarrierLatency: a barrier over several cores opens later by barrier_latency, also if the core does not sleep
// meanwhile; a core's own does not.
func TestBarrierLatency(t *testing.T) {
	for _, barrier := range []string{"flush", "signal"} {
		cycles := func(latency int, own bool, awake bool) uint64 {
			text := exchange
			if own {
				text = strings.ReplaceAll(text, "csrr a1, vx_num_cores", "li a1, 1")
			}
			m, err := sim.New(load(t, "vortex-rtl-m6", "core.warps=4", "core.threads=8", "core.device_barrier="+barrier,
				fmt.Sprint("core.barrier_latency=", latency)), sim.Options{MaxCycles: 1_000_000})
			require.NoError(t, err)
			for _, c := range m.Cores {
				if awake {
					c.StayAwake()
				}
			}
			r, err := m.Launch(context.Background(), source(t, text), 0)
			require.NoError(t, err)
			return r.Cycles
		}
		later := cycles(1234, false, false) - cycles(0, false, false)
		if barrier == "flush" {
			require.EqualValues(t, 12*1234, later)
		} else { // without waiting for stores, which meanwhile leave the loads' way
			require.InDelta(t, 12*1234, later, 100)
		}
		require.Equal(t, cycles(1234, false, false), cycles(1234, false, true), barrier)
		require.Equal(t, cycles(0, true, false), cycles(1234, true, false), barrier)
	}
}

// fillsOf runs a program on six cores and returns the lines that their L1Ds fetched.
func fillsOf(t *testing.T, text string, set ...string) (fills, cycles uint64) {
	o, m := run(t, load(t, "vortex-6c32w32t", set...), source(t, text))
	for i, c := range m.Caches {
		if strings.HasSuffix(c.Name(), "L1D") {
			fills += o.Caches[i].Fills
		}
	}
	return fills, o.Cycles
}

// TestDeviceBarrierInvalidatesL1s, which takes a walk of their sets; a core's own barrier
// does neither.
func TestDeviceBarrierInvalidatesL1s(t *testing.T) {
	text := func(id string) string {
		return `
_start:	li a0, ` + id + `
	li a1, 6
	li a2, 0x90000000
	lw t0, 0(a2)
	bar a0, a1
	lw t0, 0(a2)
	bar a0, a1
	lw t0, 0(a2)
	mv t0, t0
	tmc zero`
	}
	fills, small := fillsOf(t, text("0x80000000"))
	require.EqualValues(t, 3*6, fills)
	_, large := fillsOf(t, text("0x80000000"), "l1d.bytes=128KiB")
	const sets = 64 << 10 / (4 * 64 * 2)
	// sets twice as many
	require.InDelta(t, 2*sets, float64(large-small), sets/8, "init and two walks run beside fetch's start")
	local := `
_start:	li a1, 1
	bar zero, a1
	li a2, 0x90000000
	lw t0, 0(a2)
	bar zero, a1
	lw t0, 0(a2)
	mv t0, t0
	tmc zero`
	fills, _ = fillsOf(t, local)
	require.EqualValues(t, 6, fills)
}

// TestWhoWaitsForWhat: far is a memory so far away that one can see who waits for it.
func TestWhoWaitsForWhat(t *testing.T) {
	const far = 3000
	set := []string{fmt.Sprintf("to_memory.request=%d", far/3), fmt.Sprintf("to_memory.response=%d", far/3)}
	exit := func(before, wait string) uint32 {
		_, m := run(t, load(t, "vortex-6c32w32t", set...), source(t, `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
warp:	li a0, 0x80000000
	li a1, 6
	li a2, 0x90000000
	bar a0, a1
	csrr t5, vx_wid
	bnez t5, meet
	csrr t5, vx_cid
	csrr t1, mcycle
	bnez t5, meet
	li t3, 1
`+before+`
`+wait+`
	csrr t2, mcycle
	sub t2, t2, t1
	sw t2, 0x88(zero)
	j over
meet:	`+map[bool]string{true: wait}[wait[:3] == "bar"]+`
over:	tmc zero`))
		code, ok := m.Arch.ExitCode()
		require.True(t, ok)
		return code
	}
	for _, wait := range []string{"bar a0, a1", "fence"} {
		base := exit("nop", wait)
		for _, before := range []string{"lw t4, 0(a2)", "amoadd.w t4, t3, (a2)"} {
			require.Greater(t, exit(before, wait), uint32(far/3*2), "%s waits for %s", wait, before)
		}
		require.Less(t, exit("sw t3, 0(a2)", wait), base+20, "the L1D acknowledges stores: %s", wait)
	}
}

// TestALaunchInvalidatesL1s, and no other cache.
func TestALaunchInvalidatesL1s(t *testing.T) {
	const text = `
_start:	li a2, 0x90000000
	lw t0, 0(a2)
	mv t0, t0
	tmc zero`
	cycles := func(set ...string) (second uint64) {
		m, err := sim.New(load(t, "vortex-6c32w32t", set...), sim.Options{MaxCycles: 100_000})
		require.NoError(t, err)
		var before []cache.Stats
		for i := range 2 {
			r, err := m.Launch(context.Background(), source(t, text), 0)
			require.NoError(t, err)
			second = r.Cycles
			for k, c := range m.Caches {
				s := c.Stats()
				if i == 0 {
					before = append(before, s)
				} else if c.Name() == "L2" {
					require.Equal(t, before[k].Fills, s.Fills)
				} else {
					require.Equal(t, 2*before[k].Fills, s.Fills, "%s", c.Name())
				}
			}
		}
		return second
	}
	require.EqualValues(t, 128, cycles("l1d.bytes=128KiB")-cycles(), "the walk of twice as many sets")
}

// TestWriteBackMachines: values, and bytes between levels, are right with write-back at any level,
// and lines written before the end are still there at the next launch.
func TestWriteBackMachines(t *testing.T) {
	for _, policy := range [][]string{
		{"l1d.write_policy=back"}, {"l2.write_policy=back"}, {"l1d.write_policy=back", "l2.write_policy=back"},
		{"l1d.write_policy=back", "l2.write_policy=back", "l2.forward_flush=true", "l3.write_policy=back", "l3.bytes=64KiB"},
	} {
		for _, small := range []string{"l1d.bytes=64KiB", "l1d.bytes=1KiB"} {
			set := append([]string{"core.warps=4", "core.threads=8", "l2.bytes=16KiB", small}, policy...)
			cfg := load(t, "vortex-rtl-m6", set...)
			_, m := run(t, cfg, source(t, exchange))
			n := uint32(harts(cfg))
			for h := range n {
				want := uint32(0)
				for i := uint32(6); i > 0; i-- {
					want = want*i + (h+5)%n + i
				}
				require.Equal(t, want, m.Arch.Mem.Load32(results+4*h), "%v: hart %d", set, h)
			}
			for _, prog := range []string{"st_coal", "ld_rand"} {
				run(t, cfg, program(t, prog))
			}
			_, m = run(t, cfg, source(t, tickets))
			require.EqualValues(t, 4*n, m.Arch.Mem.Load32(ticketWord))
		}
	}
}
