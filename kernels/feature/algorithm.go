package feature

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/internal/registry"
	"heddle/kernels/ir"
)

// Arrays of every algorithm, each a property of k features per vertex.
const (
	Now    = "now"    // values of the vertices
	Before = "before" // change-driven: values at the time of the last send
)

// Algorithm describes an algorithm on features: in each super-step edges reduce their sources' values at destinations,
// and then every vertex computes its next value from the sums.
type Algorithm struct {
	Name string
	Doc  string
	// Steps is the default number of super-steps; 0: until no feature changes.
	Steps int
	// Properties are its arrays in addition to Now and Before, and First returns the vertices' initial values.
	Properties []Property
	First      func(p *Problem) []float32
	// Edges are functions of an edge, in order. Lone ones do not depend on the source's value: change-driven, they are
	// computed once, before the first super-step.
	Edges []EdgeFunc
	// PerEdge is the per-edge phase (§5.1.1): one lane computes Edge.Found for its edge, instead of every lane of the
	// group that computes the edge's features. nil: none.
	PerEdge func(g *Group, id, src, dst ir.Value) []ir.Value
	Finds   int // number of values that PerEdge returns
	// Sets is set if a vertex may have several independent sets of k features each (Fig. 2.1d), and an edge a weight
	// for each of them: those are values of the per-edge phase.
	Sets   bool
	Leaves int // number of values that functions of an edge leave for later ones
	// Slots is set if edges have two values, this super-step's and the last one's: a vertex's word in the array
	// slotArray selects which of its edges' values is the last, 0 or 1. It flips once the edges have been handled.
	Slots bool
	// Vertices are functions of a vertex. The last returns its next value; those before it leave values for later ones.
	Vertices []VertexFunc
	Check    Reference
	// Accepts returns the key of an unsupported graph, and the reason; nil: supports all.
	Accepts func(g *graph.Graph) (key, why string)
	// Alone is set if a vertex may change although no edge has contributed.
	Alone bool
}

// Property is an array of structures.
type Property struct {
	Name  string
	Edges bool                       // per edge, in the order of csr; otherwise per vertex
	Words func(k int) int            // per vertex or edge
	Data  func(p *Problem) []float32 // nil: zeros
	Bits  func(p *Problem) []uint32  // in place of Data, for words that are no floats
	Sum   bool                       // edges add to it: unless change-driven, it is zeroed before each super-step
	Slots bool                       // an edge has two values of k words (Algorithm.Slots)
	// Numbers is set if the words are numbers of edges.
	Numbers bool
	Sets    bool // only with several sets of features
	Once    bool // one for the graph, neither per vertex nor per edge
}

// EdgeFunc is a function of an edge.
type EdgeFunc struct {
	Name string
	Into string // the property that it adds to; none: it leaves a value for later functions
	Lone bool
	// Emit returns whether the function went on: if not, later functions of the same kernel do not run for this edge
	// (ONYX §6.1, progress), and if the last one that ran did not, the edge leaves its destination unchanged
	// (activation). nil: always. In that case its own addition, and those of later functions, must be zero: unfolded
	// they run all the same, and an unmarked destination is not recomputed.
	Emit EdgeEmit
}

// EdgeEmit emits a function of an edge.
type EdgeEmit func(g *Group, e *Edge) (goes ir.Value)

// VertexFunc is a function of a vertex. Its value is left for later functions under its name.
type VertexFunc struct {
	Name string
	// Stops is set if it may stop: then later functions do not run for this vertex, which stays unchanged and is not
	// active (ONYX §6.1).
	Stops bool
	// Emit returns the function's value and, if it Stops, whether it went on.
	Emit VertexEmit
}

// VertexEmit emits a function of a vertex; left returns the values that earlier functions have left.
type VertexEmit func(g *Group, v Place, left func(name string) Feature) (x Feature, goes ir.Value)

// Edge is an edge in a kernel.
type Edge struct {
	ID, Src, Dst Place
	Weight       ir.Value   // f32
	Found        []ir.Value // from PerEdge
	plan         *Plan
	group        *Group
	left         map[string]Feature
}

// Leave leaves a value for later functions of the same kernel: in registers, or in the scratchpad.
func (e *Edge) Leave(name string, x Feature) {
	switch e.plan.Fold {
	case Registers:
		e.left[name] = x
	case Scratchpad:
		e.left[name] = e.group.inScratchpad(len(e.left), e.plan.edgeWords(), x)
	}
}

// Left returns a value that an earlier function has left, from memory if that was in another kernel.
func (e *Edge) Left(name string, memory func(i Index) ir.Value) Feature {
	if x, ok := e.left[name]; ok {
		return x
	}
	return Feature{of: memory}
}

// Value returns a feature of the source.
func (e *Edge) Value(i Index) ir.Value { return e.group.Load(Now, e.Src, i) }

// Old returns a feature of the source at its last send; only for plans with Changes.
func (e *Edge) Old(i Index) ir.Value { return e.group.Load(Before, e.Src, i) }

