// Package layout holds topology layouts: how edges lie in memory, and the code that reads them (GRAssembler, PACT '22,
// Table 2: getNeighbor, getEdge, searchVID).
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

// End is an end of an edge: its source or its destination.
type End uint8

// Ends.
const (
	Source End = iota
	Destination
)

// Base returns the end whose rows a direction walks.
func Base(d direction.Direction) End {
	if d == direction.Pull {
		return Destination
	}
	return Source
}

// Edge is an edge in a kernel.
type Edge struct {
	ID       ir.Value // its number; nil for an edge that a graph unit has read
	Src, Dst ir.Value
	weight   func(t ir.Type) ir.Value
	site     Site
}

// Row returns the bounds of v's row in the arrays of csr, or of csc where rows belong to destinations; these arrays
// exist whatever the layout.
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

// Span is the range of a row's edges: from Begin, every Step-th (nil: every one), below End, which Begin is not above.
type Span struct{ Begin, End, Step ir.Value }

// View is a layout within one kernel: its methods emit the code that reads it.
type View interface {
	// RowCount returns the number of rows: one per vertex, unless the layout is Virtual.
	RowCount() ir.Value
	// Vertex returns the vertex of a row: the row's number, unless the layout is Virtual.
	Vertex(row ir.Value) ir.Value
	// Neighbours returns the edges of a row whose vertex has been read.
	Neighbours(row, vertex ir.Value) Span
	// Holds reports whether edge e is present in the row of base; nil: every number of a row is an edge.
	Holds(e, base ir.Value) ir.Value
	// Edge reads edge e of the row of base.
	Edge(e, base ir.Value) Edge
	// Other reads the other end of edge e of the row of base. It may be called for the number after the last; the
	// result is then unspecified.
	Other(e, base ir.Value) ir.Value
	// EdgeTo returns edge e of the row of base, whose other end has been read.
	EdgeTo(e, base, other ir.Value) Edge
	// Given returns an edge that a graph unit has read; weight holds its bits.
	Given(src, dst, weight ir.Value) Edge
	// Slots emits a loop over all possible edge numbers, for schedules that do not use rows: every step-th slot
	// starting from the first, in memory order.
	Slots(first, step ir.Value, body func(s Slot))
}

// Lister is a View of a layout with Listed: slots are numbered from 0 on.
type Lister interface {
	// Listed returns the number of slots.
	Listed() ir.Value
	// Slot reads the row of a slot.
	Slot(number ir.Value) Slot
}

// Slot is a possible edge number, and the vertex whose row contains it.
type Slot struct {
	Edge, Vertex ir.Value
	// There reports whether the row has that number; nil: always. View.Holds reports whether it is an edge.
	There func() ir.Value
}

// Layout describes a topology layout.
type Layout struct {
	Name string
	Doc  string
	// Rows returns the end that rows belong to in a direction.
	Rows func(d direction.Direction) End
	// View returns the view that reads rows of the site's end.
	View func(s Site) View
	// Data are the layout's own arrays, in addition to those of csr and csc, which any View may name: csr.offsets,
	// csr.ids, csr.weights and csr.rows (the row of each edge), and likewise for csc.
	Data []Array
	// Numbers are the layout's own parameters that kernels may name (Site.Count).
	Numbers []Number
	// Listed is set if views are Listers.
	Listed bool
	// Gaps is set if edge numbers are not contiguous and the View's Slots cannot enumerate them: schedules over edge
	// numbers cannot use the layout; only those over rows see all edges.
	Gaps bool
	// Waits is set if all threads of the device wait for each other between parts of the edges.
	Waits bool
	// Bare is set if the layout has no rows, only numbered edges: schedules over rows cannot use it.
	Bare bool
	// BareIn reports whether that holds in a direction; nil: only if Bare is set.
	BareIn func(d direction.Direction) bool
	// Gathers names the array with the value that each edge contributes: a kernel fills it before each gather, which
	// then reads it (GRAssembler's initTopology and topologyGather). It requires contiguous edge numbers and no Rest.
	// "": the gather computes the values.
	Gathers string
	// Virtual describes rows of virtual vertices; nil: each vertex has a row.
	Virtual *Virtual
	// Shards describes edges in shards, whose View is a ShardView; nil: there are none.
	Shards *Shards
	// Strided is set if a row's edges need not be contiguous, so that only a thread that walks a whole row alone can
	// traverse it.
	Strided bool
	// Sized returns the layout with sizes other than the default; nil: it has none. Keys are the workload's keys that
	// it uses.
	Sized func(s Sizes) *Layout
	Keys  []string
	// Rest holds the edges that this layout has no slots for, with the same Rows. A Bare Rest is traversed edge by edge
	// whatever the schedule. nil: none.
	Rest *Layout
	// Columns returns the layout with column-major (true) or row-major slots; nil: no such choice.
	Columns func(columns bool) *Layout
	// Accepts returns an error for graphs that would make the arrays too large, before they are built; nil: accepts
	// all.
	Accepts func(g *graph.Graph) error
}

