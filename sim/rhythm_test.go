package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

const window = 1000

// heard feeds a rhythm with intervals of a CPI, and returns the number of windows that it asks for in an interval; -1:
// as many as possible.
func heard(stretches []int, cpi func(at float64) float64) int {
	r := rhythm{window: window}
	at, cycles := uint64(0), 0.0
	pace := func() Pace { return Pace{uint64(cycles), at} }
	const step = 50 // warp instructions between two looks
	advance := func() {
		cycles += step * cpi(float64(at)/window)
		at += step
	}
	for _, n := range stretches {
		r.begin(pace())
		for range n * window / step {
			advance()
			r.note(pace())
		}
		r.end()
		for range 1700 / step { // an interval
			advance()
		}
	}
	if n := r.length(math.MaxUint64); n != math.MaxUint64 {
		return int(n / window)
	}
	return -1
}

// phases is a pace that goes up and down: fast for a quarter of each period of so many windows.
func phases(period float64) func(float64) float64 {
	return func(at float64) float64 {
		if math.Mod(at, period) < period/4 {
			return 0.4
		}
		return 1.6
	}
}

// TestRhythm: a periodic CPI asks for intervals of a whole period; one that is steady, scatters or drifts does not.
func TestRhythm(t *testing.T) {
	several := []int{1, 2, 4, 6, 9, 13, 20, 30}
	r := rand.New(rand.NewPCG(1, 9))
	noise := make([]float64, 400)
	for i := range noise {
		noise[i] = math.Exp(0.08 * r.NormFloat64())
	}
	for _, c := range []struct {
		name        string
		stretches   []int
		cpi         func(float64) float64
		least, most int
	}{
		{"steady", several, func(float64) float64 { return 2 }, 1, 1},
		{"scatter", several, func(at float64) float64 { return noise[int(at)%len(noise)] }, 1, 1},
		{"drift", several, func(at float64) float64 { return 1 + at/40 }, 1, 1},
		{"phases within a window", several, phases(0.25), 1, 1},
		{"phases of two windows", several, phases(2), 2, 2},
		{"phases of five", several, phases(5), 4, 6},
		{"phases of eight", several, phases(8), 8, 8},
		{"phases too long to find", []int{3, 5, 7}, phases(11), -1, -1},
		{"phases too short to find", []int{1, 2}, phases(5), 1, 1},
		{"longer than the windows kept", []int{2 * mostWindows}, phases(4), 4, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := heard(c.stretches, c.cpi)
			require.GreaterOrEqual(t, n, c.least)
			require.LessOrEqual(t, n, c.most)
		})
	}
}
