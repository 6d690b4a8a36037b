package graph

import (
	"slices"
	"strconv"
	"strings"

	"heddle/graph/graphspec"
)

// Record describes a graph's origin.
type Record struct {
	Source       string `json:"source"`         // file, name, or generator with its parameters
	Format       string `json:"format"`         // of the file; empty if generated
	FileVertices int    `json:"file_vertices"`  // as read or generated, before clean-up
	FileEdges    int    `json:"file_edges"`     // listed edges, or generated ones
	FileWeights  bool   `json:"file_weights"`   // the file has weights, used or not
	IDs          string `json:"ids"`            // meaning of the file's numbers
	Made         string `json:"made,omitempty"` // name of the source, from an .hgr file

	Mirrored          int `json:"mirrored"` // entries implied by a symmetric matrix
	SelfLoopsDropped  int `json:"self_loops_dropped"`
	ReversesAdded     int `json:"reverses_added"`
	DuplicatesDropped int `json:"duplicates_dropped"`
	VerticesDropped   int `json:"vertices_dropped"`

	Weights string `json:"weights"`
	Order   string `json:"order"`

	Warnings []string `json:"warnings"`
}

// Done describes the clean-up steps in words; number formats a number.
func (r *Record) Done(number func(int) string) (done []string) {
	for _, d := range []struct {
		n    int
		what string
	}{
		{r.Mirrored, "edges mirrored, as the matrix is symmetric"}, {r.SelfLoopsDropped, "self-loops dropped"}, {r.ReversesAdded, "reverse edges added"},
		{r.DuplicatesDropped, "duplicates dropped"}, {r.VerticesDropped, "vertices without an edge dropped"},
	} {
		if d.n > 0 {
			done = append(done, number(d.n)+" "+d.what)
		}
	}
	if r.Weights != "none" {
		done = append(done, "weights: "+r.Weights)
	} else if r.FileWeights {
		done = append(done, "the file's weights ignored")
	}
	if r.Order != "none" {
		done = append(done, "reordered: "+r.Order)
	}
	return done
}

// story describes the graph's origin in a line.
func (r *Record) story() string {
	from := r.Source
	if r.Made != "" {
		from += " (" + r.Made + ")"
	}
	return strings.Join(append([]string{from}, r.Done(strconv.Itoa)...), ", ")
}

// clean performs spec's steps, in its order, and records them.
func (g *Graph) clean(spec graphspec.Clean) error {
	r := &g.Record
	if spec.DropSelfLoops {
		r.SelfLoopsDropped = g.filter(func(v uint32, e uint32) bool { return g.out.IDs[e] != v })
	}
	if spec.Symmetrise {
		before := g.Edges()
		if err := g.symmetrise(); err != nil {
			return err
		}
		r.ReversesAdded = g.Edges() - before
	}
	if spec.DropDuplicates {
		// The smallest weight comes first. filter writes below e only.
		last, row := uint32(0), ^uint32(0)
		r.DuplicatesDropped = g.filter(func(v uint32, e uint32) bool {
			id := g.out.IDs[e]
			first := v != row || id != last
			last, row = id, v
			return first
		})
	}
	if spec.CompactIDs {
		r.VerticesDropped = g.compact()
	}
	return nil
}

// filter keeps some edges and returns how many it dropped.
func (g *Graph) filter(keep func(v, e uint32) bool) int {
	a, to, from := &g.out, uint32(0), uint32(0)
	for v := range a.Vertices() {
		end := a.Offsets[v+1]
		for e := from; e < end; e++ {
			if !keep(uint32(v), e) {
				continue
			}
			a.IDs[to] = a.IDs[e]
			if a.Weights != nil {
				a.Weights[to] = a.Weights[e]
			}
			to++
		}
		from, a.Offsets[v+1] = end, to
	}
	g.changed()
	dropped := len(a.IDs) - int(to)
	a.IDs = a.IDs[:to]
	if a.Weights != nil {
		a.Weights = a.Weights[:to]
	}
	return dropped
}

// symmetrise makes each row the union of the edges that leave and of those
// that enter, as multisets of (vertex, weight).
func (g *Graph) symmetrise() error {
	in := g.out.transpose()
	total := g.unionSize(in)
	if err := checkSize(g.Vertices(), total); err != nil {
		return err
	}
	s := Adjacency{Offsets: make([]uint32, g.Vertices()+1), IDs: make([]uint32, 0, total)}
	if g.out.Weights != nil {
		s.Weights = make([]uint32, 0, total)
	}
	for v := range g.Vertices() {
		g.union(in, uint32(v), func(id, weight uint32) {
			s.IDs = append(s.IDs, id)
			if s.Weights != nil {
				s.Weights = append(s.Weights, weight)
			}
		})
		s.Offsets[v+1] = uint32(len(s.IDs))
	}
	g.out = s
	g.changed()
	return nil
}

// unionSize counts the edges of the graph and their reverses.
func (g *Graph) unionSize(in *Adjacency) int {
	total := 0
	for v := range g.Vertices() {
		g.union(in, uint32(v), func(uint32, uint32) { total++ })
	}
	return total
}

// union merges two sorted rows of v.
func (g *Graph) union(in *Adjacency, v uint32, emit func(id, weight uint32)) {
	out := &g.out
	i, j := out.Offsets[v], in.Offsets[v]
	iEnd, jEnd := out.Offsets[v+1], in.Offsets[v+1]
	key := func(a *Adjacency, e uint32) uint64 {
		return uint64(a.IDs[e])<<32 | uint64(g.kind.ordered(a.weight(e)))
	}
	for i < iEnd || j < jEnd {
		switch {
		case j == jEnd || i < iEnd && key(out, i) < key(in, j):
			emit(out.IDs[i], out.weight(i))
			i++
		case i == iEnd || key(in, j) < key(out, i):
			emit(in.IDs[j], in.weight(j))
			j++
		default:
			emit(out.IDs[i], out.weight(i))
			i, j = i+1, j+1
		}
	}
}

