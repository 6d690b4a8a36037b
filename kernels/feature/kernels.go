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
	// Pipelined says that an edge's features are computed while the next one is read (§5.2). It needs Aware.
	Pipelined bool
	Lanes     int // of a warp
	Warps     int // of a core that run the kernels
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

// Group makes the group of lanes that a lane belongs to.
func (p *Plan) Group(k *emit.Kernel) *Group {
	g := &Group{Kernel: k, K: p.K, size: p.GroupLanes()}
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

	id, src, dst, weight *ir.Variable // places, and the weight's bits; dst is nowhere where a lane has no edge
	found                []*ir.Variable
}

// nowhere is no place.
const nowhere = math.MaxUint32

// Walk begins a kernel: it comes before any lane has an edge.
func (p *Plan) Walk(k *emit.Kernel, funcs []EdgeFunc) *Walk {
	w := &Walk{plan: p, group: p.Group(k), funcs: funcs}
	if w.group.size > 1 {
		w.id, w.src, w.dst, w.weight = k.Var(k.U32(0)), k.Var(k.U32(0)), k.Var(k.U32(nowhere)), k.Var(k.U32(0))
		for range p.Finds {
			w.found = append(w.found, k.Var(k.U32(0)))
		}
	}
	return w
}

// Edge handles the lane's edge: pipelined, once it has the next one, whose reads are on their way meanwhile (Fig. 5.3).
func (w *Walk) Edge(e *layout.Edge) {
	g := w.group
	id := e.ID
	if id == nil {
		id = g.U32(0) // a graph unit has read it: nothing asks for its number
	}
	weight := e.Weight(ir.F32)
	var found []ir.Value
	if per := w.plan.PerEdge; per != nil {
		found = per(g, id, e.Src, e.Dst)
	}
	if g.size == 1 {
		w.handle(&Edge{ID: g.Of(id), Src: g.Of(e.Src), Dst: g.Of(e.Dst), Weight: weight, Found: found})
		return
	}
	if w.plan.Pipelined {
		g.AllLanes(w.share)
	}
	w.id.Set(g.Of(id).Bytes)
	w.src.Set(g.Of(e.Src).Bytes)
	w.dst.Set(g.Of(e.Dst).Bytes)
	w.weight.Set(g.AsU32(weight))
	for n, x := range found {
		w.found[n].Set(x)
	}
	if !w.plan.Pipelined {
		g.AllLanes(w.share)
	}
}

// End handles the last edges of a pipelined loop.
func (w *Walk) End() {
	if w.plan.Pipelined && w.group.size > 1 { // groups of one handle an edge at once
		w.share()
	}
}

// atOnce is how many turns of groups are code of their own.
const atOnce = 4

// share has groups handle the edges that the warp's lanes have, in turn.
func (w *Walk) share() {
	g := w.group
	groups, lanes := w.plan.Lanes/g.size, uint32(w.plan.Lanes)
	mine := g.Shr(g.LaneID(), g.shift())
	there := func(dst ir.Value) ir.Value { return g.Ne(dst, g.U32(nowhere)) }
	id, src, dst, weight := w.id.Get(), w.src.Get(), w.dst.Get(), w.weight.Get()
	var found []ir.Value
	for _, x := range w.found {
		found = append(found, x.Get())
	}
	turn := func(from ir.Value, body func(e *Edge)) {
		of := func(x ir.Value) ir.Value { return g.ShflIdx(x, from) }
		e := &Edge{ID: Place{of(id)}, Src: Place{of(src)}, Dst: Place{of(dst)}, Weight: g.AsF32(of(weight))}
		for _, x := range found {
			e.Found = append(e.Found, of(x))
		}
		body(e)
	}
	turns := min(g.size, atOnce)
	g.If(g.All(there(dst)), func() {
		several := func(first ir.Value) {
			for n := range turns {
				turn(g.Add(first, g.U32(uint32(n*groups))), w.handle)
			}
		}
		if turns == g.size {
			several(mine)
			return
		}
		g.For(g.U32(0), g.U32(lanes), g.U32(uint32(turns*groups)), func(first ir.Value) { several(g.Add(mine, first)) })
	}, func() {
		g.For(g.U32(0), g.U32(lanes), g.U32(uint32(groups)), func(first ir.Value) {
			turn(g.Add(mine, first), func(e *Edge) { g.When(there(e.Dst.Bytes), func() { w.handle(e) }) })
		})
	})
	w.dst.Set(g.U32(nowhere))
}

