package lower

import (
	"fmt"

	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// refusal is the panic value for a construct that a machine does not support.
type refusal struct {
	pos graphit.Pos
	msg string
}

func refuse(pos graphit.Pos, format string, args ...any) {
	panic(refusal{pos, fmt.Sprintf(format, args...)})
}

// catch converts a panicked refusal to an error.
func catch(file string, err *error) {
	switch x := recover().(type) {
	case nil:
	case refusal:
		*err = &graphit.Error{File: file, Pos: x.pos, Msg: x.msg}
	default:
		panic(x)
	}
}

// Names of kernels' parameters, distinct from compose's.
func vectorName(v *graphit.Var) string { return "vector." + v.Name }
func scalarName(v *graphit.Var) string { return "scalar." + v.Name }

// writer emits a function into a kernel.
type writer struct {
	*emit.Kernel
	values map[*graphit.Var]ir.Value     // parameters, and variables assigned once
	vars   map[*graphit.Var]*ir.Variable // other variables
	atomic func(pos graphit.Pos) bool    // reports whether an access must be atomic
	// changed is called where a function has changed its operator's tracked vector; nil: nothing is tracked.
	tracked *graphit.Var
	changed func(p ir.Value) // p: the lanes with a change
	loops   []*ir.Loop
	queues  map[*graphit.Var]*graphit.Var // the queues' priority vectors; nil: the function must not change priorities
	// Of tasks: update emits a change of a priority, and current is the priority of the queue's bucket.
	update  func(x *graphit.Method) bool
	current func() ir.Value

	program  *graphir.Program
	pairs    map[*graphit.Var]pair // of numbers of two words: those of values
	pairVars map[*graphit.Var]*pairVariable
}

// typeOf returns the machine's representation of a type.
func typeOf(t *graphit.Type) ir.Type {
	switch t.Kind {
	case graphit.Int:
		return ir.I32
	case graphit.Uint, graphit.Vertex:
		return ir.U32
	case graphit.Float, graphit.Double:
		return ir.F32
	case graphit.Bool:
		return ir.Pred
	}
	refuse(t.Pos, "%s: a function of edges or vertices has numbers and truth values", t)
	return ir.None
}

// call emits a function's body for arguments, and returns its result; nil: none.
func (w *writer) call(f *graphit.Func, args []ir.Value) ir.Value {
	for i, p := range f.Params {
		if args[i] != nil { // else it has two words
			w.values[p] = args[i]
		}
	}
	if f.Result != nil && w.isWide(f.Result.Type) {
		w.callWide(f)
		return nil
	}
	if f.Result != nil {
		if x := f.Single(); x != nil { // a single assignment to the output
			return w.as(x, f.Result.Type)
		}
		w.vars[f.Result] = w.Var(w.Zero(typeOf(f.Result.Type)))
	}
	w.block(f.Body, assignedIn(f.Body))
	if f.Result == nil {
		return nil
	}
	return w.vars[f.Result].Get()
}

// assignedIn returns the variables that statements assign after their declaration.
func assignedIn(list []graphit.Stmt) map[*graphit.Var]bool {
	set := map[*graphit.Var]bool{}
	var visit func(list []graphit.Stmt)
	visit = func(list []graphit.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *graphit.Assign:
				if n, ok := s.X.(*graphit.Name); ok {
					set[n.Var] = true
				}
			case *graphit.If:
				visit(s.Then)
				visit(s.Else)
			case *graphit.While:
				visit(s.Body)
			case *graphit.For:
				visit(s.Body)
			}
		}
	}
	visit(list)
	return set
}

func (w *writer) block(list []graphit.Stmt, assigned map[*graphit.Var]bool) {
	for _, s := range list {
		w.statement(s, assigned)
	}
}

