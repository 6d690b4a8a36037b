package layout

import (
	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/ir"
)

// ends are the name parts of arrays whose rows belong to either end.
var ends = [...]string{Source: "out", Destination: "in"}

// remainder is the layout of the edges that another layout has no slots for, in their order: in rows as in csr, or as
// individual edges without rows as in coo.
type remainder struct {
	inRows bool
	// kept reports, for each edge of the rows, whether the other layout holds it.
	kept func(g *graph.Graph, rows End) []bool
}

func (r remainder) layout() *Layout {
	l := &Layout{Name: "rest", Doc: "the edges that the layout has no slots for", Rows: Base, Bare: !r.inRows}
	for end := range End(len(ends)) {
		array := func(name string, words func(a *graph.Adjacency, kept []bool) []uint32) {
			l.Data = append(l.Data, Array{Name: restOf(end, name), Words: func(g *graph.Graph) []uint32 {
				return words(adjacency(g, end), r.kept(g, end))
			}})
		}
		array("ids", func(a *graph.Adjacency, kept []bool) []uint32 { return left(a.IDs, kept) })
		array("weights", func(a *graph.Adjacency, kept []bool) []uint32 { return left(a.Weights, kept) })
		if r.inRows {
			array("offsets", leftOffsets)
		} else {
			l.Data = append(l.Data, Array{Name: restOf(end, "rows"), Words: func(g *graph.Graph) []uint32 {
				return left(g.Rows(adjacency(g, end)), r.kept(g, end))
			}})
		}
		l.Numbers = append(l.Numbers, Number{RestEdges(end),
			func(g *graph.Graph) uint32 { return count(r.kept(g, end), false) }})
	}
	l.View = func(s Site) View {
		v := rows{s, "rest." + ends[s.Rows], RestEdges(s.Rows)}
		if r.inRows {
			return v
		}
		return loose{v}
	}
	return l
}

// restOf returns the name of an array or parameter of the rest.
func restOf(end End, name string) string { return "rest." + ends[end] + "." + name }

// RestEdges returns the parameter with the number of edges in a rest, by rows of an end.
func RestEdges(end End) string { return restOf(end, "edges") }

// left returns the words of the edges that are not kept. nil: no words.
func left(words []uint32, kept []bool) []uint32 {
	if words == nil {
		return nil
	}
	out := []uint32{}
	for e, w := range words {
		if !kept[e] {
			out = append(out, w)
		}
	}
	return out
}

// leftOffsets returns the row offsets of the edges that are not kept.
func leftOffsets(a *graph.Adjacency, kept []bool) []uint32 {
	offsets := make([]uint32, a.Vertices()+1)
	for v := range a.Vertices() {
		offsets[v+1] = offsets[v] + count(kept[a.Offsets[v]:a.Offsets[v+1]], false)
	}
	return offsets
}

// count returns the number of entries equal to is.
func count(list []bool, is bool) (n uint32) {
	for _, x := range list {
		if x == is {
			n++
		}
	}
	return n
}

// loose lists individual edges: the row of each, and its other end.
type loose struct{ rows }

// Neighbours is never called: there are no rows.
func (l loose) Neighbours(_, _ ir.Value) Span {
	panic("BUG: layout: rows of a rest without rows")
}

func (l loose) Slots(first, step ir.Value, body func(s Slot)) {
	l.Numbered(l.Count(l.edges), first, step, func(e ir.Value) (vertex ir.Value) {
		l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(l.name+".rows"), e) })
		return vertex
	}, body)
}
