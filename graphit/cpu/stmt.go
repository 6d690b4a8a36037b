package cpu

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// writer writes a function: the program's main, or the loop of an operator.
type writer struct {
	g      *generator
	b      bytes.Buffer
	names  map[*graphit.Var]string // of parameters, where they are not the variables' own
	kernel bool

	// Of loops alone.
	hoisted  []string // variables of the package that are copied, so that Go need not read them again for every edge
	closures []closure
	access   map[*graphit.Var]accessing
	tracked  *graphit.Var
	told     string       // code executed where a tracked vector has changed
	direct   bool         // it is done there, and not once the edge is done
	queues   *graphit.Var // whose priorities it may change; nil: none
	sum      *graphit.Var // the vector whose element is in a register
	register string
	claims   bool // an assignment is the first one that finds -1
	alone    bool // one thread runs it

	// Elements of vectors that nothing in the loop changes, at the end that the outer loop is over.
	outer     *graphit.Var
	unwritten func(v *graphit.Var) bool
	before    []string
}

// closure is a function of the program's within a loop.
type closure struct {
	f    *graphit.Func
	name string
	text string
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) hoist(name string) {
	if !slices.Contains(w.hoisted, name) {
		w.hoisted = append(w.hoisted, name)
	}
}

// kept is an element at the end that the outer loop is over, read once for all of its edges; "": it is not.
func (w *writer) kept(v *graphit.Var, at graphit.Expr) string {
	n, ok := at.(*graphit.Name)
	if !ok || w.outer == nil || n.Var != w.outer || !w.unwritten(v) {
		return ""
	}
	name := "at_" + w.g.name(v)
	text := name + " := " + w.load(v, w.vector(v)+"["+w.names[w.outer]+"]")
	if !slices.Contains(w.before, text) {
		w.before = append(w.before, text)
	}
	return name
}

// closure is the name of a function that another one calls.
func (w *writer) closure(f *graphit.Func) string {
	for _, c := range w.closures {
		if c.f == f {
			return c.name
		}
	}
	in := *w
	in.b, in.names, in.direct, in.outer, in.closures, in.sum = bytes.Buffer{}, map[*graphit.Var]string{}, false, nil,
		nil, nil
	params := ""
	for _, p := range f.Params {
		params += w.g.name(p) + " " + w.g.goType(p.Type) + ", "
	}
	name := "f_" + f.Name
	if f.Result == nil {
		in.line("%s := func(%s) {", name, params)
		in.block(f.Body)
	} else {
		t := w.g.goType(f.Result.Type)
		in.line("%s := func(%s) %s {", name, params, t)
		in.line("var %s %s", w.g.name(f.Result), t)
		in.block(f.Body)
		in.line("return %s", w.g.name(f.Result))
	}
	in.line("}")
	w.hoisted = in.hoisted
	w.closures = append(append(w.closures, in.closures...), closure{f, name, in.b.String()})
	return name
}

// block is the statements of a function that operators apply, or that such a function calls.
func (w *writer) block(list []graphit.Stmt) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *writer) statement(s graphit.Stmt) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		w.variable(s.Var)
	case *graphit.Assign:
		w.assign(s)
	case *graphit.ExprStmt:
		w.do(s)
	case *graphit.If:
		w.line("if %s {", w.expr(s.Cond))
		w.block(s.Then)
		if len(s.Else) > 0 {
			w.line("} else {")
			w.block(s.Else)
		}
		w.line("}")
	case *graphit.While:
		w.line("for %s {", w.expr(s.Cond))
		w.block(s.Body)
		w.line("}")
	case *graphit.For:
		w.count(s.Var, s.From, s.To)
		w.block(s.Body)
		w.line("}")
	case *graphit.Break:
		w.line("break")
	default:
		w.g.refuse(s.Position(), "%s: only the host does this: expected it in main", graphit.SourceOf(s))
	}
}

// count begins a counting loop: assignments to the variable in its body do not affect the count.
func (w *writer) count(v *graphit.Var, from, to graphit.Expr) {
	name := w.g.name(v)
	w.line("for i, last := int64(%s), int64(%s); i < last; i++ {", w.as(from, v.Type), w.as(to, v.Type))
	w.line("%s := %s(i)", name, w.g.goType(v.Type))
	w.line("_ = %s", name)
}

func (w *writer) variable(v *graphit.Var) {
	switch v.Type.Kind {
	case graphit.Int, graphit.Uint, graphit.Float, graphit.Double, graphit.Bool, graphit.Vertex:
	default:
		w.g.refuse(v.Pos, "%s: a function of edges or vertices has numbers and truth values", v.Name)
	}
	w.scalar(v)
}

