package lower

import (
	"slices"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/algorithm"
	"heddle/kernels/compose"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/schedule"
	"heddle/kernels/workload"
)

// schedules maps UGF's names for load balance to schedules (§2.5.3, §5.2.2), and those of hardware units.
var schedules = map[string]workload.Schedule{
	"VERTEX_BASED": "vertex", "EDGE_ONLY": "edge", "TWC": "twc", "TWCE": "twce", "ETWC": "twce", "STRICT": "strict",
	"WM": "warp", "CM": "cta",
	"WEAVER": "weaver", "PEG": "peg", "HWWL": "hwwl", "EGHW": "eghw",
}

// ScheduleOf returns the schedule that a name for load balance stands for.
func ScheduleOf(word string) workload.Schedule { return schedules[word] }

// dedups maps UGF's names for deduplication (Table 3.1).
var dedups = map[string]workload.Choice{"": "monotonic", "FUSED": "monotonic", "UNFUSED": "monotonic",
	"MONOTONIC_COUNTERS": "monotonic", "BITMAP": "bitmap", "BOOLMAP": "bytemap"}

// workloadOf returns an operator's workload: the settings of its schedule, and the experiment's for the rest.
func workloadOf(op *graphir.EdgeSetIterator, m *graphir.Metadata, base workload.Workload,
	host *eval.Host) (workload.Workload, error) {
	w := base
	if m.Given["load_balance"] {
		w.Schedule = schedules[m.LoadBalance]
	}
	if m.Blocking != nil {
		n, err := host.Argument(*m.Blocking, graphit.Blocks)
		if err != nil {
			return w, err
		}
		if w.BlockVertices = int(n); w.Layout != "edge-blocking" { // which waits behind each block, as Algorithm 3
			w.Layout = "block-coo"
		}
	}
	if m.Given["direction"] {
		w.Direction = "push"
		switch {
		case m.Hybrid && isDense(op):
			w.Direction = "pull" // all edges are many
		case m.Hybrid:
			w.Direction = "hybrid"
		case m.Direction == graphir.Pull:
			w.Direction = "pull"
		}
	}
	dense := isDense(op)
	switch {
	case dense:
		w.ActiveSet, w.Dedup = "counter", "none"
	case m.Given["direction"] || m.Given["frontier_creation"]:
		w.ActiveSet = set(m, w)
	}
	lists := w.ActiveSet == "queue" || w.ActiveSet == "list" ||
		w.ActiveSet == workload.Auto && w.Direction != "pull" && w.Direction != "hybrid" && w.Schedule != "edge"
	switch {
	case !lists:
		w.Dedup = "none"
	case m.Given["deduplication"] && m.ApplyDeduplication:
		w.Dedup = dedups[m.DedupType]
	case m.Given["deduplication"]:
		w.Dedup = "none"
	}
	if lists && m.ApplyDeduplication && adds(op) && (w.Dedup == "none" || w.Dedup == "bytemap") {
		w.Dedup = "monotonic" // edges of a vertex that is in the set twice would be summed twice
	}
	return w, nil
}

// set returns the active set for a direction and a frontier's representation.
func set(m *graphir.Metadata, w workload.Workload) workload.Choice {
	asked := w.Direction == "pull" || w.Direction == "hybrid" || w.Schedule == "edge"
	switch r := m.OutputRepresentation; {
	case asked && r == graphir.Bitmap:
		return "bitmap"
	case asked:
		return "bytemap"
	case r == graphir.Bitmap:
		return "qnb-bitmap"
	case r == graphir.Boolmap:
		return "qnb-bytemap"
	}
	return "queue"
}

// isDense reports whether an operator covers all edges and produces no set.
func isDense(op *graphir.EdgeSetIterator) bool { return op.IsAllEdges && op.Output != graphir.Modified }

// adds reports whether the reduction that determines an operator's output is a sum.
func adds(op *graphir.EdgeSetIterator) bool {
	return slices.ContainsFunc(op.Accesses, func(a graphir.Access) bool {
		return a.Vector == op.Tracked &&
			a.Op == "+="
	})
}

// lowering lowers operators.
type lowering struct {
	program *graphir.Program
	host    *eval.Host
	weights graph.WeightKind
	base    workload.Workload
	queues  map[*graphit.Var]*graphit.Var // the queues' priority vectors
}

