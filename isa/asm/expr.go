package asm

import (
	"errors"
	"fmt"
)

// value is the value of an expression: a number, or an offset into a section
// until the section's address is known.
type value struct {
	n   int64
	sec *section // nil: a plain number
}

// expr is a parsed expression, evaluated when its symbols are known.
type expr interface {
	eval(c *context) (value, error)
}

// context is the position of an expression.
type context struct {
	a   *assembler
	sec *section
	off uint32 // of the statement
}

type number int64

func (n number) eval(*context) (value, error) { return value{n: int64(n)}, nil }

// fixed is a value that cannot change any more.
type fixed value

func (f fixed) eval(*context) (value, error) { return value(f), nil }

// location is ".".
type location struct{}

func (location) eval(c *context) (value, error) { return value{int64(c.off), c.sec}, nil }

type symbolRef struct {
	*symbol
	col int
}

func (r symbolRef) eval(c *context) (value, error) {
	switch {
	case !r.defined:
		return value{}, &posError{r.col, &undefined{r.symbol}}
	case r.open:
		return value{}, definedByItself(r.symbol, r.col)
	case r.expr == nil:
		return value{int64(r.off), r.sec}, nil
	}
	c.a.settle(r.symbol)
	if err := r.known.err; err != nil {
		return value{}, &posError{r.col, fmt.Errorf("symbol %q: %w", r.name, err)}
	}
	return r.known.value, nil
}

func definedByItself(s *symbol, col int) error {
	return errAt(col, "symbol %q is defined by itself", s.name)
}

type unaryOp struct {
	op  string
	x   expr
	col int
}

func (u unaryOp) eval(c *context) (value, error) {
	v, err := u.x.eval(c)
	if err != nil {
		return v, err
	}
	if v.sec != nil {
		return v, errAt(u.col, "%s of an address is not a number", u.op)
	}
	switch u.op {
	case "-":
		v.n = -v.n
	case "~":
		v.n = ^v.n
	case "!":
		v.n = truth(v.n == 0) & 1
	}
	return v, nil
}

// truth returns the value of a comparison: all ones if it holds. The results of !, && and || are 1.
func truth(b bool) int64 {
	if b {
		return -1
	}
	return 0
}

type binaryOp struct {
	op   string
	x, y expr
	col  int
}

func (b binaryOp) eval(c *context) (value, error) {
	x, err := b.x.eval(c)
	if err != nil {
		return x, err
	}
	y, err := b.y.eval(c)
	if err != nil {
		return y, err
	}
	switch {
	case x.sec == nil && y.sec == nil:
		n, err := b.apply(x.n, y.n)
		return value{n: n}, err
	case b.op == "+" && y.sec == nil:
		return value{x.n + y.n, x.sec}, nil
	case b.op == "+" && x.sec == nil:
		return value{x.n + y.n, y.sec}, nil
	case b.op == "-" && y.sec == nil:
		return value{x.n - y.n, x.sec}, nil
	case x.sec == y.sec && (b.op == "-" || precedence[b.op] == comparison):
		n, err := b.apply(x.n, y.n)
		return value{n: n}, err
	case b.op != "-" || x.sec == nil:
		return x, errAt(b.col, "%s of an address is not known to an assembler: expected +, - or, within a section, a "+
			"comparison", b.op)
	case c.a.placed:
		return value{n: x.absolute() - y.absolute()}, nil
	}
	return x, &posError{b.col, fmt.Errorf("- of addresses of two sections %w", errPlaces)}
}

// errPlaces ends messages about values that depend on addresses.
var errPlaces = errors.New("is not known before the sections are placed")

// absolute returns the value once sections have addresses.
func (v value) absolute() int64 {
	if v.sec == nil {
		return v.n
	}
	return v.n + int64(v.sec.addr)
}

