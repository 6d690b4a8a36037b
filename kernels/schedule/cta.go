package schedule

import "heddle/kernels/ir"

// cta shares the rows of as many vertices as a core has threads.
var cta = &Schedule{
	Name:       "cta",
	Doc:        "a core shares its threads' rows: degrees, block scan with two barriers, binary search per edge (S_cm)",
	Rows:       true,
	Scans:      true,
	Scratchpad: func(c Core, _ Scan) int { return 3*c.Threads() + c.Warps },
	EachEdge: func(s *Site, v *Visitor) {
		threads := s.U32(uint32(s.Core.Threads()))
		places := s.Set.Places()
		// All warps of a core go round equally often: the barriers need them.
		s.For(s.Mul(s.CoreID(), threads), places, s.Mul(s.NumCores(), threads), func(at ir.Value) {
			place := s.Add(at, s.ThreadInCore())
			s.shareCore(v, s.register(v, place, s.Lt(place, places)))
		})
	},
}

// shareCore deals a core's rows out to its threads.
func (s *Site) shareCore(v *Visitor, w work) {
	threads, me := s.Core.Threads(), s.ThreadInCore()
	before := s.Shared("cta.before", threads)
	vertices, shift := s.Shared("cta.vertex", threads), s.Shared("cta.shift", threads)
	s.Store(vertices, me, w.vertex)
	mine, total := s.blockScan(w.degree)
	s.Store(before, me, mine)
	s.Store(shift, me, s.Sub(w.start, mine))
	s.Barrier()
	s.For(me, total, s.U32(uint32(threads)), func(t ir.Value) {
		owner := s.Descend(t, threads, func(i ir.Value) ir.Value { return s.Load(ir.U32, before, i) })
		id := s.Add(t, s.Load(ir.U32, shift, owner))
		s.visit(v, id, s.Load(ir.U32, vertices, owner), goOn)
	})
	s.Barrier() // nobody registers anew before all have taken their edges
}
