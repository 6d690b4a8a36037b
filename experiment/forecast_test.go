package experiment

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"heddle/graph/graphspec"
	"heddle/kernels/workload"
	"heddle/sim"
	"heddle/sim/stats"
)

// forecastPoints are points of PageRank, one super-step on graphs of so many edges, on machines of four lanes.
func forecastPoints(edges ...int) (points []Point) {
	for _, n := range edges {
		var p Point
		p.Config.Machine.Core.Threads = 4
		p.Config.Workload = workload.Workload{Algorithm: workload.PageRank, Iterations: 1}
		p.Config.Graph = graphspec.Graph{ErdosRenyi: &graphspec.ErdosRenyi{Vertices: 1000, Edges: n / 2}}
		points = append(points, p)
	}
	return points
}

// TestForecast: the remaining points are expected at the rate of those done, on so many jobs, in the points' order.
func TestForecast(t *testing.T) {
	r := Runner{Points: forecastPoints(1000, 1000, 3000, 2000, 500), Jobs: 2}
	f, start := r.NewForecast(), time.Unix(1000, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	left := func(seconds float64) float64 {
		d, ok := f.left(at(seconds))
		require.True(t, ok)
		return d.Seconds()
	}
	_, ok := f.left(at(0))
	require.False(t, ok, "nothing is measured yet")

	f.begun(0, 1000, at(0))
	f.begun(1, 0, at(0))
	f.Running(0, progressOf(5))
	_, ok = f.left(at(1))
	require.False(t, ok, "half a percent is too little to go by")
	require.Equal(t, "0 of 5 points done, 2 running", textAt(f, at(1)))

	// 500 edges of 1000 and 250 of as many, which is not known but expected, in 10 s each: 20 s for 750. One is left 10
	// s and then takes 3000 edges, 80 s; the other 30 s, 2000 in 53.3 s, and 500 in 13.3 s.
	f.Running(0, progressOf(500))
	f.Running(1, progressOf(250))
	require.InDelta(t, 96.67, left(10), 0.01)
	require.Equal(t, "0 of 5 points done, 2 running, about 1m37s left in all", textAt(f, at(10)))

	f.Finished(Outcome{Point: 0, Seconds: 20, Verified: true})
	f.Finished(Outcome{Point: 1, Seconds: 40, Verified: true})
	require.InDelta(t, 90, left(40), 0.01, "30 s for 1000 edges: 90 s, and 60 s and 15 s")
	require.Equal(t, "2 of 5 points done, 0 running, about 1m30s left in all", textAt(f, at(40)))

	// A point that handles more than was expected of it is not done before it ends.
	f.begun(2, 0, at(40))
	f.Running(2, progressOf(9000))
	require.Greater(t, left(140), 5.0)
	for i := 2; i < 5; i++ {
		f.Finished(Outcome{Point: i, Seconds: 1, Verified: true})
	}
	f.queue = nil
	require.Zero(t, left(150))
}

func textAt(f *Forecast, at time.Time) string {
	v := f.snapshot(at)
	return v.text()
}

func progressOf(edges uint64) (p sim.Progress) {
	p.Edges = edges
	return p
}

// TestForecastGoesByStoredPoints: a resumed experiment knows its rate at once. Failed points do not count.
func TestForecastGoesByStoredPoints(t *testing.T) {
	counted := stats.Tree{stats.Count("edges", "edges", "Handled.", 2000)}
	r := Runner{Points: forecastPoints(1000, 1000, 3000), Jobs: 1, Done: map[int]Outcome{
		0: {Point: 0, Seconds: 4, Verified: true, Stats: stats.Pack(counted)},
		1: {Point: 1, Seconds: 400, Stats: stats.Pack(counted)},
	}}
	f := r.NewForecast()
	d, ok := f.left(time.Now())
	require.True(t, ok)
	require.InDelta(t, 6, d.Seconds(), 0.01)
	require.Equal(t, "2 of 3 points done, 0 running, about 6s left in all", textAt(f, time.Now()))
}
