package sampled

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/isa/emu"
	"heddle/sim"
	"heddle/sim/stats"
)

// counts are those of a machine of which an event happens every third cycle.
func counts(cycles uint64) stats.Part {
	return stats.PackPart(stats.Tree{stats.Count("events", "", "", cycles/3),
		stats.Count("warp_instrs", "", "", 0), stats.Ratio("ipc", "", "", 0, float64(cycles))})
}

func timedLaunch(kernel string, stratum int, instrs, cycles uint64) Launch {
	return Launch{Kernel: kernel, Stratum: stratum, Timed: true, Counts: counts(cycles),
		Result: sim.Result{Cycles: cycles, Stats: emu.Stats{WarpInstrs: instrs}}}
}

func emulatedLaunch(kernel string, stratum int, instrs uint64) Launch {
	return Launch{Kernel: kernel, Stratum: stratum, Result: sim.Result{Stats: emu.Stats{WarpInstrs: instrs}}}
}

func TestStepsThatAreAllTimed(t *testing.T) {
	s, ok := EstimateSteps([]Launch{timedLaunch("a", 0, 10, 100), timedLaunch("b", 1, 20, 300)}, Unordered)
	require.True(t, ok)
	require.Equal(t, []float64{100, 300}, s.Cycles)
	require.Equal(t, 400.0, s.Total)
	require.Zero(t, s.Error)
	require.Nil(t, s.Counts)
}

// TestStepsOfOneStratum: emulated launches have the simulated ones' rate, each kernel its own; counts follow.
func TestStepsOfOneStratum(t *testing.T) {
	s, ok := EstimateSteps([]Launch{
		timedLaunch("a", 0, 100, 3000), timedLaunch("b", 0, 50, 600),
		emulatedLaunch("a", 0, 100), emulatedLaunch("b", 0, 50), emulatedLaunch("a", 0, 100), emulatedLaunch("b", 0, 50),
	}, Unordered)
	require.True(t, ok)
	require.InDeltaSlice(t, []float64{3000, 600, 3000, 600, 3000, 600}, s.Cycles, 1e-6)
	require.InDelta(t, 10800, s.Total, 1e-6)
	require.InDelta(t, s.Error, s.Half[2]+s.Half[3]+s.Half[4]+s.Half[5], 1e-9)
	require.Less(t, s.Error, 0.03*s.Total)
	events, _ := s.Counts.Get("events")
	require.InDelta(t, 3600, events.Float(), 1)
	require.GreaterOrEqual(t, events.Half, s.Error/3*0.99)
	instrs, _ := s.Counts.Get("warp_instrs")
	require.Equal(t, 450.0, instrs.Float())
	require.Zero(t, instrs.Half)
	ipc, _ := s.Counts.Get("ipc")
	require.InDelta(t, 450/10800.0, ipc.Float(), 1e-9)
}

// TestRatesBetweenSizes: between two simulated sizes the rate is interpolated; far beyond, hardly anything is known.
func TestRatesBetweenSizes(t *testing.T) {
	known := []Launch{timedLaunch("a", 0, 100, 10000), timedLaunch("a", 1, 10000, 100000)}
	between, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 2, 1000)), Unordered)
	require.InEpsilon(t, 1000*math.Sqrt(100*10), between.Cycles[2], 1e-6)
	within := between.Error / between.Cycles[2]
	far, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 2, 100000)), Unordered)
	require.InEpsilon(t, 1e6, far.Cycles[2], 1e-6)
	require.Greater(t, far.Error/far.Cycles[2], 3*within)
	like, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 1, 10000)), Unordered)
	require.Less(t, like.Error/like.Cycles[2], within/2)
	other, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 2, 10000)), Unordered)
	require.Greater(t, other.Error, 2*like.Error, "of another stratum")
	ordered, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 1, 10000)), Ordered)
	require.Equal(t, like.Cycles, ordered.Cycles)
	require.InDelta(t, stats.Student95(1000)*math.Hypot(warmError, orderError), ordered.Error/ordered.Cycles[2], 0.01)
	waves, _ := EstimateSteps(append(known[:2:2], emulatedLaunch("a", 1, 10000)), Waves)
	require.Greater(t, waves.Error, 1.5*like.Error)
	require.Less(t, waves.Error, 0.6*ordered.Error)
}

