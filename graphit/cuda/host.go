package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// The host's program: statements of main, and expressions.

func (w *writer) block(list []graphir.Stmt) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *writer) statement(s graphir.Stmt) {
	if l := w.loopAt(s); l != nil {
		w.runLoop(l)
		return
	}
	switch s := s.(type) {
	case *graphir.Host:
		w.simple(s.Stmt)
	case *graphir.If:
		w.line("if (%s) {", strip(w.expr(s.Cond)))
		w.block(s.Then)
		if len(s.Else) > 0 {
			w.line("} else {")
			w.block(s.Else)
		}
		w.line("}")
	case *graphir.While:
		w.line("while (%s) {", strip(w.expr(s.Cond)))
		w.block(s.Body)
		w.line("}")
	case *graphir.For:
		t, i := w.typeOf(s.Var.Type, s.Pos), w.name(s.Var)
		w.line("for (%s %s = %s, %s_end = %s; %s < %s_end; %s++) {", t, i, w.as(s.From, s.Var.Type), i,
			w.as(s.To, s.Var.Type), i, i, i)
		w.line("(void)%s;", i)
		w.block(s.Body)
		w.line("}")
	case *graphir.EdgeSetIterator:
		from := ""
		switch {
		case s.Input != nil:
			from = w.set(s.Input)
		case s.Output == graphir.Modified:
			from = "heddle::Set::all(vertices)"
		}
		w.operate(fmt.Sprintf("%s(%s)", w.chosen[s], from), s.To, s.Declares, s.Output == graphir.Modified)
	case *graphir.VertexSetIterator:
		of := ""
		if s.Input != nil {
			of = w.set(s.Input)
		}
		w.operate(fmt.Sprintf("%s(%s)", w.ran[s].name, of), s.To, s.Declares, s.Filters)
	}
}

// operate runs an operator.
func (w *writer) operate(call string, to graphit.Expr, declares *graphit.Var, output bool) {
	n, ok := to.(*graphit.Name)
	switch {
	case declares != nil && output:
		w.line("heddle::Set %s = %s;", w.name(declares), call)
	case ok && output:
		w.line("%s = %s;", w.name(n.Var), call)
	default:
		w.line("%s;", call)
	}
}

// simple writes a statement that the host runs by itself.
func (w *writer) simple(s graphit.Stmt) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		w.variable(s.Var)
	case *graphit.Assign:
		w.assign(s)
	case *graphit.ExprStmt:
		w.do(s.X)
	case *graphit.Print:
		var args []string
		for _, x := range s.Args {
			if x.TypeOf().Kind == graphit.String {
				args = append(args, w.words(x))
			} else {
				args = append(args, w.expr(x))
			}
		}
		w.line("if (checking) heddle::print(%s);", strings.Join(args, ", "))
	case *graphit.Delete:
		n, ok := s.X.(*graphit.Name)
		if !ok || n.Var.Global {
			return
		}
		switch n.TypeOf().Kind {
		case graphit.VertexSet:
			w.line("%s = heddle::Set();", w.name(n.Var))
		case graphit.List:
			w.line("%s.clear();", w.name(n.Var))
		}
	case *graphit.Break:
		w.line("break;")
	default:
		w.refuse(s.Position(), "%s has no CUDA", graphit.SourceOf(s))
	}
}

func (w *writer) variable(v *graphit.Var) {
	name := w.name(v)
	switch v.Type.Kind {
	case graphit.VertexSet:
		if v.Init == nil || isEmpty(v.Init) {
			w.line("heddle::Set %s;", name)
		} else {
			w.line("heddle::Set %s = %s;", name, w.set(v.Init))
		}
	case graphit.List:
		if v.Type.Of.Kind != graphit.VertexSet {
			w.refuse(v.Pos, "%s: lists of %s have no CUDA: expected list{vertexset{…}}", v.Name, v.Type.Of)
		}
		w.line("std::vector<heddle::Set> %s;", name)
	case graphit.PriorityQueue, graphit.String:
		w.refuse(v.Pos, "%s: expected a number, a set or a list: a queue is a constant of the program", v.Name)
	default:
		w.line("%s %s = %s;", w.typeOf(v.Type, v.Pos), name, w.initial(v, v.Type))
		w.line("(void)%s;", name)
	}
}

