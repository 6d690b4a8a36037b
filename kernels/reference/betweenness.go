package reference

import (
	"fmt"
	"math"

	"heddle/graph"
)

// brandes is one source's part of betweenness centrality in float64, with bounds on the error of a float32 computation.
type brandes struct {
	out              *graph.Adjacency
	level            []uint32
	order            []uint32 // the vertices reached, level by level
	paths, off       []float64
	dependency, wide []float64
	maxTerms         int
}

// newBrandes counts the shortest paths to each vertex. A count's error is that of its terms plus the roundings of its
// sum in any order; up to 2^24 float32 adds integers exactly.
func newBrandes(out *graph.Adjacency, source uint32) *brandes {
	n := out.Vertices()
	b := &brandes{out: out, level: Levels(out, source), paths: make([]float64, n), off: make([]float64, n)}
	terms := make([]int, n)
	b.paths[source] = 1
	b.order = byLevel(b.level)
	for _, u := range b.order {
		if b.paths[u] <= exact {
			b.off[u] = 0
		} else {
			b.off[u] += gamma(terms[u]-1) * (b.paths[u] + b.off[u])
		}
		for _, v := range out.Row(int(u)) {
			if b.level[v] == b.level[u]+1 {
				b.paths[v] += b.paths[u]
				b.off[v] += b.off[u]
				terms[v]++
			}
		}
		b.maxTerms = max(b.maxTerms, terms[u])
	}
	return b
}

// exact is the limit up to which float32 represents every integer: 1 / its unit roundoff.
const exact = 0x1p24

// byLevel returns the vertices that have a level, nearest first.
func byLevel(level []uint32) (order []uint32) {
	var levels [][]uint32
	for v, l := range level {
		if l == Unreached {
			continue
		}
		for uint32(len(levels)) <= l {
			levels = append(levels, nil)
		}
		levels[l] = append(levels[l], uint32(v))
	}
	for _, l := range levels {
		order = append(order, l...)
	}
	return order
}

// PathsFit returns an error for sources with more shortest paths to a vertex than float32 can represent.
func PathsFit(out *graph.Adjacency, source uint32) error {
	b := newBrandes(out, source)
	for _, v := range b.order {
		if !(b.paths[v]+b.off[v] <= math.MaxFloat32) {
			return fmt.Errorf(
				"bc: %.3g shortest paths lead from vertex %d to vertex %d, and a float32 counts up to %.3g: give "+
					"another workload.algorithm.source, or a graph with fewer ways that are equally long",
				b.paths[v], source, v, math.MaxFloat32)
		}
	}
	return nil
}

// accumulate is the backward pass. The source's own dependency is not part of the result: 0.
func (b *brandes) accumulate() {
	n := len(b.level)
	b.dependency, b.wide = make([]float64, n), make([]float64, n)
	for i := len(b.order) - 1; i > 0; i-- {
		u, terms := b.order[i], 0
		for _, v := range b.out.Row(int(u)) {
			if b.level[v] != b.level[u]+1 {
				continue
			}
			terms++
			term, most := b.term(u, v)
			b.dependency[u] += term
			b.wide[u] += most - term
		}
		b.wide[u] += gamma(max(0, terms-1)) * (b.dependency[u] + b.wide[u])
		b.maxTerms = max(b.maxTerms, terms)
	}
}

// term returns v's contribution to u's dependency, paths[u]/paths[v]·(1 + dependency[v]), and its upper bound in
// float32: all inputs carry errors, and the quotient, the sum and the product are rounded. The error below is no
// greater than that above.
func (b *brandes) term(u, v uint32) (term, most float64) {
	rounded := 1 + unit
	share := b.paths[u] / b.paths[v]
	mostShare := (b.paths[u]+b.off[u])/(b.paths[v]-b.off[v])*rounded + tiny
	mostOf := (1 + b.dependency[v] + b.wide[v]) * rounded
	return share * (1 + b.dependency[v]), mostShare*mostOf*rounded + tiny
}

// Dependencies returns each vertex's dependency of the shortest paths from the source, and the error bound of a float32
// computation.
func Dependencies(out *graph.Adjacency, source uint32) (dependency, bound []float64) {
	b := newBrandes(out, source)
	b.accumulate()
	return b.dependency, b.wide
}

// CheckDependencies compares got with each vertex's dependency of the shortest paths from the source.
func CheckDependencies(out *graph.Adjacency, source uint32, got []float32) error {
	b := newBrandes(out, source)
	b.accumulate()
	why := fmt.Sprintf("rounding of counts of paths and of what each edge adds, level by level, u = 2^-24, sums of "+
		"up to %d terms in any order", b.maxTerms)
	return compare("dependency", why, got, b.dependency, b.wide)
}