func (w *Walk) handle(e *Edge) {
	e.group, e.plan, e.left = w.group, w.plan, map[string]Feature{}
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

// vertexWords and edgeWords are how many words of a core's scratchpad the kernels over vertices and over edges take.
func (p *Plan) vertexWords() int { return (len(p.Vertices) - 1) * p.spare() }
func (p *Plan) edgeWords() int   { return p.Leaves * p.spare() }

// ScratchpadWords is how many words of a core's scratchpad a kernel takes; the schedule of one over edges has its own.
func (p *Plan) ScratchpadWords() (vertices, edges int) {
	if p.Fold != Scratchpad {
		return 0, 0
	}
	return p.vertexWords(), p.edgeWords()
}

// spare is how many words of the scratchpad a value of every lane's features takes.
func (p *Plan) spare() int {
	size := p.GroupLanes()
	return (p.K + size - 1) / size * p.Lanes * p.Warps
}

// VertexKernel writes functions over all vertices, a group a vertex (Fig. 5.1, lines 76 to 97). last: the last of them
// says what vertices hold.
func (p *Plan) VertexKernel(k *emit.Kernel, funcs []VertexFunc, last bool) {
	k.Phase(isa.PhaseApply, func() {
		g := p.Group(k)
		lanes, groups := k.U32(uint32(p.Lanes)), uint32(p.Lanes/g.size)
		vertices := k.Count("vertices")
		k.For(k.SpreadWarp(), vertices, k.NumThreads(), func(first ir.Value) {
			changed := k.Var(k.U32(0))
			k.For(k.U32(0), lanes, k.U32(groups), func(at ir.Value) {
				v := k.Add(k.Add(first, at), k.Shr(k.LaneID(), g.shift()))
				updated := k.Var(k.U32(0))
				k.When(k.Lt(v, vertices), func() {
					at := g.Of(v)
					next := p.compute(g, at, funcs)
					if last {
						updated.Set(k.ToU32(p.update(g, v, at, next)))
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
func (p *Plan) compute(g *Group, v Place, funcs []VertexFunc) (next Feature) {
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
			inRegisters[f.Name] = p.inScratchpad(g, n, p.vertexWords(), next)
		default:
			inRegisters[f.Name] = next
		}
	}
	return next
}

// inScratchpad stores value number n of every lane's features, a word a lane side by side; words: of all values.
func (p *Plan) inScratchpad(g *Group, n, words int, x Feature) Feature {
	base := g.Shared("left", words)
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
func (p *Plan) update(g *Group, v ir.Value, at Place, next Feature) (changed ir.Value) {
	epsilon := g.Float(WordEpsilon)
	var sent ir.Value // the vertex has just sent what it held
	if p.Kept {
		sent = p.IsActive(g.Kernel, v)
	}
	updated := g.Any(func(i Index) ir.Value {
		now, old := next.At(i), g.Load(Now, at, i)
		if sent != nil {
			old = g.Select(sent, old, g.Load(Before, at, i))
		}
		store := func() {
			g.Store(Now, at, i, now)
			if p.Changes {
				g.Store(Before, at, i, old)
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
				g.zero(s.Name, at, s.Words(p.K))
			}
		}
	}
	if p.Slots {
		g.Once(func() { p.flip(g, v) })
	}
	return updated
}

// slotArray has a word of every vertex, of algorithms with Slots.
const slotArray = "slot"

// flip changes the slot of a vertex whose edges have been handled.
func (p *Plan) flip(g *Group, v ir.Value) {
	last := g.Kernel.Load(ir.U32, g.Addr(slotArray), v)
	next := g.Sub(g.U32(1), last)
	if p.Changes {
		next = g.Select(p.IsActive(g.Kernel, v), next, last)
	}
	g.Kernel.Store(g.Addr(slotArray), v, next)
}

// zero stores zeros into a vertex's words, k or a matrix.
func (g *Group) zero(array string, v Place, words int) {
	if words == g.K {
		g.Each(func(i Index) { g.Store(array, v, i, g.F32(0)) })
		return
	}
	g.Rows(func(row ir.Value) {
		at := g.Row(v, row)
		g.Each(func(i Index) { g.Store(array, at, i, g.F32(0)) })
	})
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
