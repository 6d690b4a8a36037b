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
	Rows: Base,
	View: func(s Site) View { return list{compressed(s)} },
}

// list has the arrays of csr or csc and, in place of a search, one more: the row of each edge.
type list struct{ rows }

func (l list) Slots(first, step ir.Value, body func(s Slot)) {
	l.Numbered(l.Count(l.edges), first, step, func(e ir.Value) (vertex ir.Value) {
		l.Phase(isa.PhaseEdgeAccess, func() { vertex = l.Load(ir.U32, l.Addr(l.name+".rows"), e) })
		return vertex
	}, body)
}
