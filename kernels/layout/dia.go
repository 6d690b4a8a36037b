package layout

import (
	"cmp"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/kernels/ir"
)

// DIA holds the edges of a matrix's fullest diagonals, and the others in another layout (Bell and Garland, SC 2009,
// §4.1; GRAssembler §2.3). The other end of an edge is its row's number plus its diagonal's offset. One bit per edge
// marks its presence, where GRAssembler uses a word.
var diaCOO = diaMaker{}.layout()

// MostDiagonals is the maximum number of diagonals: one word per row marks which of its edges are present. An edge's
// number is its row's times MostDiagonals plus its diagonal's.
const (
	MostDiagonals = 1 << diaShift
	diaShift      = 5
)

// diaMaker builds a DIA.
type diaMaker struct {
	diagonals int // maximum number of diagonals; 0: those at least half full, and always the fullest
}

func (m diaMaker) layout() *Layout {
	l := &Layout{
		Name: "dia-coo",
		Doc: "the edges of the fullest diagonals of the matrix (dia_diagonals): each one's distance from the " +
			"main one, and a bit for each edge that there is; the rest's: both ends of every edge, and no rows: all " +
			"threads go through them edge by edge",
		Rows:    Base,
		View:    func(s Site) View { return dia{s} },
		Rest:    remainder{kept: m.kept}.layout(),
		Sized:   func(s Sizes) *Layout { return diaMaker{s.Diagonals}.layout() },
		Keys:    []string{"dia_diagonals"},
		Accepts: m.accepts,
		Numbers: []Number{{"dia.pitch", func(g *graph.Graph) uint32 { return uint32(pitch(g)) }}},
	}
	for end := range End(len(ends)) {
		array := func(name string, words func(g *graph.Graph, a *graph.Adjacency) []uint32) {
			l.Data = append(l.Data, Array{Name: diaOf(end, name), Words: func(g *graph.Graph) []uint32 {
				return words(g, adjacency(g, end))
			}})
		}
		array("offsets", func(_ *graph.Graph, a *graph.Adjacency) []uint32 { return m.offsets(a) })
		array("present", m.present)
		array("weights", m.weights)
		l.Numbers = append(l.Numbers, Number{diaOf(end, "diagonals"), func(g *graph.Graph) uint32 {
			return uint32(len(m.offsets(adjacency(g, end))))
		}})
	}
	return l
}

// diaOf returns the name of an array for rows of an end.
func diaOf(end End, name string) string { return "dia." + ends[end] + "." + name }

func (m diaMaker) accepts(g *graph.Graph) error {
	n := 0
	for end := range End(len(ends)) {
		n = max(n, len(m.offsets(adjacency(g, end))))
	}
	if n*pitch(g) > MaxSlots {
		return fmt.Errorf("%d vertices with %d diagonals: expected at most %d slots: give fewer diagonals, or "+
			"another layout", g.Vertices(), n, MaxSlots)
	}
	return nil
}

// offsets returns the diagonals' distances from the main one, modulo 2^32, in ascending order. Among equally full
// diagonals the nearer ones take precedence.
func (m diaMaker) offsets(a *graph.Adjacency) []uint32 {
	vertices := a.Vertices()
	counts := make([]uint32, 2*vertices) // edges per diagonal
	eachSlot(a, func(_, _, offset int) { counts[vertices+offset]++ })
	var list []int
	for i, n := range counts {
		if n > 0 {
			list = append(list, i-vertices)
		}
	}
	full := func(offset int) int { return int(counts[vertices+offset]) }
	slices.SortFunc(list, func(x, y int) int {
		return cmp.Or(cmp.Compare(full(y), full(x)), cmp.Compare(max(x, -x), max(y, -y)), cmp.Compare(x, y))
	})
	n := min(len(list), m.diagonals)
	if m.diagonals == 0 {
		for n = min(len(list), 1); n < min(len(list), MostDiagonals) && 2*full(list[n]) >= vertices; {
			n++
		}
	}
	list = list[:n]
	slices.Sort(list)
	words := make([]uint32, n)
	for i, offset := range list {
		words[i] = uint32(offset)
	}
	return words
}

