package reference

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// random draws edges; their in-degrees differ widely.
func random(n, m int, seed uint64) *graph.Adjacency {
	r := rand.New(rand.NewPCG(seed, 7))
	rows := make([][]uint32, n)
	for range m {
		u, v := r.IntN(n), r.Float64()*r.Float64()*r.Float64()
		rows[u] = append(rows[u], uint32(v*float64(n)))
	}
	e := &graph.Adjacency{Offsets: []uint32{0}}
	for _, row := range rows {
		e.IDs = append(e.IDs, row...)
		e.Offsets = append(e.Offsets, uint32(len(e.IDs)))
	}
	return e
}

// Ranks that are easy to calculate.
func TestPageRankByHand(t *testing.T) {
	chain := &graph.Adjacency{Offsets: []uint32{0, 1, 2, 2}, IDs: []uint32{1, 2}}
	require.Equal(t, []float64{1. / 3, 1. / 3, 1. / 3}, PageRank[float64](chain, 0.5, 0))
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 3, 1. / 3}, PageRank[float64](chain, 0.5, 1), 1e-15)
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 4, 1. / 3}, PageRank[float64](chain, 0.5, 2), 1e-15)
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 4, 7. / 24}, PageRank[float64](chain, 0.5, 9), 1e-15)
	// an edge that is there twice counts twice
	twice := &graph.Adjacency{Offsets: []uint32{0, 3, 3, 3}, IDs: []uint32{1, 1, 2}}
	require.InDeltaSlice(t, []float64{1. / 6, 1./6 + 1./9, 1./6 + 1./18}, PageRank[float64](twice, 0.5, 1), 1e-15)
	ring := &graph.Adjacency{Offsets: []uint32{0, 1, 2, 3}, IDs: []uint32{1, 2, 0}}
	require.InDeltaSlice(t, []float64{1. / 3, 1. / 3, 1. / 3}, PageRank[float64](ring, 0.85, 50), 1e-15)
}

// TestBoundsHoldAndAreTight: float32 sums in any order stay within the bound, and the bound is not far above the worst
// of them.
func TestBoundsHoldAndAreTight(t *testing.T) {
	for seed := range uint64(5) {
		out := random(300, 4000, seed)
		c := NewPageRankCheck(out, 0.85)
		const steps = 8
		for range steps {
			c.Step()
		}
		require.InDeltaSlice(t, PageRank[float64](out, 0.85, steps), c.Rank, 1e-15)
		r := rand.New(rand.NewPCG(seed, 1))
		worst := 0.0
		for range 20 {
			rank, change := shuffled(r, out, 0.85, steps)
			require.NoError(t, c.Compare(rank))
			require.NoError(t, c.CompareResidual(change))
			for v := range rank {
				worst = max(worst, math.Abs(float64(rank[v])-c.Rank[v])/c.Bound[v])
			}
		}
		require.NoError(t, c.Compare(PageRank[float32](out, 0.85, steps)))
		require.Greater(t, worst, 0.2)
	}
}

// shuffled is a float32 run that adds in random order, as kernels compute.
func shuffled(r *rand.Rand, out *graph.Adjacency, damping float64, steps int) (rank []float32, change float32) {
	n := out.Vertices()
	rank = PageRank[float32](out, damping, 0)
	for range steps {
		terms := make([][]float32, n)
		for u := range n {
			send := rank[u] * (1 / float32(out.Degree(u)))
			for _, v := range out.Row(u) {
				terms[v] = append(terms[v], send)
			}
		}
		change = 0
		for v, t := range terms {
			r.Shuffle(len(t), func(i, j int) { t[i], t[j] = t[j], t[i] })
			sum := float32(0)
			for _, x := range t {
				sum += x
			}
			next := float32(float64(float32((1-damping)/float64(n))) + float64(float32(damping))*float64(sum))
			change += float32(math.Abs(float64(next - rank[v])))
			rank[v] = next
		}
	}
	return rank, change
}

func TestCompareNamesTheFirst(t *testing.T) {
	c := NewPageRankCheck(random(100, 900, 1), 0.85)
	c.Step()
	rank := make([]float32, 100)
	for v := range rank {
		rank[v] = float32(c.Rank[v])
	}
	require.NoError(t, c.Compare(rank))
	rank[31] += float32(2 * c.Bound[31])
	rank[40] = float32(math.NaN())
	rank[99] = 0
	var m *Mismatch
	require.True(t, errors.As(c.Compare(rank), &m))
	require.Equal(t, 31, m.Vertex)
	require.Equal(t, 2, m.Others)
	require.Equal(t, float64(rank[31]), m.Got)
	require.ErrorContains(t, c.Compare(rank[1:]), "99 vertices, expected 100")
	for _, err := range []error{m, c.Compare(rank[1:]), c.CompareResidual(0)} {
		require.ErrorIs(t, err, ErrWrong)
	}
	require.ErrorContains(t, c.CompareResidual(float32(c.Residual*1.01)), "super-step 1")
	require.ErrorContains(t, c.CompareResidual(float32(math.NaN())), "super-step 1")
}

// TestGammaIsNoConstant: the bound grows with the terms of a sum, and with steps.
func TestGammaIsNoConstant(t *testing.T) {
	require.Zero(t, gamma(0))
	require.InEpsilon(t, 0x1p-24, gamma(1), 1e-6)
	require.InEpsilon(t, 1000*0x1p-24, gamma(1000), 1e-3)
}
