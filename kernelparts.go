package heddle

import (
	"heddle/graph"
	"heddle/internal/registry"
	"heddle/kernels/algorithm"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/feature"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
	"heddle/kernels/schedule"
)

// What a schedule is made of: which lane handles which edge.
type (
	// Schedule describes an edge schedule: EachEdge emits the code that visits every edge of every active vertex once.
	Schedule = schedule.Schedule
	// Site is where a schedule emits: a Kernel, with the layout's View, the active Set, and the Core.
	Site = schedule.Site
	// Visitor holds what a schedule does with vertices and edges.
	Visitor = schedule.Visitor
	// Work is a thread's registration: a vertex, its first edge, how many it has.
	Work = schedule.Work
	// Exchange names where lanes exchange values.
	Exchange = schedule.Exchange
	// Core is the part of a core that a kernel uses: warps, lanes, warps of a thread block.
	Core = schedule.Core
	// Scan says by what lanes exchange values.
	Scan = schedule.Scan
	// ScheduleArray is an array that a schedule's kernels fill and read.
	ScheduleArray = schedule.Array
)

// What a layout is made of: how edges lie in memory.
type (
	// Layout describes a topology layout.
	Layout = layout.Layout
	// LayoutSite is where a layout's View emits.
	LayoutSite = layout.Site
	// LayoutArray is an array of a layout's own.
	LayoutArray = layout.Array
	// Virtual describes rows that are those of virtual vertices.
	Virtual = layout.Virtual
	// Span is where a row's edges are.
	Span = layout.Span
	// View is a layout in a kernel: its methods emit the code that reads it.
	View = layout.View
	// Edge is an edge in a kernel: its ends, and its weight.
	Edge = layout.Edge
	// End is an end of an edge.
	End = layout.End
	// Direction is the way in which edges are walked.
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

// What an algorithm is made of: a vertex program.
type (
	// Algorithm describes a vertex program: its arrays, what an edge brings, how that is summed up, and the check.
	Algorithm = algorithm.Algorithm
	// Array is a value of every vertex.
	Array = algorithm.Array
	// Problem is an algorithm's input: the graph, the source, parameters.
	Problem = algorithm.Problem
	// Outcome is a run's result, for Algorithm.Check.
	Outcome = algorithm.Outcome
	// Stopped checks a run that workload.max_iterations has stopped, for Algorithm.Stopped.
	Stopped = algorithm.Stopped
	// Undone is the remaining work of such a run.
	Undone = reference.Undone
	// Reduction says how what reaches a vertex is summed up.
	Reduction = emit.Reduction
)

// What an algorithm on features is made of: functions of edges and of vertices, each for all k features.
type (
	// FeatureAlgorithm describes an algorithm on features: its properties, its functions, and the reference by which
	// every super-step is checked.
	FeatureAlgorithm = feature.Algorithm
	// FeatureProperty is an array of words of each vertex or edge.
	FeatureProperty = feature.Property
	// EdgeFunc is a function of an edge: it adds to a property of the destination, or leaves values for later ones.
	EdgeFunc = feature.EdgeFunc
	// VertexFunc is a function of a vertex: the last one's value is what the vertex holds next.
	VertexFunc = feature.VertexFunc
	// Group is where functions emit: a Kernel, with what the lanes do that share an edge or a vertex.
	Group = feature.Group
	// FeatureEdge is an edge in a function.
	FeatureEdge = feature.Edge
	// Place is where the features of a vertex or an edge are, and FeatureIndex which one is meant.
	Place = feature.Place
	// FeatureIndex is a feature of a lane's.
	FeatureIndex = feature.Index
	// Feature is a value of each feature.
	Feature = feature.Feature
	// FeatureReference is the algorithm in float64.
	FeatureReference = feature.Reference
	// FeatureProblem is an algorithm's input: the graph, k, parameters.
	FeatureProblem = feature.Problem
	// HostEdge is an edge as the reference sees it.
	HostEdge = feature.HostEdge
)

// Reductions that algorithms share; one of an algorithm's own is a *Reduction of its functions.
var (
	AddF32   = emit.AddF32   // a sum of floats; the array holds zeros at first
	AddU32   = emit.AddU32   // a sum of integers modulo 2^32; the same. A Check compares with EqualSums
	MinU32   = emit.MinU32   // a minimum; vertices that get a smaller value are active next
	ClaimU32 = emit.ClaimU32 // the first value for a word that is all ones
)

// Equal compares a result with the reference's, for Algorithm.Check: an error that names the first vertex that differs,
// and is a wrong result (ErrWrong). what names the quantity.
func Equal(what string, result, want []uint32) error { return reference.Equal(what, result, want) }

// EqualSums is Equal for integers that the reference has added up in 64 bits: one that does not fit the machine's 32 is
// refused by its vertex, where a sum in 32 bits would wrap as the machine's does.
func EqualSums(what string, result []uint32, want []uint64) error { return reference.EqualSums(what, result, want) }

// ErrWrong is in the errors of results that differ from the reference; a Check that compares by itself wraps it.
var ErrWrong = reference.ErrWrong

// Compressed is the view of heddle's layouts csr and csc; a layout may embed it, and have methods of its own.
func Compressed(s LayoutSite) View { return layout.Compressed(s) }

// GoOn is the stop of a schedule that cannot drop the rest of a row.
func GoOn() { schedule.GoOn() }

// WithSchedule makes the entry that adds a schedule, for cmd.Main or Register: workload.schedule then takes its
// name, with every algorithm, layout and active set that it goes with. One of a graph unit names it in Unit.
func WithSchedule(s *Schedule) Entry {
	return registry.New("schedule", named(s != nil, func() string { return s.Name }), func() error { return schedule.Add(s) })
}

// WithAlgorithm makes the entry that adds an algorithm: workload.algorithm then takes its name, under every schedule.
func WithAlgorithm(a *Algorithm) Entry {
	name := named(a != nil, func() string { return a.Name })
	return registry.New("algorithm", name, func() error {
		if _, err := feature.ByName(name); err == nil {
			return registry.ErrTaken
		}
		return algorithm.Add(a)
	})
}

// WithFeatures makes the entry that adds an algorithm on features: workload.algorithm then takes its name, under every
// schedule and with the choices of workload.features.
func WithFeatures(a *FeatureAlgorithm) Entry {
	name := named(a != nil, func() string { return a.Name })
	return registry.New("algorithm", name, func() error {
		if _, err := algorithm.ByName(name); err == nil {
			return registry.ErrTaken
		}
		return feature.Add(a)
	})
}

// WithLayout makes the entry that adds a layout: workload.layout then takes its name.
func WithLayout(l *Layout) Entry {
	return registry.New("layout", named(l != nil, func() string { return l.Name }), func() error { return layout.Add(l) })
}

func named(there bool, name func() string) string {
	if !there {
		return ""
	}
	return name()
}
