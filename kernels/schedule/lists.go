package schedule

import (
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// toLists appends the rows to walk to a unit's lists.
func toLists(s *Site, v *Visitor) {
	s.Strided(s.Set.Places(), func(place ir.Value) {
		row := s.Set.Vertex(place)
		s.Keep(v, s.View.Vertex(row), func() { s.ListPush(row, s.U32(activeset.OutList)) })
	})
}
