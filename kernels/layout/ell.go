package layout

import (
	"fmt"
	"math/bits"

	"heddle/graph"
	"heddle/kernels/ir"
)

// ELL keeps as many edges of a row as it has slots, and the others in another layout (Bell and Garland, SC 2009, §4.2
// and §4.5; GRAssembler §2.3). Row lengths are kept, as in GRAssembler's Figure 2, so that a traversal never inspects
// empty slots.
var (
	ellCSR = ellMaker{name: "ell-csr", rest: "rows by their offsets, as csr's", inRows: true}.layout()
	ellCOO = ellMaker{name: "ell-coo", rest: "both ends of every edge, and no rows: all threads go through them " +
		"edge by edge (HYB)"}.layout()
)

// MaxSlots bounds a layout's slots: 512 MiB for each of its arrays.
const MaxSlots = 1 << 27

// columnUnit divides the length of a column in words, so that each column begins with a cache line (Bell and Garland,
// §4.2: coalesced accesses).
const columnUnit = 32

// ellMaker builds an ELL.
type ellMaker struct {
	name, rest string
	inRows     bool // layout of the remaining edges
	columns    bool // column-major: slots of the same number are adjacent; otherwise row-major
	width      int  // slots per row; 0: the mean degree, rounded up to a power of two
}

func (m ellMaker) layout() *Layout {
	l := &Layout{
		Name: m.name,
		Doc: "equally many slots for each row (ell_width), the other ends in them, and how many are taken; " +
			"edges beyond are the rest's: " + m.rest,
		Rows:    Base,
		View:    func(s Site) View { return ell{s, m.columns} },
		Strided: m.columns,
		Rest:    remainder{m.inRows, m.kept}.layout(),
		Sized: func(s Sizes) *Layout {
			sized := m
			sized.width = s.ELLWidth
			return sized.layout()
		},
		Keys: []string{"ell_width"},
		Columns: func(columns bool) *Layout {
			arranged := m
			arranged.columns = columns
			return arranged.layout()
		},
		Accepts: m.accepts,
		Numbers: []Number{
			{"ell.width", func(g *graph.Graph) uint32 { return uint32(m.slots(g)) }},
			{"ell.shift", func(g *graph.Graph) uint32 { return uint32(bits.Len(uint(m.slots(g) - 1))) }},
			{"ell.pitch", func(g *graph.Graph) uint32 { return uint32(pitch(g)) }},
		},
	}
	for end := range End(len(ends)) {
		array := func(name string, words func(g *graph.Graph, a *graph.Adjacency) []uint32) {
			l.Data = append(l.Data, Array{Name: "ell." + ends[end] + "." + name, Words: func(g *graph.Graph) []uint32 {
				return words(g, adjacency(g, end))
			}})
		}
		array("lengths", m.lengths)
		array("ids", func(g *graph.Graph, a *graph.Adjacency) []uint32 { return m.fill(g, a, a.IDs) })
		array("weights", func(g *graph.Graph, a *graph.Adjacency) []uint32 { return m.fill(g, a, a.Weights) })
	}
	return l
}

// slots returns the number of slots per row.
func (m ellMaker) slots(g *graph.Graph) int {
	if m.width > 0 {
		return m.width
	}
	mean := (g.Edges() + g.Vertices() - 1) / max(1, g.Vertices())
	return 1 << bits.Len(uint(max(1, mean)-1))
}

// pitch returns the number of words per column.
func pitch(g *graph.Graph) int { return (g.Vertices() + columnUnit - 1) / columnUnit * columnUnit }

func (m ellMaker) accepts(g *graph.Graph) error {
	if n := m.slots(g); m.room(g) > MaxSlots/max(1, pitch(g)) {
		return fmt.Errorf("%d vertices with %d slots each: expected at most %d slots: give fewer for each, or "+
			"another layout", g.Vertices(), n, MaxSlots)
	}
	return nil
}

// room returns the number of words per row: a power of two if row-major, so that an edge's row follows from its number
// without a division.
func (m ellMaker) room(g *graph.Graph) int {
	if m.columns {
		return m.slots(g)
	}
	return 1 << bits.Len(uint(m.slots(g)-1))
}

// kept marks the first edges of each row.
func (m ellMaker) kept(g *graph.Graph, rows End) []bool {
	a := adjacency(g, rows)
	kept := make([]bool, a.Edges())
	for v, n := range m.lengths(g, a) {
		for e := range n {
			kept[a.Offsets[v]+e] = true
		}
	}
	return kept
}

