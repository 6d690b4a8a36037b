package schedule

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// strict partitions the edges of all active vertices (load-balanced partitioning: Davidson, Baxter, Garland, Owens,
// IPDPS 2014, §III; GRAssembler's STRICT). Chunks belong to warps, so that cores have equally many edges too, and no
// warp waits for others of its core while it walks.
var strict = &Schedule{
	Name: "strict",
	Doc: "all warps get equally many of the active vertices' edges: a scan of all degrees over the device, a " +
		"search for each warp's first row, binary search per edge",
	Rows: RowsShared,
	Sharing: &Sharing{Crosses: true, Scratchpad: func(c Core, scan Scan) int {
		if scan == Shuffle {
			return 0
		}
		return 3 * c.Threads()
	}},
	Numbers: true,
	Before:  &Preparation{Emit: scanDegrees},
	Arrays: []Array{
		{Name: "strict.upto", Words: func(places, _ int) int { return places }},
		{Name: "strict.shift", Words: func(places, _ int) int { return places }},
		{Name: "strict.totals", Words: func(_, warps int) int { return warps }},
	},
	EachEdge: func(s *Site, v *Visitor) {
		p := s.partition()
		s.Phase(isa.PhaseSchedule, func() {
			if s.Numbered != nil {
				s.Numbered(p.total)
			}
			first, last := s.shareOf(s.SpreadNumber(), p.total)
			p.walk(v, first, last)
		})
	},
}

// Arrays in which lanes exchange their parts of rows, if they do so through the scratchpad.
var (
	strictUpto   = Exchange{"strict.upto", 1}
	strictVertex = Exchange{"strict.vertex", 1}
	strictShift  = Exchange{"strict.shift", 1}
)

// partition holds the entries of the active set with the sums of their degrees over the whole device.
type partition struct {
	*Site
	places, total ir.Value
	upto          func(place ir.Value) ir.Value
	// rows returns the rows of the warp's lanes, from index at on; place is the lane's own index.
	rows func(at, place, upto ir.Value) rows
}

// partition returns the sums of degrees. If every vertex walks its row, these are the layout's offsets.
func (s *Site) partition() *partition {
	if s.All {
		return &partition{
			Site: s, places: s.View.RowCount(), total: s.Count("edges"),
			upto: func(row ir.Value) ir.Value { return s.View.Neighbours(row, row).End },
			rows: func(at, row, upto ir.Value) rows {
				vertex := func(i ir.Value) ir.Value { return s.Add(at, i) }
				if s.Virtual {
					vertex = s.Shown(strictVertex, s.View.Vertex(row))
				}
				return rows{s.Shown(strictUpto, upto), vertex, func(ir.Value) ir.Value { return s.U32(0) }}
			},
		}
	}
	places, sums, shifts := s.Set.Places(), s.Addr("strict.upto"), s.Addr("strict.shift")
	return &partition{
		Site: s, places: places, total: s.lastOf(sums, places),
		upto: func(place ir.Value) ir.Value { return s.Load(ir.U32, sums, place) },
		rows: func(_, place, upto ir.Value) rows {
			vertex, shift := s.View.Vertex(s.Set.Vertex(place)), s.Load(ir.U32, shifts, place)
			return rows{s.Shown(strictUpto, upto), s.Shown(strictVertex, vertex), s.Shown(strictShift, shift)}
		},
	}
}

// lastOf returns the last of the sums, 0 if there is none: vertices without edges have no virtual ones.
func (s *Site) lastOf(sums, places ir.Value) ir.Value {
	if !s.Virtual && !s.Empty {
		return s.Load(ir.U32, sums, s.Sub(places, s.U32(1)))
	}
	last := s.Load(ir.U32, sums, s.Sub(s.Max(places, s.U32(1)), s.U32(1)))
	return s.Select(s.Gt(places, s.U32(0)), last, s.U32(0))
}

// scanDegrees stores, for every entry of the active set, the prefix sum of degrees including it, and the difference
// between an edge's number in the graph and in the sum. Each warp scans an equal share of the entries, and then adds
// the sum of the shares before its own.
func scanDegrees(s *Site, v *Visitor) {
	number, sums, shifts, totals := s.SpreadNumber(), s.Addr("strict.upto"), s.Addr("strict.shift"),
		s.Addr("strict.totals")
	first, last := s.shareOf(number, s.Set.Places())
	own := s.warpSums(v, first, last, sums, shifts)
	s.When(s.And(s.Lt(first, last), s.Eq(s.LaneID(), s.U32(0))), func() { s.Store(totals, number, own) })
	s.DeviceBarrier()
	s.When(s.Lt(first, last), func() {
		before := s.sumBelow(number, totals)
		s.For(s.Add(first, s.LaneID()), last, s.NumLanes(), func(place ir.Value) {
			s.Store(sums, place, s.Add(s.Load(ir.U32, sums, place), before))
			s.Store(shifts, place, s.Sub(s.Load(ir.U32, shifts, place), before))
		})
	})
}

