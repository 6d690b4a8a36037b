package graphit

import (
	"fmt"
	"slices"
	"strconv"
)

// Parse reads a program, with its schedule if it has one. An error is an *Error.
func Parse(file string, src []byte) (f *File, err error) {
	p, err := newParser(file, src)
	if err != nil {
		return nil, err
	}
	defer p.catch(&err)
	return p.program(), nil
}

// parser is a recursive descent over the tokens. What is wrong is thrown, and caught by who began.
type parser struct {
	file   string
	tokens []token // without comments
	at     int
	depth  int
}

func newParser(file string, src []byte) (*parser, error) {
	all, err := lex(file, src)
	if err != nil {
		return nil, err
	}
	return &parser{file: file, tokens: slices.DeleteFunc(all, func(t token) bool { return t.kind == comment })}, nil
}

// catch converts a panic of the parser to an error.
func (p *parser) catch(err *error) {
	switch x := recover().(type) {
	case nil:
	case *Error:
		*err = x
	default:
		panic(x)
	}
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != endOfFile {
		p.at++
	}
	return t
}

func (p *parser) errorf(at Pos, format string, args ...any) {
	panic(&Error{File: p.file, Pos: at, Msg: fmt.Sprintf(format, args...)})
}

// expected panics with the expectation at the next token.
func (p *parser) expected(what string) {
	p.errorf(p.peek().pos, "expected %s, found %s", what, p.peek())
}

// got takes a keyword or symbol if it comes.
func (p *parser) got(text string) bool {
	if !p.peek().is(text) {
		return false
	}
	p.next()
	return true
}

func (p *parser) want(text string) token {
	if !p.peek().is(text) {
		p.expected(strconv.Quote(text))
	}
	return p.next()
}

func (p *parser) name(what string) token {
	if p.peek().kind != identifier {
		p.expected(what)
	}
	return p.next()
}

// down counts nesting; the function it returns must be called on return.
func (p *parser) down() func() {
	if p.depth++; p.depth > maxDepth {
		p.errorf(p.peek().pos, "nested more than %d deep", maxDepth)
	}
	return func() { p.depth-- }
}

func (p *parser) program() *File {
	f := &File{Name: p.file}
	for p.peek().kind != endOfFile {
		switch t := p.peek(); {
		case t.is("element"):
			f.Elements = append(f.Elements, p.element())
		case t.is("const"):
			f.Globals = append(f.Globals, p.constant())
		case t.is("func"), t.is("export"):
			f.Funcs = append(f.Funcs, p.function())
		case t.is("extern"):
			f.Funcs = append(f.Funcs, p.extern())
		case t.kind == identifier && t.text == "schedule" && p.tokens[p.at+1].is(":"):
			f.Schedule = p.schedule()
		default:
			p.expected(`"element", "const", "func" or "schedule:"`)
		}
	}
	return f
}

func (p *parser) element() *Element {
	at := p.want("element").pos
	e := &Element{Name: p.name("the name of an element").text, Pos: at}
	p.want("end")
	return e
}

// constant is const NAME : TYPE [= EXPR];
func (p *parser) constant() *Var {
	at := p.want("const").pos
	v := &Var{Name: p.name("the name of a constant").text, Const: true, Pos: at}
	p.want(":")
	v.Type = p.typ()
	if p.got("=") {
		v.Init = p.expr()
	}
	p.want(";")
	return v
}

// function is [export] func NAME(PARAMS) [-> RESULT] STATEMENTS end.
func (p *parser) function() *Func {
	f := &Func{Exports: p.got("export")}
	f.Pos = p.want("func").pos
	f.Name = p.name("the name of a function").text
	p.signature(f)
	f.Body = p.block("end")
	p.want("end")
	return f
}

// extern is extern func NAME(PARAMS) [-> RESULT];
func (p *parser) extern() *Func {
	f := &Func{Extern: true}
	p.want("extern")
	f.Pos = p.want("func").pos
	f.Name = p.name("the name of a function").text
	p.signature(f)
	p.want(";")
	return f
}

// signature is [[CAPTURES]](PARAMS) [-> RESULT].
func (p *parser) signature(f *Func) {
	if t := p.peek(); t.is("<") {
		p.errorf(t.pos, "func %s: generic functions are not supported: expected \"(\"", f.Name)
	}
	if p.got("[") {
		f.Captures = p.parameters("]")
	}
	p.want("(")
	f.Params = p.parameters(")")
	if p.got("->") {
		f.Result = p.parameter()
	}
}

