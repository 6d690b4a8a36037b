// Package schedule holds edge schedules, which map edges to threads (GRAssembler, PACT '22, §2.2 and Table 2;
// SparseWeaver, HPCA 2025, §III-A). Each has a function EachEdge that emits registration, distribution, and the walk
// over a thread's edges.
//
// A schedule obtains rows and edges from a layout and vertices from an active set, and knows neither by name; a Visitor
// handles the edges.
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

// Site is the context in which a schedule emits: the kernel, the layout and the active set.
type Site struct {
	*emit.Kernel
	View layout.View
	Rest *Rest      // the part of the layout beside View; nil: none
	Rows layout.End // the end that rows belong to
	Dir  direction.Direction
	// Set contains the rows to walk. A row has the number of its vertex or, with Virtual, of its virtual vertex.
	Set     activeset.Set
	Virtual bool
	Scan    Scan
	Core    Core
	// Empty is set if Set can be empty although the gather runs.
	Empty bool
	// All: every vertex walks its row.
	All bool
	// Ahead: a thread that walks a row reads the next edge while it handles one.
	Ahead bool
	// Decides: the first edge that counts decides a vertex, and the rest of its row has no effect.
	Decides bool
	// Unrolled makes the steps of a scan over a warp follow each other in place of a loop, as nvcc has it.
	Unrolled bool
	// Width is the length of vertices' vectors; 0: 1. A schedule that assigns each component to a thread sets Component
	// to the thread's while it emits the handling of a row; nil: the thread handles all.
	Width     int
	Component ir.Value
	// Numbered is told how many edges a schedule with Numbers is about to walk; nil: no one asks. Number is that of the
	// edge being handled.
	Numbered func(edges ir.Value)
	Number   ir.Value

	arrays      []Array // the schedule's arrays
	arraySuffix string  // suffix of their names for the current part of the layout
}

// AllRows is the set of all rows of a layout with virtual vertices, active or not: the walk tests the vertex of each.
type AllRows struct {
	activeset.Set
	View layout.View
}

// Places returns the number of rows.
func (r AllRows) Places() ir.Value { return r.View.RowCount() }

// Vertex returns the row at an index.
func (r AllRows) Vertex(place ir.Value) ir.Value { return place }

// Core is the part of a core that a kernel uses. Schedules depend on it at compile time.
type Core struct {
	Warps, Lanes int
	Block        int // warps of a thread block, a divisor of Warps; 0: all
	Variant      Variant
}

// Threads returns the number of a core's lanes that run a kernel.
func (c Core) Threads() int { return c.Warps * c.Lanes }

// BlockWarps returns the number of warps of a thread block.
func (c Core) BlockWarps() int {
	if c.Block == 0 {
		return c.Warps
	}
	return c.Block
}

// InBlock returns the warp's number in its thread block, and the number of the block's first warp in the core; nil: 0.
func (s *Site) InBlock() (number, first ir.Value) {
	size := s.Core.BlockWarps()
	if size == s.Core.Warps {
		return s.WarpID(), nil
	}
	n := s.U32(uint32(size))
	first = s.Mul(s.Div(s.WarpID(), n), n)
	return s.Sub(s.WarpID(), first), first
}

// OfBlock returns the number in the core of a warp with a number in the thread block.
func (s *Site) OfBlock(first, number ir.Value) ir.Value {
	if first == nil {
		return number
	}
	return s.Add(first, number)
}

// Scan is the means by which lanes of a warp exchange values.
type Scan string

// Means of exchange.
const (
	Shuffle    Scan = "shuffle"
	Scratchpad Scan = "scratchpad"
)

// Variant is whose code a schedule has.
type Variant string

// Variants. GraphIt is as GraphIt's runtime for GPUs (its load_balance.h), which UGF's thesis evaluates; SEPGraph is as
// SEP-Graph's code (its cta_scheduler_hybrid.cuh), which GraphPEG compares with; Gunrock is as Gunrock 1.1's code (its
// AE_advance), with which both compare.
const (
	OwnCode  Variant = "own"
	GraphIt  Variant = "graphit"
	SEPGraph Variant = "sep-graph"
	Gunrock  Variant = "gunrock"
)