func (w *writer) statement(s graphit.Stmt, assigned map[*graphit.Var]bool) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		if w.isWide(s.Var.Type) {
			w.declareWide(s.Var, assigned[s.Var])
			return
		}
		value := w.Zero(typeOf(s.Var.Type))
		if s.Var.Init != nil {
			value = w.as(s.Var.Init, s.Var.Type)
		}
		if assigned[s.Var] {
			w.vars[s.Var] = w.Var(value)
		} else {
			w.values[s.Var] = value
		}
	case *graphit.Assign:
		w.assign(s)
	case *graphit.ExprStmt:
		if m, ok := s.X.(*graphit.Method); ok && (w.update != nil && w.update(m) || w.queues != nil && w.priority(m)) {
			return
		}
		if w.isWide(s.X.TypeOf()) {
			w.wideExpr(s.X)
			return
		}
		if _, ok := s.X.(*graphit.Call); !ok {
			refuse(s.Pos, "%s: a machine's functions do not do this", graphit.Source(s.X))
		}
		w.expr(s.X)
	case *graphit.If:
		w.If(w.expr(s.Cond), func() { w.block(s.Then, assigned) }, func() { w.block(s.Else, assigned) })
	case *graphit.While:
		w.Loop(func(l *ir.Loop) {
			l.BreakIf(w.Not(w.expr(s.Cond)))
			w.in(l, func() { w.block(s.Body, assigned) })
		})
	case *graphit.For:
		from, to := w.as(s.From, s.Var.Type), w.as(s.To, s.Var.Type)
		w.ForLoop(from, to, w.I32(1), func(i ir.Value, l *ir.Loop) {
			w.values[s.Var] = i
			w.in(l, func() { w.block(s.Body, assigned) })
		})
	case *graphit.Break:
		w.loops[len(w.loops)-1].BreakIf(w.Bool(true))
	default:
		refuse(s.Position(), "%s: only the host does this: expected it in main", graphit.SourceOf(s))
	}
}

func (w *writer) in(l *ir.Loop, body func()) {
	w.loops = append(w.loops, l)
	body()
	w.loops = w.loops[:len(w.loops)-1]
}

// load reads a vector's element.
func (w *writer) load(v *graphit.Var, at ir.Value) ir.Value {
	t := v.Type.Of
	array, at := w.slot(v, at)
	if t.Kind == graphit.Bool {
		return w.Ne(w.Load(ir.U32, array, at), w.U32(0))
	}
	return w.Load(typeOf(t), array, at)
}

// word converts a value to its representation in a vector.
func (w *writer) word(v *graphit.Var, x ir.Value) ir.Value {
	if v.Type.Of.Kind == graphit.Bool {
		return w.ToU32(x)
	}
	return x
}

// place returns the number of an element, which of a vector of vectors is one of its row.
func (w *writer) place(x *graphit.Index) ir.Value {
	at := w.index(x.I)
	if x.J == nil {
		return at
	}
	return w.Add(w.Mul(at, w.U32(uint32(x.X.TypeOf().Width))), w.index(x.J))
}

// index returns an element's number.
func (w *writer) index(x graphit.Expr) ir.Value {
	if w.isWide(x.TypeOf()) {
		return w.wideExpr(x).Lo
	}
	return w.convert(w.expr(x), ir.U32)
}

func (w *writer) assign(s *graphit.Assign) {
	if w.isWide(s.X.TypeOf()) {
		w.assignWide(s)
		return
	}
	if n, ok := s.X.(*graphit.Name); ok {
		v := w.vars[n.Var]
		if v == nil {
			refuse(s.Pos, "%s: a constant of the program cannot be assigned by many threads: expected a vector[1]",
				n.Name)
		}
		v.Set(w.combine(s.Op, v.Get(), w.as(s.Value, n.Var.Type)))
		return
	}
	x := s.X.(*graphit.Index)
	v := x.X.(*graphit.Name).Var
	value, element := w.as(s.Value, v.Type.Of), w.place(x)
	array, at := w.slot(v, element)
	tracked := w.changed != nil && v == w.tracked
	switch {
	case s.Op == "=":
		w.Store(array, at, w.word(v, value))
		if tracked {
			w.changed(nil)
		}
	case w.atomic != nil && w.atomic(x.Pos):
		w.atomically(s, array, at, value, tracked)
	default:
		old := w.load(v, element)
		if s.Op == "+=" {
			w.Store(array, at, w.Add(old, value))
			w.told(tracked, w.Ne(value, w.Zero(value.Type)))
			return
		}
		better := w.better(s.Op, old, value)
		w.When(better, func() {
			w.Store(array, at, value)
			w.told(tracked, nil)
		})
	}
}

