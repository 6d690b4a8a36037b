package layout

import (
	"slices"

	"heddle/isa"
	"heddle/kernels/graph"
	"heddle/kernels/ir"
)

// BlockBy says by which of an edge's ends it is in a block.
type BlockBy string

// Ends that make a block.
const (
	ByDestination BlockBy = "destination"
	BySource      BlockBy = "source"
	ByBoth        BlockBy = "both"
)

// BlockBys lists them, the default first.
func BlockBys() []BlockBy { return []BlockBy{ByDestination, BySource, ByBoth} }

// DefaultBlock is how many vertices a block has unless that is said.
const DefaultBlock = 16384

// blockCOO lists edges block by block (EdgeBlocking: UGF, §5.2.3, Algorithms 2 and 3; GRAssembler's Block-COO).
var blockCOO = blockedBy(DefaultBlock, ByDestination)

// blockedBy is blockCOO with blocks of so many vertices.
func blockedBy(vertices int, by BlockBy) *Layout {
	array := func(name string, of func(b *blocking) []uint32) Array {
		return Array{Name: "block-coo." + name, Words: func(g *graph.Graph) []uint32 { return of(&blocking{g.COOBySource(), uint32(vertices), by}) }}
	}
	return &Layout{
		Name: "block-coo",
		Doc:  "both ends of every edge, block by block: edges whose destinations (or sources, or both) are of the same so many vertices follow each other; within a block by source, then destination. No thread waits for a block's end",
		Rows: Base,
		View: func(s Site) View { return blocked{rows{s, "block-coo"}} },
		Bare: true,
		Data: []Array{
			array("sources", func(b *blocking) []uint32 { return b.pick(b.edges.Sources) }),
			array("destinations", func(b *blocking) []uint32 { return b.pick(b.edges.Destinations) }),
			array("weights", func(b *blocking) []uint32 { return b.pick(b.edges.Weights) }),
		},
		Blocks: blockedBy,
	}
}

// blocking is a graph's edges, and how they are put into blocks.
type blocking struct {
	edges    graph.COO
	vertices uint32
	by       BlockBy
}

// pick has words of edges in the order of their blocks.
func (b *blocking) pick(words []uint32) []uint32 {
	if words == nil {
		return nil
	}
	order := make([]uint32, len(b.edges.Sources))
	for e := range order {
		order[e] = uint32(e)
	}
	slices.SortStableFunc(order, func(x, y uint32) int {
		p, q := b.block(x), b.block(y)
		switch {
		case p < q:
			return -1
		case p > q:
			return 1
		}
		return 0
	})
	out := make([]uint32, len(order))
	for i, e := range order {
		out[i] = words[e]
	}
	return out
}

// block is an edge's block; by both ends, those of a segment of destinations follow each other.
func (b *blocking) block(e uint32) uint64 {
	from, to := uint64(b.edges.Sources[e]/b.vertices), uint64(b.edges.Destinations[e]/b.vertices)
	switch b.by {
	case BySource:
		return from
	case ByBoth:
		return to<<32 | from
	}
	return to
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
func (l blocked) Neighbours(ir.Value) (begin, end ir.Value) {
	panic("BUG: layout: rows of block-coo")
}

// SearchVertex reads the end that the direction walks.
func (l blocked) SearchVertex(e ir.Value) (row ir.Value) {
	base, _ := l.ends()
	l.Phase(isa.PhaseEdgeAccess, func() { row = l.Load(ir.U32, l.Addr(base), e) })
	return row
}

// Other reads the other end.
func (l blocked) Other(e ir.Value) ir.Value {
	_, other := l.ends()
	return l.Load(ir.U32, l.Addr(other), e)
}

// Edge reads it.
func (l blocked) Edge(e, base ir.Value) Edge { return l.EdgeTo(e, base, l.Other(e)) }