func (w *writer) scalar(v *graphit.Var) {
	name := w.g.name(v)
	if v.Init == nil {
		w.line("var %s %s", name, w.g.goType(v.Type))
	} else {
		w.line("var %s %s = %s", name, w.g.goType(v.Type), w.as(v.Init, v.Type))
	}
	w.line("_ = %s", name)
}

func (w *writer) do(s *graphit.ExprStmt) {
	switch x := s.X.(type) {
	case *graphit.Call:
		if x.Func != nil && x.Func.Native == nil {
			w.line("%s", w.call(x))
			return
		}
		w.line("_ = %s", w.call(x))
	case *graphit.Method:
		switch x.Name {
		case "updatePriorityMin", "updatePrioritySum":
			w.priority(x)
		default:
			w.line("_ = %s", w.method(x))
		}
	}
}

func (w *writer) assign(s *graphit.Assign) {
	if x, ok := s.X.(*graphit.Index); ok {
		w.write(s, x)
		return
	}
	n := s.X.(*graphit.Name)
	if n.Var.Global {
		w.g.refuse(s.Pos, "%s: a constant of the program cannot be assigned by many threads: expected a vector[1]",
			n.Name)
	}
	w.combine(w.g.name(n.Var), s.Op, w.as(s.Value, n.Var.Type), "")
}

// combine assigns to an element that no other thread accesses. told is executed if the value changes; "": nothing is.
func (w *writer) combine(to, op, value, told string) {
	switch {
	case op == "=":
		w.line("%s = %s", to, value)
		w.line("%s", told)
	case op == "+=" && told == "":
		w.line("%s += %s", to, value)
	case op == "+=":
		w.line("if x := %s; x != 0 {", value)
		w.line("%s += x\n%s\n}", to, told)
	default:
		w.line("if x := %s; x %s %s {", value, map[string]string{"min=": "<", "max=": ">"}[op], to)
		w.line("%s = x\n%s\n}", to, told)
	}
}

// write changes a vector's element.
func (w *writer) write(s *graphit.Assign, x *graphit.Index) {
	v := x.X.(*graphit.Name).Var
	told := ""
	if v == w.tracked {
		if told = "told = true"; w.direct {
			told = w.told
		}
	}
	value := w.as(s.Value, v.Type.Of)
	if v.Type.Of.Kind == graphit.Bool {
		value = "b2u(" + value + ")"
	}
	if v == w.sum {
		w.combine(w.register, s.Op, value, told)
		return
	}
	place, suffix := w.place(x), suffixes[w.g.elementType(v)]
	switch mode := w.access[v]; {
	case w.claims && mode != plain:
		w.line("if claimI32(&%s, %s) {\n%s\n}", place, value, told)
	case mode == plain:
		w.combine(place, s.Op, value, told)
	case s.Op == "=":
		w.line("store%s(&%s, %s)\n%s", suffix, place, value, told)
	case mode == shared:
		f := map[string]string{"+=": "add", "min=": "min", "max=": "max"}[s.Op] + suffix
		if told == "" {
			w.line("%s(&%s, %s)", f, place, value)
		} else {
			w.line("if %s(&%s, %s) {\n%s\n}", f, place, value, told)
		}
	default: // owned: only this thread writes, but others read
		w.line("{ now := %s", "load"+suffix+"(&"+place+")")
		switch s.Op {
		case "+=":
			w.line("x := %s\nstore%s(&%s, now+x)", value, suffix, place)
			if told != "" {
				w.line("if x != 0 {\n%s\n}", told)
			}
		default:
			w.line("if x := %s; x %s now {\nstore%s(&%s, x)\n%s\n}", value,
				map[string]string{"min=": "<", "max=": ">"}[s.Op], suffix, place, told)
		}
		w.line("}")
	}
}

// priority changes a vertex's priority.
func (w *writer) priority(x *graphit.Method) {
	q, ok := x.X.(*graphit.Name)
	if !ok || w.queues == nil || q.Var != w.queues {
		w.g.refuse(x.Pos, "%s: expected it in a function that applyUpdatePriority applies, of one queue", x.Name)
	}
	v := w.g.p.QueueVector(q.Var)
	if x.Name == "updatePriorityMin" {
		w.hoist("waits")
	}
	t, mode := w.g.goType(v.Type.Of), w.access[v]
	w.line("{\nat := %s", w.as(x.Args[0], &graphit.Type{Kind: graphit.Int}))
	place, last := w.vector(v)+"[at]", w.as(x.Args[len(x.Args)-1], v.Type.Of)
	alone, waiting := "Alone", "waitAlone(waits, at)"
	if mode != plain {
		alone, waiting = "", "wait(waits, at)"
	}
	switch {
	case x.Name == "updatePriorityMin" && mode == plain:
		w.line("if x := %s; x < %s {\n%s = x\n%s\n%s\n}", last, place, place, waiting, w.told)
	case x.Name == "updatePriorityMin":
		w.line("if x := %s; min%s(&%s, x) {\n%s\n%s\n}", last, suffixes[t], place, waiting, w.told)
	default:
		least := t + "(0)"
		if t == "int32" {
			least = "int32(math.MinInt32)"
		}
		if len(x.Args) == 3 {
			least = last
		}
		w.line("if lowerTo%s(&%s, %s, %s) {\n%s\n}", alone, place, w.as(x.Args[1], v.Type.Of), least, w.told)
	}
	w.line("}")
}

