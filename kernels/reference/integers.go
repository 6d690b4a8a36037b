package reference

import (
	"container/heap"
	"fmt"
	"math"

	"heddle/graph"
)

// Unreached is the level, distance or parent of a vertex that the source does not reach.
const Unreached = math.MaxUint32

// Equal returns a *Mismatch unless got is want.
func Equal(quantity string, got, want []uint32) error {
	if len(got) != len(want) {
		return fmt.Errorf("%w: %s of %d vertices, expected %d", ErrWrong, quantity, len(got), len(want))
	}
	wrong := func(v int) (float64, bool) { return float64(want[v]), got[v] != want[v] }
	return first(quantity, "exact", got, wrong)
}

// EqualSums is Equal for sums that the reference has computed in 64 bits. One that does not fit the machine's 32 is
// refused by its vertex: there it has wrapped, and is neither right nor wrong.
func EqualSums(quantity string, got []uint32, want []uint64) error {
	words := make([]uint32, len(want))
	for v, sum := range want {
		if sum > math.MaxUint32 {
			return fmt.Errorf("%s of vertex %d is %d, which does not fit 32 bits: expected at most %d", quantity, v,
				sum, uint32(math.MaxUint32))
		}
		words[v] = uint32(sum)
	}
	return Equal(quantity, got, words)
}

// first returns the first vertex whose value is wrong; wrong returns the expected value.
func first(quantity, why string, got []uint32, wrong func(v int) (want float64, yes bool)) error {
	var m *Mismatch
	for v := range got {
		want, yes := wrong(v)
		switch {
		case !yes:
		case m != nil:
			m.Others++
		default:
			m = &Mismatch{Quantity: quantity, Vertex: v, Got: float64(got[v]), Want: want, Why: why}
		}
	}
	if m != nil {
		return m
	}
	return nil
}

// Levels returns the distance of each vertex from the source in edges.
func Levels(out *graph.Adjacency, source uint32) []uint32 {
	level := unreached(out.Vertices())
	level[source] = 0
	for queue := []uint32{source}; len(queue) > 0; queue = queue[1:] {
		u := queue[0]
		for _, v := range out.Row(int(u)) {
			if level[v] == Unreached {
				level[v] = level[u] + 1
				queue = append(queue, v)
			}
		}
	}
	return level
}

func unreached(n int) []uint32 {
	x := make([]uint32, n)
	for v := range x {
		x[v] = Unreached
	}
	return x
}

// CheckParents checks that parents form a breadth-first tree: the source is its own parent, exactly the vertices it
// reaches have one, and a parent is one level nearer and has an edge to its child.
func CheckParents(out *graph.Adjacency, source uint32, parents []uint32) error {
	return CheckParentsOf(out, Levels(out, source), source, parents)
}

// CheckParentsOf is CheckParents for a tree that spans only the vertices that have a level.
func CheckParentsOf(out *graph.Adjacency, level []uint32, source uint32, parents []uint32) error {
	if len(parents) != len(level) {
		return fmt.Errorf("%w: parents of %d vertices, expected %d", ErrWrong, len(parents), len(level))
	}
	valid := make([]bool, len(level)) // the parent has an edge to the vertex
	example := unreached(len(level))  // a possible parent of the vertex
	example[source] = source
	valid[source] = parents[source] == source
	for u := range level {
		for _, v := range out.Row(u) {
			if level[u] == Unreached || level[v] != level[u]+1 {
				continue
			}
			example[v] = uint32(u)
			valid[v] = valid[v] || parents[v] == uint32(u)
		}
	}
	return first("parent", "or another vertex one level nearer with an edge to it", parents,
		func(v int) (float64, bool) {
			if level[v] == Unreached {
				return Unreached, parents[v] != Unreached
			}
			return float64(example[v]), !valid[v]
		})
}

