package graphit

import (
	"fmt"
	"math"
	"strings"
)

// Check resolves names and assigns a type to every expression. An error is an *Error.
func Check(f *File) (err error) {
	c := &checker{parser: parser{file: f.Name, tokens: []token{{}}}, elements: map[string]bool{},
		funcs: map[string]*Func{}}
	defer c.catch(&err)
	c.elaborate(f)
	c.open()
	for _, e := range f.Elements {
		if c.elements[e.Name] {
			c.errorf(e.Pos, "there is an element %s already", e.Name)
		}
		c.elements[e.Name] = true
	}
	for _, fn := range f.Funcs {
		if _, taken := builtins[fn.Name]; taken || c.funcs[fn.Name] != nil {
			c.errorf(fn.Pos, "there is a function %s already", fn.Name)
		}
		c.funcs[fn.Name] = fn
	}
	for _, v := range f.Globals {
		v.Global = true
		c.declare(v)
	}
	for _, fn := range f.Funcs {
		c.function(fn)
	}
	main := c.funcs["main"]
	switch {
	case main == nil:
		c.errorf(Pos{1, 1}, "there is no function main")
	case len(main.Params) > 0 || main.Result != nil:
		c.errorf(main.Pos, "main takes no parameters and has no result")
	}
	c.acyclic(f)
	return nil
}

// checker is the parser's errors with scopes.
type checker struct {
	parser
	elements map[string]bool
	funcs    map[string]*Func
	scopes   []map[string]*Var
	loops    int
	params   map[*Var]bool // of the function that is checked
}

func (c *checker) open()  { c.scopes = append(c.scopes, map[string]*Var{}) }
func (c *checker) close() { c.scopes = c.scopes[:len(c.scopes)-1] }

// declare checks a variable's type and initial value, and then makes it known.
func (c *checker) declare(v *Var) {
	c.typeOf(v.Type)
	if v.Init != nil {
		to := v.Type
		if to.Kind == Vector {
			to = to.Of
		}
		v.Init = c.converted(to, v.Init, v.Name)
		c.assign(v.Init.Position(), c.initial(v), c.expr(v.Init), v.Name)
	}
	c.enter(v)
}

// initial is the type of a variable's initial value: a vector has one for all of its elements, or is one.
func (c *checker) initial(v *Var) *Type {
	if _, whole := v.Init.(*Method); v.Type.Kind == Vector && !(whole && c.expr(v.Init).Kind == Vector) {
		return v.Type.Of
	}
	return v.Type
}

func (c *checker) enter(v *Var) {
	scope := c.scopes[len(c.scopes)-1]
	if scope[v.Name] != nil || c.funcs[v.Name] != nil || v.Name == "argv" || v.Name == "program" {
		c.errorf(v.Pos, "the name %s is taken", v.Name)
	}
	scope[v.Name] = v
}

func (c *checker) find(name string) *Var {
	for i := len(c.scopes) - 1; i >= 0; i-- {
		if v := c.scopes[i][name]; v != nil {
			return v
		}
	}
	return nil
}

// typeOf refuses types with undeclared elements, and types that no variable can have.
func (c *checker) typeOf(t *Type) {
	for _, e := range []string{t.Element, t.Ends[0], t.Ends[1]} {
		if e != "" && !c.elements[e] {
			c.errorf(t.Pos, "there is no element %s", e)
		}
	}
	switch t.Kind {
	case Vector:
		if t.Of == nil || !t.Of.isNumber() && t.Of.Kind != Bool {
			c.errorf(t.Of.Pos, "vectors of %s are not supported: expected int, uint, float, double or bool", t.Of)
		}
	case List:
		if t.Of.Kind != VertexSet && t.Of.Kind != Int {
			c.errorf(t.Of.Pos, "lists of %s are not supported: expected list{vertexset{…}} or list{int}", t.Of)
		}
		c.typeOf(t.Of)
	case PriorityQueue:
		if t.Of.Kind != Int && t.Of.Kind != Uint {
			c.errorf(t.Of.Pos, "priorities of type %s are not supported: expected int or uint", t.Of)
		}
	case EdgeSet:
		if t.Ends[0] != t.Ends[1] {
			c.errorf(t.Pos, "edges between two kinds of vertices are not supported")
		}
		if w := t.Weight; w != nil && !w.isNumber() {
			c.errorf(w.Pos, "weights of type %s are not supported: expected int, uint, float or double", w)
		}
	}
}