// What follows is main.

func (w *writer) hostBlock(list []graphir.Stmt) {
	for _, s := range list {
		w.hostStatement(s)
	}
}

func (w *writer) hostStatement(s graphir.Stmt) {
	switch s := s.(type) {
	case *graphir.Host:
		w.simple(s.Stmt)
	case *graphir.If:
		w.line("if %s {", w.expr(s.Cond))
		w.hostBlock(s.Then)
		if len(s.Else) > 0 {
			w.line("} else {")
			w.hostBlock(s.Else)
		}
		w.line("}")
	case *graphir.While:
		if s.Ordered != nil {
			w.line("ordered%d()", slices.Index(w.g.p.Edges, s.Ordered.Op))
			return
		}
		w.line("for %s {", w.expr(s.Cond))
		w.hostBlock(s.Body)
		w.line("}")
	case *graphir.For:
		w.count(s.Var, s.From, s.To)
		w.hostBlock(s.Body)
		w.line("}")
	case *graphir.EdgeSetIterator:
		w.operate(fmt.Sprintf("edges%d", slices.Index(w.g.p.Edges, s)), s.Input, s.To, s.Declares,
			s.Output == graphir.Modified)
		w.outdate(s.Accesses)
	case *graphir.VertexSetIterator:
		w.operate(fmt.Sprintf("vertices%d", slices.Index(w.g.p.Vertices, s)), s.Input, s.To, s.Declares, s.Filters)
		w.outdate(s.Accesses)
	}
}

// operate runs an operator.
func (w *writer) operate(name string, input, to graphit.Expr, declares *graphit.Var, output bool) {
	call := name + "()"
	if input != nil {
		call = name + "(" + w.set(input) + ")"
	}
	n, ok := to.(*graphit.Name)
	switch {
	case declares != nil && output:
		w.line("%s := %s\n_ = %s", w.g.name(declares), call, w.g.name(declares))
	case ok && output:
		w.line("%s = %s", w.g.name(n.Var), call)
	default:
		w.line("%s", call)
	}
}

// outdate invalidates the queues whose priorities are changed directly.
func (w *writer) outdate(list []graphir.Access) {
	for _, a := range list {
		if a.Op != "" && a.Vector != nil {
			w.outdated(a.Vector)
		}
	}
}

func (w *writer) outdated(v *graphit.Var) {
	for _, q := range w.g.queues {
		if !q.Global { // a local one that has its own scope: it cannot be named here
			continue
		}
		if w.g.p.QueueVector(q) == v {
			w.line("%s.outdate()", w.g.name(q))
		}
	}
}

// simple is a statement that the host runs by itself.
func (w *writer) simple(s graphit.Stmt) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		w.hostVariable(s.Var)
	case *graphit.Assign:
		w.hostAssign(s)
	case *graphit.ExprStmt:
		w.hostDo(s.X)
	case *graphit.Print:
		list := ""
		for _, x := range s.Args {
			switch i, isIndex := x.(*graphit.Index); {
			case x.TypeOf().Kind == graphit.String && isIndex:
				list += w.text(i) + ", "
			case x.TypeOf().Kind == graphit.String:
				list += w.text(x) + ", "
			default:
				list += w.expr(x) + ", "
			}
		}
		w.line("m.print(%s)", list)
	case *graphit.Delete:
		n, ok := s.X.(*graphit.Name)
		if !ok {
			return
		}
		switch n.TypeOf().Kind {
		case graphit.VertexSet, graphit.List, graphit.PriorityQueue:
			if n.TypeOf().Kind == graphit.PriorityQueue || !n.Var.Global {
				w.line("%s = nil", w.g.name(n.Var))
			}
		}
	case *graphit.Break:
		w.line("break")
	default:
		panic(fmt.Sprintf("BUG: cpu: statement %T", s))
	}
}

func (w *writer) hostVariable(v *graphit.Var) {
	name := w.g.name(v)
	switch v.Type.Kind {
	case graphit.VertexSet:
		value := "m.empty()"
		if v.Init != nil {
			value = w.set(v.Init)
		}
		w.line("%s := %s\n_ = %s", name, value, name)
	case graphit.List:
		w.line("var %s %s\n_ = %s", name, w.g.goType(v.Type), name)
	case graphit.PriorityQueue:
		w.line("var %s %s\n_ = %s", name, w.g.goType(v.Type), name)
		if v.Init != nil {
			w.newQueue(v, v.Init)
		}
	case graphit.String:
		w.g.refuse(v.Pos, "%s: strings cannot be kept", v.Name)
	default:
		w.scalar(v)
	}
}

