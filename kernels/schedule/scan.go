package schedule

import "heddle/kernels/ir"

// warpScan returns the sum of the lanes before this one, and of all lanes. All lanes are on.
// array is where lanes exchange values if that is by the scratchpad. The steps (Hillis and
// Steele) are a loop, as unrolled they would keep a register each for which lanes take part.
func (s *Site) warpScan(x ir.Value, array string) (before, total ir.Value) {
	sum, d := s.Var(x), s.Var(s.U32(1))
	s.While(func() ir.Value { return s.Lt(d.Get(), s.NumLanes()) }, func() {
		other := s.before(array, sum.Get(), d.Get())
		sum.Set(s.Add(sum.Get(), s.Select(s.Ge(s.LaneID(), d.Get()), other, s.U32(0))))
		d.Set(s.Shl(d.Get(), s.U32(1)))
	})
	return s.Sub(sum.Get(), x), s.among(array, sum.Get())(s.U32(uint32(s.Core.Lanes - 1)))
}

// before is x of the lane d lanes below; anything where there is none.
func (s *Site) before(array string, x, d ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflUp(x, d)
	}
	return s.among(array, x)(s.inside(s.Sub(s.LaneID(), d), s.Core.Lanes))
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
		sums, sum := s.warpScan(s.totalOf(totals, w), "cta.before")
		mine := s.sumBefore(sums, w)
		if w > 0 {
			mine = s.Add(mine, total)
		}
		if s.Core.Warps > lanes {
			mine = s.Select(s.Lt(s.Sub(s.WarpID(), s.U32(uint32(w))), s.U32(uint32(lanes))), mine, s.U32(0))
		}
		before, total = s.Add(before, mine), s.Add(total, sum)
	}
	return before, total
}

// totalOf is the total of the lane's warp, of those from w on; 0 where there is none.
func (s *Site) totalOf(totals ir.Value, w int) ir.Value {
	at, lane := s.Address(totals, s.U32(uint32(w))), s.LaneID()
	if s.Core.Warps-w >= s.Core.Lanes {
		return s.Load(ir.U32, at, lane)
	}
	there := s.Lt(lane, s.U32(uint32(s.Core.Warps-w)))
	return s.Select(there, s.Load(ir.U32, at, s.Select(there, lane, s.U32(0))), s.U32(0))
}

// sumBefore is what lane warp-w has of sums.
func (s *Site) sumBefore(sums ir.Value, w int) ir.Value {
	me := s.WarpID()
	if s.Core.Warps > s.Core.Lanes {
		me = s.inside(s.Sub(me, s.U32(uint32(w))), s.Core.Lanes)
	}
	return s.among("cta.before", sums)(me)
}
