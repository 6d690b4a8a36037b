// Package asm assembles GNU-style RISC-V assembly into programs.
//
// It knows the instructions only through isa's rows: a new row assembles
// without a change here. What it does not do: macros, and linker relaxation
// (a `call` stays auipc + jalr, as with `ld --no-relax`).
package asm

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"heddle/isa"
)

// Options are the settings of an assembly.
type Options struct {
	Base    uint32           // address of .text; 0: DefaultBase
	Defines map[string]int64 // symbols defined beforehand, as by --defsym
	Lines   *isa.Lines       // filled with the lines that instructions come from; nil: nobody asks
}

// DefaultBase is where programs start, as in Vortex.
const DefaultBase = 0x80000000

// Limits on what is accepted.
const (
	maxSource = 64 << 20  // bytes
	maxImage  = 256 << 20 // bytes, all sections
	maxErrors = 20        // reported
)

// Error is a mistake in the source.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// section is one part of the image, in order of appearance.
type section struct {
	name string
	exec bool
	bss  bool
	addr uint32 // once placed
	size uint32 // so far
	data []byte
}

type localLabel struct {
	order int
	sec   *section
	off   uint32
}

// statement is something that occupies bytes: it is measured when read and
// written when all symbols are known.
type statement struct {
	context
	line int
	end  int    // column after its last token
	size uint32 // bytes
	emit func(s *statement, out []byte) error
}

type assembler struct {
	file     string
	opt      Options
	sections []*section
	sec      *section
	symbols  map[string]*symbol
	locals   map[int64][]localLabel
	stmts    []*statement
	conds    []condition
	pcrel    map[uint32]int64 // auipc address → distance to its target
	evaluator
	placed bool
	epoch  int // counts what may change the values of symbols: see memo
	line   int
	total  uint32
	errs   []error
}

// condition is one open .if.
type condition struct {
	active bool // this branch is assembled
	taken  bool // some branch was
	outer  bool // the surroundings are assembled
	line   int
}

// Assemble translates a source text.
func Assemble(file string, src []byte, opt Options) (*isa.Program, error) {
	if opt.Base == 0 {
		opt.Base = DefaultBase
	}
	if len(src) > maxSource {
		return nil, fmt.Errorf("%s: source of %d bytes: at most %d are read", file, len(src), maxSource)
	}
	a := &assembler{
		file: file, opt: opt,
		symbols: map[string]*symbol{}, locals: map[int64][]localLabel{}, pcrel: map[uint32]int64{}, epoch: 1,
	}
	a.work = freeWork + workPerByte*len(src)
	for name, v := range opt.Defines {
		a.define(a.symbol(name), symbol{expr: number(v)})
	}
	a.enter(".text")
	a.read(string(src))
	if len(a.errs) == 0 {
		a.place()
		a.emit()
	}
	if len(a.errs) > 0 {
		return nil, errors.Join(a.errs...)
	}
	return a.program()
}

// fail records an error at the current line.
func (a *assembler) fail(line int, err error) {
	e := &Error{File: a.file, Line: line, Col: 1, Msg: err.Error()}
	var p *posError
	if errors.As(err, &p) {
		e.Col, e.Msg = p.col, p.err.Error()
	}
	if len(a.errs) == maxErrors {
		a.errs = append(a.errs, fmt.Errorf("%s: more errors follow", a.file))
	}
	if len(a.errs) < maxErrors {
		a.errs = append(a.errs, e)
	}
}

// read is the first pass: every line is parsed, sizes and labels are known.
func (a *assembler) read(src string) {
	var lex lexer
	for text := range strings.Lines(src) {
		a.line++
		text = strings.TrimRight(text, "\n")
		toks, err := lex.line(text)
		if err != nil {
			a.fail(a.line, err)
			continue
		}
		for len(toks) > 0 {
			var one []token
			one, toks = cutAt(toks, ";")
			if err := a.statement(one, len(text)+1); err != nil {
				a.fail(a.line, err)
			}
		}
	}
	if n := len(a.conds); n > 0 {
		a.fail(a.conds[n-1].line, errAt(1, "this .if has no .endif"))
	}
}

// cutAt splits tokens at the first separator.
func cutAt(toks []token, sep string) (before, after []token) {
	for i, t := range toks {
		if t.is(sep) {
			return toks[:i], toks[i+1:]
		}
	}
	return toks, nil
}

// statement handles labels, then a directive or an instruction.
func (a *assembler) statement(toks []token, end int) error {
	if done, err := a.conditional(toks, end); done {
		return err
	}
	for len(toks) >= 2 && toks[1].is(":") {
		if err := a.label(toks[0]); err != nil {
			return err
		}
		toks = toks[2:]
	}
	if len(toks) == 0 {
		return nil
	}
	t := toks[0]
	switch {
	case t.kind != tokIdent:
		return errAt(t.col, "expected a label, a directive or an instruction, found %q", t.text)
	case len(toks) >= 2 && toks[1].is("="):
		return a.assign(t, toks[2:], end)
	case t.text[0] == '.':
		return a.directive(t, toks[1:], end)
	}
	return a.instruction(t, toks[1:], end)
}

func (a *assembler) label(t token) error {
	if t.kind == tokNumber {
		a.epoch++
		a.locals[t.val] = append(a.locals[t.val], localLabel{len(a.stmts), a.sec, a.sec.size})
		return nil
	}
	if t.kind != tokIdent {
		return errAt(t.col, "%q cannot be a label", t.text)
	}
	s := a.symbol(t.text)
	if s.defined {
		return errAt(t.col, "symbol %q is already defined", t.text)
	}
	a.define(s, symbol{label: true, sec: a.sec, off: a.sec.size})
	return nil
}

