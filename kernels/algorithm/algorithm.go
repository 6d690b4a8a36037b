// Package algorithm holds graph algorithms as their user-defined functions (GRAssembler, PACT '22, Table 2): init,
// gather, sum, apply, filters, and termination. Each is written once and knows no schedule, layout or active set.
package algorithm

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/graph"
	"heddle/internal/registry"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// Algorithm describes a vertex program: its arrays, user functions and reduction, and the check of its result.
type Algorithm struct {
	Name string
	Doc  string

	// Dense is set if all vertices are active in every super-step.
	Dense bool
	// Single is set if the algorithm has a single super-step.
	Single bool
	// FromSource is set if one vertex is initially active; otherwise all are.
	FromSource bool
	// Target is set if a second vertex is initially active.
	Target bool
	// PushOnly is set if the algorithm has no pull: an edge's effect depends on its source having left, or edges change
	// vertices at both ends (GraphPEG, ACM TACO 2021, §4.4).
	PushOnly bool
	// Undirected is set if the graph must have every edge in both directions.
	Undirected bool
	// NoLoops is set if the graph must have no self-loops.
	NoLoops bool
	// NoDuplicates is set if the graph must have no duplicate edges.
	NoDuplicates bool
	// Weighted is set if edges have lengths, which are non-negative integers.
	Weighted bool
	// NeedsSet is set if a vertex's values do not determine whether it is active, so that an active set that only
	// counts is insufficient.
	NeedsSet bool
	// Ordered is set if processing vertices with small values first saves work: the reduction is a minimum, and an
	// edge's contribution is no smaller than its source's value.
	Ordered bool
	// Once is set if a vertex becomes active at most once, so that a pull can skip the rest of its row, unless the
	// reduction needs it.
	Once bool

	// Vector names the array of the vertices' vectors of Width numbers, if the algorithm has one: an edge's
	// contribution is Gather's value times its source's vector, and Into holds vectors too. "": single numbers.
	Vector string

	// Arrays are the vertices' values.
	Arrays []Array
	// Result is the array that is verified.
	Result string
	// Sum reduces the contributions that Gather returns, and Into is the array of the results. If Sum adds, Into must
	// hold zeros when a gather begins: Init and Apply ensure it.
	Sum  *emit.Reduction
	Into string

	// Init sets vertex v's initial values; with vectors, element number v of all of them.
	Init func(k *emit.Kernel, v ir.Value)
	// SrcFilter reports from v's values whether it may be active, where the set cannot be tested; nil: it may.
	SrcFilter func(k *emit.Kernel, v ir.Value) ir.Value
	// DstFilter reports whether v still accepts a contribution; nil: always. It is evaluated once per row in pull; in
	// push at every edge, but only if the reduction does not imply it.
	DstFilter func(k *emit.Kernel, v ir.Value) ir.Value
	// Asked is set if the reduction does not imply DstFilter, so that it is evaluated at every edge in push.
	Asked bool
	// EdgeFilter reports whether an edge contributes; nil: every edge does.
	EdgeFilter func(k *emit.Kernel, e *layout.Edge) ir.Value
	// Hook processes an edge instead of Gather in algorithms that join trees: where useful, value is reduced at vertex
	// to, which need not be an end of the edge. Every super-step visits every edge, until one changes nothing.
	Hook func(k *emit.Kernel, e *layout.Edge) (to, value, useful ir.Value)
	// Body processes an edge instead of Gather where that takes more than one reduction: it updates arrays itself, by
	// atomics where threads may share an element, and calls changed for each vertex that it activates. nil: Gather
	// applies.
	Body func(k *emit.Kernel, e *layout.Edge, changed func(v ir.Value))
	// Row encloses the walk of all edges that Body adds up at a vertex by a thread, a warp or a thread block, of so many
	// threads, where the schedule has such walks; nil: nothing does.
	Row func(k *emit.Kernel, v ir.Value, threads int, walk func())
	// Before is emitted at the start of a kernel that processes edges by Body, and After at its end, where all lanes
	// are active; nil: nothing.
	Before, After func(k *emit.Kernel)
	// Unsettled is a DstFilter for pull that uses the host's knowledge of a super-step: bound is a lower bound of its
	// edges' contributions, returned by Bound. nil: none.
	Unsettled func(k *emit.Kernel, v ir.Value) ir.Value
	Bound     func(p *Problem, active, values []uint32) uint32
	// CountsFirst is set if all vertices are active in a separate super-step before round 0.
	CountsFirst bool
	// Seed reports whether v becomes active in a new round, whose number, from 0, is in round; nil: there is a single
	// round. With Seed no vertex is initially active; a round begins when no vertex is active, until every vertex has
	// been.
	Seed func(k *emit.Kernel, v ir.Value) ir.Value
	// Changed is emitted for a vertex that becomes active; nil: nothing.
	Changed func(k *emit.Kernel, v ir.Value)
	// Silent is set if no vertex becomes active, whatever changes the reduction reports.
	Silent bool
	// Stop is an array whose first word ends the run once it is non-zero; empty: none.
	Stop string
	// Gather returns the contribution of an edge.
	Gather func(k *emit.Kernel, e *layout.Edge) ir.Value
	// GatherBy replaces Gather where the contribution is a coefficient with several ways to compute it; nil: Gather
	// applies.
	GatherBy func(k *emit.Kernel, e *layout.Edge, by *Coefficient) ir.Value
	// Apply ends a super-step for v; nil: nothing to do. If residuals are requested, it calls residual with the size of
	// v's change.
	Apply func(k *emit.Kernel, v ir.Value, residual func(change ir.Value))
	// Sends is Apply in an algorithm whose reduction does not determine the next active vertices: it reports whether v
	// is active in the next super-step. With Sends a run may have a tolerance.
	Sends func(k *emit.Kernel, v ir.Value, residual func(change ir.Value)) (active ir.Value)
	// Cut is set if a run stopped by max_iterations has a result although vertices are active.
	Cut bool
	// Stopped verifies such a run where its progress is part of the result. With nil, and neither Cut nor Dense, it
	// cannot be verified, and max_iterations is not available.
	Stopped *Stopped
	// Back returns through the super-steps once no vertex is active, from the last but one (the last has no successor)
	// to the second (the first is the source's): the active vertices of each push once more, with its number, from 0,
	// in depth. Back's SrcFilter determines from depth and a vertex's values whether it was active. nil: no backward
	// pass. With Back a vertex is active at most once in a run.
	Back *Algorithm
	// ToSource is set if contributions are reduced at an edge's source.
	ToSource bool

	// Words returns the algorithm's parameters, floats as their bits; all algorithms have source and step (from 1).
	Words func(p *Problem) map[string]uint32
	// Fits returns an error for problems whose numbers exceed the kernels' types; nil: all fit.
	Fits func(p *Problem) error
	// Exact is set if the result is bit-identical whatever the distribution of work.
	Exact bool
	// Range returns the reference's floats after some super-steps, and the bounds of a result's error; nil: the result
	// is no float, or its bound has further inputs.
	Range func(p *Problem, steps int) (want, bound []float64)
	// Check compares the result with the reference.
	Check func(p *Problem, o *Outcome) error
}

