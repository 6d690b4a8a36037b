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
		lanes, lane := s.NumLanes(), s.LaneID()
		places := s.Set.Places()
		first := s.Mul(s.Add(s.Mul(s.CoreID(), s.NumWarps()), s.WarpID()), lanes)
		s.For(first, places, s.NumThreads(), func(at ir.Value) {
			place := s.Add(at, lane)
			s.share(v, s.register(v, place, s.Lt(place, places)))
		})
	},
}

// share deals a warp's rows out to its lanes.
func (s *Site) share(v *Visitor, w work) {
	before, total := s.warpScan(w.degree, "warp.before")
	offset := s.among("warp.before", before)
	vertices := s.among("warp.vertex", w.vertex)
	shift := s.among("warp.shift", s.Sub(w.start, before)) // from an edge's number in the warp to its own
	s.For(s.U32(0), total, s.NumLanes(), func(t ir.Value) {
		// All lanes search, as a lane that has no edge may hold what another asks for.
		mine := s.Add(t, s.LaneID())
		owner := s.Descend(mine, s.Core.Lanes, offset)
		vertex, id := vertices(owner), s.Add(mine, shift(owner))
		s.When(s.Lt(mine, total), func() { s.visit(v, id, vertex, goOn) })
	})
}
