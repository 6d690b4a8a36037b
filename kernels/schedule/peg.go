package schedule

import (
	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// peg has the unit walk the active vertices and load their edges (GraphPEG, ACM TACO 2021,
// Fig. 4).
var peg = &Schedule{
	Name:       "peg",
	Doc:        "the GraphPEGs walk their vertex-lists, load the edges and hand warps full batches, balanced between cores",
	Rows:       true,
	Unit:       "peg",
	Lists:      true,
	Reads:      true,
	Register:   toLists,
	Scratchpad: nothing,
	EachEdge: func(s *Site, v *Visitor) {
		s.Phase(isa.PhaseSchedule, func() {
			s.ListEdges(s.U32(activeset.InList), func(src, dst, weight, _ ir.Value) {
				s.Edge()
				e := s.View.Given(src, dst, weight)
				s.gather(v, &e, goOn)
			})
		})
	},
}

// toLists puts the vertices which walk their rows into the unit's lists.
func toLists(s *Site, v *Visitor) {
	s.Strided(s.Set.Places(), func(place ir.Value) {
		at := s.Set.Vertex(place)
		s.keep(v, at, func() { s.ListPush(at, s.U32(activeset.OutList)) })
	})
}