// Distances returns the length of the shortest path from the source to each vertex, by Dijkstra's algorithm. Weights
// must be non-negative integers; in an unweighted graph every edge has length 1. A distance that exceeds 32 bits is an
// error.
func Distances(g *graph.Graph, source uint32) ([]uint32, error) {
	weight, err := Lengths(g)
	if err != nil {
		return nil, err
	}
	out := g.CSR()
	d := unreached(out.Vertices())
	q := &nearest{{0, source}}
	for q.Len() > 0 {
		x := heap.Pop(q).(reach)
		if d[x.v] != Unreached {
			continue
		}
		if x.d >= Unreached {
			return nil, fmt.Errorf("the shortest path from vertex %d to vertex %d has length %d, which does not fit "+
				"32 bits", source, x.v, x.d)
		}
		d[x.v] = uint32(x.d)
		for e := out.Offsets[x.v]; e < out.Offsets[x.v+1]; e++ {
			heap.Push(q, reach{x.d + uint64(weight(e)), out.IDs[e]})
		}
	}
	return d, nil
}

// Lengths returns the length of each edge.
func Lengths(g *graph.Graph) (func(e uint32) uint32, error) {
	words := g.CSR().Weights
	switch g.WeightKind() {
	case graph.NoWeights:
		return func(uint32) uint32 { return 1 }, nil
	case graph.FloatWeights:
		return nil, fmt.Errorf("shortest paths need integer weights, and the graph's are floats: give " +
			"graph.weights.from: random or unit")
	}
	for e, w := range words {
		if int32(w) < 0 {
			return nil, fmt.Errorf("shortest paths need weights that are not negative, and edge %d has %d: give "+
				"graph.weights.from: random or unit", e, int32(w))
		}
	}
	return func(e uint32) uint32 { return words[e] }, nil
}

// reach is a path of length d to v.
type reach struct {
	d uint64
	v uint32
}

// nearest is a heap of paths.
type nearest []reach

func (h nearest) Len() int           { return len(h) }
func (h nearest) Less(i, j int) bool { return h[i].d < h[j].d }
func (h nearest) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *nearest) Push(x any)        { *h = append(*h, x.(reach)) }
func (h *nearest) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}

// Components returns the smallest vertex of each vertex's component, following directed edges: the graph must have both
// directions of each.
func Components(out *graph.Adjacency) []uint32 {
	label := unreached(out.Vertices())
	for root := range label {
		if label[root] != Unreached {
			continue
		}
		label[root] = uint32(root)
		for stack := []int{root}; len(stack) > 0; {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for _, v := range out.Row(u) {
				if label[v] == Unreached {
					label[v] = uint32(root)
					stack = append(stack, int(v))
				}
			}
		}
	}
	return label
}

// InDegrees returns the number of edges that enter each vertex.
func InDegrees(out *graph.Adjacency) []uint32 {
	d := make([]uint32, out.Vertices())
	for _, v := range out.IDs {
		d[v]++
	}
	return d
}

// CoreNumbers returns each vertex's core number, by Batagelj and Zaversnik's buckets: vertices leave in the order of
// their remaining degree. The graph must have every edge in both directions.
func CoreNumbers(out *graph.Adjacency) []uint32 {
	n := out.Vertices()
	core, left := make([]uint32, n), make([]bool, n)
	var buckets [][]uint32
	put := func(v uint32) {
		for len(buckets) <= int(core[v]) {
			buckets = append(buckets, nil)
		}
		buckets[core[v]] = append(buckets[core[v]], v)
	}
	for v := range uint32(n) {
		core[v] = uint32(out.Degree(int(v)))
		put(v)
	}
	for k := 0; k < len(buckets); k++ {
		for i := 0; i < len(buckets[k]); i++ {
			v := buckets[k][i]
			if left[v] || int(core[v]) != k {
				continue // moved to a lower bucket since
			}
			left[v] = true
			for _, w := range out.Row(int(v)) {
				if !left[w] && int(core[w]) > k {
					core[w]--
					put(w)
				}
			}
		}
	}
	return core
}
