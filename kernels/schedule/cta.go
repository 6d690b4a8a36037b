package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// cta shares the rows of as many vertices as a thread block has threads, where a block is a core or a part of one.
var cta = &Schedule{
	Name: "cta",
	Doc: "a thread block, which is a core or a part of one, shares its threads' rows: degrees, block scan " +
		"with barriers, binary search per edge (S_cm)",
	Rows: RowsShared,
	Sharing: &Sharing{
		Blocks: true, Variants: []Variant{GraphIt, SEPGraph},
		Scratchpad: func(c Core, scan Scan) int {
			if c.Variant == SEPGraph {
				return c.sepGraphWords(scan)
			}
			return recordWords*c.Threads() + c.Warps
		},
	},
	EachEdge: func(s *Site, v *Visitor) {
		if s.UntilDecided() {
			s.walkUntilDecided(v)
			return
		}
		share := s.shareBlock
		switch s.Core.Variant {
		case GraphIt:
			share = s.shareBlockAsGraphIt
		case SEPGraph:
			share = s.shareBlockAsSEPGraph
		}
		places := s.Set.Places()
		s.eachRound(places, func(place ir.Value) { share(v, s.Register(v, place, s.Lt(place, places))) })
	},
}

// Offsets in the record that a thread registers in the scratchpad: the prefix sum of degrees including its row, its
// vertex, and the difference between an edge's number in the graph and in the sum. With records of three words, lanes
// that read their own records read from different banks, unless the number of banks is a multiple of three.
const (
	recordUpto = iota
	recordVertex
	recordShift
	recordWords
)

var records = Exchange{"cta.records", recordWords}

// shareBlock distributes the edges of a thread block's rows over its threads. Each warp receives consecutive edges, so
// that it proceeds from the rows of one warp to those of the next, and holds the current rows in registers. Searching
// the scratchpad instead would serialise the lanes, since a bank serves one lane a cycle even for the same word, and
// neighbouring edges mostly belong to one row.
func (s *Site) shareBlock(v *Visitor, w Work) {
	threads := uint32(s.Core.BlockWarps() * s.Core.Lanes)
	number, block := s.InBlock()
	upto, total, warpOf := s.blockScan(w.Degree, "cta.totals")
	share := s.Label("share", s.Mul(s.Div(s.Add(total, s.U32(threads-1)), s.U32(threads)), s.U32(uint32(s.Core.Lanes))))
	first := s.Label("first_of_warp", s.Mul(number, share))
	c := blockRows{Site: s, total: total, address: s.Var(s.warpPart(records,
		s.OfBlock(block, warpOf(first)))).Named("window")}
	mine := s.record(s.warpPart(records, s.WarpID()), s.LaneID())
	s.Store(mine, s.U32(recordUpto), upto)
	s.Store(mine, s.U32(recordVertex), w.Vertex)
	s.Store(mine, s.U32(recordShift), s.Sub(w.End(s), upto))
	s.Barrier()
	s.When(s.Lt(first, total), func() {
		s.Phase(isa.PhaseSchedule, c.load)
		s.Deal(v, first, s.Min(s.Add(first, share), total), c.find)
	})
	s.Barrier() // no warp registers again before all have taken their edges
}

// record returns the address of the i-th record from an address on.
func (s *Site) record(at, i ir.Value) ir.Value {
	return s.Address(at, s.Add(i, s.Shl(i, s.U32(1))))
}

// blockRows is a warp's window onto the rows of its thread block: as many rows as it has lanes.
type blockRows struct {
	*Site
	total   ir.Value
	address *ir.Variable              // address of the records
	records [recordWords]*ir.Variable // the lane's record, if lanes exchange values by shuffles
	end     *ir.Variable              // end of their edges; the largest number if no rows follow
}

// load reads the records of the window.
func (c *blockRows) load() {
	if c.Scan == Shuffle {
		mine := c.record(c.address.Get(), c.LaneID())
		for i := range c.records {
			c.set(&c.records[i], c.Load(ir.U32, mine, c.U32(uint32(i))), [...]string{"upto", "vertex", "shift"}[i])
		}
	}
	end := c.Load(ir.U32, c.address.Get(), c.U32(uint32(recordWords*(c.Core.Lanes-1)+recordUpto)))
	c.set(&c.end, c.Select(c.Eq(end, c.total), c.U32(^uint32(0)), end), "window_end")
}

// set creates or sets a variable.
func (c *blockRows) set(v **ir.Variable, x ir.Value, name string) {
	if *v == nil {
		*v = c.Var(x).Named(name)
	} else {
		(*v).Set(x)
	}
}

// word returns a function from i to a word of row i's record.
func (c *blockRows) word(word int) func(i ir.Value) ir.Value {
	return func(i ir.Value) ir.Value {
		if c.Scan == Shuffle {
			return c.ShflIdx(c.records[word].Get(), i)
		}
		return c.Load(ir.U32, c.record(c.address.Get(), i), c.U32(uint32(word)))
	}
}

// find returns the row of edge n. It moves the window forward for lanes whose edges lie beyond it.
func (c *blockRows) find(n, limit ir.Value) (vertex, id ir.Value) {
	here := rows{c.word(recordUpto), c.word(recordVertex), c.word(recordShift)}
	vertex, id = c.search(here, n)
	at, edge := c.Var(vertex).Named("v"), c.Var(id).Named("e")
	c.While(func() ir.Value { return c.Lt(c.end.Get(), limit) }, func() {
		behind := c.Label("behind", c.Ge(n, c.end.Get()))
		c.address.Set(c.Address(c.address.Get(), c.U32(uint32(recordWords*c.Core.Lanes))))
		c.load()
		vertex, id := c.search(here, n)
		at.Set(c.Select(behind, vertex, at.Get()))
		edge.Set(c.Select(behind, id, edge.Get()))
	})
	return at.Get(), edge.Get()
}
