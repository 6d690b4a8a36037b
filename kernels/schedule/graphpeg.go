package schedule

import (
	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// graphPEG lets the unit walk the active vertices and load their edges (GraphPEG, ACM TACO 2021, Fig. 4).
var graphPEG = &Schedule{
	Name: "peg",
	Doc: "the GraphPEGs walk their vertex-lists, load the edges and hand warps full batches, balanced " +
		"between cores",
	Unit: &UnitUse{
		Name: "peg", Reads: true,
		Lists: &Lists{Ops: ir.ListOps{Pop: "peg.popv", Push: "peg.push"}, Far: true},
	},
	Rows: RowsShared,
	EachEdge: func(s *Site, v *Visitor) {
		s.Phase(isa.PhaseSchedule, func() {
			s.ListEdges(s.U32(activeset.InList), func(src, dst, weight, _ ir.Value) {
				s.Edge()
				e := s.View.Given(src, dst, weight)
				s.Gather(v, &e, GoOn)
			})
		})
	},
}
