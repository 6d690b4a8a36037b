// Package layout holds topology layouts: how edges lie in memory, and the code that reads
// them (GRAssembler, CGO 2024, Table 2: getNeighbor, getEdge, searchVID).
//
// A layout knows no schedule and no algorithm.
package layout

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/internal/registry"
	"heddle/isa"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// End is an end of an edge.
type End uint8

// Ends.
const (
	Source End = iota
	Destination
)

// Base is the end whose rows are walked in a direction.
func Base(d direction.Direction) End {
	if d == direction.Pull {
		return Destination
	}
	return Source
}

// Edge is an edge in a kernel.
type Edge struct {
	ID       ir.Value // its number; nil of one that a graph unit has read
	Src, Dst ir.Value
	weight   func(t ir.Type) ir.Value
	site     Site
}

// Row returns where v's row begins and ends in the arrays of csr, or of csc where rows are the destinations'; whatever
// the layout, these are there.
func (e *Edge) Row(v ir.Value) (begin, end ir.Value) {
	row := compressed(e.site).Neighbours(v, v)
	return row.Begin, row.End
}

// Neighbour reads the other end of an edge of such a row.
func (e *Edge) Neighbour(edge ir.Value) ir.Value {
	return compressed(e.site).Other(edge, edge)
}

// Weight loads the edge's weight as an unsigned integer or a float; 1 without weights.
func (e *Edge) Weight(t ir.Type) ir.Value { return e.weight(t) }

// End returns one of the edge's vertices.
func (e *Edge) End(x End) ir.Value {
	if x == Source {
		return e.Src
	}
	return e.Dst
}

// Span is where a row's edges are: from Begin on every Step-th, nil being every one, below End, which Begin is not above.
type Span struct{ Begin, End, Step ir.Value }

// View is a layout in one kernel: its methods emit the code that reads it.
type View interface {
	// RowCount is how many rows there are: one a vertex, unless the layout is Virtual.
	RowCount() ir.Value
	// Vertex is the vertex of a row: its number, unless the layout is Virtual.
	Vertex(row ir.Value) ir.Value
	// Neighbours returns the edges of a row, whose vertex has been read.
	Neighbours(row, vertex ir.Value) Span
	// Holds reports whether there is an edge of number e in the row of base; nil: there is for every number of a row.
	Holds(e, base ir.Value) ir.Value
	// Edge reads edge e of the row of base.
	Edge(e, base ir.Value) Edge
	// Other reads the other end of edge e of the row of base. It may be asked for the one behind the last, and gives
	// anything then.
	Other(e, base ir.Value) ir.Value
	// EdgeTo is edge e of the row of base, whose other end has been read.
	EdgeTo(e, base, other ir.Value) Edge
	// Given is an edge that a graph unit has read; weight is its bits.
	Given(src, dst, weight ir.Value) Edge
	// Slots emits a loop over all numbers that edges may have, for a schedule that asks for no rows: over every step-th
	// slot from the one numbered first on, in the order in which they lie in memory.
	Slots(first, step ir.Value, body func(s Slot))
}

// Slot is a number that an edge may have, and the vertex in whose row it is.
type Slot struct {
	Edge, Vertex ir.Value
	// There reports whether the row has that number; nil: it does. Whether there is an edge then, Holds tells.
	There func() ir.Value
}

