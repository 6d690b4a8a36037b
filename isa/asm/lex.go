package asm

import (
	"fmt"
	"strconv"
	"strings"
)

type kind uint8

const (
	tokIdent  kind = iota // name, directive, mnemonic, %function
	tokNumber             //
	tokFloat              // 1.5, 1e9: only .float reads these
	tokString             //
	tokLocal              // 1f, 1b
	tokPunct              // operators, parentheses, comma, colon
)

// token is one word of a line. val is a number's value, text a string's contents or the token as written.
type token struct {
	kind kind
	text string
	val  int64
	col  int // 1-based
}

func (t token) is(p string) bool { return t.kind == tokPunct && t.text == p }

// posError is an error at a column; the line is added by the caller.
type posError struct {
	col int
	err error
}

func (e *posError) Error() string { return e.err.Error() }
func (e *posError) Unwrap() error { return e.err }

func errAt(col int, format string, args ...any) error {
	return &posError{col, fmt.Errorf(format, args...)}
}

func isNameStart(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isName(c byte) bool { return isNameStart(c) || isDigit(c) }

// tokens turns a statement into tokens.
func tokens(src source) ([]token, error) {
	var out []token
	s := src.text
	for i := 0; i < len(s); {
		if s[i] == ' ' || s[i] == '\t' {
			i++
			continue
		}
		col := src.col
		if !src.flat {
			col += i
		}
		t, n, err := scan(s[i:], col)
		if err != nil {
			return out, err
		}
		t.col = col
		out = append(out, t)
		i += n
	}
	return out, nil
}

// scan reads the token at the start of s and returns its length.
func scan(s string, col int) (token, int, error) {
	c := s[0]
	switch {
	case isDigit(c):
		return scanNumber(s, col)
	case isNameStart(c) || c == '%' && len(s) > 1 && isNameStart(s[1]):
		n := 1
		for n < len(s) && isName(s[n]) {
			n++
		}
		return token{kind: tokIdent, text: s[:n]}, n, nil
	case c == '"':
		return scanString(s, col)
	case c == '\'':
		v, n, err := scanChar(s[1:], col)
		if err != nil {
			return token{}, 0, err
		}
		n++
		if n < len(s) && s[n] == '\'' {
			n++
		}
		return token{kind: tokNumber, text: s[:n], val: int64(v)}, n, nil
	}
	if p, n := scanPair(s); n > 0 {
		return token{kind: tokPunct, text: p}, n, nil
	}
	if strings.IndexByte("+-*/%&|^~!()<>,:;=", c) >= 0 {
		return token{kind: tokPunct, text: s[:1]}, 1, nil
	}
	return token{}, 0, errAt(col, "unexpected character %q", c)
}

// scanPair reads an operator of two characters. Blanks between these do not part them: GNU as takes such out first.
func scanPair(s string) (string, int) {
	second := strings.TrimLeft(s[1:], " \t")
	if second == "" {
		return "", 0
	}
	p := s[:1] + second[:1]
	switch p {
	case "<<", ">>", "<>", "==", "!=", "!!", "<=", ">=", "&&", "||":
		return p, len(s) - len(second) + 1
	}
	return "", 0
}

// scanNumber reads 12, 0x1f, 0b101, 017, and the local references 1f and 1b.
func scanNumber(s string, col int) (token, int, error) {
	n := 1
	for n < len(s) && (isName(s[n]) && s[n] != '$') {
		n++
	}
	text := s[:n]
	digits := strings.TrimRight(text, "fb")
	if len(digits) == n-1 && strings.Trim(digits, "0123456789") == "" {
		v, err := strconv.ParseInt(digits, 10, 32)
		if err == nil {
			return token{kind: tokLocal, text: text, val: v}, n, nil
		}
	}
	if strings.Contains(text, ".") || strings.HasSuffix(strings.Trim(text, "0123456789"), "e") && text[0] != '0' {
		return token{kind: tokFloat, text: text}, n, nil
	}
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return token{}, 0, errAt(col, "%q is not a number", text)
	}
	return token{kind: tokNumber, text: text, val: int64(v)}, n, nil
}

func scanString(s string, col int) (token, int, error) {
	var b strings.Builder
	for i := 1; i < len(s); {
		if s[i] == '"' {
			return token{kind: tokString, text: b.String()}, i + 1, nil
		}
		v, n, err := scanChar(s[i:], col+i)
		if err != nil {
			return token{}, 0, err
		}
		b.WriteByte(v)
		i += n
	}
	return token{}, 0, errAt(col, "the string does not end on this line")
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '\\': '\\', '"': '"', '\'': '\''}

// scanChar reads one possibly escaped byte.
func scanChar(s string, col int) (byte, int, error) {
	if s == "" {
		return 0, 0, errAt(col, "a character is missing")
	}
	if s[0] != '\\' {
		return s[0], 1, nil
	}
	if len(s) < 2 {
		return 0, 0, errAt(col, "nothing follows the backslash")
	}
	if v, ok := escapes[s[1]]; ok {
		return v, 2, nil
	}
	base, start, most := 8, 1, 3
	if s[1] == 'x' {
		base, start, most = 16, 2, 2
	}
	n := start
	for n < len(s) && n < start+most && strings.IndexByte("0123456789abcdefABCDEF"[:min(base, 8)+base/16*14],
		s[n]) >= 0 {
		n++
	}
	v, err := strconv.ParseUint(s[start:n], base, 8)
	if err != nil {
		return 0, 0, errAt(col, "unknown escape \\%c", s[1])
	}
	return byte(v), n, nil
}