// eachSlot calls f with the first edge at each position of the matrix, and its diagonal's offset.
func eachSlot(a *graph.Adjacency, f func(v, e, offset int)) {
	for v := range a.Vertices() {
		for e := int(a.Offsets[v]); e < int(a.Offsets[v+1]); e++ {
			if e == int(a.Offsets[v]) || a.IDs[e] != a.IDs[e-1] {
				f(v, e, int(a.IDs[e])-v)
			}
		}
	}
}

// eachKept calls f with every edge that has a slot, and the number of its diagonal.
func (m diaMaker) eachKept(a *graph.Adjacency, f func(v, e, diagonal int)) {
	vertices := a.Vertices()
	at := make([]uint8, 2*vertices) // number of each diagonal, from 1; 0: not kept
	for i, offset := range m.offsets(a) {
		at[vertices+int(int32(offset))] = uint8(i + 1)
	}
	eachSlot(a, func(v, e, offset int) {
		if n := at[vertices+offset]; n > 0 {
			f(v, e, int(n)-1)
		}
	})
}

func (m diaMaker) kept(g *graph.Graph, rows End) []bool {
	a := adjacency(g, rows)
	kept := make([]bool, a.Edges())
	m.eachKept(a, func(_, e, _ int) { kept[e] = true })
	return kept
}

// present returns a word per row with a bit for each of its edges.
func (m diaMaker) present(_ *graph.Graph, a *graph.Adjacency) []uint32 {
	words := make([]uint32, a.Vertices())
	m.eachKept(a, func(v, _, diagonal int) { words[v] |= 1 << diagonal })
	return words
}

// weights returns the diagonals' weights, one diagonal after the other. nil: unweighted.
func (m diaMaker) weights(g *graph.Graph, a *graph.Adjacency) []uint32 {
	if a.Weights == nil {
		return nil
	}
	words := make([]uint32, len(m.offsets(a))*pitch(g))
	m.eachKept(a, func(v, e, diagonal int) { words[diagonal*pitch(g)+v] = a.Weights[e] })
	return words
}

// dia reads diagonals.
type dia struct{ Site }

func (l dia) array(name string) ir.Value { return l.Addr(diaOf(l.Rows, name)) }

func (l dia) diagonals() ir.Value { return l.Count(diaOf(l.Rows, "diagonals")) }

func (l dia) RowCount() ir.Value { return l.Count("vertices") }

func (l dia) Vertex(row ir.Value) ir.Value { return row }

func (l dia) first(row ir.Value) ir.Value { return l.Shl(row, l.U32(diaShift)) }

func (l dia) Neighbours(row, _ ir.Value) Span {
	return Span{Begin: l.first(row), End: l.Add(l.first(row), l.diagonals())}
}

// diagonal returns the number of an edge's diagonal.
func (l dia) diagonal(e, base ir.Value) ir.Value { return l.Sub(e, l.first(base)) }

func (l dia) Holds(e, base ir.Value) ir.Value {
	bits := l.Shr(l.Load(ir.U32, l.array("present"), base), l.diagonal(e, base))
	return l.Ne(l.And(bits, l.U32(1)), l.U32(0))
}

func (l dia) Other(e, base ir.Value) ir.Value {
	return l.Add(base, l.Load(ir.U32, l.array("offsets"), l.diagonal(e, base)))
}

func (l dia) Edge(e, base ir.Value) Edge { return l.EdgeTo(e, base, l.Other(e, base)) }

func (l dia) EdgeTo(e, base, other ir.Value) Edge {
	slot := l.Add(l.Mul(l.diagonal(e, base), l.Count("dia.pitch")), base)
	return l.Site.Edge(slot, base, other, diaOf(l.Rows, "weights"))
}

func (l dia) Slots(first, step ir.Value, body func(s Slot)) {
	height := l.Count("vertices")
	l.Columns(height, l.Mul(height, l.diagonals()), first, step, func(row, diagonal ir.Value) {
		body(Slot{Edge: l.Add(l.first(row), diagonal), Vertex: row})
	})
}
