package layout

import (
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/ir"
)

// edgeBlocking is block-coo with the wait behind each block that UGF's kernel has (§5.2.3, Algorithm 3).
var edgeBlocking = edgeBlockingBy(DefaultSizes())

// edgeBlockingBy returns edgeBlocking with blocks of that size. Blocks of both ends are ordered as block-coo's, and a
// segment is then a block of the end that is grouped last.
func edgeBlockingBy(s Sizes) *Layout {
	b := &blocks{"edge-blocking", uint32(s.BlockVertices), s.BlockBy, s.BlockEqual}
	l := b.layout(&Layout{
		Doc: "block-coo of edges alone: all threads of the device finish a block's edges before any begins the next " +
			"block (UGF's Algorithm 3)",
		Bare:  true,
		Waits: true,
		Sized: edgeBlockingBy,
		Keys:  []string{"block_vertices", "block_by", "block_equal"},
	})
	l.Virtual, l.BareIn = nil, nil
	for _, x := range []End{Source, Destination} {
		l.Data = append(l.Data, Array{b.array(x) + ".segments", func(g *graph.Graph) []uint32 { return b.segments(g, x) }})
		l.Numbers = append(l.Numbers, Number{b.array(x) + ".blocks",
			func(g *graph.Graph) uint32 { return uint32(len(b.segments(g, x)) - 1) }})
	}
	view := l.View
	l.View = func(s Site) View { return segmented{view(s).(blocked)} }
	return l
}

// segments returns where each block's edges begin, and the number of edges.
func (b *blocks) segments(g *graph.Graph, x End) (begins []uint32) {
	ends := b.numbers(g)
	edges := b.ordered(g, x, ends)
	for e := range edges.Sources {
		if e == 0 || !ends.same(edges, e) {
			begins = append(begins, uint32(e))
		}
	}
	return append(begins, uint32(len(edges.Sources)))
}

// segmented is blocked with a wait behind each block.
type segmented struct{ blocked }

// Slots reads the end that the direction walks, block by block.
func (l segmented) Slots(first, step ir.Value, body func(s Slot)) {
	base, _ := l.ends()
	begins := l.Addr(l.name + ".segments")
	l.For(l.U32(0), l.Count(l.name+".blocks"), l.U32(1), func(k ir.Value) {
		begin, end := l.Load(ir.U32, begins, k), l.Load(ir.U32, begins, l.Add(k, l.U32(1)))
		l.Numbered(end, l.Add(begin, first), step, func(e ir.Value) (vertex ir.Value) {
			l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(base), e) })
			return vertex
		}, body)
		l.DeviceBarrier()
	})
}
