package schedule

import "heddle/kernels/ir"

// warp shares the rows of as many vertices as a warp has lanes.
var warp = &Schedule{
	Name: "warp",
	Doc:  "a warp shares its lanes' rows: degrees, warp scan, binary search per edge (S_wm)",
	Rows: RowsShared,
	Sharing: &Sharing{Scratchpad: func(c Core, scan Scan) int {
		if scan == Shuffle {
			return 0
		}
		return 3 * c.Threads()
	}},
	EachEdge: func(s *Site, v *Visitor) {
		places := s.Set.Places()
		s.For(s.SpreadWarp(), places, s.NumThreads(), func(at ir.Value) {
			place := s.Add(at, s.LaneID())
			s.share(v, s.Register(v, place, s.Lt(place, places)))
		})
	},
}

// share distributes the edges of a warp's rows over its lanes.
func (s *Site) share(v *Visitor, w Work) {
	sums := Exchange{"warp.upto", 1}
	upto, total := s.WarpScan(w.Degree, sums)
	r := rows{
		s.Shown(sums, upto), s.Shown(Exchange{"warp.vertex", 1}, w.Vertex),
		s.Shown(Exchange{"warp.shift", 1}, s.Sub(w.End(s), upto)),
	}
	s.Deal(v, s.U32(0), total, func(n, _ ir.Value) (vertex, id ir.Value) { return s.search(r, n) })
}
