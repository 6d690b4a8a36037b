package asm

import (
	"fmt"
	"strings"
)

// byteOrderMark is written by some editors at the beginning of a UTF-8 text.
const byteOrderMark = "\ufeff"

// source is a statement as written, without comments.
type source struct {
	text string
	line int
	col  int // column of text; in the expansion of a macro, that of the invocation
	flat bool
}

// rest returns the part after the first n bytes and the blanks behind them.
func (s source) rest(n int) source {
	text := strings.TrimLeft(s.text[n:], " \t")
	if !s.flat {
		s.col += len(s.text) - len(text)
	}
	s.text = text
	return s
}

// end is the column after the last byte.
func (s source) end() int {
	if s.flat {
		return s.col
	}
	return s.col + len(s.text)
}

// word returns the name or number at the beginning of a statement.
func (s source) word() string {
	n := 0
	for n < len(s.text) && isName(s.text[n]) {
		n++
	}
	return s.text[:n]
}

// scrubber takes the comments out of lines, and splits these into statements.
type scrubber struct {
	inComment bool // a /* */ comment continues from the line before
	start     int  // line of its beginning
}

// statements calls use with each statement of a line that is not blank.
func (x *scrubber) statements(line source, use func(source)) error {
	text := strings.TrimSuffix(line.text, "\r")
	if x.inComment || strings.ContainsAny(text, "#/;\"'\r") {
		b := []byte(text)
		ends, err := x.scrub(b, line)
		if err != nil {
			return err
		}
		text = string(b)
		at := 0
		for _, end := range ends {
			line.piece(text, at, end, use)
			at = end + 1
		}
		line.piece(text, at, len(text), use)
		return nil
	}
	line.piece(text, 0, len(text), use)
	return nil
}

func (s source) piece(text string, from, to int, use func(source)) {
	whole := s
	whole.text = text[:to]
	p := whole.rest(from)
	p.text = strings.TrimRight(p.text, " \t")
	if p.text != "" {
		use(p)
	}
}

// scrub blanks the comments and returns where the semicolons are that end statements.
func (x *scrubber) scrub(b []byte, line source) (ends []int, err error) {
	for i := 0; i < len(b); {
		rest := string(b[i:min(i+2, len(b))])
		n := 1
		switch {
		case x.inComment:
			if x.inComment = rest != "*/"; !x.inComment {
				n = 2
			}
			blank(b[i:min(i+n, len(b))])
		case rest == "/*":
			x.inComment, x.start, n = true, line.line, 2
			blank(b[i : i+n])
		case b[i] == '#' || rest == "//":
			n = len(b) - i
			blank(b[i:])
		case b[i] == '"':
			n = quoted(b[i:])
		case b[i] == '\'':
			n = character(string(b[i:min(i+4, len(b))]))
		case b[i] == ';':
			ends = append(ends, i)
		case b[i] == '\r':
			return nil, errAt(i+1, "a carriage return within the line: expected lines that end with LF or CR LF")
		}
		i += n
	}
	return ends, nil
}

func blank(b []byte) {
	for i := range b {
		b[i] = ' '
	}
}

