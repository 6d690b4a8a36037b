package reference

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// read makes a graph of lines "from to weight", counted from 1.
func read(t *testing.T, n int, field string, lines ...string) *graph.Graph {
	t.Helper()
	text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n%s\n", field, n, n, len(lines),
		strings.Join(lines, "\n"))
	g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
	require.NoError(t, err)
	return g
}

// A diamond with a long way round, and a vertex that nothing reaches.
func diamond(t *testing.T) *graph.Graph {
	return read(t, 6, "integer", "1 2 1", "1 3 5", "2 3 1", "3 4 7", "2 4 9", "4 1 2", "5 1 1")
}

func TestLevels(t *testing.T) {
	require.Equal(t, []uint32{0, 1, 1, 2, Unreached, Unreached}, Levels(diamond(t).CSR(), 0))
	require.Equal(t, []uint32{1, 2, 2, 3, 0, Unreached}, Levels(diamond(t).CSR(), 4))
}

func TestDistances(t *testing.T) {
	d, err := Distances(diamond(t), 0)
	require.NoError(t, err)
	require.Equal(t, []uint32{0, 1, 2, 9, Unreached, Unreached}, d)
	_, err = Distances(read(t, 2, "integer", "1 2 -3"), 0)
	require.ErrorContains(t, err, "edge 0 has -3")
	_, err = Distances(read(t, 2, "real", "1 2 0.5"), 0)
	require.ErrorContains(t, err, "the graph's are floats")
	_, err = Distances(read(t, 4, "integer", "1 2 2147483647", "2 3 2147483647", "3 4 2147483647"), 0)
	require.ErrorContains(t, err, "to vertex 3 has length 6442450941")
}

// TestDistancesAreThoseOfBellmanFord on random graphs; without weights they are levels.
func TestDistancesAreThoseOfBellmanFord(t *testing.T) {
	for seed := range uint64(5) {
		out := random(60, 200, seed)
		var lines, bare []string
		for u := range 60 {
			for _, v := range out.Row(u) {
				lines = append(lines, fmt.Sprintf("%d %d %d", u+1, v+1, (u*7+int(v)*3+int(seed))%20))
				bare = append(bare, fmt.Sprintf("%d %d", u+1, v+1))
			}
		}
		g := read(t, 60, "integer", lines...)
		got, err := Distances(g, 3)
		require.NoError(t, err)
		require.Equal(t, bellmanFord(g, 3), got)
		g = read(t, 60, "pattern", bare...)
		got, err = Distances(g, 3)
		require.NoError(t, err)
		require.Equal(t, Levels(g.CSR(), 3), got)
	}
}

func bellmanFord(g *graph.Graph, source uint32) []uint32 {
	d, out := unreached(g.Vertices()), g.CSR()
	d[source] = 0
	for range d {
		for u := range d {
			for e := out.Offsets[u]; e < out.Offsets[u+1]; e++ {
				if d[u] != Unreached {
					d[out.IDs[e]] = min(d[out.IDs[e]], d[u]+out.Weights[e])
				}
			}
		}
	}
	return d
}

func TestComponents(t *testing.T) {
	g := read(t, 6, "pattern", "1 3", "3 1", "3 5", "5 3", "2 6", "6 2")
	require.Equal(t, []uint32{0, 1, 0, 3, 0, 1}, Components(g.CSR()))
}

func TestInDegrees(t *testing.T) {
	require.Equal(t, []uint32{2, 1, 2, 2, 0, 0}, InDegrees(diamond(t).CSR()))
}

func TestEqualNamesTheFirst(t *testing.T) {
	require.NoError(t, Equal("level", []uint32{1, 2}, []uint32{1, 2}))
	var m *Mismatch
	require.True(t, errors.As(Equal("level", []uint32{1, 5, 6}, []uint32{1, 2, 3}), &m))
	require.Equal(t, Mismatch{Quantity: "level", Vertex: 1, Got: 5, Want: 2, Why: "exact", Others: 1}, *m)
	require.ErrorContains(t, Equal("level", nil, []uint32{1}), "0 vertices, expected 1")
}

// TestCheckParents accepts every breadth-first tree, and nothing else.
func TestCheckParents(t *testing.T) {
	out := diamond(t).CSR()
	const none = Unreached
	for _, right := range [][]uint32{{0, 0, 0, 1, none, none}, {0, 0, 0, 2, none, none}} {
		require.NoError(t, CheckParents(out, 0, right))
	}
	for at, wrong := range [][]uint32{
		{none, 0, 0, 1, none, none}, // the source has none
		{0, 2, 0, 1, none, none},    // no such edge, and no nearer vertex
		{0, 0, 1, 1, none, none},    // an edge, from the same level
		{0, 0, 0, 0, none, none},    // nearer by two
		{0, 0, 0, 1, 0, none},       // not reached
		{0, 0, 0, 1, none, 5},
	} {
		var m *Mismatch
		require.True(t, errors.As(CheckParents(out, 0, wrong), &m), "%v", wrong)
		require.Equal(t, at, m.Vertex)
	}
	require.ErrorContains(t, CheckParents(out, 0, nil), "0 vertices")
}

