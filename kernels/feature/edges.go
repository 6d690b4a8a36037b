package feature

import (
	"math"

	"heddle/isa"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
)

// Walk is a kernel over edges being written: the lane to which a schedule assigns an edge hands it over, and a group
// computes its features (§5.1.1): as many edges at a time as the warp has groups.
type Walk struct {
	plan  *Plan
	group *Group
	funcs []EdgeFunc

	id, src, dst, weight *ir.Variable // places, and the weight's bits; dst is nowhere in a lane without an edge
	to                   *ir.Variable // the destination's number, if needed; otherwise nil
	found                []*ir.Variable
}

// nowhere is an invalid place.
const nowhere = math.MaxUint32

// Walk begins a kernel: it must be called before any lane has an edge.
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

// mostSums is the largest number of words of a row's sums that a thread keeps in registers.
const mostSums = 32

// Row encloses the walk of all edges that add to vertex v, by a thread, a warp or a thread block, of so many threads.
// Where a lane has all features of its edges, their sums stay in its registers until the row ends, if they are few.
// Other sums are in memory; a row that one thread walks is added up there without atomics, by its warp's lanes.
func (w *Walk) Row(v ir.Value, threads int, walk func()) {
	g, properties := w.group, w.plan.addedTo(w.funcs)
	words := 0
	for _, x := range properties {
		words += x.Words(g.K)
	}
	if g.size > 1 || words > mostSums || g.rounds() > unrolled || w.plan.Sets > 1 {
		g.alone = threads == 1
		walk()
		g.alone = false
		return
	}
	sums := map[string][]*ir.Variable{}
	for _, x := range properties {
		for range x.Words(g.K) {
			sums[x.Name] = append(sums[x.Name], g.Var(g.F32(0)))
		}
	}
	g.sums, g.mixed = sums, false
	walk()
	g.sums = nil
	g.Phase(isa.PhaseGatherSum, func() {
		for _, x := range properties {
			w.put(x, v, threads, sums[x.Name])
		}
	})
}

// put adds a row's sums, of which threads hold parts, to its vertex's words. Those are zero, unless some of its edges
// have added to them there.
func (w *Walk) put(into *Property, v ir.Value, threads int, sums []*ir.Variable) {
	g := w.group
	base := g.Address(g.Addr(into.Name), g.Mul(v, g.U32(uint32(len(sums)))))
	store := func(n int, x ir.Value) {
		if g.mixed {
			x = g.Add(x, g.Kernel.Load(ir.F32, base, g.U32(uint32(n))))
		}
		g.Kernel.Store(base, g.U32(uint32(n)), x)
	}
	if threads == 1 {
		for n, x := range sums {
			store(n, x.Get())
		}
		return
	}
	all := make([]ir.Value, len(sums))
	for n, x := range sums {
		all[n] = g.WarpSum(x.Get(), w.plan.Lanes)
	}
	g.When(g.Eq(g.LaneID(), g.U32(0)), func() {
		for n, x := range all {
			if threads > w.plan.Lanes {
				g.AtomicAddF(base, g.U32(uint32(n)), x)
			} else {
				store(n, x)
			}
		}
	})
}

// shares reports whether lanes hand edges to groups of their warp. A thread block walks its edges itself: ONYX then
// switches load balancing off (§5.1.1).
func (w *Walk) shares() bool { return w.group.size > 1 && !w.group.together() }

// Edge handles the lane's edge; pipelined, when it has received the next one, whose loads are then in flight (Fig.
// 5.3).
func (w *Walk) Edge(e *layout.Edge) {
	g := w.group
	id := e.ID
	if id == nil {
		id = g.U32(0) // read by a graph unit: its number is not needed
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
	if w.plan.Pipelined && w.shares() { // other loops handle an edge at once
		w.share()
	}
}

// atOnce is the number of group turns that are unrolled.
const atOnce = 4

// share makes the groups handle the edges of the warp's lanes in turn.
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
		at := func(x ir.Value) Place { return Place{Bytes: of(x)} }
		e := &Edge{ID: at(id), Src: at(src), Dst: at(dst), Weight: g.AsF32(of(weight))}
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
			turn(g.Add(mine, first), func(e *Edge,
				to ir.Value) {
				g.When(there(e.Dst.Bytes), func() { w.handle(e, to) })
			})
		})
	})
	w.dst.Set(g.U32(nowhere))
}

// handle runs an edge's functions, each only if the one before it went on (§6.1); if the last one that ran did, the
// destination, numbered to, is marked (Fig. 5.1, lines 68 to 72).
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
