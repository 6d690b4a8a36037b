// Package registry keeps the rules for parts that a program adds to heddle when it starts: schedules, algorithms,
// layouts, graph units and statistics (package heddle makes the entries). It knows none of them: an entry brings the
// function that adds it.
package registry

import (
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"sync"
)

// Entry is one thing to add. Package heddle makes entries.
type Entry struct {
	kind, name string
	add        func() error
}

// New makes an entry: kind is its kind ("schedule"), name how a configuration calls it, and add adds it or says why
// it cannot be added.
func New(kind, name string, add func() error) Entry { return Entry{kind, name, add} }

var (
	mu     sync.Mutex
	closed bool
)

// Add adds entries, in their order. It has to come before anything is loaded or run, as the keys of configurations and
// their documentation are made of what is there by then; after that it is an error, as is a name that is taken, an
// entry that lacks something, and all else that would fail later. What comes behind an entry in error is not added.
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
		if p := recover(); p != nil { // of the entry's own functions
			err = fmt.Errorf("%v\n%s", p, debug.Stack())
		}
	}()
	return e.add()
}

// Close ends the time in which entries can be added. It is called when configurations are first read.
func Close() {
	mu.Lock()
	defer mu.Unlock()
	closed = true
}

var names = regexp.MustCompile(`^[a-z][a-z0-9]*([-_][a-z0-9]+)*$`)

// ErrTaken says that a name is taken.
var ErrTaken = errors.New("there is one of that name already: expected another name")

// Name refuses what cannot be a name in a configuration, or is taken by one of those that are there.
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