// TestRoughRates: where the rate does not follow the size, a launch close to a simulated one of its stratum is still
// known, and one far from all of them is not.
func TestRoughRates(t *testing.T) {
	known := []Launch{timedLaunch("a", 0, 1000, 10000), timedLaunch("a", 1, 2000, 80000), timedLaunch("a", 2, 4000, 40000),
		timedLaunch("a", 3, 8000, 320000)}
	relative := func(stratum int, instrs uint64) float64 {
		s, ok := EstimateSteps(append(known[:4:4], emulatedLaunch("a", stratum, instrs)), Unordered)
		require.True(t, ok)
		return s.Error / s.Cycles[4]
	}
	near, far, other := relative(2, 4100), relative(2, 5600), relative(4, 4100)
	require.Less(t, near, 0.4)
	require.Greater(t, far, 2*near)
	require.Greater(t, other, 3*near, "of a stratum without a simulated launch")
}

// TestColdLaunches: what the first super-step took counts for others only without better knowledge.
func TestColdLaunches(t *testing.T) {
	cold := timedLaunch("a", 0, 100, 9000)
	cold.Cold = true
	s, _ := EstimateSteps([]Launch{cold, timedLaunch("a", 1, 100, 3000), emulatedLaunch("a", 1, 100)}, Unordered)
	require.InDelta(t, 3000, s.Cycles[2], 1e-6)
	s, _ = EstimateSteps([]Launch{cold, emulatedLaunch("a", 1, 100)}, Unordered)
	require.InDelta(t, 9000, s.Cycles[1], 1e-6)
}

// TestActiveEdges: of launches of as many instructions those count that have as many active edges, and between two of
// them a line: on vertices of equal degrees, a warp's instructions are the same while one of its lanes is active.
func TestActiveEdges(t *testing.T) {
	active := func(l Launch, edges uint64) Launch {
		l.Active = edges
		return l
	}
	all := []Launch{active(timedLaunch("a", 0, 1000, 24000), 600), active(timedLaunch("a", 0, 1000, 12000), 200)}
	for _, c := range []struct {
		edges uint64
		want  float64
	}{{600, 24000}, {200, 12000}, {300, 15000}, {800, 24000}, {0, 12000}} {
		for stratum := range 2 {
			s, _ := EstimateSteps(append(all[:2:2], active(emulatedLaunch("a", stratum, 1000), c.edges)), Unordered)
			require.InDelta(t, c.want, s.Cycles[2], 1e-6)
			events, _ := s.Counts.Get("events")
			require.InDelta(t, (36000+c.want)/3, events.Float(), 1)
			known := s.Error/s.Cycles[2] < 0.03
			alike := stratum == 0 && (c.edges == 600 || c.edges == 200)
			require.Equal(t, alike, known, "%+v in %d", c, stratum)
		}
	}
}

func TestKernelsThatWereNeverSimulated(t *testing.T) {
	_, ok := EstimateSteps([]Launch{timedLaunch("a", 0, 10, 100), emulatedLaunch("b", 0, 10)}, Unordered)
	require.False(t, ok)
}

