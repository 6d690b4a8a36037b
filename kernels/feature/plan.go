package feature

import (
	"math/bits"
	"slices"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Folding is where values are that one function of a vertex leaves for a later one.
type Folding string

// Foldings.
const (
	Unfolded   Folding = "none"       // in memory: each function is a kernel of its own
	Scratchpad Folding = "scratchpad" // in the core's scratchpad: one kernel, as ONYX generates it (§6.2.1)
	Registers  Folding = "registers"  // in registers: one kernel, as by hand (§7.7)
)

// Foldings lists them.
func Foldings() []Folding { return []Folding{Unfolded, Scratchpad, Registers} }

// Plan is an algorithm with its choices.
type Plan struct {
	*Algorithm
	K       int
	Sets    int // of K features each, of a vertex; 0: one
	Aware   bool
	Changes bool
	Kept    bool
	Fold    Folding
	// Pipelined says that an edge's features are computed while the next one is read (§5.2). It needs Aware.
	Pipelined bool
	// Block says that more features than a warp has lanes are shared by a thread block's.
	Block bool
	// Touched says that functions of vertices run where an edge has changed something, and not for all vertices. It
	// needs Changes.
	Touched bool
	// Inverts says that als computes inverses, and does not solve systems.
	Inverts bool
	// Separate says that an old message is taken out of a product by an atomic of its own.
	Separate bool
	Lanes    int // of a warp
	Warps    int // of a core that run the kernels
}

// Words that kernels are given.
const (
	WordDamping = "feature.damping"
	WordEpsilon = "feature.epsilon"
	WordLambda  = "feature.lambda"
)

// Arrays of the sets of vertices that have changed: a word for as many vertices as a warp has lanes.
const (
	Active = "active"
	Count  = "changed" // one word: how many
	Marked = "touched" // the vertices at which an edge has changed something since functions of vertices ran last
	Going  = "going"   // unfolded: the vertices for which no function has stopped
)

// bitOf is where a vertex's bit is in a set of vertices: in which word, and which it is.
func (p *Plan) bitOf(k *emit.Kernel, v ir.Value) (word, bit ir.Value) {
	return k.Shr(v, k.U32(uint32(bits.TrailingZeros(uint(p.Lanes))))), k.Shl(k.U32(1), k.And(v, k.U32(uint32(p.Lanes-1))))
}

// IsActive reports whether a vertex has changed.
func (p *Plan) IsActive(k *emit.Kernel, v ir.Value) ir.Value {
	word := k.Load(ir.U32, k.Addr(Active), k.Shr(v, k.U32(uint32(bits.TrailingZeros(uint(p.Lanes))))))
	return k.Ne(k.And(k.Shr(word, k.And(v, k.U32(uint32(p.Lanes-1)))), k.U32(1)), k.U32(0))
}

// VertexKernels are those over vertices of a super-step: functions first to last of each.
func (p *Plan) VertexKernels() (of [][]VertexFunc) {
	if p.Fold != Unfolded {
		return [][]VertexFunc{p.Vertices}
	}
	for i := range p.Vertices {
		of = append(of, p.Vertices[i:i+1])
	}
	return of
}

// EdgeKernels are those over edges of a super-step.
func (p *Plan) EdgeKernels() [][]EdgeFunc {
	return p.edgeKernels(func(f *EdgeFunc) bool { return !p.Changes || !f.Lone })
}

// LoneKernels are those over all edges that come before the first super-step.
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

// leftName is the array of a value that a function leaves in memory.
func leftName(f string) string { return "left." + f }

// Left are the properties that functions of vertices leave for each other in memory.
func (p *Plan) Left() (list []Property) {
	if p.Fold != Unfolded {
		return nil
	}
	for i := range p.Vertices[:len(p.Vertices)-1] {
		list = append(list, Property{Name: leftName(p.Vertices[i].Name), Words: whole})
	}
	return list
}

// vertexWords and edgeWords are how many words of a core's scratchpad the kernels over vertices and over edges take.
func (p *Plan) vertexWords() int { return (len(p.Vertices) - 1) * p.spare() }
func (p *Plan) edgeWords() int   { return p.Leaves * p.spare() }

// ScratchpadWords is how many words of a core's scratchpad a kernel takes; the schedule of one over edges has its own.
func (p *Plan) ScratchpadWords() (vertices, edges int) {
	if p.Fold == Scratchpad {
		vertices, edges = p.vertexWords(), p.edgeWords()
	}
	if p.BlockWarps() > 1 { // by which its warps exchange values
		vertices, edges = vertices+p.Lanes*p.Warps, edges+p.Lanes*p.Warps
	}
	return vertices, edges
}

// spare is how many words of the scratchpad a value of every lane's features takes.
func (p *Plan) spare() int {
	size := p.GroupLanes()
	return (p.K + size - 1) / size * p.Lanes * p.Warps
}

// Stops reports whether a function of vertices may stop.
func (p *Plan) Stops() bool {
	return slices.ContainsFunc(p.Vertices, func(f VertexFunc) bool { return f.Stops })
}
