// Package registry holds the rules for parts that a program adds to heddle at its start: schedules, algorithms,
// layouts, graph units and statistics (package heddle builds the entries). It knows none of these: an entry contains
// the function that adds it.
package registry

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"sync"
)

// Entry is a part to add, built by package heddle.
type Entry struct {
	kind, name string
	add        func() error
}

// New returns an entry: kind is its kind ("schedule"), name its name in configurations, and add registers it or returns
// the reason why it cannot.
func New(kind, name string, add func() error) Entry { return Entry{kind, name, add} }

var (
	mu     sync.Mutex
	closed bool
)

// Add adds entries, in order. It must be called before anything is loaded or run, since configuration keys and their
// documentation are built from the registered parts; a later call is an error, as are a name that is taken, an
// incomplete entry, and everything else that would fail later. Entries after a failed one are not added.
func Add(entries ...Entry) error {
	mu.Lock()
	defer mu.Unlock()
	for _, e := range entries {
		if err := e.run(); err != nil {
			return fmt.Errorf("cannot add %s %q: %w", e.kind, e.name, err)
		}
	}
	return nil
}

func (e *Entry) run() (err error) {
	switch {
	case e.add == nil:
		return errors.New("the entry is empty: make it with package heddle")
	case closed:
		return errors.New("configurations have been read already: add it first, as cmd.Main does")
	}
	defer func() {
		if p := recover(); p != nil { // panic in the entry's own functions
			err = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	return e.add()
}

// Close ends registration. It is called when configurations are first read.
func Close() {
	mu.Lock()
	defer mu.Unlock()
	closed = true
}

var names = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)

// ErrTaken is the error of a name that is taken.
var ErrTaken = errors.New("there is one of that name already: expected another name")

// Name returns an error for a string that cannot be a name in a configuration, or that is already taken.
func Name(name string, there []string) error {
	if name == "" {
		return errors.New("it has no name")
	}
	if !names.MatchString(name) {
		return errors.New("expected a name of small letters and digits, with single dashes or underscores between them")
	}
	if name == "auto" || name == "none" || name == "all" {
		return errors.New("the name means something else in a configuration: expected another")
	}
	for _, x := range there {
		if x == name {
			return ErrTaken
		}
	}
	return nil
}
