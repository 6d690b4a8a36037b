// Package asm assembles GNU-style RISC-V assembly into programs.
//
// It knows the instructions only through isa's rows: a new row assembles without a change here. Expressions, symbols,
// directives and macros mean the same as in GNU as 2.40; its warnings are errors here, and so are the features that
// this package lacks. There is no linker relaxation (a `call` stays auipc + jalr, as with `as -mno-relax` and `ld
// --no-relax`).
//
// A source is read once, top to bottom (read.go, macro.go): statements get their sizes and symbols their meanings, so
// that a use is bound to the meaning of its name at that point (symbol.go). Sections are then placed, and the bytes are
// written when every expression has its value (expr.go).
package asm

import (
	"bytes"
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
	Lines   *isa.Lines       // filled with the source lines of instructions; nil: not wanted
}

// DefaultBase is where programs start, as in Vortex.
const DefaultBase = 0x80000000

// Limits on the input.
const (
	maxSource = 64 << 20 // bytes
	maxErrors = 20       // reported
)

// limits keep a short source from becoming large. Tests set lower ones.
type limits struct {
	image    int64 // bytes, all sections
	expanded int   // statements that macros and repetitions become
	text     int   // bytes of them
}

var most = limits{image: 256 << 20, expanded: 1 << 20, text: 64 << 20}

// Error is an error in the source.
type Error struct {
	File      string
	Line, Col int
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, e.Msg) }

// section is one part of the image, in order of appearance.
type section struct {
	name   string
	exec   bool
	bss    bool
	absent bool   // from the image, as a comment's or a debugger's section is
	addr   uint32 // once placed
	size   uint32 // so far
	data   []byte
}

// statement is something that occupies bytes: it is measured when read and
// written when all symbols are known.
type statement struct {
	context
	line  int
	macro string // macro that it is an expansion of; empty: none
	size  uint32 // bytes
	emit  func(s *statement, out []byte) error
}

type assembler struct {
	file     string
	opt      Options
	sections []*section // in order of appearance
	named    map[string]*section
	sec      *section
	previous *section   // before the last directive that changed it
	pushed   []*section // by .pushsection: pairs of sec and previous
	symbols  map[string]*symbol
	locals   map[int64]*localLabel
	stmts    []*statement
	conds    []condition
	pcrel    map[uint32]int64 // auipc address → distance to its target
	evaluator
	expander
	placed bool
	line   int
	total  uint32
	errs   []error
}

// Assemble translates a source text.
func Assemble(file string, src []byte, opt Options) (*isa.Program, error) {
	if opt.Base == 0 {
		opt.Base = DefaultBase
	}
	if len(src) > maxSource {
		return nil, fmt.Errorf("%s: source of %d bytes: at most %d are read", file, len(src), maxSource)
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return nil, &Error{File: file, Line: 1, Col: 1,
			Msg: "the text is UTF-16: expected UTF-8 (iconv -f UTF-16 -t UTF-8 converts it)"}
	}
	a := &assembler{
		file: file, opt: opt,
		named: map[string]*section{}, symbols: map[string]*symbol{}, locals: map[int64]*localLabel{},
		pcrel:    map[uint32]int64{},
		expander: newExpander(),
	}
	a.work = freeWork + workPerByte*len(src)
	for name, v := range opt.Defines {
		a.symbol(name).define(symbol{expr: number(v)})
	}
	a.sec = a.section(".text")
	a.read(strings.TrimPrefix(string(src), byteOrderMark))
	if len(a.errs) == 0 {
		a.place()
		a.emit()
	}
	if len(a.errs) > 0 {
		return nil, errors.Join(a.errs...)
	}
	return a.program()
}

// fail records an error at a line, in the expansion of a macro or none.
func (a *assembler) fail(line int, macro string, err error) {
	e := &Error{File: a.file, Line: line, Col: 1, Msg: err.Error()}
	var p *posError
	if errors.As(err, &p) {
		e.Col, e.Msg = p.col, p.err.Error()
	}
	if macro != "" {
		e.Msg = "in macro " + macro + ": " + e.Msg
	}
	if len(a.errs) == maxErrors {
		a.errs = append(a.errs, fmt.Errorf("%s: more errors follow", a.file))
	}
	if len(a.errs) < maxErrors {
		a.errs = append(a.errs, e)
	}
}

// add appends a statement of known size to the current section.
func (a *assembler) add(size int64, emit func(*statement, []byte) error) error {
	if size < 0 || size > most.image || int64(a.total)+size > most.image {
		return errAt(1, "%d bytes more would make the image larger than %d", size, most.image)
	}
	s := &statement{context: a.here(), line: a.line, macro: a.macro(), size: uint32(size), emit: emit}
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
		if s.absent {
			continue
		}
		next = (next + sectionAlign - 1) &^ (sectionAlign - 1)
		s.addr = uint32(next)
		next += uint64(s.size)
	}
	if next > 1<<32 {
		a.fail(1, "", errAt(1, "the image ends beyond 4 GiB"))
	}
	a.placed = true
}

// sectionAlign is the largest alignment that a directive may ask for.
const sectionAlign = 4096

// emit is the second pass.
func (a *assembler) emit() {
	for _, s := range a.sections {
		if !s.bss && !s.absent {
			s.data = make([]byte, s.size)
		}
	}
	for _, s := range a.stmts {
		if s.emit == nil || s.sec.absent {
			continue
		}
		if err := s.write(); err != nil {
			a.fail(s.line, s.macro, err)
		}
	}
}

// write puts the statement's bytes into its section. In one without data they are zeros.
func (s *statement) write() error {
	if !s.sec.bss {
		return s.emit(s, s.sec.data[s.off:s.off+s.size])
	}
	out := make([]byte, s.size)
	if err := s.emit(s, out); err != nil {
		return err
	}
	if len(bytes.Trim(out, "\x00")) > 0 {
		return errAt(1, "section %s holds no data: expected zeros", s.sec.name)
	}
	return nil
}

func (a *assembler) program() (*isa.Program, error) {
	p := &isa.Program{Name: a.file, Entry: a.opt.Base}
	for _, s := range a.sections {
		if s.size > 0 && !s.absent {
			p.Segments = append(p.Segments, isa.Segment{Addr: s.addr, Data: s.data, Size: s.size, Executable: s.exec})
		}
	}
	for name, s := range a.symbols {
		if !s.label || s.sec.absent {
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

// lines records the source lines of all statements in sections with code.
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
