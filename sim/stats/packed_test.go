package stats_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/sim/stats"
)

// TestPackedTreesComeBack packs random trees, of all kinds of values, and asks for each by its name.
func TestPackedTreesComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	require.Nil(t, stats.Pack(nil).Tree())
	_, ok := stats.Pack(nil).Get("x")
	require.False(t, ok)
	for range 300 {
		var tree stats.Tree
		sampled := r.IntN(3) == 0
		for i := range r.IntN(40) {
			name := fmt.Sprintf("s%d", i)
			s := stats.Count(name, "things", "Doc.", r.Uint64()>>r.IntN(65))
			if r.IntN(3) == 0 {
				s = stats.Constant(name, "", "Doc.",
					[]float64{0, 0.5, -1.0 / 3, math.Inf(1), r.NormFloat64()}[r.IntN(5)])
			}
			if sampled && r.IntN(2) == 0 {
				s.Half = r.ExpFloat64()
			}
			tree = append(tree, s)
		}
		p := stats.Pack(tree)
		require.Equal(t, len(tree), p.Len())
		require.Equal(t, tree, p.Tree())
		require.True(t, p.Equal(stats.Pack(tree)))
		for _, want := range tree {
			got, ok := p.Get(want.Name)
			require.True(t, ok)
			require.Equal(t, want, got)
		}
		_, ok = p.Get("other")
		require.False(t, ok)
		if len(tree) > 0 {
			other := append(stats.Tree{}, tree...)
			other[len(other)-1].Half++
			require.False(t, p.Equal(stats.Pack(other)))
		}
	}
}
