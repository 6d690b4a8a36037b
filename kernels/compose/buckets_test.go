package compose

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
	"heddle/kernels/workload"
)

// weighted draws a graph with weights below most.
func weighted(r *rand.Rand, n, edges, most int) *graph.Graph {
	var lines []string
	for range edges {
		if a, b := 1+r.IntN(n), 1+r.IntN(n); a != b {
			lines = append(lines, fmt.Sprintf("%d %d %d", max(a, b), min(a, b), r.IntN(most)))
		}
	}
	return read(n, lines...)
}

// TestBuckets: with buckets of any width, and any number of them open, distances are right: of vertices that spill over
// and come back, of those that have moved on to an earlier bucket, and with buckets whose bounds are near 2³².
func TestBuckets(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	spilled := 0
	for range 60 {
		n := 2 + r.IntN(60)
		most := []int{1, 9, 1000, 1<<31 - 1 - r.IntN(9)}[r.IntN(4)]
		edges := r.IntN(5 * n)
		if most > 1000 {
			n, edges = 2, 1+r.IntN(3) // a path of more would not fit
		}
		g := weighted(r, n, edges, most)
		set := [][]string{
			{"schedule=vertex", "set=queue"}, {"schedule=strict", "set=qnb-bitmap"}, {"schedule=peg", "set=list"}, {"schedule=hwwl", "set=list"},
		}[r.IntN(4)]
		w := workloadOf(mustPlan(t, append(set, "algorithm=sssp", "order=buckets")...))
		w.Source, w.Buckets = r.IntN(n), 1+r.IntN(9)
		w.Delta = 1 + r.IntN(max(1, []int{3, most / 5, most}[r.IntN(3)]))
		p, err := NewPlan(w)
		require.NoError(t, err)
		res, err := Run(t.Context(), functional(t, p), g, w)
		require.NoError(t, err, "%s: delta %d, %d open, %d vertices, %d edges, weights below %d", p.Name(), w.Delta,
			w.Buckets, n, edges, most)
		require.True(t, res.Verified)
		if reached(res.Values)/w.Delta > w.Buckets {
			spilled++
		}
	}
	require.Greater(t, spilled, 10)
}

// reached is the greatest distance.
func reached(distances []uint32) (most int) {
	for _, d := range distances {
		if d != 1<<32-1 {
			most = max(most, int(d))
		}
	}
	return most
}

// TestBucketsSaveWork: in order of distance fewer edges are handled than without an order, and fewer the narrower the
// buckets; a bucket is split at most once, and what has spilled over once for each window of open buckets.
func TestBucketsSaveWork(t *testing.T) {
	g := weighted(rand.New(rand.NewPCG(2, 2)), 500, 4000, 1000)
	edges := map[int]uint64{}
	for _, delta := range []int{0, 20, 200} {
		w := workloadOf(mustPlan(t, "algorithm=sssp", "order=buckets"))
		w.Source, w.Delta, w.Buckets = 0, delta, 64
		if delta == 0 {
			w.Order, w.Buckets = "none", 0
		}
		p, err := NewPlan(w)
		require.NoError(t, err)
		r, err := Run(t.Context(), functional(t, p), g, w)
		require.NoError(t, err)
		splits := map[workload.Choice]int{}
		for _, s := range r.Steps {
			edges[delta] += s.Handled()
			splits[w.Order] += len(s.Splits)
		}
		if delta > 0 {
			most := reached(r.Values)
			require.LessOrEqual(t, splits["buckets"], most/delta+1+most/delta/64)
		}
	}
	require.Less(t, edges[200], edges[0])
	require.Less(t, edges[20], edges[200])
}