// priority emits an update of a queue; false: the method is no such update.
func (w *writer) priority(x *graphit.Method) bool {
	n, ok := x.X.(*graphit.Name)
	if !ok || w.queues[n.Var] == nil {
		return false
	}
	v := w.queues[n.Var]
	at, array := w.index(x.Args[0]), w.Addr(vectorName(v))
	value := func(i int) ir.Value { return w.as(x.Args[i], v.Type.Of) }
	switch x.Name {
	case graphit.Enqueue:
		now := w.load(v, at)
		yes := w.Ne(now, w.convert(w.U32(uint32(greatest(v.Type.Of))), now.Type))
		w.Store(w.Addr(waits(n.Var)), at, w.ToU32(yes))
	case "updatePriorityMin":
		now := value(len(x.Args) - 1)
		w.When(w.Lt(now, w.Load(now.Type, array, at)), func() {
			old := w.AtomicMin(array, at, now)
			w.When(w.Lt(now, old), func() { w.Store(w.Addr(waits(n.Var)), at, w.U32(1)) })
		})
	case "updatePrioritySum":
		if !isMinusOne(x.Args[1]) || len(x.Args) < 3 {
			refuse(x.Pos, "updatePrioritySum: expected a difference of -1, and a least priority")
		}
		// Of the threads that lower a priority concurrently, those that find the least priority there put it back.
		floor := value(2)
		w.When(w.Gt(w.Load(floor.Type, array, at), floor), func() {
			one := w.convert(w.I32(1), floor.Type)
			old := w.AtomicAdd(array, at, w.convert(w.I32(-1), floor.Type))
			w.When(w.below(old, floor), func() { w.AtomicAdd(array, at, one) })
		})
	default:
		return false
	}
	return true
}

// below reports whether a priority that threads lower concurrently was at its least or, for a while, less: a uint has
// then gone below 0, by no more than there are threads.
func (w *writer) below(old, floor ir.Value) ir.Value {
	if floor.Type == ir.U32 {
		return w.Lt(w.Sub(floor, old), w.U32(1<<24))
	}
	return w.Le(old, floor)
}

func isMinusOne(x graphit.Expr) bool {
	u, ok := x.(*graphit.Unary)
	if !ok || u.Op != "-" {
		return false
	}
	n, ok := u.X.(*graphit.Number)
	return ok && !n.Real && n.Int == 1
}

// told reports a change, where p holds; nil: everywhere.
func (w *writer) told(tracked bool, p ir.Value) {
	if tracked {
		w.changed(p)
	}
}

func (w *writer) better(op string, old, value ir.Value) ir.Value {
	if op == "max=" {
		return w.Gt(value, old)
	}
	return w.Lt(value, old)
}

// atomically emits a reduction where threads may share the element. min= and max= load first, which avoids most
// atomics.
func (w *writer) atomically(s *graphit.Assign, array, at, value ir.Value, tracked bool) {
	isReal := value.Type == ir.F32
	switch {
	case s.Op == "+=" && isReal:
		w.AtomicAddF(array, at, value)
		w.told(tracked, w.Ne(value, w.F32(0)))
		return
	case s.Op == "+=":
		w.AtomicAdd(array, at, value)
		w.told(tracked, w.Ne(value, w.Zero(value.Type)))
		return
	case isReal:
		refuse(s.Pos, "%s of real numbers where threads meet: the machine has no atomic for it", s.Op)
	}
	w.When(w.better(s.Op, w.Load(value.Type, array, at), value), func() {
		var old ir.Value
		if s.Op == "max=" {
			old = w.AtomicMax(array, at, value)
		} else {
			old = w.AtomicMin(array, at, value)
		}
		if tracked {
			w.changed(w.better(s.Op, old, value))
		}
	})
}

// written emits writeMin or writeMax, and returns whether the element has changed.
func (w *writer) written(x *graphit.Call) ir.Value {
	if w.isWide(x.Args[0].TypeOf().Of) {
		return w.wideWritten(x)
	}
	v, op := x.Args[0].(*graphit.Name).Var, graphit.Writes(x)
	array, at := w.slot(v, w.index(x.Args[1]))
	value := w.as(x.Args[2], v.Type.Of)
	if value.Type == ir.F32 && w.atomic(x.Pos) {
		refuse(x.Pos, "%s of real numbers where threads meet: the machine has no atomic for it", x.Name)
	}
	changed := w.Var(w.U32(0))
	w.When(w.better(op, w.Load(value.Type, array, at), value), func() {
		if !w.atomic(x.Pos) {
			w.Store(array, at, value)
			changed.Set(w.U32(1))
			return
		}
		old := ir.Value(nil)
		if op == "max=" {
			old = w.AtomicMax(array, at, value)
		} else {
			old = w.AtomicMin(array, at, value)
		}
		changed.Set(w.ToU32(w.better(op, old, value)))
	})
	p := w.Ne(changed.Get(), w.U32(0))
	w.told(w.changed != nil && v == w.tracked, p)
	return p
}

// combine returns a variable's value after an assignment.
func (w *writer) combine(op string, old, value ir.Value) ir.Value {
	switch op {
	case "+=":
		return w.Add(old, value)
	case "min=":
		return w.Min(old, value)
	case "max=":
		return w.Max(old, value)
	}
	return value
}