// Variants returns all values, the default first.
func Variants() []Variant { return []Variant{OwnCode, GraphIt, SEPGraph, Gunrock} }

// Skip is the time at which kernels tell a unit to drop the rest of a vertex's edges.
type Skip string

// Times of dropping.
const (
	Early    Skip = "early"    // at each edge that decides the vertex, before its contribution is added
	Filtered Skip = "filtered" // at each edge whose vertex is already decided (SparseWeaver, HPCA 2025, Fig. 9)
)

// Skips returns all values, the default first.
func Skips() []Skip { return []Skip{Early, Filtered} }

// Scans returns all values, the default first.
func Scans() []Scan { return []Scan{Shuffle, Scratchpad} }

// Visitor holds the callbacks by which a schedule emits the handling of rows and edges.
type Visitor struct {
	// Keep returns the condition under which a vertex walks its row; nil: always.
	Keep func(v ir.Value) ir.Value
	// Row encloses the walk of a row by a thread, a warp or a thread block, of so many threads; nil: nothing does. Only
	// schedules that own rows call it, with one thread, and twc.
	Row func(v ir.Value, threads int, walk func())
	// Enter and Leave enclose the edges of a shard: they set up its sums in the scratchpad, and take them from there.
	// Only schedules by shard call them, in all threads of the block, with a barrier behind Enter and before Leave.
	Enter, Leave func(sh *Shard)
	// Edge handles an edge. stop drops the rest of the row if the schedule can.
	Edge func(e *layout.Edge, stop func())
}

// Schedule describes a mapping of edges to threads: its code, and the capabilities by which package compose decides
// which combinations are legal and which kernels they need. A capability that is nil or 0 is one that it lacks.
type Schedule struct {
	Name string
	Doc  string
	// EachEdge emits the code that visits every edge of every active vertex once, beginning in the phase registration.
	// For a layout with a rest, it is called for both parts in turn, unless threads own their rows: then Site.Row walks
	// both.
	EachEdge func(s *Site, v *Visitor)
	Rows     Rows     // the rows that it walks
	Sharing  *Sharing // among threads that divide their rows' edges; nil: threads exchange nothing
	// Others holds what threads exchange in the code of a variant, where that is more than in its own.
	Others map[Variant]*Sharing
	Unit   *UnitUse     // of a graph unit; nil: a software schedule
	Before *Preparation // a kernel that precedes gathers; nil: that which fills the unit's lists, if it has any
	// Numbers: edges of active vertices have numbers, from 0 on (Site.Number), unless every vertex walks its row.
	Numbers bool
	// Shards: a thread block takes a shard, as the layout has them (layout.Shards), and sums up in the scratchpad.
	Shards bool
	// Launches names the launches of a gather, each of which runs the gather kernel once; nil: a single one. The kernel
	// distinguishes them by Site.LaunchNumber.
	Launches []string
	// Arrays lists its own arrays in memory.
	Arrays []Array
}

// Rows is a schedule's use of the rows that the layout has for the direction, in ascending order of the part that a
// thread has to itself.
type Rows uint8

// Uses of rows.
const (
	NoRows       Rows = iota // it goes through the slots of all edges
	RowsShared               // several threads or a graph unit walk a row
	RowsMixed                // some rows are walked by one thread each
	RowsOwned                // each row is walked by one thread
	RowsByNumber             // each component of a vertex's vector is handled by one thread, which walks the row
)

// Walked reports whether the schedule walks rows.
func (r Rows) Walked() bool { return r != NoRows }

// Alone reports whether a thread walks some row alone.
func (r Rows) Alone() bool { return r >= RowsMixed }

// Shared reports whether several threads walk some row.
func (r Rows) Shared() bool { return r == RowsShared || r == RowsMixed }

// Owned reports whether one thread walks each row.
func (r Rows) Owned() bool { return r >= RowsOwned }

// Sharing describes threads that exchange values, by the means of the workload's key scan. Its methods accept nil.
type Sharing struct {
	// Blocks: threads share work by thread blocks, which may be parts of a core, so that the workload's key cta_threads
	// applies.
	Blocks bool
	// Variants lists those whose code the schedule has besides OwnCode.
	Variants []Variant
	// Crosses: a kernel reads words that other cores stored before a device-wide barrier.
	Crosses bool
	// Scratchpad returns the number of words of a core's scratchpad that the exchange takes; nil: none.
	Scratchpad func(c Core, scan Scan) int
}

