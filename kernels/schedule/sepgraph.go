package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// Words of a thread block in the scratchpad under SEP-Graph's cta: one more than the number of the thread whose row the
// block walks, 0 for none; that row's bounds; its vertex.
const (
	ownerThread = iota
	ownerStart
	ownerEnd
	ownerVertex
	ownerWords
)

const ownerArray = "cta.owner"

// sepGraphWords returns the number of words of a core's scratchpad.
func (c Core) sepGraphWords(scan Scan) int {
	if scan == Shuffle {
		return ownerWords * c.Warps
	}
	return ownerWords*c.Warps + 3*c.Threads() // asWarp's exchanges
}

// shareBlockAsSEPGraph lets a block's threads walk their rows as SEP-Graph's cooperative blocks do with fine grain:
// rows of at least an edge for each thread one by one by the block, then rows of at least an edge for each lane one by
// one by the warp, then the others one by one by the warp. Its code has that grain where vertices have five edges in
// the mean or more, and else no blocks at all; here it is had always. The code's threads elect the owner of the block's
// next row by racing stores; here the last thread wins, by an atomic.
func (s *Site) shareBlockAsSEPGraph(v *Visitor, w Work) {
	left := s.Var(w.Degree).Named("left") // 0 once the row has been walked
	s.Phase(isa.PhaseSchedule, func() {
		s.walkAsBlock(v, w, left)
		s.asWarp(w, left, uint32(s.Core.Lanes), func(vertex, begin, end ir.Value) {
			s.walkTogether(v, vertex, begin, end, s.LaneID(), s.U32(uint32(s.Core.Lanes)))
		})
		s.Barrier()
		s.asWarp(w, left, 1, func(vertex, begin, end ir.Value) {
			id := s.Add(begin, s.LaneID())
			s.When(s.Lt(id, end), func() { s.Visit(v, id, vertex, GoOn) })
		})
	})
}

// walkAsBlock makes the thread block walk the rows that have an edge for each of its threads.
func (s *Site) walkAsBlock(v *Visitor, w Work, left *ir.Variable) {
	threads, lanes := s.U32(uint32(s.Core.BlockWarps()*s.Core.Lanes)), s.U32(uint32(s.Core.Lanes))
	number, block := s.InBlock()
	thread := s.Label("thread", s.Add(s.Mul(number, lanes), s.LaneID()))
	owns := s.Label("as_owner", s.Add(thread, s.U32(1)))
	at := s.Address(s.Shared(ownerArray, ownerWords*s.Core.Warps), s.Shl(s.OfBlock(block, s.U32(0)), s.U32(2)))
	word := func(n uint32) ir.Value { return s.uniform(s.Load(ir.U32, at, s.U32(n))) }
	elect := func() ir.Value {
		s.When(s.Ge(left.Get(), threads), func() { s.AtomicMax(at, s.U32(ownerThread), owns) })
		s.Barrier()
		return word(ownerThread)
	}
	s.When(s.Eq(thread, s.U32(0)), func() { s.Store(at, s.U32(ownerThread), s.U32(0)) })
	s.Barrier()
	owner := s.Var(elect()).Named("owner")
	s.While(func() ir.Value { return s.Ne(owner.Get(), s.U32(0)) }, func() {
		mine := s.Label("mine", s.Eq(owner.Get(), owns))
		s.When(mine, func() {
			s.Store(at, s.U32(ownerStart), w.Start)
			s.Store(at, s.U32(ownerEnd), w.End(s))
			s.Store(at, s.U32(ownerVertex), w.Vertex)
			left.Set(s.U32(0))
		})
		s.Barrier()
		begin, end, vertex := word(ownerStart), word(ownerEnd), word(ownerVertex)
		s.When(mine, func() { s.Store(at, s.U32(ownerThread), s.U32(0)) })
		s.walkTogether(v, vertex, begin, end, thread, threads)
		s.Barrier()
		owner.Set(elect())
	})
}

// asWarp lets the warp handle its lanes' rows one by one, those with least edges or more, the lowest lane's first.
func (s *Site) asWarp(w Work, left *ir.Variable, least uint32, row func(vertex, begin, end ir.Value)) {
	wants := func() ir.Value { return s.Ge(left.Get(), s.U32(least)) }
	s.While(func() ir.Value { return s.Any(wants()) }, func() {
		leader := s.Label("leader", s.lowestBit(s.Ballot(wants())))
		start := s.Shown(Exchange{"cta.start", 1}, w.Start)(leader)
		end := s.Shown(Exchange{"cta.end", 1}, w.End(s))(leader)
		vertex := s.Shown(Exchange{"cta.vertex", 1}, w.Vertex)(leader)
		s.When(s.Eq(s.LaneID(), leader), func() { left.Set(s.U32(0)) })
		row(vertex, start, end)
	})
}

// lowestBit returns the number of the lowest bit set in x, which is not 0: the exponent of that bit as a float, for
// want of an instruction.
func (s *Site) lowestBit(x ir.Value) ir.Value {
	low := s.ToF32(s.And(x, s.Sub(s.U32(0), x)))
	return s.Sub(s.Shr(s.AsU32(low), s.U32(23)), s.U32(127))
}

// UntilDecided reports whether each thread walks a row alone, and leaves it behind the edge that decides the vertex.
func (s *Site) UntilDecided() bool { return s.Core.Variant == SEPGraph && s.Decides }

// walkUntilDecided makes each thread walk the row of its vertex up to the edge that decides it, as SEP-Graph's BFS
// pulls. Its code has no other algorithm that an edge decides; ours are taken for alike.
func (s *Site) walkUntilDecided(v *Visitor) {
	s.Strided(s.Set.Places(), func(place ir.Value) {
		row := s.Set.Vertex(place)
		vertex := s.View.Vertex(row)
		s.Keep(v, vertex, func() {
			edges := s.View.Neighbours(row, vertex)
			s.Phase(isa.PhaseSchedule, func() {
				s.ForLoop(edges.Begin, edges.End, s.U32(1), func(id ir.Value, l *ir.Loop) {
					s.Visit(v, id, vertex, func() { l.BreakIf(s.Bool(true)) })
				})
			})
		})
	})
}
