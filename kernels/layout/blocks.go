package layout

import (
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// By is the end of an edge whose number determines the edge's block.
type By string

// Ends that blocks are formed by.
const (
	ByDestination By = "destination"
	BySource      By = "source"
	ByBoth        By = "both"
)

// Bys returns every way to form blocks.
func Bys() []By { return []By{ByDestination, BySource, ByBoth} }

// Equal tells what is divided equally among the blocks of a layout.
type Equal string

// EqualVertices gives blocks as many vertices each, EqualEdges as many edges, in as many blocks.
const (
	EqualVertices Equal = "vertices"
	EqualEdges    Equal = "edges"
)

// blocks are edges ordered by block: a range of vertices at one end, or at both.
type blocks struct {
	name     string // the layout's name
	vertices uint32 // of a block, on average
	by       By
	equal    Equal
}

// sorted returns the end by which the edges of a block are sorted first, the other end breaking ties: the end that does
// not form the blocks, or else the one that direction d walks.
func (b *blocks) sorted(d direction.Direction) End {
	switch b.by {
	case ByDestination:
		return Source
	case BySource:
		return Destination
	}
	return Base(d)
}

// layout completes the layout of edges in blocks. A row holds the edges of one vertex within a block, like a virtual
// vertex.
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

// array returns the prefix of the names of the arrays whose edges are sorted by an end within each block.
func (b *blocks) array(x End) string {
	return b.name + [...]string{Source: "-by-source", Destination: "-by-destination"}[x]
}

// in returns the edges block by block, sorted by end x within a block, using a stable counting sort, as in UGF's
// Algorithm 2. For blocks of both ends, those with the same block of end x are adjacent; if those with the same block
// of the other end were adjacent instead, x would ascend across them, and they would amount to blocks of that end
// alone.
func (b *blocks) in(g *graph.Graph, x End) graph.COO { return b.ordered(g, x, b.numbers(g)) }

func (b *blocks) ordered(g *graph.Graph, x End, n numbers) graph.COO {
	if x == Source {
		edges := g.COOBySource()
		if b.by != BySource {
			edges = inBlocks(edges, edges.Destinations, n[Destination])
		}
		if b.by != ByDestination {
			edges = inBlocks(edges, edges.Sources, n[Source])
		}
		return edges
	}
	edges := g.COOByDestination()
	if b.by != ByDestination {
		edges = inBlocks(edges, edges.Sources, n[Source])
	}
	if b.by != BySource {
		edges = inBlocks(edges, edges.Destinations, n[Destination])
	}
	return edges
}

// numbers are the vertices' blocks, which ascend, by the edge's end; nil at an end that forms no blocks.
type numbers [2][]uint32

// numbers returns the vertices' blocks.
func (b *blocks) numbers(g *graph.Graph) (n numbers) {
	if b.by != ByDestination {
		n[Source] = b.divide(g, Source)
	}
	if b.by != BySource {
		n[Destination] = b.divide(g, Destination)
	}
	return n
}

// divide returns the vertices' blocks at an end. With equal edges, block i of n begins at the first vertex before which
// there are i/n of all edges: a vertex's edges stay in one block, so that a hub's block may have more.
func (b *blocks) divide(g *graph.Graph, x End) []uint32 {
	of := make([]uint32, g.Vertices())
	if b.equal != EqualEdges || g.Edges() == 0 {
		for v := range of {
			of[v] = uint32(v) / b.vertices
		}
		return of
	}
	rows, count := g.CSR(), (uint64(len(of))+uint64(b.vertices)-1)/uint64(b.vertices)
	if x == Destination {
		rows = g.CSC()
	}
	for v := range of { // behind the last edge there are vertices without any
		of[v] = uint32(min(uint64(rows.Offsets[v])*count/uint64(g.Edges()), count-1))
	}
	return of
}

// same reports whether an edge is in the block of the one before it.
func (n *numbers) same(edges graph.COO, e int) bool {
	s, d := n[Source], n[Destination]
	return (s == nil || s[edges.Sources[e]] == s[edges.Sources[e-1]]) &&
		(d == nil || d[edges.Destinations[e]] == d[edges.Destinations[e-1]])
}

// rows returns the vertices of the rows that an end sorts, and where each row begins, with the end of the last
// appended.
func (b *blocks) rows(g *graph.Graph, x End) (vertices, begins []uint32) {
	n := b.numbers(g)
	edges := b.ordered(g, x, n)
	base := edges.Sources
	if x == Destination {
		base = edges.Destinations
	}
	for e, v := range base {
		if e == 0 || v != base[e-1] || !n.same(edges, e) {
			vertices, begins = append(vertices, v), append(begins, uint32(e))
		}
	}
	return vertices, append(begins, uint32(len(base)))
}

// inBlocks returns the edges ordered by the blocks of one end, given every vertex's; the sort is stable.
func inBlocks(edges graph.COO, end, of []uint32) graph.COO {
	next := []uint32{0} // next free entry of each block
	if len(of) > 0 {
		next = make([]uint32, of[len(of)-1]+2)
	}
	for _, v := range end {
		next[of[v]+1]++
	}
	for i := 1; i < len(next); i++ {
		next[i] += next[i-1]
	}
	to := make([]uint32, len(end))
	for e, v := range end {
		to[e] = next[of[v]]
		next[of[v]]++
	}
	return graph.COO{Sources: moved(edges.Sources, to), Destinations: moved(edges.Destinations, to),
		Weights: moved(edges.Weights, to)}
}

// moved returns the words permuted: word i moves to to[i]. nil: no words.
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

// ends returns the arrays of the end that rows belong to, and of the other.
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

// Edge reads the edge.
func (l blocked) Edge(e, base ir.Value) Edge { return l.EdgeTo(e, base, l.Other(e, base)) }
