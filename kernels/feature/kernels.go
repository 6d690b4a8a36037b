package feature

import (
	"math"
	"math/bits"

	"heddle/isa"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
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
	Aware   bool
	Changes bool
	Kept    bool
	Fold    Folding
	Lanes   int // of a warp
	Warps   int // of a core that run the kernels
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
)

// group is that of a lane.
func (p *Plan) group(k *emit.Kernel) *Group {
	g := &Group{Kernel: k, K: p.K, size: groupSize(p.K, p.Lanes, p.Aware)}
	g.lane = k.U32(0)
	if g.size > 1 {
		g.lane = k.And(k.LaneID(), k.U32(uint32(g.size-1)))
	}
	return g
}

// shift is log2 of a group's lanes.
func (g *Group) shift() ir.Value { return g.U32(uint32(bits.TrailingZeros(uint(g.size)))) }

// Walk is a kernel over edges being written: an edge is handed over by the lane that a schedule gave it to, and its
// features are computed by a group (§5.1.1): as many edges at a time as the warp has groups.
type Walk struct {
	plan  *Plan
	group *Group
	funcs []EdgeFunc

	id, src, dst, weight *ir.Variable // dst is nobody where a lane has no edge
}

// nobody is no vertex.
const nobody = math.MaxUint32

// Walk begins a kernel: it comes before any lane has an edge.
func (p *Plan) Walk(k *emit.Kernel, funcs []EdgeFunc) *Walk {
	w := &Walk{plan: p, group: p.group(k), funcs: funcs}
	if w.group.size > 1 {
		w.id, w.src, w.dst = k.Var(k.U32(0)), k.Var(k.U32(0)), k.Var(k.U32(nobody))
		w.weight = k.Var(k.F32(0))
	}
	return w
}

// Edge handles the lane's edge.
func (w *Walk) Edge(e *layout.Edge) {
	g := w.group
	id := e.ID
	if id == nil {
		id = g.U32(0) // a graph unit has read it: nothing asks for its number
	}
	if g.size == 1 {
		w.handle(&Edge{ID: id, Src: e.Src, Dst: e.Dst, Weight: e.Weight(ir.F32)})
		return
	}
	w.id.Set(id)
	w.src.Set(e.Src)
	w.dst.Set(e.Dst)
	w.weight.Set(e.Weight(ir.F32))
	g.AllLanes(func() {
		groups := uint32(w.plan.Lanes / g.size)
		mine := g.Shr(g.LaneID(), g.shift())
		g.For(g.U32(0), g.U32(uint32(w.plan.Lanes)), g.U32(groups), func(first ir.Value) {
			from := g.Add(first, mine)
			of := func(v *ir.Variable) ir.Value { return g.ShflIdx(v.Get(), from) }
			edge := &Edge{ID: of(w.id), Src: of(w.src), Dst: of(w.dst), Weight: of(w.weight)}
			g.When(g.Ne(edge.Dst, g.U32(nobody)), func() { w.handle(edge) })
		})
		w.dst.Set(g.U32(nobody))
	})
}

