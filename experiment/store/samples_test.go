package store

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

func sample(from, to, edges uint64, ipc float64) Sample {
	return Sample{from, to, []stats.Stat{stats.Count("edges", "edges", "Handled.", edges),
		stats.Ratio("ipc", "", "Instructions a cycle.", ipc, 1)}}
}

// Samples go with their point, and come back as they were.
func TestSamples(t *testing.T) {
	s, path := create(t)
	a, b, c := point(0, "a"), point(1, "b"), point(2, "c")
	a.Samples = []Sample{sample(0, 10, 3, 0.5), sample(10, 20, 4, 2)}
	b.Samples = []Sample{sample(0, 7, 1, 0), sample(7, 9, 9, 1)}
	b.Samples[0].Values = append(b.Samples[0].Values, stats.Count("more", "", "", 5))
	b.Samples[1].Values = append(b.Samples[1].Values, stats.Count("more", "", "", 6))
	for _, p := range []*Point{&a, &b, &c} {
		require.NoError(t, s.Put(p))
	}
	require.NoError(t, s.Close())
	r, err := OpenRead(path)
	require.NoError(t, err)
	defer r.Close() //nolint:errcheck // of a test
	got, err := r.Timeline(0)
	require.NoError(t, err)
	require.Equal(t, []Column{{"start", Integer}, {"stop", Integer}, {"edges", Integer}, {"ipc", Number}}, got.Columns)
	require.Equal(t, [][]any{{int64(0), int64(10), int64(3), 0.5}, {int64(10), int64(20), int64(4), 2.0}}, got.Rows)
	none, err := r.Timeline(2)
	require.NoError(t, err)
	require.Empty(t, none.Rows)

	all, err := r.Timelines()
	require.NoError(t, err)
	require.Equal(t, "point,start,stop,edges,ipc,more\n1,0,10,3,0.5,\n1,10,20,4,2,\n2,0,7,1,0,5\n2,7,9,9,1,6\n",
		string(export(t, all, "csv")))

	_, rows, err := r.Query("SELECT point, sum(value) FROM timeline WHERE name = 'edges' GROUP BY point ORDER BY point")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(1), int64(7)}, {int64(2), int64(10)}}, rows)
}

func TestSamplesAreReplacedWithTheirPoint(t *testing.T) {
	s, _ := create(t)
	a := point(0, "a")
	a.Samples = []Sample{sample(0, 10, 3, 0.5), sample(10, 20, 4, 2)}
	require.NoError(t, s.Put(&a))
	a.Samples = a.Samples[:1]
	require.NoError(t, s.Put(&a))
	got, err := s.Timeline(0)
	require.NoError(t, err)
	require.Len(t, got.Rows, 1)
	a.Samples = []Sample{sample(0, 10, math.MaxUint64, 0)}
	require.ErrorContains(t, s.Put(&a), "edges = 18446744073709551615 does not fit")
	a.Samples = []Sample{sample(0, math.MaxUint64, 1, 0)}
	require.ErrorContains(t, s.Put(&a), "does not fit")
	got, err = s.Timeline(0)
	require.NoError(t, err)
	require.Len(t, got.Rows, 1)
}

// A part of a run is compared with parts that were ended for the same reason, and nothing else.
func TestSpeedupsOfPartialPoints(t *testing.T) {
	s, _ := create(t)
	points := []Point{point(0, "a"), point(1, "b"), point(2, "c"), point(3, "d")}
	for i := range points {
		p := &points[i]
		p.Baseline, p.Cycles = 0, uint64(1000>>i)
		p.Verified, p.Partial = false, "max_edges"
	}
	points[2].Partial, points[3].Partial, points[3].Verified = "region", "", true
	for i := range points {
		require.NoError(t, s.Put(&points[i]))
	}
	stored := read(t, s)
	require.Equal(t, "region", stored[2].Partial)
	want := map[int]Speedup{0: {Value: 1}, 1: {Value: 2}}
	require.Equal(t, want, Speedups(stored))
	_, rows, err := s.Query("SELECT point, speedup FROM speedups ORDER BY point")
	require.NoError(t, err)
	require.Equal(t, [][]any{{int64(1), 1.0}, {int64(2), 2.0}}, rows)
	n, failed, _, err := s.Progress()
	require.NoError(t, err)
	require.Equal(t, []int{4, 0}, []int{n, failed})
}
