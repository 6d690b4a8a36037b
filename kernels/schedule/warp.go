package schedule

import "heddle/kernels/ir"

// warp shares the rows of as many vertices as a warp has lanes.
var warp = &Schedule{
	Name:  "warp",
	Doc:   "a warp shares its lanes' rows: degrees, warp scan, binary search per edge (S_wm)",
	Rows:  true,
	Scans: true,
	Scratchpad: func(c Core, scan Scan) int {
		if scan == Shuffle {
			return 0
		}
		return 3 * c.Threads()
	},
	EachEdge: func(s *Site, v *Visitor) {
		places := s.Set.Places()
		s.For(s.spreadWarp(), places, s.NumThreads(), func(at ir.Value) {
			place := s.Add(at, s.LaneID())
			s.share(v, s.register(v, place, s.Lt(place, places)))
		})
	},
}

// share deals a warp's rows out to its lanes.
func (s *Site) share(v *Visitor, w work) {
	sums := exchange{"warp.upto", 1}
	upto, total := s.warpScan(w.degree, sums)
	r := rows{
		s.shown(sums, upto), s.shown(exchange{"warp.vertex", 1}, w.vertex), s.shown(exchange{"warp.shift", 1}, s.Sub(w.end(s), upto)),
	}
	s.deal(v, s.U32(0), total, func(n, _ ir.Value) (vertex, id ir.Value) { return s.search(r, n) })
}
