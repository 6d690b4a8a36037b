package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// twce splits each row into chunks for a whole thread block, a warp and a thread (ETWC: UGF, §5.2.2 and Algorithm 1;
// GRAssembler's TWCE).
var twce = &Schedule{
	Name: "twce",
	Doc: "each row is cut into multiples of a thread block's threads, of a warp's lanes, and a rest, which " +
		"blocks, warps and threads take from three queues in the scratchpad, one after the other (ETWC)",
	Rows: RowsMixed,
	Sharing: &Sharing{
		Blocks: true, Variants: []Variant{GraphIt},
		Scratchpad: func(c Core, _ Scan) int {
			if c.Variant == GraphIt {
				return c.graphItWords()
			}
			return recordWords*c.Threads() + 2*c.Warps
		},
	},
	EachEdge: func(s *Site, v *Visitor) {
		places := s.Set.Places()
		if s.Core.Variant == GraphIt {
			s.cutAsGraphIt(v, places)
			return
		}
		s.eachRound(places, func(place ir.Value) {
			s.cut(v, s.Register(v, place, s.Lt(place, places)))
		})
	},
}

// Offsets in a record of a queue: the bounds of a chunk, and its vertex. The three queues share one array, since a
// stage ends before the next begins.
const (
	chunkStart = iota
	chunkEnd
	chunkVertex
)

// cut makes a thread block walk its threads' rows in three stages.
func (s *Site) cut(v *Visitor, w Work) {
	threads, lanes := uint32(s.Core.BlockWarps()*s.Core.Lanes), uint32(s.Core.Lanes)
	rest := s.Label("rest", s.remainder(w.Degree, threads))
	byBlock := s.Label("by_block", s.Sub(w.Degree, rest))
	byThread := s.Label("by_thread", s.remainder(rest, lanes))
	byWarp := s.Label("by_warp", s.Sub(rest, byThread))
	c := &chunks{Site: s, visitor: v, vertex: w.Vertex}
	c.number, c.block = s.InBlock()

	// Two counts of at most a block's threads share a word. The two scans have different arrays, as there may be no
	// other barrier between them.
	has := func(n ir.Value) ir.Value { return s.ToU32(s.Gt(n, s.U32(0))) }
	both := s.Label("both", s.Add(s.Shl(has(byBlock), s.U32(16)), has(byWarp)))
	upto, total, _ := s.blockScan(both, "twce.chunks")
	before := s.Label("before", s.Sub(upto, both))
	low := s.U32(1<<16 - 1)
	c.stage(w.Start, byBlock, s.Shr(before, s.U32(16)), s.Shr(total, s.U32(16)), c.asBlock)
	c.stage(s.Add(w.Start, byBlock), byWarp, s.And(before, low), s.And(total, low), c.asWarps)

	one := s.Label("one", has(byThread))
	upto, total, _ = s.blockScan(one, "twce.rests")
	c.stage(s.Sub(w.End(s), byThread), byThread, s.Sub(upto, one), total, c.asThreads)
}

// remainder returns x modulo a constant.
func (s *Site) remainder(x ir.Value, n uint32) ir.Value {
	if n&(n-1) == 0 {
		return s.And(x, s.U32(n-1))
	}
	return s.Rem(x, s.U32(n))
}

// chunks is a thread block in one of its stages.
type chunks struct {
	*Site
	visitor       *Visitor
	vertex        ir.Value // the thread's vertex
	number, block ir.Value // the results of InBlock
}

// stage queues the threads' chunks, total in the block, and lets take walk them. A stage without chunks is skipped,
// which is uniform over the block.
func (c *chunks) stage(start, size, place, total ir.Value, take func(queue, total ir.Value)) {
	c.When(c.Gt(total, c.U32(0)), func() {
		if c.Scan != Shuffle {
			c.Barrier() // blockScan uses records for the exchange, and slower warps may still be in it
		}
		queue := c.warpPart(records, c.OfBlock(c.block, c.U32(0)))
		c.When(c.Gt(size, c.U32(0)), func() {
			mine := c.record(queue, place)
			c.Store(mine, c.U32(chunkStart), start)
			c.Store(mine, c.U32(chunkEnd), c.Add(start, size))
			c.Store(mine, c.U32(chunkVertex), c.vertex)
		})
		c.Barrier()
		c.Phase(isa.PhaseSchedule, func() { take(queue, total) })
		c.Barrier() // no warp queues again before all have taken
	})
}

// asBlock makes all threads of the block walk each chunk together.
func (c *chunks) asBlock(queue, total ir.Value) {
	mine := c.Label("mine", c.Add(c.Mul(c.number, c.U32(uint32(c.Core.Lanes))), c.LaneID()))
	c.For(c.U32(0), total, c.U32(1), func(n ir.Value) {
		c.together(c.record(queue, n), mine, uint32(c.Core.BlockWarps()*c.Core.Lanes))
	})
}

// asWarps makes each warp walk chunks, in turn with the other warps of the block.
func (c *chunks) asWarps(queue, total ir.Value) {
	c.For(c.number, total, c.U32(uint32(c.Core.BlockWarps())), func(n ir.Value) {
		c.together(c.record(queue, n), c.LaneID(), uint32(c.Core.Lanes))
	})
}

// together walks a chunk by a group of threads, of whose number its length is a multiple.
func (c *chunks) together(record, mine ir.Value, threads uint32) {
	start, end, vertex := c.shared(record)
	begin := c.Whole(start, end, c.U32(threads), func(from []ir.Value) {
		c.visitAll(c.visitor, c.Beside(from, mine), vertex, GoOn)
	})
	c.For(begin, end, c.U32(threads), func(from ir.Value) {
		c.Visit(c.visitor, c.Add(from, mine), vertex, GoOn)
	})
}

// shared reads a record for all lanes of the warp. As the scratchpad serves one lane a cycle even for the same word,
// three lanes read a word each if lanes can shuffle.
func (c *chunks) shared(record ir.Value) (start, end, vertex ir.Value) {
	if c.Scan != Shuffle || c.Core.Lanes < recordWords {
		word := func(n uint32) ir.Value { return c.uniform(c.Load(ir.U32, record, c.U32(n))) }
		return word(chunkStart), word(chunkEnd), word(chunkVertex)
	}
	mine := c.Load(ir.U32, record, c.Min(c.LaneID(), c.U32(recordWords-1)))
	word := func(n uint32) ir.Value { return c.ShflIdx(mine, c.U32(n)) }
	return word(chunkStart), word(chunkEnd), word(chunkVertex)
}

// asThreads makes each thread walk a chunk; there are at most as many chunks as threads.
func (c *chunks) asThreads(queue, total ir.Value) {
	mine := c.Label("mine", c.Add(c.Mul(c.number, c.U32(uint32(c.Core.Lanes))), c.LaneID()))
	c.When(c.Lt(mine, total), func() {
		record := c.record(queue, mine)
		start, end := c.Load(ir.U32, record, c.U32(chunkStart)), c.Load(ir.U32, record, c.U32(chunkEnd))
		vertex := c.Load(ir.U32, record, c.U32(chunkVertex))
		c.Edges(start, end, c.U32(1), func(ids []ir.Value, _ func()) { c.visitAll(c.visitor, ids, vertex, GoOn) })
	})
}