// ByBlocks reports whether thread blocks share work.
func (s *Sharing) ByBlocks() bool { return s != nil && s.Blocks }

// Has reports whether the schedule has a variant's code.
func (s *Sharing) Has(v Variant) bool {
	return v == "" || v == OwnCode || s != nil && slices.Contains(s.Variants, v)
}

// AcrossCores reports whether cores exchange values within a kernel.
func (s *Sharing) AcrossCores() bool { return s != nil && s.Crosses }

// ScratchpadWords returns the number of words of a core's scratchpad that the exchange takes.
func (s *Sharing) ScratchpadWords(c Core, scan Scan) int {
	if s == nil || s.Scratchpad == nil {
		return 0
	}
	return s.Scratchpad(c, scan)
}

// As returns what threads exchange in the code of a variant; nil: nothing.
func (s *Schedule) As(v Variant) *Sharing {
	if other := s.Others[v]; other != nil {
		return other
	}
	return s.Sharing
}

// Has reports whether the schedule has a variant's code.
func (s *Schedule) Has(v Variant) bool { return s.Others[v] != nil || s.Sharing.Has(v) }

// ByBlocks reports whether thread blocks share work in the code of a variant, and may be parts of a core.
func (s *Schedule) ByBlocks(v Variant) bool { return s.Shards || s.As(v).ByBlocks() }

// UnitUse describes the part of a graph unit in a schedule. Its methods accept nil.
type UnitUse struct {
	Name  string
	Drops bool   // it can be told to drop the remaining edges of a vertex
	Reads bool   // it reads the rows
	Lists *Lists // it takes vertices from its lists; nil: it has none
}

// Lists describes a unit's lists of vertices, which are filled before the launch.
type Lists struct {
	Ops ir.ListOps // the instructions that fill and read them
	Far bool       // there is one for near-far's far pile
}

// UnitName returns the name of the graph unit that the schedule needs; "": none.
func (s *Schedule) UnitName() string {
	if s.Unit == nil {
		return ""
	}
	return s.Unit.Name
}

// DropsEdges reports whether the unit can be told to drop the remaining edges of a vertex.
func (u *UnitUse) DropsEdges() bool { return u != nil && u.Drops }

// ReadsRows reports whether the unit reads the rows.
func (u *UnitUse) ReadsRows() bool { return u != nil && u.Reads }

// HasLists reports whether the unit takes vertices from its lists.
func (u *UnitUse) HasLists() bool { return u != nil && u.Lists != nil }

// HasFarList reports whether one of the unit's lists is for near-far's far pile.
func (u *UnitUse) HasFarList() bool { return u.HasLists() && u.Lists.Far }

// ListOps returns the instructions of the unit's lists.
func (s *Schedule) ListOps() (ops ir.ListOps) {
	if s.Unit.HasLists() {
		ops = s.Unit.Lists.Ops
	}
	return ops
}

// Preparation is a kernel that precedes each gather in which only some vertices walk their rows, and prepares those.
type Preparation struct {
	Emit func(s *Site, v *Visitor)
	// Always: it also precedes gathers in which every vertex walks its row.
	Always bool
}

// fillLists prepares a unit's lists.
var fillLists = &Preparation{Emit: toLists}

// Preparation returns the kernel that precedes gathers; nil: there is none.
func (s *Schedule) Preparation() *Preparation {
	if s.Before == nil && s.Unit.HasLists() {
		return fillLists
	}
	return s.Before
}

// Array is an array that a schedule's kernels fill and read within a launch.
type Array struct {
	Name string
	// Words returns its length, given the largest size of a walk over the active set, and the warps of the device.
	Words func(places, warps int) int
	// Zero: the array is zeroed before the preparation, or before the gather without one.
	Zero bool
}

// Array returns the schedule's array with a name, or a name for a layout's rest; nil: none.
func (s *Schedule) Array(name string) *Array {
	name = strings.TrimSuffix(name, ofRest)
	for i := range s.Arrays {
		if s.Arrays[i].Name == name {
			return &s.Arrays[i]
		}
	}
	return nil
}

