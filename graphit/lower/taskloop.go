package lower

import (
	"math/bits"

	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/ir"
)

// taskLoop is a loop that is one launch of tasks. Its rounds are timestamps: a vertex that enters the next round's set
// is a task right away. Of a queue, a priority's bucket is the timestamp.
type taskLoop struct {
	op      *graphir.EdgeSetIterator
	set     *graphit.Var // a frontier that the condition asks for; nil: a queue's loop
	queue   *graphit.Var
	vector  *graphit.Var // the queue's priorities
	descend bool
	delta   int64
}

// firstTime is the timestamp of the first operator of a launch, or of the first round of a loop. Of a queue, vertices
// enter it in that operator, and the first bucket follows.
const firstTime = 1

// Names of the loop's data.
const (
	queueBase = "queue.base" // the first bucket's first priority, a word of the block
	stampsOf  = "task.rounds"
)

// queueWrite is a function that does nothing but lower a priority at the destination, to a value that depends on the
// source.
type queueWrite struct {
	vector *graphit.Var
	before []graphit.Stmt
	value  graphit.Expr
}

// queueWriteOf recognises such a function; nil: another one.
func queueWriteOf(op *graphir.EdgeSetIterator, vector *graphit.Var) *queueWrite {
	n := len(op.Apply.Body) - 1
	if n < 0 {
		return nil
	}
	last, ok := op.Apply.Body[n].(*graphit.ExprStmt)
	if !ok {
		return nil
	}
	m, ok := last.X.(*graphit.Method)
	if !ok || m.Name != "updatePriorityMin" {
		return nil
	}
	if at, ok := m.Args[0].(*graphit.Name); !ok || at.Var != op.Apply.Params[1] {
		return nil
	}
	pure := true
	look := func(x graphit.Expr) {
		switch x := x.(type) {
		case *graphit.Index:
			at, isName := x.I.(*graphit.Name)
			pure = pure && x.J == nil && isName && at.Var == op.Apply.Params[0]
		case *graphit.Call, *graphit.Method:
			pure = false
		}
	}
	for _, s := range op.Apply.Body[:n] {
		if _, ok := s.(*graphit.VarStmt); !ok {
			return nil
		}
		graphit.WalkStmt(s, look)
	}
	value := m.Args[len(m.Args)-1]
	graphit.WalkExpr(value, look)
	if !pure {
		return nil
	}
	return &queueWrite{vector, op.Apply.Body[:n], value}
}

// taskLoops finds the loops that are launches of their own.
func (l *lowering) taskLoops() map[graphir.Stmt]*taskLoop {
	loops := map[graphir.Stmt]*taskLoop{}
	l.program.Visit(func(s graphir.Stmt) {
		if w, ok := s.(*graphir.While); ok {
			if loop := l.taskLoop(w); loop != nil {
				loops[s] = loop
			}
		}
	})
	return loops
}

func (l *lowering) taskLoop(w *graphir.While) *taskLoop {
	if o := l.program.Buckets(w); o != nil {
		return &taskLoop{op: o.Op, queue: o.Queue, vector: o.Vector, descend: l.program.Descends(o.Queue)}
	}
	set := notEmpty(w.Cond)
	if set == nil {
		return nil
	}
	loop := &taskLoop{set: set}
	f := &fuser{program: l.program, numbers: numbersOf(w.Body)}
	var made *graphit.Var
	passed := false
	for _, s := range w.Body {
		switch s := s.(type) {
		case *graphir.EdgeSetIterator:
			in, ok := s.Input.(*graphit.Name)
			if loop.op != nil || !ok || in.Var != set || s.Output != graphir.Modified {
				return nil
			}
			loop.op, made = s, s.Declares
			if to, ok := s.To.(*graphit.Name); ok && made == nil {
				made = to.Var
			}
			passed = made == set
		case *graphir.Host:
			switch x := s.Stmt.(type) {
			case *graphit.Delete:
				if n, ok := x.X.(*graphit.Name); !ok || n.Var != set || loop.op == nil || passed {
					return nil
				}
				continue
			case *graphit.Assign:
				to, ok := x.X.(*graphit.Name)
				from, named := x.Value.(*graphit.Name)
				if ok && named && to.Var == set && made != nil && from.Var == made {
					passed = true
					continue
				}
			}
			if !f.deferred(s.Stmt) {
				return nil
			}
		default:
			return nil
		}
	}
	if loop.op == nil || !passed {
		return nil
	}
	return loop
}

// visit is the task of a vertex in a round. Of a queue, it is given the priority for which it was made, and does
// nothing if the vertex has another one by now: that one has a task of its own.
func (l *taskLoop) visit(e *edgeTasks, k *taskKernel) {
	v := k.arg(0)
	if l.queue == nil {
		e.visit(k, v)
		return
	}
	now := k.AsU32(k.Load(typeOf(l.vector.Type.Of), k.Addr(vectorName(l.vector)), v))
	k.When(k.Eq(now, k.arg(1)), func() { e.visit(k, v) })
}

