package graph

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// A vertex that a user names, or that is drawn, is one of the graph as it was read or generated, so that it is the same
// vertex whatever clean-up drops or reordering moves.

// asRead are the numbers that vertices had when the graph was read or generated.
type asRead struct {
	number   []uint32 // of each vertex; nil: they still have them
	vertices int      // how many there were, if some have been dropped
}

// moved records that vertex v was formerly vertex order[v].
func (r *asRead) moved(order []uint32, vertices int) {
	if r.number == nil {
		r.number, r.vertices = order, vertices
		return
	}
	number := make([]uint32, len(order))
	for v, old := range order {
		number[v] = r.number[old]
	}
	r.number = number
}

// Renumbered reports whether clean-up or reordering may have renumbered the vertices.
func (g *Graph) Renumbered() bool { return g.read.number != nil }

// AsRead is the number that a vertex was read with. Searches of a graph that lost all its vertices name vertex 0.
func (g *Graph) AsRead(v uint32) uint32 {
	if len(g.read.number) == 0 {
		return v
	}
	return g.read.number[v]
}

// Numbering identifies the numbers that the vertices were read with: SHA-256, or "" if the vertices still have them.
// With Hash, it identifies everything about the graph on which a run depends.
func (g *Graph) Numbering() string {
	same := g.VerticesAsRead() == g.Vertices()
	for v, number := range g.read.number {
		same = same && number == uint32(v)
	}
	if same {
		return ""
	}
	h := newHash()
	fmt.Fprintln(h, g.VerticesAsRead())
	eachChunk(g.read.number, func(b []byte) { h.Write(b) })
	return hex.EncodeToString(h.Sum(nil))
}

// VerticesAsRead returns the number of vertices read.
func (g *Graph) VerticesAsRead() int {
	if g.read.number == nil {
		return g.Vertices()
	}
	return g.read.vertices
}

// Vertex finds the vertex that was read with a number.
func (g *Graph) Vertex(number int) (uint32, error) {
	switch n := g.VerticesAsRead(); {
	case n == 0:
		return 0, fmt.Errorf("the graph has no vertices")
	case number < 0 || number >= n:
		return 0, fmt.Errorf("the graph has vertices 0 to %d", n-1)
	case g.read.number == nil:
		return uint32(number), nil
	}
	v := slices.Index(g.read.number, uint32(number))
	if v < 0 {
		return 0, fmt.Errorf("vertex %d has no edge, and graph.clean.compact_ids has dropped it: expected a vertex with an "+
			"edge", number)
	}
	return uint32(v), nil
}

// inOrderAsRead are the vertices in the order of the numbers that they were read with.
func (g *Graph) inOrderAsRead() []uint32 {
	order := identity(g.Vertices())
	if number := g.read.number; number != nil {
		slices.SortFunc(order, func(a, b uint32) int { return int(number[a]) - int(number[b]) })
	}
	return order
}

const (
	sourceDraws = 64 // that are tried
	sourceReach = 10 // a source reaches one edge in so many, if one of the draws does
)

// DrawSources draws count different vertices with out-edges from the largest component (the first of equals); fewer if
// there are not as many. The first of them is the first of 64 draws from which a tenth of the edges can be reached, or
// else the one that reaches the most: a search from any vertex of a directed graph is often over at once.
func (g *Graph) DrawSources(count int, seed uint64) []uint32 {
	from := g.mayBeSources()
	r := newRNG(seed, "sources")
	count = min(count, len(from))
	s := search{g: g, seen: make([]uint32, g.Vertices())}
	enough, first, most := (g.Edges()+sourceReach-1)/sourceReach, 0, -1
	for i := range min(len(from), max(count, sourceDraws)) {
		if i >= count && most >= enough {
			break
		}
		j := i + int(r.below(uint64(len(from)-i)))
		from[i], from[j] = from[j], from[i]
		if most >= enough || i >= sourceDraws {
			continue
		}
		if _, edges := s.reach(from[i], enough); edges > most {
			first, most = i, edges
		}
	}
	if count > 0 {
		source := from[first]
		copy(from[1:first+1], from[:first])
		from[0] = source
	}
	return from[:count]
}

// mayBeSources are the vertices with out-edges of the largest component.
func (g *Graph) mayBeSources() (from []uint32) {
	of, sizes := g.Components()
	if len(sizes) == 0 {
		return nil // clean-up may have dropped every vertex
	}
	size, largest, order := slices.Max(sizes), -1, g.inOrderAsRead()
	for _, v := range order {
		if largest < 0 && sizes[of[v]] == size {
			largest = int(of[v])
		}
		if int(of[v]) == largest && g.out.Degree(int(v)) > 0 {
			from = append(from, v)
		}
	}
	return from
}

// search traverses the vertices reachable from others.
type search struct {
	g     *Graph
	seen  []uint32 // the number of the search that was the last to come by
	turn  uint32
	queue []uint32
}

// reach counts the vertices that can be reached from one, and the edges that leave them, until there are enough of
// those.
func (s *search) reach(source uint32, enough int) (vertices, edges int) {
	s.turn++
	s.queue = append(s.queue[:0], source)
	s.seen[source] = s.turn
	for ; vertices < len(s.queue) && edges < enough; vertices++ {
		row := s.g.out.Row(int(s.queue[vertices]))
		edges += len(row)
		for _, u := range row {
			if s.seen[u] != s.turn {
				s.seen[u] = s.turn
				s.queue = append(s.queue, u)
			}
		}
	}
	return vertices, edges
}
