package feature

import (
	"math"
	"math/bits"
	"slices"

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
	Sets    int // of K features each, of a vertex; 0: one
	Aware   bool
	Changes bool
	Kept    bool
	Fold    Folding
	// Pipelined says that an edge's features are computed while the next one is read (§5.2). It needs Aware.
	Pipelined bool
	// Block says that more features than a warp has lanes are shared by a thread block's.
	Block bool
	// Touched says that functions of vertices run where an edge has changed something, and not for all vertices. It needs
	// Changes.
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

// Walk is a kernel over edges being written: an edge is handed over by the lane that a schedule gave it to, and its
// features are computed by a group (§5.1.1): as many edges at a time as the warp has groups.
type Walk struct {
	plan  *Plan
	group *Group
	funcs []EdgeFunc

	id, src, dst, weight *ir.Variable // places, and the weight's bits; dst is nowhere where a lane has no edge
	to                   *ir.Variable // the destination's number, where that matters; else nil
	found                []*ir.Variable
}

// nowhere is no place.
const nowhere = math.MaxUint32

// Walk begins a kernel: it comes before any lane has an edge.
func (p *Plan) Walk(k *emit.Kernel, funcs []EdgeFunc) *Walk {
	w := &Walk{plan: p, group: p.Group(k), funcs: funcs}
	if w.shares() {
		if p.Touched {
			w.to = k.Var(k.U32(0))
		}
		w.id, w.src, w.dst, w.weight = k.Var(k.U32(0)), k.Var(k.U32(0)), k.Var(k.U32(nowhere)), k.Var(k.U32(0))
		for range p.Finds {
			w.found = append(w.found, k.Var(k.U32(0)))
		}
	}
	return w
}

// shares reports whether lanes hand edges to groups of their warp. A thread block walks its edges itself: then load
// balancing is switched off in ONYX (§5.1.1).
func (w *Walk) shares() bool { return w.group.size > 1 && !w.group.together() }

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
	if !w.shares() {
		w.handle(&Edge{ID: g.Of(id), Src: g.Of(e.Src), Dst: g.Of(e.Dst), Weight: weight, Found: found}, e.Dst)
		return
	}
	if w.plan.Pipelined {
		g.AllLanes(w.share)
	}
	w.id.Set(g.Of(id).Bytes)
	w.src.Set(g.Of(e.Src).Bytes)
	w.dst.Set(g.Of(e.Dst).Bytes)
	w.weight.Set(g.AsU32(weight))
	if w.to != nil {
		w.to.Set(e.Dst)
	}
	for n, x := range found {
		w.found[n].Set(x)
	}
	if !w.plan.Pipelined {
		g.AllLanes(w.share)
	}
}

// End handles the last edges of a pipelined loop.
func (w *Walk) End() {
	if w.plan.Pipelined && w.shares() { // others handle an edge at once
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
	var to ir.Value
	if w.to != nil {
		to = w.to.Get()
	}
	turn := func(from ir.Value, body func(e *Edge, to ir.Value)) {
		of := func(x ir.Value) ir.Value { return g.ShflIdx(x, from) }
		e := &Edge{ID: Place{of(id)}, Src: Place{of(src)}, Dst: Place{of(dst)}, Weight: g.AsF32(of(weight))}
		for _, x := range found {
			e.Found = append(e.Found, of(x))
		}
		if to == nil {
			body(e, nil)
			return
		}
		body(e, of(to))
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
			turn(g.Add(mine, first), func(e *Edge, to ir.Value) { g.When(there(e.Dst.Bytes), func() { w.handle(e, to) }) })
		})
	})
	w.dst.Set(g.U32(nowhere))
}

// handle runs an edge's functions: each if the one before it went on (§6.1), and if the last one that ran did, the
// destination, whose number is to, is marked (Fig. 5.1, lines 68 to 72).
func (w *Walk) handle(e *Edge, to ir.Value) {
	for n := range max(1, w.plan.Sets) {
		of := *e
		of.group, of.plan, of.left = w.group, w.plan, map[string]Feature{}
		if w.plan.Sets > 1 {
			of.Src, of.Dst, of.Weight = w.group.set(e.Src, n), w.group.set(e.Dst, n), w.group.AsF32(e.Found[n])
		}
		w.functions(&of, to, w.funcs)
	}
}

func (w *Walk) functions(e *Edge, to ir.Value, funcs []EdgeFunc) {
	if len(funcs) == 0 {
		w.touch(to)
		return
	}
	rest := func() { w.functions(e, to, funcs[1:]) }
	if goes := funcs[0].Emit(w.group, e); goes != nil {
		w.group.When(w.group.alike(goes), rest)
	} else {
		rest()
	}
}

