// Package algorithm holds graph algorithms as their user-defined functions (GRAssembler,
// CGO 2024, Table 2): init, gather, sum, apply, filters, and when it is over. Each is
// written once and knows no schedule, layout or active set.
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

// Algorithm is a choice.
type Algorithm struct {
	Name string
	Doc  string

	// Dense says that all vertices are active in every super-step.
	Dense bool
	// Single says that one super-step is all there is.
	Single bool
	// FromSource says that one vertex is active at first; otherwise all are.
	FromSource bool
	// Target says that a second vertex is active at first.
	Target bool
	// PushOnly says that there is no pull: what an edge does depends on a vertex's having left, or
	// vertices change at both its ends (GraphPEG, ACM TACO 2021, §4.4).
	PushOnly bool
	// Undirected says that every edge must be there in both directions.
	Undirected bool
	// NoLoops says that no vertex may have an edge to itself.
	NoLoops bool
	// NoDuplicates says that no edge may be there twice.
	NoDuplicates bool
	// Weighted says that edges have lengths, which are integers and not negative.
	Weighted bool
	// NeedsSet says that what a vertex holds does not tell whether it is active, so that a
	// set which only counts is not enough.
	NeedsSet bool
	// Ordered says that vertices with small values had better go first: their sum is a
	// minimum, and what goes along an edge is not smaller than what its source has.
	Ordered bool
	// Once says that a vertex becomes active once, so that in the direction pull the rest of its row
	// can be skipped, unless the sum needs it.
	Once bool

	// Vector names the array in which vertices have vectors of Width numbers, if they have: what an edge
	// brings is Gather's value times its source's vector, and Into takes vectors too. "": single numbers.
	Vector string

	// Arrays are the values of vertices.
	Arrays []Array
	// Result is the array that is checked.
	Result string
	// Sum reduces the values of gather, and Into is the array that takes the results. If Sum adds,
	// Into holds zeros when a gather begins: Init and Apply see to it.
	Sum  *emit.Reduction
	Into string

	// Init gives vertex v its first values; with vectors, number v of them.
	Init func(k *emit.Kernel, v ir.Value)
	// SrcFilter reports by v's values whether it may be active, where the set does not
	// know; nil: it may.
	SrcFilter func(k *emit.Kernel, v ir.Value) ir.Value
	// DstFilter reports whether v still takes anything; nil: always. It is asked once a row in the direction pull; in
	// push at every edge, but only if the sum does not see it.
	DstFilter func(k *emit.Kernel, v ir.Value) ir.Value
	// Asked says that DstFilter decides what the sum does not see, so that it is asked at every edge in push.
	Asked bool
	// EdgeFilter reports whether an edge counts; nil: every edge does.
	EdgeFilter func(k *emit.Kernel, e *layout.Edge) ir.Value
	// Hook processes an edge instead of Gather in algorithms that join trees: value is summed up at vertex to, which
	// need not be an end of the edge, where useful. Every edge is looked at in each super-step until one changes
	// nothing.
	Hook func(k *emit.Kernel, e *layout.Edge) (to, value, useful ir.Value)
	// Body processes an edge instead of Gather where that is more than one sum: it changes arrays by itself, by atomics
	// where threads may meet, and calls changed with a vertex that it makes active. nil: there is a Gather.
	Body func(k *emit.Kernel, e *layout.Edge, changed func(v ir.Value))
	// Before begins a kernel that handles edges by Body, and After ends it, where all lanes run; nil: there is nothing
	// to do.
	Before, After func(k *emit.Kernel)
	// Unsettled is a DstFilter for the direction pull by what the host knows of a super-step: bound is the least that
	// an edge can bring in it, Bound. nil: there is none.
	Unsettled func(k *emit.Kernel, v ir.Value) ir.Value
	Bound     func(p *Problem, active, values []uint32) uint32
	// CountsFirst says that all vertices are active in a super-step of their own before round 0.
	CountsFirst bool
	// Seed reports whether v becomes active in a new round, whose number, from 0, is in round; nil:
	// there is one round. With it nothing is active at first; a round begins when nothing is
	// active, until every vertex has been.
	Seed func(k *emit.Kernel, v ir.Value) ir.Value
	// Changed is done with a vertex that becomes active; nil: nothing.
	Changed func(k *emit.Kernel, v ir.Value)
	// Silent says that nothing becomes active, whatever the sum tells.
	Silent bool
	// Stop is an array whose first word ends the run, when it is not 0; empty: there is none.
	Stop string
	// Gather computes the contribution of an edge.
	Gather func(k *emit.Kernel, e *layout.Edge) ir.Value
	// GatherBy is it where it is a coefficient that can be computed in several ways; nil: Gather says it.
	GatherBy func(k *emit.Kernel, e *layout.Edge, by *Coefficient) ir.Value
	// Apply ends a super-step for v; nil: there is nothing to do. Residual is called with
	// the size of a change, when that is asked for.
	Apply func(k *emit.Kernel, v ir.Value, residual func(change ir.Value))
	// Sends is Apply in an algorithm whose sums do not tell what becomes active: it reports whether v is active in the
	// next super-step. With it a run may have a tolerance.
	Sends func(k *emit.Kernel, v ir.Value, residual func(change ir.Value)) (active ir.Value)
	// Cut says that a run which max_iterations stops has a result, although vertices are active.
	Cut bool
	// Stopped is how such a run is checked where what it has come to is a part of the result; nil, and neither Cut nor
	// Dense: it cannot be checked, and there is no max_iterations.
	Stopped *Stopped
	// Back goes back through the super-steps when nothing is active any more, from the last but one, behind which there
	// is something, to the second, as the first is the source's: its active vertices push once more, and the number of
	// the super-step, from 0, is in depth. Its SrcFilter tells by that and by what a vertex holds whether it was
	// active. nil: there is no way back. With it a vertex is active once in a run.
	Back *Algorithm
	// ToSource says that what an edge brings is summed up at its source.
	ToSource bool

	// Words are its parameters, floats as their bits; source and step (from 1) all have.
	Words func(p *Problem) map[string]uint32
	// Fits refuses problems whose numbers the kernels cannot hold; nil: there are none.
	Fits func(p *Problem) error
	// Exact says that the result is the same words however the work is dealt out.
	Exact bool
	// Range returns the reference's floats after some super-steps, and how far a result may be from them; nil: the
	// result is no float, or one whose range depends on more.
	Range func(p *Problem, steps int) (want, bound []float64)
	// Check compares with the reference.
	Check func(p *Problem, o *Outcome) error
}

