package schedule

import (
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// hwwl has threads take vertices from hardware worklists (GraphPEG, ACM TACO 2021, §4.4,
// after Kim & Batten, MICRO 2014), and walk their rows.
var hwwl = &Schedule{
	Name:       "hwwl",
	Doc:        "each thread walks the row of a vertex that it takes from its core's hardware worklist",
	Rows:       true,
	Owns:       true,
	Unit:       "hwwl",
	Lists:      true,
	Register:   toLists,
	Scratchpad: nothing,
	EachEdge: func(s *Site, v *Visitor) {
		s.ListVertices(s.U32(activeset.InList), func(vertex ir.Value) { s.row(v, vertex) })
	},
}
