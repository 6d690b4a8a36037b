package main

import "heddle"

// aligned has each row begin at a cache line of 16 words, so that no two rows share one.
var aligned = &heddle.Layout{
	Name: "aligned",
	Doc:  "rows by source that each begin at a multiple of 16 words: begins, ends, destinations",
	Rows: func(heddle.Direction) heddle.End { return heddle.Source },
	View: func(s heddle.LayoutSite) heddle.View { return alignedRows{heddle.Compressed(s), s} },
	Gaps: true, // edges have no numbers from 0 to as many as there are
	Data: []heddle.LayoutArray{
		{Name: "aligned.begins", Words: func(g *heddle.Graph) []uint32 { return starts(g)[:g.Vertices()] }},
		{Name: "aligned.ends", Words: func(g *heddle.Graph) []uint32 {
			ends := starts(g)[:g.Vertices()]
			for v := range ends {
				ends[v] += uint32(g.CSR().Degree(v))
			}
			return ends
		}},
		{Name: "aligned.ids", Words: func(g *heddle.Graph) []uint32 { return spread(g, g.CSR().IDs) }},
		{Name: "aligned.weights", Words: func(g *heddle.Graph) []uint32 { return spread(g, g.CSR().Weights) }},
	},
}

// starts is where each vertex's row begins, and where the last one ends.
func starts(g *heddle.Graph) []uint32 {
	at := make([]uint32, g.Vertices()+1)
	for v := range g.Vertices() {
		at[v+1] = at[v] + (uint32(g.CSR().Degree(v))+15)/16*16
	}
	return at
}

// spread lays words of edges out as the layout has them.
func spread(g *heddle.Graph, words []uint32) []uint32 {
	at := starts(g)
	out := make([]uint32, at[g.Vertices()])
	for v := range g.Vertices() {
		copy(out[at[v]:], words[g.CSR().Offsets[v]:g.CSR().Offsets[v+1]])
	}
	return out
}

// alignedRows is csr's view, with arrays of its own.
type alignedRows struct {
	heddle.View
	heddle.LayoutSite
}

// Neighbours returns where a row's edges begin and end.
func (r alignedRows) Neighbours(row, _ heddle.Value) heddle.Span {
	return heddle.Span{Begin: r.Load(heddle.U32, r.Addr("aligned.begins"), row),
		End: r.Load(heddle.U32, r.Addr("aligned.ends"), row)}
}

// Other reads the other end of an edge.
func (r alignedRows) Other(e, _ heddle.Value) heddle.Value {
	return r.Load(heddle.U32, r.Addr("aligned.ids"), e)
}

// EdgeTo is an edge whose other end has been read, Edge one of which it has not.
func (r alignedRows) EdgeTo(e, base, other heddle.Value) heddle.Edge {
	return r.LayoutSite.Edge(e, base, other, "aligned.weights")
}

// Edge reads an edge of the row of base.
func (r alignedRows) Edge(e, base heddle.Value) heddle.Edge {
	return r.EdgeTo(e, base, r.Other(e, base))
}

// Given is an edge that a graph unit has read.
func (r alignedRows) Given(src, dst, weight heddle.Value) heddle.Edge {
	return r.LayoutSite.Given(src, dst, weight)
}
