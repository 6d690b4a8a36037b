package layout

import (
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// By says by which end's number edges are in a block.
type By string

// What blocks are of.
const (
	ByDestination By = "destination"
	BySource      By = "source"
	ByBoth        By = "both"
)

// Bys lists them.
func Bys() []By { return []By{ByDestination, BySource, ByBoth} }

// blocks are edges in an order of blocks: of so many vertices at one end, or at both.
type blocks struct {
	name     string // of the layout
	vertices uint32
	by       By
}

// sorted is the end by which the edges of a block are sorted, and then by the other: that which the blocks are not of,
// or else the one that direction d walks.
func (b *blocks) sorted(d direction.Direction) End {
	switch b.by {
	case ByDestination:
		return Source
	case BySource:
		return Destination
	}
	return Base(d)
}

// layout completes one of edges in blocks. Rows are the edges of a block that one vertex has, as virtual vertices.
func (b *blocks) layout(l *Layout) *Layout {
	l.Name = b.name
	l.Rows = Base
	l.BareIn = func(d direction.Direction) bool { return b.sorted(d) != Base(d) }
	l.View = func(s Site) View {
		d := direction.Push
		if s.Rows == Destination {
			d = direction.Pull
		}
		return blocked{rows{s, b.array(b.sorted(d)), "edges"}}
	}
	l.Virtual = &Virtual{Rows: func(g *graph.Graph, x End) int {
		vertices, _ := b.rows(g, x)
		return len(vertices)
	}}
	for _, x := range []End{Source, Destination} {
		array := func(name string, words func(g *graph.Graph) []uint32) {
			l.Data = append(l.Data, Array{b.array(x) + "." + name, words})
		}
		array("sources", func(g *graph.Graph) []uint32 { return b.in(g, x).Sources })
		array("destinations", func(g *graph.Graph) []uint32 { return b.in(g, x).Destinations })
		array("weights", func(g *graph.Graph) []uint32 { return b.in(g, x).Weights })
		array("vertices", func(g *graph.Graph) []uint32 {
			vertices, _ := b.rows(g, x)
			return vertices
		})
		array("begins", func(g *graph.Graph) []uint32 {
			_, begins := b.rows(g, x)
			return begins
		})
	}
	return l
}

// array is the prefix of the names of the arrays whose edges an end sorts within a block.
func (b *blocks) array(x End) string {
	return b.name + [...]string{Source: "-by-source", Destination: "-by-destination"}[x]
}

// in has the edges block by block, within a block sorted by end x: by counting, as in UGF's Algorithm 2, which leaves
// those of a block in the order in which they were. Of blocks of both ends, those with one block of that end follow
// each other: as x ascends in them, those with one block of the other end would be blocks of that alone.
func (b *blocks) in(g *graph.Graph, x End) graph.COO {
	if x == Source {
		edges := g.COOBySource()
		if b.by != BySource {
			edges = inBlocks(edges, edges.Destinations, b.vertices)
		}
		if b.by != ByDestination {
			edges = inBlocks(edges, edges.Sources, b.vertices)
		}
		return edges
	}
	edges := g.COOByDestination()
	if b.by != ByDestination {
		edges = inBlocks(edges, edges.Sources, b.vertices)
	}
	if b.by != BySource {
		edges = inBlocks(edges, edges.Destinations, b.vertices)
	}
	return edges
}

// rows are the vertices of the rows that an end sorts, and where each row begins, and the last one ends.
func (b *blocks) rows(g *graph.Graph, x End) (vertices, begins []uint32) {
	edges := b.in(g, x)
	base := edges.Sources
	if x == Destination {
		base = edges.Destinations
	}
	for e, v := range base {
		if e == 0 || v != base[e-1] || b.block(edges, e) != b.block(edges, e-1) {
			vertices, begins = append(vertices, v), append(begins, uint32(e))
		}
	}
	return vertices, append(begins, uint32(len(base)))
}

// block is the number of an edge's block at either end.
func (b *blocks) block(edges graph.COO, e int) (number [2]uint32) {
	if b.by != ByDestination {
		number[Source] = edges.Sources[e] / b.vertices
	}
	if b.by != BySource {
		number[Destination] = edges.Destinations[e] / b.vertices
	}
	return number
}

// inBlocks has edges in the order of the blocks that an end of each is in, otherwise as they were.
func inBlocks(edges graph.COO, end []uint32, vertices uint32) graph.COO {
	last := uint32(0)
	for _, v := range end {
		last = max(last, v/vertices)
	}
	next := make([]uint32, last+2) // where the next edge of each block goes
	for _, v := range end {
		next[v/vertices+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	to := make([]uint32, len(end))
	for e, v := range end {
		to[e] = next[v/vertices]
		next[v/vertices]++
	}
	return graph.COO{Sources: moved(edges.Sources, to), Destinations: moved(edges.Destinations, to), Weights: moved(edges.Weights, to)}
}

// moved has words where they go. nil: there are none.
func moved(words, to []uint32) []uint32 {
	if words == nil {
		return nil
	}
	out := make([]uint32, len(words))
	for e, w := range words {
		out[to[e]] = w
	}
	return out
}

// blocked reads the lists of both ends.
type blocked struct{ rows }

// ends are the arrays of the end that rows belong to, and of the other.
func (l blocked) ends() (base, other string) {
	if l.Rows == Source {
		return l.name + ".sources", l.name + ".destinations"
	}
	return l.name + ".destinations", l.name + ".sources"
}

func (l blocked) RowCount() ir.Value { return l.Count(RowCount(l.Rows)) }

func (l blocked) Vertex(row ir.Value) ir.Value {
	return l.Load(ir.U32, l.Addr(l.name+".vertices"), row)
}

func (l blocked) Neighbours(row, _ ir.Value) Span {
	at := l.Addr(l.name + ".begins")
	return Span{Begin: l.Load(ir.U32, at, row), End: l.Load(ir.U32, at, l.Add(row, l.U32(1)))}
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