func TestCheckSpMV(t *testing.T) {
	g, x := diamond(t), []float32{1, 0.5, 0.25, 2, 3, 7}
	y := []float32{2*2 + 3, 1, 5 + 0.5, 7*0.25 + 9*0.5, 0, 0}
	require.NoError(t, CheckSpMV(g, x, y))
	y[3] += 1e-5
	var m *Mismatch
	require.True(t, errors.As(CheckSpMV(g, x, y), &m))
	require.Equal(t, 3, m.Vertex)
	require.NoError(t, CheckSpMV(read(t, 3, "pattern", "1 2", "3 2"), []float32{1, 2, 4}, []float32{0, 5, 0}))
}

// TestProductOutOfRange: sums that leave float32, or may have on the way, are refused by their vertex, and are not
// wrong. One that has not left it is checked as any.
func TestProductOutOfRange(t *testing.T) {
	g := read(t, 4, "real", "1 2 3e38", "3 2 2e38", "4 2 -3e38", "1 3 1")
	x, inf := []float32{1, 1, 1, 1}, float32(math.Inf(1))
	for _, got := range []float32{inf, -inf, float32(math.NaN())} {
		err := CheckSpMV(g, x, []float32{0, got, 1, 0})
		var out *RangeError
		require.ErrorAs(t, err, &out)
		require.NotErrorIs(t, err, ErrWrong)
		require.ErrorContains(t, err, "product of vertex 1 is")
		require.ErrorContains(t, err, "comes to 5e+38 on the way, and a float32 holds up to 3.403e+38")
	}
	require.NoError(t, CheckSpMV(g, x, []float32{0, 2e38, 1, 0}), "by an order in which it stays in range")
	require.ErrorIs(t, CheckSpMV(g, x, []float32{0, 2.1e38, 1, 0}), ErrWrong)
	require.ErrorIs(t, CheckSpMV(g, x, []float32{0, 2e38, inf, 0}), ErrWrong, "nothing there is large")
	require.ErrorContains(t, CheckSpMM(g, 2, []float32{1, 0, 1, 0, 1, 0, 1, 0}, []float32{0, 0, inf, 0, 1, 0, 0, 0}),
		"product 0 of vertex 1 is +Inf: what")
}

// TestEqualSums: what does not fit is refused, though it has wrapped as it would have in 32 bits.
func TestEqualSums(t *testing.T) {
	require.NoError(t, EqualSums("sum", []uint32{3, math.MaxUint32}, []uint64{3, math.MaxUint32}))
	require.ErrorIs(t, EqualSums("sum", []uint32{3, 1}, []uint64{3, 2}), ErrWrong)
	err := EqualSums("sum", []uint32{3, 4}, []uint64{3, 1<<32 + 4})
	require.EqualError(t, err, "sum of vertex 1 is 4294967300, which does not fit 32 bits: expected at most 4294967295")
	require.NotErrorIs(t, err, ErrWrong)
}

// TestCoreNumbers: against peeling round by round, on random graphs with loops.
func TestCoreNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 50 {
		n := 1 + r.IntN(30)
		lines := []string{}
		for range r.IntN(4 * n) {
			a, b := 1+r.IntN(n), 1+r.IntN(n)
			lines = append(lines, fmt.Sprintf("%d %d", max(a, b), min(a, b)))
		}
		text := fmt.Sprintf("%%%%MatrixMarket matrix coordinate pattern symmetric\n%d %d %d\n%s\n", n, n, len(lines),
			strings.Join(lines, "\n"))
		g, err := graph.Read("t.mtx", strings.NewReader(text), graph.ReadOptions{})
		require.NoError(t, err)
		require.Equal(t, peel(g.CSR()), CoreNumbers(g.CSR()), text)
	}
}

// peel removes whoever has at most k neighbours left, for k = 0, 1, …
func peel(out *graph.Adjacency) []uint32 {
	n := out.Vertices()
	core, gone := make([]uint32, n), make([]bool, n)
	for k, left := uint32(0), n; left > 0; k++ {
		for again := true; again; {
			again = false
			for v := range n {
				degree := uint32(0)
				for _, w := range out.Row(v) {
					if !gone[w] {
						degree++
					}
				}
				if !gone[v] && degree <= k {
					core[v], gone[v], again = k, true, true
					left--
				}
			}
		}
	}
	return core
}
