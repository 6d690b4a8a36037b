package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// twc sorts the active vertices by degree into three queues in memory, and launches a kernel for each (Merrill,
// Garland, Grimshaw, PPoPP 2012; GRAssembler §2.2; GraphIt's TWC).
var twc = &Schedule{
	Name: "twc",
	Doc: "vertices are sorted by degree into three queues in memory, and three launches follow: a thread, a warp " +
		"and a thread block walk a vertex's row (TWC)",
	Rows: RowsMixed,
	Sharing: &Sharing{Blocks: true, Variants: []Variant{GraphIt}, Scratchpad: func(c Core, scan Scan) int {
		switch {
		case scan == Shuffle:
			return 0
		case c.Variant == GraphIt:
			return 4 * c.Threads() // sortByDegree, and share
		}
		return c.Threads()
	}},
	Before:   &Preparation{Emit: sortByDegree, Always: true},
	Launches: []string{"threads", "warps", "blocks"},
	Arrays: []Array{
		{Name: twcQueues[0], Words: func(places, _ int) int { return places }},
		{Name: twcQueues[1], Words: func(places, _ int) int { return places }},
		{Name: twcQueues[2], Words: func(places, _ int) int { return places }},
		{Name: twcCounts, Words: func(int, int) int { return len(twcQueues) }, Zero: true},
	},
	EachEdge: func(s *Site, v *Visitor) {
		for n, walk := range []func(*Visitor){s.walkThreads, s.walkWarps, s.walkBlocks} {
			s.When(s.Eq(s.LaunchNumber(), s.U32(uint32(n))), func() { s.Phase(isa.PhaseSchedule, func() { walk(v) }) })
		}
	},
}

// twcQueues names the queues of vertices that threads, warps and blocks walk; twcCounts has their sizes.
var twcQueues = [...]string{"twc.threads", "twc.warps", "twc.blocks"}

const twcCounts = "twc.counts"

var twcExchange = Exchange{"twc.exchange", 1}

// twcBits is the width of the field of a word that counts the vertices of a queue among a warp's lanes.
const twcBits = 10

// sortByDegree appends each vertex that walks its row to its queue: that of blocks if it has an edge for each thread of
// a block, that of warps if it has one for each lane. A warp reserves room for all its lanes at once.
func sortByDegree(s *Site, v *Visitor) {
	places, counts := s.Set.Places(), s.Addr(twcCounts)
	lanes, threads := s.U32(uint32(s.Core.Lanes)), s.U32(uint32(s.Core.BlockWarps()*s.Core.Lanes))
	s.For(s.SpreadWarp(), places, s.NumThreads(), func(at ir.Value) {
		place := s.Add(at, s.LaneID())
		w := s.Register(v, place, s.Lt(place, places))
		field := s.U32(twcBits) // offset of the field for warps
		shift := s.Label("queue_bit", s.Select(s.Ge(w.Degree, threads), s.U32(2*twcBits),
			s.Select(s.Ge(w.Degree, lanes), field, s.U32(0))))
		one := s.Label("one", s.Select(s.Gt(w.Degree, s.U32(0)), s.Shl(s.U32(1), shift), s.U32(0)))
		upto, total := s.WarpScan(one, twcExchange)
		before := s.Label("before", s.And(s.Shr(s.Sub(upto, one), shift), s.U32(1<<twcBits-1)))
		for q, queue := range twcQueues {
			n := s.Label("size", s.And(s.Shr(total, s.U32(uint32(q*twcBits))), s.U32(1<<twcBits-1)))
			s.When(s.Gt(n, s.U32(0)), func() {
				base := s.Var(s.U32(0)).Named("base")
				s.When(s.Eq(s.LaneID(), s.U32(0)), func() { base.Set(s.AtomicAdd(counts, s.U32(uint32(q)), n)) })
				from := s.Label("from", s.Shown(twcExchange, base.Get())(s.U32(0)))
				mine := s.And(s.Gt(w.Degree, s.U32(0)), s.Eq(shift, s.U32(uint32(q*twcBits))))
				s.When(mine, func() { s.Store(s.Addr(queue), s.Add(from, before), w.Row) })
			})
		}
	})
}

// queued returns the size of a queue.
func (s *Site) queued(q int) ir.Value { return s.Load(ir.U32, s.Addr(twcCounts), s.U32(uint32(q))) }

// walkThreads makes each thread walk a row.
func (s *Site) walkThreads(v *Visitor) {
	if s.Core.Variant == GraphIt {
		s.walkSmallAsGraphIt(v)
		return
	}
	s.For(s.SpreadThread(), s.queued(0), s.NumThreads(), func(i ir.Value) {
		row := s.Load(ir.U32, s.Addr(twcQueues[0]), i)
		vertex := s.View.Vertex(row)
		edges := s.View.Neighbours(row, vertex)
		v.walkRow(vertex, 1, func() {
			s.Edges(edges.Begin, edges.End, s.U32(1), func(ids []ir.Value, _ func()) { s.visitAll(v, ids, vertex, GoOn) })
		})
	})
}

// walkWarps makes each warp walk a row.
func (s *Site) walkWarps(v *Visitor) {
	warps := s.Mul(s.NumCores(), s.U32(uint32(s.Core.Warps)))
	s.walkRows(v, 1, s.SpreadNumber(), warps, s.LaneID(), uint32(s.Core.Lanes))
}

// walkBlocks makes each thread block walk a row.
func (s *Site) walkBlocks(v *Visitor) {
	size := uint32(s.Core.BlockWarps())
	number, first := s.InBlock()
	block := s.U32(0)
	if first != nil {
		block = s.Div(first, s.U32(size))
	}
	blocks := s.Mul(s.NumCores(), s.U32(uint32(s.Core.Warps)/size))
	mine := s.Add(s.Mul(number, s.U32(uint32(s.Core.Lanes))), s.LaneID())
	s.walkRows(v, 2, s.Add(s.Mul(block, s.NumCores()), s.CoreID()), blocks, mine, size*uint32(s.Core.Lanes))
}

// walkRows makes groups of threads walk rows together: group number takes every groups-th row.
func (s *Site) walkRows(v *Visitor, q int, number, groups, mine ir.Value, threads uint32) {
	step := s.U32(threads)
	s.For(number, s.queued(q), groups, func(i ir.Value) {
		row := s.Load(ir.U32, s.Addr(twcQueues[q]), i)
		vertex := s.View.Vertex(row)
		edges := s.View.Neighbours(row, vertex)
		v.walkRow(vertex, int(threads), func() { s.walkTogether(v, vertex, edges.Begin, edges.End, mine, step) })
	})
}

// walkTogether makes a group of as many threads as a step walk edges of a vertex: neighbouring threads take
// neighbouring edges, the thread being number mine of its group. Only the last step has threads without an edge.
func (s *Site) walkTogether(v *Visitor, vertex, begin, end, mine, step ir.Value) {
	begin = s.Whole(begin, end, step, func(from []ir.Value) {
		s.visitAll(v, s.Beside(from, mine), vertex, GoOn)
	})
	s.For(begin, end, step, func(from ir.Value) {
		id := s.Add(from, mine)
		visit := func() { s.Visit(v, id, vertex, GoOn) }
		s.If(s.Le(s.Add(from, step), end), visit, func() { s.When(s.Lt(id, end), visit) })
	})
}