// isEmpty reports whether an expression is new vertexset(0).
func isEmpty(x graphit.Expr) bool {
	made, ok := x.(*graphit.New)
	if !ok || made.Of.Kind != graphit.VertexSet {
		return false
	}
	n, ok := made.Args[0].(*graphit.Number)
	return ok && !n.Real && n.Int == 0
}

func (w *writer) assign(s *graphit.Assign) {
	n, ok := s.X.(*graphit.Name)
	switch t := s.X.TypeOf(); {
	case ok && t.Kind == graphit.VertexSet:
		w.line("%s = %s;", w.name(n.Var), w.set(s.Value))
	case ok && t.Kind == graphit.PriorityQueue:
		w.newQueue(n.Var, s.Value)
	case ok && t.Kind == graphit.List:
		w.line("%s.clear();", w.name(n.Var))
	case ok:
		w.combine(w.name(n.Var), s.Op, strip(w.as(s.Value, n.Var.Type)))
	default:
		w.assignElement(s, s.X.(*graphit.Index))
	}
}

func (w *writer) combine(to, op, value string) {
	switch op {
	case "=", "+=":
		w.line("%s %s %s;", to, op, value)
	default:
		w.line("%s = std::%s(%s, %s);", to, map[string]string{"min=": "min", "max=": "max"}[op], to, value)
	}
}

func (w *writer) assignElement(s *graphit.Assign, x *graphit.Index) {
	n, ok := x.X.(*graphit.Name)
	if !ok {
		w.refuse(x.Pos, "expected a variable that is a vector")
	}
	v, at := n.Var, w.at(x.Pos)
	t, value, index := w.elementOf(v), w.as(s.Value, v.Type.Of), w.place(x)
	if v.Type.Of.Kind == graphit.Bool {
		value = "uint32_t(" + value + ")"
	}
	if s.Op != "=" {
		old := fmt.Sprintf("heddle::get<%s>(device, %s, %s, %s)", t, w.name(v), index, at)
		if s.Op == "+=" {
			value = old + " + " + value
		} else {
			value = fmt.Sprintf("std::%s(%s, %s)", map[string]string{"min=": "min", "max=": "max"}[s.Op], old, value)
		}
	}
	w.line("heddle::set<%s>(device, %s, %s, %s, %s);", t, w.name(v), index, value, at)
}

// elementOf returns the type of a vector's elements on the device: a truth value takes a word.
func (w *writer) elementOf(v *graphit.Var) string {
	if v.Type.Of.Kind == graphit.Bool {
		return "uint32_t"
	}
	return w.typeOf(v.Type.Of, v.Pos)
}

func (w *writer) newQueue(v *graphit.Var, x graphit.Expr) {
	made, ok := x.(*graphit.New)
	if !ok {
		w.refuse(x.Position(), "expected new priority_queue")
	}
	if n, ok := made.Args[3].(*graphit.Number); !ok || n.Int != 1 {
		w.refuse(made.Pos, "new priority_queue: buckets in descending order are not supported: expected 1")
	}
	delta := int64(1)
	for _, op := range w.Program.Edges {
		if op.Output == graphir.Priority && op.Delta != nil {
			d, err := w.Host.Argument(*op.Delta, graphit.Deltas)
			if err != nil {
				w.refuse(op.Pos, "%v", err)
			}
			delta = int64(d)
		}
	}
	w.line("%s.begin(device, %s_waits, %s, %d, vertices, %s); // buckets of delta %d", w.name(v), w.name(v),
		w.expr(made.Args[6]), delta, w.at(made.Pos), delta)
}

func (w *writer) do(x graphit.Expr) {
	m, ok := x.(*graphit.Method)
	if !ok {
		if c := x.(*graphit.Call); c.Func == nil && c.Name == "startTimer" {
			w.line("device.wait();")
			w.line("timer = std::chrono::steady_clock::now();")
			return
		}
		w.line("(void)%s;", w.expr(x))
		return
	}
	switch m.Name {
	case "addVertex":
		n, ok := m.X.(*graphit.Name)
		if !ok || n.Var.Global {
			w.refuse(m.Pos, "addVertex: expected a variable of main that is a vertexset")
		}
		w.line("%s.add(%s, vertices, %s);", w.name(n.Var), w.expr(m.Args[0]), w.at(m.Pos))
	case "append", "insert":
		w.line("%s.push_back(%s);", w.list(m.X), w.set(m.Args[0]))
	case "retrieve":
		w.line("%s = heddle::pop(%s, %s);", w.name(m.Args[0].(*graphit.Name).Var), w.list(m.X), w.at(m.Pos))
	case "pop", "dequeue_ready_set":
		w.line("%s;", w.set(m))
	case "updatePriorityMin", "updatePrioritySum":
		w.refuse(m.Pos, "%s: expected it in a function that applyUpdatePriority applies", m.Name)
	default:
		w.line("(void)%s;", w.expr(x))
	}
}

