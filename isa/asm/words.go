package asm

import (
	"iter"
	"strings"
)

// Arguments of macros are texts, not tokens: commas separate them, or blanks.

// squeeze takes out the blanks that separate nothing: all but those between two names, numbers or strings.
func squeeze(s string) string {
	if !strings.ContainsAny(s, " \t") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		switch {
		case s[i] == '"':
			n := quoted([]byte(s[i:]))
			b.WriteString(s[i : i+n])
			i += n
		case s[i] == '\'':
			n := character(s[i:])
			b.WriteString(s[i : i+n])
			i += n
		case s[i] == ' ' || s[i] == '\t':
			n := i
			for n < len(s) && (s[n] == ' ' || s[n] == '\t') {
				n++
			}
			if i > 0 && n < len(s) && separates(s[i-1]) && separates(s[n]) {
				b.WriteByte(' ')
			}
			i = n
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// separates reports whether a blank beside c ends something.
func separates(c byte) bool { return isName(c) || strings.IndexByte(`"'\@`, c) >= 0 }

// argument cuts the first one off a squeezed text.
func argument(s string) (first, rest string) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			i += quoted([]byte(s[i:])) - 1
		case c == '\'':
			i += character(s[i:]) - 1
		case c == '(' || c == '[':
			depth++
		case c == ')' || c == ']':
			depth--
		case c == ',' || c == ' ' && depth <= 0:
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// words are the arguments of a text.
func words(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for rest := squeeze(strings.Trim(s, " \t")); rest != ""; {
			var w string
			if w, rest = argument(rest); !yield(w) {
				return
			}
		}
	}
}

// unquoted returns the content of an argument that is a string.
func unquoted(s string) string {
	if len(s) < 2 || s[0] != '"' || quoted([]byte(s)) != len(s) {
		return s
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(s[1 : len(s)-1])
}

func isWord(s string) bool { return s != "" && !isDigit(s[0]) && source{text: s}.word() == s }