func (w *writer) hostAssign(s *graphit.Assign) {
	n, ok := s.X.(*graphit.Name)
	switch t := s.X.TypeOf(); {
	case ok && t.Kind == graphit.VertexSet:
		w.line("%s = %s", w.g.name(n.Var), w.set(s.Value))
	case ok && t.Kind == graphit.PriorityQueue:
		w.newQueue(n.Var, s.Value)
	case ok && t.Kind == graphit.List:
		w.line("%s = nil", w.g.name(n.Var))
	case ok:
		w.combine(w.g.name(n.Var), s.Op, w.as(s.Value, n.Var.Type), "")
	default:
		x := s.X.(*graphit.Index)
		v := x.X.(*graphit.Name).Var
		value := w.as(s.Value, v.Type.Of)
		if v.Type.Of.Kind == graphit.Bool {
			value = "b2u(" + value + ")"
		}
		w.line("{\nat := &%s", w.place(x))
		w.combine("*at", s.Op, value, "")
		w.line("}")
		w.outdated(v)
	}
}

func (w *writer) newQueue(v *graphit.Var, x graphit.Expr) {
	made, ok := x.(*graphit.New)
	if !ok {
		w.g.refuse(x.Position(), "expected new priority_queue")
	}
	vector := w.g.p.QueueVector(v)
	if vector == nil || !v.Global {
		w.g.refuse(made.Pos, "%s: expected a constant of the program, with one vector of priorities", v.Name)
	}
	if graphit.Descending(made) {
		w.g.refuse(made.Pos, "%s: a queue with higher priorities first is for simulated machines: expected 1", v.Name)
	}
	at := w.g.at(made.Pos)
	delta, open, fusion := "1", "defaultOpen", "defaultFusion"
	for _, op := range w.g.p.Edges {
		if op.Output != graphir.Priority {
			continue
		}
		if op.Delta != nil {
			delta = w.argument(*op.Delta, graphit.Deltas, at)
		}
		if op.OpenBuckets != nil {
			open = "int(" + w.argument(*op.OpenBuckets, graphit.Counts, at) + ")"
		}
		if op.MergeThreshold != nil {
			fusion = "int(" + w.argument(*op.MergeThreshold, graphit.Counts, at) + ")"
		}
	}
	w.line("%s = newQueue(m, %s, %s, int64(%s), int64(%s), int64(%s), %s, %s)", w.g.name(v), at, w.g.name(vector),
		delta,
		w.expr(made.Args[3]), w.expr(made.Args[6]), open, fusion)
}

// argument is a number of the schedule's.
func (w *writer) argument(a graphit.Arg, r graphit.Range, at string) string {
	text := strconv.Quote(a.Text)
	if n, ok := a.Argv(); ok {
		text = fmt.Sprintf("m.argument(%s, %d)", at, n)
	}
	least, most, whole := r.Bounds()
	return fmt.Sprintf("number(%s, %s, %g, %g, %t)", at, text, least, most, whole)
}

func (w *writer) hostDo(x graphit.Expr) {
	m, ok := x.(*graphit.Method)
	if !ok {
		c := x.(*graphit.Call)
		if c.Func == nil && c.Name == "startTimer" {
			w.line("startTimer()")
			return
		}
		w.line("_ = %s", w.expr(x))
		return
	}
	variable := func(x graphit.Expr, what string) string {
		n, ok := x.(*graphit.Name)
		if !ok {
			w.g.refuse(x.Position(), "expected a variable that is a %s", what)
		}
		return w.g.name(n.Var)
	}
	switch m.Name {
	case "addVertex":
		if n, ok := m.X.(*graphit.Name); ok && n.Var.Global {
			w.g.refuse(m.Pos, "%s has all vertices already", n.Name)
		}
		w.line("%s = %s.with(%s, int64(%s))", variable(m.X, "vertexset"), w.set(m.X), w.g.at(m.Pos), w.expr(m.Args[0]))
	case "append", "insert":
		list := variable(m.X, "list")
		w.line("%s = append(%s, %s)", list, list, w.set(m.Args[0]))
	case "retrieve":
		w.line("%s = popSet(%s, %q, &%s)", variable(m.Args[0], "vertexset"), w.g.at(m.Pos), graphit.Source(m.X),
			variable(m.X, "list"))
	case "pop", "dequeue_ready_set":
		w.line("_ = %s", w.set(m))
	case "updatePriorityMin", "updatePrioritySum":
		w.g.refuse(m.Pos, "%s: expected it in a function that applyUpdatePriority applies", m.Name)
	default:
		w.line("_ = %s", w.expr(x))
	}
}
