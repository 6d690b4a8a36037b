package graphit

import (
	"fmt"
	"strings"
)

// Pos is a position in a file, from 1; columns count bytes.
type Pos struct{ Line, Column int }

// Error is an error in a program.
type Error struct {
	File string
	Pos  Pos
	Msg  string
	Kind error // its class, for errors.Is; nil: none
}

// Unwrap returns the error's class.
func (e *Error) Unwrap() error { return e.Kind }

func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Column, e.Msg)
}

// Limits on input.
const (
	MaxBytes = 1 << 20 // of a file
	maxDepth = 200     // of nested expressions, types and blocks
)

type kind uint8

const (
	endOfFile kind = iota
	identifier
	keyword
	integer
	real
	text // a string, without its quotes
	symbol
	label // #name#, without the signs
	comment
)

// token is a word of a program.
type token struct {
	kind kind
	text string
	pos  Pos
	end  int // offset of the byte after it
	at   int // its first byte
}

func (t token) is(text string) bool { return (t.kind == symbol || t.kind == keyword) && t.text == text }

// String names a token in an error.
func (t token) String() string {
	switch t.kind {
	case endOfFile:
		return "the end of the file"
	case text:
		return fmt.Sprintf("the string %q", t.text)
	case label:
		return "the label #" + t.text + "#"
	case identifier:
		return "the name " + t.text
	case integer, real:
		return "the number " + t.text
	}
	return fmt.Sprintf("%q", t.text)
}

// byteOrderMark begins files of some editors.
const byteOrderMark = "\uFEFF"

// keywords are the words that are no names.
var keywords = map[string]bool{}

func init() {
	for _, w := range strings.Fields(`element end const var func extern export if elif else while for par_for in do break return
		print println new delete and or not xor true false vertexset edgeset vector list priority_queue load
		int uint uint_64 float double bool string complex tensor matrix set grid opaque inout map intersection`) {
		keywords[w] = true
	}
}

// symbols, the longer ones first.
var symbols = []string{
	"asyncMin=", "asyncMax=", "min=", "max=",
	"->", "+=", "-=", "*=", "/=", "==", "!=", "<=", ">=", ".*", "./",
	"+", "-", "*", "/", "^", "=", "<", ">", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "'",
}

// lexer cuts a file into tokens.
type lexer struct {
	file   string
	src    string
	at     int
	line   int
	begin  int // of the line
	tokens []token
}

// lex returns the tokens of a file, comments among them, and the end of the file as the last one.
func lex(file string, src []byte) ([]token, error) {
	if len(src) > MaxBytes {
		return nil, &Error{File: file, Pos: Pos{1, 1},
			Msg: fmt.Sprintf("the file has %d bytes: expected at most %d", len(src), MaxBytes)}
	}
	l := &lexer{file: file, src: string(src), line: 1}
	if strings.HasPrefix(l.src, byteOrderMark) {
		l.at, l.begin = len(byteOrderMark), len(byteOrderMark)
	}
	for {
		l.skipSpace()
		if l.at == len(l.src) {
			l.add(endOfFile, "", l.at)
			return l.tokens, nil
		}
		if err := l.next(); err != nil {
			return nil, err
		}
	}
}

func (l *lexer) pos() Pos { return Pos{l.line, l.at - l.begin + 1} }

func (l *lexer) errorf(format string, args ...any) error {
	return &Error{File: l.file, Pos: l.pos(), Msg: fmt.Sprintf(format, args...)}
}

// add appends the token that ends before end, and continues there.
func (l *lexer) add(k kind, text string, end int) {
	l.tokens = append(l.tokens, token{kind: k, text: text, pos: l.pos(), at: l.at, end: end})
	l.at = end
}

func (l *lexer) skipSpace() {
	for ; l.at < len(l.src); l.at++ {
		switch l.src[l.at] {
		case '\n':
			l.line++
			l.begin = l.at + 1
		case ' ', '\t', '\r':
		default:
			return
		}
	}
}

func (l *lexer) rest() string { return l.src[l.at:] }

// next reads one token.
func (l *lexer) next() error {
	c := l.src[l.at]
	switch {
	case c == '%' || strings.HasPrefix(l.rest(), "//"):
		end := l.at + strings.IndexByte(l.rest()+"\n", '\n')
		l.add(comment, strings.TrimRight(l.src[l.at:end], " \t\r"), end)
		return nil
	case isLetter(c):
		return l.word()
	case isDigit(c) || c == '.' && l.at+1 < len(l.src) && isDigit(l.src[l.at+1]):
		return l.number()
	case c == '"':
		return l.quoted()
	case c == '#':
		return l.label()
	}
	for _, s := range symbols {
		if strings.HasPrefix(l.rest(), s) {
			l.add(symbol, s, l.at+len(s))
			return nil
		}
	}
	return l.errorf("unexpected character %q", l.src[l.at:l.at+1])
}

func isLetter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// span returns the number of consecutive bytes of a class starting at at.
func (l *lexer) span(at int, of func(c byte) bool) int {
	n := 0
	for at+n < len(l.src) && of(l.src[at+n]) {
		n++
	}
	return n
}

func (l *lexer) word() error {
	n := l.span(l.at, func(c byte) bool { return isLetter(c) || isDigit(c) })
	w := l.src[l.at : l.at+n]
	for _, s := range symbols[:4] { // min= and the like, but not min==
		if s == w+"=" && strings.HasPrefix(l.rest(), s) && !strings.HasPrefix(l.rest(), s+"=") {
			l.add(symbol, s, l.at+len(s))
			return nil
		}
	}
	if keywords[w] {
		l.add(keyword, w, l.at+n)
	} else {
		l.add(identifier, w, l.at+n)
	}
	return nil
}

func (l *lexer) number() error {
	end := l.at + l.span(l.at, isDigit)
	k := integer
	if end < len(l.src) && l.src[end] == '.' && !strings.HasPrefix(l.src[end:], ".*") &&
		!strings.HasPrefix(l.src[end:], "./") {
		k = real
		end++
		end += l.span(end, isDigit)
	}
	if end < len(l.src) && l.src[end]|0x20 == 'e' {
		sign := end + 1
		if sign < len(l.src) && (l.src[sign] == '+' || l.src[sign] == '-') {
			sign++
		}
		if n := l.span(sign, isDigit); n > 0 {
			k, end = real, sign+n
		}
	}
	if end < len(l.src) && isLetter(l.src[end]) {
		return l.errorf("%q: expected a number, or a name that begins with a letter", l.src[l.at:end+1])
	}
	l.add(k, l.src[l.at:end], end)
	return nil
}

func (l *lexer) quoted() error {
	n := strings.IndexAny(l.src[l.at+1:], "\"\n")
	if n < 0 || l.src[l.at+1+n] == '\n' {
		return l.errorf("a string without its closing \": expected it in the same line")
	}
	l.add(text, l.src[l.at+1:l.at+1+n], l.at+n+2)
	return nil
}

func (l *lexer) label() error {
	space := func(c byte) bool { return c == ' ' || c == '\t' }
	begin := l.at + 1 + l.span(l.at+1, space)
	n := l.span(begin, func(c byte) bool { return isLetter(c) || isDigit(c) })
	end := begin + n + l.span(begin+n, space)
	if n == 0 || end == len(l.src) || l.src[end] != '#' {
		return l.errorf("expected a label as in #s1#")
	}
	l.add(label, l.src[begin:begin+n], end+1)
	return nil
}
