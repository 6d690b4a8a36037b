package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// eghw lets the unit do everything but the filter (SparseWeaver, HPCA 2025, §V-H).
var eghw = &Schedule{
	Name: "eghw",
	Doc: "a core's threads push their vertices to edge-generating hardware, which loads the edges and deals " +
		"them out",
	Unit: &UnitUse{Name: "eghw", Reads: true},
	Rows: RowsShared,
	EachEdge: func(s *Site, v *Visitor) {
		places, mine := s.Set.Places(), s.SpreadThread()
		// An epoch has a vertex for each thread, which the unit has room for. All warps iterate equally often, as the
		// barriers require.
		s.For(s.U32(0), places, s.NumThreads(), func(at ir.Value) {
			place := s.Add(at, mine)
			s.When(s.Lt(place, places), func() {
				vertex := s.Set.Vertex(place)
				s.Keep(v, vertex, func() { s.EghwPush(vertex) })
			})
			s.Barrier() // no warp sees the end before all have pushed
			s.Phase(isa.PhaseSchedule, func() { eghwEdges(s, v) })
		})
	},
}

// eghwEdges takes edges from the unit until there are none.
func eghwEdges(s *Site, v *Visitor) {
	s.EghwEdges(func(base, other, weight ir.Value) {
		s.Edge()
		src, dst := base, other
		if s.Rows == layout.Destination {
			src, dst = other, base
		}
		e := s.View.Given(src, dst, weight)
		s.Gather(v, &e, GoOn)
	})
	s.Barrier() // no warp pushes again before all have seen the end
}
