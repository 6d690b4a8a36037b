package pagerank

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"heddle/graph"
	"heddle/graph/graphspec"
)

// edge is one edge of a test graph.
type edge struct{ from, to uint32 }

// build makes a graph, through its text form.
func build(n int, edges []edge) *graph.Graph {
	var s strings.Builder
	fmt.Fprintf(&s, "%%%%MatrixMarket matrix coordinate pattern general\n%d %d %d\n", n, n, len(edges))
	for _, e := range edges {
		fmt.Fprintln(&s, e.from+1, e.to+1)
	}
	g, err := graph.Read("test.mtx", strings.NewReader(s.String()), graph.ReadOptions{})
	if err != nil {
		panic(err)
	}
	return g
}

// load reads a graph from a file.
func load(file string) *graph.Graph {
	g, err := graph.Load(graphspec.Graph{File: file})
	if err != nil {
		panic(err)
	}
	return g
}

// star has edges between vertex 0 and all others, both ways.
func star(n int) *graph.Graph {
	var e []edge
	for v := uint32(1); v < uint32(n); v++ {
		e = append(e, edge{0, v}, edge{v, 0})
	}
	return build(n, e)
}

// chain has an edge from each vertex to the next.
func chain(n int) *graph.Graph {
	var e []edge
	for v := uint32(1); v < uint32(n); v++ {
		e = append(e, edge{v - 1, v})
	}
	return build(n, e)
}

// loops has an edge from each vertex to itself, twice from every third.
func loops(n int) *graph.Graph {
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
func skewed(n, m int, seed uint64) *graph.Graph {
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
func graphs() map[string]*graph.Graph {
	return map[string]*graph.Graph{
		"single": build(1, nil),
		"loop":   build(1, []edge{{0, 0}}),
		"empty":  build(37, nil),
		"star":   star(70),
		"chain":  chain(45),
		"loops":  loops(33),
		"pair":   build(2, []edge{{0, 1}, {0, 1}, {0, 1}}),
		"skewed": skewed(211, 1777, 1),
		"sparse": skewed(1301, 997, 2),
		"karate": load("testdata/karate.mtx.gz"),
	}
}