// Layout is a choice.
type Layout struct {
	Name string
	Doc  string
	// Rows says which end rows belong to in a direction.
	Rows func(d direction.Direction) End
	// View emits the code that reads rows of the site's end.
	View func(s Site) View
	// Data are arrays of its own, beside those of csr and csc that a View may name: csr.offsets, csr.ids, csr.weights
	// and csr.rows (the row of each edge), and the same of csc.
	Data []Array
	// Numbers are numbers of its own that kernels may name (Site.Count).
	Numbers []Number
	// Gaps says that edges are not numbered from 0 to as many as there are, and its View's Slots do not know how: no
	// schedule can go through the numbers, only what asks for rows sees all edges.
	Gaps bool
	// Bare says that it has no rows, only edges by their numbers: schedules that ask for rows cannot use it.
	Bare bool
	// BareIn reports whether that is so in a direction; nil: not unless Bare says so.
	BareIn func(d direction.Direction) bool
	// Gathers names the array that has what each edge brings: a kernel before each gather fills it, which then reads it
	// (GRAssembler's initTopology and topologyGather); edges have numbers without gaps, and it no Rest. "": the gather
	// computes it.
	Gathers string
	// Virtual says that rows are those of virtual vertices; nil: each vertex has a row.
	Virtual *Virtual
	// Strided says that a row's edges need not follow each other, so that only threads that walk one alone can.
	Strided bool
	// Sized makes it of other sizes than the default ones; nil: it has none. Keys are the workload's that it heeds.
	Sized func(s Sizes) *Layout
	Keys  []string
	// Rest holds the edges that this layout has no slots for: it has the same Rows. A Bare one is gone through edge by
	// edge whatever the schedule. nil: there are none.
	Rest *Layout
	// Columns makes it with the slots of all rows of the same number side by side, or else row by row; nil: there is no
	// such choice.
	Columns func(columns bool) *Layout
	// Accepts refuses graphs that it would be too large for, before its arrays are made; nil: it takes all.
	Accepts func(g *graph.Graph) error
}

// Number is a number that a layout's kernels are given.
type Number struct {
	Name string
	Of   func(g *graph.Graph) uint32
}

// Sizes are the parameters of layouts: numbers above 0, but where that is said, and the order of blocks.
type Sizes struct {
	BlockVertices int // of a block
	BlockBy       By  // what blocks are of
	VirtualDegree int // edges of a virtual vertex at most
	ShardVertices int // of a shard
	ELLWidth      int // slots of a row; 0: as many as suit the graph
	Diagonals     int // of the matrix, at most MostDiagonals; 0: as many as suit the graph
}

// DefaultSizes are those that layouts have unless others are given.
func DefaultSizes() Sizes {
	return Sizes{BlockVertices: DefaultBlock, BlockBy: ByDestination, VirtualDegree: DefaultDegree, ShardVertices: DefaultShard}
}

// Array is an array of a layout's own. Kernels that name it (Site.Addr) have it.
type Array struct {
	Name string
	// Words computes it of a graph, which it must not change, when a run begins; the host's time for it is not
	// simulated.
	Words func(g *graph.Graph) []uint32
}

// Array finds one of the layout's own, or of its rest's, by its name; nil: there is none.
func (l *Layout) Array(name string) *Array {
	for i := range l.Data {
		if l.Data[i].Name == name {
			return &l.Data[i]
		}
	}
	if l.Rest != nil {
		return l.Rest.Array(name)
	}
	return nil
}

// NumbersOf are its numbers, and its rest's, for a graph.
func (l *Layout) NumbersOf(g *graph.Graph) map[string]uint32 {
	list := map[string]uint32{}
	for ; l != nil; l = l.Rest {
		for _, n := range l.Numbers {
			list[n.Name] = n.Of(g)
		}
	}
	return list
}

// Loose reports whether some edges are in no row.
func (l *Layout) Loose() bool { return l.Bare || l.Rest != nil && l.Rest.Bare }

// Summed reports whether where a row ends is how many edges lie up to there.
func (l *Layout) Summed() bool { return !l.Bare && !l.Gaps && l.Rest == nil }

// Site is where a view emits.
type Site struct {
	*emit.Kernel
	Rows    End              // whose rows the view reads
	Weights graph.WeightKind // of the graph's edges
}

// Numbered emits View.Slots of edges that are numbered from 0 to n; vertex finds that of one.
func (s Site) Numbered(n, first, step ir.Value, vertex func(e ir.Value) ir.Value, body func(s Slot)) {
	s.EdgesOfThread(first, n, step, func(ids []ir.Value) {
		slots := make([]Slot, len(ids))
		for i, e := range ids {
			slots[i] = Slot{Edge: e, Vertex: vertex(e)}
		}
		for _, at := range slots {
			body(at)
		}
	})
}

// layouts are all of them, one file each, and then those that were added.
var layouts = []*Layout{csr, csc, both, coo, blockCOO, split, coalesced, ellCSR, ellCOO, diaCOO, gShard}

