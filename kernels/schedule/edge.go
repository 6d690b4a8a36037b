package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// edge maps edges to threads. Every edge is looked at, whether its vertex is active or not.
// There are more edges than threads, so that no core is idle; neighbouring edges go to warps
// of one core, since narrow warps share the lines of the list.
var edge = &Schedule{
	Name:       "edge",
	Doc:        "an edge a thread, all edges of the graph in turn (S_em); the layout gives both ends or searches",
	Scratchpad: Nothing,
	EachEdge: func(s *Site, v *Visitor) {
		s.Phase(isa.PhaseSchedule, func() {
			s.For(s.GlobalThread(), s.Count("edges"), s.NumThreads(), func(id ir.Value) {
				row := s.View.SearchVertex(id)
				if s.Rows == layout.Base(s.Dir) {
					s.Keep(v, row, func() { s.Visit(v, id, row, GoOn) })
					return
				}
				e := s.ReadEdge(id, row)
				s.Keep(v, e.End(layout.Base(s.Dir)), func() {
					s.Edge()
					s.Gather(v, &e, GoOn)
				})
			})
		})
	},
}
