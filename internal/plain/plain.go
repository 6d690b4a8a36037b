// Package plain makes untrusted text safe to print on a terminal: it escapes line ends, escape sequences, and controls
// that reorder text.
package plain

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Is reports whether a text is printed unchanged: letters, marks, numbers, punctuation, symbols and spaces, on one
// line.
func Is(s string) bool {
	return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}

// Line returns a text with all other characters escaped in Go's syntax: \n, \x1b, \u202e.
func Line(s string) string {
	if Is(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if unicode.IsPrint(r) && !(r == utf8.RuneError && n == 1) {
			b.WriteString(s[:n])
		} else {
			quoted := strconv.Quote(s[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// Lines is Line for texts of several lines.
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		indent := len(l) - len(strings.TrimLeft(l, "\t"))
		lines[i] = l[:indent] + Line(l[indent:])
	}
	return strings.Join(lines, "\n")
}
