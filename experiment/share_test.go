package experiment

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProcessorsAreShared: a point gets the processors that concurrent points leave.
func TestProcessorsAreShared(t *testing.T) {
	for _, c := range []struct{ processors, jobs, points, sockets, want int }{
		{8, 8, 1, 16, 8}, {8, 8, 2, 16, 4}, {8, 8, 20, 16, 1}, {8, 2, 20, 16, 4}, {8, 3, 20, 16, 2}, {8, 8, 1, 15, 1}, {1, 1, 1, 60, 1}, {2, 0, 0, 60, 2},
	} {
		require.Equal(t, c.want, share(c.processors, c.jobs, c.points, c.sockets), fmt.Sprint(c))
	}
}
