package schedule

import (
	"math/bits"

	"heddle/isa"
	"heddle/kernels/ir"
)

// stage1Size is the number of threads that share the rest of a row under GraphIt's twce: Stage_gran[0] of UGF's
// Algorithm 1, STAGE_1_SIZE there.
const stage1Size = 8

// Arrays in the scratchpad under GraphIt's twce: numbers of chunks of a block for warps and for the whole block, and a
// word for each warp to broadcast by.
const (
	graphItCounts = "twce.sizes"
	graphItShown  = "twce.taken"
)

// restThreads returns the number of threads that share the rest of a row: stage1Size, or fewer if a warp is no multiple
// of it.
func (c Core) restThreads() uint32 {
	return min(stage1Size, uint32(1)<<bits.TrailingZeros(uint(c.Lanes)))
}

// chunkRecords returns the number of records of a core's chunks for warps, and as many for blocks: one for each row.
func (c Core) chunkRecords() int { return c.Threads() / int(c.restThreads()) }

func (c Core) graphItWords() int { return 2*recordWords*c.chunkRecords() + 3*c.Warps }

// cutAsGraphIt cuts rows as cut does. Several threads have a row and walk its rest, which does not go through a queue;
// one of them queues its chunks, at places that an atomic gives. Warps take chunks as they come, and none waits between
// the stages.
func (s *Site) cutAsGraphIt(v *Visitor, places ir.Value) {
	group := s.Core.restThreads()
	shift := s.U32(uint32(bits.TrailingZeros32(group)))
	s.eachRound(s.Shl(places, shift), func(place ir.Value) {
		number, block := s.InBlock()
		c := &chunks{Site: s, visitor: v, number: number, block: block}
		sizes := s.Address(s.Shared(graphItCounts, 2*s.Core.Warps), s.Shl(s.OfBlock(block, s.U32(0)), s.U32(1)))
		s.When(s.And(s.Eq(number, s.U32(0)), s.Lt(s.LaneID(), s.U32(min(2, uint32(s.Core.Lanes))))), func() {
			s.Store(sizes, s.LaneID(), s.U32(0))
			if s.Core.Lanes == 1 {
				s.Store(sizes, s.U32(1), s.U32(0))
			}
		})
		s.Barrier()
		place = s.Label("row", s.Shr(place, shift))
		w := s.Register(v, place, s.Lt(place, places))
		c.vertex = w.Vertex
		c.register(w, sizes, group)
		s.Barrier()
		s.Phase(isa.PhaseSchedule, func() {
			rest := s.Label("rest", s.remainder(w.Degree, uint32(s.Core.Lanes)))
			c.Edges(s.Min(s.Add(s.Sub(w.End(s), rest), s.remainder(s.LaneID(), group)), w.End(s)), w.End(s), s.U32(group),
				func(ids []ir.Value, _ func()) { c.visitAll(v, ids, w.Vertex, GoOn) })
			c.takeAsWarps(sizes)
			c.asBlock(c.queue(1), s.Load(ir.U32, sizes, s.U32(1)))
		})
		s.Barrier() // no warp counts chunks again before all have taken
	})
}

// register queues the chunks of a row for warps and for the block.
func (c *chunks) register(w Work, sizes ir.Value, group uint32) {
	threads, lanes := uint32(c.Core.BlockWarps()*c.Core.Lanes), uint32(c.Core.Lanes)
	left := c.Label("left", c.remainder(w.Degree, threads))
	byBlock := c.Label("by_block", c.Sub(w.Degree, left))
	byWarp := c.Label("by_warp", c.Sub(left, c.remainder(left, lanes)))
	c.When(c.Eq(c.remainder(c.LaneID(), group), c.U32(0)), func() {
		for q, chunk := range [...]struct{ start, size ir.Value }{
			{c.Add(w.Start, byBlock), byWarp}, {w.Start, byBlock},
		} {
			c.When(c.Gt(chunk.size, c.U32(0)), func() {
				mine := c.record(c.queue(q), c.AtomicAdd(sizes, c.U32(uint32(q)), c.U32(1)))
				c.Store(mine, c.U32(chunkStart), chunk.start)
				c.Store(mine, c.U32(chunkEnd), c.Add(chunk.start, chunk.size))
				c.Store(mine, c.U32(chunkVertex), c.vertex)
			})
		}
	})
}

