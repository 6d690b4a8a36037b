// Package layout holds topology layouts: how edges lie in memory, and the code that reads
// them (GRAssembler, CGO 2024, Table 2: getNeighbor, getEdge, searchVID).
//
// A layout knows no schedule and no algorithm.
package layout

import (
	"fmt"

	"heddle/isa"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/graph"
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
	Src, Dst ir.Value
	weight   func(t ir.Type) ir.Value
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

// View is a layout in one kernel: its methods emit the code that reads it.
type View interface {
	// Neighbours returns where v's row begins and ends.
	Neighbours(v ir.Value) (begin, end ir.Value)
	// Edge reads edge e of the row of base.
	Edge(e, base ir.Value) Edge
	// Other reads the other end of edge e. It may be asked for the one behind the last, and
	// gives anything then.
	Other(e ir.Value) ir.Value
	// EdgeTo is edge e of the row of base, whose other end has been read.
	EdgeTo(e, base, other ir.Value) Edge
	// Given is an edge that a graph unit has read; weight is its bits.
	Given(src, dst, weight ir.Value) Edge
	// SearchVertex finds the row of edge e, for a schedule that does not know it.
	SearchVertex(e ir.Value) ir.Value
}

// Layout is a choice.
type Layout struct {
	Name string
	Doc  string
	// Rows says which end rows belong to in a direction.
	Rows func(d direction.Direction) End
	// view emits for rows of that end.
	view func(s site) View
}

// site is where a view emits.
type site struct {
	*emit.Kernel
	rows    End
	weights graph.WeightKind
}

// layouts are all of them, one file each.
var layouts = []*Layout{csr, csc, both, coo}

// Layouts lists them.
func Layouts() []*Layout { return layouts }

// ByName finds a layout.
func ByName(name string) (*Layout, error) {
	for _, l := range layouts {
		if l.Name == name {
			return l, nil
		}
	}
	return nil, fmt.Errorf("no layout %q", name)
}

// Arrays are the names of what has the rows of direction d, as a graph unit reads them.
func (l *Layout) Arrays(d direction.Direction) (offsets, ids, weights string) {
	name := [...]string{Source: "csr", Destination: "csc"}[l.Rows(d)]
	return name + ".offsets", name + ".ids", name + ".weights"
}

// In returns the layout in a kernel that handles edges in direction d.
func (l *Layout) In(k *emit.Kernel, d direction.Direction, weights graph.WeightKind) View {
	return l.view(site{k, l.Rows(d), weights})
}

// Fits reports whether rows belong to the end that direction d walks, as schedules need
// that ask for a vertex's row.
func (l *Layout) Fits(d direction.Direction) bool { return l.Rows(d) == Base(d) }

// edge is edge e, whose ends are known.
func (s site) edge(e, base, other ir.Value, weights string) Edge {
	x := Edge{Src: base, Dst: other, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.Load(t, s.Addr(weights), e) })
	}}
	if s.rows == Destination {
		x.Src, x.Dst = other, base
	}
	return x
}

// Given passes an edge on.
func (s site) Given(src, dst, weight ir.Value) Edge {
	return Edge{Src: src, Dst: dst, weight: func(t ir.Type) ir.Value {
		return s.weight(t, func(t ir.Type) ir.Value { return s.bits(weight, t) })
	}}
}

// bits are a word as a value of a type.
func (s site) bits(word ir.Value, t ir.Type) ir.Value {
	switch t {
	case ir.F32:
		return s.AsF32(word)
	case ir.I32:
		return s.AsI32(word)
	}
	return word
}

// weight converts what word gives.
func (s site) weight(t ir.Type, word func(t ir.Type) ir.Value) (w ir.Value) {
	s.Phase(isa.PhaseEdgeAccess, func() { w = s.convert(t, word) })
	return w
}

func (s site) convert(t ir.Type, word func(t ir.Type) ir.Value) ir.Value {
	switch {
	case s.weights == graph.NoWeights && t == ir.F32:
		return s.F32(1)
	case s.weights == graph.NoWeights:
		return s.U32(1)
	case s.weights == graph.IntWeights && t == ir.F32:
		return s.ToF32(word(ir.I32))
	}
	return word(t)
}
