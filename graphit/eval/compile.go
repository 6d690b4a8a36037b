package eval

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// ErrStopped marks the error of a program that does not terminate.
var ErrStopped = errors.New("the program does not end")

// failure is the panic value of a program's run-time error.
type failure struct {
	pos  graphit.Pos
	msg  string
	kind error // nil: an error that depends on the input
}

func fail(pos graphit.Pos, format string, args ...any) {
	panic(failure{pos: pos, msg: fmt.Sprintf(format, args...)})
}

// endless refuses a program that does not terminate.
func endless(pos graphit.Pos, format string, args ...any) {
	panic(failure{pos, fmt.Sprintf(format, args...), ErrStopped})
}

// tooLarge refuses a value outside its type's range: the program has C++'s types, for which this is undefined.
func tooLarge(pos graphit.Pos, what string, n int64, t *graphit.Type) {
	if t.Wide {
		fail(pos, "%s is beyond 0 to %d, which is what is checked of a uint_64 (in 32 bits, as on a GPU and the "+
			"host: 0 to %d)", what, int64(math.MaxInt64), uint32(math.MaxUint32))
	}
	if t.Kind == graphit.Uint {
		fail(pos, "%s is %d: a uint holds 0 to %d", what, n, uint32(math.MaxUint32))
	}
	fail(pos, "%s is %d: an int holds %d to %d", what, n, math.MinInt32, math.MaxInt32)
}

// scope is the context in which an expression is evaluated.
type scope struct {
	locals  map[*graphit.Var]int
	names   names
	program *graphir.Program // whose types' widths count
}

func (s *scope) wide(t *graphit.Type) bool { return s.program.Wide(t) }

// names resolves variables that are not local to a function.
type names interface {
	// scalar returns the storage of a scalar known to the host.
	scalar(v *graphit.Var) *Value
	// element reads and writes vectors' elements.
	element(v *graphit.Var, n int64, pos graphit.Pos) Value
	setElement(v *graphit.Var, n int64, x Value, pos graphit.Pos)
	// method returns the result of a method of a set, list, queue or graph.
	method(x *graphit.Method, args []Value) Value
	// call is a function of the language's.
	call(x *graphit.Call, args []Value) Value
	argument(n int64, pos graphit.Pos) string
	// common is the number of the common neighbours of two vertices that are not beyond last.
	common(a, b, last int64) int64
	// round counts the rounds of loops, which are limited.
	round(pos graphit.Pos)
}

// frame is the state of a function's call.
type frame struct {
	locals []Value
	leave  bool   // by break
	tells  func() // called on a change of the tracked vector; nil: not tracked
}

// code is a compiled expression.
type code func(f *frame) Value

// expr compiles an expression, to a value of its type.
func (s *scope) expr(x graphit.Expr) code {
	switch x := x.(type) {
	case *graphit.Number:
		v := Value{I: x.Int, Unreached: x.Int == greatest(x.TypeOf())}
		if x.Real {
			v = rounded(x.Val, 0)
		}
		return func(*frame) Value { return v }
	case *graphit.Truth:
		v := Truth(x.Value)
		return func(*frame) Value { return v }
	case *graphit.Name:
		return s.name(x)
	case *graphit.Unary:
		return s.unary(x)
	case *graphit.Binary:
		return s.binary(x)
	case *graphit.Index:
		n, ok := x.X.(*graphit.Name)
		if !ok {
			break
		}
		i := s.place(x)
		return func(f *frame) Value { return s.names.element(n.Var, i(f), x.Pos) }
	case *graphit.Call:
		return s.called(x)
	case *graphit.Method:
		args := s.args(x.Args)
		if n := len(args) - 1; graphit.Updates(x) && x.Args[n].TypeOf().IsReal() {
			args[n] = s.as(x.Args[n], x.X.TypeOf().Of)
		}
		return func(f *frame) Value { return s.names.method(x, values(args, f)) }
	}
	panic(fmt.Sprintf("BUG: eval: expression %T", x))
}

// place compiles the number of an element, which of a vector of vectors is one of its row.
func (s *scope) place(x *graphit.Index) func(f *frame) int64 {
	i := s.expr(x.I)
	if x.J == nil {
		return func(f *frame) int64 { return index(i(f), x.Pos) }
	}
	j, width := s.expr(x.J), int64(x.X.TypeOf().Width)
	return func(f *frame) int64 {
		column := index(j(f), x.Pos)
		if column < 0 || column >= width {
			fail(x.Pos, "%s: its elements have numbers 0 to %d, not %d", graphit.Source(x), width-1, column)
		}
		return index(i(f), x.Pos)*width + column
	}
}