func (c *checker) function(f *Func) {
	defer c.in(f)()
	c.open()
	defer c.close()
	c.params = map[*Var]bool{}
	for _, v := range f.Params {
		c.params[v] = true
		c.typeOf(v.Type)
		c.enter(v)
	}
	if f.Result != nil {
		c.typeOf(f.Result.Type)
		c.enter(f.Result)
	}
	c.block(f.Body)
}

func (c *checker) block(list []Stmt) {
	c.open()
	defer c.close()
	for _, s := range list {
		c.statement(s)
	}
}

func (c *checker) statement(s Stmt) {
	switch s := s.(type) {
	case *VarStmt:
		c.declare(s.Var)
	case *Assign:
		c.assignTo(s)
	case *ExprStmt:
		c.expr(s.X)
		switch s.X.(type) {
		case *Call, *Method:
		default:
			c.errorf(s.Pos, "an expression that does nothing: expected a call or an assignment")
		}
	case *If:
		s.Cond = c.truth(s.Cond)
		c.block(s.Then)
		c.block(s.Else)
	case *While:
		s.Cond = c.truth(s.Cond)
		c.loops++
		c.block(s.Body)
		c.loops--
	case *For:
		for _, x := range []Expr{s.From, s.To} {
			c.assign(x.Position(), s.Var.Type, c.expr(x), s.Var.Name)
		}
		c.open()
		c.enter(s.Var)
		c.loops++
		c.block(s.Body)
		c.loops--
		c.close()
	case *Print:
		for _, x := range s.Args {
			if t := c.expr(x); !t.isNumber() && !t.isCount() && t.Kind != Bool && t.Kind != String {
				c.errorf(x.Position(), "%s cannot be printed: expected a number, a truth value or a string", t)
			}
		}
	case *Delete:
		switch t := c.expr(s.X); t.Kind {
		case VertexSet, List, PriorityQueue, Vector, EdgeSet:
		default:
			c.errorf(s.Pos, "%s cannot be deleted: expected a set, a list or a queue", t)
		}
	case *Break:
		if c.loops == 0 {
			c.errorf(s.Pos, "break outside of a loop")
		}
	}
}

func (c *checker) assignTo(s *Assign) {
	to := c.expr(s.X)
	switch x := s.X.(type) {
	case *Name:
		if x.Var == nil || c.params[x.Var] {
			c.errorf(s.Pos, "%s cannot be assigned to", x.Name)
		}
	case *Index:
	default:
		c.errorf(s.Pos, "expected a variable or an element of a vector before %s", s.Op)
	}
	if s.Op != "=" && !to.isNumber() {
		c.errorf(s.Pos, "%s of %s: expected a number", s.Op, to)
	}
	if to.Kind == Vector {
		c.errorf(s.Pos, "a vector cannot be assigned as a whole")
	}
	c.summed(s)
	s.Value = c.converted(to, s.Value, "the left side")
	c.assign(s.Value.Position(), to, c.expr(s.Value), "the left side")
}

// summed makes a sum of A[i] = A[i] + x in a function of edges, which several edges do for one element.
func (c *checker) summed(s *Assign) {
	x, ok := s.X.(*Index)
	sum, isSum := s.Value.(*Binary)
	if !ok || !isSum || s.Op != "=" || sum.Op != "+" || len(c.params) < 2 {
		return
	}
	y, ok := sum.X.(*Index)
	if !ok || Source(x) != Source(y) || !c.expr(x).isNumber() {
		return
	}
	c.expr(sum)
	again := false // the element is read elsewhere in the sum
	WalkExpr(sum.Y, func(z Expr) { again = again || Source(z) == Source(x) })
	if !again {
		s.Op, s.Value = "+=", sum.Y
	}
}

// truth checks a condition: a number is one, by whether it is 0.
func (c *checker) truth(x Expr) Expr {
	t := c.expr(x)
	if t.isInteger() {
		return c.isNotZero(x)
	}
	if t.Kind != Bool {
		c.errorf(x.Position(), "expected a condition, found %s", t)
	}
	return x
}

func (c *checker) isNotZero(x Expr) Expr {
	at := node{Pos: x.Position()}
	y := &Binary{at, "!=", x, &Number{node: at, Text: "0"}}
	c.expr(y)
	return y
}

