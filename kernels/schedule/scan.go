package schedule

import "heddle/kernels/ir"

// warpScan returns the sum of the lanes before this one, and of all lanes. All lanes are on.
// array is where lanes exchange values if that is by the scratchpad.
func (s *Site) warpScan(x ir.Value, array string) (before, total ir.Value) {
	sum, lane := x, s.LaneID() // Hillis and Steele
	for d := 1; d < s.Core.Lanes; d *= 2 {
		sum = s.Add(sum, s.Select(s.Ge(lane, s.U32(uint32(d))), s.before(array, sum, d), s.U32(0)))
	}
	return s.Sub(sum, x), s.among(array, sum)(s.U32(uint32(s.Core.Lanes - 1)))
}

// before is x of the lane d lanes below; anything where there is none.
func (s *Site) before(array string, x ir.Value, d int) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflUp(x, s.U32(uint32(d)))
	}
	return s.among(array, x)(s.inside(s.Sub(s.LaneID(), s.U32(uint32(d))), s.Core.Lanes))
}

// among lets lanes of the warp read each other's x. That lane is one of the warp's.
func (s *Site) among(array string, x ir.Value) func(lane ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return func(lane ir.Value) ir.Value { return s.ShflIdx(x, lane) }
	}
	row := s.Add(s.Shared(array, s.Core.Threads()), s.Mul(s.WarpID(), s.U32(uint32(4*s.Core.Lanes))))
	s.Store(row, s.LaneID(), x)
	return func(lane ir.Value) ir.Value { return s.Load(ir.U32, row, lane) }
}

// inside makes i a number below n; one that is stays as it is.
func (s *Site) inside(i ir.Value, n int) ir.Value {
	if n&(n-1) == 0 {
		return s.And(i, s.U32(uint32(n-1)))
	}
	return s.Select(s.Lt(i, s.U32(uint32(n))), i, s.U32(0))
}

// blockScan returns the sum of the core's threads before this one, and of all. It has one
// barrier, and what was stored before it can be read after it.
func (s *Site) blockScan(x ir.Value) (before, total ir.Value) {
	lanes, lane := s.Core.Lanes, s.LaneID()
	before, all := s.warpScan(x, "cta.before")
	totals := s.Shared("cta.totals", s.Core.Warps)
	s.When(s.Eq(lane, s.U32(0)), func() { s.Store(totals, s.WarpID(), all) })
	s.Barrier()
	total = s.U32(0)
	for w := 0; w < s.Core.Warps; w += lanes {
		there := s.Lt(lane, s.U32(uint32(s.Core.Warps-w)))
		t := s.Select(there, s.Load(ir.U32, totals, s.Add(s.Select(there, lane, s.U32(0)), s.U32(uint32(w)))), s.U32(0))
		sums, sum := s.warpScan(t, "cta.before")
		me := s.Sub(s.WarpID(), s.U32(uint32(w))) // huge for earlier warps
		mine := s.Add(total, s.among("cta.before", sums)(s.inside(me, lanes)))
		before = s.Add(before, s.Select(s.Lt(me, s.U32(uint32(lanes))), mine, s.U32(0)))
		total = s.Add(total, sum)
	}
	return before, total
}
