package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// weaver lets the unit distribute the edges (SparseWeaver, HPCA 2025, Fig. 9).
var weaver = &Schedule{
	Name: "weaver",
	Doc:  "a core's threads register their vertices with the Weaver, which deals out the edges",
	Unit: &UnitUse{Name: "weaver", Drops: true},
	Rows: RowsShared,
	EachEdge: func(s *Site, v *Visitor) {
		capacity, slot := s.WeaverCapacity(), s.ThreadInCore()
		places, mine := s.Set.Places(), weaverVertex(s, capacity)
		// All warps of a core iterate equally often, as the barriers require.
		s.For(s.U32(0), places, s.Mul(s.NumCores(), capacity), func(at ir.Value) {
			place := s.Add(at, mine)
			s.When(s.And(s.Lt(slot, capacity), s.Lt(place, places)), func() {
				row := s.Set.Vertex(place)
				vertex := s.View.Vertex(row)
				s.Keep(v, vertex, func() {
					edges := s.View.Neighbours(row, vertex)
					s.WeaverReg(vertex, edges.Begin, s.Sub(edges.End, edges.Begin))
				})
			})
			s.Barrier() // no warp takes an edge before all have registered
			s.Phase(isa.PhaseSchedule, func() { weaverEdges(s, v) })
		})
	},
}

// weaverVertex returns the number of the thread's vertex in an epoch, in which each core registers as many vertices as
// its table holds. As in SpreadThread, neighbouring lanes have neighbouring vertices, and neighbouring warps' vertices
// are on different cores; but the last warp of a core may have fewer.
func weaverVertex(s *Site, capacity ir.Value) ir.Value {
	row := s.Mul(s.WarpID(), s.NumLanes())
	width := s.Min(s.Sub(capacity, row), s.NumLanes())
	return s.Add(s.Add(s.Mul(row, s.NumCores()), s.Mul(s.CoreID(), width)), s.LaneID())
}

// weaverEdges takes edges from the unit until there are none.
func weaverEdges(s *Site, v *Visitor) {
	s.WeaverEdges(func(vertex, id ir.Value, _ *ir.Loop) {
		s.Visit(v, id, vertex, func() { s.WeaverSkip(vertex) })
	})
	s.Barrier() // no warp registers again before all have seen the end
}