// Changes reports whether edges send changes.
func (e *Edge) Changes() bool { return e.plan.Changes }

// Touches reports whether a function's progress matters: whether only vertices changed by an edge are recomputed.
func (e *Edge) Touches() bool { return e.plan.Touched }

// Sent returns the value that the source sends of a feature: the feature, or its change.
func (e *Edge) Sent(i Index) ir.Value {
	if e.plan.Changes {
		return e.group.Sub(e.Value(i), e.Old(i))
	}
	return e.Value(i)
}

// Problem is an algorithm's input: the graph and the parameters.
type Problem struct {
	Graph   *graph.Graph
	K       int
	Sets    int     // of k features
	Damping float32 // α
	Lambda  float32 // of als
	Epsilon float32 // largest difference that counts as no change
	Seed    uint64
	Changes bool // change-driven
	Kept    bool // changes too small to send accumulate until they are large enough; otherwise they are lost

	OneCoupling bool // of bp: a matrix for all edges

	drawn   map[string][]float32
	reverse []uint32 // reverse edges

	plan    *Plan  // plan whose order of additions the checks reproduce
	after   Reader // the arrays after a super-step
	refused error  // set by Refuse
}

// Refuse ends a check, by Reference.Next, of a vertex with a number that exceeds the range of f32: the machine has
// continued with an infinity, by which the rest may look right, so nothing can be verified. The first refusal counts.
func (p *Problem) Refuse(format string, args ...any) {
	if p.refused == nil {
		p.refused = fmt.Errorf(format, args...)
	}
}

// algorithms holds every algorithm on features, one file each.
var algorithms = []*Algorithm{labels, factors, beliefs, ranking, modes, aggregate}

// Own is the number of built-in algorithms, which come first in Algorithms.
var Own = len(algorithms)

// Algorithms returns every algorithm on features.
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
		{a.Doc == "", "Doc"}, {a.First == nil, "First"}, {len(a.Edges) == 0, "Edges"},
		{len(a.Vertices) == 0, "Vertices"},
		{a.Check.Terms == nil, "Check.Terms"}, {a.Check.Next == nil, "Check.Next"},
		{a.Finds > 0 && a.PerEdge == nil, "PerEdge, which goes with Finds"},
	} {
		if x.lacks {
			return fmt.Errorf("it lacks %s", x.what)
		}
	}
	if a.Slots || a.Sets || a.Check.Late != nil || a.Check.Edge != nil {
		return errors.New("it has Slots, Sets, Check.Late or Check.Edge, which only heddle's own can have")
	}
	sums, names := map[string]bool{}, append([]string{""}, reserved...)
	for _, x := range a.Properties {
		if slices.Contains(names, x.Name) {
			return fmt.Errorf("property %q: expected a name that no other of its Properties has, and none of %s",
				x.Name, strings.Join(reserved, ", "))
		}
		names = append(names, x.Name)
		if x.Words == nil || x.Slots || x.Sets || x.Once || x.Sum && x.Edges {
			return fmt.Errorf("property %s: expected Words, no Slots, Sets and Once, and Sum of vertices' only", x.Name)
		}
		sums[x.Name] = x.Sum
	}
	for i := range a.Edges {
		if f := &a.Edges[i]; f.Name == "" || f.Emit == nil || f.Into != "" && !sums[f.Into] {
			return fmt.Errorf("function %q of edges: expected a Name, an Emit, and Into one of its Properties with Sum",
				f.Name)
		}
	}
	for i := range a.Vertices {
		f := &a.Vertices[i]
		if f.Name == "" || f.Emit == nil || slices.ContainsFunc(a.Vertices[:i],
			func(g VertexFunc) bool { return g.Name == f.Name }) {
			return fmt.Errorf("function %q of vertices: expected a Name of its own, and an Emit", f.Name)
		}
	}
	return nil
}

// reserved are the array names that an algorithm must not use.
var reserved = []string{Now, Before, Active, Count, Marked, Going, slotArray, setWeightArray}

// ByName returns the algorithm with that name.
func ByName(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no algorithm on features is called %q", name)
}

// With returns the algorithm with that many sets of features.
func (a *Algorithm) With(sets int) *Algorithm {
	own := *a
	if own.Properties = nil; a.Sets && sets > 1 {
		own.Finds = sets
	} else if a.Sets {
		own.PerEdge, own.Finds = nil, 0
	}
	for _, x := range a.Properties {
		if !x.Sets || sets > 1 {
			own.Properties = append(own.Properties, x)
		}
	}
	return &own
}

// WithOne returns the algorithm with one value of a property for the graph, where it has one an edge.
func (a *Algorithm) WithOne(property string) *Algorithm {
	own := *a
	own.Properties = slices.Clone(a.Properties)
	for i := range own.Properties {
		if x := &own.Properties[i]; x.Name == property {
			x.Edges, x.Once = false, true
		}
	}
	return &own
}

// whole returns k words.
func whole(k int) int { return k }