// list returns the variable that a list is.
func (w *writer) list(x graphit.Expr) string {
	n, ok := x.(*graphit.Name)
	if !ok || n.Var == nil {
		w.refuse(x.Position(), "expected a variable that is a list")
	}
	return w.name(n.Var)
}

// set returns the expression of a set.
func (w *writer) set(x graphit.Expr) string {
	switch x := x.(type) {
	case *graphit.Name:
		if x.Var.Global {
			return "heddle::Set::all(vertices)"
		}
		return w.name(x.Var)
	case *graphit.New:
		if isEmpty(x) {
			return "heddle::Set()"
		}
		return fmt.Sprintf("heddle::Set::make(%s, vertices, %s)", w.expr(x.Args[0]), w.at(x.Pos))
	case *graphit.Method:
		switch x.Name {
		case "pop":
			return fmt.Sprintf("heddle::pop(%s, %s)", w.list(x.X), w.at(x.Pos))
		case "dequeue_ready_set":
			return w.queueOf(x.X) + ".dequeue_ready_set()"
		case "getVertices":
			return "heddle::Set::all(vertices)"
		}
	}
	w.refuse(x.Position(), "%s: expected a set", graphit.Source(x))
	return ""
}

func (w *writer) queueOf(x graphit.Expr) string {
	n, ok := x.(*graphit.Name)
	if !ok || n.Var == nil || n.Var != w.queue {
		w.refuse(x.Position(), "%s: expected the program's priority_queue, which main makes", graphit.Source(x))
	}
	return w.name(n.Var)
}

// typeOf returns the C++ type of a number's type.
func (w *writer) typeOf(t *graphit.Type, at graphit.Pos) string {
	switch t.Kind {
	case graphit.Int, graphit.Vertex:
		return "int32_t"
	case graphit.Uint:
		return "uint32_t"
	case graphit.Float, graphit.Double: // double only with --float
		return "float"
	case graphit.Bool:
		return "bool"
	case graphit.VertexSet: // as a number: how many there are
		return "int32_t"
	}
	w.refuse(at, "%s has no CUDA: expected a number or a truth value", t)
	return ""
}

// as returns an expression as a value of another type.
func (w *writer) as(x graphit.Expr, t *graphit.Type) string {
	from, to := w.typeOf(x.TypeOf(), x.Position()), w.typeOf(t, x.Position())
	if n, ok := x.(*graphit.Number); ok && t.IsReal() {
		value := n.Val
		if !n.Real {
			value = float64(n.Int)
		}
		return real(value)
	}
	s := w.expr(x)
	if from == to {
		return s
	}
	return to + "(" + strip(s) + ")"
}

// strip removes the parentheses around an expression.
func strip(s string) string {
	if !strings.HasPrefix(s, "(") || !strings.HasSuffix(s, ")") {
		return s
	}
	depth := 0
	for i, r := range s {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth == 0 && i < len(s)-1 {
			return s
		}
	}
	return s[1 : len(s)-1]
}

// real returns a literal of float.
func real(x float64) string {
	if math.IsInf(float64(float32(x)), 0) {
		return "std::numeric_limits<float>::infinity()"
	}
	s := strconv.FormatFloat(float64(float32(x)), 'g', -1, 32)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s + "f"
}

