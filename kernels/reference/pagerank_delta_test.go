package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// TestDeltaByHand: where every change is sent, ranks are those of PageRank; where none is, those of its first
// super-step.
func TestDeltaByHand(t *testing.T) {
	out := random(300, 4000, 3)
	for _, c := range []struct {
		threshold float64
		steps     int
	}{{1e-9, 12}, {1e9, 1}} {
		d := NewPageRankDeltaCheck(out, 0.85, c.threshold)
		for range c.steps {
			d.Step()
		}
		require.InDeltaSlice(t, PageRank[float64](out, 0.85, c.steps), d.Rank, 1e-14)
	}
	none := NewPageRankDeltaCheck(out, 0.85, 1e9)
	for range 5 {
		none.Step()
		require.Zero(t, none.Active+none.Undecided)
	}
	require.InDeltaSlice(t, PageRank[float64](out, 0.85, 1), none.Rank, 1e-14)
	chain := &graph.Adjacency{Offsets: []uint32{0, 1, 2, 2}, IDs: []uint32{1, 2}}
	d := NewPageRankDeltaCheck(chain, 0.5, 0.3) // changes: -1/6 0 0; then 0 -1/12 0, of a rank of 1/4
	d.Step()
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 3, 1. / 3}, d.Rank, 1e-15)
	require.Equal(t, 1, d.Active)
	require.InDelta(t, 1./6, d.Residual, 1e-15)
	d.Step()
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 4, 1. / 3}, d.Rank, 1e-15)
	require.Equal(t, 1, d.Active)
	d.Step()
	require.InDeltaSlice(t, []float64{1. / 6, 1. / 4, 7. / 24}, d.Rank, 1e-15)
	require.Zero(t, d.Active)
}

// TestDeltaBoundsHoldAndAreTight: float32 sums in any order stay within the bound, and the bound is not far above the
// worst of them.
func TestDeltaBoundsHoldAndAreTight(t *testing.T) {
	for seed := range uint64(5) {
		out := random(300, 4000, seed)
		c := NewPageRankDeltaCheck(out, 0.85, 0.0035)
		steps, undecided := 0, 0
		for c.Active+c.Undecided > 0 {
			c.Step()
			steps++
			undecided += c.Undecided
		}
		require.Greater(t, steps, 4)
		require.Zero(t, undecided, "another seed")
		r := rand.New(rand.NewPCG(seed, 1))
		worst := 0.0
		for range 20 {
			rank, change := shuffledDelta(r, out, 0.85, 0.0035, steps)
			require.NoError(t, c.Compare(rank))
			require.NoError(t, c.CompareResidual(change))
			for v := range rank {
				worst = max(worst, math.Abs(float64(rank[v])-c.Rank[v])/c.Bound[v])
			}
		}
		require.Greater(t, worst, 0.2)
		wrong, _ := shuffledDelta(r, out, 0.85, 0.004, steps)
		require.ErrorIs(t, c.Compare(wrong), ErrWrong)
		require.ErrorIs(t, c.CompareResidual(float32(c.Residual*1.01)), ErrWrong)
	}
}

// TestDeltaUndecided: a change that is the threshold but for roundings may be sent or not, and both are right.
func TestDeltaUndecided(t *testing.T) {
	// the first change is -1/6, and the rank is then 1/6
	chain := &graph.Adjacency{Offsets: []uint32{0, 1, 2, 2}, IDs: []uint32{1, 2}}
	c := NewPageRankDeltaCheck(chain, 0.5, 1)
	c.Step()
	require.Equal(t, 1, c.Undecided)
	c.Step()
	require.NoError(t, c.Compare([]float32{1. / 6, 1. / 3, 1. / 3}))
	require.NoError(t, c.Compare([]float32{1. / 6, 1. / 4, 1. / 3}))
	require.ErrorContains(t, c.Compare([]float32{1. / 6, 1. / 5, 1. / 3}), "1 changes too near to the threshold")
}

// shuffledDelta is a float32 run that adds in random order, as kernels compute.
func shuffledDelta(r *rand.Rand, out *graph.Adjacency, damping, threshold float64, steps int) (rank []float32,
	change float32) {
	n := out.Vertices()
	rank = PageRank[float32](out, damping, 0)
	send := make([]float32, n)
	for u := range send {
		send[u] = rank[u] * (1 / float32(out.Degree(u)))
	}
	for step := range steps {
		terms := make([][]float32, n)
		for u := range n {
			for _, v := range out.Row(u) {
				terms[v] = append(terms[v], send[u])
			}
		}
		change = 0
		for v, t := range terms {
			r.Shuffle(len(t), func(i, j int) { t[i], t[j] = t[j], t[i] })
			sum := float32(0)
			for _, x := range t {
				sum += x
			}
			before := float32(0)
			if step == 0 {
				before = float32(-damping / float64(n))
			}
			moved := float32(float64(before) + float64(float32(damping))*float64(sum))
			change += float32(math.Abs(float64(moved)))
			rank[v] += moved
			send[v] = 0
			if float32(math.Abs(float64(moved))) > float32(threshold)*rank[v] {
				send[v] = moved * (1 / float32(out.Degree(v)))
			}
		}
	}
	return rank, change
}
