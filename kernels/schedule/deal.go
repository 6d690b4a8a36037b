package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// rows are as many rows as a warp has lanes: by row, the sum of degrees up to it, its
// vertex, and what takes an edge's number in the sum to its own.
type rows struct{ upto, vertex, shift func(i ir.Value) ir.Value }

// search finds the row of the edge with number n in the sum. All lanes search, as a lane
// that has no edge may hold what another asks for.
func (s *Site) search(r rows, n ir.Value) (vertex, id ir.Value) {
	owner := s.FirstAbove(n, s.Core.Lanes, r.upto)
	return r.vertex(owner), s.Add(n, r.shift(owner))
}

// Deal gives the edges with numbers from first up to last, which are the same in all lanes
// of the warp, to its lanes, neighbouring edges to neighbouring lanes. find finds the row of
// an edge n of a step whose numbers are below limit. Only a step that has fewer edges than
// lanes asks who has one.
func (s *Site) Deal(v *Visitor, first, last ir.Value, find func(n, limit ir.Value) (vertex, id ir.Value)) {
	lanes := s.U32(uint32(s.Core.Lanes))
	s.Phase(isa.PhaseSchedule, func() {
		first := s.Whole(first, last, lanes, func(at []ir.Value) { s.dealAll(v, at, find) })
		s.For(first, last, lanes, func(t ir.Value) {
			mine, limit := s.Add(t, s.LaneID()), s.Add(t, lanes)
			vertex, id := find(mine, limit)
			visit := func() { s.Visit(v, id, vertex, GoOn) }
			s.If(s.Le(limit, last), visit, func() { s.When(s.Lt(mine, last), visit) })
		})
	})
}

// dealAll is several of Deal's steps, all of whose lanes have an edge. All edges' rows are found before any is handled,
// as to find one may go on to the next rows.
func (s *Site) dealAll(v *Visitor, at []ir.Value, find func(n, limit ir.Value) (vertex, id ir.Value)) {
	lanes := s.U32(uint32(s.Core.Lanes))
	vertices, ids := make([]ir.Value, len(at)), make([]ir.Value, len(at))
	mine, limits := s.Beside(at, s.LaneID()), s.Beside(at, lanes)
	for i, n := range mine {
		vertices[i], ids[i] = find(n, limits[i])
	}
	for i, id := range ids {
		s.Visit(v, id, vertices[i], GoOn)
	}
}

// eachRound has thread blocks go round places, one a thread. The warps of a block go round equally often, as its
// barriers need; a block whose first thread has no place does not, as a GPU would not launch it.
func (s *Site) eachRound(places ir.Value, body func(place ir.Value)) {
	number, block := s.InBlock()
	stride := s.Mul(s.NumCores(), s.NumLanes())
	first := s.Mul(s.CoreID(), s.NumLanes())
	if block != nil {
		first = s.Add(first, s.Mul(block, stride))
	}
	mine := s.Add(s.Mul(number, stride), s.LaneID())
	s.For(first, places, s.NumThreads(), func(at ir.Value) { body(s.Add(at, mine)) })
}