// expr returns an expression as a value of its own type.
func (w *writer) expr(x graphit.Expr) string {
	switch x := x.(type) {
	case *graphit.Number:
		switch {
		case x.Real:
			return real(x.Val)
		case x.TypeOf().Kind == graphit.Uint:
			return fmt.Sprintf("%du", uint32(x.Int))
		case int32(x.Int) == math.MinInt32:
			return "INT32_MIN"
		}
		return strconv.Itoa(int(int32(x.Int)))
	case *graphit.Truth:
		return strconv.FormatBool(x.Value)
	case *graphit.Name:
		switch {
		case x.Var == nil:
			w.refuse(x.Pos, "%s is no value", x.Name)
		case x.Var.Type.Kind == graphit.VertexSet && x.Var.Global:
			return "int32_t(vertices)"
		case x.Var.Type.Kind == graphit.VertexSet:
			return w.name(x.Var) + ".size()"
		}
		return w.name(x.Var)
	case *graphit.Unary:
		switch x.Op {
		case "not":
			return "!" + w.expr(x.X)
		case "-":
			return "-" + w.as(x.X, x.TypeOf())
		}
		return w.as(x.X, x.TypeOf())
	case *graphit.Binary:
		return w.binary(x)
	case *graphit.Index:
		return w.element(x)
	case *graphit.Call:
		return w.call(x)
	case *graphit.Method:
		return w.method(x)
	}
	w.refuse(x.Position(), "%s has no CUDA", graphit.Source(x))
	return ""
}

func (w *writer) binary(x *graphit.Binary) string {
	if test, ok := w.emptiness(x); ok {
		return test
	}
	t := x.TypeOf()
	switch x.Op {
	case "and", "or":
		return "(" + w.expr(x.X) + map[string]string{"and": " && ", "or": " || "}[x.Op] + w.expr(x.Y) + ")"
	case "xor":
		return "(" + w.expr(x.X) + " != " + w.expr(x.Y) + ")"
	case "/":
		if !t.IsReal() {
			return fmt.Sprintf("heddle::divide<%s>(%s, %s, %s)", w.typeOf(t, x.Pos), w.as(x.X, t), w.as(x.Y, t), w.at(x.Pos))
		}
		return "(" + w.as(x.X, t) + " / " + w.as(x.Y, t) + ")"
	case "+", "-", "*":
		return "(" + w.as(x.X, t) + " " + x.Op + " " + w.as(x.Y, t) + ")"
	}
	if x.X.TypeOf().Kind == graphit.Bool {
		if y, ok := x.Y.(*graphit.Truth); ok && (x.Op == "==" || x.Op == "!=") { // q.finished() == false
			if y.Value == (x.Op == "==") {
				return w.expr(x.X)
			}
			return "!" + w.expr(x.X)
		}
		return "(" + w.expr(x.X) + " " + x.Op + " " + w.expr(x.Y) + ")"
	}
	t = graphit.Wider(number(x.X), number(x.Y))
	return "(" + w.as(x.X, t) + " " + x.Op + " " + w.as(x.Y, t) + ")"
}

// emptiness returns the test whether a set has vertices, which needs no count of them.
func (w *writer) emptiness(x *graphit.Binary) (test string, ok bool) {
	size, isMethod := x.X.(*graphit.Method)
	zero, isNumber := x.Y.(*graphit.Number)
	if !isMethod || !isNumber || zero.Real || zero.Int != 0 || size.X.TypeOf().Kind != graphit.VertexSet {
		return "", false
	}
	n, isName := size.X.(*graphit.Name)
	if !isName || n.Var.Global || size.Name != "size" && size.Name != "getVertexSetSize" {
		return "", false
	}
	switch x.Op {
	case "!=", ">":
		return "!" + w.name(n.Var) + ".empty()", true
	case "==", "<=":
		return w.name(n.Var) + ".empty()", true
	}
	return "", false
}

// number is the type of an expression in which a number is wanted: the set of all vertices is their number.
func number(x graphit.Expr) *graphit.Type {
	if t := x.TypeOf(); t.Kind != graphit.VertexSet {
		return t
	}
	return &graphit.Type{Kind: graphit.Int}
}

// place returns the number of an element, which of a vector of vectors is one of its row.
func (w *writer) place(x *graphit.Index) string {
	if x.J == nil {
		return w.expr(x.I)
	}
	return fmt.Sprintf("heddle::in_row(%s, %s, %d, %s)", w.expr(x.I), w.expr(x.J), x.X.TypeOf().Width, w.at(x.Pos))
}

func (w *writer) element(x *graphit.Index) string {
	n, ok := x.X.(*graphit.Name)
	if !ok || n.Var == nil {
		w.refuse(x.Pos, "an argument of the command line is a number by atoi(argv[2])")
	}
	s := fmt.Sprintf("heddle::get<%s>(device, %s, %s, %s)", w.elementOf(n.Var), w.name(n.Var), w.place(x), w.at(x.Pos))
	if n.Var.Type.Of.Kind == graphit.Bool {
		return "(" + s + " != 0)"
	}
	return s
}

