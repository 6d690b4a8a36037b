package pagerank

import (
	"fmt"
	"math"
)

// argument is a word of the block that mscratch points to. The programs name the same
// words at the same offsets (a test compares).
type argument int

// Words of the argument block, in order.
const (
	argVertices     argument = iota // n
	argEdges                        // m
	argOffsets                      // address of n+1 words: v's in-edges begin at offsets[v]
	argSources                      // address of m words: where each in-edge comes from
	argTargets                      // address of m words: where it goes, ascending
	argOutDegree                    // address of n words
	argInverse                      // address of n floats: 1/outdegree, or 0
	argContribution                 // address of n floats: rank/outdegree, what a vertex sends along each edge
	argSum                          // address of n floats: what a vertex has received; 0 before a gather
	argRank                         // address of n floats
	argFirstRank                    // 1/n, a float
	argBase                         // (1-d)/n, a float
	argDamping                      // d, a float
	argChange                       // address of a float: Σ|change of a rank|
	numArguments
)

// argumentNames are the programs' names for them.
var argumentNames = [numArguments]string{
	argVertices: "VERTICES", argEdges: "EDGES", argOffsets: "OFFSETS", argSources: "SOURCES", argTargets: "TARGETS",
	argOutDegree: "OUT_DEGREE", argInverse: "INVERSE", argContribution: "CONTRIBUTION", argSum: "SUM", argRank: "RANK",
	argFirstRank: "FIRST_RANK", argBase: "BASE", argDamping: "DAMPING", argChange: "CHANGE",
}

// block is a filled argument block.
type block [numArguments]uint32

// Where arrays are placed: above the uncached region, below programs.
const (
	dataBase  = 0x0010_0000
	dataEnd   = 0x8000_0000
	alignment = 64 // a cache line
)

// space places arrays one after the other.
type space struct{ next uint64 }

// place reserves words for an array.
func (s *space) place(words int) uint32 {
	addr := s.next
	s.next += (4*uint64(words) + alignment - 1) &^ (alignment - 1)
	return uint32(addr)
}

// layout fills the block for a graph. The block itself is at the returned address.
func layout(g *Graph, damping float64) (b block, addr uint32, err error) {
	n, m := g.Vertices(), g.Edges()
	s := space{dataBase}
	addr = s.place(len(b))
	b[argVertices], b[argEdges] = uint32(n), uint32(m)
	for _, a := range []struct {
		arg   argument
		words int
	}{
		{argChange, 1}, {argOffsets, n + 1}, {argSources, m}, {argTargets, m},
		{argOutDegree, n}, {argInverse, n}, {argContribution, n}, {argSum, n}, {argRank, n},
	} {
		b[a.arg] = s.place(a.words)
	}
	if s.next > dataEnd {
		return b, 0, fmt.Errorf("pagerank: the arrays of %d vertices and %d edges take %d bytes: at most %d fit a device's memory", n, m, s.next-dataBase, dataEnd-dataBase)
	}
	b[argFirstRank] = math.Float32bits(float32(1 / float64(n)))
	b[argBase] = math.Float32bits(float32((1 - damping) / float64(n)))
	b[argDamping] = math.Float32bits(float32(damping))
	return b, addr, nil
}