// Number is a parameter of a layout's kernels.
type Number struct {
	Name string
	Of   func(g *graph.Graph) uint32
}

// Sizes are the parameters of layouts: positive unless noted, the end that forms blocks, and what is
// divided equally among these.
type Sizes struct {
	BlockVertices int // per block
	BlockBy       By  // end that forms blocks
	BlockEqual    Equal
	VirtualDegree int // maximum edges of a virtual vertex
	ShardVertices int // per shard
	ELLWidth      int // slots per row; 0: chosen from the graph
	Diagonals     int // at most MostDiagonals; 0: chosen from the graph
}

// DefaultSizes returns the default sizes.
func DefaultSizes() Sizes {
	return Sizes{BlockVertices: DefaultBlock, BlockBy: ByDestination, BlockEqual: EqualVertices,
		VirtualDegree: DefaultDegree, ShardVertices: DefaultShard}
}

// Array is one of a layout's own arrays. Kernels that name it (Site.Addr) receive its address.
type Array struct {
	Name string
	// Words computes it from a graph, which it must not modify, at the start of a run; the host's time for this is not
	// simulated.
	Words func(g *graph.Graph) []uint32
}

// Array returns one of the layout's own arrays, or its rest's, by name; nil: not found.
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

// NumbersOf returns the parameters of the layout and its rest for a graph.
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

// Summed reports whether the end of each row equals the number of edges up to it (a prefix sum of degrees).
func (l *Layout) Summed() bool { return !l.Bare && !l.Gaps && l.Rest == nil }

// Site is the context that a view emits into.
type Site struct {
	*emit.Kernel
	Rows    End              // end whose rows the view reads
	Weights graph.WeightKind // kind of the graph's weights
}

// Numbered emits View.Slots for edges numbered from 0 to n; vertex returns the vertex of one.
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

// layouts holds every layout, one file each, followed by registered ones.
var layouts = []*Layout{csr, csc, both, coo, blockCOO, edgeBlocking, split, coalesced, ellCSR, ellCOO, diaCOO, gShard,
	windows}

// Own is the number of built-in layouts, which come first in Layouts.
var Own = len(layouts)

// Layouts returns every layout.
func Layouts() []*Layout { return slices.Clone(layouts) }

// Add registers a layout at program start. It returns an error if a required field is missing or the name is taken.
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

// ByName returns the layout with that name.
func ByName(name string) (*Layout, error) {
	for _, l := range layouts {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no layout %q", name)
}

// RowCount returns the parameter with the number of rows of virtual vertices at an end.
func RowCount(x End) string {
	return [...]string{Source: "rows.source", Destination: "rows.destination"}[x]
}

// Arrays returns the names of the arrays that hold the rows of direction d, as a graph unit reads them.
func (l *Layout) Arrays(d direction.Direction) (offsets, ids, weights string) {
	name := [...]string{Source: "csr", Destination: "csc"}[l.Rows(d)]
	return name + ".offsets", name + ".ids", name + ".weights"
}

// In returns the layout within a kernel that handles edges in direction d.
func (l *Layout) In(k *emit.Kernel, d direction.Direction, weights graph.WeightKind) View {
	return l.View(Site{k, l.Rows(d), weights})
}

// Fits reports whether rows belong to the end that direction d walks, as schedules over vertices' rows require.
func (l *Layout) Fits(d direction.Direction) bool { return l.HasRows(d) && l.Rows(d) == Base(d) }

// HasRows reports whether the layout has rows in a direction.
func (l *Layout) HasRows(d direction.Direction) bool {
	return !l.Bare && (l.BareIn == nil || !l.BareIn(d))
}

// Edge returns edge e of the row of base, whose other end is known; its weight is word e of the named array.
func (s Site) Edge(e, base, other ir.Value, weights string) Edge {
	x := Edge{site: s, ID: e, Src: base, Dst: other, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.Load(t, s.Addr(weights), e) })
	}}
	if s.Rows == Destination {
		x.Src, x.Dst = other, base
	}
	return x
}

// Given returns an edge that a graph unit has read.
func (s Site) Given(src, dst, weight ir.Value) Edge {
	return Edge{site: s, Src: src, Dst: dst, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.bits(weight, t) })
	}}
}

// bits reinterprets a word as a value of a type.
func (s Site) bits(word ir.Value, t ir.Type) ir.Value {
	switch t {
	case ir.F32:
		return s.AsF32(word)
	case ir.I32:
		return s.AsI32(word)
	}
	return word
}

// weight converts the value that word loads.
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