// Stopped verifies a run that max_iterations stopped while vertices were active.
type Stopped struct {
	// Check compares the result with the reference's state after as many super-steps.
	Check func(p *Problem, o *Outcome) error
	// Alike is set if all runs reach the same state after as many super-steps. In other algorithms a value may already
	// be used in the super-step that produces it, so that states differ.
	Alike bool
}

// Array is an array with a value per vertex.
type Array struct {
	Name string
	Data func(p *Problem) []uint32 // nil: filled by kernels
}

// Problem describes the computation: graph, source vertices and parameters.
type Problem struct {
	Graph     *graph.Graph
	Source    uint32
	Target    uint32
	Damping   float64
	Tolerance float64
	Threshold float64 // the least change that is sent, relative to the vertex's value
	Seed      uint64
	Width     int // numbers per vector; 1 without vectors

	Coefficient *Coefficient // how the coefficient is computed, if there is one
}

// Outcome is the result of a run.
type Outcome struct {
	Result    []uint32
	Steps     int
	Stopped   bool      // ended by Stop
	Ended     bool      // ended because no vertex was active
	Residuals []float32 // of the super-steps, if the run has a tolerance

	Undone *reference.Undone // remaining work at max_iterations, for algorithms with Stopped; nil: none
}

// Verify compares with the reference, at the end of the run or where max_iterations stopped it.
func (a *Algorithm) Verify(p *Problem, o *Outcome) error {
	if o.Undone != nil {
		return a.Stopped.Check(p, o)
	}
	return a.Check(p, o)
}

// Stops reports whether max_iterations may stop a run while vertices are active.
func (a *Algorithm) Stops() bool { return a.Dense || a.Cut || a.Stopped != nil }

// algorithms holds every algorithm, one file each, followed by registered ones.
var algorithms = []*Algorithm{pageRank, bfs, bfsParents, sssp, cc, ccSoman, spmv, inDegree, spmm, graphSum, kCore,
	kCoreCounted, stCon, colouring, bc, pageRankDelta, triangles}

// Own is the number of built-in algorithms, which come first in Algorithms.
var Own = len(algorithms)

// Algorithms returns every algorithm.
func Algorithms() []*Algorithm { return slices.Clone(algorithms) }

// Add registers an algorithm at program start. It returns an error if a required field is missing or the name is taken.
func Add(a *Algorithm) error {
	if a == nil {
		return errors.New("it is nil")
	}
	var names []string
	for _, x := range algorithms {
		names = append(names, x.Name)
	}
	if err := registry.Name(a.Name, names); err != nil {
		return err
	}
	if err := a.check(); err != nil {
		return err
	}
	algorithms = append(algorithms, a)
	return nil
}

