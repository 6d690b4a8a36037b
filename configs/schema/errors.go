package schema

import (
	"fmt"
	"strings"
)

// maxErrors is how many errors one load reports; a file of the wrong kind would
// otherwise bury its cause.
const maxErrors = 20

// Layer is where a value came from.
type Layer int

// The layers, each stronger than those before it.
const (
	Default Layer = iota
	File
	Env
	Set
	Point // a point of a sweep, see Loaded.With
)

// Origin is the place that gave a value.
type Origin struct {
	Layer     Layer
	File      string // of layer File, as the user or the preset names it
	Line, Col int    // of layer File, from 1; 0 when the file as a whole is meant
	Name      string // the environment variable, or the key after --set
}

func (o Origin) String() string {
	switch o.Layer {
	case File:
		return o.place()
	case Env:
		return "$" + o.Name
	case Set:
		return "--set " + o.Name
	case Point:
		return "point " + o.Name
	}
	return "default"
}

func (o Origin) place() string {
	if o.Line == 0 {
		return o.File
	}
	return fmt.Sprintf("%s:%d:%d", o.File, o.Line, o.Col)
}

// Error is one error in the user's input.
type Error struct {
	At  Origin
	Key string // path of the key; empty when no key is to blame
	Msg string
}

func (e *Error) Error() string {
	if e.Key == "" {
		return e.At.String() + ": " + e.Msg
	}
	return fmt.Sprintf("%s: %s: %s", e.At, e.Key, e.Msg)
}

// Errors are all the things wrong, in the order of layers and lines.
type Errors struct {
	List []*Error // never empty, maxErrors at most
	More int      // how many did not fit
}

func (e *Errors) Error() string {
	lines := make([]string, len(e.List))
	for i, x := range e.List {
		lines[i] = x.Error()
	}
	if e.More > 0 {
		lines = append(lines, fmt.Sprintf("and %d more errors", e.More))
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives errors.As its chance at the single errors.
func (e *Errors) Unwrap() []error {
	list := make([]error, len(e.List))
	for i, x := range e.List {
		list[i] = x
	}
	return list
}

// Validator is a section with rules across its fields. Sections below are
// validated first, and a section only when all below it are in order. Several
// errors may come joined by errors.Join.
type Validator interface{ Validate() error }

// FieldError is the error of one field, as Validate returns it. Key is relative to
// the section: "ways", or "l1d.ways".
type FieldError struct{ Key, Msg string }

func (e *FieldError) Error() string { return e.Key + ": " + e.Msg }

// FieldKey and FieldMsg make a FieldError recognisable without its type: a
// package that may not import this one returns its own error with these methods.
func (e *FieldError) FieldKey() string { return e.Key }
func (e *FieldError) FieldMsg() string { return e.Msg }

type fieldError interface {
	error
	FieldKey() string
	FieldMsg() string
}

// problems collects errors up to the limit.
type problems struct{ Errors }

func (p *problems) add(at Origin, key, format string, args ...any) {
	if p.full() {
		p.More++
		return
	}
	p.List = append(p.List, &Error{At: at, Key: key, Msg: fmt.Sprintf(format, args...)})
}

// full reports whether the list is full, so that callers need not format further messages.
func (p *problems) full() bool { return len(p.List) == maxErrors }

// count returns the number of problems so far, to detect whether a step added any.
func (p *problems) count() int { return len(p.List) + p.More }

func (p *problems) err() error {
	if len(p.List) == 0 {
		return nil
	}
	e := p.Errors
	return &e
}
