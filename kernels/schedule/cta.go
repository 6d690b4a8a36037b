package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// cta shares the rows of as many vertices as a thread block has threads: a core's, or a part of them.
var cta = &Schedule{
	Name:       "cta",
	Doc:        "a thread block, which is a core or a part of one, shares its threads' rows: degrees, block scan with barriers, binary search per edge (S_cm)",
	Rows:       true,
	Scans:      true,
	Blocks:     true,
	Scratchpad: func(c Core, _ Scan) int { return recordWords*c.Threads() + c.Warps },
	EachEdge: func(s *Site, v *Visitor) {
		places := s.Set.Places()
		s.eachRound(places, func(place ir.Value) {
			s.shareBlock(v, s.Register(v, place, s.Lt(place, places)))
		})
	},
}

// What a thread registers lies in the scratchpad as a record: the sum of degrees up to
// its row, its vertex, and what takes an edge's number in the sum to its own. With three
// words, lanes that read their records read from different banks, as long as these are
// not a multiple of three.
const (
	recordUpto = iota
	recordVertex
	recordShift
	recordWords
)

var records = Exchange{"cta.records", recordWords}

// shareBlock deals a thread block's rows out to its threads: neighbouring edges to a warp, so that
// it goes from one warp's rows to the next, and holds those that it is at in registers.
// Searched in the scratchpad, whose banks serve one lane a cycle even for one word, they
// would keep lanes waiting for each other, as neighbouring edges are mostly of one row.
func (s *Site) shareBlock(v *Visitor, w Work) {
	threads := uint32(s.Core.BlockWarps() * s.Core.Lanes)
	number, block := s.InBlock()
	upto, total, warpOf := s.blockScan(w.Degree, "cta.totals")
	share := s.Mul(s.Div(s.Add(total, s.U32(threads-1)), s.U32(threads)), s.U32(uint32(s.Core.Lanes)))
	first := s.Mul(number, share)
	c := blockRows{Site: s, total: total, at: s.Var(s.room(records, s.OfBlock(block, warpOf(first))))}
	mine := s.record(s.room(records, s.WarpID()), s.LaneID())
	s.Store(mine, s.U32(recordUpto), upto)
	s.Store(mine, s.U32(recordVertex), w.Vertex)
	s.Store(mine, s.U32(recordShift), s.Sub(w.End(s), upto))
	s.Barrier()
	s.When(s.Lt(first, total), func() {
		s.Phase(isa.PhaseSchedule, c.load)
		s.Deal(v, first, s.Min(s.Add(first, share), total), c.find)
	})
	s.Barrier() // nobody registers anew before all have taken their edges
}

// record is the address of lane i's, of those from an address on.
func (s *Site) record(at, i ir.Value) ir.Value {
	return s.Address(at, s.Add(i, s.Shl(i, s.U32(1))))
}

// blockRows are those of a thread block's rows that a warp is at: as many as it has lanes.
type blockRows struct {
	*Site
	total ir.Value
	at    *ir.Variable              // their address
	now   [recordWords]*ir.Variable // lane by lane, if lanes exchange values by shuffles
	end   *ir.Variable              // of their edges; behind everything if none follow
}

// load looks at the rows.
func (c *blockRows) load() {
	if c.Scan == Shuffle {
		mine := c.record(c.at.Get(), c.LaneID())
		for i := range c.now {
			c.set(&c.now[i], c.Load(ir.U32, mine, c.U32(uint32(i))))
		}
	}
	end := c.Load(ir.U32, c.at.Get(), c.U32(uint32(recordWords*(c.Core.Lanes-1)+recordUpto)))
	c.set(&c.end, c.Select(c.Eq(end, c.total), c.U32(^uint32(0)), end))
}

// set makes a variable, or sets it.
func (c *blockRows) set(v **ir.Variable, x ir.Value) {
	if *v == nil {
		*v = c.Var(x)
	} else {
		(*v).Set(x)
	}
}

// word is a word of row i's record.
func (c *blockRows) word(word int) func(i ir.Value) ir.Value {
	return func(i ir.Value) ir.Value {
		if c.Scan == Shuffle {
			return c.ShflIdx(c.now[word].Get(), i)
		}
		return c.Load(ir.U32, c.record(c.at.Get(), i), c.U32(uint32(word)))
	}
}

// find finds the row of edge n. Lanes whose edges are behind the rows that the warp is at
// find theirs among the next.
func (c *blockRows) find(n, limit ir.Value) (vertex, id ir.Value) {
	here := rows{c.word(recordUpto), c.word(recordVertex), c.word(recordShift)}
	vertex, id = c.search(here, n)
	at, edge := c.Var(vertex), c.Var(id)
	c.While(func() ir.Value { return c.Lt(c.end.Get(), limit) }, func() {
		behind := c.Ge(n, c.end.Get())
		c.at.Set(c.Address(c.at.Get(), c.U32(uint32(recordWords*c.Core.Lanes))))
		c.load()
		vertex, id := c.search(here, n)
		at.Set(c.Select(behind, vertex, at.Get()))
		edge.Set(c.Select(behind, id, edge.Get()))
	})
	return at.Get(), edge.Get()
}
