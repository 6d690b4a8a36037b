package samplecheck

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/internal/testenv"
)

// TestDrawnSteps: of drawn runs that are sampled by super-step, 95 % of the intervals hold the truth, and errors are
// small in the mean and at worst, unless a run is refused; all forty with HEDDLE_LONG, others with HEDDLE_SEED.
func TestDrawnSteps(t *testing.T) {
	testenv.NeedSlow(t, "it simulates drawn runs whole and sampled")
	every, largest := 10, 0.7
	if testenv.Long(t) > 0 {
		every, largest = 1, 16
	}
	cases := Drawn(testenv.Seed(t, 2026), 40, largest)
	var rows []Row
	for i := 0; i < len(cases); i += every {
		r, err := Do(t.Context(), &cases[i], "sample.steps=20")
		require.NoError(t, err)
		t.Logf("%s, %s: %+.1f %%, refused %v", r.Graph, r.Computation(), 100*r.Error(), r.Refused)
		require.True(t, r.Refused || math.Abs(r.Error()) < 0.08)
		rows = append(rows, r)
	}
	s := Summarise(rows)
	require.GreaterOrEqual(t, 20*s.Held, 19*s.Of)
	require.Less(t, s.Mean, 0.02)
	require.LessOrEqual(t, 5*s.Refused, len(rows))
}
