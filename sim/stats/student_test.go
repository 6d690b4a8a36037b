package stats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

// Quantiles of Student's t distribution as tables print them.
func TestStudent95(t *testing.T) {
	for freedom, want := range map[int]float64{1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 10: 2.228, 30: 2.042, 40: 2.021,
		120: 1.980, 1000: 1.962} {
		require.InDelta(t, want, stats.Student95(freedom), 0.0005, "%d degrees of freedom", freedom)
	}
}
