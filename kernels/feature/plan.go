package feature

import (
	"math/bits"
	"slices"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Folding is the storage of values that one function of a vertex leaves for a later one.
type Folding string

// Foldings.
const (
	Unfolded   Folding = "none"       // in memory: each function is a separate kernel
	Scratchpad Folding = "scratchpad" // in the core's scratchpad: one kernel, as ONYX generates it (§6.2.1)
	Registers  Folding = "registers"  // in registers: one kernel, as hand-written (§7.7)
)

// Foldings returns every folding.
func Foldings() []Folding { return []Folding{Unfolded, Scratchpad, Registers} }

// Plan is an algorithm with its choices.
type Plan struct {
	*Algorithm
	K       int
	Sets    int // sets of K features each per vertex; 0: one
	Aware   bool
	Changes bool
	Kept    bool
	Fold    Folding
	// Pipelined is set if an edge's features are computed while the next edge is read (§5.2). It requires Aware.
	Pipelined bool
	// Pull is set if destinations walk their in-edges. It excludes Changes.
	Pull bool
	// Block is set if a thread block shares more features than a warp has lanes.
	Block bool
	// Touched is set if vertex functions run only where an edge has changed a property. It requires Changes.
	Touched bool
	// Inverts is set if als computes inverses instead of solving systems.
	Inverts bool
	// Separate is set if an old message is divided out of a product by a separate atomic.
	Separate bool
	// OneCoupling is set if bp's edges share a matrix.
	OneCoupling bool

	Lanes int // per warp
	Warps int // warps per core that run the kernels
}

// Parameters of the kernels.
const (
	WordDamping = "feature.damping"
	WordEpsilon = "feature.epsilon"
	WordLambda  = "feature.lambda"
)

// Bit-vectors of changed vertices: a word for as many vertices as a warp has lanes.
const (
	Active = "active"
	Count  = "changed" // one word: the number of changed vertices
	Marked = "touched" // vertices changed by an edge since vertex functions last ran
	Going  = "going"   // unfolded: the vertices for which no function has stopped
)

// bitOf returns the word that holds a vertex's bit in a set of vertices, and the bit.
func (p *Plan) bitOf(k *emit.Kernel, v ir.Value) (word, bit ir.Value) {
	return k.Shr(v, k.U32(uint32(bits.TrailingZeros(uint(p.Lanes))))),
		k.Shl(k.U32(1), k.And(v, k.U32(uint32(p.Lanes-1))))
}

// IsActive reports whether a vertex has changed.
func (p *Plan) IsActive(k *emit.Kernel, v ir.Value) ir.Value {
	word := k.Load(ir.U32, k.Addr(Active), k.Shr(v, k.U32(uint32(bits.TrailingZeros(uint(p.Lanes))))))
	return k.Ne(k.And(k.Shr(word, k.And(v, k.U32(uint32(p.Lanes-1)))), k.U32(1)), k.U32(0))
}

// VertexKernels returns a super-step's kernels over vertices: the functions of each, in order.
func (p *Plan) VertexKernels() (of [][]VertexFunc) {
	if p.Fold != Unfolded {
		return [][]VertexFunc{p.Vertices}
	}
	for i := range p.Vertices {
		of = append(of, p.Vertices[i:i+1])
	}
	return of
}

// EdgeKernels returns a super-step's kernels over edges.
func (p *Plan) EdgeKernels() [][]EdgeFunc {
	return p.edgeKernels(func(f *EdgeFunc) bool { return !p.Changes || !f.Lone })
}

// LoneKernels returns the kernels over all edges that precede the first super-step.
func (p *Plan) LoneKernels() [][]EdgeFunc {
	return p.edgeKernels(func(f *EdgeFunc) bool { return p.Changes && f.Lone })
}

func (p *Plan) edgeKernels(wanted func(f *EdgeFunc) bool) (of [][]EdgeFunc) {
	var together []EdgeFunc
	for i := range p.Edges {
		if f := &p.Edges[i]; wanted(f) {
			together = append(together, *f)
			of = append(of, []EdgeFunc{*f})
		}
	}
	if p.Fold != Unfolded && len(together) > 0 {
		return [][]EdgeFunc{together}
	}
	return of
}

// leftName returns the array of a value that a function leaves in memory.
func leftName(f string) string { return "left." + f }

// Left returns the properties that functions of vertices leave for each other in memory.
func (p *Plan) Left() (list []Property) {
	if p.Fold != Unfolded {
		return nil
	}
	for i := range p.Vertices[:len(p.Vertices)-1] {
		list = append(list, Property{Name: leftName(p.Vertices[i].Name), Words: whole})
	}
	return list
}

// vertexWords returns the scratchpad words per core of the kernels over vertices.
func (p *Plan) vertexWords() int { return (len(p.Vertices) - 1) * p.spare() }
func (p *Plan) edgeWords() int   { return p.Leaves * p.spare() }

// ScratchpadWords returns the scratchpad words per core of the kernels; the schedule of one over edges adds its own.
func (p *Plan) ScratchpadWords() (vertices, edges int) {
	if p.Fold == Scratchpad {
		vertices, edges = p.vertexWords(), p.edgeWords()
	}
	if p.BlockWarps() > 1 { // for values exchanged between warps
		vertices, edges = vertices+p.Lanes*p.Warps, edges+p.Lanes*p.Warps
	}
	return vertices, edges
}

// spare returns the scratchpad words of one value of every lane's features.
func (p *Plan) spare() int {
	size := p.GroupLanes()
	return (p.K + size - 1) / size * p.Lanes * p.Warps
}

// addedTo returns the properties that functions of edges add to.
func (p *Plan) addedTo(funcs []EdgeFunc) (list []*Property) {
	for i := range p.Properties {
		x := &p.Properties[i]
		if slices.ContainsFunc(funcs, func(f EdgeFunc) bool { return f.Into == x.Name }) {
			list = append(list, x)
		}
	}
	return list
}

// Stops reports whether a function of vertices may stop.
func (p *Plan) Stops() bool {
	return slices.ContainsFunc(p.Vertices, func(f VertexFunc) bool { return f.Stops })
}
