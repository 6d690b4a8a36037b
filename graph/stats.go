package graph

import (
	"math/bits"
	"slices"
)

// Summary describes a graph.
type Summary struct {
	Vertices   int        `json:"vertices"`
	Edges      int        `json:"edges"`
	WeightKind WeightKind `json:"weight_kind"`
	MinWeight  *float64   `json:"min_weight"` // null without weights
	MaxWeight  *float64   `json:"max_weight"`

	Out Degrees `json:"out_degree"`
	In  Degrees `json:"in_degree"`

	SelfLoops  int  `json:"self_loops"`
	Duplicates int  `json:"duplicates"` // edges beyond the first between the same vertices
	Isolated   int  `json:"isolated"`   // vertices without an edge
	Symmetric  bool `json:"symmetric"`  // every edge has its reverse
	// Reciprocated counts edges that have their reverse, of the same weight.
	Reciprocated int `json:"reciprocated"`

	Components int `json:"components"` // weakly connected
	Largest    int `json:"largest_component"`

	Hash    string       `json:"hash"`
	Layouts []LayoutSize `json:"layouts"`
}

// Degrees describes a degree distribution.
type Degrees struct {
	Min  int     `json:"min"`
	Mean float64 `json:"mean"`
	P50  int     `json:"p50"`
	P90  int     `json:"p90"`
	P99  int     `json:"p99"`
	Max  int     `json:"max"`
	// Histogram counts vertices of degree 0, 1, 2..3, 4..7, and so on.
	Histogram []int `json:"histogram"`
}

// LayoutSize is the memory of a layout, weights included.
type LayoutSize struct {
	Name  string `json:"name"`
	Bytes uint64 `json:"bytes"`
}

// Summarise looks at the whole graph.
func (g *Graph) Summarise() *Summary {
	in := g.CSC()
	s := &Summary{
		Vertices: g.Vertices(), Edges: g.Edges(), WeightKind: g.kind, Hash: g.Hash(),
		Out: g.out.degrees(), In: in.degrees(), Layouts: g.layoutSizes(),
	}
	s.Reciprocated = 2*g.Edges() - g.unionSize(in)
	s.Symmetric = s.Reciprocated == g.Edges()
	for v := range g.Vertices() {
		if g.out.Degree(v)+in.Degree(v) == 0 {
			s.Isolated++
		}
		for i, u := range g.out.Row(v) {
			if u == uint32(v) {
				s.SelfLoops++
			}
			if i > 0 && u == g.out.Row(v)[i-1] {
				s.Duplicates++
			}
		}
	}
	s.MinWeight, s.MaxWeight = g.weightRange()
	_, sizes := g.Components()
	s.Components, s.Largest = len(sizes), slices.Max(sizes)
	return s
}

func (g *Graph) weightRange() (least, most *float64) {
	if len(g.out.Weights) == 0 {
		return nil, nil
	}
	lo := g.kind.Float(slices.MinFunc(g.out.Weights, g.kind.compare))
	hi := g.kind.Float(slices.MaxFunc(g.out.Weights, g.kind.compare))
	return &lo, &hi
}

func (g *Graph) layoutSizes() []LayoutSize {
	n, m := uint64(g.Vertices()), uint64(g.Edges())
	weights := uint64(len(g.out.Weights))
	rows := 4 * (n + 1 + m + weights)
	return []LayoutSize{{"csr", rows}, {"csc", rows}, {"coo", 4 * (2*m + weights)}}
}

func (a *Adjacency) degrees() Degrees {
	n := a.Vertices()
	sorted := make([]int, n)
	d := Degrees{Mean: float64(a.Edges()) / float64(n)}
	for v := range n {
		degree := a.Degree(v)
		sorted[v] = degree
		bin := bits.Len(uint(degree))
		for len(d.Histogram) <= bin {
			d.Histogram = append(d.Histogram, 0)
		}
		d.Histogram[bin]++
	}
	slices.Sort(sorted)
	rank := func(percent int) int { return sorted[(n-1)*percent/100] }
	d.Min, d.P50, d.P90, d.P99, d.Max = sorted[0], rank(50), rank(90), rank(99), sorted[n-1]
	return d
}

// Components returns the weakly connected component of each vertex, numbered
// by their smallest vertices, and the components' sizes.
func (g *Graph) Components() (of []uint32, sizes []int) {
	parent := identity(g.Vertices()) // union-find; a root is its set's smallest vertex
	find := func(v uint32) uint32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for v := range g.Vertices() {
		for _, u := range g.out.Row(v) {
			a, b := find(uint32(v)), find(u)
			parent[max(a, b)] = min(a, b)
		}
	}
	of = make([]uint32, g.Vertices())
	for v := range of {
		root := find(uint32(v))
		if root == uint32(v) {
			of[v] = uint32(len(sizes))
			sizes = append(sizes, 0)
		}
		of[v] = of[root]
		sizes[of[v]]++
	}
	return of, sizes
}