// touch marks a vertex.
func (w *Walk) touch(v ir.Value) {
	if g := w.group; w.plan.Touched {
		g.Once(func() {
			word, bit := w.plan.bitOf(g.Kernel, v)
			g.AtomicOr(g.Addr(Marked), word, bit)
		})
	}
}

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

// VertexKernel writes functions over vertices, a group a vertex (Fig. 5.1, lines 76 to 97): over all, or where an edge
// has changed something and where a vertex has changed itself. last: the last of them says what vertices hold.
func (p *Plan) VertexKernel(k *emit.Kernel, funcs []VertexFunc, last bool) {
	k.Phase(isa.PhaseApply, func() {
		w := &vertexWalk{Plan: p, Group: p.Group(k), funcs: funcs, last: last}
		vertices := k.Count("vertices")
		if w.together() {
			k.Strided(vertices, w.alone)
			return
		}
		k.For(k.SpreadWarp(), vertices, k.NumThreads(), func(first ir.Value) { w.word(first, vertices) })
	})
}

// vertexWalk is a kernel over vertices being written: each warp has as many vertices at a time as there are bits in a
// word of a set of vertices, and its groups take turns; a thread block has a vertex at a time.
type vertexWalk struct {
	*Plan
	*Group
	funcs []VertexFunc
	last  bool

	changed, going *ir.Variable // a lane's vertex; going is nil where nobody asks
}

// word handles the vertices of a word, from the first on.
func (w *vertexWalk) word(first, vertices ir.Value) {
	if !w.Touched {
		w.turns(first, vertices, nil)
		return
	}
	place, _ := w.bitOf(w.Group.Kernel, first)
	todo := w.Or(w.Group.Kernel.Load(ir.U32, w.Addr(Marked), place), w.Group.Kernel.Load(ir.U32, w.Addr(Active), place))
	w.When(w.Ne(todo, w.U32(0)), func() { w.turns(first, vertices, todo) })
}

// turns has the groups handle the vertices in turn; todo has their bits; nil: all.
func (w *vertexWalk) turns(first, vertices, todo ir.Value) {
	w.changed, w.going = w.Var(w.U32(0)), nil
	if !w.last && w.Stops() {
		w.going = w.Var(w.U32(0))
	}
	groups := w.Lanes / w.size
	w.For(w.U32(0), w.U32(uint32(w.Lanes)), w.U32(uint32(groups)), func(at ir.Value) {
		v := w.Group.Add(w.Group.Add(first, at), w.Shr(w.LaneID(), w.shift()))
		there := w.Lt(v, vertices)
		if todo != nil {
			_, bit := w.bitOf(w.Group.Kernel, v)
			there = w.And(there, w.Ne(w.And(todo, bit), w.U32(0)))
		}
		updated, going := w.Var(w.U32(0)), w.Var(w.U32(0))
		w.When(there, func() { w.vertex(v, updated, going) })
		if w.last {
			w.mark(at, updated.Get(), w.changed)
		}
		if w.going != nil {
			w.mark(at, going.Get(), w.going)
		}
	})
	w.publish(first)
}

// alone handles a vertex by a thread block, whose first lane changes its bits.
func (w *vertexWalk) alone(v ir.Value) {
	place, bit := w.bitOf(w.Group.Kernel, v)
	has := func(set string) ir.Value {
		return w.Ne(w.And(w.Group.Kernel.Load(ir.U32, w.Addr(set), place), bit), w.U32(0))
	}
	handle := func(active, marked ir.Value) {
		updated, going := w.Var(w.U32(0)), w.Var(w.U32(0))
		w.vertex(v, updated, going)
		w.Barrier() // all warps have read the bits
		flip := func(set string, is ir.Value, to *ir.Variable) {
			w.When(w.Ne(w.ToU32(is), to.Get()), func() { w.AtomicXor(w.Addr(set), place, bit) })
		}
		if !w.last {
			if w.Fold == Unfolded && w.Stops() {
				was := has(Going)
				w.Once(func() { flip(Going, was, going) })
			}
			return
		}
		w.Once(func() {
			flip(Active, active, updated)
			if marked != nil {
				w.When(marked, func() { w.AtomicXor(w.Addr(Marked), place, bit) })
			}
			w.When(w.Ne(updated.Get(), w.U32(0)), func() { w.AtomicAdd(w.Addr(Count), w.U32(0), w.U32(1)) })
		})
	}
	active := has(Active)
	if !w.Touched {
		handle(active, nil)
		return
	}
	marked := has(Marked)
	w.When(w.Or(active, marked), func() { handle(active, marked) })
}