// parameters are a list of them, up to a closing bracket.
func (p *parser) parameters(end string) (list []*Var) {
	for !p.peek().is(end) {
		list = append(list, p.parameter())
		if !p.got(",") {
			break
		}
	}
	p.want(end)
	return list
}

func (p *parser) parameter() *Var {
	if p.peek().is("inout") {
		p.errorf(p.peek().pos, "inout parameters are not supported")
	}
	t := p.name("the name of a parameter")
	p.want(":")
	return &Var{Name: t.text, Type: p.typ(), Pos: t.pos}
}

// scalars are the types that are one word of the language.
var scalars = map[string]Kind{"int": Int, "uint": Uint, "float": Float, "double": Double, "bool": Bool,
	"string": String}

// refusedTypes are GraphIt's that are not there, and why.
var refusedTypes = map[string]string{
	"complex": "complex numbers are not supported",
	"tensor":  "tensors are not supported: expected vector", "matrix": "matrices are not supported: expected vector",
	"set": "expected vertexset or edgeset", "grid": "grids are not supported",
	"opaque": "opaque types are not supported",
}

func (p *parser) typ() *Type {
	defer p.down()()
	t := p.next()
	y := &Type{Pos: t.pos}
	if why := refusedTypes[t.text]; t.kind == keyword && why != "" {
		p.errorf(t.pos, "type %s: %s", t.text, why)
	}
	k, scalar := scalars[t.text]
	switch {
	case t.kind == identifier:
		y.Kind, y.Element = Vertex, t.text
	case scalar && t.kind == keyword:
		y.Kind = k
	case t.is("uint_64"):
		y.Kind, y.Wide = Uint, true
	case t.is("vertexset"):
		y.Kind, y.Element = VertexSet, p.elementName()
	case t.is("edgeset"):
		p.edgeset(y)
	case t.is("vector"):
		p.vector(y)
	case t.is("list"):
		y.Kind = List
		p.want("{")
		y.Of = p.typ()
		p.want("}")
	case t.is("priority_queue"):
		y.Kind, y.Element = PriorityQueue, p.elementName()
		p.want("(")
		y.Of = p.typ()
		p.want(")")
	default:
		p.at--
		p.expected("a type")
	}
	return y
}

func (p *parser) elementName() string {
	p.want("{")
	n := p.name("the name of an element").text
	p.want("}")
	return n
}

// edgeset is edgeset{E}(V,V[,WEIGHT]).
func (p *parser) edgeset(y *Type) {
	y.Kind, y.Element = EdgeSet, p.elementName()
	p.want("(")
	y.Ends[0] = p.name("the element of sources").text
	p.want(",")
	y.Ends[1] = p.name("the element of destinations").text
	if p.got(",") {
		y.Weight = p.typ()
	}
	p.want(")")
}

// maxVector is the largest size of a vector that is not of an element.
const maxVector = 1 << 20

// vector is vector{E}(TYPE) or vector[N](TYPE).
func (p *parser) vector(y *Type) {
	y.Kind = Vector
	if p.got("[") {
		t := p.next()
		n, err := strconv.Atoi(t.text)
		if t.kind != integer || err != nil || n < 1 || n > maxVector {
			p.errorf(t.pos, "expected the size of a vector, 1..%d, found %s", maxVector, t)
		}
		y.Size = n
		p.want("]")
	} else {
		y.Element = p.elementName()
	}
	p.want("(")
	y.Of = p.typ()
	p.want(")")
	if of := y.Of; of.Kind == Vector && of.Element == "" && of.Width == 0 { // of vectors: a row for each element
		y.Width, y.Of = of.Size, of.Of
		if y.Size*y.Width > maxVector {
			p.errorf(y.Pos, "expected a vector of at most %d numbers, found %d", maxVector, y.Size*y.Width)
		}
	}
}

// block reads statements until one of the words.
func (p *parser) block(until ...string) (list []Stmt) {
	defer p.down()()
	for {
		t := p.peek()
		if t.kind == endOfFile {
			p.expected(fmt.Sprintf("a statement or %q", until[len(until)-1]))
		}
		if t.kind == keyword && slices.Contains(until, t.text) {
			return list
		}
		if t.is(";") && len(list) > 0 { // behind end
			p.next()
			continue
		}
		list = append(list, p.statement())
	}
}