// character returns the length of the character constant that s begins with, as 'a or '\n'.
func character(s string) int {
	n := 2
	if strings.HasPrefix(s, `'\`) {
		n = 3
	}
	if n < len(s) && s[n] == '\'' {
		n++
	}
	return min(n, len(s))
}

// quoted returns the length of the string that b begins with.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// reader is given the statements of the source, or of an expansion, one by one. Lines that a block begins are
// collected until it ends.
type reader struct {
	a      *assembler
	macro  string // empty: not of a macro
	conds  int    // number of conditions open when it began
	block  *block
	exited bool // by .exitm
}

// read is the first pass: every line is parsed, sizes and labels are known.
func (a *assembler) read(src string) {
	var x scrubber
	r := &reader{a: a}
	a.readers = append(a.readers, r)
	for text := range strings.Lines(src) {
		a.line++
		err := x.statements(source{text: strings.TrimSuffix(text, "\n"), line: a.line, col: 1}, r.feed)
		if err != nil {
			a.fail(a.line, "", err)
		}
	}
	if x.inComment {
		a.fail(x.start, "", errAt(1, "this comment does not end"))
	}
	if err := r.close(); err != nil {
		a.fail(a.line, "", err)
	}
}

func (r *reader) feed(s source) {
	if r.exited {
		return
	}
	if r.macro == "" {
		r.a.line = s.line
	}
	var err error
	if r.block != nil {
		err = r.collect(s)
	} else {
		err = r.statement(s)
	}
	if err != nil {
		r.a.fail(r.a.line, r.macro, err)
	}
}

// close reports constructs left open at the end.
func (r *reader) close() error {
	if b := r.block; b != nil {
		r.a.line = b.head.line
		return errAt(b.head.col, "this %s has no %s", b.name, blocks[b.name].end)
	}
	if n := len(r.a.conds); n > r.conds {
		line := r.a.conds[n-1].line
		r.a.conds = r.a.conds[:r.conds]
		if r.exited {
			return nil
		}
		if r.macro == "" {
			r.a.line = line
		}
		return errAt(1, "this .if has no .endif")
	}
	return nil
}

// statement handles labels, then a directive, a macro or an instruction.
func (r *reader) statement(s source) error {
	a := r.a
	if done, err := a.conditional(s, r.conds); done {
		return err
	}
	for {
		word := s.word()
		after := s.rest(len(word))
		if word == "" || !strings.HasPrefix(after.text, ":") {
			break
		}
		if err := a.label(word, s.col); err != nil {
			return err
		}
		s = after.rest(1)
		if done, err := a.conditional(s, r.conds); done {
			return err
		}
	}
	if s.text == "" {
		return nil
	}
	word := s.word()
	after := s.rest(len(word))
	switch {
	case word == "" || isDigit(word[0]):
		return r.unexpected(s)
	case strings.HasPrefix(after.text, "=") && !strings.HasPrefix(after.text, "=="):
		return a.assignment(token{text: word, col: s.col}, after.rest(1))
	case blocks[word].end != "":
		return r.open(word, s, after)
	case directives[word] != nil:
		return directives[word](a, token{text: word, col: s.col}, after)
	}
	if m := a.macros[strings.ToLower(word)]; m != nil {
		return a.invoke(m, s, after)
	}
	if word[0] == '.' {
		return errAt(s.col, "%s", unknownDirective(word))
	}
	toks, err := tokens(s)
	if err != nil {
		return err
	}
	return a.instruction(toks[0], toks[1:], s.end())
}

func (r *reader) unexpected(s source) error {
	toks, err := tokens(s)
	if err != nil {
		return err
	}
	return errAt(s.col, "expected a label, a directive or an instruction, found %q", toks[0].text)
}

func (a *assembler) label(name string, col int) error {
	if isDigit(name[0]) {
		n, ok := localNumber(name)
		if !ok {
			return errAt(col, "%q cannot be a label", name)
		}
		a.defineLocal(n)
		return nil
	}
	s := a.symbol(name)
	if s.defined {
		return errAt(col, "symbol %q is already defined", name)
	}
	s.define(symbol{label: true, sec: a.sec, off: a.sec.size})
	return nil
}

// condition is one open .if.
type condition struct {
	active bool // this branch is assembled
	taken  bool // some branch was
	outer  bool // the surroundings are assembled
	last   bool // .else was
	line   int
}

// conditional handles .if and its kin, and skips statements that are not to be assembled. The first least conditions
// belong to an outer reader.
func (a *assembler) conditional(s source, least int) (done bool, err error) {
	skip := len(a.conds) > 0 && !a.conds[len(a.conds)-1].active
	word := s.word()
	if test, ok := tests[word]; ok {
		if len(a.conds) == maxNesting {
			return true, errAt(s.col, "%s is nested more than %d deep", word, maxNesting)
		}
		c := condition{outer: !skip, line: a.line}
		if !skip {
			c.active, err = test(a, s.rest(len(word)))
			c.taken = c.active
		}
		a.conds = append(a.conds, c)
		return true, err
	}
	if word != ".else" && word != ".elseif" && word != ".endif" {
		return skip, nil
	}
	if len(a.conds) <= least {
		return true, errAt(s.col, "%s without .if", word)
	}
	c := &a.conds[len(a.conds)-1]
	switch {
	case word == ".endif":
		a.conds = a.conds[:len(a.conds)-1]
	case c.last:
		return true, errAt(s.col, "%s after .else", word)
	case word == ".else":
		c.active, c.taken, c.last = c.outer && !c.taken, true, true
	case c.outer && !c.taken:
		c.active, err = isTrue(a, s.rest(len(word)))
		c.taken = c.active
	default:
		c.active = false
	}
	return true, err
}

// maxNesting is the largest nesting depth of conditions and macros.
const maxNesting = 100

// tests are the directives that begin a condition.
var tests map[string]func(a *assembler, s source) (bool, error)

func init() {
	tests = map[string]func(*assembler, source) (bool, error){
		".if": isTrue, ".ifne": isTrue,
		".ifeq": compared(func(v int64) bool { return v == 0 }),
		".ifgt": compared(func(v int64) bool { return v > 0 }),
		".ifge": compared(func(v int64) bool { return v >= 0 }),
		".iflt": compared(func(v int64) bool { return v < 0 }),
		".ifle": compared(func(v int64) bool { return v <= 0 }),
		".ifb":  func(_ *assembler, s source) (bool, error) { return s.text == "", nil },
		".ifnb": func(_ *assembler, s source) (bool, error) { return s.text != "", nil },
		".ifc":  same(true), ".ifnc": same(false),
		".ifdef": isDefined(true), ".ifndef": isDefined(false), ".ifnotdef": isDefined(false),
	}
}

func compared(is func(int64) bool) func(*assembler, source) (bool, error) {
	return func(a *assembler, s source) (bool, error) {
		toks, err := tokens(s)
		if err != nil {
			return false, err
		}
		v, err := a.constant(toks, s.end())
		return err == nil && is(v), err
	}
}

var isTrue = compared(func(v int64) bool { return v != 0 })

func isDefined(want bool) func(*assembler, source) (bool, error) {
	return func(a *assembler, s source) (bool, error) {
		name := s.word()
		if name == "" || name != s.text || isDigit(name[0]) {
			return false, errAt(s.col, "expected one symbol")
		}
		sym := a.symbols[name]
		return (sym != nil && sym.defined) == want, nil
	}
}

// same compares two texts separated by a comma.
func same(want bool) func(*assembler, source) (bool, error) {
	return func(_ *assembler, s source) (bool, error) {
		x, y, ok := strings.Cut(s.text, ",")
		if !ok || strings.ContainsAny(s.text, `"'`) {
			return false, errAt(s.col, "expected two texts without quotes, separated by a comma")
		}
		return (squeeze(strings.TrimSpace(x)) == squeeze(strings.TrimSpace(y))) == want, nil
	}
}

// unknownDirective returns the advice for a directive that is not supported.
func unknownDirective(name string) string {
	if hint := unsupported[name]; hint != "" {
		return fmt.Sprintf("%s is not supported: %s", name, hint)
	}
	return fmt.Sprintf("unknown directive %s: take it out, or assemble with riscv64-unknown-elf-as, link, and run the "+
		"ELF file", name)
}

// unsupported maps directives of GNU as that are refused to their replacement.
var unsupported = map[string]string{
	".include":    "preprocess the source, as with gcc -E, or write the text here",
	".incbin":     "write the bytes with .byte or .word",
	".altmacro":   "write the macro for the default mode, with \\name for its parameters",
	".subsection": "use a section of its own, as .section .text.name",
	".uleb128":    "write the bytes with .byte",
	".sleb128":    "write the bytes with .byte",
	".octa":       "write four .word, the lowest first",
	".bundle":     "take it out",
	".weakref":    "name the symbol itself",
	".while":      "use .rept",
	".struct":     "use .equ for each offset",
	".reloc":      "write the value that the linker would",
}
