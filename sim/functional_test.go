package sim_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
	"heddle/sim/stats"
)

// execute runs a program functionally.
func execute(m *sim.Machine, p *isa.Program) error {
	r, err := m.Execute(context.Background(), p, 0)
	if err == nil && r.Cycles != 0 {
		err = fmt.Errorf("%d cycles", r.Cycles)
	}
	return err
}

// In functional execution, too, accesses take effect in an order that the memory model allows.
func TestRandomMemoryFunctional(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			memoryCase(t, 5000+seed, false, execute)
		})
	}
}

// TestRandomStreamsOfUnitsFunctional: a single warp's results from its Weaver are the same in functional execution, up
// to the registers at the end, or to the trap.
func TestRandomStreamsOfUnitsFunctional(t *testing.T) {
	for seed := range uint64(150) {
		text := weaverStream(rand.New(rand.NewPCG(seed, 12)))
		cfg, p := load(t, "vortex-1c4w4t-weaver"), source(t, text)
		want, wantErr := runFunctional(t, cfg, p)
		m, err := sim.New(cfg, sim.Options{MaxCycles: 1_000_000, Check: true})
		require.NoError(t, err)
		err = execute(m, p)
		var a, b *emu.Trap
		if errors.As(wantErr, &a) {
			require.True(t, errors.As(err, &b), "seed %d: %v, but functional %v\n%s", seed, err, wantErr, text)
			require.Equal(t, a, b, "seed %d\n%s", seed, text)
			continue
		}
		require.NoError(t, err, "seed %d\n%s", seed, text)
		require.NoError(t, m.CheckInvariants())
		for reg := range isa.Reg(32) {
			for l := range cfg.Core.Threads {
				require.Equal(t, want.Core(0).Warp(0).Reg(reg, l), m.Arch.Core(0).Warp(0).Reg(reg, l),
					"seed %d: %v of lane %d\n%s", seed, reg, l, text)
			}
		}
	}
}

// walk has lane l of each core's one warp load, add and store words that are spread over 64 KiB, lane by lane apart.
const walk = `
_start:	li t0, -1
	tmc t0
	csrr t1, mhartid
	slli t1, t1, 2
	li a0, 0x90000000
	add a0, a0, t1
	li a1, 200
	li a2, 0
	li a3, 12345
	li a4, 0xFFC0
loop:	li t2, 1103515245
	mul a3, a3, t2
	addi a3, a3, 1235
	srli t3, a3, 8
	and t3, t3, a4
	add t3, t3, a0
	lw t4, 0(t3)
	add a2, a2, t4
	sw a2, 0(t3)
	amoadd.w t5, a1, (a0)
	addi a1, a1, -1
	bnez a1, loop
	sw zero, 0x88(zero)
	li t0, 1
	tmc t0
	tmc zero
`

// TestExecutionWarms: of a warp's accesses, which one machine order has, the levels that a launch does not make forget
// hold the same afterwards, with time and without: a second launch has the same hits, and takes about the same cycles.
func TestExecutionWarms(t *testing.T) {
	for _, set := range [][]string{
		nil, {"l2.write_policy=back", "l1d.write_policy=back"},
		{"l2.replacement=lru", "l2.bytes=32KiB", "l2.banks=1", "l2.memory_ports=1"}, {"l2.replacement=random", "l2.bytes=16KiB", "l2.banks=1", "l2.memory_ports=1", "atomics.mode=simx24"},
	} {
		cfg := load(t, "vortex-6c32w32t", append([]string{"sockets=1", "core.threads=4", "memory.preset=hbm2-2gbps",
			"memory.mapping=RoBaRaCoCh"}, set...)...)
		p := source(t, walk)
		second := func(first func(m *sim.Machine)) (r sim.Result, hits float64) {
			m, err := sim.New(cfg, sim.Options{Check: true, MaxCycles: 10_000_000})
			require.NoError(t, err)
			first(m)
			before := m.Statistics()
			r = launch(t, m, p, 0)
			require.NoError(t, m.CheckInvariants())
			since := m.Statistics().Since(before)
			h, _ := since.Get("l2.read_hits")
			return r, h.Float()
		}
		timed, hits := second(func(m *sim.Machine) { launch(t, m, p, 0) })
		warm, warmHits := second(func(m *sim.Machine) { require.NoError(t, execute(m, p)) })
		cold, coldHits := second(func(*sim.Machine) {})
		require.Equal(t, timed.Stats, warm.Stats)
		require.Equal(t, hits, warmHits, "%v", set)
		require.NotEqual(t, coldHits, warmHits)
		require.InEpsilon(t, timed.Cycles, warm.Cycles, 0.01, "%v: cold %d", set, cold.Cycles)
	}
}