// queueVectors returns the priority vectors of the queues that main creates.
func queueVectors(p *graphir.Program) map[*graphit.Var]*graphit.Var {
	of := map[*graphit.Var]*graphit.Var{}
	add := func(q *graphit.Var, x graphit.Expr, at graphit.Pos) {
		made, ok := x.(*graphit.New)
		if !ok || made.Of.Kind != graphit.PriorityQueue {
			return
		}
		v := made.Args[2].(*graphit.Name).Var
		if p.Wide(v.Type.Of) {
			refuse(at, "%s: priorities of type %s are not supported: expected int or uint", q.Name, v.Type.Of)
		}
		if of[q] != nil && of[q] != v {
			refuse(at, "%s: a queue has one vector of priorities", q.Name)
		}
		of[q] = v
	}
	p.Visit(func(s graphir.Stmt) {
		h, ok := s.(*graphir.Host)
		if !ok {
			return
		}
		switch s := h.Stmt.(type) {
		case *graphit.Assign:
			if n, ok := s.X.(*graphit.Name); ok {
				add(n.Var, s.Value, s.Pos)
			}
		case *graphit.VarStmt:
			add(s.Var, s.Var.Init, s.Pos)
		}
	})
	return of
}

// edges plans an operator under one schedule.
func (l *lowering) edges(op *graphir.EdgeSetIterator, m *graphir.Metadata, name string) (*compose.EdgeOperator, error) {
	w, err := workloadOf(op, m, l.base, l.host)
	if err != nil {
		return nil, err
	}
	l.resetUnread(&w)
	o, err := compose.NewEdgeOperator(name, l.algorithm(op, name), w, l.weights)
	if err != nil {
		return nil, &graphit.Error{File: l.program.File.Name, Pos: op.Pos, Msg: op.Name + ": " + err.Error(), Kind: err}
	}
	m.Hybrid = len(o.Plan.Direction.Uses) > 1
	m.Direction = graphir.Direction(o.Plan.Direction.Uses[0])
	m.IsEdgeParallel = !o.Plan.WalksAlone()
	return o, nil
}

// resetUnread resets the experiment's keys that this operator's schedule does not read and another one of the program
// does, for which the user has set them.
func (l *lowering) resetUnread(w *workload.Workload) {
	own, err := schedule.ByName(string(w.Schedule))
	if err != nil {
		return // refused with the plan
	}
	for _, op := range l.program.Edges {
		of := []*graphir.Metadata{&op.Metadata}
		if op.Hybrid != nil {
			of = append(of, &op.Hybrid.Above)
		}
		for _, m := range of {
			name := l.base.Schedule
			if m.Given["load_balance"] {
				name = schedules[m.LoadBalance]
			}
			other, err := schedule.ByName(string(name))
			if err == nil {
				compose.ResetUnread(w, own, other)
			}
		}
	}
}

// algorithm returns an operator as compose's algorithm.
func (l *lowering) algorithm(op *graphir.EdgeSetIterator, name string) *algorithm.Algorithm {
	a := &algorithm.Algorithm{Name: name, Dense: isDense(op), NeedsSet: !isDense(op),
		Silent: op.Output != graphir.Modified}
	if f := op.SrcFilter; f != nil {
		a.EdgeFilter = func(k *emit.Kernel, e *layout.Edge) ir.Value {
			return l.writer(k, nil).call(f,
				[]ir.Value{e.Src})
		}
	}
	if f := op.DstFilter; f != nil {
		a.Asked = true
		a.DstFilter = func(k *emit.Kernel, v ir.Value) ir.Value { return l.writer(k, nil).call(f, []ir.Value{v}) }
	}
	if !l.sum(op, a) {
		l.body(op, a)
	}
	return a
}