// lengths returns the number of occupied slots of each row.
func (m ellMaker) lengths(g *graph.Graph, a *graph.Adjacency) []uint32 {
	lengths := make([]uint32, a.Vertices())
	for v := range lengths {
		lengths[v] = uint32(min(a.Degree(v), m.slots(g)))
	}
	return lengths
}

// fill returns the edges' words in their slots, and 0 in the others. nil: no words.
func (m ellMaker) fill(g *graph.Graph, a *graph.Adjacency, words []uint32) []uint32 {
	if words == nil {
		return nil
	}
	row, next := m.room(g), 1 // stride between rows, and between slots of a row
	if m.columns {
		row, next = 1, pitch(g)
	}
	out := make([]uint32, m.room(g)*pitch(g))
	for v, taken := range m.lengths(g, a) {
		for j := range int(taken) {
			out[v*row+j*next] = words[int(a.Offsets[v])+j]
		}
	}
	return out
}

// ell reads slots. Edges are numbered by slot.
type ell struct {
	Site
	columns bool
}

func (l ell) array(name string) ir.Value { return l.Addr("ell." + ends[l.Rows] + "." + name) }

func (l ell) length(v ir.Value) ir.Value { return l.Load(ir.U32, l.array("lengths"), v) }

func (l ell) RowCount() ir.Value { return l.Count("vertices") }

func (l ell) Vertex(row ir.Value) ir.Value { return row }

func (l ell) Neighbours(row, _ ir.Value) Span {
	if l.columns {
		pitch := l.Count("ell.pitch")
		return Span{row, l.Add(row, l.Mul(l.length(row), pitch)), pitch}
	}
	begin := l.Shl(row, l.Count("ell.shift"))
	return Span{Begin: begin, End: l.Add(begin, l.length(row))}
}

func (l ell) Holds(_, _ ir.Value) ir.Value { return nil }

func (l ell) Other(e, _ ir.Value) ir.Value { return l.Load(ir.U32, l.array("ids"), e) }

func (l ell) Edge(e, base ir.Value) Edge { return l.EdgeTo(e, base, l.Other(e, base)) }

func (l ell) EdgeTo(e, base, other ir.Value) Edge {
	return l.Site.Edge(e, base, other, "ell."+ends[l.Rows]+".weights")
}

func (l ell) Slots(first, step ir.Value, body func(s Slot)) {
	taken := func(row, j ir.Value) func() ir.Value {
		return func() ir.Value { return l.Lt(j, l.length(row)) }
	}
	if l.columns {
		height := l.Count("vertices")
		l.Columns(height, l.Mul(height, l.Count("ell.width")), first, step, func(row, column ir.Value) {
			body(Slot{l.Add(l.Mul(column, l.Count("ell.pitch")), row), row, taken(row, column)})
		})
		return
	}
	shift := l.Count("ell.shift")
	l.EdgesOfThread(first, l.Shl(l.Count("vertices"), shift), step, func(slots []ir.Value) {
		for _, e := range slots {
			row := l.Shr(e, shift)
			body(Slot{e, row, taken(row, l.Sub(e, l.Shl(row, shift)))})
		}
	})
}

// Columns emits a loop over every step-th of n slots starting from the first, in columns of that height. It needs no
// division: a step advances by a constant number of columns and rows.
func (s Site) Columns(height, n, first, step ir.Value, body func(row, column ir.Value)) {
	row, column := s.Var(s.Rem(first, height)), s.Var(s.Div(first, height))
	rows, columns := s.Rem(step, height), s.Div(step, height)
	further := func() {
		down := s.Add(row.Get(), rows)
		over := s.Ge(down, height)
		row.Set(s.Select(over, s.Sub(down, height), down))
		column.Set(s.Add(s.Add(column.Get(), columns), s.ToU32(over)))
	}
	s.EdgesOfThread(first, n, step, func(slots []ir.Value) {
		if len(slots) == 1 {
			body(row.Get(), column.Get())
			further()
			return
		}
		at := make([][2]ir.Value, len(slots))
		for i := range at {
			at[i] = [2]ir.Value{row.Get(), column.Get()}
			further()
		}
		for _, x := range at {
			body(x[0], x[1])
		}
	})
}