// TestStepsCoverage: of launches with a rate that follows their size, and a scatter of 5 %, intervals hold the truth.
func TestStepsCoverage(t *testing.T) {
	held, runs := 0, 400
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 7))
		var all []Launch
		truth, seen := 0.0, map[int]bool{}
		for range 60 {
			n := math.Exp(6 + 4*r.Float64())
			cycles := 500 + 8*n*math.Exp(0.05*r.NormFloat64())
			truth += math.Round(cycles)
			stratum := int(math.Log2(n))
			l := emulatedLaunch("a", stratum, uint64(n))
			if !seen[stratum] {
				l = timedLaunch("a", stratum, uint64(n), uint64(math.Round(cycles)))
			}
			seen[stratum] = true
			all = append(all, l)
		}
		s, ok := EstimateSteps(all, Unordered)
		require.True(t, ok)
		require.InEpsilon(t, truth, s.Total, 0.2)
		if math.Abs(s.Total-truth) <= s.Error {
			held++
		}
	}
	require.GreaterOrEqual(t, held, runs*90/100)
	t.Logf("%d of %d", held, runs)
}

// TestCountsOfKernels: a statistic is estimated kernel by kernel. One that only one of two kernels has is as well known
// as that kernel's cycles; one that scatters from launch to launch has an interval that holds the truth.
func TestCountsOfKernels(t *testing.T) {
	held, runs := 0, 400
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 9))
		spread := 0.01 + 0.1*r.Float64()
		var all []Launch
		truth, allSent, ratio := 0.0, 0.0, [2]float64{}
		for i := range 60 {
			n, kernel := 1000+100*float64(r.IntN(20)), []string{"sends", "solves"}[i%2]
			sends, misses := 0.0, math.Round(n/4*math.Exp(spread*r.NormFloat64()))
			if kernel == "sends" {
				sends = n / 10
			}
			l := emulatedLaunch(kernel, int(n)/400, uint64(n))
			if i < 12 || r.IntN(10) == 0 {
				l = timedLaunch(kernel, int(n)/400, uint64(n), uint64(5*n))
			}
			l.Counts = stats.PackPart(stats.Tree{stats.Count("sent", "", "", uint64(sends)),
				stats.Count("misses", "", "", uint64(misses)), stats.Ratio("misses a read", "", "", misses, n)})
			allSent += sends
			truth, ratio[0], ratio[1] = truth+misses, ratio[0]+misses, ratio[1]+n
			all = append(all, l)
		}
		s, ok := EstimateSteps(all, Unordered)
		require.True(t, ok)
		sent, _ := s.Counts.Get("sent")
		require.InDelta(t, allSent, sent.Float(), sent.Half)
		require.Less(t, sent.Half, 0.12*sent.Float())
		misses, _ := s.Counts.Get("misses")
		aRead, _ := s.Counts.Get("misses a read")
		require.Less(t, misses.Half, (0.12+4*spread)*truth)
		if math.Abs(misses.Float()-truth) <= misses.Half && math.Abs(aRead.Float()-ratio[0]/ratio[1]) <= aRead.Half {
			held++
		}
	}
	require.GreaterOrEqual(t, held, runs*90/100)
	t.Logf("%d of %d", held, runs)
}

// TestRareCounts: a count is known to its root; of an event that only the cold launch had there may be three
// times as many.
func TestRareCounts(t *testing.T) {
	with := func(l Launch, events uint64) Launch {
		l.Counts = stats.PackPart(stats.Tree{stats.Count("events", "", "", events)})
		return l
	}
	cold := timedLaunch("a", 0, 100, 9000)
	cold.Cold = true
	for seen, least := range map[uint64]float64{0: 3 * 50, 4: 4 * 4 / 2, 100: 4 * 100 / 10} {
		all := []Launch{with(cold, 50), with(timedLaunch("a", 1, 100, 3000), seen)}
		for range 4 {
			all = append(all, emulatedLaunch("a", 1, 100))
		}
		s, _ := EstimateSteps(all, Unordered)
		events, _ := s.Counts.Get("events")
		require.InDelta(t, float64(50+5*seen), events.Float(), 1)
		require.GreaterOrEqual(t, events.Half, least)
		require.Less(t, events.Half, 4*least)
	}
}
