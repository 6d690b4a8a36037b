package main

import "heddle"

// vector gives each vertex a warp, whose lanes take the edges of its row side by side (Bell and Garland, SC 2009).
var vector = &heddle.Schedule{
	Name: "vector",
	Doc:  "a warp walks the row of a vertex, its lanes side by side",
	Rows: heddle.RowsShared, // several lanes walk a row
	EachEdge: func(s *heddle.Site, v *heddle.Visitor) {
		warps := s.Mul(s.NumCores(), s.U32(uint32(s.Core.Warps)))
		s.For(s.SpreadNumber(), s.Set.Places(), warps, func(place heddle.Value) {
			row := s.Set.Vertex(place)
			vertex := s.View.Vertex(row)
			s.Keep(v, vertex, func() { // if it walks its row
				edges := s.View.Neighbours(row, vertex)
				s.For(s.Add(edges.Begin, s.LaneID()), edges.End, s.NumLanes(), func(edge heddle.Value) {
					s.Visit(v, edge, vertex, heddle.GoOn)
				})
			})
		})
	},
}
