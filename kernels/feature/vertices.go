package feature

import (
	"heddle/isa"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// VertexKernel emits functions over vertices, one group per vertex (Fig. 5.1, lines 76 to 97): over all, or over those
// changed by an edge or by themselves. last: the last function returns the vertices' next values.
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

// vertexWalk is a kernel over vertices being written: each warp takes as many vertices at a time as a word of a set of
// vertices has bits, and its groups take turns; a thread block takes one vertex at a time.
type vertexWalk struct {
	*Plan
	*Group
	funcs []VertexFunc
	last  bool

	changed, going *ir.Variable // the bits of a lane's vertex; going is nil if not needed
}

// word handles the vertices of a word, starting from the first.
func (w *vertexWalk) word(first, vertices ir.Value) {
	if !w.Touched {
		w.turns(first, vertices, nil)
		return
	}
	place, _ := w.bitOf(w.Group.Kernel, first)
	todo := w.Or(w.Group.Kernel.Load(ir.U32, w.Addr(Marked), place), w.Group.Kernel.Load(ir.U32, w.Addr(Active), place))
	w.When(w.Ne(todo, w.U32(0)), func() { w.turns(first, vertices, todo) })
}

// turns makes the groups handle the vertices in turn; todo holds their bits; nil: all.
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

// alone handles a vertex by a thread block, whose first lane updates its bits.
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

// vertex runs the functions of a vertex. A vertex stopped by an earlier kernel stays unchanged.
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
			w.settle(v, at)
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

// functions runs functions, each only if the one before it went on (§6.1, progress); left holds values by name.
func (w *vertexWalk) functions(v ir.Value, at Place, funcs []VertexFunc, left map[string]Feature, updated,
	going *ir.Variable) {
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
			updated.Set(w.Or(updated.Get(), w.ToU32(w.update(v, at, x))))
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
		return w.inScratchpad(n, w.vertexWords(), x)
	}
	return x
}

// keep leaves a vertex unchanged: if changes are sent, its last sent value is its present one.
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

// update stores a vertex's next value, and reports whether a feature has changed.
func (w *vertexWalk) update(v ir.Value, at Place, next Feature) (changed ir.Value) {
	epsilon := w.Float(WordEpsilon)
	var sent ir.Value // the vertex has just sent its value
	if w.Kept {
		sent = w.IsActive(w.Group.Kernel, v)
	}
	return w.Any(func(i Index) ir.Value {
		now, old := next.At(i), w.Load(Now, at, i)
		if sent != nil {
			old = w.Select(sent, old, w.Load(Before, at, i))
		}
		store := func() {
			w.Store(Now, at, i, now)
			if w.Changes {
				w.Store(Before, at, i, old)
			}
		}
		if i.there != nil {
			w.When(i.there, store)
		} else {
			store()
		}
		return w.Gt(w.Abs(w.Sub(now, old)), epsilon)
	})
}

// settle ends a super-step of a vertex, changed or not.
func (w *vertexWalk) settle(v ir.Value, at Place) {
	if !w.Changes {
		for _, s := range w.Properties {
			if s.Sum {
				w.zero(s.Name, at, s.Words(w.Group.K))
			}
		}
	}
	if w.Slots {
		w.Once(func() { w.flip(v) })
	}
}

// slotArray has one word per vertex, for algorithms with Slots.
const slotArray = "slot"

// flip flips the slot of a vertex whose edges have been handled.
func (w *vertexWalk) flip(v ir.Value) {
	slots := w.Addr(slotArray)
	last := w.Group.Kernel.Load(ir.U32, slots, v)
	next := w.Sub(w.U32(1), last)
	if w.Changes {
		next = w.Select(w.IsActive(w.Group.Kernel, v), next, last)
	}
	w.Group.Kernel.Store(slots, v, next)
}

// zero zeroes a vertex's words: k, or a matrix.
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

// mark records, in the lane whose vertex a group has just handled, a number that is 0 or 1.
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

// publish stores the words of the vertices of a warp or thread block: the changed ones and their number, and those that
// go on.
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