// Stopped is how a run is checked that max_iterations has stopped while vertices are active.
type Stopped struct {
	// Check compares with what the reference has come to after as many super-steps.
	Check func(p *Problem, o *Outcome) error
	// Alike says that all runs have come to the same after as many super-steps. In others a value may be used in the
	// super-step that brings it, so that they have come to one or another.
	Alike bool
}

// Array is a value of every vertex.
type Array struct {
	Name string
	Data func(p *Problem) []uint32 // nil: the kernels fill it
}

// Problem describes the computation: graph, source vertices and parameters.
type Problem struct {
	Graph     *graph.Graph
	Source    uint32
	Target    uint32
	Damping   float64
	Tolerance float64
	Threshold float64 // the least change that is sent, as a part of what a vertex holds
	Seed      uint64
	Width     int // numbers of a vertex's vector; 1 without

	Coefficient *Coefficient // how it is computed, where there is one
}

// Outcome is the result of a run.
type Outcome struct {
	Result    []uint32
	Steps     int
	Stopped   bool      // by Stop
	Ended     bool      // no vertex was active any more
	Residuals []float32 // of the super-steps, if there is a tolerance

	Undone *reference.Undone // remaining work at max_iterations, of algorithms with Stopped; nil: none
}

// Verify compares with the reference, at the end of the run or where max_iterations has stopped it.
func (a *Algorithm) Verify(p *Problem, o *Outcome) error {
	if o.Undone != nil {
		return a.Stopped.Check(p, o)
	}
	return a.Check(p, o)
}

// Stops reports whether max_iterations may stop a run that has vertices to go on with.
func (a *Algorithm) Stops() bool { return a.Dense || a.Cut || a.Stopped != nil }

