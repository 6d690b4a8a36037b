package schedule

import (
	"math/bits"

	"heddle/isa"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// vertex maps vertices to threads.
var vertex = &Schedule{
	Name: "vertex",
	Doc:  "each thread walks the row of its vertex (S_vm), or of its number of its vertex's vector",
	Rows: RowsByNumber,
	EachEdge: func(s *Site, v *Visitor) {
		s.Strided(s.Numbers(s.Set.Places()), func(i ir.Value) {
			row := s.Set.Vertex(s.PlaceOf(i))
			at := s.View.Vertex(row)
			s.Keep(v, at, func() { s.Row(v, row, at) })
		})
		s.Component = nil
	},
}

// Numbers returns the number of components of all vertices' vectors.
func (s *Site) Numbers(vertices ir.Value) ir.Value {
	if s.Width <= 1 {
		return vertices
	}
	return s.Mul(vertices, s.U32(uint32(s.Width)))
}

// PlaceOf returns the index of the vertex of component i, counted over all vectors, and sets Component. Neighbouring
// lanes have neighbouring components (SparseWeaver §V-I: the weight dimension first). Width must be a power of two.
func (s *Site) PlaceOf(i ir.Value) (place ir.Value) {
	if s.Width <= 1 {
		return i
	}
	s.Component = s.And(i, s.U32(uint32(s.Width-1)))
	return s.Shr(i, s.U32(uint32(bits.TrailingZeros(uint(s.Width)))))
}

// Row walks a row of a vertex in all parts of the layout. With Ahead, the other end of the next edge is read while the
// current one is handled, so that the latencies of loads overlap.
func (s *Site) Row(v *Visitor, row, vertex ir.Value) {
	edges := s.View.Neighbours(row, vertex)
	s.Phase(isa.PhaseSchedule, func() {
		v.walkRow(vertex, 1, func() {
			dropped := s.walk(v, vertex, edges)
			s.inRest(func() { s.walkRest(v, row, vertex, dropped) })
		})
	})
}

// walkRest walks the part of a row in the rest of the layout, which most rows lack, unless the row was dropped.
func (s *Site) walkRest(v *Visitor, row, vertex ir.Value, dropped *ir.Variable) {
	walk := func() {
		var edges layout.Span
		s.Phase(isa.PhaseRegistration, func() { edges = s.View.Neighbours(row, vertex) })
		s.When(s.Lt(edges.Begin, edges.End), func() { s.walk(v, vertex, edges) })
	}
	if dropped == nil {
		walk()
		return
	}
	s.When(s.Eq(dropped.Get(), s.U32(0)), walk)
}

// walk walks a row. dropped is a variable that is not 0 in threads that dropped the rest of it; nil: no thread does.
func (s *Site) walk(v *Visitor, vertex ir.Value, edges layout.Span) (dropped *ir.Variable) {
	var drops bool
	if s.Rest != nil {
		dropped = s.Var(s.U32(0))
	}
	s.walkRow(v, vertex, edges, func(leave func()) {
		drops = true
		if dropped != nil {
			dropped.Set(s.U32(1))
		}
		leave()
	})
	if !drops {
		return nil
	}
	return dropped
}

func (s *Site) walkRow(v *Visitor, vertex ir.Value, edges layout.Span, stop func(leave func())) {
	if edges.Step == nil {
		edges.Step = s.U32(1)
	}
	if !s.Ahead {
		s.Edges(edges.Begin, edges.End, edges.Step, func(ids []ir.Value, leave func()) {
			s.visitAll(v, ids, vertex, func() { stop(leave) })
		})
		return
	}
	next := s.Var(s.readOther(edges.Begin, vertex)).Named("next")
	s.ForLoop(edges.Begin, edges.End, edges.Step, func(id ir.Value, l *ir.Loop) {
		s.visitTo(v, id, vertex, next.Get(), func() { stop(func() { l.BreakIf(s.Bool(true)) }) })
		next.Set(s.readOther(s.Add(id, edges.Step), vertex))
	})
}
