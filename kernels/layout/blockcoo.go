package layout

import (
	"heddle/isa"
	"heddle/kernels/graph"
	"heddle/kernels/ir"
)

// DefaultBlock is how many vertices a block has unless that is said.
const DefaultBlock = 16384

// blockCOO lists edges block by block (EdgeBlocking: UGF, §5.2.3, Algorithms 2 and 3; GRAssembler's Block-COO).
var blockCOO = blockedBy(DefaultBlock)

// blockedBy is blockCOO with blocks of so many vertices.
func blockedBy(vertices int) *Layout {
	array := func(name string, of func(edges graph.COO) []uint32) Array {
		return Array{Name: "block-coo." + name, Words: func(g *graph.Graph) []uint32 {
			edges := g.COOBySource()
			return inBlocks(of(edges), edges.Destinations, uint32(vertices))
		}}
	}
	return &Layout{
		Name: "block-coo",
		Doc:  "both ends of every edge, block by block: edges whose destinations are of the same so many vertices follow each other, within a block by source, then destination. No thread waits for a block's end",
		Rows: Base,
		View: func(s Site) View { return blocked{rows{s, "block-coo", "edges"}} },
		Bare: true,
		Data: []Array{
			array("sources", func(edges graph.COO) []uint32 { return edges.Sources }),
			array("destinations", func(edges graph.COO) []uint32 { return edges.Destinations }),
			array("weights", func(edges graph.COO) []uint32 { return edges.Weights }),
		},
		Sized: func(s Sizes) *Layout { return blockedBy(s.BlockVertices) },
		Keys:  []string{"block_vertices"},
	}
}

// inBlocks has words of edges in the order of the blocks of their destinations, otherwise as they were: by counting, as in
// Algorithm 2. nil: there are none.
func inBlocks(words, destinations []uint32, vertices uint32) []uint32 {
	if words == nil {
		return nil
	}
	last := uint32(0)
	for _, v := range destinations {
		last = max(last, v/vertices)
	}
	next := make([]int, last+2) // where the next edge of each block goes
	for _, v := range destinations {
		next[v/vertices+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	out := make([]uint32, len(words))
	for e, v := range destinations {
		out[next[v/vertices]] = words[e]
		next[v/vertices]++
	}
	return out
}

// blocked reads the lists of both ends.
type blocked struct{ rows }

// ends are the arrays of the end that rows belong to, and of the other.
func (l blocked) ends() (base, other string) {
	if l.Rows == Source {
		return "block-coo.sources", "block-coo.destinations"
	}
	return "block-coo.destinations", "block-coo.sources"
}

// Neighbours is never asked for: there are no rows.
func (l blocked) Neighbours(_, _ ir.Value) Span {
	panic("BUG: layout: rows of block-coo")
}

// Slots reads the end that the direction walks.
func (l blocked) Slots(first, step ir.Value, body func(s Slot)) {
	base, _ := l.ends()
	l.Numbered(l.Count(l.edges), first, step, func(e ir.Value) (vertex ir.Value) {
		l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(base), e) })
		return vertex
	}, body)
}

// Other reads the other end.
func (l blocked) Other(e, _ ir.Value) ir.Value {
	_, other := l.ends()
	return l.Load(ir.U32, l.Addr(other), e)
}

// Edge reads it.
func (l blocked) Edge(e, base ir.Value) Edge { return l.EdgeTo(e, base, l.Other(e, base)) }