// queue returns the address of the block's chunks for warps (0), or for all of it (1).
func (c *chunks) queue(q int) ir.Value {
	words := recordWords * c.Core.chunkRecords() / c.Core.Warps // of a warp's rows
	all := c.Shared(records.Array, 2*words*c.Core.Warps)
	return c.Address(c.Address(all, c.U32(uint32(q*words*c.Core.Warps))),
		c.Mul(c.OfBlock(c.block, c.U32(0)), c.U32(uint32(words))))
}

// takeAsWarps makes each warp walk the chunk that it takes from the queue's end, until there is none.
func (c *chunks) takeAsWarps(sizes ir.Value) {
	take := func() ir.Value {
		n := c.Var(c.U32(0)).Named("size")
		c.When(c.Eq(c.LaneID(), c.U32(0)), func() { n.Set(c.AtomicAdd(sizes, c.U32(0), c.U32(^uint32(0)))) })
		if c.Scan == Shuffle {
			return c.ShflIdx(n.Get(), c.U32(0))
		}
		shown := c.Address(c.Shared(graphItShown, c.Core.Warps), c.WarpID())
		c.When(c.Eq(c.LaneID(), c.U32(0)), func() { c.Store(shown, c.U32(0), n.Get()) })
		return c.uniform(c.Load(ir.U32, shown, c.U32(0)))
	}
	size := c.Var(take()).Named("left")
	c.While(func() ir.Value { return c.Lt(c.Sub(size.Get(), c.U32(1)), c.U32(1<<31-1)) }, func() {
		c.together(c.record(c.queue(0), c.Sub(size.Get(), c.U32(1))), c.LaneID(), uint32(c.Core.Lanes))
		size.Set(take())
	})
}

// walkSmallAsGraphIt makes a warp share as many small rows as it has lanes, where walkThreads has a thread for each.
func (s *Site) walkSmallAsGraphIt(v *Visitor) {
	n := s.queued(0)
	s.For(s.SpreadWarp(), n, s.NumThreads(), func(at ir.Value) {
		place := s.Add(at, s.LaneID())
		row, start := s.Var(s.U32(0)).Named("row"), s.Var(s.U32(0)).Named("first_edge")
		vertex, degree := s.Var(s.U32(0)).Named("vertex"), s.Var(s.U32(0)).Named("degree")
		s.When(s.Lt(place, n), func() {
			row.Set(s.Load(ir.U32, s.Addr(twcQueues[0]), place))
			vertex.Set(s.View.Vertex(row.Get()))
			edges := s.View.Neighbours(row.Get(), vertex.Get())
			start.Set(edges.Begin)
			degree.Set(s.Sub(edges.End, edges.Begin))
		})
		s.share(v, Work{row.Get(), vertex.Get(), start.Get(), degree.Get()})
	})
}

