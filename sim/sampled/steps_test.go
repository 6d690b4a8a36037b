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
	require.Less(t, waves.Error, ordered.Error/2)
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
