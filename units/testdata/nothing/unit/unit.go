// Package unit registers the unit that does nothing.
package unit

import (
	"heddle/components/accel"
	"heddle/components/nothing"
	"heddle/kernels/ir"
	"heddle/kernels/schedule"
	"heddle/units"
)

func init() {
	units.Register(units.Unit{
		Instructions: nothing.Instructions,
		Key:          "nothing", Part: "Nothing", Title: "unit that does nothing",
		Doc:       "A unit that does nothing; absent: none.",
		New:       func() accel.Spec { return new(nothing.Spec) },
		Schedules: []*schedule.Schedule{asked},
		Exec:      "give every core a unit that does nothing",
	})
}

// asked asks the unit for each vertex which it is.
var asked = &schedule.Schedule{
	Name:       "nothing",
	Doc:        "each thread walks the row of the vertex that the unit answers with",
	Rows:       true,
	Owns:       true,
	Scratchpad: schedule.Nothing,
	EachEdge: func(s *schedule.Site, v *schedule.Visitor) {
		s.Strided(s.Set.Places(), func(i ir.Value) {
			row := s.Unit("nothing.echo", s.Set.Vertex(i))
			at := s.View.Vertex(row)
			s.Keep(v, at, func() { s.Row(v, row, at) })
		})
	},
}
