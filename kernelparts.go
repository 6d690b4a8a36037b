package heddle

import (
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/lower"
	"heddle/internal/registry"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/feature"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
	"heddle/kernels/schedule"
)

// Types of a schedule, which assigns edges to lanes.
type (
	// Schedule describes an edge schedule: EachEdge emits the code that visits every edge of every active vertex once.
	Schedule = schedule.Schedule
	// Site is the context that a schedule emits into: a Kernel, with the layout's View, the active Set, and the Core.
	Site = schedule.Site
	// Visitor holds the callbacks that a schedule invokes for vertices and edges.
	Visitor = schedule.Visitor
	// Work is a thread's registration: a vertex, its first edge, and its number of edges.
	Work = schedule.Work
	// Exchange names the memory through which lanes exchange values.
	Exchange = schedule.Exchange
	// Core is the part of a core that a kernel uses: warps, lanes, warps of a thread block.
	Core = schedule.Core
	// Scan selects the means by which lanes exchange values.
	Scan = schedule.Scan
	// Rows is a schedule's use of the layout's rows.
	Rows = schedule.Rows
	// Sharing describes threads of a schedule that exchange values to divide their rows' edges.
	Sharing = schedule.Sharing
	// UnitUse describes the part of a graph unit in a schedule.
	UnitUse = schedule.UnitUse
	// UnitLists describes a graph unit's lists of vertices.
	UnitLists = schedule.Lists
	// Preparation is a kernel of a schedule that precedes gathers.
	Preparation = schedule.Preparation
	// ScheduleArray is an array that a schedule's kernels fill and read.
	ScheduleArray = schedule.Array
)

// Uses of the layout's rows by a schedule.
const (
	NoRows       = schedule.NoRows
	RowsShared   = schedule.RowsShared
	RowsMixed    = schedule.RowsMixed
	RowsOwned    = schedule.RowsOwned
	RowsByNumber = schedule.RowsByNumber
)

// Types of a layout: how edges lie in memory.
type (
	// Layout describes a topology layout.
	Layout = layout.Layout
	// LayoutSite is the context that a layout's View emits into.
	LayoutSite = layout.Site
	// LayoutArray is one of a layout's own arrays.
	LayoutArray = layout.Array
	// Virtual describes rows that belong to virtual vertices.
	Virtual = layout.Virtual
	// Span is the range of a row's edges.
	Span = layout.Span
	// View is a layout in a kernel: its methods emit the code that reads it.
	View = layout.View
	// Edge is an edge in a kernel: its ends, and its weight.
	Edge = layout.Edge
	// End is an end of an edge.
	End = layout.End
	// Direction is the direction in which edges are traversed.
	Direction = direction.Direction
	// WeightKind is the type of a graph's weights: none, integers or floats.
	WeightKind = graph.WeightKind
)

// Ends of an edge, and directions: Push walks the out-edges of sources, Pull the in-edges of destinations.
const (
	Source      = layout.Source
	Destination = layout.Destination
	Push        = direction.Push
	Pull        = direction.Pull
)

// Types of an algorithm: a vertex program.
type (
	// Algorithm describes a vertex program: its arrays, the contribution of an edge, the reduction, and the check.
	Algorithm = algorithm.Algorithm
	// Array is an array with a value per vertex.
	Array = algorithm.Array
	// Problem is an algorithm's input: the graph, the source, parameters.
	Problem = algorithm.Problem
	// Outcome is a run's result, for Algorithm.Check.
	Outcome = algorithm.Outcome
	// Stopped verifies a run that workload.max_iterations has stopped, for Algorithm.Stopped.
	Stopped = algorithm.Stopped
	// Undone is the remaining work of such a run.
	Undone = reference.Undone
	// Reduction describes how the values that reach a vertex are combined.
	Reduction = emit.Reduction
)

