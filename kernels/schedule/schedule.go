// Package schedule holds edge schedules: who handles which edge (GRAssembler, CGO 2024,
// §2.2 and Table 2; SparseWeaver, HPCA 2025, §III-A). Each is one EachEdge that emits
// registration, distribution, and the walk over a thread's edges.
//
// A schedule asks a layout for rows and edges and an active set for vertices, and knows
// neither by name; what is done with an edge it is told as a Visitor.
package schedule

import (
	"errors"
	"slices"
	"strings"

	"heddle/internal/registry"
	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// Site is where a schedule emits.
type Site struct {
	*emit.Kernel
	View layout.View
	Rest *Rest      // what the layout has beside; nil: nothing
	Rows layout.End // the end that rows belong to
	Dir  direction.Direction
	// Set has the rows to walk: their numbers are its vertices, and as a vertex has one row, the vertices' own, unless
	// Virtual says that those are of virtual vertices.
	Set     activeset.Set
	Virtual bool
	Scan    Scan
	Core    Core
	// All says that every vertex walks its row.
	All bool
	// Ahead has a thread that walks a row read the next edge while it handles one.
	Ahead bool
	// Width is how many numbers a vertex has; 0: one. A schedule may give each to a thread of its own: it says in
	// Component which one, while it emits what is done with a row. nil: the thread does all.
	Width     int
	Component ir.Value

	own []Array // of the schedule
	of  string  // what their names end with: one for each part of the layout
}

// AllRows are all rows of a layout with virtual vertices, whatever is active: who walks them asks for each one's
// vertex.
type AllRows struct {
	activeset.Set
	View layout.View
}

// Places is how many rows there are.
func (r AllRows) Places() ir.Value { return r.View.RowCount() }

// Vertex is the row at a place.
func (r AllRows) Vertex(place ir.Value) ir.Value { return place }

// Core is the part of a core that a kernel may use, for schedules that unroll by it.
type Core struct {
	Warps, Lanes int
	Block        int // warps of a thread block, a divisor of Warps; 0: all
}

// Threads returns how many lanes of a core run a kernel.
func (c Core) Threads() int { return c.Warps * c.Lanes }

// BlockWarps returns how many warps a thread block has.
func (c Core) BlockWarps() int {
	if c.Block == 0 {
		return c.Warps
	}
	return c.Block
}

// InBlock is the warp's number in its thread block, and first the number of the block's first warp in the core; nil: 0.
func (s *Site) InBlock() (number, first ir.Value) {
	size := s.Core.BlockWarps()
	if size == s.Core.Warps {
		return s.WarpID(), nil
	}
	n := s.U32(uint32(size))
	first = s.Mul(s.Div(s.WarpID(), n), n)
	return s.Sub(s.WarpID(), first), first
}

// OfBlock is the number in the core of a warp that has that number in the thread block.
func (s *Site) OfBlock(first, number ir.Value) ir.Value {
	if first == nil {
		return number
	}
	return s.Add(first, number)
}

// Scan says by what lanes of a warp exchange values.
type Scan string

// Scans.
const (
	Shuffle    Scan = "shuffle"
	Scratchpad Scan = "scratchpad"
)

// Skip says when kernels tell a unit to drop the rest of a vertex's edges.
type Skip string

// Skips.
const (
	Early    Skip = "early"    // with each edge that decides the vertex, before it is summed up
	Filtered Skip = "filtered" // with each edge whose vertex is decided when it is handed out (SparseWeaver, HPCA 2025, Fig. 9)
)

// Skips lists them.
func Skips() []Skip { return []Skip{Early, Filtered} }

// Scans lists them.
func Scans() []Scan { return []Scan{Shuffle, Scratchpad} }

// Visitor says what is done.
type Visitor struct {
	// Keep reports whether a vertex walks its row; nil: yes.
	Keep func(v ir.Value) ir.Value
	// Begin and End enclose a row that one thread walks alone. Only schedules that own rows call them.
	Begin, End func(v ir.Value)
	// Edge handles an edge. stop drops the rest of the row, where the schedule can.
	Edge func(e *layout.Edge, stop func())
}

// Schedule is a choice.
type Schedule struct {
	Name string
	Doc  string
	// Rows says that it asks a layout for the rows of the direction.
	Rows bool
	// Owns says that a row is walked by one thread.
	Owns bool
	// Numbers says that each number of a vertex has a thread, if it has several.
	Numbers bool
	// Scans says that it has lanes exchange values.
	Scans bool
	// Blocks says that it shares by thread blocks, which may be parts of a core.
	Blocks bool
	// Crosses reports whether a kernel reads, behind a device-wide barrier, words that other cores have stored.
	Crosses bool
	// Unit is the name of the graph unit that it needs, whose row has it; empty: none.
	Unit string
	// Drops says that the unit can be told to hand out no more edges of a vertex.
	Drops bool
	// Lists says that the unit is given the vertices in its lists, before the launch, and ListOps by which instructions
	// kernels use these; FarList, that there is one for a far pile.
	Lists   bool
	ListOps ir.ListOps
	FarList bool
	// Reads says that the unit reads the rows.
	Reads bool
	// Register emits a kernel of its own that comes before each gather in which not every vertex walks its row, and has
	// the vertices that do; nil: there is none.
	Register func(s *Site, v *Visitor)
	// Always has Register come before gathers in which every vertex walks its row, too.
	Always bool
	// Launches names the launches of a gather, each of which runs the gather kernel once; nil: there is one.
	// Site.LaunchNumber tells the kernel which it is.
	Launches []string
	// EachEdge emits the code that visits every edge of every active vertex once. It begins in the phase registration.
	// Of a layout that has a rest it is asked for both one after the other, unless it Owns rows: then Site.Row walks
	// both.
	EachEdge func(s *Site, v *Visitor)
	// Scratchpad is how many words of a core's it takes; nil of one that is added: none.
	Scratchpad func(c Core, scan Scan) int
	// Arrays are those in memory that are its own.
	Arrays []Array
}

// Array is one that a schedule's kernels fill and read, within a launch.
type Array struct {
	Name string
	// Words is how long it is, for as many places as a walk over the active set may have, on a device of so many warps.
	Words func(places, warps int) int
	// Zero says that it holds zeros when Register begins.
	Zero bool
}

// Array finds one of the schedule's, by its name or its name for a layout's rest; nil: there is none.
func (s *Schedule) Array(name string) *Array {
	name = strings.TrimSuffix(name, ofRest)
	for i := range s.Arrays {
		if s.Arrays[i].Name == name {
			return &s.Arrays[i]
		}
	}
	return nil
}

// software holds the schedules that need no graph unit, one file each, and then those that were added.
var software = []*Schedule{vertex, edge, warp, cta, twc, twce, strict}

// ofUnits holds the schedules of graph units, one file each, and then those that were added.
var ofUnits = []*Schedule{weaver, graphPEG, hwwl, eghw}

// Own is how many of Software are heddle's own: they come first.
var Own = len(software)

// Software returns the schedules that need no graph unit.
func Software() []*Schedule { return slices.Clone(software) }

// Check refuses a schedule that lacks something, or whose name one of others has. What takes nothing of the scratchpad
// need not say so.
func (s *Schedule) Check(others []string) error {
	if err := registry.Name(s.Name, others); err != nil {
		return err
	}
	switch {
	case s.Doc == "":
		return errors.New("it has no Doc")
	case s.EachEdge == nil:
		return errors.New("it has no EachEdge")
	case s.Owns && !s.Rows:
		return errors.New("it has Owns, and not Rows: a thread owns the row that it walks")
	case s.Unit == "" && (s.Drops || s.Lists || s.Reads || s.Register != nil):
		return errors.New("it has Drops, Lists, Reads or Register, which are of graph units, and no Unit")
	}
	for _, a := range s.Arrays {
		if a.Name == "" || a.Words == nil {
			return errors.New("one of its Arrays has no Name or no Words")
		}
	}
	if s.Scratchpad == nil {
		s.Scratchpad = Nothing
	}
	return nil
}

// Nothing is the scratchpad of a schedule that needs none.
func Nothing(Core, Scan) int { return 0 }

// Keep runs body if v walks its row.
func (s *Site) Keep(v *Visitor, vertex ir.Value, body func()) {
	var yes ir.Value
	s.Phase(isa.PhaseRegistration, func() { yes = v.Keep(vertex) })
	if yes != nil {
		s.When(yes, body)
		return
	}
	body()
}

// LaunchNumber is the number of the launch, of a schedule that has several for a gather.
func (s *Site) LaunchNumber() ir.Value { return s.Count(LaunchWord) }

// LaunchWord is the parameter that has it.
const LaunchWord = "launch"

// Work is a thread's registration: a row and its vertex, its first edge, and how many it has.
type Work struct{ Row, Vertex, Start, Degree ir.Value }

// End is where the vertex's row ends.
func (w *Work) End(s *Site) ir.Value { return s.Add(w.Start, w.Degree) }

// Register reads the row at a place, if there is one, and its edges, if its vertex walks them.
func (s *Site) Register(v *Visitor, place ir.Value, there ir.Value) Work {
	vertex, start, degree := s.Var(s.U32(0)), s.Var(s.U32(0)), s.Var(s.U32(0))
	row := vertex
	if s.Virtual {
		row = s.Var(s.U32(0))
	}
	s.When(there, func() {
		row.Set(s.Set.Vertex(place))
		if s.Virtual {
			vertex.Set(s.View.Vertex(row.Get()))
		}
		s.Keep(v, vertex.Get(), func() {
			edges := s.View.Neighbours(row.Get(), vertex.Get())
			start.Set(edges.Begin)
			degree.Set(s.Sub(edges.End, edges.Begin))
		})
	})
	return Work{row.Get(), vertex.Get(), start.Get(), degree.Get()}
}

// Visit hands an edge over.
func (s *Site) Visit(v *Visitor, id, vertex ir.Value, stop func()) {
	s.held(id, vertex, func() {
		s.Edge()
		e := s.ReadEdge(id, vertex)
		s.Gather(v, &e, stop)
	})
}

// ReadEdge reads an edge of the row of base.
func (s *Site) ReadEdge(id, base ir.Value) (e layout.Edge) {
	s.Phase(isa.PhaseEdgeAccess, func() { e = s.View.Edge(id, base) })
	return e
}

// ahead reads the other end of edge id, or of the one behind the last, which is not asked for.
func (s *Site) ahead(id, base ir.Value) (other ir.Value) {
	s.Phase(isa.PhaseEdgeAccess, func() { other = s.View.Other(id, base) })
	return other
}

// visitTo hands an edge over whose other end has been read.
func (s *Site) visitTo(v *Visitor, id, vertex, other ir.Value, stop func()) {
	s.held(id, vertex, func() {
		s.Edge()
		e := s.View.EdgeTo(id, vertex, other)
		s.Gather(v, &e, stop)
	})
}

// Gather has the visitor handle an edge. To drop the rest of its row is the schedule's.
func (s *Site) Gather(v *Visitor, e *layout.Edge, stop func()) {
	s.Phase(isa.PhaseGatherSum, func() {
		v.Edge(e, func() { s.Phase(isa.PhaseSchedule, stop) })
	})
}

// GoOn is for schedules that cannot drop the rest of a row.
func GoOn() {}