// converted is a value for a variable of a type: a number for a truth value is whether it is not 0, and a literal that
// is whole, as 1.0, is one for an integer.
func (c *checker) converted(to *Type, x Expr, what string) Expr {
	n, ok := x.(*Number)
	switch {
	case ok && n.Real && to.isInteger() && n.Val == math.Trunc(n.Val) && math.Abs(n.Val) <= math.MaxInt32:
		n.Real, n.Int, n.Type = false, int64(n.Val), nil
		n.Text = fmt.Sprint(n.Int)
	case ok && !n.Real && to.Kind == Int && n.Int == math.MaxUint32: // UINT_MAX, of which C++'s compilers make -1
		n.Int, n.Type = -1, nil
		n.Text = fmt.Sprint(n.Int)
	case ok && n.Real && to.isInteger():
		c.errorf(n.Pos, "%s is %s: it cannot take %s, which is no whole number", what, to, n.Text)
	case to.Kind == Bool && c.expr(x).isInteger():
		return c.isNotZero(x)
	}
	return x
}

// assign refuses values whose type does not convert to the target's.
func (c *checker) assign(at Pos, to, from *Type, what string) {
	ok := false
	switch to.Kind {
	case Int, Uint:
		ok = from.isNumber() || from.isCount() // a real number is truncated
	case Vertex:
		ok = from.isInteger() || from.isCount()
	case Float, Double:
		ok = from.isNumber() || from.isCount()
	case Vector:
		ok = from.Kind == Vector && from.Element == to.Element && from.Size == to.Size && from.Of.Kind == to.Of.Kind &&
			from.Width == to.Width && from.PerEdge == to.PerEdge
	case EdgeSet:
		ok = from.Kind == EdgeSet && (from.Element == "" || from.Element == to.Element)
	case List:
		ok = from.Kind == List && from.Of.Kind == to.Of.Kind && from.Of.Element == to.Of.Element
	default:
		ok = from.Kind == to.Kind && from.Element == to.Element
	}
	if !ok {
		c.errorf(at, "%s is %s: it cannot take %s", what, to, from)
	}
}

// countable marks the set of all vertices that getVertices returns, which is also their number.
const countable = -1

// isCount reports whether a type is that of the set of all vertices where a number is expected.
func (t *Type) isCount() bool { return t.Kind == VertexSet && t.Size == countable }

func (t *Type) isInteger() bool { return t.Kind == Int || t.Kind == Uint || t.Kind == Vertex }
func (t *Type) isReal() bool    { return t.Kind == Float || t.Kind == Double }
func (t *Type) isNumber() bool  { return t.isInteger() || t.isReal() }

// IsReal reports whether values of the type are not whole.
func (t *Type) IsReal() bool { return t.isReal() }

var kindNames = [...]string{
	"nothing", "int", "uint", "float", "double", "bool", "string", "", "vertexset", "edgeset", "vector", "list",
	"priority_queue", "a function",
}

// String is the type as a program has it.
func (t *Type) String() string {
	of := func(e string) string { return "{" + e + "}" }
	switch t.Kind {
	case Uint:
		if t.Wide {
			return "uint_64"
		}
	case Vertex:
		return t.Element
	case VertexSet:
		return "vertexset" + of(t.Element)
	case EdgeSet:
		s := "edgeset" + of(t.Element) + "(" + t.Ends[0] + "," + t.Ends[1]
		if t.Weight != nil {
			s += "," + t.Weight.String()
		}
		return s + ")"
	case Vector:
		within := t.Of.String()
		if t.Width > 0 {
			within = fmt.Sprintf("vector[%d](%s)", t.Width, t.Of)
		}
		if t.Element == "" {
			return fmt.Sprintf("vector[%d](%s)", t.Size, within)
		}
		return "vector" + of(t.Element) + "(" + within + ")"
	case List:
		return "list" + of(t.Of.String())
	case PriorityQueue:
		return "priority_queue" + of(t.Element) + "(" + t.Of.String() + ")"
	}
	return kindNames[t.Kind]
}

var (
	tNone   = &Type{Kind: None}
	tInt    = &Type{Kind: Int}
	tUint   = &Type{Kind: Uint}
	tWide   = &Type{Kind: Uint, Wide: true}
	tFloat  = &Type{Kind: Float}
	tDouble = &Type{Kind: Double}
	tBool   = &Type{Kind: Bool}
	tString = &Type{Kind: String}
)

// set gives an expression its type.
func (n *node) set(t *Type) { n.Type = t }

// expr finds the type of an expression, once.
func (c *checker) expr(x Expr) *Type {
	if t := x.TypeOf(); t != nil {
		return t
	}
	t := c.find1(x)
	x.(interface{ set(*Type) }).set(t)
	return t
}

