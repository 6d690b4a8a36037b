package schedule

import (
	"heddle/kernels/activeset"
	"heddle/kernels/ir"
)

// hwwl lets threads take vertices from hardware worklists (GraphPEG, ACM TACO 2021, §4.4, after Kim & Batten, MICRO
// 2014), and walk their rows.
var hwwl = &Schedule{
	Name: "hwwl",
	Doc:  "each thread walks the row of a vertex that it takes from its core's hardware worklist",
	Unit: &UnitUse{Name: "hwwl", Lists: &Lists{Ops: ir.ListOps{Pop: "hwwl.pop", Push: "hwwl.push"}}},
	Rows: RowsOwned,
	EachEdge: func(s *Site, v *Visitor) {
		s.ListVertices(s.U32(activeset.InList), func(row ir.Value) { s.Row(v, row, s.View.Vertex(row)) })
	},
}
