package schedule

import "heddle/kernels/ir"

// Exchange is the array in which lanes of a warp exchange values if they do so through the scratchpad, with a number of
// words for each thread.
type Exchange struct {
	Array string
	Words int
}

// warpPart returns the address of a warp's part of the array.
func (s *Site) warpPart(e Exchange, warp ir.Value) ir.Value {
	words := e.Words * s.Core.Lanes
	return s.Address(s.Shared(e.Array, words*s.Core.Warps), s.Mul(warp, s.U32(uint32(words))))
}

// WarpScan returns the sum over the lanes up to this one, and over all lanes, which the compiler knows to be uniform.
// All lanes must be active. The steps (Hillis and Steele) form a loop, since each unrolled step would occupy a register
// for the mask of participating lanes; with Site.Unrolled they follow each other.
func (s *Site) WarpScan(x ir.Value, e Exchange) (upto, total ir.Value) {
	if s.Unrolled {
		upto = x
		for n := 1; n < s.Core.Lanes; n *= 2 {
			d := s.U32(uint32(n))
			upto = s.Add(upto, s.Select(s.Ge(s.LaneID(), d), s.laneBelow(e, upto, d), s.U32(0)))
		}
	} else {
		sum := s.Var(x).Named("upto").Noted("The sum over the lanes up to this one, and over all.")
		d := s.Var(s.U32(1)).Named("distance")
		s.While(func() ir.Value { return s.Lt(d.Get(), s.NumLanes()) }, func() {
			other := s.laneBelow(e, sum.Get(), d.Get())
			sum.Set(s.Add(sum.Get(), s.Select(s.Ge(s.LaneID(), d.Get()), other, s.U32(0))))
			d.Set(s.Shl(d.Get(), s.U32(1)))
		})
		upto = sum.Get()
	}
	return upto, s.Label("total", s.uniform(s.Shown(e, upto)(s.U32(uint32(s.Core.Lanes-1)))))
}

// laneBelow returns x of the lane d lanes below; an arbitrary value if there is none.
func (s *Site) laneBelow(e Exchange, x, d ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflUp(x, d)
	}
	return s.Shown(e, x)(s.wrap(s.Sub(s.LaneID(), d), s.Core.Lanes))
}

// Shown lets lanes of the warp read each other's x: the function that it returns reads that of lane i.
func (s *Site) Shown(e Exchange, x ir.Value) func(i ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return func(i ir.Value) ir.Value { return s.ShflIdx(x, i) }
	}
	row := s.warpPart(e, s.WarpID())
	s.Store(row, s.LaneID(), x)
	return func(i ir.Value) ir.Value { return s.Load(ir.U32, row, i) }
}

// uniform returns x, which must be equal in all lanes, in a form that the compiler knows to be uniform.
func (s *Site) uniform(x ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflIdx(x, s.U32(0))
	}
	return x // a load from a uniform address
}

// wrap maps i to a number below n, and numbers below n to themselves.
func (s *Site) wrap(i ir.Value, n int) ir.Value {
	if n&(n-1) == 0 {
		return s.And(i, s.U32(uint32(n-1)))
	}
	return s.Select(s.Lt(i, s.U32(uint32(n))), i, s.U32(0))
}

// blockScan returns the sum over the thread block's threads up to this one, the sum over all, and a function that
// returns the warp whose part of the sum contains a number, which must be uniform and below the total.
//
// It executes one barrier; stores before it are visible after it. The named array has a word for each warp, and must
// not be reused before another barrier. If lanes exchange values through the scratchpad, neither must the parts of
// records of other warps; the warp's own is free.
func (s *Site) blockScan(x ir.Value, array string) (upto, total ir.Value, warpOf func(n ir.Value) ir.Value) {
	upto, all := s.WarpScan(x, records)
	totals := s.Shared(array, s.Core.Warps)
	number, block := s.InBlock()
	s.When(s.Eq(s.LaneID(), s.U32(0)), func() { s.Store(totals, s.WarpID(), all) })
	s.Barrier()
	total = s.U32(0)
	var parts []part
	if block != nil {
		totals = s.Address(totals, block)
	}
	for w := 0; w < s.Core.BlockWarps(); w += s.Core.Lanes {
		mine := s.totalOf(totals, w)
		sums, sum := s.WarpScan(mine, records)
		upto = s.Add(upto, s.sumBefore(number, s.Sub(sums, mine), w, total))
		parts = append(parts, part{w, s.Add(sums, total), total})
		total = s.Add(total, sum)
	}
	return upto, total, func(n ir.Value) ir.Value { return s.warpOf(parts, n) }
}

// part is the prefix sum over as many warps as there are lanes, from warp first on: up to each of them, and before all
// of them.
type part struct {
	first        int
	upto, before ir.Value
}

// warpOf returns the warp whose part of the sum contains n.
func (s *Site) warpOf(parts []part, n ir.Value) (warp ir.Value) {
	for _, p := range parts {
		at := s.FirstAbove(n, s.Core.Lanes, s.Shown(records, p.upto))
		at = s.Add(at, s.U32(uint32(p.first)))
		if warp == nil {
			warp = at
		} else {
			warp = s.Select(s.Ge(n, p.before), at, warp)
		}
	}
	return s.Label("first_warp", s.uniform(warp))
}

// totalOf returns the total of warp w plus the lane's number; 0 if there is none.
func (s *Site) totalOf(totals ir.Value, w int) ir.Value {
	at, lane := s.Address(totals, s.U32(uint32(w))), s.LaneID()
	if s.Core.BlockWarps()-w >= s.Core.Lanes {
		return s.Load(ir.U32, at, lane)
	}
	there := s.Lt(lane, s.U32(uint32(s.Core.BlockWarps()-w)))
	return s.Select(there, s.Load(ir.U32, at, s.Select(there, lane, s.U32(0))), s.U32(0))
}

// sumBefore returns the sum before warp me of the block, if it is one of the warps from w on: lane me-w's value of
// sums, plus before; otherwise 0.
func (s *Site) sumBefore(me, sums ir.Value, w int, before ir.Value) ir.Value {
	lanes := s.Core.Lanes
	if s.Core.BlockWarps() <= lanes {
		return s.Shown(records, sums)(me)
	}
	at := s.Sub(me, s.U32(uint32(w)))
	sum := s.Add(s.Shown(records, sums)(s.wrap(at, lanes)), before)
	return s.Select(s.Lt(at, s.U32(uint32(lanes))), sum, s.U32(0))
}