// as evaluates an expression as a value of a type.
func (w *writer) as(x graphit.Expr, t *graphit.Type) ir.Value {
	if from := x.TypeOf(); w.isWide(from) {
		return w.convert(w.narrowed(w.wideExpr(x), from, t), typeOf(t))
	}
	return w.convert(w.expr(x), typeOf(t))
}

func (w *writer) convert(v ir.Value, t ir.Type) ir.Value {
	switch {
	case v.Type == t:
		return v
	case t == ir.F32:
		return w.ToF32(v)
	case v.Type == ir.F32 && t == ir.I32:
		return w.ToI32(v)
	case v.Type == ir.F32:
		return w.AsU32(w.ToI32(v))
	case t == ir.I32:
		return w.AsI32(v)
	}
	return w.AsU32(v)
}

func (w *writer) expr(x graphit.Expr) ir.Value {
	switch x := x.(type) {
	case *graphit.Number:
		switch {
		case x.Real:
			return w.F32(float32(x.Val))
		case x.TypeOf().Kind == graphit.Uint:
			return w.U32(uint32(x.Int))
		}
		return w.I32(int32(x.Int))
	case *graphit.Truth:
		return w.Bool(x.Value)
	case *graphit.Name:
		return w.name(x)
	case *graphit.Index:
		n, ok := x.X.(*graphit.Name)
		if !ok || n.Var == nil {
			refuse(x.Pos, "a machine's functions know no arguments of the command line")
		}
		return w.load(n.Var, w.place(x))
	case *graphit.Unary:
		return w.unary(x)
	case *graphit.Binary:
		return w.binary(x)
	case *graphit.Call:
		return w.called(x)
	case *graphit.Method:
		switch {
		case x.Name == "size" || x.Name == "getVertices":
			return w.AsI32(w.Count("vertices"))
		case w.current != nil && (x.Name == "get_current_priority" || x.Name == "getCurrentPriority"):
			return w.current()
		case x.Name == "get_current_priority" || x.Name == "getCurrentPriority":
			return w.Param(priorityName, typeOf(x.TypeOf()))
		}
	}
	refuse(x.Position(), "%s: a machine's functions do not do this", graphit.Source(x))
	return nil
}

func (w *writer) name(x *graphit.Name) ir.Value {
	if v := w.values[x.Var]; v != nil {
		return v
	}
	if v := w.vars[x.Var]; v != nil {
		return v.Get()
	}
	if x.Var == nil || !x.Var.Global {
		refuse(x.Pos, "%s is no number of the program", x.Name)
	}
	t := typeOf(x.Var.Type)
	if t == ir.Pred {
		return w.Ne(w.Count(scalarName(x.Var)), w.U32(0))
	}
	return w.Param(scalarName(x.Var), t)
}

func (w *writer) unary(x *graphit.Unary) ir.Value {
	v := w.expr(x.X)
	switch {
	case x.Op == "not":
		return w.Not(v)
	case x.Op == "-" && v.Type == ir.U32 && x.TypeOf().Kind == graphit.Int:
		return w.Neg(w.AsI32(v))
	case x.Op == "-":
		return w.Neg(v)
	}
	return v
}

func (w *writer) binary(x *graphit.Binary) ir.Value {
	switch x.Op {
	case "and":
		return w.And(w.expr(x.X), w.expr(x.Y))
	case "or":
		return w.Or(w.expr(x.X), w.expr(x.Y))
	case "xor":
		return w.Xor(w.expr(x.X), w.expr(x.Y))
	}
	if x.X.TypeOf().Kind == graphit.Bool {
		return w.truths(x)
	}
	if x.X.TypeOf().Kind == graphit.Vertex && x.Y.TypeOf().Kind == graphit.Vertex && x.Op != "/" {
		return w.compared(x.Op, w.expr(x.X), w.expr(x.Y)) // both are not negative
	}
	if t := graphit.Wider(x.X.TypeOf(), x.Y.TypeOf()); w.isWide(t) {
		return w.comparedWide(x.Op, w.wideAs(x.X, t), w.wideAs(x.Y, t), t)
	}
	t := typeOf(graphit.Wider(x.X.TypeOf(), x.Y.TypeOf()))
	if m, ok := product(x.X); ok && t == ir.F32 && x.Op == "+" {
		return w.FMA(w.convert(w.expr(m.X), t), w.convert(w.expr(m.Y), t), w.convert(w.expr(x.Y), t))
	}
	if m, ok := product(x.Y); ok && t == ir.F32 && x.Op == "+" {
		return w.FMA(w.convert(w.expr(m.X), t), w.convert(w.expr(m.Y), t), w.convert(w.expr(x.X), t))
	}
	a, b := w.convert(w.expr(x.X), t), w.convert(w.expr(x.Y), t)
	switch x.Op {
	case "+":
		return w.Add(a, b)
	case "-":
		return w.Sub(a, b)
	case "*":
		return w.Mul(a, b)
	case "/":
		return w.Div(a, b)
	}
	return w.compared(x.Op, a, b)
}

