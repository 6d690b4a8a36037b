package asm

import (
	"iter"
	"strconv"
	"strings"
)

// block is a part of the source that is kept as written: the body of a macro or repetition.
type block struct {
	name string // of the directive
	head source // the rest of the line after the name
	nest int    // inner blocks that are open
	body []source
}

// blocks maps directives that begin a block to those that end it. Within a macro only macros nest, within a repetition
// only repetitions.
var blocks = map[string]struct {
	end string
	run func(a *assembler, b *block) error
}{}

func init() {
	for name, run := range map[string]func(*assembler, *block) error{
		".macro": (*assembler).defineMacro, ".rept": (*assembler).repeat,
		".irp": (*assembler).forEach, ".irpc": (*assembler).forEachByte,
	} {
		e := blocks[name]
		e.run, e.end = run, ".endr"
		if name == ".macro" {
			e.end = ".endm"
		}
		blocks[name] = e
	}
}

// expander is the state of macro expansion.
type expander struct {
	macros   map[string]*macro
	readers  []*reader // the source's, and those of the expansions in progress
	invoked  int       // number of macro invocations: the value of \@
	expanded int       // statements
	bytes    int
}

func newExpander() expander { return expander{macros: map[string]*macro{}} }

// macro returns the name of the innermost macro being expanded.
func (x *expander) macro() string {
	if len(x.readers) == 0 {
		return ""
	}
	return x.readers[len(x.readers)-1].macro
}

func (r *reader) open(name string, s, after source) error {
	if len(r.a.readers) > maxNesting {
		return errAt(s.col, "%s is nested more than %d deep", name, maxNesting)
	}
	r.block = &block{name: name, head: after}
	return nil
}

// collect adds a statement to the block, or ends the block.
func (r *reader) collect(s source) error {
	b := r.block
	word, end := s.word(), blocks[b.name].end
	switch {
	case word == end || word == ".endmacro" && end == ".endm":
		if b.nest == 0 {
			r.block = nil
			return blocks[b.name].run(r.a, b)
		}
		b.nest--
	case blocks[word].end == end:
		b.nest++
	}
	b.body = append(b.body, s)
	return nil
}

// expandBody assembles a body, with names replaced by texts. macro is empty for a repetition.
func (a *assembler) expandBody(body []source, macro string, flat *source, names map[string]string) error {
	outer := a.readers[len(a.readers)-1]
	r := &reader{a: a, macro: macro, conds: len(a.conds)}
	if macro == "" {
		r.macro = outer.macro
	}
	a.readers = append(a.readers, r)
	defer func() { a.readers = a.readers[:len(a.readers)-1] }()
	var x scrubber
	a.expanded++ // bodies may be empty
	for _, s := range body {
		if r.exited || len(a.errs) > maxErrors {
			break
		}
		if flat != nil {
			s.line, s.col, s.flat = flat.line, flat.col, true
		}
		s.text = substitute(s.text, names, most.text-a.bytes)
		a.expanded, a.bytes = a.expanded+1, a.bytes+len(s.text)
		if a.expanded > most.expanded || a.bytes > most.text {
			return errAt(s.col, "macros and repetitions become more than %d statements or %d bytes", most.expanded,
				most.text)
		}
		if err := x.statements(s, r.feed); err != nil {
			return err
		}
	}
	if r.exited && macro == "" && outer.macro != "" {
		outer.exited = true // .exitm within a repetition leaves the macro
	}
	if err := r.close(); err != nil {
		a.fail(a.line, r.macro, err)
	}
	return nil
}

