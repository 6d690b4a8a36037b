package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// edge maps edges to threads, and visits every edge whether its vertex is active or not. There are more edges than
// threads, so that no core is idle; neighbouring edges go to warps of one core, since narrow warps share the lines of
// the list.
var edge = &Schedule{
	Name:   "edge",
	Doc:    "an edge a thread, all edges of the graph in turn (S_em); the layout gives both ends or searches",
	Others: map[Variant]*Sharing{Gunrock: {Blocks: true, Scratchpad: outputWords}},
	Arrays: []Array{
		{Name: outputArray, Words: func(_, warps int) int { return outputs * isa.MaxLanes * warps }},
		{Name: outputCount, Words: func(int, int) int { return 1 }, Zero: true},
	},
	EachEdge: func(s *Site, v *Visitor) {
		s.Phase(isa.PhaseSchedule, func() {
			if s.Core.Variant == Gunrock {
				s.advanceAllEdges(v)
				return
			}
			s.View.Slots(s.GlobalThread(), s.NumThreads(), func(at layout.Slot) { s.visitSlot(v, at) })
		})
	},
}

// visitSlot visits the edge of a slot, if there is one and the end that the direction walks is kept.
func (s *Site) visitSlot(v *Visitor, at layout.Slot) {
	if s.Rows == layout.Base(s.Dir) {
		s.Keep(v, at.Vertex, func() { s.where(at.There, func() { s.Visit(v, at.Edge, at.Vertex, GoOn) }) })
		return
	}
	s.where(at.There, func() { s.visitOf(v, at) })
}

// visitOf visits an edge if the end that the direction walks, which is not that of its row, is kept.
func (s *Site) visitOf(v *Visitor, at layout.Slot) {
	s.whereEdge(at.Edge, at.Vertex, func() {
		e := s.ReadEdge(at.Edge, at.Vertex)
		s.Keep(v, e.End(layout.Base(s.Dir)), func() {
			s.Edge()
			s.Gather(v, &e, GoOn)
		})
	})
}

// where runs body in the lanes for which there holds; nil: in all.
func (s *Site) where(there func() ir.Value, body func()) {
	var yes ir.Value
	if there != nil {
		s.Phase(isa.PhaseEdgeAccess, func() { yes = there() })
	}
	if yes == nil {
		body()
		return
	}
	s.When(yes, body)
}

// whereEdge runs body in the lanes whose number belongs to an edge, as layouts may have gaps.
func (s *Site) whereEdge(id, base ir.Value, body func()) {
	s.where(func() ir.Value { return s.View.Holds(id, base) }, body)
}
