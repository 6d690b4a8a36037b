package reference

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// TestPriorities: all differ, by the published function.
func TestPriorities(t *testing.T) {
	require.Equal(t, []uint32{0, 0x514E28B7, 0x30F4C306}, Priorities(3, 0))
	require.Equal(t, []uint32{0x514E28B7, 0}, Priorities(2, 1))
	seen := map[uint32]bool{}
	for _, p := range Priorities(1<<16, 77) {
		require.False(t, seen[p])
		seen[p] = true
	}
}

// undirected draws edges without loops.
func undirected(t *testing.T, r *rand.Rand, n int) *graph.Graph {
	var lines []string
	for range r.IntN(4 * n) {
		if a, b := 1+r.IntN(n), 1+r.IntN(n); a > b {
			lines = append(lines, fmt.Sprintf("%d %d", a, b))
		}
	}
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern symmetric\n%d %d %d\n%s\n", n, n, len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// TestColours: against taking out independent sets, on random graphs.
func TestColours(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for i := range 50 {
		g := undirected(t, r, 2+r.IntN(30))
		drawn := Priorities(g.Vertices(), uint32(i))
		require.NoError(t, CheckColours(g.CSR(), drawn, independentSets(g.CSR(), drawn)))
	}
}

// independentSets removes whoever has no neighbour left with a higher priority, for colours 0, 1, …
func independentSets(out *graph.Adjacency, priority []uint32) []uint32 {
	const left = Unreached
	colour := unreached(out.Vertices())
	for c, some := uint32(0), true; some; c++ {
		some = false
		var set []int
		for v := range colour {
			beaten := colour[v] != left
			for _, w := range out.Row(v) {
				beaten = beaten || colour[w] == left && priority[w] > priority[v]
			}
			if !beaten {
				set = append(set, v)
			}
		}
		for _, v := range set {
			colour[v], some = c, true
		}
	}
	return colour
}

// TestCheckColours: what has neighbours of one colour is named so; another proper colouring is not the one.
func TestCheckColours(t *testing.T) {
	g := read(t, 3, "pattern", "1 2", "2 1", "2 3", "3 2")
	drawn := []uint32{7, 5, 9}
	require.NoError(t, CheckColours(g.CSR(), drawn, []uint32{0, 1, 0}))
	require.ErrorContains(t, CheckColours(g.CSR(), drawn, []uint32{1, 1, 0}),
		"colour of vertex 0 is 1, and that of its neighbour 1 too")
	var m *Mismatch
	require.True(t, errors.As(CheckColours(g.CSR(), drawn, []uint32{1, 0, 1}), &m))
	require.Equal(t, 0, m.Vertex)
	require.ErrorContains(t, CheckColours(g.CSR(), drawn, nil), "0 vertices, expected 3")
}