func (c *checker) find1(x Expr) *Type {
	switch x := x.(type) {
	case *Name:
		return c.named(x)
	case *Number:
		switch {
		case x.Real:
			return tFloat // a double where the other side is one
		case x.Int > math.MaxInt32:
			return tUint
		}
		return tInt
	case *Text:
		return tString
	case *Truth:
		return tBool
	case *Unary:
		return c.unary(x)
	case *Binary:
		return c.binary(x)
	case *Index:
		return c.index(x)
	case *Call:
		return c.call(x)
	case *Method:
		return c.method(x)
	case *New:
		return c.made(x)
	case *Bind:
		c.errorf(x.Pos, "%s[…]: expected one index, or a function that captures several variables", x.Name)
	case *Braces:
		c.errorf(x.Pos, "elements in {}: expected them where a vector is declared or assigned")
	case *Load:
		c.want(x.Arg, tString, "load")
		return &Type{Kind: EdgeSet}
	}
	panic(fmt.Sprintf("BUG: graphit: expression %T", x))
}

// want checks an argument.
func (c *checker) want(x Expr, t *Type, of string) {
	if from := c.expr(x); from != t {
		c.assign(x.Position(), t, from, "an argument of "+of)
	}
}

func (c *checker) named(x *Name) *Type {
	if x.Var = c.find(x.Name); x.Var != nil {
		return x.Var.Type
	}
	if x.Func = c.funcs[x.Name]; x.Func != nil {
		return &Type{Kind: Function}
	}
	c.errorf(x.Pos, "there is no %s", x.Name)
	return nil
}

func (c *checker) unary(x *Unary) *Type {
	t := c.expr(x.X)
	switch {
	case x.Op == "not" && t.Kind == Bool:
		return tBool
	case x.Op != "not" && t.Kind == Vertex, x.Op == "-" && isLeastInt(x.X):
		return tInt
	case x.Op != "not" && t.isNumber():
		return t
	}
	c.errorf(x.Pos, "%s of %s", x.Op, t)
	return nil
}

// isLeastInt reports whether the operand of a minus is the magnitude of the least int.
func isLeastInt(x Expr) bool {
	n, ok := x.(*Number)
	return ok && !n.Real && n.Int == -math.MinInt32
}

// binary: numbers become the wider of the two types, int before uint before float before double.
func (c *checker) binary(x *Binary) *Type {
	a, b := c.expr(x.X), c.expr(x.Y)
	refuse := func() { c.errorf(x.Pos, "%s %s %s", a, x.Op, b) }
	switch x.Op {
	case "and", "or", "xor":
		if a.Kind != Bool || b.Kind != Bool {
			refuse()
		}
		return tBool
	case "==", "!=":
		if a.Kind == Bool && b.Kind == Bool {
			return tBool
		}
	}
	if !(a.isNumber() || a.isCount()) || !(b.isNumber() || b.isCount()) {
		refuse()
	}
	switch x.Op {
	case "+", "-", "*", "/":
		return Wider(a, b)
	}
	return tBool
}

// Wider is the type in which an operation on two numbers is computed.
func Wider(a, b *Type) *Type {
	switch {
	case a.Kind == Double || b.Kind == Double:
		return tDouble
	case a.Kind == Float || b.Kind == Float:
		return tFloat
	case a.Kind == Uint && a.Wide || b.Kind == Uint && b.Wide:
		return tWide
	case a.Kind == Uint || b.Kind == Uint:
		return tUint
	}
	return tInt
}

func (c *checker) index(x *Index) *Type {
	if n, ok := x.X.(*Name); ok && n.Name == "argv" {
		n.Type = tNone
		c.want(x.I, tInt, "argv")
		if _, ok := x.I.(*Number); !ok {
			c.errorf(x.Pos, "expected a number in argv[…]")
		}
		return tString
	}
	if row, ok := x.X.(*Index); ok && x.J == nil && row.J == nil { // of a vector of vectors
		x.X, x.I, x.J = row.X, row.I, x.I
	}
	t := c.expr(x.X)
	if _, ok := x.X.(*Name); !ok || t.Kind != Vector {
		c.errorf(x.Pos, "%s has no elements: expected a variable that is a vector", t)
	}
	if (x.J != nil) != (t.Width > 0) {
		c.errorf(x.Pos, "%s: expected an element, which is a number, of %s", Source(x), t)
	}
	for _, at := range []Expr{x.I, x.J} {
		if at == nil {
			continue
		}
		if i := c.expr(at); !i.isInteger() {
			c.errorf(at.Position(), "expected a vertex or an int, found %s", i)
		}
	}
	return t.Of
}

// builtin is a function of the language.
type builtin struct {
	params []*Type
	result *Type
}