func (w *Walk) handle(e *Edge) {
	e.group, e.changes = w.group, w.plan.Changes
	for _, f := range w.funcs {
		f.Emit(w.group, e)
	}
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

// ScratchpadWords is how many words of a core's scratchpad the kernel over vertices takes.
func (p *Plan) ScratchpadWords() int {
	if p.Fold != Scratchpad {
		return 0
	}
	return (len(p.Vertices) - 1) * p.spare()
}

// spare is how many words of the scratchpad a value of every lane's features takes.
func (p *Plan) spare() int {
	size := groupSize(p.K, p.Lanes, p.Aware)
	return (p.K + size - 1) / size * p.Lanes * p.Warps
}

// VertexKernel writes functions over all vertices, a group a vertex (Fig. 5.1, lines 76 to 97). last: the last of them
// says what vertices hold.
func (p *Plan) VertexKernel(k *emit.Kernel, funcs []VertexFunc, last bool) {
	k.Phase(isa.PhaseApply, func() {
		g := p.group(k)
		lanes, groups := k.U32(uint32(p.Lanes)), uint32(p.Lanes/g.size)
		vertices := k.Count("vertices")
		k.For(k.SpreadWarp(), vertices, k.NumThreads(), func(first ir.Value) {
			changed := k.Var(k.U32(0))
			k.For(k.U32(0), lanes, k.U32(groups), func(at ir.Value) {
				v := k.Add(k.Add(first, at), k.Shr(k.LaneID(), g.shift()))
				updated := k.Var(k.U32(0))
				k.When(k.Lt(v, vertices), func() {
					next := p.compute(g, v, funcs)
					if last {
						updated.Set(k.ToU32(p.update(g, v, next)))
					}
				})
				if last {
					p.mark(g, at, k.Ballot(k.Ne(updated.Get(), k.U32(0))), changed)
				}
			})
			if last {
				p.publish(k, first, changed)
			}
		})
	})
}

// compute runs functions of a vertex, and returns what the last one does.
func (p *Plan) compute(g *Group, v ir.Value, funcs []VertexFunc) (next Feature) {
	inRegisters := map[string]Feature{}
	left := func(name string) Feature {
		if x, ok := inRegisters[name]; ok {
			return x
		}
		array := leftName(name)
		return Feature{of: func(i Index) ir.Value { return g.Load(array, v, i) }}
	}
	for n, f := range funcs {
		next = f.Emit(g, v, left)
		switch {
		case f.Name == p.Vertices[len(p.Vertices)-1].Name:
		case p.Fold == Unfolded:
			array := leftName(f.Name)
			g.Each(func(i Index) { g.Store(array, v, i, next.At(i)) })
		case p.Fold == Scratchpad:
			inRegisters[f.Name] = p.inScratchpad(g, n, next)
		default:
			inRegisters[f.Name] = next
		}
	}
	return next
}

// inScratchpad stores value number n of every lane's features, a word a lane side by side.
func (p *Plan) inScratchpad(g *Group, n int, x Feature) Feature {
	base := g.Shared("left", p.ScratchpadWords())
	word := func(i Index) ir.Value {
		at := g.Add(g.ThreadInCore(), g.U32(uint32(n*p.spare())))
		threads := uint32(p.Lanes * p.Warps)
		if i.round >= 0 {
			return g.Kernel.Add(at, g.U32(uint32(i.round)*threads))
		}
		return g.Kernel.Add(at, g.Mul(g.Shr(i.F, g.shift()), g.U32(threads)))
	}
	g.every(func(i Index) { g.Kernel.Store(base, word(i), x.At(i)) })
	return Feature{of: func(i Index) ir.Value { return g.Kernel.Load(ir.F32, base, word(i)) }}
}

// update stores what a vertex holds next, and reports whether a feature has changed.
func (p *Plan) update(g *Group, v ir.Value, next Feature) (changed ir.Value) {
	epsilon := g.Float(WordEpsilon)
	var sent ir.Value // the vertex has just sent what it held
	if p.Kept {
		sent = p.IsActive(g.Kernel, v)
	}
	updated := g.Any(func(i Index) ir.Value {
		now, old := next.At(i), g.Load(Now, v, i)
		if sent != nil {
			old = g.Select(sent, old, g.Load(Before, v, i))
		}
		store := func() {
			g.Store(Now, v, i, now)
			if p.Changes {
				g.Store(Before, v, i, old)
			}
		}
		if i.there != nil {
			g.When(i.there, store)
		} else {
			store()
		}
		return g.Gt(g.Abs(g.Sub(now, old)), epsilon)
	})
	if !p.Changes {
		for _, s := range p.Properties {
			if s.Sum {
				g.zero(s.Name, v, s.Words(p.K))
			}
		}
	}
	return updated
}

// zero stores zeros into a vertex's words, as many as a multiple of k.
func (g *Group) zero(array string, v ir.Value, words int) {
	at := g.Mul(v, g.U32(uint32(words)))
	for row := 0; row < words; row += g.K {
		row := g.Kernel.Add(at, g.U32(uint32(row)))
		g.Each(func(i Index) { g.Kernel.Store(g.Addr(array), g.Kernel.Add(row, i.F), g.F32(0)) })
	}
}

// mark has the lane whose vertex a group has just computed remember whether it changed.
func (p *Plan) mark(g *Group, at, updated ir.Value, changed *ir.Variable) {
	if g.size == 1 {
		changed.Set(g.And(g.Shr(updated, g.LaneID()), g.U32(1)))
		return
	}
	groups := uint32(p.Lanes / g.size)
	mine := g.Eq(g.And(g.LaneID(), g.U32(^(groups-1))), at)
	first := g.Mul(g.And(g.LaneID(), g.U32(groups-1)), g.U32(uint32(g.size)))
	bit := g.And(g.Shr(updated, first), g.U32(1))
	changed.Set(g.Select(mine, bit, changed.Get()))
}

// publish stores the word of the warp's vertices, and counts them.
func (p *Plan) publish(k *emit.Kernel, first ir.Value, changed *ir.Variable) {
	word := k.Ballot(k.Ne(changed.Get(), k.U32(0)))
	k.When(k.Eq(k.LaneID(), k.U32(0)), func() {
		k.Store(k.Addr(Active), k.Shr(first, k.U32(uint32(bits.TrailingZeros(uint(p.Lanes))))), word)
		k.When(k.Ne(word, k.U32(0)), func() { k.AtomicAdd(k.Addr(Count), k.U32(0), k.OnesCount(word)) })
	})
}
