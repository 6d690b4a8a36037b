package layout

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// coo lists individual edges, sorted by the end whose rows the direction walks.
var coo = &Layout{
	Name: "coo",
	Doc: "both ends of every edge, sorted by source for push and by destination for pull; offsets too if the " +
		"schedule asks for rows",
	Rows:   Base,
	View:   func(s Site) View { return list{compressed(s)} },
	Listed: true,
}

// list has the arrays of csr or csc and, in place of a search, one more: the row of each edge.
type list struct{ rows }

func (l list) Slots(first, step ir.Value, body func(s Slot)) {
	l.Numbered(l.Listed(), first, step, l.row, body)
}

func (l list) Listed() ir.Value { return l.Count(l.edges) }

func (l list) Slot(e ir.Value) Slot { return Slot{Edge: e, Vertex: l.row(e)} }

func (l list) row(e ir.Value) (vertex ir.Value) {
	l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(l.name+".rows"), e) })
	return vertex
}
