package pagerank

import (
	"math/rand/v2"
	"slices"

	"heddle/kernels/reference"
)

// edge is one edge of a test graph.
type edge struct{ from, to uint32 }

// build sorts edges both ways. It is independent of package graph.
func build(n int, edges []edge) *Graph {
	g := &Graph{Offsets: make([]uint32, n+1), Out: reference.Edges{Offsets: make([]uint32, n+1)}}
	slices.SortStableFunc(edges, func(a, b edge) int { return int(a.to) - int(b.to) })
	for _, e := range edges {
		g.Offsets[e.to+1]++
		g.Out.Offsets[e.from+1]++
		g.Sources = append(g.Sources, e.from)
		g.Targets = append(g.Targets, e.to)
	}
	for v := range n {
		g.Offsets[v+1] += g.Offsets[v]
		g.Out.Offsets[v+1] += g.Out.Offsets[v]
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return int(a.from) - int(b.from) })
	for _, e := range edges {
		g.Out.Targets = append(g.Out.Targets, e.to)
	}
	return g
}

// star has edges between vertex 0 and all others, both ways.
func star(n int) *Graph {
	var e []edge
	for v := uint32(1); v < uint32(n); v++ {
		e = append(e, edge{0, v}, edge{v, 0})
	}
	return build(n, e)
}

// chain has an edge from each vertex to the next.
func chain(n int) *Graph {
	var e []edge
	for v := uint32(1); v < uint32(n); v++ {
		e = append(e, edge{v - 1, v})
	}
	return build(n, e)
}

// loops has an edge from each vertex to itself, twice from every third.
func loops(n int) *Graph {
	var e []edge
	for v := range uint32(n) {
		e = append(e, edge{v, v})
		if v%3 == 0 {
			e = append(e, edge{v, v})
		}
	}
	return build(n, e)
}

// skewed draws edges whose ends are near 0 more often: in-degrees follow a power law,
// some vertices have no out-edges and some no edges at all; edges repeat.
func skewed(n, m int, seed uint64) *Graph {
	r := rand.New(rand.NewPCG(seed, 1))
	end := func(exponent int) uint32 {
		x := r.Float64()
		for range exponent {
			x *= r.Float64()
		}
		return uint32(x * float64(n))
	}
	var e []edge
	for range m {
		e = append(e, edge{end(1), end(2)})
	}
	return build(n, e)
}

// graphs are small, and each is a case of its own.
func graphs() map[string]*Graph {
	return map[string]*Graph{
		"none":   build(0, nil),
		"single": build(1, nil),
		"loop":   build(1, []edge{{0, 0}}),
		"empty":  build(37, nil),
		"star":   star(70),
		"chain":  chain(45),
		"loops":  loops(33),
		"pair":   build(2, []edge{{0, 1}, {0, 1}, {0, 1}}),
		"skewed": skewed(211, 1777, 1),
		"sparse": skewed(1301, 997, 2),
	}
}