// index is an element's number, which no race may decide.
func index(v Value, pos graphit.Pos) int64 {
	if v.Any != nil {
		fail(pos, "which element it is depends on which of several racing assignments came last")
	}
	return v.I
}

func (s *scope) args(list []graphit.Expr) (out []code) {
	for _, x := range list {
		switch x.TypeOf().Kind {
		case graphit.VertexSet, graphit.Function, graphit.String, graphit.Vector, graphit.EdgeSet, graphit.List:
			out = append(out, nil)
		default:
			out = append(out, s.expr(x))
		}
	}
	return out
}

func values(list []code, f *frame) []Value {
	out := make([]Value, len(list))
	for i, c := range list {
		if c != nil {
			out[i] = c(f)
		}
	}
	return out
}

func (s *scope) name(x *graphit.Name) code {
	if n, ok := s.locals[x.Var]; ok {
		return func(f *frame) Value { return f.locals[n] }
	}
	if k := x.Var.Type.Kind; k == graphit.VertexSet { // all vertices, as their number
		return func(*frame) Value { return s.names.method(&graphit.Method{X: x, Name: "size"}, nil) }
	}
	at := s.names.scalar(x.Var)
	return func(*frame) Value { return *at }
}

// as compiles an expression to a value of another type.
func (s *scope) as(x graphit.Expr, t *graphit.Type) code {
	if f, ok := graphit.Constant(x); ok && t.IsReal() && s.wide(t) {
		return func(*frame) Value { return Value{F: f} }
	}
	if y, ok := x.(*graphit.Binary); ok && t.IsReal() && s.wide(t) && y.TypeOf().Kind == graphit.Float &&
		graphit.Literal(y) {
		return s.arithmetic(y, t)
	}
	c, from := s.expr(x), x.TypeOf()
	if from.Kind == graphit.VertexSet { // all vertices: their number
		from = &graphit.Type{Kind: graphit.Int}
	}
	switch {
	case t.Wide && !from.Wide && !from.IsReal(): // a negative number would be one beyond 32 bits
		return func(f *frame) Value {
			v := c(f)
			for _, n := range all(v) {
				if n < 0 {
					tooLarge(x.Position(), graphit.Source(x), n, t)
				}
			}
			return v
		}
	case from.Wide && !t.Wide && !t.IsReal() && t.Kind != graphit.Bool:
		return func(f *frame) Value {
			v := c(f)
			if n := v.I; !holdsInteger(t, n) {
				tooLarge(x.Position(), graphit.Source(x), n, t)
			}
			return v
		}
	case s.wide(from) && from.IsReal() && t.IsReal() && !s.wide(t):
		return func(f *frame) Value { v := c(f); return rounded(v.F, v.E) }
	case from.Kind == t.Kind || from.IsReal() && t.IsReal():
		return c
	case from.IsReal() && t.Kind != graphit.Bool:
		return func(f *frame) Value { return truncated(x, c(f), t) }
	case from.Kind == graphit.Uint && !t.IsReal(): // of C++'s conversions the one that its compilers define
		return func(f *frame) Value {
			v := c(f)
			for _, n := range all(v) {
				if n > math.MaxInt32 {
					tooLarge(x.Position(), graphit.Source(x), n, t)
				}
			}
			return convert(v, from, t, s.wide(t))
		}
	}
	wide := s.wide(t)
	return func(f *frame) Value { return convert(c(f), from, t, wide) }
}

// truncated is a real number as an integer, which its rounding must not decide.
func truncated(x graphit.Expr, v Value, t *graphit.Type) Value {
	n := math.Trunc(v.F)
	if math.Trunc(v.F-v.E) != n || math.Trunc(v.F+v.E) != n {
		fail(x.Position(), "%s is %v as an integer, or another one, by roundings: it cannot be checked", graphit.Source(x), n)
	}
	if math.IsNaN(n) || math.Abs(n) > math.MaxInt32 || t.Kind == graphit.Uint && n < 0 {
		fail(x.Position(), "%s is %v, which %s does not hold", graphit.Source(x), v.F, t)
	}
	return Int(int64(n))
}

