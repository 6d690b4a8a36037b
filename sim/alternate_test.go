package sim_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
	"heddle/isa"
	"heddle/sim"
)

func alternate(t *testing.T, m *sim.Machine, p *isa.Program, a sim.Alternation) sim.Sampled {
	t.Helper()
	s, err := m.Alternate(context.Background(), p, 0, a)
	require.NoError(t, err)
	require.NoError(t, m.CheckInvariants())
	return s
}

// A launch that is over within its beginning is one in time, to the last cycle; so are launches after one that was not.
func TestShortLaunchesAreInTimeThroughout(t *testing.T) {
	p := source(t, walk)
	m, other := machine(t, load(t, "vortex-6c32w32t")), machine(t, load(t, "vortex-6c32w32t"))
	for range 2 {
		want := launch(t, other, p, 0)
		s := alternate(t, m, p, sim.Alternation{Begin: 1 << 40, Period: 1000, Measure: 10})
		require.True(t, s.Whole())
		require.Equal(t, sim.Pace{Cycles: want.Cycles, WarpInstrs: want.WarpInstrs}, s.Begin.Pace)
		require.Equal(t, want.Stats, s.Stats)
		require.Equal(t, want.Cycles, s.Cycles)
	}
	alternate(t, m, p, sim.Alternation{Begin: 500, Period: 1000, Measure: 10, Warm: 10})
	r := launch(t, m, p, 0)
	require.Equal(t, launch(t, other, p, 0).Stats, r.Stats)
	require.Positive(t, r.Cycles)
}

// Of a program whose warps do the same throughout, intervals have the cycles an instruction of the whole, and all of it
// is in the beginning, an interval, a warm-up, a stretch or the rest, but for instructions that end while the machine
// changes to functional execution.
func TestIntervalsOfASteadyProgram(t *testing.T) {
	p := source(t, walk)
	cfg := load(t, "vortex-6c32w32t", "memory.preset=hbm2-2gbps")
	want := launch(t, machine(t, cfg), p, 0)
	s := alternate(t, machine(t, cfg), p, sim.Alternation{Begin: 2000, Period: 1600, Warm: 100, Measure: 200})
	require.Equal(t, want.Stats, s.Stats)
	require.False(t, s.Whole())
	require.Greater(t, len(s.Intervals), 5)
	var cycles, instrs uint64
	all := s.Begin.WarpInstrs + s.Rest.WarpInstrs
	for _, i := range s.Intervals {
		cycles, instrs = cycles+i.Cycles, instrs+i.WarpInstrs
		all += i.WarpInstrs + i.Warm.WarpInstrs + i.Before.WarpInstrs
		counted, ok := i.Counts.Tree().Get("warp_instrs")
		require.True(t, ok)
		require.EqualValues(t, i.WarpInstrs, counted.Float())
	}
	require.LessOrEqual(t, all, want.WarpInstrs)
	require.Greater(t, all, want.WarpInstrs*8/10)
	require.InEpsilon(t, float64(want.Cycles)/float64(want.WarpInstrs), float64(cycles)/float64(instrs), 0.1)
}

func TestAlternationsThatLeaveNothingOut(t *testing.T) {
	m := machine(t, load(t, "vortex-1c4w4t"))
	for _, a := range []sim.Alternation{{}, {Begin: 1, Period: 100}, {Begin: 1, Period: 3, Measure: 1, Warm: 1}} {
		_, err := m.Alternate(context.Background(), source(t, walk), 0, a)
		require.ErrorContains(t, err, "alternation: expected")
	}
}

// Switched between time and none at any moment, accesses take effect in an order that the rules of memory allow.
func TestRandomMemoryAlternating(t *testing.T) {
	first := testenv.Seed(t, 0)
	for seed := first; seed < first+testenv.Cases(t, 10, 600); seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 9))
			a := sim.Alternation{Begin: 1 + r.Uint64N(40), Warm: r.Uint64N(8), Measure: 1 + r.Uint64N(30)}
			a.Period = 2*(a.Warm+a.Measure) + r.Uint64N(100)
			memoryCase(t, 9000+seed, false, func(m *sim.Machine, p *isa.Program) error {
				_, err := m.Alternate(context.Background(), p, 0, a)
				return err
			})
		})
	}
}
