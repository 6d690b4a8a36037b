package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// rows gives access to as many rows as a warp has lanes: by row, the prefix sum of degrees including it, its vertex,
// and the difference between an edge's number in the graph and in the sum.
type rows struct{ upto, vertex, shift func(i ir.Value) ir.Value }

// search returns the row of the edge with number n in the sum. All lanes must take part, as a lane without an edge may
// hold a value that another needs.
func (s *Site) search(r rows, n ir.Value) (vertex, id ir.Value) {
	owner := s.Label("owner", s.FirstAbove(n, s.Core.Lanes, r.upto))
	return r.vertex(owner), s.Add(n, r.shift(owner))
}

// Deal distributes the edges with numbers from first up to last, which are equal in all lanes of the warp, over its
// lanes, neighbouring edges to neighbouring lanes. find returns the row of edge n in a step whose numbers are below
// limit. Only a step with fewer edges than lanes tests which lanes have one.
func (s *Site) Deal(v *Visitor, first, last ir.Value, find func(n, limit ir.Value) (vertex, id ir.Value)) {
	lanes := s.U32(uint32(s.Core.Lanes))
	s.Phase(isa.PhaseSchedule, func() {
		first := s.Whole(first, last, lanes, func(at []ir.Value) { s.dealAll(v, at, find) })
		s.For(first, last, lanes, func(t ir.Value) {
			mine, limit := s.Label("n", s.Add(t, s.LaneID())), s.Label("limit", s.Add(t, lanes))
			vertex, id := find(mine, limit)
			s.Number = mine
			visit := func() { s.Visit(v, id, vertex, GoOn) }
			s.If(s.Le(limit, last), visit, func() { s.When(s.Lt(mine, last), visit) })
		})
	})
}

// dealAll emits several steps of Deal in which all lanes have an edge. It finds the rows of all edges before it handles
// any, since find may move on to the next rows.
func (s *Site) dealAll(v *Visitor, at []ir.Value, find func(n, limit ir.Value) (vertex, id ir.Value)) {
	lanes := s.U32(uint32(s.Core.Lanes))
	vertices, ids := make([]ir.Value, len(at)), make([]ir.Value, len(at))
	mine, limits := s.Beside(at, s.LaneID()), s.Beside(at, lanes)
	for i, n := range mine {
		vertices[i], ids[i] = find(n, limits[i])
	}
	for i, id := range ids {
		s.Number = mine[i]
		s.Visit(v, id, vertices[i], GoOn)
	}
}

// eachRound makes thread blocks iterate over indices, one for each thread. All warps of a block iterate equally often,
// as its barriers require. A block whose first thread has no index does not run, as a GPU would not launch it.
func (s *Site) eachRound(places ir.Value, body func(place ir.Value)) {
	number, block := s.InBlock()
	stride := s.Mul(s.NumCores(), s.NumLanes())
	first := s.Mul(s.CoreID(), s.NumLanes())
	if block != nil {
		first = s.Add(first, s.Mul(block, stride))
	}
	mine := s.Label("mine", s.Add(s.Mul(number, stride), s.LaneID()))
	s.For(s.Label("first", first), places, s.NumThreads(), func(at ir.Value) { body(s.Label("place", s.Add(at, mine))) })
}
