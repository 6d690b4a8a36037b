package cpu

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// goType returns the Go type of a type.
func (g *generator) goType(t *graphit.Type) string {
	switch t.Kind {
	case graphit.Int, graphit.Vertex:
		return "int32"
	case graphit.Uint:
		return "uint32"
	case graphit.Float:
		return "float32"
	case graphit.Double:
		if g.float {
			return "float32"
		}
		return "float64"
	case graphit.Bool:
		return "bool"
	case graphit.VertexSet:
		return "*set"
	case graphit.List:
		if t.Of.Kind != graphit.VertexSet {
			g.refuse(t.Pos, "lists of %s are not supported by --cpu: expected list{vertexset{…}}", t.Of)
		}
		return "[]*set"
	case graphit.PriorityQueue:
		return "*queue[" + g.goType(t.Of) + "]"
	}
	panic(fmt.Sprintf("BUG: cpu: type %s has no values", t))
}

// elementType returns the type of a vector's elements: a boolean takes a word, which threads can change concurrently.
func (g *generator) elementType(v *graphit.Var) string {
	if v.Type.Of.Kind == graphit.Bool {
		return "uint32"
	}
	return g.goType(v.Type.Of)
}

// suffixes of the runtime's functions, by type.
var suffixes = map[string]string{"int32": "I32", "uint32": "U32", "float32": "F32", "float64": "F64"}

// number is the type of an expression in which a number is wanted: the set of all vertices is their number.
func number(x graphit.Expr) *graphit.Type {
	if t := x.TypeOf(); t.Kind != graphit.VertexSet {
		return t
	}
	return &graphit.Type{Kind: graphit.Int}
}

// as is an expression as a value of another type.
func (w *writer) as(x graphit.Expr, t *graphit.Type) string {
	from, to := w.g.goType(number(x)), w.g.goType(t)
	if n, ok := x.(*graphit.Number); ok && t.IsReal() {
		value := n.Val
		if !n.Real {
			value = float64(n.Int)
		}
		return real(value, to)
	}
	s := w.expr(x)
	if from == to {
		return s
	}
	return to + "(" + s + ")"
}

// real returns a literal. Go refuses constants outside their type's range.
func real(x float64, t string) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	switch {
	case t == "float64" && math.IsInf(x, 0):
		return "math.Inf(1)"
	case t == "float64":
		return "f64(" + s + ")"
	case math.IsInf(float64(float32(x)), 0):
		return "float32(math.Inf(1))"
	}
	return "f32(" + strconv.FormatFloat(float64(float32(x)), 'g', -1, 32) + ")"
}