// check returns an error for an incomplete algorithm.
func (a *Algorithm) check() error {
	for _, x := range []struct {
		lacks bool
		what  string
	}{
		{a.Doc == "", "Doc"}, {len(a.Arrays) == 0, "Arrays"}, {!a.has(a.Result), "Result, or it is none of its Arrays"},
		{!a.has(a.Into), "Into, or it is none of its Arrays"}, {a.Sum == nil, "Sum"}, {a.Init == nil, "Init"},
		{a.Gather == nil && a.GatherBy == nil && a.Hook == nil, "Gather"}, {a.Check == nil, "Check"},
		{a.Vector != "" && !a.has(a.Vector), "the array that Vector names"},
		{a.Stop != "" && !a.has(a.Stop), "the array that Stop names"},
		{a.Unsettled != nil && a.Bound == nil, "Bound, which goes with Unsettled"},
		{a.Single && !a.Dense, "Dense, which goes with Single"},
		{a.Dense && a.Sends != nil, "vertices that are not active, and has Sends"},
		{a.Stopped != nil && a.Stopped.Check == nil, "Check of its Stopped"},
		{a.Stopped != nil && (a.Dense || a.Cut || a.Back != nil), "an end of its own, or has Back, and has Stopped"},
	} {
		if x.lacks {
			return fmt.Errorf("it lacks %s", x.what)
		}
	}
	if err := a.Sum.Check(); err != nil {
		return err
	}
	for i, x := range a.Arrays {
		if x.Name == "" || slices.ContainsFunc(a.Arrays[:i], func(y Array) bool { return x.Name == y.Name }) {
			return fmt.Errorf("array %q: expected a name that no other of its Arrays has", x.Name)
		}
	}
	return nil
}

// has reports whether the algorithm declares an array.
func (a *Algorithm) has(array string) bool {
	return slices.ContainsFunc(a.Arrays, func(x Array) bool { return x.Name == array && array != "" })
}

// ByName returns the algorithm with that name.
func ByName(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no algorithm %q", name)
}

// Accepts returns an error for graphs that the algorithm does not support.
func (a *Algorithm) Accepts(g *graph.Graph) error {
	if a.Undirected && !symmetric(g) {
		return fmt.Errorf("%s needs both directions of every edge: give graph.clean.symmetrise: true", a.Name)
	}
	if v, ok := loop(g); ok && a.NoLoops {
		return fmt.Errorf("%s: vertex %d has an edge to itself: give graph.clean.drop_self_loops: true", a.Name, v)
	}
	if v, w, ok := duplicate(g); ok && a.NoDuplicates {
		return fmt.Errorf("%s: the edge from %d to %d is there twice: give graph.clean.drop_duplicates: true", a.Name,
			v, w)
	}
	if a.Weighted {
		return checkLengths(g)
	}
	return nil
}

// Decides reports whether, in pull, the first edge with an active source decides its destination: only undecided
// vertices walk their rows, and later edges of a row change nothing.
func (a *Algorithm) Decides() bool { return a.DstFilter != nil && a.Settles() }

// Applies reports whether a super-step ends with a kernel over all vertices.
func (a *Algorithm) Applies() bool { return a.Apply != nil || a.Sends != nil }

// Converges reports whether a tolerance may end a run. Other runs end when no vertex is active, whatever their apply
// step changes.
func (a *Algorithm) Converges() bool { return a.Dense && a.Apply != nil || a.Sends != nil }

// Settles reports whether, in pull, a changed vertex does not change again.
func (a *Algorithm) Settles() bool { return a.Once && !a.Sum.Blind() }

// Size returns the number of words in an array.
func (a *Algorithm) Size(array string, p *Problem) int {
	if a.Vector != "" && (array == a.Vector || array == a.Into) {
		return p.Graph.Vertices() * p.Width
	}
	return p.Graph.Vertices()
}

// symmetric reports whether every edge has its reverse.
func symmetric(g *graph.Graph) bool {
	out, in := g.CSR(), g.CSC()
	return slices.Equal(out.Offsets, in.Offsets) && slices.Equal(out.IDs, in.IDs)
}

// loop returns a vertex with a self-loop.
func loop(g *graph.Graph) (vertex int, ok bool) {
	for v := range g.Vertices() {
		if slices.Contains(g.CSR().Row(v), uint32(v)) {
			return v, true
		}
	}
	return 0, false
}

// duplicate returns a duplicate edge.
func duplicate(g *graph.Graph) (from int, to uint32, ok bool) {
	for v := range g.Vertices() {
		row := g.CSR().Row(v)
		for i := 1; i < len(row); i++ {
			if row[i] == row[i-1] {
				return v, row[i], true
			}
		}
	}
	return 0, 0, false
}

// none is a word that is no vertex, level or distance.
const none = math.MaxUint32

// set stores a word of a vertex.
func set(k *emit.Kernel, array string, v, value ir.Value) { k.Store(k.Addr(array), v, value) }

// word loads a word of a vertex.
func word(k *emit.Kernel, array string, v ir.Value) ir.Value {
	return k.Load(ir.U32, k.Addr(array), v)
}

// float loads a float of a vertex.
func float(k *emit.Kernel, array string, v ir.Value) ir.Value {
	return k.Load(ir.F32, k.Addr(array), v)
}
