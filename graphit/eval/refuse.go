package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
)

// edge is the edge for which an operator's function runs.
type edge struct{ src, dst uint32 }

func (r *Reference) edgeText() string {
	if r.at.src == r.at.dst {
		return r.vertexText()
	}
	return fmt.Sprintf(" (edge from vertex %d to %d)", r.at.src, r.at.dst)
}

func (r *Reference) vertexText() string { return fmt.Sprintf(" (vertex %d)", r.at.src) }

// element is one of a vector's.
type element struct {
	vector *graphit.Var
	n      int
}

// loss is a computed value that equals its type's maximum, by which a program denotes unreached.
type loss struct {
	pos graphit.Pos
	at  edge
}

// lose writes down a loss: a smaller value may still come.
func (r *Reference) lose(e element, pos graphit.Pos) {
	if _, known := r.lost[e]; known {
		return
	}
	if r.lost == nil {
		r.lost = map[element]loss{}
	}
	r.lost[e] = loss{pos, r.at}
}

// ended refuses results in which a computed value is indistinguishable from unreached.
func (r *Reference) ended() {
	var first element
	for e := range r.lost {
		if d := r.vectors[e.vector]; d.i[e.n] == d.most && (first.vector == nil || e.n < first.n) {
			first = e
		}
	}
	if first.vector == nil {
		return
	}
	l := r.lost[first]
	fail(l.pos, "%s[%d] min= %d, from vertex %d: that is the greatest %s, which reads as not reached",
		first.vector.Name, first.n,
		r.vectors[first.vector].most, l.at.src, first.vector.Type.Of)
}

// falling detects values that fall for ever: an operator that assigns to the end of an edge the sum of its source's
// value and the edge's weight, if that is less, never stops on a cycle of negative total weight. The edges by which
// values fell last soon contain such a cycle, and no other kind. Programs with a fixed number of rounds are exempt.
type falling struct {
	vector *graphit.Var
	rows   *graph.Adjacency
	kind   graph.WeightKind
	from   []int32 // by vertex: the source of the edge by which its value fell last; -1: none
	fallen int     // values that have fallen since cycles were looked for
}

// mayFall returns the analysis of an operator whose values might fall for ever; nil: they cannot.
func (r *Reference) mayFall(op *graphir.EdgeSetIterator, rows *graph.Adjacency) *falling {
	if r.host.whiles == 0 || r.host.opt.MaxSteps > 0 || !r.negative() {
		return nil
	}
	v := relaxed(op)
	if v == nil {
		return nil
	}
	if r.falling[v] == nil {
		if r.falling == nil {
			r.falling = map[*graphit.Var]*falling{}
		}
		r.falling[v] = &falling{vector: v, kind: r.graph.WeightKind(),
			from: slices.Repeat([]int32{-1}, r.graph.Vertices())}
	}
	f := r.falling[v]
	f.rows = rows
	return f
}

// negative reports whether the graph has a negative edge weight.
func (r *Reference) negative() bool {
	if r.signs == unknown {
		r.signs = positive
		for i := range r.graph.CSR().Weights {
			if number(r.graph.CSR().Weights[i], r.graph.WeightKind()) < 0 {
				r.signs = negative
				break
			}
		}
	}
	return r.signs == negative
}

// signs are the signs of a graph's weights.
type signs uint8

const (
	unknown signs = iota
	positive
	negative
)

// number is an edge's weight.
func number(word uint32, k graph.WeightKind) float64 {
	if k == graph.FloatWeights {
		return float64(math.Float32frombits(word))
	}
	return float64(int32(word))
}

// relaxed returns the vector to which an operator's function assigns the sum of an element at the source and the
// weight; nil: none.
func relaxed(op *graphir.EdgeSetIterator) (v *graphit.Var) {
	params := op.Apply.Params
	if len(params) < 3 {
		return nil
	}
	is := func(x graphit.Expr, p *graphit.Var) bool {
		n, ok := x.(*graphit.Name)
		return ok && n.Var == p
	}
	graphit.Walk(op.Apply.Body, func(x graphit.Expr) {
		sum, ok := x.(*graphit.Binary)
		if !ok || sum.Op != "+" {
			return
		}
		a, b := sum.X, sum.Y
		if is(a, params[2]) {
			a, b = b, a
		}
		if at, ok := a.(*graphit.Index); ok && is(b, params[2]) && is(at.I, params[0]) {
			v = at.X.(*graphit.Name).Var
		}
	})
	return v
}

// lowered comes when an element has become less along an edge. Cycles are looked for when as many have as there are.
func (f *falling) lowered(v *graphit.Var, n int, at edge, pos graphit.Pos) {
	if v != f.vector || n != int(at.dst) {
		return
	}
	f.from[n] = int32(at.src)
	if f.fallen++; f.fallen < len(f.from) {
		return
	}
	f.fallen = 0
	if cycle := f.cycle(); cycle != nil {
		endless(pos, "%s falls for ever: the weights along the cycle %s add up to less than 0", v.Name, along(cycle))
	}
}

// cycle finds a negative cycle among the edges by which values fell last.
func (f *falling) cycle() []uint32 {
	seen := make([]int32, len(f.from)) // the start vertex from which it was reached, from 1
	for first := range f.from {
		v := int32(first)
		for v >= 0 && seen[v] == 0 {
			seen[v] = int32(first) + 1
			v = f.from[v]
		}
		if v < 0 || seen[v] != int32(first)+1 {
			continue
		}
		cycle, length := []uint32{uint32(v)}, f.weight(f.from[v], v)
		for u := f.from[v]; u != v; u = f.from[u] {
			cycle = append(cycle, uint32(u))
			length += f.weight(f.from[u], u)
		}
		if length < 0 {
			slices.Reverse(cycle)
			return cycle
		}
	}
	return nil
}

// weight is the least of the edges between two vertices.
func (f *falling) weight(from, to int32) float64 {
	least := math.Inf(1)
	first := int(f.rows.Offsets[from])
	for i, w := range f.rows.Row(int(from)) {
		if w == uint32(to) {
			least = min(least, number(f.rows.Weights[first+i], f.kind))
		}
	}
	return least
}

// along writes a cycle, of a long one the beginning.
func along(cycle []uint32) string {
	const most = 8
	var b strings.Builder
	for i, v := range cycle {
		if i == most {
			fmt.Fprintf(&b, "… (%d vertices) → ", len(cycle))
			break
		}
		fmt.Fprintf(&b, "%d → ", v)
	}
	fmt.Fprint(&b, cycle[0])
	return b.String()
}