// expr returns an expression as a value of its own type.
func (w *writer) expr(x graphit.Expr) string {
	switch x := x.(type) {
	case *graphit.Number:
		switch {
		case x.Real:
			return real(x.Val, "float32")
		case x.TypeOf().Kind == graphit.Uint:
			return fmt.Sprintf("u32(%d)", uint32(x.Int))
		}
		return fmt.Sprintf("i32(%d)", int32(x.Int))
	case *graphit.Truth:
		return strconv.FormatBool(x.Value)
	case *graphit.Name:
		return w.name(x)
	case *graphit.Unary:
		switch x.Op {
		case "not":
			return "(!" + w.expr(x.X) + ")"
		case "-":
			return "(-" + w.as(x.X, x.TypeOf()) + ")"
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
	panic(fmt.Sprintf("BUG: cpu: expression %T", x))
}

func (w *writer) name(x *graphit.Name) string {
	switch {
	case x.Var == nil:
		w.g.refuse(x.Pos, "%s is no value", x.Name)
	case x.Var.Type.Kind == graphit.VertexSet:
		return "int32(" + w.set(x) + ".count)"
	}
	if s := w.names[x.Var]; s != "" {
		return s
	}
	s := w.g.name(x.Var)
	if x.Var.Global && w.kernel {
		w.hoist(s)
	}
	return s
}

func (w *writer) binary(x *graphit.Binary) string {
	t := x.TypeOf()
	switch x.Op {
	case "and", "or": // both sides are computed, whatever the first one is
		a, b := w.expr(x.X), w.expr(x.Y)
		if calls(x.Y) {
			return map[string]string{"and": "both", "or": "either"}[x.Op] + "(" + a + ", " + b + ")"
		}
		return "(" + a + map[string]string{"and": " && ", "or": " || "}[x.Op] + b + ")"
	case "xor":
		return "(" + w.expr(x.X) + " != " + w.expr(x.Y) + ")"
	case "/":
		a, b := w.as(x.X, t), w.as(x.Y, t)
		if t.IsReal() {
			return "(" + a + " / " + b + ")"
		}
		return "div" + suffixes[w.g.goType(t)] + "(" + a + ", " + b + ")"
	case "+", "-", "*":
		return "(" + w.as(x.X, t) + " " + x.Op + " " + w.as(x.Y, t) + ")"
	}
	if x.X.TypeOf().Kind == graphit.Bool {
		return "(" + w.expr(x.X) + " " + x.Op + " " + w.expr(x.Y) + ")"
	}
	t = graphit.Wider(number(x.X), number(x.Y))
	return "(" + w.as(x.X, t) + " " + x.Op + " " + w.as(x.Y, t) + ")"
}

// calls reports whether an expression calls a function of the program, which may have side effects.
func calls(x graphit.Expr) (found bool) {
	graphit.WalkExpr(x, func(x graphit.Expr) {
		c, ok := x.(*graphit.Call)
		found = found || ok && c.Func != nil
	})
	return found
}

// vector is a vector's variable.
func (w *writer) vector(v *graphit.Var) string {
	s := w.g.name(v)
	if w.kernel {
		w.hoist(s)
	}
	return s
}

// place is an element of a vector, as Go assigns it. The host's are checked, as an operator's are by Go.
func (w *writer) place(x *graphit.Index) string {
	n, ok := x.X.(*graphit.Name)
	if !ok {
		w.g.refuse(x.Pos, "expected a variable that is a vector")
	}
	v, at := w.vector(n.Var), w.expr(x.I)
	if x.J != nil {
		at = fmt.Sprintf("inRow(%s, %q, int64(%s), int64(%s), %d)", w.g.at(x.Pos), n.Name, at, w.expr(x.J),
			n.Var.Type.Width)
	}
	if w.kernel {
		return v + "[" + at + "]"
	}
	return fmt.Sprintf("%s[element(%s, %q, int64(%s), len(%s))]", v, w.g.at(x.Pos), n.Name, at, v)
}

// element reads one.
func (w *writer) element(x *graphit.Index) string {
	if n, ok := x.X.(*graphit.Name); ok && x.J == nil {
		if s := w.kept(n.Var, x.I); s != "" {
			return s
		}
	}
	return w.load(x.X.(*graphit.Name).Var, w.place(x))
}

// load reads an element, where several threads may be: by an atomic.
func (w *writer) load(v *graphit.Var, place string) string {
	s := place
	if w.access[v] != plain {
		s = "load" + suffixes[w.g.elementType(v)] + "(&" + place + ")"
	}
	if v.Type.Of.Kind == graphit.Bool {
		return "(" + s + " != 0)"
	}
	return s
}

func (w *writer) call(x *graphit.Call) string {
	if x.Func != nil && x.Func.Native != nil {
		w.g.refuse(x.Pos, "%s is a function in Go or C, which simulated machines' programs call: expected one of "+
			"GraphIt's", x.Name)
	}
	if x.Func != nil {
		if !w.kernel {
			w.g.refuse(x.Pos, "%s: functions are called for edges and vertices; main calls none", x.Name)
		}
		var args []string
		for i, a := range x.Args {
			args = append(args, w.as(a, x.Func.Params[i].Type))
		}
		return w.closure(x.Func) + "(" + strings.Join(args, ", ") + ")"
	}
	switch x.Name {
	case "fabs":
		t := x.TypeOf()
		return "abs" + suffixes[w.g.goType(t)] + "(" + w.as(x.Args[0], t) + ")"
	case "max", "min":
		t := x.TypeOf()
		return x.Name + "(" + w.as(x.Args[0], t) + ", " + w.as(x.Args[1], t) + ")"
	case "floor", "ceil", "log", "exp":
		t := x.TypeOf()
		return fmt.Sprintf("%s(math.%s(float64(%s)))", w.g.goType(t), strings.ToUpper(x.Name[:1])+x.Name[1:],
			w.as(x.Args[0], t))
	case "pow":
		t := x.TypeOf()
		return fmt.Sprintf("%s(math.Pow(float64(%s), float64(%s)))", w.g.goType(t), w.as(x.Args[0], t),
			w.as(x.Args[1], t))
	case "to_double":
		return w.as(x.Args[0], x.TypeOf())
	case "writeMin", "writeMax":
		return w.written(x)
	case "atoi":
		return "atoi(" + w.g.at(x.Pos) + ", " + w.text(x.Args[0]) + ")"
	}
	if w.kernel {
		w.g.refuse(x.Pos, "%s: only the host calls it: expected it in main", x.Name)
	}
	if x.Name == "startTimer" {
		return "startTimer()"
	}
	return "stopTimer()"
}

// written is writeMin or writeMax, of a function of edges or vertices: whether the element has changed.
func (w *writer) written(x *graphit.Call) string {
	v := x.Args[0].(*graphit.Name).Var
	if !w.kernel {
		w.g.refuse(x.Pos, "%s: expected it in a function of edges or vertices", x.Name)
	}
	call := fmt.Sprintf("%s%s(&%s[%s], %s)", strings.ToLower(x.Name[len("write"):]), suffixes[w.g.elementType(v)],
		w.vector(v), w.expr(x.Args[1]), w.as(x.Args[2], v.Type.Of))
	if v != w.tracked {
		return call
	}
	told := "told = true"
	if w.direct {
		told = w.told
	}
	return "func() bool { changed := " + call + "; if changed {\n" + told + "\n}; return changed }()"
}

// text is a string, or an argument of the command line.
func (w *writer) text(x graphit.Expr) string {
	switch x := x.(type) {
	case *graphit.Text:
		return strconv.Quote(x.Value)
	case *graphit.Index:
		return fmt.Sprintf("m.argument(%s, %d)", w.g.at(x.Pos), x.I.(*graphit.Number).Int)
	}
	w.g.refuse(x.Position(), "expected an argument of the command line, as argv[2]")
	return ""
}

func (w *writer) method(x *graphit.Method) string {
	switch x.Name {
	case "size", "getVertexSetSize", "getVertices":
		if n, ok := x.X.(*graphit.Name); ok && n.TypeOf().Kind == graphit.List {
			return "int32(len(" + w.g.name(n.Var) + "))"
		}
		if n, ok := x.X.(*graphit.Name); x.X.TypeOf().Kind == graphit.EdgeSet || ok && n.Var != nil && n.Var.Global {
			return "int32(m.n)"
		}
		return "int32(" + w.set(x.X) + ".count)"
	case "get_current_priority", "getCurrentPriority":
		return fmt.Sprintf("%s(%s.current)", w.g.goType(x.TypeOf()), w.queue(x.X))
	}
	if w.kernel {
		w.g.refuse(x.Pos, "%s: only the host does this: expected it in main", graphit.Source(x))
	}
	switch x.Name {
	case "sum":
		n, ok := x.X.(*graphit.Name)
		if !ok || n.TypeOf().Of.Kind == graphit.Bool {
			w.g.refuse(x.Pos, "sum: expected a variable that is a vector of numbers")
		}
		return "sum(" + w.g.name(n.Var) + ")"
	case "max":
		n, ok := x.X.(*graphit.Name)
		if !ok || n.TypeOf().Of.Kind == graphit.Bool {
			w.g.refuse(x.Pos, "max: expected a variable that is a vector of numbers")
		}
		return fmt.Sprintf("greatest(%s, %s)", w.g.at(x.Pos), w.g.name(n.Var))
	case "finished":
		return w.queue(x.X) + ".finished()"
	case "finishedNode":
		return fmt.Sprintf("%s.finishedNode(%s, int64(%s))", w.queue(x.X), w.g.at(x.Pos), w.expr(x.Args[0]))
	}
	w.g.refuse(x.Pos, "%s has no value", x.Name)
	return ""
}

// queue is a queue that has been made.
func (w *writer) queue(x graphit.Expr) string {
	n, ok := x.(*graphit.Name)
	if !ok || n.Var == nil {
		w.g.refuse(x.Position(), "expected a variable that is a priority_queue")
	}
	return fmt.Sprintf("made(%s, %s)", w.g.at(n.Pos), w.g.name(n.Var))
}

// set is the value of an expression that is a set, of the host's.
func (w *writer) set(x graphit.Expr) string {
	if w.kernel {
		w.g.refuse(x.Position(), "%s: only the host has sets: expected it in main", graphit.Source(x))
	}
	at := w.g.at(x.Position())
	switch x := x.(type) {
	case *graphit.Name:
		if x.Var.Global {
			return "m.everything()"
		}
		return fmt.Sprintf("live(%s, %q, %s)", at, x.Name, w.g.name(x.Var))
	case *graphit.New:
		return fmt.Sprintf("m.newSet(%s, int64(%s))", at, w.expr(x.Args[0]))
	case *graphit.Method:
		switch x.Name {
		case "pop":
			if n, ok := x.X.(*graphit.Name); ok {
				return fmt.Sprintf("popSet(%s, %q, &%s)", at, n.Name, w.g.name(n.Var))
			}
		case "dequeue_ready_set":
			return w.queue(x.X) + ".ready()"
		case "getVertices":
			return "m.everything()"
		}
	}
	w.g.refuse(x.Position(), "expected a set")
	return ""
}

// accessing is how a loop accesses a vector.
type accessing uint8

const (
	plain  accessing = iota // no other thread is there
	owned                   // only this thread writes; others read
	shared                  // others write
)

// accesses returns the accesses of a loop of several threads, from its functions' accesses and the end of edges that
// each thread owns.
func accesses(list []graphir.Access, queued *graphit.Var, owner graphir.Place) map[*graphit.Var]accessing {
	type found struct{ written, away, writtenAway bool }
	by := map[*graphit.Var]*found{}
	for _, a := range list {
		v := a.Vector
		if v == nil {
			v = queued
		}
		f := by[v]
		if f == nil {
			f = &found{}
			by[v] = f
		}
		away := a.Index != owner
		f.written = f.written || a.Op != ""
		f.away = f.away || away
		f.writtenAway = f.writtenAway || away && a.Op != ""
	}
	all := map[*graphit.Var]accessing{}
	for v, f := range by {
		switch {
		case f.writtenAway:
			all[v] = shared
		case f.written && f.away:
			all[v] = owned
		}
	}
	return all
}
