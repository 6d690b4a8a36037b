// Package checkpoint saves the state of a graph of Go values, and loads it into another graph that was constructed in
// the same way: by the same program, with the same configuration. It knows nothing of the meaning of the values.
//
// Everything reachable from a root through pointers, slices, maps and interfaces is state, field by field, without
// being listed anywhere, so that new fields are included. A value that cannot be saved (a function or channel that did
// not exist after construction, an unsafe pointer) is an error that names it, never omitted. Exceptions are declared:
//
//   - a field with the tag `checkpoint:"assembled"` keeps its value from construction: it is constant, a cache, or
//     belongs to an observer;
//   - types named by Rules are constants of the graph (Opaque), or caches, pointers to which become nil (Forgotten);
//   - a type that implements Saver saves itself.
//
// A Census of the graph is taken after its construction, before anything has changed. It numbers pieces of memory, maps
// and functions in the order in which they are reached, which is the same for all graphs that are constructed alike. A
// pointer to any of them, even into the middle of a struct or array, and even if it has been moved since, is saved as a
// number with the same meaning in the other graph. Memory allocated after the census (arrays that have grown, entries
// of lists) is allocated again when the state is loaded.
//
// Order of calls: construct the graph, NewCensus, then either Load or run; Save at any time while nothing changes the
// graph.
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

// Saver is implemented by pointers to types that save and load themselves; their fields are not visited.
type Saver interface {
	SaveState(w io.Writer) error
	// LoadState must cope with hostile input: it allocates no more than it reads, and never panics.
	LoadState(r io.Reader) error
}

// Rules declares exceptions for types that cannot declare them by tags or methods.
type Rules struct {
	Opaque    []reflect.Type            // constants, which the graph refers to by pointers
	Forgotten []reflect.Type            // types pointers to which become nil
	Assembled map[reflect.Type][]string // fields of foreign types that keep their values from construction
}

// Error reports a value that cannot be saved, or a state that does not fit the graph.
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