func (s *scope) unary(x *graphit.Unary) code {
	c, isReal := s.expr(x.X), x.TypeOf().IsReal()
	t := x.TypeOf()
	switch {
	case x.Op == "not":
		return func(f *frame) Value { v := c(f); return Value{I: 1 - v.I, E: v.E} }
	case x.Op == "-" && isReal:
		return func(f *frame) Value { v := c(f); v.F = -v.F; return v }
	case x.Op == "-":
		return func(f *frame) Value {
			n, ok := inType(t, -c(f).I)
			if !ok {
				tooLarge(x.Pos, graphit.Source(x), n, t)
			}
			return Int(n)
		}
	}
	return c
}

func (s *scope) binary(x *graphit.Binary) code {
	op := x.Op
	switch op {
	case "and", "or", "xor":
		a, b := s.expr(x.X), s.expr(x.Y)
		if !calls(x.Y) { // then the other side counts only where the first does not decide
			return func(f *frame) Value {
				v := a(f)
				if v.E == 0 && (op == "and" && v.I == 0 || op == "or" && v.I == 1) {
					return v
				}
				return logic(op, v, b(f))
			}
		}
		return func(f *frame) Value { return logic(op, a(f), b(f)) }
	case "+", "-", "*", "/":
		return s.arithmetic(x, x.TypeOf())
	}
	if x.X.TypeOf().Kind == graphit.Bool {
		a, b := s.expr(x.X), s.expr(x.Y)
		return func(f *frame) Value {
			v, w := a(f), b(f)
			return Value{I: Truth((v.I == w.I) == (op == "==")).I, E: max(v.E, w.E)}
		}
	}
	t := graphit.Wider(numeric(x.X), numeric(x.Y))
	a, b, isReal := s.as(x.X, t), s.as(x.Y, t), t.IsReal()
	return func(f *frame) Value { return compare(op, isReal, a(f), b(f)) }
}

// calls reports whether an expression calls a function of the program, which may have side effects.
func calls(x graphit.Expr) (found bool) {
	graphit.WalkExpr(x, func(x graphit.Expr) {
		c, ok := x.(*graphit.Call)
		found = found || ok && c.Func != nil
	})
	return found
}

// arithmetic is an operation on two numbers, in a type.
func (s *scope) arithmetic(x *graphit.Binary, t *graphit.Type) code {
	op := x.Op
	a, b := s.as(x.X, t), s.as(x.Y, t)
	wide := s.wide(t)
	if t.IsReal() {
		return func(f *frame) Value {
			v, w := a(f), b(f)
			if v.Any != nil || w.Any != nil {
				racing(x.Pos)
			}
			return realArithmetic(op, v, w, wide)
		}
	}
	return func(f *frame) Value {
		v, w := a(f), b(f)
		switch {
		case v.Any != nil || w.Any != nil:
			racing(x.Pos)
		case op == "/" && w.I == 0:
			fail(x.Pos, "%s divides %d by 0", graphit.Source(x), v.I)
		}
		n, ok := s.integer(t, op, v.I, w.I)
		if !ok {
			tooLarge(x.Pos, fmt.Sprintf("%s, of %d and %d,", graphit.Source(x), v.I, w.I), n, t)
		}
		return Value{I: n, Unreached: v.Unreached || w.Unreached}
	}
}

// integer is an operation on integers of a type; false: the type does not hold the result.
func (s *scope) integer(t *graphit.Type, op string, x, y int64) (int64, bool) {
	if !t.Wide {
		return inType(t, integerArithmetic(op, x, y))
	}
	n, ok := wideArithmetic(op, x, y)
	return n, ok && (s.wide(t) || n <= math.MaxUint32)
}

func racing(pos graphit.Pos) {
	fail(pos, "the value depends on which of several racing assignments came last")
}

// numeric is the type of a number; the set of all vertices is their number.
func numeric(x graphit.Expr) *graphit.Type {
	if t := x.TypeOf(); t.Kind != graphit.VertexSet {
		return t
	}
	return &graphit.Type{Kind: graphit.Int}
}

