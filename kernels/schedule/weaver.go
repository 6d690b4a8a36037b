package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// weaver has the unit deal edges out (SparseWeaver, HPCA 2025, Fig. 9).
var weaver = &Schedule{
	Name:       "weaver",
	Doc:        "a core's threads register their vertices with the Weaver, which deals out the edges",
	Unit:       "weaver",
	Rows:       true,
	Drops:      true,
	Scratchpad: Nothing,
	EachEdge: func(s *Site, v *Visitor) {
		capacity, slot := s.WeaverCapacity(), s.ThreadInCore()
		places, mine := s.Set.Places(), weaverVertex(s, capacity)
		// The same trips in all warps of a core: the barriers need them.
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
			s.Barrier() // nobody takes an edge before all have registered
			s.Phase(isa.PhaseSchedule, func() { weaverEdges(s, v) })
		})
	},
}

// weaverVertex is the number of the thread's vertex in an epoch, in which each core registers as
// many as its table holds. As in SpreadThread neighbouring lanes have neighbours and
// neighbouring warps' are of different cores; but a core's last warp may have fewer.
func weaverVertex(s *Site, capacity ir.Value) ir.Value {
	row := s.Mul(s.WarpID(), s.NumLanes())
	width := s.Min(s.Sub(capacity, row), s.NumLanes())
	return s.Add(s.Add(s.Mul(row, s.NumCores()), s.Mul(s.CoreID(), width)), s.LaneID())
}

// weaverEdges takes edges until there are none.
func weaverEdges(s *Site, v *Visitor) {
	s.WeaverEdges(func(vertex, id ir.Value, _ *ir.Loop) {
		s.Visit(v, id, vertex, func() { s.WeaverSkip(vertex) })
	})
	s.Barrier() // nobody registers anew before all have seen the end
}
