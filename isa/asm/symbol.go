package asm

import (
	"errors"
	"fmt"
	"strconv"
)

// symbol is one meaning of a name: a label, or a value assigned by .equ, .set or =.
//
// Reassigning a name creates another symbol, so that expressions read before keep the meaning that the name had there.
// A name used before its definition has the first meaning that it is given.
type symbol struct {
	name     string
	defined  bool
	label    bool
	constant bool     // from .equiv or .eqv: cannot be reassigned
	sec      *section // of a label
	off      uint32
	expr     expr    // of an assignment
	at       context // where that stands
	deferred *source // of .eqv: its text, which each use reads again
	known    memo    // memo of the value of expr
	open     bool    // expr is being evaluated, or deferred is being read
}

// memo is the value of an assigned symbol, evaluated once however often it is used.
type memo struct {
	done   bool
	placed bool // computed after sections got addresses
	value  value
	err    error
	waits  *symbol // the undefined symbol for which there is no value; nil: another reason, or a value
}

// undefined is the error of a name without a definition so far.
type undefined struct{ symbol *symbol }

func (e *undefined) Error() string {
	if n, ok := localNumber(e.symbol.name); ok {
		return fmt.Sprintf("no label %d: after here", n)
	}
	return fmt.Sprintf("symbol %q is not defined", e.symbol.name)
}

// Bounds on the steps of evaluating the symbols of a source, besides a number for each byte. Symbols need a handful
// each; only sources made to be slow, which repeatedly redefine the base of long chains, need more.
const (
	freeWork    = 1 << 20
	workPerByte = 2
	// For each token of an expression deferred by .eqv: the cost of reading it.
	workPerToken = 16
)

var errWork = errors.New("symbols that are defined by one another change too often: the source would take too long " +
	"to assemble")

// valid reports whether the memo still holds. A value holds forever.
func (m *memo) valid(a *assembler) bool {
	return m.done && (m.err == nil || m.placed == a.placed && (m.waits == nil || !m.waits.defined))
}

// evaluation is a symbol that is being evaluated, and the symbols that its expression names.
type evaluation struct {
	s          *symbol
	from, next int // in evaluator.refs; those before next are settled
}

// evaluator keeps its own stack: a chain of symbols may be as long as the source.
type evaluator struct {
	stack []evaluation
	refs  []*symbol
	work  int // steps that are left
}

// settle evaluates s and all symbols that its definition depends on.
func (a *assembler) settle(s *symbol) {
	v := &a.evaluator
	below := len(v.stack)
	a.open(s)
	for len(v.stack) > below {
		top := &v.stack[len(v.stack)-1]
		if top.next < len(v.refs) {
			top.next++
			a.open(v.refs[top.next-1])
			continue
		}
		top.s.known = a.evaluate(top.s, v.refs[top.from:])
		top.s.open = false
		v.refs, v.stack = v.refs[:top.from], v.stack[:len(v.stack)-1]
	}
}

// open puts a symbol on the stack, unless it is there or its value is known.
func (a *assembler) open(s *symbol) {
	if s.expr == nil || s.open || s.known.valid(a) {
		return
	}
	v := &a.evaluator
	from := len(v.refs)
	s.open = true
	v.refs = references(s.expr, v.refs)
	v.stack = append(v.stack, evaluation{s, from, from})
	v.work -= 1 + len(v.refs) - from
}

// evaluate computes a symbol whose references are settled. If one of these has no value, neither has the symbol.
func (a *assembler) evaluate(s *symbol, refs []*symbol) memo {
	if a.work < 0 {
		return memo{done: true, placed: a.placed, err: errWork}
	}
	for _, r := range refs {
		switch {
		case !r.defined:
			return memo{done: true, placed: a.placed, err: &undefined{r}, waits: r}
		case r.expr != nil && !r.open && r.known.err != nil:
			return r.known
		}
	}
	v, err := s.expr.eval(&s.at)
	return memo{done: true, placed: a.placed, value: v, err: err}
}

