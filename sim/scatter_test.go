package sim_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/configs"
	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/isa/micro"
	"heddle/sim"
)

// TestOrderOfUnitsIsNoInput: in whatever order units and clocks tick within an instant, a
// program takes the same cycles and counts the same.
//
// One thing is ordered by design: accesses of several cores to one word in one
// cycle, by core number, which is the order in which cores tick. The programs here have
// no such races; on the machine as it is assembled, cores tick by number. Without testenv.LongVariable, a machine runs
// every third program.
func TestOrderOfUnitsIsNoInput(t *testing.T) {
	testenv.NeedSlow(t, "it simulates in many orders")
	machines := []string{"vortex-rtl-w1", "vortex-rtl-a", "vortex-rtl-c", "vortex-rtl-m6", "vortex-6c32w32t",
		"vortex-6c32w32t-sharedl1"}
	seeds := testenv.Cases(t, 2, 3)
	for i, machine := range machines {
		for j, prog := range micro.Names() {
			if (i+j)%3 > 0 && testenv.Long(t) == 0 {
				continue
			}
			t.Run(machine+"/"+prog, func(t *testing.T) {
				t.Parallel()
				p, err := micro.Program(prog, 2)
				require.NoError(t, err)
				sameInAllOrders(t, load(t, machine, "memory.preset=hbm2-2gbps"), p, 1, seeds)
			})
		}
	}
}

// TestOrderOfUnitsBeyondLoads: atomics of all cores on one word, device-wide barriers, and units
// in sockets; launched twice.
func TestOrderOfUnitsBeyondLoads(t *testing.T) {
	seeds := testenv.Cases(t, 1, 3)
	small := []string{"core.warps=4", "core.threads=8", "memory.preset=ddr4-3200"}
	for _, machine := range []string{"vortex-rtl-m6", "vortex-6c32w32t", "vortex-6c32w32t-sharedl1"} {
		for i, text := range []string{tickets, mixed, exchange} {
			t.Run(fmt.Sprint(machine, i), func(t *testing.T) {
				t.Parallel()
				sameInAllOrders(t, load(t, machine, small...), source(t, text), 2, seeds)
			})
		}
	}
	t.Run("concentrators", func(t *testing.T) {
		t.Parallel()
		set := append([]string{"concentrator.sockets=2", "concentrator.outstanding=2", "concentrator.ports=2"},
			small...)
		sameInAllOrders(t, load(t, "vortex-6c32w32t", set...), source(t, mixed), 2, seeds)
	})
	for _, machine := range []string{"vortex-1c4w4t-weaver", "vortex-6c32w32t-weaver"} {
		t.Run(machine, func(t *testing.T) {
			t.Parallel()
			sameInAllOrders(t, load(t, machine, small...), weaverProgram(t, 60), 2, seeds)
		})
	}
}

// TestOrderOfUnitsWhateverTheKnobs: nor with wider and narrower cores, other policies and small
// active sets, in which every program must still come to its end.
func TestOrderOfUnitsWhateverTheKnobs(t *testing.T) {
	for _, knobs := range []string{
		"core.schedule.policy=rr core.issue.policy=rr core.fetch_width=2 l1i.banks=2 core.issue.dispatch_per_slice=2",
		"core.schedule.policy=gto core.issue.policy=gto core.alu_lanes=8 core.lsu_lanes=4 core.fence=wait",
		"core.schedule.policy=two-level core.schedule.active_warps=1 core.issue.policy=two-level core.issue.active_warps=1",
		"core.issue.policy=two-level core.issue.active_warps=2 core.ibuffer=1",
	} {
		for i, p := range []*isa.Program{program(t, "barrier"), program(t, "lmem_ld"), source(t, exchange),
			source(t, tickets), weaverProgram(t, 40)} {
			t.Run(fmt.Sprint(knobs, " ", i), func(t *testing.T) {
				t.Parallel()
				set := append(strings.Fields(knobs), "sockets=2", "core.warps=16", "core.threads=16")
				sameInAllOrders(t, load(t, "vortex-6c32w32t-weaver", set...), p, 1, 1)
			})
		}
	}
}

// sameInAllOrders runs a program on scattered machines.
func sameInAllOrders(t *testing.T, cfg configs.Machine, p *isa.Program, launches int, seeds uint64) {
	t.Helper()
	want := scatteredRun(t, cfg, p, launches, 0)
	for seed := uint64(1); seed <= seeds; seed++ {
		require.Equal(t, want, scatteredRun(t, cfg, p, launches, seed), "seed %d", seed)
	}
}

// scatteredRun returns all that launches of a program count, as text; seed 0: as assembled.
func scatteredRun(t *testing.T, cfg configs.Machine, p *isa.Program, launches int, seed uint64) (counts []string) {
	t.Helper()
	m, err := sim.New(cfg, sim.Options{})
	if seed > 0 {
		m, err = sim.NewScattered(cfg, sim.Options{}, seed)
	}
	require.NoError(t, err)
	for range launches {
		r, err := m.Run(context.Background(), p)
		require.NoError(t, err)
		counts = append(counts, fmt.Sprint(r))
	}
	for _, s := range m.Statistics() {
		counts = append(counts, fmt.Sprint(s.Name, " ", s.Float()))
	}
	return counts
}
