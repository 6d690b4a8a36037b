package reproduce

import (
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/experiment"
	"heddle/experiment/config"
)

// TestParts: results of the same part of a run are compared, and said to be such; one of a part is not compared with a
// whole run's, nor is a failure.
func TestParts(t *testing.T) {
	q := &config.Quantity{Measure: "speedup"}
	point := func(cycles uint64, verified bool, partial string) *Point {
		p := &Point{}
		p.add(&experiment.Outcome{Cycles: cycles, Verified: verified, Partial: partial})
		return p
	}
	whole, part := point(300, true, ""), point(100, false, experiment.PartialEdges)
	limited := point(600, true, "max_iterations=3")
	for _, c := range []struct {
		point, over *Point
		want        float64 // 0: none
	}{
		{part, point(250, false, experiment.PartialEdges), 2.5}, {whole, point(600, true, ""), 2}, {whole, limited, 2},
		{part, whole, 0}, {whole, part, 0}, {point(1, false, ""), whole, 0}, {whole, point(1, false, ""), 0},
	} {
		got, ok := added(q, "cycles", []sample{{point: c.point, partner: c.over}})
		require.Equal(t, c.want > 0, ok)
		if ok {
			require.InDelta(t, c.want, got.value, 1e-9)
		}
	}
	require.Equal(t, "4 points, 2 of them parts of runs, not verified", (&Outcome{Points: 4, Parts: 2}).points())
}
