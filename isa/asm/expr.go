package asm

import (
	"fmt"
	"sort"
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

// context is where an expression stands.
type context struct {
	a     *assembler
	sec   *section
	off   uint32 // of the statement
	order int    // of the statement, for 1f and 1b
}

type number int64

func (n number) eval(*context) (value, error) { return value{n: int64(n)}, nil }

// fixed is a value that nothing changes any more.
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
		return value{}, errAt(r.col, "symbol %q is defined by itself", r.name)
	case r.expr == nil:
		return value{int64(r.off), r.sec}, nil
	}
	c.a.settle(r.symbol)
	if err := r.known.err; err != nil {
		return value{}, &posError{r.col, fmt.Errorf("symbol %q: %w", r.name, err)}
	}
	return r.known.value, nil
}

type localRef struct {
	n       int64
	forward bool
	col     int
}

func (r localRef) eval(c *context) (value, error) {
	list := c.a.locals[r.n]
	i := sort.Search(len(list), func(i int) bool { return list[i].order > c.order }) // the first one after here
	if !r.forward {
		i--
	}
	if i < 0 || i == len(list) {
		return value{}, errAt(r.col, "no label %d: %s here", r.n, map[bool]string{true: "after", false: "before"}[r.forward])
	}
	return value{int64(list[i].off), list[i].sec}, nil
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
		v.n = boolean(v.n == 0)
	}
	return v, nil
}

func boolean(b bool) int64 {
	if b {
		return 1
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
	case b.op == "-" && x.sec == y.sec:
		return value{n: x.n - y.n}, nil
	case c.a.placed:
		n, err := b.apply(x.absolute(), y.absolute())
		return value{n: n}, err
	}
	return x, errAt(b.col, "%s of addresses is not known before the sections are placed", b.op)
}

// absolute is the value once sections have addresses.
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
			return 0, errAt(b.col, "shift by %d", y)
		}
		if b.op == "<<" {
			return x << y, nil
		}
		return int64(uint64(x) >> y), nil
	case "&":
		return x & y, nil
	case "|":
		return x | y, nil
	case "^":
		return x ^ y, nil
	case "==":
		return boolean(x == y), nil
	case "!=":
		return boolean(x != y), nil
	case "<":
		return boolean(x < y), nil
	case "<=":
		return boolean(x <= y), nil
	case ">":
		return boolean(x > y), nil
	case ">=":
		return boolean(x >= y), nil
	case "&&":
		return boolean(x != 0 && y != 0), nil
	case "||":
		return boolean(x != 0 || y != 0), nil
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
		return v, errAt(r.col, "%s is not known before the sections are placed", r.fn)
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

var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5,
	"==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
	"<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

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
		return localRef{t.val, t.text[len(t.text)-1] == 'f', t.col}, nil
	case t.kind == tokIdent && t.text[0] == '%':
		return p.relocation(t)
	case t.kind == tokIdent && t.text == ".":
		return location{}, nil
	case t.kind == tokIdent:
		return symbolRef{p.a.symbol(t.text), t.col}, nil
	case t.is("-") || t.is("~") || t.is("!") || t.is("+"):
		if p.depth++; p.depth > maxDepth {
			return nil, errAt(t.col, "expression is nested more than %d deep", maxDepth)
		}
		defer func() { p.depth-- }()
		x, err := p.primary()
		return unaryOp{t.text, x, t.col}, err
	case t.is("("):
		x, err := p.expression(1)
		if err == nil && !p.accept(")") {
			err = errAt(p.col(), "expected )")
		}
		return x, err
	}
	return nil, errAt(t.col, "expected an expression, found %q", t.text)
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
