package sim_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/sim"
)

// readsCounters has all lanes load and store, reading two counters as they go, and hart 0 write down all counters of
// its core.
func readsCounters() string {
	text := spread + `
	slli a1, t1, 6
	li a2, 0x90000000
	add a1, a1, a2
	li t3, 20
1:	lw t4, 0(a1)
	sw t4, 4(a1)
	csrr t5, mhpmcounter3
	csrr t5, 0xb04
	addi t3, t3, -1
	bnez t3, 1b
	fence
	li a3, 0xA0000000
	li t3, 1
	tmc t3
	bnez t1, 2f
`
	for i := range 29 {
		text += fmt.Sprintf("csrr t4, 0x%x\n sw t4, %d(a3)\n", 0xB03+i, 4*i)
	}
	return text + "2:	tmc zero\n"
}

// Reading counters changes nothing, and they are no more than the statistics at the end are.
func TestPerformanceCounters(t *testing.T) {
	p := source(t, readsCounters())
	var before []string
	for class, name := range sim.CounterClasses {
		m, err := sim.New(load(t, "vortex-rtl-c"),
			sim.Options{Counters: sim.Counters(class), MaxCycles: 10_000_000, Check: true, Threads: 2})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
		var counts []string
		for _, s := range m.Statistics() {
			counts = append(counts, fmt.Sprint(s.Name, " ", s.Float()))
		}
		if before != nil {
			require.Equal(t, before, counts, name)
		}
		before = counts
		got := make([]uint32, 29)
		for i := range got {
			got[i] = m.Arch.Mem.Load32(0xA0000000 + 4*uint32(i))
		}
		check := func(i int, stat string, slack float64) {
			t.Helper()
			s, ok := m.Statistics().Get(stat)
			require.True(t, ok, stat)
			require.NotZero(t, s.Float(), stat)
			require.LessOrEqual(t, float64(got[i]), s.Float(), stat)
			require.GreaterOrEqual(t, float64(got[i]), slack*s.Float(), stat)
		}
		switch sim.Counters(class) {
		case sim.NoCounters:
			require.Equal(t, make([]uint32, 29), got)
		case sim.CoreCounters:
			check(0, "core0.vortex.sched_idle", 0.1)
			check(6, "core0.vortex.scrb_lsu", 0.1)
			check(11, "core0.fetch.requests", 0.3)
			require.Equal(t, make([]uint32, 13), got[16:])
		case sim.MemoryCounters:
			check(0, "l1i.reads", 0.3)
			check(3, "l1d.reads", 0.3)
			check(4, "l1d.writes", 0.3)
			check(9, "l2.reads", 0.3)
			check(21, "dram.reads", 0.3)
			require.Zero(t, got[15], "no L3")
		}
	}
}

// A program whose lanes part at a branch goes in time where it goes without.
func TestDivergentBranchesInTime(t *testing.T) {
	p := source(t, spread+`
	li a1, 0x90000000
	slli a2, t1, 2
	add a1, a1, a2
	csrr t2, vx_tid
	li t3, 0
1:	addi t3, t3, 1
	blt t3, t2, 1b
	sw t3, 0(a1)
	tmc zero
`)
	cfg := load(t, "vortex-rtl-a")
	for how, want := range map[emu.Divergence]uint32{emu.DivergentFollowsLast: uint32(cfg.Core.Threads - 1),
		emu.DivergentFollowsFirst: 1} {
		m, err := sim.New(cfg, sim.Options{Divergent: how, MaxCycles: 1_000_000, Check: true})
		require.NoError(t, err)
		_, err = m.Run(context.Background(), p)
		require.NoError(t, err)
		require.NoError(t, m.CheckInvariants())
		for hart := range harts(cfg) {
			require.Equal(t, want, m.Arch.Mem.Load32(0x90000000+4*uint32(hart)), "hart %d", hart)
		}
	}
}