// begin makes a vertex of the first set a task.
func (l *taskLoop) begin(e *edgeTasks, k *taskKernel, v ir.Value) {
	if l.queue == nil {
		k.spawn(e.name+".visit", k.now, v)
		return
	}
	p := k.Load(typeOf(l.vector.Type.Of), k.Addr(vectorName(l.vector)), v)
	if !l.descend {
		l.enters(e, k, v, p)
		return
	}
	none := k.Eq(k.AsU32(p), k.U32(uint32(greatest(l.vector.Type.Of))))
	k.When(k.Not(none), func() { l.enters(e, k, v, p) })
}

// next makes a vertex that has changed a task of the next round, once.
func (l *taskLoop) next(e *edgeTasks, k *taskKernel, v ir.Value) {
	begun := k.And(k.Sub(k.now, k.U32(firstTime)), k.U32(^uint32(k.times()-1)))
	round, stamps := k.Add(begun, k.U32(uint32(firstTime+k.times()))), k.Addr(stampsOf)
	at := k.Add(round, k.timeOf(v))
	if !e.once {
		k.spawn(e.name+".visit", at, v)
		return
	}
	k.When(k.Ne(k.Load(ir.U32, stamps, v), round), func() {
		k.Store(stamps, v, round)
		k.spawn(e.name+".visit", at, v)
	})
}

// enters makes a vertex a task at its priority, or, if that has passed, now.
func (l *taskLoop) enters(e *edgeTasks, k *taskKernel, v, priority ir.Value) {
	base, p := k.Count(queueBase), k.AsU32(priority)
	typed := base
	if priority.Type == ir.I32 {
		typed = k.AsI32(base)
	}
	far, passed := k.Sub(p, base), k.Lt(priority, typed)
	if l.descend {
		far, passed = k.Sub(base, p), k.Gt(priority, typed)
	}
	at := k.Max(k.now, k.Add(l.buckets(k, far), k.U32(uint32(firstTime+k.times()))))
	k.spawn(e.name+".visit", k.Select(passed, k.now, at), v, p)
}

// buckets returns the number of buckets that so many priorities are.
func (l *taskLoop) buckets(k *taskKernel, n ir.Value) ir.Value {
	d := uint32(l.delta)
	switch {
	case d == 1:
		return n
	case bits.OnesCount32(d) == 1:
		return k.Shr(n, k.U32(uint32(bits.TrailingZeros32(d))))
	}
	return k.Div(n, k.U32(d))
}

// current returns the first priority of the task's bucket.
func (l *taskLoop) current(k *taskKernel) ir.Value {
	n := k.Mul(k.Sub(k.now, k.U32(uint32(firstTime+k.times()))), k.U32(uint32(l.delta)))
	first := k.Add(k.Count(queueBase), n)
	if l.descend { // the base is a bucket's last priority then
		first = k.Sub(k.Sub(k.Count(queueBase), n), k.U32(uint32(l.delta-1)))
	}
	if typeOf(l.vector.Type.Of) == ir.I32 {
		return k.AsI32(first)
	}
	return first
}

// lower lowers a vertex's priority to a value, if that is lower.
func (l *taskLoop) lower(e *edgeTasks, k *taskKernel, w *writer, v, value ir.Value) {
	array := w.Addr(vectorName(l.vector))
	w.When(w.Lt(value, w.Load(value.Type, array, v)), func() {
		w.Store(array, v, value)
		l.enters(e, k, v, value)
	})
}

// update emits an update of the queue; false: the method is no such update.
func (l *taskLoop) update(e *edgeTasks, k *taskKernel, w *writer, x *graphit.Method) bool {
	n, ok := x.X.(*graphit.Name)
	if !ok || n.Var != l.queue {
		return false
	}
	of := l.vector.Type.Of
	switch x.Name {
	case "updatePriorityMin":
		l.lower(e, k, w, w.index(x.Args[0]), w.as(x.Args[len(x.Args)-1], of))
	case "updatePrioritySum":
		if !isMinusOne(x.Args[1]) || len(x.Args) < 3 {
			refuse(x.Pos, "updatePrioritySum: expected a difference of -1, and a least priority")
		}
		if l.delta != 1 {
			refuse(x.Pos, "updatePrioritySum: tasks have a bucket for each priority: expected configDelta(1)")
		}
		v, floor, array := w.index(x.Args[0]), w.as(x.Args[2], of), w.Addr(vectorName(l.vector))
		old := w.Load(floor.Type, array, v)
		w.When(w.Gt(old, floor), func() {
			now := w.Sub(old, w.convert(w.I32(1), floor.Type))
			w.Store(array, v, now)
			l.enters(e, k, v, now)
		})
	default:
		return false
	}
	return true
}

// base returns the first bucket's priority that the tasks count from.
func (l *taskLoop) base(first int64) uint32 {
	b := eval.Bucket(first, l.delta) * l.delta
	if l.descend {
		b += l.delta - 1
	}
	return uint32(b)
}