// Types of an algorithm on features: functions of edges and of vertices, each for all k features.
type (
	// FeatureAlgorithm describes an algorithm on features: its properties, its functions, and the reference that
	// verifies every super-step.
	FeatureAlgorithm = feature.Algorithm
	// FeatureProperty is an array of words of each vertex or edge.
	FeatureProperty = feature.Property
	// EdgeFunc is a function of an edge: it adds to a property of the destination, or leaves values for later
	// functions.
	EdgeFunc = feature.EdgeFunc
	// VertexFunc is a function of a vertex: the last one's value is the vertex's next value.
	VertexFunc = feature.VertexFunc
	// Group is the context that functions emit into: a Kernel, with the operations of the lanes that share an edge or a
	// vertex.
	Group = feature.Group
	// FeatureEdge is an edge in a function.
	FeatureEdge = feature.Edge
	// Place is the location of a vertex's or an edge's features, and FeatureIndex selects one.
	Place = feature.Place
	// FeatureIndex selects one of a lane's features.
	FeatureIndex = feature.Index
	// Feature is a value per feature.
	Feature = feature.Feature
	// FeatureReference is the algorithm in float64.
	FeatureReference = feature.Reference
	// FeatureProblem is an algorithm's input: the graph, k, parameters.
	FeatureProblem = feature.Problem
	// HostEdge is an edge as the reference sees it.
	HostEdge = feature.HostEdge
)

// Reductions that algorithms share; an algorithm may define its own *Reduction.
var (
	AddF32   = emit.AddF32   // a sum of floats; the array is initially zero
	AddU32   = emit.AddU32   // a sum of integers modulo 2^32; the same. A Check compares with EqualSums
	MinU32   = emit.MinU32   // a minimum; vertices whose value falls are active next
	ClaimU32 = emit.ClaimU32 // the first value for a word that is all ones
)

// Equal compares a result with the reference's, for Algorithm.Check: the error names the first vertex that differs, and
// wraps ErrWrong. what is the name of the quantity.
func Equal(what string, result, want []uint32) error { return reference.Equal(what, result, want) }

// EqualSums is Equal for integers that the reference has added up in 64 bits: one that does not fit the machine's 32 is
// refused by its vertex, where a sum in 32 bits would wrap as the machine's does.
func EqualSums(what string, result []uint32, want []uint64) error {
	return reference.EqualSums(what, result, want)
}

// ErrWrong is wrapped by the errors of results that differ from the reference; a Check with its own comparison wraps
// it.
var ErrWrong = reference.ErrWrong

// Compressed returns the view of heddle's layouts csr and csc; a layout's view may embed it and override methods.
func Compressed(s LayoutSite) View { return layout.Compressed(s) }

// GoOn is the stop callback of a schedule that cannot skip the rest of a row.
func GoOn() { schedule.GoOn() }

// WithSchedule returns the entry that adds a schedule, for cmd.Main or Register: workload.schedule then accepts its
// name, with every algorithm, layout and active set that is compatible. The schedule of a graph unit has a Unit that
// names it.
func WithSchedule(s *Schedule) Entry {
	return registry.New("schedule", named(s != nil, func() string { return s.Name }),
		func() error { return schedule.Add(s) })
}

// WithAlgorithm returns the entry that adds an algorithm: workload.algorithm then accepts its name, under every
// schedule.
func WithAlgorithm(a *Algorithm) Entry {
	name := named(a != nil, func() string { return a.Name })
	return registry.New("algorithm", name, func() error {
		if _, err := feature.ByName(name); err == nil {
			return registry.ErrTaken
		}
		return algorithm.Add(a)
	})
}

// WithFeatures returns the entry that adds an algorithm on features: workload.algorithm then accepts its name, under
// every schedule and with the choices of workload.features.
func WithFeatures(a *FeatureAlgorithm) Entry {
	name := named(a != nil, func() string { return a.Name })
	return registry.New("algorithm", name, func() error {
		if _, err := algorithm.ByName(name); err == nil {
			return registry.ErrTaken
		}
		return feature.Add(a)
	})
}

// WithLayout returns the entry that adds a layout: workload.layout then accepts its name.
func WithLayout(l *Layout) Entry {
	return registry.New("layout", named(l != nil, func() string { return l.Name }),
		func() error { return layout.Add(l) })
}

// Extern is a Go function that GraphIt programs call as an extern function.
type Extern = graphit.Extern

// ExternCall is a call of an extern function by a program's main.
type ExternCall = graphit.ExternCall

// WithExtern returns the entry that adds an extern function of GraphIt programs. emitted emits a call of it by
// functions of edges and vertices on the machine; nil: only main may call it.
func WithExtern(x *Extern, emitted func(k *emit.Kernel, args []Value) Value) Entry {
	return registry.New("extern", named(x != nil, func() string { return x.Signature }),
		func() error { return lower.AddExtern(x, emitted) })
}

func named(there bool, name func() string) string {
	if !there {
		return ""
	}
	return name()
}