// TestFilled: lines brought in are compared with those that the caches behind the L1s hold, of the level where that is
// least.
func TestFilled(t *testing.T) {
	fills := stats.Tree{stats.Count("l1d.fills", "", "", 7), stats.Count("l2.fills", "", "", 768),
		stats.Count("l3.fills", "", "", 512)}
	for _, c := range []struct {
		want float64
		set  []string
	}{
		{1.5, []string{"l2.bytes=32KiB"}},
		{3, []string{"l2.bytes=16KiB"}},
		{0.25, []string{"l2.bytes=16KiB", "l3.bytes=128KiB"}},
		{math.Inf(1), []string{"l2=null"}},
	} {
		m, err := sim.New(load(t, "vortex-1c4w4t", c.set...), sim.Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, m.Filled(fills), "%v", c.set)
	}
}

// TestTimeGoesOnAfterExecution: launches with time and without follow each other in any order, and all invariants hold.
func TestTimeGoesOnAfterExecution(t *testing.T) {
	for _, machine := range []string{"vortex-6c32w32t", "vortex-6c32w32t-sharedl1", "vortex-rtl-m6"} {
		for i, text := range []string{tickets, mixed, exchange, counter, walk} {
			r := rand.New(rand.NewPCG(uint64(i), 3))
			p := source(t, text)
			m, err := sim.New(load(t, machine, "core.threads=8", "core.warps=4"),
				sim.Options{MaxCycles: 10_000_000, Check: true})
			require.NoError(t, err)
			before := m.Arch.Stats()
			for n := range 8 {
				var res sim.Result
				if r.IntN(2) == 0 || n == 0 {
					res, err = m.Execute(context.Background(), p, 0)
					require.Zero(t, res.Cycles)
				} else {
					res, err = m.Launch(context.Background(), p, 0)
					require.Positive(t, res.Cycles)
				}
				require.NoError(t, err)
				require.Positive(t, res.WarpInstrs)
				require.Equal(t, m.Arch.Stats().Since(before), res.Stats)
				before = m.Arch.Stats()
				require.NoError(t, m.CheckInvariants())
			}
		}
	}
}

// TestErrorsWithoutTime: a trap is the program's, a deadlock is reported, an endless program is interrupted.
func TestErrorsWithoutTime(t *testing.T) {
	cfg := load(t, "vortex-6c32w32t", "core.threads=4", "core.warps=4")
	m := machine(t, cfg)
	var trap *emu.Trap
	require.ErrorAs(t, execute(m, source(t, "_start: lw t0, 2(zero)")), &trap)
	require.ErrorContains(t, execute(m, source(t, counter)), "ended with an error")
	var stall *sim.StallError
	m, err := sim.New(cfg, sim.Options{})
	require.NoError(t, err)
	require.ErrorAs(t, execute(m, source(t, "_start: li t0, 0\n li t1, 2\n bar t0, t1\n tmc zero")), &stall)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = machine(t, cfg).Execute(ctx, source(t, "_start: j _start"), 0)
	require.ErrorIs(t, err, context.Canceled)
}