func (s *scope) called(x *graphit.Call) code {
	switch {
	case x.Func != nil && x.Func.Counts != nil:
		a, b, last := s.expr(x.Args[0]), s.expr(x.Args[1]), s.expr(x.Args[2])
		return func(f *frame) Value {
			return Int(s.names.common(index(a(f), x.Pos), index(b(f), x.Pos), index(last(f), x.Pos)))
		}
	case x.Func != nil && x.Func.Native != nil:
		return s.native(x)
	case x.Func != nil:
		fn := s.function(x.Func)
		var args []code
		for i, a := range x.Args {
			args = append(args, s.as(a, x.Func.Params[i].Type))
		}
		buf := make([]Value, len(args))
		return func(f *frame) Value {
			for i, c := range args {
				buf[i] = c(f)
			}
			return fn(buf, f.tells)
		}
	case x.Name == "fabs":
		c := s.as(x.Args[0], x.TypeOf())
		return func(f *frame) Value { v := c(f); v.F = math.Abs(v.F); return v }
	case x.Name == "max" || x.Name == "min":
		return s.extreme(x)
	case functions[x.Name] != nil:
		return s.computed(x)
	case x.Name == "to_double":
		return s.as(x.Args[0], x.TypeOf())
	case x.Name == "writeMin" || x.Name == "writeMax":
		return s.written(x)
	case x.Name == "atoi":
		return func(f *frame) Value { return s.atoi(x) }
	}
	args := s.args(x.Args)
	return func(f *frame) Value { return s.names.call(x, values(args, f)) }
}

// extreme is the lesser or the greater of two numbers.
func (s *scope) extreme(x *graphit.Call) code {
	t, op := x.TypeOf(), ">"
	if x.Name == "min" {
		op = "<"
	}
	a, b := s.as(x.Args[0], t), s.as(x.Args[1], t)
	return func(f *frame) Value {
		v, w := a(f), b(f)
		switch {
		case v.Any != nil || w.Any != nil:
			racing(x.Pos)
		case t.IsReal():
			if holds(op, w.F, v.F) {
				return Value{F: w.F, E: max(v.E, w.E)}
			}
			return Value{F: v.F, E: max(v.E, w.E)}
		case holds(op, w.I, v.I):
			return w
		}
		return v
	}
}

// written is writeMin or writeMax: it reports whether the element has changed.
func (s *scope) written(x *graphit.Call) code {
	v, op := x.Args[0].(*graphit.Name).Var, map[string]string{"writeMin": "min=", "writeMax": "max="}[x.Name]
	at, value := s.expr(x.Args[1]), s.as(x.Args[2], x.Args[0].TypeOf().Of)
	r, reduces := s.names.(reducer)
	if !reduces {
		return func(*frame) Value {
			fail(x.Pos, "%s: expected it in a function of edges or vertices", x.Name)
			return Value{}
		}
	}
	return func(f *frame) Value {
		n, w := index(at(f), x.Pos), value(f)
		changed := r.reduce(v, n, op, w, x.Pos)
		if changed && f.tells != nil && r.tracks(v) {
			f.tells()
		}
		return Truth(changed)
	}
}

// atoi reads an argument of the command line.
func (s *scope) atoi(x *graphit.Call) Value {
	text := ""
	switch a := x.Args[0].(type) {
	case *graphit.Index:
		n, _ := a.I.(*graphit.Number)
		text = s.names.argument(n.Int, a.Pos)
	case *graphit.Text:
		text = a.Value
	default:
		fail(x.Pos, "atoi: expected an argument of the command line, as argv[2]")
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		fail(x.Pos, "atoi: expected a whole number of 32 bits, found %q", text)
	}
	return Int(n)
}

// function compiles a function that operators apply, or one that such a function calls.
func (s *scope) function(fn *graphit.Func) func(args []Value, tells func()) Value {
	in := &scope{locals: map[*graphit.Var]int{}, names: s.names, program: s.program}
	for _, p := range fn.Params {
		in.locals[p] = len(in.locals)
	}
	if fn.Result != nil {
		in.locals[fn.Result] = len(in.locals)
	}
	params := len(in.locals)
	body := in.block(fn.Body)
	size, result := len(in.locals), in.locals[fn.Result]
	f := &frame{locals: make([]Value, size)} // no function calls itself
	return func(args []Value, tells func()) Value {
		copy(f.locals[:params], args)
		clear(f.locals[params:])
		f.tells, f.leave = tells, false
		body(f)
		if fn.Result == nil {
			return Value{}
		}
		return f.locals[result]
	}
}

