package schedule

import "heddle/kernels/ir"

// nothing asks the unit for the number of each vertex.
var nothing = &Schedule{
	Name: "nothing",
	Doc:  "each thread walks the row of the vertex that the unit answers with",
	Unit: &UnitUse{Name: "nothing"},
	Rows: RowsOwned,
	EachEdge: func(s *Site, v *Visitor) {
		s.Strided(s.Set.Places(), func(i ir.Value) {
			row := s.Unit("nothing.echo", s.Set.Vertex(i))
			at := s.View.Vertex(row)
			s.Keep(v, at, func() { s.Row(v, row, at) })
		})
	},
}