// shareOf divides n items among the device's warps, in complete steps of a warp.
func (s *Site) shareOf(warp, n ir.Value) (first, last ir.Value) {
	share := s.Label("share", s.Mul(s.Div(s.Add(n, s.Sub(s.NumThreads(), s.U32(1))), s.NumThreads()), s.NumLanes()))
	first = s.Label("first", s.Mul(warp, share))
	return first, s.Label("last", s.Min(s.Add(first, share), n))
}

// warpSums does the same as scanDegrees within the warp's own share.
func (s *Site) warpSums(v *Visitor, first, last, sums, shifts ir.Value) (total ir.Value) {
	before := s.Var(s.U32(0)).Named("before")
	s.For(first, last, s.NumLanes(), func(from ir.Value) {
		place := s.Label("place", s.Add(from, s.LaneID()))
		there := s.Lt(place, last)
		w := s.Register(v, place, there)
		upto, all := s.WarpScan(w.Degree, strictUpto)
		upto = s.Label("upto", s.Add(upto, before.Get()))
		s.When(there, func() {
			s.Store(sums, place, upto)
			s.Store(shifts, place, s.Sub(w.End(s), upto))
		})
		before.Set(s.Add(before.Get(), all))
	})
	return before.Get()
}

// sumBelow sums the first n totals.
func (s *Site) sumBelow(n, totals ir.Value) (sum ir.Value) {
	mine := s.Var(s.U32(0)).Named("mine")
	s.For(s.LaneID(), n, s.NumLanes(), func(i ir.Value) { mine.Set(s.Add(mine.Get(), s.Load(ir.U32, totals, i))) })
	_, sum = s.WarpScan(mine.Get(), strictUpto)
	return sum
}

// walk distributes the edges with numbers from first up to last over the warp's lanes, as many rows at a time as there
// are lanes. It searches for the next row after rows without edges, of which a map has long runs.
func (p *partition) walk(v *Visitor, first, last ir.Value) {
	n := p.Var(first).Named("n").Noted("The warp's share of the edges, as many rows at a time as it has lanes.")
	lanes := p.U32(uint32(p.Core.Lanes))
	p.While(func() ir.Value { return p.Lt(n.Get(), last) }, func() {
		at := p.Var(p.search(n.Get())).Named("at")
		p.Loop(func(l *ir.Loop) {
			r, end := p.load(at.Get())
			l.BreakIf(p.Le(end, n.Get()))
			stop := p.Label("stop", p.Min(end, last))
			p.Deal(v, n.Get(), stop, func(n, _ ir.Value) (vertex, id ir.Value) { return p.Site.search(r, n) })
			n.Set(stop)
			l.BreakIf(p.Eq(stop, last))
			at.Set(p.Add(at.Get(), lanes))
		})
	})
}

// load reads the rows from index at on, one for each lane. Lanes beyond the last row read that row, which ends at the
// same edge.
func (p *partition) load(at ir.Value) (r rows, end ir.Value) {
	place := p.Min(p.Add(at, p.LaneID()), p.Sub(p.places, p.U32(1)))
	r = p.rows(at, place, p.upto(place))
	return r, p.Label("end", p.uniform(r.upto(p.U32(uint32(p.Core.Lanes-1)))))
}

// search returns an index such that one of the rows from there on, as many as the warp has lanes, contains edge n. In
// each step, every lane tests the end of one part of the remaining range.
func (p *partition) search(n ir.Value) ir.Value {
	lanes := uint32(p.Core.Lanes)
	parts := p.U32(max(2, lanes))
	at := p.Var(p.U32(0)).Named("from").Noted("Rows that have edge n: every lane tests a part of those left.")
	left := p.Var(p.places).Named("left")
	p.While(func() ir.Value { return p.Gt(left.Get(), p.U32(lanes)) }, func() {
		part := p.Label("part", p.Div(p.Add(left.Get(), p.Sub(parts, p.U32(1))), parts))
		behind := p.Min(p.Mul(p.Add(p.LaneID(), p.U32(1)), part), left.Get())
		upto := p.upto(p.Sub(p.Add(at.Get(), behind), p.U32(1)))
		skip := p.Label("skip", p.Mul(p.uniform(p.partOf(n, upto)), part))
		at.Set(p.Add(at.Get(), skip))
		left.Set(p.Min(part, p.Sub(left.Get(), skip)))
	})
	return at.Get()
}

// partOf returns the first part whose sum is above n. A warp of one lane tests the first of two parts.
func (p *partition) partOf(n, upto ir.Value) ir.Value {
	if p.Core.Lanes == 1 {
		return p.ToU32(p.Le(upto, n))
	}
	return p.FirstAbove(n, p.Core.Lanes, p.Shown(strictUpto, upto))
}