// substitute replaces \name, \@ and \(). It stops once the result has the given number of bytes.
func substitute(text string, names map[string]string, enough int) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text) && b.Len() <= enough; i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		rest := text[i+1:]
		name := source{text: rest}.word()
		switch {
		case strings.HasPrefix(rest, "()"):
			i += 2
			continue
		case strings.HasPrefix(rest, "@"):
			name = "@"
		}
		if v, ok := names[name]; ok {
			b.WriteString(v)
			i += len(name)
			continue
		}
		b.WriteByte('\\')
		if strings.HasPrefix(rest, `\`) {
			b.WriteByte('\\')
			i++
		}
	}
	return b.String()
}

// repeat is .rept n.
func (a *assembler) repeat(b *block) error {
	toks, err := tokens(b.head)
	if err != nil {
		return err
	}
	if len(toks) == 0 {
		return errAt(b.head.end(), ".rept needs a number")
	}
	n, err := a.constant(toks, b.head.end())
	if err != nil {
		return err
	}
	if n < 0 || n > int64(most.expanded) {
		return errAt(b.head.col, "%d repetitions: expected 0 to %d", n, most.expanded)
	}
	for i := int64(0); i < n && !a.leaving(); i++ {
		if err := a.expandBody(b.body, "", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// leaving reports whether a repetition is cut short, by .exitm or by errors.
func (a *assembler) leaving() bool {
	return a.readers[len(a.readers)-1].exited || len(a.errs) > maxErrors
}

// forEach is .irp name, value, value…
func (a *assembler) forEach(b *block) error {
	name, values, err := loopHead(b)
	if err != nil {
		return err
	}
	return a.expandEach(b, name, words(values.text))
}

// forEachByte is .irpc name, text.
func (a *assembler) forEachByte(b *block) error {
	name, values, err := loopHead(b)
	if err != nil {
		return err
	}
	text := unquoted(squeeze(values.text))
	return a.expandEach(b, name, func(yield func(string) bool) {
		for i := range len(text) {
			if !yield(text[i : i+1]) {
				return
			}
		}
	})
}

// expandEach expands the body for each value, and for an empty one if there is none.
func (a *assembler) expandEach(b *block, name string, values iter.Seq[string]) error {
	n := 0
	for v := range values {
		if a.leaving() {
			return nil
		}
		if err := a.expandBody(b.body, "", nil, map[string]string{name: unquoted(v)}); err != nil {
			return err
		}
		n++
	}
	if n == 0 {
		return a.expandBody(b.body, "", nil, map[string]string{name: ""})
	}
	return nil
}

func loopHead(b *block) (name string, values source, err error) {
	name = b.head.word()
	if name == "" || isDigit(name[0]) {
		return "", source{}, errAt(b.head.col, "expected %s name, value, …", b.name)
	}
	values = b.head.rest(len(name))
	if strings.HasPrefix(values.text, ",") {
		values = values.rest(1)
	}
	return name, values, nil
}

// macro is a definition by .macro.
type macro struct {
	name   string
	params []param
	body   []source
}

const maxParams = 64

type param struct {
	name, value string // value is its default
	required    bool   // :req
	variadic    bool   // :vararg, the rest of the line
}

func (a *assembler) defineMacro(b *block) error {
	name := b.head.word()
	key := strings.ToLower(name)
	switch {
	case name == "" || isDigit(name[0]):
		return errAt(b.head.col, "expected .macro name parameters…")
	case directives[key] != nil || blocks[key].end != "" || tests[key] != nil:
		return errAt(b.head.col, "%s is a directive: a macro needs another name", name)
	case a.macros[key] != nil:
		return errAt(b.head.col, "macro %s is already defined: take it back with .purgem before", name)
	}
	m := &macro{name: name, body: b.body}
	rest := b.head.rest(len(name))
	for w := range words(strings.TrimPrefix(rest.text, ",")) {
		if len(m.params) == maxParams {
			return errAt(rest.col, "macro %s has more than %d parameters", name, maxParams)
		}
		p, ok := parameter(w)
		if !ok || m.param(p.name) >= 0 || len(m.params) > 0 && m.params[len(m.params)-1].variadic {
			return errAt(rest.col, "%q is not a parameter: expected name, name=default, name:req, or name:vararg at the end", w)
		}
		m.params = append(m.params, p)
	}
	a.macros[key] = m
	return nil
}

// parameter reads name, name=default, name:req or name:vararg.
func parameter(w string) (p param, ok bool) {
	p.name = source{text: w}.word()
	rest := w[len(p.name):]
	switch {
	case strings.HasPrefix(rest, "="):
		p.value = unquoted(rest[1:])
	case rest == ":req":
		p.required = true
	case rest == ":vararg":
		p.variadic = true
	case rest != "":
		return p, false
	}
	return p, p.name != "" && !isDigit(p.name[0])
}

func (m *macro) param(name string) int {
	for i, p := range m.params {
		if p.name == name {
			return i
		}
	}
	return -1
}

// invoke expands a macro.
func (a *assembler) invoke(m *macro, s, after source) error {
	if len(a.readers) > maxNesting {
		return errAt(s.col, "macro %s: macros are nested more than %d deep", m.name, maxNesting)
	}
	names, err := m.bind(after)
	if err != nil {
		return err
	}
	names["@"] = strconv.Itoa(a.invoked)
	a.invoked++
	at := source{line: a.line, col: s.col}
	return a.expandBody(m.body, m.name, &at, names)
}

// bind gives each parameter its argument.
func (m *macro) bind(after source) (map[string]string, error) {
	names := map[string]string{}
	rest, next, keyword := squeeze(after.text), 0, false
	for rest != "" {
		if next < len(m.params) && m.params[next].variadic {
			names[m.params[next].name] = rest
			break
		}
		var w string
		w, rest = argument(rest)
		name, value, named := strings.Cut(w, "=")
		if named = named && isWord(name) && !strings.HasPrefix(value, "="); named {
			keyword = true
			if m.param(name) < 0 {
				return nil, errAt(after.col, "macro %s has no parameter %s", m.name, name)
			}
			if names[name] != "" {
				return nil, errAt(after.col, "macro %s: parameter %s is given twice", m.name, name)
			}
			names[name] = unquoted(value)
			continue
		}
		if keyword {
			return nil, errAt(after.col, "macro %s: %q follows an argument that is given by its name: name it, too",
				m.name, w)
		}
		if next == len(m.params) {
			return nil, errAt(after.col, "macro %s takes %d arguments, and %q is one more", m.name, len(m.params), w)
		}
		if w != "" {
			names[m.params[next].name] = unquoted(w)
		}
		next++
	}
	for _, p := range m.params {
		if names[p.name] == "" {
			if p.required {
				return nil, errAt(after.col, "macro %s needs its argument %s", m.name, p.name)
			}
			names[p.name] = p.value
		}
	}
	return names, nil
}

func (a *assembler) exitMacro(t token, _ [][]token, _ int) error {
	r := a.readers[len(a.readers)-1]
	if len(a.readers) == 1 {
		return errAt(t.col, ".exitm outside of a macro")
	}
	r.exited = true
	return nil
}

func (a *assembler) purge(t token, after source) error {
	key := strings.ToLower(after.text)
	if a.macros[key] == nil {
		return errAt(t.col, "there is no macro %s", after.text)
	}
	delete(a.macros, key)
	return nil
}
