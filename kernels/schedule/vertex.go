package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// vertex maps vertices to threads.
var vertex = &Schedule{
	Name:       "vertex",
	Doc:        "each thread walks the row of its vertex (S_vm)",
	Rows:       true,
	Owns:       true,
	Scratchpad: nothing,
	EachEdge: func(s *Site, v *Visitor) {
		s.Strided(s.Set.Places(), func(place ir.Value) {
			at := s.Set.Vertex(place)
			s.keep(v, at, func() { s.row(v, at) })
		})
	},
}

// row walks a vertex's row.
func (s *Site) row(v *Visitor, vertex ir.Value) {
	begin, end := s.View.Neighbours(vertex)
	s.Phase(isa.PhaseGatherSum, func() { v.Begin(vertex) })
	s.Phase(isa.PhaseSchedule, func() {
		s.ForLoop(begin, end, s.U32(1), func(id ir.Value, l *ir.Loop) {
			s.visit(v, id, vertex, func() { l.BreakIf(s.Bool(true)) })
		})
	})
	s.Phase(isa.PhaseGatherSum, func() { v.End(vertex) })
}