func (p *parser) statement() Stmt {
	s := stmt{}
	if t := p.peek(); t.kind == label {
		s.Label = p.next().text
	}
	t := p.peek()
	s.Pos = t.pos
	switch {
	case t.is("var"):
		return p.variable(s)
	case t.is("if"):
		p.next()
		return p.choice(s, false)
	case t.is("while"):
		p.next()
		w := &While{stmt: s, Cond: p.expr()}
		w.Body = p.block("end")
		p.want("end")
		return w
	case t.is("for"), t.is("par_for"):
		return p.loop(s)
	case t.is("do"):
		p.errorf(t.pos, "do is not supported: expected while")
	case t.is("return"):
		p.errorf(t.pos, "return: a function's result is assigned to its name, as in func f(v : Vertex) -> output : bool")
	case t.is("print"), t.is("println"):
		return p.print(s)
	case t.is("delete"):
		p.next()
		d := &Delete{stmt: s, X: p.expr()}
		p.want(";")
		return d
	case t.is("break"):
		p.next()
		p.want(";")
		return &Break{s}
	}
	return p.assignment(s)
}

func (p *parser) variable(s stmt) Stmt {
	p.want("var")
	v := &Var{Name: p.name("the name of a variable").text, Pos: s.Pos, Label: s.Label}
	p.want(":")
	v.Type = p.typ()
	if p.got("=") {
		v.Init = p.expr()
	}
	p.want(";")
	return &VarStmt{s, v}
}

// choice parses the rest of an if or elif.
func (p *parser) choice(s stmt, elif bool) Stmt {
	defer p.down()()
	c := &If{stmt: s, Cond: p.expr(), IsElif: elif}
	c.Then = p.block("elif", "else", "end")
	switch t := p.next(); t.text {
	case "elif":
		c.Else = []Stmt{p.choice(stmt{Pos: t.pos}, true)}
		return c
	case "else":
		c.Else = p.block("end")
		p.want("end")
	}
	return c
}

func (p *parser) loop(s stmt) Stmt {
	parallel := p.next().text == "par_for"
	t := p.name("the name of a variable")
	p.want("in")
	f := &For{stmt: s, Var: &Var{Name: t.text, Type: &Type{Kind: Int, Pos: t.pos}, Pos: t.pos}, Parallel: parallel}
	f.From = p.expr()
	p.want(":")
	f.To = p.expr()
	p.got(";")
	f.Body = p.block("end")
	p.want("end")
	return f
}

func (p *parser) print(s stmt) Stmt {
	p.next()
	x := &Print{stmt: s, Args: []Expr{p.expr()}}
	for p.got(",") {
		x.Args = append(x.Args, p.expr())
	}
	p.want(";")
	return x
}

// assignments are the assignment operators; the asynchronous ones are equivalent to min= and max= here.
var assignments = map[string]string{"=": "=", "+=": "+=", "min=": "min=", "max=": "max=", "asyncMin=": "min=",
	"asyncMax=": "max="}

func (p *parser) assignment(s stmt) Stmt {
	x := p.expr()
	t := p.peek()
	if op, ok := assignments[t.text]; ok && t.kind == symbol {
		p.next()
		a := &Assign{stmt: s, X: x, Op: op, Value: p.expr()}
		p.want(";")
		return a
	}
	if t.is("-=") || t.is("*=") || t.is("/=") {
		p.errorf(t.pos, "%s is no reduction of GraphIt: expected =, +=, min= or max=", t.text)
	}
	if !t.is(";") {
		p.expected(`";" or an assignment`)
	}
	p.next()
	return &ExprStmt{s, x}
}

// levels are the binary operators, the loosest first.
var levels = [][]string{{"or"}, {"and"}, {"xor"}, {"==", "!=", ">", "<", ">=", "<="}}

func (p *parser) expr() Expr {
	defer p.down()()
	return p.level(0)
}

func (p *parser) level(n int) Expr {
	if n == len(levels) {
		return p.term()
	}
	return p.left(levels[n], func() Expr { return p.level(n + 1) })
}

// left reads operands between operators, which bind to the left.
func (p *parser) left(ops []string, operand func() Expr) Expr {
	x := operand()
	for n := 0; ; n++ {
		t := p.peek()
		if t.kind != symbol && t.kind != keyword || !slices.Contains(ops, t.text) {
			return x
		}
		if n == maxDepth {
			p.errorf(t.pos, "more than %d operators in a row", maxDepth)
		}
		p.next()
		x = &Binary{node: node{Pos: t.pos}, Op: t.text, X: x, Y: operand()}
	}
}

