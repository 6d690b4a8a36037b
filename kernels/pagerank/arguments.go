package pagerank

import (
	"math"
	"strings"

	"heddle/graph"
)

// argument is a word of the block that mscratch points to. The programs name the same
// words at the same offsets (a test compares).
type argument int

// Words of the argument block, in order.
const (
	argVertices     argument = iota // n
	argEdges                        // m
	argOffsets                      // address of n+1 words: v's in-edges begin at offsets[v]
	argSources                      // address of m words: the source of each in-edge
	argTargets                      // address of m words: the target of each, ascending
	argOutDegree                    // address of n words
	argInverse                      // address of n floats: 1/outdegree, or 0
	argContribution                 // address of n floats: rank/outdegree, the value sent along each edge
	argSum                          // address of n floats: the sum received; 0 before a gather
	argRank                         // address of n floats
	argFirstRank                    // 1/n, a float
	argBase                         // (1-d)/n, a float
	argDamping                      // d, a float
	argChange                       // address of a float: Σ|change of a rank|
	numArguments
)

// argumentNames are the arguments' names in the programs.
var argumentNames = [numArguments]string{
	argVertices: "VERTICES", argEdges: "EDGES", argOffsets: "OFFSETS", argSources: "SOURCES", argTargets: "TARGETS",
	argOutDegree: "OUT_DEGREE", argInverse: "INVERSE", argContribution: "CONTRIBUTION", argSum: "SUM", argRank: "RANK",
	argFirstRank: "FIRST_RANK", argBase: "BASE", argDamping: "DAMPING", argChange: "CHANGE",
}

// block is a filled argument block.
type block [numArguments]uint32

// layout fills the block and places the arrays; the block is the array "arguments".
func (r *run) layout() error {
	n := r.in.vertices()
	r.args[argFirstRank] = math.Float32bits(float32(1 / float64(n)))
	r.args[argBase] = math.Float32bits(float32((1 - r.options.Damping) / float64(n)))
	r.args[argDamping] = math.Float32bits(float32(r.options.Damping))
	r.args[argVertices], r.args[argEdges] = uint32(n), uint32(len(r.in.sources))
	for _, a := range []struct {
		arg   argument
		words int
		data  []uint32
	}{
		{argOffsets, n + 1, r.in.offsets},
		{argSources, len(r.in.sources), r.in.sources},
		{argTargets, len(r.in.targets), r.in.targets},
		{argOutDegree, n, r.in.outDegree},
		{argInverse, n, nil},
		{argContribution, n, nil},
		{argSum, n, nil},
		{argRank, n, nil},
		{argChange, 1, nil},
	} {
		if err := r.place(a.arg, a.words, a.data); err != nil {
			return err
		}
	}
	block, err := r.image.Place("arguments", r.args[:])
	r.argsAt = block.Addr
	return err
}

// place places an array.
func (r *run) place(arg argument, words int, data []uint32) error {
	var a graph.Array
	var err error
	if name := strings.ToLower(argumentNames[arg]); data != nil {
		a, err = r.image.Share(name, data)
	} else {
		a, err = r.image.Reserve(name, words)
	}
	r.args[arg] = a.Addr
	return err
}