// sum sets an algorithm's reduction if its function is a single one; otherwise it returns false.
func (l *lowering) sum(op *graphir.EdgeSetIterator, a *algorithm.Algorithm) bool {
	g, ok := op.Gathers()
	if !ok || op.Output == graphir.Priority || op.Output == graphir.Modified && g.Into != op.Tracked {
		return false
	}
	t := g.Into.Type.Of
	if field, _ := l.program.Field(g.Into); t.Kind == graphit.Bool || l.program.Wide(t) || field != nil {
		return false
	}
	a.Into = vectorName(g.Into)
	if g.Op == "=" {
		if !op.Claims(g) {
			return false
		}
		a.Sum, a.Once, a.Asked = emit.ClaimU32, true, false
	} else if a.Sum = reduction(g.Op, t, op.Output == graphir.Modified, g.Pos); a.Sum == nil {
		return false
	}
	a.Gather = func(k *emit.Kernel, e *layout.Edge) ir.Value {
		w := l.writer(k, op.Accesses)
		l.edge(w, op.Apply, e)
		w.block(g.Before, assignedIn(op.Apply.Body))
		return w.convert(w.as(g.Value, t), a.Sum.Type)
	}
	return true
}

// edge passes an edge as the arguments of a function.
func (l *lowering) edge(w *writer, f *graphit.Func, e *layout.Edge) {
	l.edgeOf(w, f, e.Src, e.Dst, e.Weight)
}

func (l *lowering) edgeOf(w *writer, f *graphit.Func, src, dst ir.Value, weight func(t ir.Type) ir.Value) {
	w.values[f.Params[0]] = w.convert(src, typeOf(f.Params[0].Type))
	w.values[f.Params[1]] = w.convert(dst, typeOf(f.Params[1].Type))
	if len(f.Params) == 3 {
		p := f.Params[2]
		of := ir.I32
		if w.isWide(p.Type) {
			if l.weights == graph.FloatWeights && p.Type.IsReal() {
				of = ir.F32
			}
			w.pairs[p] = w.widened(weight(of), p.Type)
			return
		}
		if t := typeOf(p.Type); t == ir.F32 {
			of = t
		}
		w.values[p] = w.convert(weight(of), typeOf(p.Type))
	}
}

// reduction returns min=, max= or += of a type; nil: the machine has none.
func reduction(op string, t *graphit.Type, tracked bool, pos graphit.Pos) *emit.Reduction {
	of := typeOf(t)
	r := &emit.Reduction{Name: op + of.String(), Type: of}
	switch {
	case op == "+=":
		r.Combine = emit.AddU32.Combine
		r.Swap, r.Onto = emit.AddU32.Swap, true
		if of == ir.F32 {
			r.Swap = emit.AddF32.Swap
		}
		if tracked {
			r.Always, r.Repeats, r.EachTells = true, true, true
			r.Improves = func(k *emit.Kernel, _, new ir.Value) ir.Value { return k.Ne(new, k.Zero(of)) }
		}
		return r
	case of == ir.F32:
		return nil
	}
	r.Repeats = true
	r.Combine = func(k *emit.Kernel, old, new ir.Value) ir.Value { return k.Min(old, new) }
	r.Swap = func(k *emit.Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMin(b, i, v) }
	r.Improves = func(k *emit.Kernel, old, new ir.Value) ir.Value { return k.Lt(new, old) }
	if op == "max=" {
		r.Combine = func(k *emit.Kernel, old, new ir.Value) ir.Value { return k.Max(old, new) }
		r.Swap = func(k *emit.Kernel, b, i, v ir.Value) ir.Value { return k.AtomicMax(b, i, v) }
		r.Improves = func(k *emit.Kernel, old, new ir.Value) ir.Value { return k.Gt(new, old) }
	}
	return r
}

// body gives an algorithm a function that does more than one reduction.
func (l *lowering) body(op *graphir.EdgeSetIterator, a *algorithm.Algorithm) {
	// A set requires a reduction that may report a vertex several times.
	a.Sum = reduction("min=", &graphit.Type{Kind: graphit.Int}, true, op.Pos)
	a.Into = "none"
	a.Body = func(k *emit.Kernel, e *layout.Edge, changed func(v ir.Value)) {
		w := l.writer(k, op.Accesses)
		l.edge(w, op.Apply, e)
		if op.Output == graphir.Modified {
			w.tracked = op.Tracked
			w.changed = func(p ir.Value) {
				if p == nil {
					changed(e.Dst)
					return
				}
				k.When(p, func() { changed(e.Dst) })
			}
		}
		w.queues = l.queues
		w.block(op.Apply.Body, assignedIn(op.Apply.Body))
	}
}

