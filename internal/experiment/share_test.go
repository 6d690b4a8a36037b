package experiment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProcessorsAreShared: what the points at the same time leave of the processors is a point's.
func TestProcessorsAreShared(t *testing.T) {
	for _, c := range []struct{ processors, jobs, points, sockets, want int }{
		{8, 8, 1, 15, 8}, {8, 8, 2, 15, 4}, {8, 8, 20, 15, 1}, {8, 2, 20, 15, 4}, {8, 3, 20, 15, 2}, {8, 8, 1, 7, 1}, {1, 1, 1, 60, 1}, {2, 0, 0, 60, 2},
	} {
		require.Equal(t, c.want, share(c.processors, c.jobs, c.points, c.sockets), fmt.Sprint(c))
	}
}