// shareBlockAsGraphIt shares rows as shareBlock does. Neighbouring threads of the block take neighbouring edges, and
// each thread searches all of the block's sums, in the scratchpad, for each of its edges. Where lanes do not shuffle,
// or threads are no power of two, the scan is that of shareBlock.
func (s *Site) shareBlockAsGraphIt(v *Visitor, w Work) {
	threads := s.Core.BlockWarps() * s.Core.Lanes
	number, block := s.InBlock()
	mine := s.record(s.warpPart(records, s.WarpID()), s.LaneID())
	var upto, total ir.Value
	if s.Scan == Shuffle && threads&(threads-1) == 0 {
		upto, total = s.treeScan(w.Degree, s.warpPart(records, s.OfBlock(block, s.U32(0))))
	} else {
		upto, total, _ = s.blockScan(w.Degree, "cta.totals")
	}
	s.Store(mine, s.U32(recordUpto), upto)
	s.Store(mine, s.U32(recordVertex), w.Vertex)
	s.Store(mine, s.U32(recordShift), s.Sub(w.End(s), upto))
	s.Barrier()
	all := s.warpPart(records, s.OfBlock(block, s.U32(0)))
	word := func(word uint32) func(i ir.Value) ir.Value {
		return func(i ir.Value) ir.Value { return s.Load(ir.U32, s.record(all, i), s.U32(word)) }
	}
	s.Phase(isa.PhaseSchedule, func() {
		first := s.Add(s.Mul(number, s.U32(uint32(s.Core.Lanes))), s.LaneID())
		s.Edges(s.Min(first, total), total, s.U32(uint32(threads)), func(numbers []ir.Value, _ func()) {
			for _, n := range numbers {
				owner := s.Label("owner", s.FirstAbove(n, threads, word(recordUpto)))
				s.Visit(v, s.Add(n, word(recordShift)(owner)), word(recordVertex)(owner), GoOn)
			}
		})
	})
	s.Barrier() // no warp registers again before all have taken their edges
}

// treeScan returns the sum over the thread block's threads up to this one, and over all, as GraphIt's cta has them: a
// tree of shuffles in each warp, of loads and stores over the warps, and back, with 2 · log2(warps) + 6 barriers. It
// uses the words recordUpto of the block's records, from an address on. Threads are a power of two.
func (s *Site) treeScan(x, all ir.Value) (upto, total ir.Value) {
	lanes, warps := uint32(s.Core.Lanes), uint32(s.Core.BlockWarps())
	number, _ := s.InBlock()
	thread := s.Label("thread", s.Add(s.Mul(number, s.U32(lanes)), s.LaneID()))
	load := func(at ir.Value) ir.Value { return s.Load(ir.U32, at, s.U32(recordUpto)) }
	store := func(at, v ir.Value) { s.Store(at, s.U32(recordUpto), v) }
	pair := func(d, off uint32, body func(a, b ir.Value)) {
		s.Barrier()
		s.When(s.Lt(thread, s.U32(d)), func() {
			a := s.Sub(s.Mul(s.Add(s.Shl(thread, s.U32(1)), s.U32(1)), s.U32(off)), s.U32(1))
			body(s.record(all, a), s.record(all, s.Add(a, s.U32(off))))
		})
	}
	last := func(d uint32) ir.Value { return s.Eq(s.And(s.LaneID(), s.U32(d-1)), s.U32(d-1)) }

	sum := x
	for d := uint32(2); d <= lanes; d *= 2 {
		sum = s.Select(last(d), s.Add(sum, s.ShflUp(sum, s.U32(d/2))), sum)
	}
	mine := s.record(all, thread)
	store(mine, sum)
	off := lanes
	for d := warps / 2; d > 0; d /= 2 {
		pair(d, off, func(a, b ir.Value) { store(b, s.Add(load(b), load(a))) })
		off *= 2
	}
	end := s.record(all, s.U32(lanes*warps-1))
	s.Barrier()
	total = s.Label("total", s.uniform(load(end)))
	s.Barrier()
	s.When(s.Eq(thread, s.U32(0)), func() { store(end, s.U32(0)) })
	s.Barrier()
	for d := uint32(1); d < warps; d *= 2 {
		off /= 2
		pair(d, off, func(a, b ir.Value) {
			left, both := load(a), load(b)
			store(a, both)
			store(b, s.Add(both, left))
		})
	}
	s.Barrier()
	sum = load(mine)
	s.Barrier()
	for d := lanes; d > 1; d /= 2 {
		below, above := s.ShflUp(sum, s.U32(d/2)), s.ShflDown(sum, s.U32(d/2))
		middle := s.Eq(s.And(s.LaneID(), s.U32(d-1)), s.U32(d/2-1))
		sum = s.Select(middle, above, s.Select(last(d), s.Add(sum, below), sum))
	}
	return s.Label("upto", s.Add(sum, x)), total
}