func (b binaryOp) apply(x, y int64) (int64, error) {
	switch b.op {
	case "+":
		return x + y, nil
	case "-":
		return x - y, nil
	case "*":
		return x * y, nil
	case "/", "%":
		if y == 0 {
			return 0, errAt(b.col, "division by zero")
		}
		if b.op == "/" {
			return x / y, nil
		}
		return x % y, nil
	case "<<", ">>":
		if y < 0 || y > 63 {
			return 0, errAt(b.col, "shift by %d: expected 0 to 63", y)
		}
		if b.op == "<<" {
			return x << y, nil
		}
		return int64(uint64(x) >> y), nil
	case "&":
		return x & y, nil
	case "|":
		return x | y, nil
	case "^", "!!":
		return x ^ y, nil
	case "!":
		return x | ^y, nil
	case "==":
		return truth(x == y), nil
	case "!=", "<>":
		return truth(x != y), nil
	case "<":
		return truth(x < y), nil
	case "<=":
		return truth(x <= y), nil
	case ">":
		return truth(x > y), nil
	case ">=":
		return truth(x >= y), nil
	case "&&":
		return truth(x != 0 && y != 0) & 1, nil
	case "||":
		return truth(x != 0 || y != 0) & 1, nil
	}
	panic(fmt.Sprintf("BUG: asm: operator %q", b.op))
}

// relocation is %hi(x) and its kin.
type relocation struct {
	fn  string
	x   expr
	col int
}

// hi and lo are the parts that lui/auipc and a signed 12-bit immediate add up
// from: lo is negative in the upper half of a page, and hi makes up for it.
func hi(v int64) int64 { return (v + 0x800) >> 12 & 0xFFFFF }
func lo(v int64) int64 { return int64(int32(v<<20) >> 20) }

func (r relocation) eval(c *context) (value, error) {
	v, err := r.x.eval(c)
	if err != nil {
		return v, err
	}
	if !c.a.placed {
		return v, &posError{r.col, fmt.Errorf("%s %w", r.fn, errPlaces)}
	}
	n := v.absolute()
	pc := int64(c.sec.addr) + int64(c.off)
	switch r.fn {
	case "%hi":
		return value{n: hi(n)}, nil
	case "%lo":
		return value{n: lo(n)}, nil
	case "%pcrel_hi":
		c.a.pcrel[uint32(pc)] = n - pc
		return value{n: hi(n - pc)}, nil
	default: // %pcrel_lo names the auipc that holds the upper part
		d, ok := c.a.pcrel[uint32(n)]
		if !ok {
			return v, errAt(r.col, "no %%pcrel_hi at 0x%x, which %%pcrel_lo refers to", uint32(n))
		}
		return value{n: lo(d)}, nil
	}
}

// parser reads an expression from tokens.
type parser struct {
	a     *assembler
	toks  []token
	i     int
	end   int // column after the last token, for messages
	depth int
}

func (p *parser) peek() (token, bool) {
	if p.i < len(p.toks) {
		return p.toks[p.i], true
	}
	return token{}, false
}

func (p *parser) accept(s string) bool {
	if t, ok := p.peek(); ok && t.is(s) {
		p.i++
		return true
	}
	return false
}

// col is the column of the next token.
func (p *parser) col() int {
	if t, ok := p.peek(); ok {
		return t.col
	}
	return p.end
}

// precedence is GNU as's: the bitwise operators bind tighter than + and -, shifts tighter than both. Binary ! is "or
// not", and !! is ^.
var precedence = map[string]int{
	"||": 1, "&&": 2,
	"==": comparison, "!=": comparison, "<>": comparison,
	"<": comparison, "<=": comparison, ">": comparison, ">=": comparison,
	"+": 4, "-": 4,
	"|": 5, "^": 5, "&": 5, "!": 5, "!!": 5,
	"*": 6, "/": 6, "%": 6, "<<": 6, ">>": 6,
}

const comparison = 3

// maxDepth bounds nesting, so that hostile input cannot exhaust the stack.
const maxDepth = 200

// expression reads operators of at least the given precedence.
func (p *parser) expression(least int) (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errAt(p.col(), "expression is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	x, err := p.primary()
	if err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		t, ok := p.peek()
		if !ok || t.kind != tokPunct || precedence[t.text] == 0 || precedence[t.text] < least {
			return x, nil
		}
		if n > maxTerms {
			return nil, errAt(t.col, "expression has more than %d terms", maxTerms)
		}
		p.i++
		y, err := p.expression(precedence[t.text] + 1)
		if err != nil {
			return nil, err
		}
		x = binaryOp{t.text, x, y, t.col}
	}
}

