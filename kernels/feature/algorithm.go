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

// Arrays that every algorithm has, a property of k features of each vertex.
const (
	Now    = "now"    // what vertices hold
	Before = "before" // change-driven: what they held when they last sent something
)

// Algorithm is what is computed: in each super-step edges add up what sources send at destinations, and then every
// vertex computes what it holds from that.
type Algorithm struct {
	Name string
	Doc  string
	// Steps are the super-steps of a run that nothing else limits; 0: until no feature changes.
	Steps int
	// Properties are its arrays beside Now and Before, and First what vertices hold at first.
	Properties []Property
	First      func(p *Problem) []float32
	// Edges are functions of an edge, in their order. Lone ones do not depend on what the source holds: change-driven,
	// they are computed once, before all else.
	Edges []EdgeFunc
	// PerEdge is the per-edge phase (§5.1.1): a lane looks up Edge.Found of its edge once, and not each lane of the
	// group that computes the edge's features. nil: there is none.
	PerEdge func(g *Group, id, src, dst ir.Value) []ir.Value
	Finds   int // how many values those are
	// Sets says that a vertex may have several sets of k features each, which do not depend on each other (Fig. 2.1d),
	// and an edge a weight for each of them: those are values of the per-edge phase.
	Sets   bool
	Leaves int // how many values functions of an edge leave for later ones
	// Slots says that edges have two values, this super-step's and the last one's: the word of a vertex in the array
	// slotArray says which of its edges' values is the last, 0 or 1. It changes when they have been handled.
	Slots bool
	// Vertices are functions of a vertex, of which the last returns what it holds next. Those before it leave values
	// for later ones.
	Vertices []VertexFunc
	Check    Reference
	// Accepts says which key of the graph it does not work on, and why; nil: there is none.
	Accepts func(g *graph.Graph) (key, why string)
	// Alone says that a vertex may change though nothing has come along its edges.
	Alone bool
}

// Property is an array of structures.
type Property struct {
	Name  string
	Edges bool                       // of edges, in the order of csr; else of vertices
	Words func(k int) int            // of each
	Data  func(p *Problem) []float32 // nil: zeros
	Bits  func(p *Problem) []uint32  // in place of Data: they are no floats
	Sum   bool                       // edges add to it: not change-driven, it begins each super-step with zeros
	Slots bool                       // an edge has two values of k words, as Algorithm.Slots says
	Sets  bool                       // only with several sets of features
}

// EdgeFunc is a function of an edge.
type EdgeFunc struct {
	Name string
	Into string // the property that it adds to; none: it leaves something for later ones
	Lone bool
	// Emit returns whether it went on: if not, later functions of the same kernel do not run for this edge (ONYX §6.1,
	// progress), and if the last one that ran did not, the edge leaves its destination as it is (activation). nil:
	// always. What it adds, and what later functions would have added, must be nothing then: unfolded they run all the
	// same, and an unmarked destination is not computed anew.
	Emit EdgeEmit
}

// EdgeEmit writes a function of an edge.
type EdgeEmit func(g *Group, e *Edge) (goes ir.Value)

// VertexFunc is a function of a vertex. What it returns is left for later functions under its name.
type VertexFunc struct {
	Name string
	// Stops says that it may stop: then later functions do not run for this vertex, which stays as it is and is not
	// active (ONYX §6.1).
	Stops bool
	// Emit returns the function's value, and of one that Stops, whether it went on.
	Emit VertexEmit
}

// VertexEmit writes a function of a vertex; left are values that earlier ones have left.
type VertexEmit func(g *Group, v Place, left func(name string) Feature) (x Feature, goes ir.Value)

// Edge is an edge in a kernel.
type Edge struct {
	ID, Src, Dst Place
	Weight       ir.Value   // f32
	Found        []ir.Value // by PerEdge
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

// Left returns a value that an earlier function has left, from memory if that was another kernel.
func (e *Edge) Left(name string, memory func(i Index) ir.Value) Feature {
	if x, ok := e.left[name]; ok {
		return x
	}
	return Feature{of: memory}
}

// Value is a feature of what the source holds.
func (e *Edge) Value(i Index) ir.Value { return e.group.Load(Now, e.Src, i) }

// Old is what it was when the source last sent something; it asks for changes.
func (e *Edge) Old(i Index) ir.Value { return e.group.Load(Before, e.Src, i) }

// Changes reports whether changes are sent.
func (e *Edge) Changes() bool { return e.plan.Changes }

// Touches reports whether it matters if a function goes on: whether vertices are those that an edge has changed.
func (e *Edge) Touches() bool { return e.plan.Touched }

// Sent is what the source sends of a feature: the feature, or its change.
func (e *Edge) Sent(i Index) ir.Value {
	if e.plan.Changes {
		return e.group.Sub(e.Value(i), e.Old(i))
	}
	return e.Value(i)
}

// Problem is what is computed on which graph.
type Problem struct {
	Graph   *graph.Graph
	K       int
	Sets    int     // of k features
	Damping float32 // α
	Lambda  float32 // of als
	Epsilon float32 // what is no change
	Seed    uint64
	Changes bool // change-driven
	Kept    bool // changes that are not sent are kept until they are large enough; else they are lost

	drawn   map[string][]float32
	reverse []uint32 // edges

	plan    *Plan  // whose order of additions the checks follow
	after   Reader // of arrays behind a super-step
	refused error  // by Refuse
}

// Refuse ends a check, by Reference.Next, of a vertex of which a number does not fit f32: the machine has computed on
// with an infinity, by which the rest may look right, and there is nothing to verify. The first refusal counts.
func (p *Problem) Refuse(format string, args ...any) {
	if p.refused == nil {
		p.refused = fmt.Errorf(format, args...)
	}
}

// algorithms are all of them, one file each.
var algorithms = []*Algorithm{labels, factors, beliefs, ranking, modes, aggregate}

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
		{a.Doc == "", "Doc"}, {a.First == nil, "First"}, {len(a.Edges) == 0, "Edges"}, {len(a.Vertices) == 0, "Vertices"},
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
		if x.Words == nil || x.Slots || x.Sets || x.Sum && x.Edges {
			return fmt.Errorf("property %s: expected Words, no Slots and no Sets, and Sum of vertices' only", x.Name)
		}
		sums[x.Name] = x.Sum
	}
	for i := range a.Edges {
		if f := &a.Edges[i]; f.Name == "" || f.Emit == nil || f.Into != "" && !sums[f.Into] {
			return fmt.Errorf("function %q of edges: expected a Name, an Emit, and Into one of its Properties with Sum", f.Name)
		}
	}
	for i := range a.Vertices {
		f := &a.Vertices[i]
		if f.Name == "" || f.Emit == nil || slices.ContainsFunc(a.Vertices[:i], func(g VertexFunc) bool { return g.Name == f.Name }) {
			return fmt.Errorf("function %q of vertices: expected a Name of its own, and an Emit", f.Name)
		}
	}
	return nil
}

// reserved are names of arrays that are not an algorithm's own.
var reserved = []string{Now, Before, Active, Count, Marked, Going, slotArray, setWeightArray}

// ByName finds an algorithm.
func ByName(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no algorithm on features is called %q", name)
}

// With is the algorithm with that many sets of features.
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

// Whole is k words.
func whole(k int) int { return k }