// vertices lowers an operator over vertices.
func (l *lowering) vertices(op *graphir.VertexSetIterator, name string) *compose.VertexOperator {
	return &compose.VertexOperator{
		Name: name, Listed: !op.IsAllVertices, Keeps: op.Filters,
		Emit: func(k *emit.Kernel, v ir.Value) ir.Value {
			w := l.writer(k, op.Accesses)
			w.queues = l.waiting(op.Apply)
			return w.call(op.Apply, []ir.Value{w.convert(v, typeOf(op.Apply.Params[0].Type))})
		},
	}
}

// waiting returns the queues that a function of vertices has vertices wait in; nil: none.
func (l *lowering) waiting(f *graphit.Func) (queues map[*graphit.Var]*graphit.Var) {
	graphit.Walk(f.Body, func(x graphit.Expr) {
		if m, ok := x.(*graphit.Method); ok && m.Name == graphit.Enqueue {
			queues = l.queues
		}
	})
	return queues
}

// Names of a queue's state on the machine.
const (
	least = "queue.least" // least waiting priority
	below = "queue.below" // end of the current bucket
)

// waits returns the name of the array with a word per vertex that is set while the vertex waits in a queue.
func waits(q *graphit.Var) string { return "queue.waits." + q.Name }

// ready dequeues the vertices in the queue's current bucket.
func ready(q, vector *graphit.Var, descending bool) *compose.VertexOperator {
	return &compose.VertexOperator{
		Name: "ready." + q.Name, Keeps: true,
		Emit: func(k *emit.Kernel, v ir.Value) ir.Value {
			t := typeOf(vector.Type.Of)
			flags := k.Addr(waits(q))
			took := k.Var(k.U32(0))
			k.When(k.Ne(k.Load(ir.U32, flags, v), k.U32(0)), func() {
				priority := k.Load(t, k.Addr(vectorName(vector)), v)
				var here ir.Value
				if descending {
					here = k.Ge(priority, k.Param(priorityName, t))
				} else {
					here = k.Lt(priority, k.Param(below, t))
				}
				k.When(here, func() {
					k.Store(flags, v, k.U32(0))
					took.Set(k.U32(1))
				})
			})
			return k.Ne(took.Get(), k.U32(0))
		},
	}
}

// first finds the least waiting priority; the greatest, of a queue with higher priorities first.
func first(q, vector *graphit.Var, descending bool) *compose.VertexOperator {
	return &compose.VertexOperator{
		Name: "first." + q.Name,
		Emit: func(k *emit.Kernel, v ir.Value) ir.Value {
			t := typeOf(vector.Type.Of)
			k.When(k.Ne(k.Load(ir.U32, k.Addr(waits(q)), v), k.U32(0)), func() {
				priority := k.Load(t, k.Addr(vectorName(vector)), v)
				best := k.Load(t, k.Addr(least), k.U32(0))
				if descending {
					k.When(k.Gt(priority, best), func() { k.AtomicMax(k.Addr(least), k.U32(0), priority) })
				} else {
					k.When(k.Lt(priority, best), func() { k.AtomicMin(k.Addr(least), k.U32(0), priority) })
				}
				k.Store(k.Addr(least), k.U32(1), k.U32(1)) // a vertex waits
			})
			return nil
		},
	}
}

// Plan is how an operator over edges runs: under one schedule, or two, chosen by the size of its input.
type Plan struct {
	Op    *graphir.EdgeSetIterator
	Plans []*compose.Plan
}

// Plans returns the plans of a program's operators over edges, as Run would run them on a graph with such weights.
func Plans(f *graphit.File, o Options, weights graph.WeightKind) (plans []Plan, err error) {
	defer catch(f.Name, &err)
	p, err := Build(f, o.Schedule, o.Float)
	if err != nil {
		return nil, err
	}
	l := &lowering{program: p, host: eval.NewHost(p, nil, eval.Options{Args: o.Args}), weights: weights,
		base: o.Workload, queues: queueVectors(p)}
	for _, op := range p.Edges {
		list := []*graphir.Metadata{&op.Metadata}
		if op.Hybrid != nil {
			list = append(list, &op.Hybrid.Above)
		}
		plan := Plan{Op: op}
		for _, m := range list {
			made, err := l.edges(op, m, op.Name)
			if err != nil {
				return nil, err
			}
			plan.Plans = append(plan.Plans, made.Plan)
		}
		plans = append(plans, plan)
	}
	return plans, nil
}