// compact drops vertices without an edge.
func (g *Graph) compact() int {
	n := g.Vertices()
	used := make([]bool, n)
	for v := range n {
		used[v] = used[v] || g.out.Degree(v) > 0
		for _, u := range g.out.Row(v) {
			used[u] = true
		}
	}
	number := make([]uint32, n)
	offsets := []uint32{0}
	order := []uint32{} // new number → old number
	for v, is := range used {
		if is {
			order = append(order, uint32(v))
			number[v] = uint32(len(offsets) - 1)
			g.moveName(v, len(offsets)-1)
			offsets = append(offsets, g.out.Offsets[v+1])
		}
	}
	for e, u := range g.out.IDs {
		g.out.IDs[e] = number[u]
	}
	g.out.Offsets = offsets
	if g.names != nil {
		g.names = g.names[:g.Vertices()]
	}
	if len(order) < n {
		g.read.moved(order, n)
	}
	g.changed()
	return n - g.Vertices()
}

// moveName gives a vertex's name to one with a lower number.
func (g *Graph) moveName(from, to int) {
	if g.names != nil {
		g.names[to] = g.names[from]
	}
}

// weigh replaces the weights.
func (g *Graph) weigh(spec graphspec.Weights) {
	switch spec.From {
	case graphspec.UnitWeights:
		g.dropWeights()
	case graphspec.RandomWeights:
		g.kind, g.out.Weights = IntWeights, make([]uint32, g.Edges())
		g.changed()
		for v := range g.Vertices() {
			for e := g.out.Offsets[v]; e < g.out.Offsets[v+1]; e++ {
				g.out.Weights[e] = drawWeight(spec, uint32(v), g.out.IDs[e])
			}
		}
	}
}

func (g *Graph) dropWeights() {
	if g.kind != NoWeights {
		g.out.Weights, g.kind = nil, NoWeights
		g.changed()
	}
}

// drawWeight depends on nothing but the seed and the two ends.
func drawWeight(spec graphspec.Weights, v, u uint32) uint32 {
	pair := uint64(min(v, u))<<32 | uint64(max(v, u))
	r := rng(mix(spec.Seed) ^ pair)
	return uint32(spec.Min) + uint32(r.below(uint64(spec.Max-spec.Min)+1))
}

// reorder renumbers the vertices.
func (g *Graph) reorder(spec graphspec.Reorder) {
	var order []uint32 // new number → old number
	switch spec.Order {
	case graphspec.DegreeOrder:
		order = g.byDegree()
	case graphspec.RandomOrder:
		r := newRNG(spec.Seed, "reorder")
		order = r.permutation(g.Vertices())
	case graphspec.BFSOrder:
		order = g.breadthFirst()
	default:
		return
	}
	number := make([]uint32, len(order))
	for to, from := range order {
		number[from] = uint32(to)
	}
	g.out = g.out.renumbered(order, number)
	g.out.sortRows(g.kind)
	g.renameVertices(order)
	g.read.moved(order, len(order))
	g.changed()
}

// renameVertices has the names follow their vertices: order[new] = old.
func (g *Graph) renameVertices(order []uint32) {
	if g.names == nil {
		return
	}
	names := make([]string, len(order))
	for v, old := range order {
		names[v] = g.names[old]
	}
	g.names = names
}

// renumbered has the rows in another order, and other numbers in them: order[new] = old, number[old] = new.
func (a *Adjacency) renumbered(order, number []uint32) Adjacency {
	to := Adjacency{Offsets: make([]uint32, len(a.Offsets)), IDs: make([]uint32, 0, len(a.IDs))}
	if a.Weights != nil {
		to.Weights = make([]uint32, 0, len(a.IDs))
	}
	for v, old := range order {
		for _, u := range a.Row(int(old)) {
			to.IDs = append(to.IDs, number[u])
		}
		if a.Weights != nil {
			to.Weights = append(to.Weights, a.Weights[a.Offsets[old]:a.Offsets[old+1]]...)
		}
		to.Offsets[v+1] = uint32(len(to.IDs))
	}
	return to
}

func (g *Graph) byDegree() []uint32 {
	degree := make([]uint32, g.Vertices())
	for v := range degree {
		degree[v] += uint32(g.out.Degree(v))
		for _, u := range g.out.Row(v) {
			degree[u]++
		}
	}
	order := identity(g.Vertices())
	slices.SortFunc(order, func(a, b uint32) int {
		if degree[a] != degree[b] {
			return int(degree[b]) - int(degree[a])
		}
		return int(a) - int(b)
	})
	return order
}

func (g *Graph) breadthFirst() []uint32 {
	in, n := g.out.transpose(), g.Vertices()
	seen := make([]bool, n)
	order := make([]uint32, 0, n) // also the queue
	visit := func(v uint32) {
		if !seen[v] {
			seen[v] = true
			order = append(order, v)
		}
	}
	head := 0
	for root := range n {
		visit(uint32(root))
		for ; head < len(order); head++ {
			v := int(order[head])
			for _, u := range g.out.Row(v) {
				visit(u)
			}
			for _, u := range in.Row(v) {
				visit(u)
			}
		}
	}
	return order
}

func identity(n int) []uint32 {
	ids := make([]uint32, n)
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}
