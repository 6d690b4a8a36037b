package asm

import (
	"errors"
	"fmt"
)

// symbol is a name: a label, or what .equ, .set or = gave it.
type symbol struct {
	name    string
	defined bool
	label   bool
	sec     *section // of a label
	off     uint32
	expr    expr    // of an assignment
	at      context // where that stands
	known   memo    // what expr came to
	open    bool    // expr is being evaluated
}

// memo is the value of an assigned symbol, so that it is evaluated once however often it is named.
type memo struct {
	epoch int // of the assembler; 0: nothing is known
	value value
	err   error
	waits *symbol // the undefined symbol for which there is no value; nil: another reason, or a value
}

// undefined is the error of a name that nothing defines, so far.
type undefined struct{ symbol *symbol }

func (e *undefined) Error() string { return fmt.Sprintf("symbol %q is not defined", e.symbol.name) }

// Steps that evaluating the symbols of a source may take, beside some for each byte. Symbols need a handful each;
// only sources made to be slow, which redefine what long chains hang on again and again, need more.
const (
	freeWork    = 1 << 20
	workPerByte = 2
)

var errWork = errors.New("symbols that are defined by one another change too often: the source would take too long to assemble")

// valid reports whether what was found still holds.
func (m *memo) valid(a *assembler) bool {
	return m.epoch == a.epoch && (m.waits == nil || !m.waits.defined)
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

// settle makes the values of s and of all that it is defined by known.
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

// evaluate computes a symbol whose references are settled. One without a value leaves it none.
func (a *assembler) evaluate(s *symbol, refs []*symbol) memo {
	if a.work < 0 {
		return memo{epoch: a.epoch, err: errWork}
	}
	for _, r := range refs {
		switch {
		case !r.defined:
			return memo{epoch: a.epoch, err: &undefined{r}, waits: r}
		case r.expr != nil && !r.open && r.known.err != nil:
			return r.known
		}
	}
	v, err := s.expr.eval(&s.at)
	return memo{epoch: a.epoch, value: v, err: err}
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

// define gives a symbol its meaning. What was found out with another one holds no more.
func (a *assembler) define(s *symbol, as symbol) {
	if s.defined {
		a.epoch++
	}
	as.name, as.defined = s.name, true
	*s = as
}