func (a *assembler) symbol(name string) *symbol {
	s := a.symbols[name]
	if s == nil {
		s = &symbol{name: name}
		a.symbols[name] = s
	}
	return s
}

// assign is .set, .equ and name = value: a later one replaces an earlier one.
func (a *assembler) assign(name token, toks []token, end int) error {
	x, err := a.wholeExpr(toks, end)
	if err != nil {
		return err
	}
	s := a.symbol(name.text)
	if s.label {
		return errAt(name.col, "symbol %q is already a label", name.text)
	}
	at := a.here()
	// A value known now is fixed now, so that .set i, i+1 counts.
	v, err := x.eval(&at)
	if errors.Is(err, errWork) {
		return err
	}
	if err == nil {
		x = fixed(v)
	}
	a.define(s, symbol{expr: x, at: at})
	return nil
}

func (a *assembler) here() context {
	return context{a: a, sec: a.sec, off: a.sec.size, order: len(a.stmts)}
}

// wholeExpr parses tokens that are one expression.
func (a *assembler) wholeExpr(toks []token, end int) (expr, error) {
	p := parser{a: a, toks: toks, end: end}
	x, err := p.expression(1)
	if err != nil {
		return nil, err
	}
	if t, ok := p.peek(); ok {
		return nil, errAt(t.col, "unexpected %q", t.text)
	}
	return x, nil
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

// enter makes a section current.
func (a *assembler) enter(name string) {
	for _, s := range a.sections {
		if s.name == name {
			a.sec = s
			return
		}
	}
	a.sec = &section{name: name, exec: strings.HasPrefix(name, ".text"), bss: strings.HasPrefix(name, ".bss") || strings.HasPrefix(name, ".sbss")}
	a.sections = append(a.sections, a.sec)
}

// add appends a statement of known size to the current section.
func (a *assembler) add(size int64, end int, emit func(*statement, []byte) error) error {
	if size < 0 || size > maxImage || int64(a.total)+size > maxImage {
		return errAt(1, "%d bytes more would make the image larger than %d", size, maxImage)
	}
	if a.sec.bss && emit != nil {
		return errAt(1, "section %s holds no data, only .space and alignment", a.sec.name)
	}
	s := &statement{context: a.here(), line: a.line, end: end, size: uint32(size), emit: emit}
	a.stmts = append(a.stmts, s)
	a.sec.size += s.size
	a.total += s.size
	return nil
}

// place gives sections their addresses: those with code first, then data, then
// zeros, each at a multiple of sectionAlign.
func (a *assembler) place() {
	rank := func(s *section) int {
		switch {
		case s.exec:
			return 0
		case s.bss:
			return 2
		}
		return 1
	}
	sort.SliceStable(a.sections, func(i, j int) bool { return rank(a.sections[i]) < rank(a.sections[j]) })
	next := uint64(a.opt.Base)
	for _, s := range a.sections {
		next = (next + sectionAlign - 1) &^ (sectionAlign - 1)
		s.addr = uint32(next)
		next += uint64(s.size)
	}
	if next > 1<<32 {
		a.fail(1, errAt(1, "the image ends beyond 4 GiB"))
	}
	a.placed = true
	a.epoch++
}

// sectionAlign is the largest alignment that a directive may ask for.
const sectionAlign = 4096

// emit is the second pass.
func (a *assembler) emit() {
	for _, s := range a.sections {
		if !s.bss {
			s.data = make([]byte, s.size)
		}
	}
	for _, s := range a.stmts {
		if s.emit == nil {
			continue
		}
		if err := s.emit(s, s.sec.data[s.off:s.off+s.size]); err != nil {
			a.fail(s.line, err)
		}
	}
}

func (a *assembler) program() (*isa.Program, error) {
	p := &isa.Program{Name: a.file, Entry: a.opt.Base}
	for _, s := range a.sections {
		if s.size > 0 {
			p.Segments = append(p.Segments, isa.Segment{Addr: s.addr, Data: s.data, Size: s.size, Executable: s.exec})
		}
	}
	for name, s := range a.symbols {
		if !s.label {
			continue
		}
		p.Symbols = append(p.Symbols, isa.Symbol{Name: name, Addr: s.sec.addr + s.off})
		if name == "_start" {
			p.Entry = s.sec.addr + s.off
		}
	}
	sort.Slice(p.Symbols, func(i, j int) bool {
		x, y := p.Symbols[i], p.Symbols[j]
		return x.Addr < y.Addr || x.Addr == y.Addr && x.Name < y.Name
	})
	if len(p.Segments) == 0 || !p.Segments[0].Executable {
		return nil, fmt.Errorf("%s: no instructions", a.file)
	}
	if a.opt.Lines != nil {
		a.lines(a.opt.Lines)
	}
	return p, nil
}

// lines says where what is in sections with code comes from.
func (a *assembler) lines(l *isa.Lines) {
	l.Files = []string{a.file}
	for _, s := range a.stmts {
		if s.sec.exec && s.size > 0 {
			l.Add(s.sec.addr+s.off, 0, uint32(s.line))
		}
	}
	for _, s := range a.sections {
		if s.exec {
			l.Add(s.addr+s.size, 0, 0)
		}
	}
	l.Sort()
}
