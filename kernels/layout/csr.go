package layout

import (
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// csr lists the edges of each source.
var csr = &Layout{
	Name: "csr",
	Doc:  "rows by source: offsets, destinations",
	Rows: func(direction.Direction) End { return Source },
	View: Compressed,
}

// rows is the code for compressed rows: offsets and the other ends.
type rows struct {
	Site
	name  string // prefix of the arrays' names
	edges string // parameter with the number of edges
}

// Compressed returns the view of csr, or of csc where rows belong to destinations. A view of another layout may embed
// it and override methods.
func Compressed(s Site) View { return compressed(s) }

func compressed(s Site) rows { return rows{s, [...]string{"csr", "csc"}[s.Rows], "edges"} }

func (r rows) RowCount() ir.Value { return r.Count("vertices") }

func (r rows) Vertex(row ir.Value) ir.Value { return row }

func (r rows) Neighbours(row, _ ir.Value) Span {
	at := r.Addr(r.name + ".offsets")
	return Span{Begin: r.Load(ir.U32, at, row), End: r.Load(ir.U32, at, r.Add(row, r.U32(1)))}
}

func (r rows) Edge(e, base ir.Value) Edge {
	return r.EdgeTo(e, base, r.Other(e, base))
}

func (r rows) Holds(_, _ ir.Value) ir.Value { return nil }

func (r rows) Other(e, _ ir.Value) ir.Value { return r.Load(ir.U32, r.Addr(r.name+".ids"), e) }

func (r rows) EdgeTo(e, base, other ir.Value) Edge {
	return r.Site.Edge(e, base, other, r.name+".weights")
}

func (r rows) Slots(first, step ir.Value, body func(s Slot)) {
	r.Numbered(r.Count(r.edges), first, step, r.search, body)
}

// search returns the last row that begins at or before e.
func (r rows) search(e ir.Value) ir.Value {
	at := r.Addr(r.name + ".offsets")
	return r.LastNotAbove(e, r.Count("vertices"), func(v ir.Value) ir.Value { return r.Load(ir.U32, at, v) })
}
