package graph

import (
	"iter"
	"slices"

	"heddle/graph/graphspec"
)

// rmat draws 2^scale × edge_factor edges; each level of the descent takes 32
// random bits.
func rmat(s *graphspec.RMAT) *edges {
	r := newRNG(s.Seed, "rmat")
	a := newChance(s.A)
	b := a + newChance(s.B)
	c := b + newChance(s.C)
	count := s.EdgeFactor << s.Scale
	l := &edges{vertices: 1 << s.Scale}
	for range count {
		src, dst := uint32(0), uint32(0)
		for range s.Scale {
			// Sums instead of branches, which no processor can foresee: quadrants are [0,a), [a,b), [b,c), [c,1).
			x := chance(r.next() >> 32)
			lower := x.atLeast(b)
			src, dst = src<<1+lower, dst<<1+x.atLeast(a)-lower+x.atLeast(c)
		}
		l.add(src, dst)
	}
	if s.ShuffleIDs {
		number := r.permutation(l.vertices)
		l.src.renumber(number)
		l.dst.renumber(number)
	}
	return l
}

// growing is the state of Holme and Kim's model.
type growing struct {
	rng
	near [][]uint32 // neighbours of each vertex so far
	ends []uint32   // each vertex as often as its degree: preferential attachment
	l    *edges
}

// powerlawCluster grows the graph as NetworkX does, but never loses an edge:
// an end that is a neighbour already is drawn again.
func powerlawCluster(s *graphspec.PowerlawCluster) *edges {
	n, m := s.Vertices, s.EdgesPerStep
	g := growing{rng: newRNG(s.Seed, "powerlaw_cluster"), near: make([][]uint32, n), l: &edges{vertices: n}}
	g.ends = append(make([]uint32, 0, 2*m*(n-m)+m), identity(m)...)
	triangle := newChance(s.TriangleProb)
	for v := m; v < n; v++ {
		last := g.attach(uint32(v))
		for len(g.near[v]) < m {
			u, ok := uint32(0), false
			if g.happens(triangle) {
				u, ok = g.triangle(uint32(v), last)
			}
			if ok {
				g.link(uint32(v), u)
			} else {
				last = g.attach(uint32(v))
			}
		}
		// Only now: a vertex does not attach to itself.
		for _, u := range g.near[v] {
			g.ends = append(g.ends, u, uint32(v))
		}
	}
	return g.l
}

func (g *growing) link(v, u uint32) {
	g.near[v], g.near[u] = append(g.near[v], u), append(g.near[u], v)
	g.l.addBoth(v, u)
}

// attach links v to a new neighbour, drawn by degree.
func (g *growing) attach(v uint32) uint32 {
	for {
		u := g.ends[g.below(uint64(len(g.ends)))]
		if !slices.Contains(g.near[v], u) {
			g.link(v, u)
			return u
		}
	}
}

// triangle draws a neighbour of last that v does not have yet. v has few: if
// last has many, drawing again is quick.
func (g *growing) triangle(v, last uint32) (uint32, bool) {
	free := func(u uint32) bool { return u != v && !slices.Contains(g.near[v], u) }
	candidates := g.near[last]
	if len(candidates) > 2*len(g.near[v])+2 {
		for {
			if u := candidates[g.below(uint64(len(candidates)))]; free(u) {
				return u, true
			}
		}
	}
	var some []uint32
	for _, u := range candidates {
		if free(u) {
			some = append(some, u)
		}
	}
	if some == nil {
		return 0, false
	}
	return some[g.below(uint64(len(some)))], true
}

// erdosRenyi draws a set of pairs.
func erdosRenyi(s *graphspec.ErdosRenyi) *edges {
	r, n := newRNG(s.Seed, "erdos_renyi"), uint64(s.Vertices)
	draw := func() uint64 {
		for {
			if u, v := r.below(n), r.below(n); u != v {
				return min(u, v)<<32 | max(u, v)
			}
		}
	}
	all := func(yield func(uint64) bool) {
		for u := range n {
			for v := u + 1; v < n; v++ {
				if !yield(u<<32 | v) {
					return
				}
			}
		}
	}
	l := &edges{vertices: s.Vertices}
	for _, pair := range sample(s.Edges, s.Vertices*(s.Vertices-1)/2, draw, all) {
		l.addBoth(uint32(pair>>32), uint32(pair))
	}
	return l
}

// bipartite draws a set of pairs.
func bipartite(s *graphspec.Bipartite) *edges {
	r, left, right := newRNG(s.Seed, "bipartite"), uint64(s.Left), uint64(s.Right)
	draw := func() uint64 { return r.below(left)<<32 | (left + r.below(right)) }
	all := func(yield func(uint64) bool) {
		for u := range left {
			for v := range right {
				if !yield(u<<32 | (left + v)) {
					return
				}
			}
		}
	}
	l := &edges{vertices: s.Left + s.Right}
	for _, pair := range sample(s.Edges, s.Left*s.Right, draw, all) {
		l.add(uint32(pair>>32), uint32(pair))
	}
	return l
}

// sample draws m different ones of total keys, sorted; all yields every key in
// order. If most are wanted, those that are not are drawn.
func sample(m, total int, draw func() uint64, all iter.Seq[uint64]) []uint64 {
	if m <= total/2 {
		return distinct(m, draw)
	}
	without := distinct(total-m, draw)
	keys := make([]uint64, 0, m)
	for k := range all {
		if len(without) > 0 && without[0] == k {
			without = without[1:]
			continue
		}
		keys = append(keys, k)
	}
	return keys
}

// distinct draws until there are m. It draws as many as are missing, so that
// it never has to throw one away: all sets stay equally likely.
func distinct(m int, draw func() uint64) []uint64 {
	keys := make([]uint64, 0, m)
	for len(keys) < m {
		for len(keys) < m {
			keys = append(keys, draw())
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
	}
	return keys
}

// grid links each vertex to its right and its lower neighbour.
func grid(s *graphspec.Grid) *edges {
	w, h := s.Width, s.Height
	g := gridder{rng: newRNG(s.Seed, "grid"), remove: newChance(s.Remove), rewire: newChance(s.Rewire),
		l: &edges{vertices: w * h}}
	for y := range h {
		for x := range w {
			v := uint32(y*w + x)
			if x+1 < w {
				g.link(v, v+1)
			}
			if y+1 < h {
				g.link(v, v+uint32(w))
			}
		}
	}
	return g.l
}

type gridder struct {
	rng
	remove, rewire chance
	l              *edges
}

func (g *gridder) link(v, u uint32) {
	if g.happens(g.remove) {
		return
	}
	if g.happens(g.rewire) {
		u = uint32(g.below(uint64(g.l.vertices) - 1))
		if u >= v { // any but v
			u++
		}
	}
	g.l.addBoth(v, u)
}