// algorithms are all of them, one file each, and then those that were added.
var algorithms = []*Algorithm{pageRank, bfs, bfsParents, sssp, cc, ccSoman, spmv, inDegree, spmm, graphSum, kCore, kCoreCounted, stCon, colouring, bc, pageRankDelta, triangles}

// Own is how many of Algorithms are heddle's own: they come first.
var Own = len(algorithms)

// Algorithms lists them.
func Algorithms() []*Algorithm { return slices.Clone(algorithms) }

// Add adds one, when the program starts. An error says what it lacks, or that its name is taken.
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

// check refuses an algorithm that lacks something.
func (a *Algorithm) check() error {
	for _, x := range []struct {
		lacks bool
		what  string
	}{
		{a.Doc == "", "Doc"}, {len(a.Arrays) == 0, "Arrays"}, {!a.has(a.Result), "Result, or it is none of its Arrays"},
		{!a.has(a.Into), "Into, or it is none of its Arrays"}, {a.Sum == nil, "Sum"}, {a.Init == nil, "Init"},
		{a.Gather == nil && a.GatherBy == nil && a.Hook == nil, "Gather"}, {a.Check == nil, "Check"},
		{a.Vector != "" && !a.has(a.Vector), "the array that Vector names"}, {a.Stop != "" && !a.has(a.Stop), "the array that Stop names"},
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

// has reports whether an array is the algorithm's.
func (a *Algorithm) has(array string) bool {
	return slices.ContainsFunc(a.Arrays, func(x Array) bool { return x.Name == array && array != "" })
}

// ByName finds an algorithm.
func ByName(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no algorithm %q", name)
}

// Accepts refuses graphs that the algorithm does not work on.
func (a *Algorithm) Accepts(g *graph.Graph) error {
	if a.Undirected && !symmetric(g) {
		return fmt.Errorf("%s needs both directions of every edge: give graph.clean.symmetrise: true", a.Name)
	}
	if v, ok := loop(g); ok && a.NoLoops {
		return fmt.Errorf("%s: vertex %d has an edge to itself: give graph.clean.drop_self_loops: true", a.Name, v)
	}
	if v, w, ok := duplicate(g); ok && a.NoDuplicates {
		return fmt.Errorf("%s: the edge from %d to %d is there twice: give graph.clean.drop_duplicates: true", a.Name, v, w)
	}
	if a.Weighted {
		return checkLengths(g)
	}
	return nil
}

// Decides reports whether, in the direction pull, the first edge with an active source decides its destination: only
// those that are not decided walk their rows, and what comes after it changes nothing.
func (a *Algorithm) Decides() bool { return a.DstFilter != nil && a.Settles() }

// Applies reports whether a super-step ends with a kernel for all vertices.
func (a *Algorithm) Applies() bool { return a.Apply != nil || a.Sends != nil }

// Converges reports whether a tolerance may end a run. Others end when no vertex is active, whatever their apply step
// changes.
func (a *Algorithm) Converges() bool { return a.Dense && a.Apply != nil || a.Sends != nil }

// Settles reports whether, in the direction pull, a vertex that has changed changes no more.
func (a *Algorithm) Settles() bool { return a.Once && !a.Sum.Blind() }

// Size is how many words the array has.
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

// loop finds a vertex with an edge to itself.
func loop(g *graph.Graph) (vertex int, ok bool) {
	for v := range g.Vertices() {
		if slices.Contains(g.CSR().Row(v), uint32(v)) {
			return v, true
		}
	}
	return 0, false
}

// duplicate finds an edge that is there twice.
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

// none is a word that no vertex, level or distance is.
const none = math.MaxUint32

// set stores a word of a vertex.
func set(k *emit.Kernel, array string, v, value ir.Value) { k.Store(k.Addr(array), v, value) }

// word loads one.
func word(k *emit.Kernel, array string, v ir.Value) ir.Value {
	return k.Load(ir.U32, k.Addr(array), v)
}

// float loads one that is a float.
func float(k *emit.Kernel, array string, v ir.Value) ir.Value {
	return k.Load(ir.F32, k.Addr(array), v)
}
