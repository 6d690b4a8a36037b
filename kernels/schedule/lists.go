package schedule

import (
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// ToLists puts the vertices which walk their rows into a unit's lists.
func ToLists(s *Site, v *Visitor) {
	s.Strided(s.Set.Places(), func(place ir.Value) {
		at := s.Set.Vertex(place)
		s.Keep(v, at, func() { s.ListPush(at, s.U32(activeset.OutList)) })
	})
}