// references appends the symbols that an expression names.
func references(x expr, to []*symbol) []*symbol {
	switch x := x.(type) {
	case symbolRef:
		to = append(to, x.symbol)
	case unaryOp:
		to = references(x.x, to)
	case binaryOp:
		to = references(x.y, references(x.x, to))
	case relocation:
		to = references(x.x, to)
	}
	return to
}

// symbol returns the current meaning of a name.
func (a *assembler) symbol(name string) *symbol {
	s := a.symbols[name]
	if s == nil {
		s = &symbol{name: name}
		a.symbols[name] = s
	}
	return s
}

// define gives a symbol its meaning.
func (s *symbol) define(as symbol) {
	as.name, as.defined = s.name, true
	*s = as
}

// assign is .set, .equ and name = value, and with constant .equiv, which does not permit reassignment.
func (a *assembler) assign(name token, toks []token, end int, constant bool) error {
	x, err := a.wholeExpr(toks, end)
	if err != nil {
		return err
	}
	if name.text == "." {
		return a.moveTo(x, []byte{0}, toks[0].col)
	}
	s, err := a.assignable(name, constant)
	if err != nil {
		return err
	}
	at := a.here()
	// A value known now is fixed now: the expression is not kept.
	v, err := x.eval(&at)
	if final(err) {
		return err
	}
	if err == nil {
		x = fixed(v)
	}
	s.define(symbol{expr: x, at: at, constant: constant})
	return nil
}

// final reports whether an error is independent of later definitions and of the placement of sections.
func final(err error) bool {
	return err != nil && !errors.As(err, new(*undefined)) && !errors.Is(err, errPlaces)
}

// assignable returns the symbol that an assignment defines.
func (a *assembler) assignable(name token, constant bool) (*symbol, error) {
	s := a.symbol(name.text)
	switch {
	case s.label:
		return nil, errAt(name.col, "symbol %q is already a label", name.text)
	case s.defined && (constant || s.constant):
		return nil, errAt(name.col, "symbol %q is already defined, and .equiv and .eqv define once: use .equ for one that "+
			"changes",
			name.text)
	case s.defined:
		s = &symbol{name: name.text}
		a.symbols[name.text] = s
	}
	return s, nil
}

// deferExpr is .eqv: each use reads the expression again, with the meanings that its names have there.
func (a *assembler) deferExpr(name token, src source) error {
	s, err := a.assignable(name, true)
	if err != nil {
		return err
	}
	s.open = true // it cannot name itself
	defer func() { s.open = false }()
	toks, err := tokens(src)
	if err != nil {
		return err
	}
	x, err := a.wholeExpr(toks, src.end())
	if err != nil {
		return err
	}
	s.define(symbol{expr: x, at: a.here(), constant: true, deferred: &src})
	return nil
}

// localLabel is a numeric label, which may be defined repeatedly: 1b is the previous one, 1f the next.
type localLabel struct{ last, next *symbol }

func (a *assembler) local(n int64) *localLabel {
	l := a.locals[n]
	if l == nil {
		l = &localLabel{}
		a.locals[n] = l
	}
	return l
}

func (a *assembler) defineLocal(n int64) {
	l := a.local(n)
	if l.next == nil {
		l.next = &symbol{name: strconv.FormatInt(n, 10)}
	}
	l.last, l.next = l.next, nil
	l.last.define(symbol{label: true, sec: a.sec, off: a.sec.size})
}

// localRef returns the symbol of a reference like 1f or 1b.
func (a *assembler) localRef(t token) (*symbol, error) {
	l := a.local(t.val)
	if t.text[len(t.text)-1] == 'b' {
		if l.last == nil {
			return nil, errAt(t.col, "no label %d: before here", t.val)
		}
		return l.last, nil
	}
	if l.next == nil {
		l.next = &symbol{name: strconv.FormatInt(t.val, 10)}
	}
	return l.next, nil
}

// localNumber reads the number of a local label.
func localNumber(name string) (int64, bool) {
	n, err := strconv.ParseInt(name, 10, 32)
	return n, err == nil && n >= 0
}
