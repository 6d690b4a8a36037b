package reference

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"heddle/graph"
)

// TestDependenciesByHand: of two ways from 0 to 3 one leads through 1, and all to 4 through 3.
func TestDependenciesByHand(t *testing.T) {
	g := read(t, 6, "pattern", "1 2", "1 3", "2 4", "3 4", "4 5", "2 3")
	right := []float32{0, 1, 1, 1, 0, 0} // 1 and 2: half of the way to 3, and of that to 4
	require.NoError(t, CheckDependencies(g.CSR(), 0, right))
	for v := range right {
		wrong := append([]float32{}, right...)
		wrong[v] += 1e-4
		var m *Mismatch
		require.True(t, errors.As(CheckDependencies(g.CSR(), 0, wrong), &m))
		require.Equal(t, v, m.Vertex)
	}
	require.ErrorContains(t, CheckDependencies(g.CSR(), 0, nil), "0 vertices, expected 6")
}

// TestDependencies: against their definition, on random directed graphs with loops and parallel edges.
func TestDependencies(t *testing.T) {
	for seed := range uint64(20) {
		out := random(40, 120, seed)
		b := newBrandes(out, 3)
		b.accumulate()
		require.InDeltaSlice(t, defined(out, 3), b.dependency, 1e-9)
	}
}

// defined adds up, over all other vertices, the share of the shortest paths to them that lead through each vertex.
func defined(out *graph.Adjacency, s uint32) []float64 {
	n := out.Vertices()
	level, paths := make([][]uint32, n), make([][]float64, n)
	for v := range n {
		level[v], paths[v] = Levels(out, uint32(v)), walks(out, uint32(v))
	}
	sum := make([]float64, n)
	for v := range uint32(n) {
		for t := range uint32(n) {
			if t == s || v == s || t == v || level[s][t] == Unreached || level[s][v] == Unreached ||
				level[v][t] == Unreached {
				continue
			}
			if level[s][v]+level[v][t] == level[s][t] {
				sum[v] += paths[s][v] * paths[v][t] / paths[s][t]
			}
		}
	}
	return sum
}

// walks counts the walks to each vertex that are as long as the shortest path, by their lengths.
func walks(out *graph.Adjacency, s uint32) []float64 {
	level, n := Levels(out, s), out.Vertices()
	now, count := make([]float64, n), make([]float64, n)
	now[s] = 1
	for length := range uint32(n) {
		next := make([]float64, n)
		for v := range n {
			if level[v] == length {
				count[v] = now[v]
			}
			for _, w := range out.Row(v) {
				next[w] += now[v]
			}
		}
		now = next
	}
	return count
}

// layers joins every vertex of one layer to most of the next one's, so that there are very many paths.
func layers(deep, wide int, r *rand.Rand) *graph.Adjacency {
	e := &graph.Adjacency{Offsets: []uint32{0}}
	for layer := range deep {
		for range wide {
			for w := range wide {
				if layer+1 < deep && r.IntN(8) > 0 {
					e.IDs = append(e.IDs, uint32((layer+1)*wide+w))
				}
			}
			e.Offsets = append(e.Offsets, uint32(len(e.IDs)))
		}
	}
	return e
}

// TestDependencyBoundsHoldAndAreTight: float32 in any order stays within the bound, which is not far above the worst of
// it.
func TestDependencyBoundsHoldAndAreTight(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, out := range []*graph.Adjacency{layers(9, 12, r), random(400, 3000, 5)} {
		b := newBrandes(out, 0)
		b.accumulate()
		worst := 0.0
		for range 40 {
			got := brandes32(out, 0, r)
			require.NoError(t, CheckDependencies(out, 0, got))
			for v := range got {
				if b.wide[v] > 0 {
					worst = max(worst, math.Abs(float64(got[v])-b.dependency[v])/b.wide[v])
				}
			}
		}
		require.Greater(t, worst, 0.1)
	}
}

// brandes32 computes as kernels do, with sums in random order.
func brandes32(out *graph.Adjacency, source uint32, r *rand.Rand) []float32 {
	level := Levels(out, source)
	order := byLevel(level)
	paths, dependency := make([]float32, len(level)), make([]float32, len(level))
	terms := make([][]float32, len(level))
	sum := func(v uint32) (s float32) {
		r.Shuffle(len(terms[v]), func(i, j int) { terms[v][i], terms[v][j] = terms[v][j], terms[v][i] })
		for _, x := range terms[v] {
			s += x
		}
		return s
	}
	terms[source] = []float32{1}
	for _, u := range order {
		paths[u] = sum(u)
		for _, v := range out.Row(int(u)) {
			if level[v] == level[u]+1 {
				terms[v] = append(terms[v], paths[u])
			}
		}
	}
	for i := len(order) - 1; i > 0; i-- {
		u := order[i]
		terms[u] = nil
		for _, v := range out.Row(int(u)) {
			if level[v] == level[u]+1 {
				terms[u] = append(terms[u], paths[u]/paths[v]*(1+dependency[v]))
			}
		}
		dependency[u] = sum(u)
	}
	return dependency
}

// TestPathsFit: as many as there are words for; where a layer has two vertices, each doubles them.
func TestPathsFit(t *testing.T) {
	twice := func(layers int) *graph.Adjacency {
		e := &graph.Adjacency{Offsets: []uint32{0}}
		for layer := range uint32(layers) {
			for range 2 {
				e.IDs = append(e.IDs, 2*layer+2, 2*layer+3)
				e.Offsets = append(e.Offsets, uint32(len(e.IDs)))
			}
		}
		n := uint32(len(e.IDs))
		e.Offsets = append(e.Offsets, n, n)
		return e
	}
	require.NoError(t, PathsFit(twice(128), 0)) // 2^127
	require.ErrorContains(t, PathsFit(twice(129), 0),
		fmt.Sprintf("%.3g shortest paths lead from vertex 0 to vertex 258", 0x1p128))
	require.ErrorContains(t, PathsFit(twice(2000), 0), "workload.algorithm.source")
}
