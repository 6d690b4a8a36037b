package schedule

import (
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// Rest holds the edges of a graph that are not in a layout's own slots (GRAssembler, Algorithm 1, line 2).
type Rest struct {
	View layout.View
	Bare bool // the edges are not in rows
}

// ofRest is the suffix of the names of a schedule's arrays for the rest of a layout.
const ofRest = ".rest"

// Addr returns the parameter that holds an array's address. Each part of the layout has copies of the schedule's
// arrays.
func (s *Site) Addr(array string) ir.Value {
	for i := range s.arrays {
		if s.arrays[i].Name == array {
			array += s.arraySuffix
			break
		}
	}
	return s.Kernel.Addr(array)
}

// Walk emits the code that visits every edge of every active vertex once, in all parts of the layout in turn. Edges of
// a row that are in the rest are walked by the thread that owns the row, and a rest without rows by all threads, edge
// by edge.
func (x *Schedule) Walk(s *Site, v *Visitor) {
	s.arrays = x.Arrays
	if s.Rest == nil || x.Rows.Owned() && !s.Rest.Bare {
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

// Prepare emits the schedule's preparation, for all parts of the layout whose rows the schedule walks by its results.
func (x *Schedule) Prepare(s *Site, v *Visitor) {
	emit := x.Preparation().Emit
	s.arrays = x.Arrays
	emit(s, v)
	if s.Rest == nil || s.Rest.Bare || x.Rows.Owned() {
		return
	}
	s.inRest(func() { emit(s, v) })
}

// inRest makes the code that body emits read the rest of the layout, if there is one.
func (s *Site) inRest(body func()) {
	if s.Rest == nil {
		return
	}
	view, rest, of := s.View, s.Rest, s.arraySuffix
	s.View, s.Rest, s.arraySuffix = rest.View, nil, ofRest
	body()
	s.View, s.Rest, s.arraySuffix = view, rest, of
}
