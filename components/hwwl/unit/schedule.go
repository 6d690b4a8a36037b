package unit

import (
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
	"heddle/kernels/schedule"
)

// taken has threads take vertices from hardware worklists (GraphPEG, ACM TACO 2021, §4.4,
// after Kim & Batten, MICRO 2014), and walk their rows.
var taken = &schedule.Schedule{
	Name:       "hwwl",
	Doc:        "each thread walks the row of a vertex that it takes from its core's hardware worklist",
	Rows:       true,
	Owns:       true,
	Lists:      true,
	ListOps:    ir.ListOps{Pop: "hwwl.pop", Push: "hwwl.push"},
	Register:   schedule.ToLists,
	Scratchpad: schedule.Nothing,
	EachEdge: func(s *schedule.Site, v *schedule.Visitor) {
		s.ListVertices(s.U32(activeset.InList), func(row ir.Value) { s.Row(v, row, s.View.Vertex(row)) })
	},
}