// vertex runs the functions of a vertex. One that an earlier kernel has stopped stays as it is.
func (w *vertexWalk) vertex(v ir.Value, updated, going *ir.Variable) {
	for n := range max(1, w.Sets) {
		at := w.set(w.Of(v), n)
		run := func() { w.functions(v, at, w.funcs, map[string]Feature{}, updated, going) }
		if w.Fold == Unfolded && w.stopped() {
			word, bit := w.bitOf(w.Group.Kernel, v)
			goes := w.Ne(w.And(w.Group.Kernel.Load(ir.U32, w.Addr(Going), word), bit), w.U32(0))
			w.If(goes, run, func() { w.keep(v, at) })
		} else {
			run()
		}
		if w.last {
			w.settle(w.Group, v, at)
		}
	}
}

// stopped reports whether a function before the kernel's may have stopped.
func (w *vertexWalk) stopped() bool {
	for i := range w.Vertices {
		if w.Vertices[i].Name == w.funcs[0].Name {
			return false
		}
		if w.Vertices[i].Stops {
			return true
		}
	}
	return false
}

// functions runs functions, each if the one before it went on (§6.1, progress); left are values by their names.
func (w *vertexWalk) functions(v ir.Value, at Place, funcs []VertexFunc, left map[string]Feature, updated, going *ir.Variable) {
	f := &funcs[0]
	x, goes := f.Emit(w.Group, at, func(name string) Feature {
		if x, ok := left[name]; ok {
			return x
		}
		array := leftName(name)
		return Feature{of: func(i Index) ir.Value { return w.Load(array, at, i) }}
	})
	next := func() {
		switch {
		case len(funcs) > 1:
			left[f.Name] = w.leave(len(w.funcs)-len(funcs), x)
			w.functions(v, at, funcs[1:], left, updated, going)
		case w.last:
			updated.Set(w.Or(updated.Get(), w.ToU32(w.update(w.Group, v, at, x))))
		default:
			array := leftName(f.Name)
			w.Each(func(i Index) { w.Store(array, at, i, x.At(i)) })
			going.Set(w.U32(1))
		}
	}
	if goes == nil {
		next()
		return
	}
	w.If(goes, next, func() { w.keep(v, at) })
}

// leave leaves a value for later functions of the kernel.
func (w *vertexWalk) leave(n int, x Feature) Feature {
	if w.Fold == Scratchpad {
		return w.inScratchpad(w.Group, n, w.vertexWords(), x)
	}
	return x
}

// keep leaves a vertex as it is: if changes are sent, what it has sent is what it holds.
func (w *vertexWalk) keep(v ir.Value, at Place) {
	if !w.last || !w.Changes {
		return
	}
	store := func() {
		w.Each(func(i Index) { w.Store(Before, at, i, w.Load(Now, at, i)) })
	}
	if w.Kept {
		w.When(w.alike(w.IsActive(w.Group.Kernel, v)), store)
		return
	}
	store()
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
		return g.Kernel.Add(at, g.Mul(g.Div(i.F, g.U32(uint32(g.size))), g.U32(threads)))
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
	return g.Any(func(i Index) ir.Value {
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
}

// settle ends a super-step of a vertex, whether it has changed or not.
func (p *Plan) settle(g *Group, v ir.Value, at Place) {
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

// mark has the lane whose vertex a group has just handled remember a number that is 0 or 1.
func (w *vertexWalk) mark(at, x ir.Value, to *ir.Variable) {
	some := w.Ballot(w.Ne(x, w.U32(0)))
	if w.size == 1 {
		to.Set(w.And(w.Shr(some, w.LaneID()), w.U32(1)))
		return
	}
	groups := uint32(w.Lanes / w.size)
	mine := w.Eq(w.And(w.LaneID(), w.U32(^(groups-1))), at)
	first := w.Mul(w.And(w.LaneID(), w.U32(groups-1)), w.U32(uint32(w.size)))
	bit := w.And(w.Shr(some, first), w.U32(1))
	to.Set(w.Select(mine, bit, to.Get()))
}

// publish stores words of the warp's or thread block's vertices: which have changed, and how many; which go on.
func (w *vertexWalk) publish(first ir.Value) {
	if !w.last && w.going == nil {
		return
	}
	bits := func(x *ir.Variable) ir.Value { return w.Ballot(w.Ne(x.Get(), w.U32(0))) }
	place, _ := w.bitOf(w.Group.Kernel, first)
	var going ir.Value
	if w.going != nil {
		going = bits(w.going)
	}
	word := bits(w.changed)
	w.When(w.Eq(w.LaneID(), w.U32(0)), func() {
		if going != nil {
			w.Group.Kernel.Store(w.Addr(Going), place, going)
		}
		if !w.last {
			return
		}
		w.Group.Kernel.Store(w.Addr(Active), place, word)
		if w.Touched {
			w.Group.Kernel.Store(w.Addr(Marked), place, w.U32(0))
		}
		w.When(w.Ne(word, w.U32(0)), func() { w.AtomicAdd(w.Addr(Count), w.U32(0), w.OnesCount(word)) })
	})
}
