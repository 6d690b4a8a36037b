package schedule

import (
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// Rest holds the edges of a graph that are not in a layout's own slots (GRAssembler, Algorithm 1, line 2).
type Rest struct {
	View layout.View
	Bare bool // it has no rows
}

// ofRest is the suffix of the names of a schedule's arrays for the layout's rest.
const ofRest = ".rest"

// Addr is a parameter that holds an array's address. The schedule's own arrays are others for each part of the layout.
func (s *Site) Addr(array string) ir.Value {
	for i := range s.own {
		if s.own[i].Name == array {
			array += s.of
			break
		}
	}
	return s.Kernel.Addr(array)
}

// Walk emits the code that visits every edge of every active vertex once, in all parts of the layout, one part after
// the other: what is left of a row is walked by the thread that owns it, and a rest without rows by all threads, edge
// by edge.
func (x *Schedule) Walk(s *Site, v *Visitor) {
	s.own = x.Arrays
	if s.Rest == nil || x.Owns && !s.Rest.Bare {
		x.EachEdge(s, v)
		return
	}
	rest := s.Rest
	s.Rest = nil
	x.EachEdge(s, v)
	s.Rest = rest
	s.inRest(func() {
		switch {
		case !rest.Bare:
			x.EachEdge(s, v)
		case len(x.Launches) > 0:
			s.When(s.Eq(s.LaunchNumber(), s.U32(0)), func() { edge.EachEdge(s, v) })
		default:
			edge.EachEdge(s, v)
		}
	})
}

// Enlist emits the schedule's own kernel, for all parts of the layout whose rows the schedule walks by what that makes.
func (x *Schedule) Enlist(s *Site, v *Visitor) {
	s.own = x.Arrays
	x.Register(s, v)
	if s.Rest == nil || s.Rest.Bare || x.Owns {
		return
	}
	s.inRest(func() { x.Register(s, v) })
}

// inRest has what body emits read the layout's rest, if there is one.
func (s *Site) inRest(body func()) {
	if s.Rest == nil {
		return
	}
	view, rest, of := s.View, s.Rest, s.of
	s.View, s.Rest, s.of = rest.View, nil, ofRest
	body()
	s.View, s.Rest, s.of = view, rest, of
}
