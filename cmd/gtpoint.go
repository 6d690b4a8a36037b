package cmd

import (
	"errors"
	"strings"

	"heddle/graphit"
	"heddle/graphit/programs"
)

// pointedError is an error of a GraphIt program with the line that it is about, and a mark below its column.
type pointedError struct {
	error
	line string
}

func (e *pointedError) Error() string { return e.error.Error() + "\n" + e.line }
func (e *pointedError) Unwrap() error { return e.error }

// pointed adds the line of the program to an error, if it is one of a program that can be read again.
func pointed(err error) error {
	var at *graphit.Error
	if !errors.As(err, &at) || errors.As(err, new(*pointedError)) || strings.Contains(err.Error(), "\n") {
		return err
	}
	src, wrong := programs.Source(at.File)
	if wrong != nil {
		src, wrong = readSource(at.File)
	}
	if wrong != nil {
		return err
	}
	lines := strings.Split(string(src), "\n")
	if at.Pos.Line < 1 || at.Pos.Line > len(lines) {
		return err
	}
	line := marked(strings.TrimRight(lines[at.Pos.Line-1], "\r"), at.Pos.Column)
	if line == "" {
		return err
	}
	return &pointedError{err, line}
}

// marked is a line, of a long one the part around a column, above a mark at that; "": the line has no such column.
func marked(line string, column int) string {
	const ahead, most = 60, 100 // bytes of a part
	if column < 1 || column > len(line)+1 || strings.TrimSpace(line) == "" {
		return ""
	}
	at := column - 1
	if at > ahead {
		line, at = "…"+line[at-ahead:], ahead+len("…")
	}
	if len(line) > at+most {
		line = line[:at+most] + "…"
	}
	before := len([]rune(line[:at])) // one that is no UTF-8 counts as a sign, as below
	line = string([]rune(strings.ReplaceAll(line, "\t", " ")))
	return "    " + line + "\n    " + strings.Repeat(" ", before) + "^"
}
