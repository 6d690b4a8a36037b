package graphir

import (
	"slices"

	"heddle/graphit"
)

// Ordered is a loop that dequeues one bucket after another and lowers priorities along the edges of its vertices, to a
// fixpoint that does not depend on the order of the updates: a worker may process its own additions to the current
// bucket without waiting for the others (bucket fusion; GraphIt, CGO 2020, §3.3).
type Ordered struct {
	Queue  *graphit.Var
	Vector *graphit.Var // the priorities
	Op     *EdgeSetIterator
	At     *graphit.Name // the vertex whose priority is lowered
	Value  graphit.Expr  // the new priority
	Before []graphit.Stmt
}

// ordered marks the loops whose buckets may be fused.
func ordered(b *builder, _ *graphit.Schedule) {
	b.p.Visit(func(s Stmt) {
		loop, ok := s.(*While)
		if !ok {
			return
		}
		o := b.p.Buckets(loop)
		if o != nil && o.relaxes() && !o.Op.eachBucket() {
			loop.Ordered = o
		}
	})
}

// eachBucket reports whether the schedule requires a barrier after every bucket.
func (op *EdgeSetIterator) eachBucket() bool {
	return op.Hybrid != nil || op.Metadata.Hybrid || op.Direction == Pull ||
		op.PriorityUpdate != "" && op.PriorityUpdate != EagerWithMerge
}

// Buckets recognises while (q.finished() == false) { var f = q.dequeue_ready_set();
// edges.from(f).applyUpdatePriority(…); delete f; }.
func (p *Program) Buckets(loop *While) *Ordered {
	o := &Ordered{Queue: Finishes(loop.Cond)}
	if o.Queue == nil || len(loop.Body) < 2 || len(loop.Body) > 3 {
		return nil
	}
	if o.Vector = p.QueueVector(o.Queue); o.Vector == nil {
		return nil
	}
	taken := dequeued(loop.Body[0], o.Queue)
	op, ok := loop.Body[1].(*EdgeSetIterator)
	if taken == nil || !ok || op.Output != Priority || op.SrcFilter != nil || op.DstFilter != nil ||
		!is(taken, op.Input) {
		return nil
	}
	if len(loop.Body) == 3 {
		h, ok := loop.Body[2].(*Host)
		if !ok {
			return nil
		}
		if d, ok := h.Stmt.(*graphit.Delete); !ok || !is(taken, d.X) {
			return nil
		}
	}
	o.Op = op
	return o
}

// Finishes returns the queue whose finished() a loop's condition negates; nil: some other condition.
func Finishes(x graphit.Expr) *graphit.Var {
	m, ok := x, false
	switch x := x.(type) {
	case *graphit.Unary:
		m, ok = x.X, x.Op == "not"
	case *graphit.Binary:
		t, isTruth := x.Y.(*graphit.Truth)
		m, ok = x.X, isTruth && (x.Op == "==" && !t.Value || x.Op == "!=" && t.Value)
	}
	call, isCall := m.(*graphit.Method)
	if !ok || !isCall || call.Name != "finished" {
		return nil
	}
	return variable(call.X)
}

func variable(x graphit.Expr) *graphit.Var {
	if n, ok := x.(*graphit.Name); ok {
		return n.Var
	}
	return nil
}

// dequeued returns the variable that a statement declares for a queue's next bucket.
func dequeued(s Stmt, q *graphit.Var) *graphit.Var {
	h, ok := s.(*Host)
	if !ok {
		return nil
	}
	v, ok := h.Stmt.(*graphit.VarStmt)
	if !ok {
		return nil
	}
	m, ok := v.Var.Init.(*graphit.Method)
	if !ok || m.Name != "dequeue_ready_set" || !is(q, m.X) {
		return nil
	}
	return v.Var
}

// QueueVector returns the vector of a queue's priorities; nil: main creates no such queue, or several with different
// vectors.
func (p *Program) QueueVector(q *graphit.Var) *graphit.Var {
	var found []*graphit.Var
	p.made(q, func(x *graphit.New) { found = append(found, variable(x.Args[2])) })
	if found = slices.Compact(found); len(found) != 1 {
		return nil
	}
	return found[0]
}

// Descends reports whether main makes a queue with higher priorities first.
func (p *Program) Descends(q *graphit.Var) (descends bool) {
	p.made(q, func(x *graphit.New) { descends = descends || graphit.Descending(x) })
	return descends
}

// made calls f with each queue that main makes for a variable.
func (p *Program) made(q *graphit.Var, f func(x *graphit.New)) {
	add := func(v *graphit.Var, x graphit.Expr) {
		if made, ok := x.(*graphit.New); ok && v == q && made.Of.Kind == graphit.PriorityQueue {
			f(made)
		}
	}
	p.Visit(func(s Stmt) {
		h, ok := s.(*Host)
		if !ok {
			return
		}
		switch s := h.Stmt.(type) {
		case *graphit.Assign:
			add(variable(s.X), s.Value)
		case *graphit.VarStmt:
			add(s.Var, s.Var.Init)
		}
	})
}

// relaxes reports whether the operator's function only lowers the destination's priority to the source's plus an
// addend: then the least priorities do not depend on the order.
func (o *Ordered) relaxes() bool {
	f := o.Op.Apply
	n := len(f.Body) - 1
	if n < 0 {
		return false
	}
	locals := map[*graphit.Var]graphit.Expr{}
	for _, s := range f.Body[:n] {
		v, ok := s.(*graphit.VarStmt)
		if !ok {
			return false
		}
		locals[v.Var] = v.Var.Init
	}
	call, ok := f.Body[n].(*graphit.ExprStmt)
	if !ok {
		return false
	}
	m, ok := call.X.(*graphit.Method)
	if !ok || m.Name != "updatePriorityMin" || !is(o.Queue, m.X) || variable(m.Args[0]) != f.Params[1] {
		return false
	}
	o.At, o.Value, o.Before = m.Args[0].(*graphit.Name), m.Args[len(m.Args)-1], f.Body[:n]
	return o.rises(o.Value, locals)
}

// rises reports whether an expression is the source's priority plus terms that do not depend on priorities.
func (o *Ordered) rises(x graphit.Expr, locals map[*graphit.Var]graphit.Expr) bool {
	switch x := x.(type) {
	case *graphit.Name:
		init := locals[x.Var]
		return init != nil && o.rises(init, locals)
	case *graphit.Index:
		return variable(x.X) == o.Vector && variable(x.I) == o.Op.Apply.Params[0]
	case *graphit.Binary:
		return x.Op == "+" && (o.rises(x.X, locals) && o.fixed(x.Y, locals) ||
			o.rises(x.Y, locals) && o.fixed(x.X, locals))
	}
	return false
}

// fixed reports whether an expression does not depend on priorities.
func (o *Ordered) fixed(x graphit.Expr, locals map[*graphit.Var]graphit.Expr) bool {
	ok := true
	graphit.WalkExpr(x, func(x graphit.Expr) {
		switch x := x.(type) {
		case *graphit.Name:
			init := locals[x.Var]
			ok = ok && x.Var != o.Vector && (init == nil || o.fixed(init, locals))
		case *graphit.Method:
			ok = false
		case *graphit.Call:
			ok = ok && x.Func == nil && graphit.Writes(x) == ""
		}
	})
	return ok
}
