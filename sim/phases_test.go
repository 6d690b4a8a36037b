package sim_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/components/core"
	"heddle/isa"
	"heddle/sim"
)

// marked has a phase for each kind of wait: memory, a register of an earlier phase, a
// barrier, and a branch; warp 0 is late at the barrier.
const marked = `
_start:	la a0, warp
	csrr t0, vx_num_warps
	wspawn t0, a0
heddle.phase.init:
warp:	li t0, -1
	tmc t0
	li t1, 0x90000000
	csrr t2, vx_wid
	bnez t2, load
	li t3, 400
heddle.phase.registration:
late:	addi t3, t3, -1
	bnez t3, late
heddle.phase.edge_access:
load:	lw t4, 0(t1)
heddle.phase.gather_sum:
	add t5, t4, t4
	add t5, t5, t4
heddle.phase.schedule:
	csrr t0, vx_num_warps
	bar zero, t0
heddle.phase.apply:
	add t5, t5, t5
	tmc zero`

func phasesOf(t *testing.T, machine, text string, set ...string) (core.Phases, *sim.Machine) {
	o, m := run(t, load(t, machine, set...), source(t, text))
	return o.Phases, m
}

// TestPhasesBookWaits: a wait belongs to the phase of the instruction waited for.
func TestPhasesBookWaits(t *testing.T) {
	p, m := phasesOf(t, "vortex-1c4w4t", marked)
	s := m.Cores[0].Counts()
	require.Equal(t, s.Phases, p)
	total := func(of []uint64) (n uint64) {
		for _, x := range of {
			n += x
		}
		return n
	}
	require.Equal(t, s.Resident, total(p.Cycles[:]))
	require.Equal(t, s.Cycles, total(p.Time[:]), "one slice")
	require.EqualValues(t, 4*2, p.Instrs[isa.PhaseApply])
	require.EqualValues(t, 2*400, p.Instrs[isa.PhaseRegistration])
	require.EqualValues(t, 4, p.Instrs[isa.PhaseEdgeAccess])
	require.EqualValues(t, 8, p.Instrs[isa.PhaseGatherSum])

	// Memory: the load's, though the sum waits for it.
	slow, _ := phasesOf(t, "vortex-1c4w4t", marked, "to_memory.response=400")
	for _, ph := range []isa.Phase{isa.PhaseRegistration, isa.PhaseGatherSum, isa.PhaseApply} {
		require.InDelta(t, p.Cycles[ph], slow.Cycles[ph], 40, ph)
	}
	more := slow.Cycles[isa.PhaseEdgeAccess] - p.Cycles[isa.PhaseEdgeAccess]
	require.InDelta(t, 3*399, more, 3*10, "warp 0 comes when the line is there")
	// The barrier's: three warps wait until warp 0 has turned 400 times, and add little then.
	require.Greater(t, p.Cycles[isa.PhaseSchedule], p.Cycles[isa.PhaseRegistration]*2)
	require.Less(t, p.Cycles[isa.PhaseApply], uint64(4*40))
	// The scheduler meanwhile turns for warp 0, which hides the other warps' stalls.
	require.Greater(t, p.Time[isa.PhaseRegistration], uint64(2*400))
	require.Less(t, p.Time[isa.PhaseSchedule], uint64(100))
	require.InDelta(t, p.Time[isa.PhaseEdgeAccess], slow.Time[isa.PhaseEdgeAccess], 40)
	soon := strings.Replace(marked, "li t3, 400", "li t3, 1", 1)
	p, _ = phasesOf(t, "vortex-1c4w4t", soon)
	slow, _ = phasesOf(t, "vortex-1c4w4t", soon, "to_memory.response=400")
	require.InDelta(t, 399, slow.Time[isa.PhaseEdgeAccess]-p.Time[isa.PhaseEdgeAccess], 20, "it waits with all")
}

// TestPhasesAsleep: a core that sleeps books as one that ticks does.
func TestPhasesAsleep(t *testing.T) {
	for _, machine := range []string{"vortex-rtl-a", "vortex-rtl-m6", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1"} {
		cfg, p := load(t, machine, "memory.preset=hbm2-2gbps"), source(t, marked)
		sleeping, _ := run(t, cfg, p)
		waking, _ := run(t, cfg, p, (*core.Core).StayAwake)
		require.Equal(t, waking, sleeping, machine)
		require.NotZero(t, sleeping.Phases.Cycles[isa.PhaseGatherSum])
	}
}

// TestPhasesOfLaunches: a launch's are its own, and marks are those of its program.
func TestPhasesOfLaunches(t *testing.T) {
	m, err := sim.New(load(t, "vortex-1c4w4t"), sim.Options{})
	require.NoError(t, err)
	var all core.Phases
	for _, text := range []string{marked, "_start:	nop\nheddle.phase.apply:\n	nop\n	tmc zero"} {
		r, err := m.Run(context.Background(), source(t, text))
		require.NoError(t, err)
		all.Add(&r.Phases)
		if text != marked {
			require.Equal(t, core.PhaseInstrs{isa.PhaseOther: 1, isa.PhaseApply: 2}, r.Phases.Instrs)
		}
	}
	require.Equal(t, m.Cores[0].Counts().Phases, all)
	_, err = m.Run(context.Background(), source(t, "_start:\nheddle.phase.gathering:\n	tmc zero"))
	require.ErrorContains(t, err, `test.s: symbol heddle.phase.gathering: no phase "gathering": expected one of other, init`)
}