// Own is how many of Layouts are heddle's own: they come first.
var Own = len(layouts)

// Layouts lists them.
func Layouts() []*Layout { return slices.Clone(layouts) }

// Add adds one, when the program starts. An error says what it lacks, or that its name is taken.
func Add(l *Layout) error {
	if l == nil {
		return errors.New("it is nil")
	}
	var names []string
	for _, x := range layouts {
		names = append(names, x.Name)
	}
	if err := registry.Name(l.Name, names); err != nil {
		return err
	}
	switch {
	case l.Doc == "":
		return errors.New("it has no Doc")
	case l.Rows == nil:
		return errors.New("it has no Rows")
	case l.View == nil:
		return errors.New("it has no View")
	}
	for i := range l.Data {
		a := &l.Data[i]
		prefix, _, dotted := strings.Cut(a.Name, ".")
		if !dotted || prefix == "csr" || prefix == "csc" || l.Array(a.Name) != a {
			return fmt.Errorf("array %q: expected a name such as %s.ids, of no other", a.Name, l.Name)
		}
		if a.Words == nil {
			return fmt.Errorf("array %s has no Words", a.Name)
		}
	}
	layouts = append(layouts, l)
	return nil
}

// ByName finds a layout.
func ByName(name string) (*Layout, error) {
	for _, l := range layouts {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no layout %q", name)
}

// RowCount is the parameter that has how many rows there are of virtual vertices that are an end of edges.
func RowCount(x End) string {
	return [...]string{Source: "rows.source", Destination: "rows.destination"}[x]
}

// Arrays are the names of what has the rows of direction d, as a graph unit reads them.
func (l *Layout) Arrays(d direction.Direction) (offsets, ids, weights string) {
	name := [...]string{Source: "csr", Destination: "csc"}[l.Rows(d)]
	return name + ".offsets", name + ".ids", name + ".weights"
}

// In returns the layout in a kernel that handles edges in direction d.
func (l *Layout) In(k *emit.Kernel, d direction.Direction, weights graph.WeightKind) View {
	return l.View(Site{k, l.Rows(d), weights})
}

// Fits reports whether rows belong to the end that direction d walks, as schedules need
// that ask for a vertex's row.
func (l *Layout) Fits(d direction.Direction) bool { return l.HasRows(d) && l.Rows(d) == Base(d) }

// HasRows reports whether there are rows in a direction.
func (l *Layout) HasRows(d direction.Direction) bool {
	return !l.Bare && (l.BareIn == nil || !l.BareIn(d))
}

// Edge is edge e of the row of base, whose other end is known; its weight is word e of the array of that name.
func (s Site) Edge(e, base, other ir.Value, weights string) Edge {
	x := Edge{site: s, ID: e, Src: base, Dst: other, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.Load(t, s.Addr(weights), e) })
	}}
	if s.Rows == Destination {
		x.Src, x.Dst = other, base
	}
	return x
}

// Given passes an edge on.
func (s Site) Given(src, dst, weight ir.Value) Edge {
	return Edge{site: s, Src: src, Dst: dst, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.bits(weight, t) })
	}}
}

// bits are a word as a value of a type.
func (s Site) bits(word ir.Value, t ir.Type) ir.Value {
	switch t {
	case ir.F32:
		return s.AsF32(word)
	case ir.I32:
		return s.AsI32(word)
	}
	return word
}

// weight converts what word gives.
func (s Site) weight(t ir.Type, word func(t ir.Type) ir.Value) (w ir.Value) {
	s.Phase(isa.PhaseEdgeAccess, func() { w = s.convert(t, word) })
	return w
}

func (s Site) convert(t ir.Type, word func(t ir.Type) ir.Value) ir.Value {
	switch {
	case s.Weights == graph.NoWeights && t == ir.F32:
		return s.F32(1)
	case s.Weights == graph.NoWeights:
		return s.U32(1)
	case s.Weights == graph.IntWeights && t == ir.F32:
		return s.ToF32(word(ir.I32))
	}
	return word(t)
}
