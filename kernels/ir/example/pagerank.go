// Package example holds PageRank's gathers, hand-written in the intermediate representation: an example of kernels, and
// the input with which the compiler is measured against the assembly in kernels/asm.
package example

import (
	"maps"
	"slices"

	"heddle/isa"
	"heddle/kernels/ir"
)

// Words of the argument block, in the order of package pagerank's programs.
const (
	wordVertices     = 0
	wordEdges        = 1
	wordOffsets      = 2
	wordSources      = 3
	wordTargets      = 4
	wordContribution = 7
	wordSum          = 8
)

// Kernels holds the builders by name.
var Kernels = map[string]func() (*ir.Kernel, error){
	"pagerank_vertex": Vertex, "pagerank_vertex_ahead": VertexAhead, "pagerank_edge": Edge, "pagerank_weaver": Weaver,
}

// Names returns the kernels' names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(Kernels)) }

// Vertex is the gather with one vertex per lane: sum[v] = Σ contribution[u] over u → v.
func Vertex() (*ir.Kernel, error) {
	b := ir.NewBuilder("pagerank_vertex")
	n := b.ParamAt("vertices", ir.U32, wordVertices)
	offsets, sources := b.ArrayAt("offsets", wordOffsets), b.ArrayAt("sources", wordSources)
	contribution, sum := b.ArrayAt("contribution", wordContribution), b.ArrayAt("sum", wordSum)
	b.For(b.SpreadThread(), n, b.NumThreads(), func(v ir.Value) {
		begin := b.Load(ir.U32, offsets, v)
		end := b.Load(ir.U32, offsets, b.Add(v, b.U32(1)))
		s := b.Var(b.F32(0))
		b.For(begin, end, b.U32(1), func(e ir.Value) {
			b.Edge()
			u := b.Load(ir.U32, sources, e)
			s.Set(b.Add(s.Get(), b.Load(ir.F32, contribution, u)))
		})
		b.Store(sum, v, s.Get())
	})
	return b.Build()
}

// VertexAhead is the gather with one vertex per lane and loads ahead of their use, as in the hand-written program: the
// next edge's source, and the contribution that the next step adds. It reads one word past a vertex's edges, which need
// not be an edge.
func VertexAhead() (*ir.Kernel, error) {
	b := ir.NewBuilder("pagerank_vertex_ahead")
	n := b.ParamAt("vertices", ir.U32, wordVertices)
	offsets, sources := b.ArrayAt("offsets", wordOffsets), b.ArrayAt("sources", wordSources)
	contribution, sum := b.ArrayAt("contribution", wordContribution), b.ArrayAt("sum", wordSum)
	b.For(b.SpreadThread(), n, b.NumThreads(), func(v ir.Value) {
		begin := b.Load(ir.U32, offsets, v)
		end := b.Load(ir.U32, offsets, b.Add(v, b.U32(1)))
		s, x := b.Var(b.F32(0)), b.Var(b.F32(0))
		u := b.Var(b.Load(ir.U32, sources, begin))
		b.For(begin, end, b.U32(1), func(e ir.Value) {
			b.Edge()
			from := u.Get()
			s.Set(b.Add(s.Get(), x.Get()))
			x.Set(b.Load(ir.F32, contribution, from))
			u.Set(b.Load(ir.U32, sources, b.Add(e, b.U32(1))))
		})
		b.Store(sum, v, b.Add(s.Get(), x.Get()))
	})
	return b.Build()
}

// Edge is the gather with one edge per lane.
func Edge() (*ir.Kernel, error) {
	b := ir.NewBuilder("pagerank_edge")
	m := b.ParamAt("edges", ir.U32, wordEdges)
	sources, targets := b.ArrayAt("sources", wordSources), b.ArrayAt("targets", wordTargets)
	contribution, sum := b.ArrayAt("contribution", wordContribution), b.ArrayAt("sum", wordSum)
	b.For(b.GlobalThread(), m, b.NumThreads(), func(e ir.Value) {
		b.Edge()
		u := b.Load(ir.U32, sources, e)
		v := b.Load(ir.U32, targets, e)
		b.AtomicAddF(sum, v, b.Load(ir.F32, contribution, u))
	})
	return b.Build()
}

// Weaver is the gather of edges that the Weaver distributes. A vertex is registered as the address of its sum.
func Weaver() (*ir.Kernel, error) {
	b := ir.NewBuilder("pagerank_weaver")
	n := b.ParamAt("vertices", ir.U32, wordVertices)
	offsets, sources := b.ArrayAt("offsets", wordOffsets), b.ArrayAt("sources", wordSources)
	contribution, sum := b.ArrayAt("contribution", wordContribution), b.ArrayAt("sum", wordSum)
	capacity, slot := b.WeaverCapacity(), b.ThreadInCore()
	row := b.Mul(b.WarpID(), b.NumLanes())
	width := b.Min(b.Sub(capacity, row), b.NumLanes())
	mine := b.Add(b.Add(b.Mul(row, b.NumCores()), b.Mul(b.CoreID(), width)), b.LaneID())
	b.For(b.U32(0), n, b.Mul(b.NumCores(), capacity), func(e ir.Value) {
		v := b.Add(e, mine)
		b.Phase(isa.PhaseRegistration, func() {
			b.If(b.And(b.Lt(slot, capacity), b.Lt(v, n)), func() {
				begin := b.Load(ir.U32, offsets, v)
				end := b.Load(ir.U32, offsets, b.Add(v, b.U32(1)))
				b.WeaverReg(b.Address(sum, v), begin, b.Sub(end, begin))
			}, nil)
			b.Barrier()
		})
		b.WeaverEdges(func(at, loc ir.Value, _ *ir.Loop) {
			b.Edge()
			u := b.Load(ir.U32, sources, loc)
			b.AtomicAddF(at, nil, b.Load(ir.F32, contribution, u))
		})
		b.Barrier()
	})
	return b.Build()
}
