package eval

import (
	"math/bits"

	"heddle/graph"
	"heddle/graphit"
)

// rowMethod is the method of edges that gives a vector its numbers; "": another vector.
func rowMethod(v *graphit.Var) string {
	if m, ok := v.Init.(*graphit.Method); ok {
		switch m.Name {
		case graphit.RowBits, graphit.RowHashes:
			return m.Name
		}
	}
	return ""
}

// bitWords is the number of words of a row of bits.
func bitWords(g *graph.Graph) int { return (g.Vertices() + 31) / 32 }

// hashSize is the size of a row's hash table: at least half of it is empty.
func hashSize(degree int) int { return 1 << bits.Len(uint(2*degree)) }

// intersectionLength is the number of numbers of an intersection's vector.
func intersectionLength(method string, g *graph.Graph) int {
	if method == graphit.RowBits {
		return g.Vertices() * bitWords(g)
	}
	n := 0
	for v := range g.Vertices() {
		n += hashSize(g.CSR().Degree(v))
	}
	return n
}

// distinct refuses graphs with parallel edges, of which a table and bits keep one.
func distinct(v *graphit.Var, g *graph.Graph) {
	seen := make([]int32, g.Vertices()) // by neighbour, the vertex that has had it, from 1
	for u := range g.Vertices() {
		for _, w := range g.CSR().Row(u) {
			if seen[w] == int32(u)+1 {
				fail(v.Pos, "configIntersection: edges from %d to %d are parallel, which only a merge counts: expected a "+
					"graph without (clean.drop_duplicates)", u, w)
			}
			seen[w] = int32(u) + 1
		}
	}
}

// intersectionNumbers are the numbers of an intersection's vector.
func intersectionNumbers(method string, g *graph.Graph) []uint32 {
	csr := g.CSR()
	switch method {
	case graphit.RowBits:
		out, words := make([]uint32, intersectionLength(method, g)), bitWords(g)
		for v := range g.Vertices() {
			for _, w := range csr.Row(v) {
				out[v*words+int(w/32)] |= 1 << (w % 32)
			}
		}
		return out
	case graphit.HashStarts, graphit.HashMasks:
		out, at := make([]uint32, g.Vertices()), 0
		for v := range out {
			size := hashSize(csr.Degree(v))
			out[v] = uint32(at)
			if method == graphit.HashMasks {
				out[v] = uint32(size - 1)
			}
			at += size
		}
		return out
	}
	out := make([]uint32, intersectionLength(method, g))
	for i := range out {
		out[i] = graphit.HashEmpty
	}
	at := 0
	for v := range g.Vertices() {
		size := hashSize(csr.Degree(v))
		for _, w := range csr.Row(v) {
			h := int(graphit.HashOf(w)) & (size - 1)
			for out[at+h] != graphit.HashEmpty {
				h = (h + 1) & (size - 1)
			}
			out[at+h] = w
		}
		at += size
	}
	return out
}