var builtins = map[string]*builtin{
	"atoi":       {[]*Type{tString}, tInt},
	"fabs":       {[]*Type{tDouble}, nil},          // of its argument's type
	"max":        {[]*Type{tDouble, tDouble}, nil}, // of the wider type
	"min":        {[]*Type{tDouble, tDouble}, nil},
	"to_double":  {[]*Type{tDouble}, tDouble},
	"floor":      {[]*Type{tDouble}, nil}, // of a real argument's type, and double of others, as in C++
	"ceil":       {[]*Type{tDouble}, nil},
	"log":        {[]*Type{tDouble}, nil},
	"exp":        {[]*Type{tDouble}, nil}, // of the host's numbers, as pow
	"pow":        {[]*Type{tDouble, tDouble}, nil},
	"writeMin":   nil,
	"writeMax":   nil,
	"startTimer": {nil, tNone},
	"stopTimer":  {nil, tFloat},
}

func (c *checker) call(x *Call) *Type {
	if b, ok := builtins[x.Name]; ok && b == nil {
		return c.write(x)
	} else if ok {
		c.count(x.Pos, x.Name, len(x.Args), len(b.params), len(b.params))
		for i, a := range x.Args {
			c.want(a, b.params[i], x.Name)
		}
		if b.result == nil {
			return c.resultOf(x)
		}
		return b.result
	}
	if x.Func = c.funcs[x.Name]; x.Func == nil {
		c.errorf(x.Pos, "there is no function %s", x.Name)
	}
	c.count(x.Pos, x.Name, len(x.Args), len(x.Func.Params), len(x.Func.Params))
	for i := range x.Args {
		x.Args[i] = c.converted(x.Func.Params[i].Type, x.Args[i], "an argument of "+x.Name)
		c.want(x.Args[i], x.Func.Params[i].Type, x.Name)
	}
	if x.Func.Result == nil {
		return tNone
	}
	return x.Func.Result.Type
}

// resultOf is the type of a function of the language's that takes numbers of any type.
func (c *checker) resultOf(x *Call) *Type {
	t := c.expr(x.Args[0])
	if len(x.Args) == 2 {
		t = Wider(t, c.expr(x.Args[1]))
	}
	switch {
	case t.isReal(), x.Name == "max", x.Name == "min":
		return t
	case x.Name == "fabs":
		return tFloat
	}
	return tDouble
}

// write is writeMin(VECTOR, INDEX, VALUE) or writeMax: whether the element has changed.
func (c *checker) write(x *Call) *Type {
	c.count(x.Pos, x.Name, len(x.Args), 3, 3)
	t := c.expr(x.Args[0])
	if n, ok := x.Args[0].(*Name); !ok || t.Kind != Vector || !n.Var.Global || t.Width > 0 || !t.Of.isNumber() {
		c.errorf(x.Args[0].Position(), "%s: expected a vector of numbers that is a constant of the program, found %s", x.Name,
			t)
	}
	c.want(x.Args[1], tInt, x.Name)
	c.want(x.Args[2], t.Of, x.Name)
	return tBool
}

func (c *checker) count(at Pos, name string, n, least, most int) {
	if n < least || n > most {
		want := fmt.Sprint(least)
		if most != least {
			want = fmt.Sprintf("%d to %d", least, most)
		}
		c.errorf(at, "%s takes %s arguments, found %d", name, want, n)
	}
}

// maxInlined is the maximum number of expressions in a function, counting those of the functions that it calls at every
// call: the size of a kernel, in which all calls are inlined.
const maxInlined = 1 << 13

// acyclic refuses recursive functions, and those that become too large.
func (c *checker) acyclic(f *File) {
	size := map[*Func]int{} // 0: not known yet; -1: its calls are being visited
	var visit func(fn *Func)
	visit = func(fn *Func) {
		size[fn] = -1
		n := 1
		Walk(fn.Body, func(x Expr) {
			n++
			if call, ok := x.(*Call); ok && call.Func != nil {
				switch size[call.Func] {
				case 0:
					visit(call.Func)
				case -1:
					c.errorf(call.Pos, "function %s calls itself", call.Name)
				}
				n += size[call.Func]
			}
			if n > maxInlined && fn.Name != "main" {
				c.errorf(x.Position(), "function %s is too large: it has more than %d expressions, with those of the functions "+
					"that it calls", fn.Name, maxInlined)
			}
		})
		size[fn] = n
	}
	for _, fn := range f.Funcs {
		if size[fn] == 0 {
			visit(fn)
		}
	}
}

func oneOf(names []string) string { return "expected one of " + strings.Join(names, ", ") }
