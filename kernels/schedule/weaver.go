package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// weaver has the unit deal edges out (SparseWeaver, HPCA 2025, Fig. 9).
var weaver = &Schedule{
	Name:       "weaver",
	Doc:        "a core's threads register their vertices with the Weaver, which deals out the edges",
	Rows:       true,
	Drops:      true,
	Unit:       "weaver",
	Scratchpad: nothing,
	EachEdge: func(s *Site, v *Visitor) {
		capacity, slot := s.WeaverCapacity(), s.ThreadInCore()
		places, mine := s.Set.Places(), s.inEpoch(capacity)
		// The same trips in all warps of a core: the barriers need them.
		s.For(s.U32(0), places, s.Mul(s.NumCores(), capacity), func(at ir.Value) {
			place := s.Add(at, mine)
			s.When(s.And(s.Lt(slot, capacity), s.Lt(place, places)), func() {
				vertex := s.Set.Vertex(place)
				s.keep(v, vertex, func() {
					begin, end := s.View.Neighbours(vertex)
					s.WeaverReg(vertex, begin, s.Sub(end, begin))
				})
			})
			s.Barrier() // nobody takes an edge before all have registered
			s.Phase(isa.PhaseSchedule, func() { s.decode(v) })
		})
	},
}

// inEpoch is the number of the thread's vertex in an epoch, in which each core registers as
// many as its table holds. As in SpreadThread neighbouring lanes have neighbours and
// neighbouring warps' are of different cores; but a core's last warp may have fewer.
func (s *Site) inEpoch(capacity ir.Value) ir.Value {
	row := s.Mul(s.WarpID(), s.NumLanes())
	width := s.Min(s.Sub(capacity, row), s.NumLanes())
	return s.Add(s.Add(s.Mul(row, s.NumCores()), s.Mul(s.CoreID(), width)), s.LaneID())
}

// decode takes edges until there are none.
func (s *Site) decode(v *Visitor) {
	s.WeaverEdges(func(vertex, id ir.Value, _ *ir.Loop) {
		s.visit(v, id, vertex, func() { s.WeaverSkip(vertex) })
	})
	s.Barrier() // nobody registers anew before all have seen the end
}