// maxTerms bounds the depth of the tree that a chain of operators makes.
const maxTerms = 1000

func (p *parser) primary() (expr, error) {
	t, ok := p.peek()
	if !ok {
		return nil, errAt(p.end, "an expression is missing")
	}
	p.i++
	switch {
	case t.kind == tokNumber:
		return number(t.val), nil
	case t.kind == tokLocal:
		s, err := p.a.localRef(t)
		return symbolRef{s, t.col}, err
	case t.kind == tokIdent && t.text[0] == '%':
		return p.relocation(t)
	case t.kind == tokIdent && t.text == ".":
		return location{}, nil
	case t.kind == tokIdent:
		return p.symbol(t)
	case t.is("!!"): // where an operand is expected, two of !
		x, err := p.unary("!", t)
		return unaryOp{"!", x, t.col}, err
	case t.is("-") || t.is("~") || t.is("!") || t.is("+"):
		return p.unary(t.text, t)
	case t.is("("):
		x, err := p.expression(1)
		if err == nil && !p.accept(")") {
			err = errAt(p.col(), "expected )")
		}
		return x, err
	}
	return nil, errAt(t.col, "expected an expression, found %q", t.text)
}

// unary reads the operand of an operator.
func (p *parser) unary(op string, t token) (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, errAt(t.col, "expression is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	x, err := p.primary()
	return unaryOp{op, x, t.col}, err
}

// symbol reads a name; one defined by .eqv stands for its expression in parentheses.
func (p *parser) symbol(t token) (expr, error) {
	s := p.a.symbol(t.text)
	switch {
	case s.open:
		return nil, definedByItself(s, t.col)
	case s.deferred == nil:
		return symbolRef{s, t.col}, nil
	}
	toks, err := tokens(*s.deferred)
	if err != nil {
		return nil, err
	}
	if p.a.work -= len(toks) * workPerToken; p.a.work < 0 {
		return nil, errWork
	}
	s.open = true
	defer func() { s.open = false }()
	for i := range toks {
		toks[i].col = t.col
	}
	inner := parser{a: p.a, toks: toks, end: t.col, depth: p.depth}
	return inner.whole()
}

// whole reads an expression that extends to the end of the tokens.
func (p *parser) whole() (expr, error) {
	x, err := p.expression(1)
	if err != nil {
		return nil, err
	}
	if t, ok := p.peek(); ok {
		return nil, errAt(t.col, "unexpected %q", t.text)
	}
	return x, nil
}

// wholeExpr parses tokens that form one expression.
func (a *assembler) wholeExpr(toks []token, end int) (expr, error) {
	p := parser{a: a, toks: toks, end: end}
	return p.whole()
}

// constant evaluates an expression that must be a number already.
func (a *assembler) constant(toks []token, end int) (int64, error) {
	x, err := a.wholeExpr(toks, end)
	if err != nil {
		return 0, err
	}
	at := a.here()
	v, err := x.eval(&at)
	if err == nil && v.sec != nil {
		err = errAt(toks[0].col, "expected a number that is known here, found an address")
	}
	return v.n, err
}

func (a *assembler) here() context {
	return context{a: a, sec: a.sec, off: a.sec.size}
}

func (p *parser) relocation(t token) (expr, error) {
	switch t.text {
	case "%hi", "%lo", "%pcrel_hi", "%pcrel_lo":
	default:
		return nil, errAt(t.col, "unknown function %s: expected %%hi, %%lo, %%pcrel_hi or %%pcrel_lo", t.text)
	}
	if !p.accept("(") {
		return nil, errAt(p.col(), "expected ( after %s", t.text)
	}
	x, err := p.expression(1)
	if err == nil && !p.accept(")") {
		err = errAt(p.col(), "expected )")
	}
	return relocation{t.text, x, t.col}, err
}