// run is compiled statements.
type run func(f *frame)

func (s *scope) block(list []graphit.Stmt) run {
	var all []run
	for _, x := range list {
		all = append(all, s.statement(x))
	}
	return func(f *frame) {
		for _, r := range all {
			if r(f); f.leave {
				return
			}
		}
	}
}

func (s *scope) statement(x graphit.Stmt) run {
	switch x := x.(type) {
	case *graphit.VarStmt:
		n := len(s.locals)
		value := func(*frame) Value { return Value{} }
		if x.Var.Init != nil {
			value = s.as(x.Var.Init, x.Var.Type)
		}
		s.locals[x.Var] = n
		return func(f *frame) { f.locals[n] = value(f) }
	case *graphit.Assign:
		return s.assign(x)
	case *graphit.ExprStmt:
		c := s.expr(x.X)
		return func(f *frame) { c(f) }
	case *graphit.If:
		cond, then, els := s.truth(x.Cond), s.block(x.Then), s.block(x.Else)
		return func(f *frame) {
			if cond(f) {
				then(f)
			} else {
				els(f)
			}
		}
	case *graphit.While:
		cond, body := s.truth(x.Cond), s.block(x.Body)
		return func(f *frame) {
			for cond(f) && !f.leave {
				s.names.round(x.Pos)
				body(f)
			}
			f.leave = false
		}
	case *graphit.For:
		n := len(s.locals)
		s.locals[x.Var] = n
		from, to, body := s.expr(x.From), s.expr(x.To), s.block(x.Body)
		return func(f *frame) {
			last := to(f).I
			for i := from(f).I; i < last && !f.leave; i++ {
				s.names.round(x.Pos)
				f.locals[n] = Int(i)
				body(f)
			}
			f.leave = false
		}
	case *graphit.Break:
		return func(f *frame) { f.leave = true }
	}
	pos := x.Position()
	return func(*frame) { fail(pos, "only the host can do this: expected it in main") }
}

// truth compiles a condition, which must be decided.
func (s *scope) truth(x graphit.Expr) func(f *frame) bool {
	c, pos := s.expr(x), x.Position()
	return func(f *frame) bool {
		v := c(f)
		if v.E > 0 {
			fail(pos, "the condition depends on roundings, or on which of several racing assignments came last: it cannot be "+
				"checked")
		}
		return v.I == 1
	}
}

// reducer is a vector that functions of operators change.
type reducer interface {
	reduce(v *graphit.Var, n int64, op string, x Value, pos graphit.Pos) bool
	tracks(v *graphit.Var) bool
}

func (s *scope) assign(x *graphit.Assign) run {
	value := s.as(x.Value, x.X.TypeOf())
	if to, ok := x.X.(*graphit.Index); ok {
		v, at := to.X.(*graphit.Name).Var, s.place(to)
		r, reduces := s.names.(reducer)
		return func(f *frame) {
			n, w := at(f), value(f)
			if !reduces {
				s.names.setElement(v, n, s.combined(x, s.names.element(v, n, to.Pos), w), to.Pos)
				return
			}
			if r.reduce(v, n, x.Op, w, to.Pos) && f.tells != nil && r.tracks(v) {
				f.tells()
			}
		}
	}
	v := x.X.(*graphit.Name).Var
	if n, ok := s.locals[v]; ok {
		return func(f *frame) { f.locals[n] = s.combined(x, f.locals[n], value(f)) }
	}
	at := s.names.scalar(v)
	return func(f *frame) { *at = s.combined(x, *at, value(f)) }
}

// combined returns a variable's value after an assignment.
func (s *scope) combined(x *graphit.Assign, old, new Value) Value {
	t := x.X.TypeOf()
	switch {
	case x.Op == "=":
		return new
	case x.Op == "+=" && t.IsReal():
		return realArithmetic("+", old, new, s.wide(t))
	case x.Op == "+=":
		n, ok := s.integer(t, "+", old.I, new.I)
		if !ok {
			tooLarge(x.Pos, fmt.Sprintf("%s += %s, of %d and %d,", graphit.Source(x.X), graphit.Source(x.Value), old.I,
				new.I), n, t)
		}
		return Int(n)
	}
	d := newData(t, 1, s.wide(t))
	d.set(0, old)
	d.least(0, new, x.Op == "max=")
	return d.get(0)
}
