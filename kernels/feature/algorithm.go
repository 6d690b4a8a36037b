package feature

import (
	"fmt"

	"heddle/kernels/graph"
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
	// Vertices are functions of a vertex, of which the last returns what it holds next. Those before it leave values
	// for later ones.
	Vertices []VertexFunc
	Check    Reference
	// Accepts refuses graphs that it does not work on; nil: there are none.
	Accepts func(g *graph.Graph) error
}

// Property is an array of structures.
type Property struct {
	Name  string
	Edges bool                       // of edges, in the order of csr; else of vertices
	Words func(k int) int            // of each
	Data  func(p *Problem) []float32 // nil: zeros
	Sum   bool                       // edges add to it: not change-driven, it begins each super-step with zeros
}

// EdgeFunc is a function of an edge.
type EdgeFunc struct {
	Name string
	Into string // the property that it adds to
	Lone bool
	Emit func(g *Group, e *Edge)
}

// VertexFunc is a function of a vertex. What it returns is left for later functions under its name.
type VertexFunc struct {
	Name string
	Emit func(g *Group, v Place, left func(name string) Feature) Feature
}

// Edge is an edge in a kernel.
type Edge struct {
	ID, Src, Dst Place
	Weight       ir.Value // f32
	group        *Group
	changes      bool
}

// Value is a feature of what the source holds.
func (e *Edge) Value(i Index) ir.Value { return e.group.Load(Now, e.Src, i) }

// Old is what it was when the source last sent something; it asks for changes.
func (e *Edge) Old(i Index) ir.Value { return e.group.Load(Before, e.Src, i) }

// Changes reports whether changes are sent.
func (e *Edge) Changes() bool { return e.changes }

// Sent is what the source sends of a feature: the feature, or its change.
func (e *Edge) Sent(i Index) ir.Value {
	if e.changes {
		return e.group.Sub(e.Value(i), e.Old(i))
	}
	return e.Value(i)
}

// Problem is what is computed on which graph.
type Problem struct {
	Graph   *graph.Graph
	K       int
	Damping float32 // α
	Lambda  float32 // of als
	Epsilon float32 // what is no change
	Seed    uint64
	Changes bool // change-driven
	Kept    bool // changes that are not sent are kept until they are large enough; else they are lost

	drawn map[string][]float32
}

// algorithms are all of them, one file each.
var algorithms = []*Algorithm{labels, factors, ranking, modes}

// Algorithms lists them.
func Algorithms() []*Algorithm { return algorithms }

// ByName finds an algorithm.
func ByName(name string) (*Algorithm, error) {
	for _, a := range algorithms {
		if a.Name == name {
			return a, nil
		}
	}
	return nil, fmt.Errorf("no algorithm on features is called %q", name)
}

// Whole is k words.
func whole(k int) int { return k }