func (w *writer) call(x *graphit.Call) string {
	if x.Func != nil && x.Func.Native != nil {
		w.refuse(x.Pos, "%s is a function in Go or C, which simulated machines' programs call: expected one of "+
			"GraphIt's", x.Name)
	}
	switch x.Name {
	case "fabs":
		return "std::fabs(" + w.as(x.Args[0], x.TypeOf()) + ")"
	case "max", "min":
		t := x.TypeOf()
		return fmt.Sprintf("std::%s<%s>(%s, %s)", x.Name, w.typeOf(t, x.Pos), w.as(x.Args[0], t), w.as(x.Args[1], t))
	case "floor", "ceil", "log", "exp":
		return "std::" + x.Name + "(" + w.as(x.Args[0], x.TypeOf()) + ")"
	case "pow":
		return "std::pow(" + w.as(x.Args[0], x.TypeOf()) + ", " + w.as(x.Args[1], x.TypeOf()) + ")"
	case "to_double":
		return w.as(x.Args[0], x.TypeOf())
	case "atoi":
		if i, ok := x.Args[0].(*graphit.Index); ok {
			return fmt.Sprintf("heddle::argument(options, %d, %s)", i.I.(*graphit.Number).Int, w.at(x.Pos))
		}
		if t, ok := x.Args[0].(*graphit.Text); ok {
			if n, err := strconv.ParseInt(t.Value, 10, 32); err == nil {
				return strconv.FormatInt(n, 10)
			}
		}
	case "stopTimer":
		return "(device.wait(), std::chrono::duration<float>(std::chrono::steady_clock::now() - timer).count())"
	}
	w.refuse(x.Pos, "%s has no CUDA", graphit.Source(x))
	return ""
}

// words returns a string, or an argument of the command line.
func (w *writer) words(x graphit.Expr) string {
	switch x := x.(type) {
	case *graphit.Text:
		return strconv.Quote(x.Value)
	case *graphit.Index:
		if n := x.I.(*graphit.Number).Int; n == 1 {
			return "options.graph"
		} else if n >= 2 {
			return fmt.Sprintf("options.arguments.at(%d)", n-2)
		}
		return "argv[0]"
	}
	w.refuse(x.Position(), "%s: expected a string", graphit.Source(x))
	return ""
}

func (w *writer) method(x *graphit.Method) string {
	switch x.Name {
	case "size", "getVertexSetSize", "getVertices":
		n, ok := x.X.(*graphit.Name)
		switch {
		case ok && n.TypeOf().Kind == graphit.List:
			return "int32_t(" + w.name(n.Var) + ".size())"
		case x.X.TypeOf().Kind == graphit.EdgeSet || ok && n.Var != nil && n.Var.Global:
			return "int32_t(vertices)"
		}
		return w.set(x.X) + ".size()"
	case "get_current_priority", "getCurrentPriority":
		return fmt.Sprintf("%s(%s.current)", w.typeOf(x.TypeOf(), x.Pos), w.queueOf(x.X))
	case "sum":
		n, ok := x.X.(*graphit.Name)
		if !ok || n.TypeOf().Of.Kind == graphit.Bool {
			w.refuse(x.Pos, "sum: expected a variable that is a vector of numbers")
		}
		return fmt.Sprintf("heddle::sum<%s>(device, %s)", w.elementOf(n.Var), w.name(n.Var))
	case "max":
		n, ok := x.X.(*graphit.Name)
		if !ok || n.TypeOf().Of.Kind == graphit.Bool {
			w.refuse(x.Pos, "max: expected a variable that is a vector of numbers")
		}
		return fmt.Sprintf("heddle::greatest<%s>(device, %s, %s)", w.elementOf(n.Var), w.name(n.Var), w.at(x.Pos))
	case "finished":
		return w.queueOf(x.X) + ".finished()"
	case "finishedNode":
		q := w.queueOf(x.X)
		v := w.Queues[w.queue].Vector
		return fmt.Sprintf("(%s.finished() || int64_t(heddle::get<%s>(device, %s, %s, %s)) <= %s.current)", q, w.elementOf(v),
			w.name(v), w.expr(x.Args[0]), w.at(x.Pos), q)
	}
	w.refuse(x.Pos, "%s has no value", x.Name)
	return ""
}