// product returns the expression if it is a product of real numbers, so that a product and a sum can be rounded once.
func product(x graphit.Expr) (*graphit.Binary, bool) {
	m, ok := x.(*graphit.Binary)
	return m, ok && m.Op == "*" && m.TypeOf().IsReal()
}

// truths compares booleans.
func (w *writer) truths(x *graphit.Binary) ir.Value {
	a, b := w.expr(x.X), w.expr(x.Y)
	if c, ok := x.Y.(*graphit.Truth); ok { // visited[v] == false
		if c.Value == (x.Op == "==") {
			return a
		}
		return w.Not(a)
	}
	differ := w.Xor(a, b)
	if x.Op == "!=" {
		return differ
	}
	return w.Not(differ)
}

func (w *writer) compared(op string, a, b ir.Value) ir.Value {
	switch op {
	case "==":
		return w.Eq(a, b)
	case "!=":
		return w.Ne(a, b)
	case "<":
		return w.Lt(a, b)
	case "<=":
		return w.Le(a, b)
	case ">":
		return w.Gt(a, b)
	case ">=":
		return w.Ge(a, b)
	}
	t := ir.I32
	a, b = w.convert(a, t), w.convert(b, t)
	switch op {
	case "+":
		return w.Add(a, b)
	case "-":
		return w.Sub(a, b)
	}
	return w.Mul(a, b)
}

func (w *writer) called(x *graphit.Call) ir.Value {
	switch {
	case x.Func != nil && x.Func.Native != nil && x.Func.Native.Code != nil:
		return w.fromC(x)
	case x.Func != nil && x.Func.Native != nil:
		return w.native(x)
	case x.Func != nil && x.Func.Counts != nil && x.Func.Counts.By != graphit.Merge:
		return w.intersection(x)
	case x.Func != nil:
		return w.call(x.Func, w.arguments(x))
	case x.Name == "fabs":
		return w.Abs(w.as(x.Args[0], x.TypeOf()))
	case x.Name == "max":
		return w.Max(w.as(x.Args[0], x.TypeOf()), w.as(x.Args[1], x.TypeOf()))
	case x.Name == "min":
		return w.Min(w.as(x.Args[0], x.TypeOf()), w.as(x.Args[1], x.TypeOf()))
	case x.Name == "to_double":
		return w.as(x.Args[0], x.TypeOf())
	case x.Name == "log":
		return w.Log(w.as(x.Args[0], x.TypeOf()))
	case x.Name == "floor":
		return w.floor(w.as(x.Args[0], x.TypeOf()))
	case x.Name == "ceil":
		return w.Neg(w.floor(w.Neg(w.as(x.Args[0], x.TypeOf()))))
	case graphit.Writes(x) != "":
		return w.written(x)
	}
	refuse(x.Pos, "%s: only the host calls it: expected it in main", x.Name)
	return nil
}

// floor returns the greatest whole number that is not above x. From 2^23 on all numbers are whole.
func (w *writer) floor(x ir.Value) ir.Value {
	whole := w.ToF32(w.ToI32(x))
	below := w.Sub(whole, w.ToF32(w.ToU32(w.Gt(whole, x))))
	return w.Select(w.Lt(w.Abs(x), w.F32(1<<23)), below, x)
}

// priorityName is the parameter that holds the current priority of an operator's queue.
const priorityName = "queue.current"

// writer begins a function in a kernel.
func (l *lowering) writer(k *emit.Kernel, list []graphir.Access) *writer {
	return &writer{
		Kernel: k, program: l.program, pairs: map[*graphit.Var]pair{}, pairVars: map[*graphit.Var]*pairVariable{},
		values: map[*graphit.Var]ir.Value{}, vars: map[*graphit.Var]*ir.Variable{},
		atomic: func(pos graphit.Pos) bool {
			for _, a := range list {
				if a.Pos == pos && a.Op != "" {
					return a.Atomic
				}
			}
			return true
		},
	}
}
