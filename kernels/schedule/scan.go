package schedule

import "heddle/kernels/ir"

// Exchange is where lanes of a warp exchange values if that is by the scratchpad: an array
// of that many words a thread.
type Exchange struct {
	Array string
	Words int
}

// room is the address of a warp's part.
func (s *Site) room(e Exchange, warp ir.Value) ir.Value {
	words := e.Words * s.Core.Lanes
	return s.Address(s.Shared(e.Array, words*s.Core.Warps), s.Mul(warp, s.U32(uint32(words))))
}

// WarpScan returns the sum of the lanes up to this one, and of all lanes, which the compiler
// knows to be the same in all. All lanes are on. The steps (Hillis and Steele) are a loop,
// as unrolled they would keep a register each for which lanes take part.
func (s *Site) WarpScan(x ir.Value, e Exchange) (upto, total ir.Value) {
	sum, d := s.Var(x), s.Var(s.U32(1))
	s.While(func() ir.Value { return s.Lt(d.Get(), s.NumLanes()) }, func() {
		other := s.before(e, sum.Get(), d.Get())
		sum.Set(s.Add(sum.Get(), s.Select(s.Ge(s.LaneID(), d.Get()), other, s.U32(0))))
		d.Set(s.Shl(d.Get(), s.U32(1)))
	})
	upto = sum.Get()
	return upto, s.agreed(s.Shown(e, upto)(s.U32(uint32(s.Core.Lanes - 1))))
}

// before is x of the lane d lanes below; anything where there is none.
func (s *Site) before(e Exchange, x, d ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflUp(x, d)
	}
	return s.Shown(e, x)(s.inside(s.Sub(s.LaneID(), d), s.Core.Lanes))
}

// Shown lets lanes of the warp read each other's x: what it returns gives lane i's, which
// is one of the warp's.
func (s *Site) Shown(e Exchange, x ir.Value) func(i ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return func(i ir.Value) ir.Value { return s.ShflIdx(x, i) }
	}
	row := s.room(e, s.WarpID())
	s.Store(row, s.LaneID(), x)
	return func(i ir.Value) ir.Value { return s.Load(ir.U32, row, i) }
}

// agreed is x, which is the same in all lanes, such that the compiler knows.
func (s *Site) agreed(x ir.Value) ir.Value {
	if s.Scan == Shuffle {
		return s.ShflIdx(x, s.U32(0))
	}
	return x // a load of one word
}

// inside makes i a number below n; one that is stays as it is.
func (s *Site) inside(i ir.Value, n int) ir.Value {
	if n&(n-1) == 0 {
		return s.And(i, s.U32(uint32(n-1)))
	}
	return s.Select(s.Lt(i, s.U32(uint32(n))), i, s.U32(0))
}

// blockScan returns the sum of the thread block's threads up to this one, and of all, and in which of its warps' part
// of the sum a number falls that is the same in all lanes and below the total. It has one barrier, and what was stored
// before it can be read after it. The array named takes a word a warp; it may be used again behind another barrier. So
// may other warps' parts of records, if lanes exchange values by the scratchpad; the warp's own is free.
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
	return upto, total, func(n ir.Value) ir.Value { return s.find(parts, n) }
}

// part is a sum over as many warps as there are lanes, from warp first on: up to each of
// them, and before all of them.
type part struct {
	first        int
	upto, before ir.Value
}

// find tells in which warp's part of the sum n falls.
func (s *Site) find(parts []part, n ir.Value) (warp ir.Value) {
	for _, p := range parts {
		at := s.FirstAbove(n, s.Core.Lanes, s.Shown(records, p.upto))
		at = s.Add(at, s.U32(uint32(p.first)))
		if warp == nil {
			warp = at
		} else {
			warp = s.Select(s.Ge(n, p.before), at, warp)
		}
	}
	return s.agreed(warp)
}

// totalOf is the total of the lane's warp, of those from w on; 0 where there is none.
func (s *Site) totalOf(totals ir.Value, w int) ir.Value {
	at, lane := s.Address(totals, s.U32(uint32(w))), s.LaneID()
	if s.Core.BlockWarps()-w >= s.Core.Lanes {
		return s.Load(ir.U32, at, lane)
	}
	there := s.Lt(lane, s.U32(uint32(s.Core.BlockWarps()-w)))
	return s.Select(there, s.Load(ir.U32, at, s.Select(there, lane, s.U32(0))), s.U32(0))
}

// sumBefore is the sum before warp me of the block, if it is one of those from w on: what lane me-w
// has of sums, and what was before them; otherwise 0.
func (s *Site) sumBefore(me, sums ir.Value, w int, before ir.Value) ir.Value {
	lanes := s.Core.Lanes
	if s.Core.BlockWarps() <= lanes {
		return s.Shown(records, sums)(me)
	}
	at := s.Sub(me, s.U32(uint32(w)))
	sum := s.Add(s.Shown(records, sums)(s.inside(at, lanes)), before)
	return s.Select(s.Lt(at, s.U32(uint32(lanes))), sum, s.U32(0))
}
