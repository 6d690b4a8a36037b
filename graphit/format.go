package graphit

import (
	"bytes"
	"slices"
	"strings"
)

// Format lays a program out, or a schedule: blocks indented by four spaces, one space around operators, at most one
// empty line. Lines stay lines, comments stay. A file that Parse and ParseSchedule refuse is refused.
func Format(file string, src []byte) ([]byte, error) {
	if _, err := Parse(file, src); err != nil {
		if _, other := ParseSchedule(file, src); other != nil {
			return nil, err
		}
	}
	all, err := lex(file, src)
	if err != nil {
		return nil, err
	}
	f := formatter{}
	for _, line := range lines(all) {
		f.line(line)
	}
	return f.out.Bytes(), nil
}

// lines cuts tokens where lines end.
func lines(all []token) (list [][]token) {
	for _, t := range all {
		switch n := len(list); {
		case t.kind == endOfFile:
		case n > 0 && list[n-1][0].pos.Line == t.pos.Line:
			list[n-1] = append(list[n-1], t)
		default:
			list = append(list, []token{t})
		}
	}
	return list
}

type formatter struct {
	out      bytes.Buffer
	depth    int  // of blocks
	parens   int  // that are open
	last     int  // the line of the source that was written last
	open     bool // within a statement
	schedule bool // after schedule:
}

// line writes a line.
func (f *formatter) line(line []token) {
	if f.out.Len() > 0 && line[0].pos.Line > f.last+1 {
		f.out.WriteByte('\n')
	}
	f.last = line[0].pos.Line
	indent := f.depth
	switch first := line[0]; {
	case f.isSchedule(line):
		f.depth, indent, f.schedule = 1, 0, true
	case first.is("end") || first.is("else") || first.is("elif"):
		indent--
	case f.open && first.kind != comment && !f.begins(first):
		indent++ // within a statement
	}
	f.out.WriteString(strings.Repeat("    ", max(0, indent)))
	for i, t := range line {
		if i > 0 && f.space(line, i) {
			f.out.WriteByte(' ')
		}
		f.write(t)
		f.count(line, i)
	}
	f.out.WriteByte('\n')
}

// isSchedule reports whether a line begins a schedule.
func (f *formatter) isSchedule(line []token) bool {
	return !f.schedule && line[0].kind == identifier && line[0].text == "schedule" && len(line) > 1 && line[1].is(":")
}

// begins reports whether a token can only begin a statement.
func (f *formatter) begins(t token) bool {
	return t.kind == label || t.kind == keyword && slices.Contains(statementWords, t.text)
}

var statementWords = []string{"element", "const", "func", "export", "extern", "var", "if", "elif", "else", "while", "for", "par_for",
	"print", "println", "delete", "break", "end"}

func (f *formatter) write(t token) {
	switch t.kind {
	case text:
		f.out.WriteString(`"` + t.text + `"`)
	case label:
		f.out.WriteString("#" + t.text + "#")
	default:
		f.out.WriteString(t.text)
	}
}

// count follows blocks and statements.
func (f *formatter) count(line []token, i int) {
	t := line[i]
	switch {
	case t.kind == comment:
		return
	case t.is("func") && i > 0 && line[i-1].is("extern"):
	case t.is("func"), t.is("if"), t.is("while"), t.is("for"), t.is("par_for"), t.is("element"):
		f.depth++
	case t.is("end"):
		f.depth = max(0, f.depth-1)
	case t.is("("), t.is("["), t.is("{"):
		f.parens++
	case t.is(")"), t.is("]"), t.is("}"):
		f.parens = max(0, f.parens-1)
	}
	// What ends a statement is known where it is a sign; where it is none, a line's end is a statement's unless
	// something is open.
	f.open = f.parens > 0 || !f.schedule && t.kind == symbol && slices.Contains(continues, t.text) || f.goesOn(line)
	if t.is(";") {
		f.open = false
	}
}

// continues are signs that nothing ends with.
var continues = []string{"=", "+=", "min=", "max=", "asyncMin=", "asyncMax=", "+", "-", "*", "/", "==", "!=", "<", ">",
	"<=", ">=", ",", ".", "->", ":"}

// goesOn reports whether a line begins a statement that ends with a semicolon.
func (f *formatter) goesOn(line []token) bool {
	first := line[0]
	if first.kind == label && len(line) > 1 {
		first = line[1]
	}
	if f.isSchedule(line) || f.schedule && first.text == "schedule" {
		return false
	}
	switch first.text {
	case "func", "export", "if", "elif", "else", "while", "for", "par_for", "end", "element", "schedule":
		return false
	}
	return first.kind != comment
}

// space reports whether a space precedes a token of a line.
func (f *formatter) space(line []token, i int) bool {
	a, b := line[i-1], line[i]
	switch {
	case b.kind == comment, a.kind == label:
		return true
	case b.is(";"), b.is(","), b.is(")"), b.is("]"), b.is("}"), b.is("."), b.is("->") && f.schedule,
		a.is("->") && f.schedule:
		return false
	case a.is("("), a.is("["), a.is("{"), a.is("."):
		return false
	case b.is("["), b.is("{"):
		return false
	case b.is("("):
		return !f.calls(a)
	case a.is(":"), b.is(":"):
		return !f.isRange(line) && !(f.schedule && b.is(":"))
	case unary(line, i-1):
		return a.text == "not"
	}
	return true
}

// calls reports whether a parenthesis after the token belongs to it.
func (f *formatter) calls(a token) bool {
	switch a.kind {
	case identifier:
		return true
	case keyword:
		return a.text == "load" || scalars[a.text] != None
	}
	return a.is(")") || a.is("]") || a.is("}") || a.is("(")
}

// isRange reports whether a line is a for statement, whose colon does not introduce a type.
func (f *formatter) isRange(line []token) bool {
	first := line[0]
	if first.kind == label && len(line) > 1 {
		first = line[1]
	}
	return first.is("for") || first.is("par_for") || f.isSchedule(line)
}

// unary reports whether a token is an operator with one operand.
func unary(line []token, i int) bool {
	t := line[i]
	if t.is("not") {
		return true
	}
	if !t.is("-") && !t.is("+") {
		return false
	}
	if i == 0 {
		return true
	}
	a := line[i-1]
	switch a.kind {
	case identifier, integer, real, text:
		return false
	}
	return !(a.is(")") || a.is("]") || a.is("}") || a.is("true") || a.is("false"))
}
