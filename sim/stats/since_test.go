package stats_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

// Counts of two consecutive intervals add up to the count of both; of a ratio the
// quotient is that of its parts.
func TestSinceAndPlus(t *testing.T) {
	at := func(n, over, under float64) stats.Tree {
		return stats.Tree{stats.Count("n", "", "", uint64(n)), stats.Ratio("r", "", "", over, under),
			stats.Constant("c", "", "", 7)}
	}
	first, second := at(3, 1, 4), at(10, 4, 10)
	later := second.Since(first)
	require.Equal(t, []float64{7, 0.5, 7}, []float64{later[0].Float(), later[1].Float(), later[2].Float()})
	for i := range first {
		require.Equal(t, second[i], first[i].Plus(later[i]))
	}
	nothing := first.Since(first)
	require.Zero(t, nothing[1].Float())
	require.Equal(t, later[1], nothing[1].Plus(later[1]))
	require.Equal(t, stats.Constant("r", "", "", 0.25), first.Final()[1])
	require.Equal(t, first[0], first.Final()[0])
	none := at(0, 0, 0).Since(at(0, 0, 0))
	require.Zero(t, none[1].Float())
	require.Equal(t, first[1], none[1].Plus(first[1]))
}