// software holds the schedules that need no graph unit, one file each, followed by registered ones.
var software = []*Schedule{vertex, edge, warp, cta, twc, twce, strict, shard}

// ofUnits holds the schedules of graph units, one file each, followed by registered ones.
var ofUnits = []*Schedule{weaver, graphPEG, hwwl, eghw}

// Own is the number of built-in schedules, which come first in Software.
var Own = len(software)

// Software returns the schedules that need no graph unit.
func Software() []*Schedule { return slices.Clone(software) }

// Check returns an error for an incomplete schedule, or one with a name among others.
func (s *Schedule) Check(others []string) error {
	if err := registry.Name(s.Name, others); err != nil {
		return err
	}
	switch {
	case s.Doc == "":
		return errors.New("it has no Doc")
	case s.EachEdge == nil:
		return errors.New("it has no EachEdge")
	case s.Before != nil && s.Before.Emit == nil:
		return errors.New("its Before has no Emit")
	}
	for _, a := range s.Arrays {
		if a.Name == "" || a.Words == nil {
			return errors.New("one of its Arrays has no Name or no Words")
		}
	}
	return nil
}

// walkRow emits the walk of a row by a group of threads.
func (v *Visitor) walkRow(vertex ir.Value, threads int, walk func()) {
	if v.Row == nil {
		walk()
		return
	}
	v.Row(vertex, threads, walk)
}

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

// LaunchNumber returns the number of the launch in a gather.
func (s *Site) LaunchNumber() ir.Value { return s.Count(LaunchWord) }

// LaunchWord is the parameter for LaunchNumber.
const LaunchWord = "launch"

// Work is a thread's registration: a row and its vertex, its first edge, and the number of edges.
type Work struct{ Row, Vertex, Start, Degree ir.Value }

// End returns the end of the row.
func (w *Work) End(s *Site) ir.Value { return s.Add(w.Start, w.Degree) }

// Register reads the row at an index in the lanes for which there holds, and the bounds of its edges if its vertex
// walks it; the degree is 0 otherwise.
func (s *Site) Register(v *Visitor, place ir.Value, there ir.Value) Work {
	vertex, start := s.Var(s.U32(0)).Named("vertex"), s.Var(s.U32(0)).Named("first_edge")
	degree := s.Var(s.U32(0)).Named("degree")
	row := vertex
	if s.Virtual {
		row = s.Var(s.U32(0)).Named("row")
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

// Visit reads an edge and passes it to the visitor.
func (s *Site) Visit(v *Visitor, id, vertex ir.Value, stop func()) {
	s.whereEdge(id, vertex, func() {
		s.Edge()
		e := s.ReadEdge(id, vertex)
		s.Gather(v, &e, stop)
	})
}

// visitAll visits edges of a vertex's row in turn.
func (s *Site) visitAll(v *Visitor, ids []ir.Value, vertex ir.Value, stop func()) {
	for _, id := range ids {
		s.Visit(v, id, vertex, stop)
	}
}

// ReadEdge reads an edge of base's row.
func (s *Site) ReadEdge(id, base ir.Value) (e layout.Edge) {
	s.Phase(isa.PhaseEdgeAccess, func() { e = s.View.Edge(id, base) })
	return e
}

// readOther reads the other end of edge id, which may be one past the last, whose value is not used.
func (s *Site) readOther(id, base ir.Value) (other ir.Value) {
	s.Phase(isa.PhaseEdgeAccess, func() { other = s.View.Other(id, base) })
	return other
}

// visitTo visits an edge whose other end has been read.
func (s *Site) visitTo(v *Visitor, id, vertex, other ir.Value, stop func()) {
	s.whereEdge(id, vertex, func() {
		s.Edge()
		e := s.View.EdgeTo(id, vertex, other)
		s.Gather(v, &e, stop)
	})
}

// Gather passes an edge to the visitor, which calls stop to drop the rest of the row.
func (s *Site) Gather(v *Visitor, e *layout.Edge, stop func()) {
	s.Phase(isa.PhaseGatherSum, func() {
		v.Edge(e, func() { s.Phase(isa.PhaseSchedule, stop) })
	})
}

// GoOn is the stop of schedules that cannot drop the rest of a row.
func GoOn() {}