// term is a sum, or not and a term.
func (p *parser) term() Expr {
	if t := p.peek(); t.is("not") {
		defer p.down()()
		p.next()
		return &Unary{node{Pos: t.pos}, "not", p.term()}
	}
	return p.left([]string{"+", "-"}, func() Expr { return p.left([]string{"*", "/"}, p.negated) })
}

func (p *parser) negated() Expr {
	if t := p.peek(); t.is("-") || t.is("+") {
		defer p.down()()
		p.next()
		return &Unary{node{Pos: t.pos}, t.text, p.negated()}
	}
	return p.postfix()
}

// postfix parses an operand with its indices, methods and fields.
func (p *parser) postfix() Expr {
	x := p.operand()
	for n := 0; ; n++ {
		t := p.peek()
		if n > maxDepth {
			p.errorf(t.pos, "more than %d calls in a row", maxDepth)
		}
		switch {
		case t.is("["):
			x = p.indexed(x)
		case t.is("("):
			call := bound(x)
			if call == nil {
				return x
			}
			call.Args = p.arguments()
			x = call
		case t.is("."):
			p.next()
			m := p.next()
			if m.kind != identifier && m.kind != keyword {
				p.at--
				p.expected("the name of a method")
			}
			x = &Method{node{Pos: m.pos}, x, m.text, p.arguments()}
		case t.is("^"), t.is("'"), t.is(".*"), t.is("./"):
			p.errorf(t.pos, "the operator %s is not supported", t.text)
		default:
			return x
		}
	}
}

// indexed is X[I], or F[ARGS] of a functor with several.
func (p *parser) indexed(x Expr) Expr {
	at := p.want("[").pos
	list := p.list("]")
	n, ok := x.(*Name)
	switch {
	case len(list) == 1:
		return &Index{node: node{Pos: at}, X: x, I: list[0]}
	case len(list) == 0:
		p.errorf(at, "expected an index, or the arguments of a functor")
	case !ok:
		p.errorf(at, "expected one index, found %d", len(list))
	}
	return &Bind{node{Pos: n.Pos}, n.Name, list}
}

// bound returns the call of a functor, F[ARGS](…), without its arguments; nil: the expression names no functor.
func bound(x Expr) *Call {
	switch x := x.(type) {
	case *Bind:
		return &Call{node: x.node, Name: x.Name, Captures: x.Args}
	case *Index:
		if n, ok := x.X.(*Name); ok {
			return &Call{node: n.node, Name: n.Name, Captures: []Expr{x.I}}
		}
	}
	return nil
}

func (p *parser) arguments() (list []Expr) {
	p.want("(")
	return p.list(")")
}

// list is a list of expressions, up to a closing bracket.
func (p *parser) list(end string) (list []Expr) {
	for !p.peek().is(end) {
		list = append(list, p.expr())
		if !p.got(",") {
			break
		}
	}
	p.want(end)
	return list
}

func (p *parser) operand() Expr {
	t := p.next()
	at := node{Pos: t.pos}
	switch {
	case t.kind == integer:
		n, err := strconv.ParseInt(t.text, 10, 64)
		if err != nil || n > 1<<32-1 {
			p.errorf(t.pos, "the number %s does not fit 32 bits", t.text)
		}
		return &Number{node: at, Text: t.text, Int: n, Val: float64(n)}
	case t.kind == real:
		x, err := strconv.ParseFloat(t.text, 64)
		if err != nil {
			p.errorf(t.pos, "the number %s is too large", t.text)
		}
		return &Number{node: at, Text: t.text, Real: true, Val: x}
	case t.kind == text:
		return &Text{at, t.text}
	case t.is("true"), t.is("false"):
		return &Truth{at, t.text == "true"}
	case t.is("("):
		x := p.expr()
		p.want(")")
		return x
	case t.is("new"):
		y := p.typ()
		return &New{at, y, p.arguments()}
	case t.is("load"):
		p.want("(")
		x := &Load{at, p.expr()}
		p.want(")")
		return x
	case t.is("{"):
		return &Braces{at, p.list("}")}
	case t.is("intersection"):
		return &Call{node: at, Name: t.text, Args: p.arguments()}
	case t.is("map"):
		p.errorf(t.pos, "%s is not supported", t.text)
	case t.kind == identifier && p.peek().is("("):
		return &Call{node: at, Name: t.text, Args: p.arguments()}
	case t.kind == identifier:
		return &Name{node: at, Name: t.text}
	}
	p.at--
	if t.kind == endOfFile {
		p.at = len(p.tokens) - 1
	}
	p.expected("an expression")
	return nil
}
