package experiment

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtATime: jobs are no more than there are points, and than any processors have use for.
func TestAtATime(t *testing.T) {
	require.Equal(t, 3, concurrentPoints(99_999_999, 3, 2))
	require.Equal(t, manyJobs, concurrentPoints(math.MaxInt, math.MaxInt, 2))
	require.Equal(t, 128, concurrentPoints(math.MaxInt, 1000, 128))
	require.Equal(t, 1, concurrentPoints(0, 0, 1))
	require.Equal(t, 5, concurrentPoints(5, 9, 2))
}

func TestLeastLimit(t *testing.T) {
	for _, c := range [][3]uint64{{0, 0, 0}, {0, 5, 5}, {5, 0, 5}, {5, 6, 5}, {6, 5, 5}} {
		require.Equal(t, c[2], LeastLimit(c[0], c[1]))
	}
}
