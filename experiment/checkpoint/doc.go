// Package checkpoint writes down the state of a graph of Go values, and gives it to another one that was made in the
// same way: by the same program, of the same configuration. It knows nothing of what the values are.
//
// What is reachable from a root by pointers, slices, maps and interfaces is state, field by field, without anybody
// having listed it: a field that is added is part of it. What cannot be written down (a function or a channel that was
// not there from the start, an unsafe pointer) is an error that names it, and never left out. Exceptions are said where
// they are:
//
//   - a field with the tag `checkpoint:"assembled"` keeps what it has when the graph has been made: it is constant, or a
//     cache, or somebody's who looks on;
//   - types that Rules names are constants of the graph (Opaque), or caches, pointers to which are forgotten (Forgotten);
//   - a type that is a Saver writes itself.
//
// A Census of the graph is taken when it has been made, before anything has changed: it numbers the pieces of memory,
// maps and functions in the order in which they are reached, which is the same for every graph that is made alike. So a
// pointer to any of them, also one into the middle of a struct or an array, and also one that was put elsewhere since,
// is a number that the other graph understands. What came later (arrays that have grown, entries of lists) is made
// anew.
package checkpoint

import (
	"fmt"
	"io"
	"reflect"
)

// Tag is the key of the struct tag, and Assembled its only value.
const (
	Tag       = "checkpoint"
	Assembled = "assembled"
)

// Saver writes and reads its own state. A pointer to the type has these methods; nothing in it is looked at.
type Saver interface {
	SaveState(w io.Writer) error
	// LoadState takes what may be hostile: it allocates no more than it reads, and never panics.
	LoadState(r io.Reader) error
}

// Rules are exceptions for types that do not say so themselves.
type Rules struct {
	Opaque    []reflect.Type            // constants, by pointers to which the graph knows them
	Forgotten []reflect.Type            // pointers to them become nil
	Assembled map[reflect.Type][]string // fields that keep what they have, of types that are not ours
}

// Error says what cannot be written down, or why a state is none for this graph.
type Error struct {
	At   string // the type and field
	What string
}

func (e *Error) Error() string {
	if e.At == "" {
		return e.What
	}
	return e.At + ": " + e.What
}

func failf(at, format string, args ...any) error { return &Error{at, fmt.Sprintf(format, args...)} }
