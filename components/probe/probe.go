// Package probe is the interface by which units show themselves to observers of a run: signals, which are read when a
// cycle is over, and events, which are told as they happen. A unit that nobody looks at pays a comparison for an event
// and nothing for a signal.
//
// It knows no unit, and no file that signals go to.
package probe

import (
	"math/bits"
	"strconv"
)

// Signal is a value that a unit holds. Read only looks.
type Signal struct {
	Name   string   // within its unit, parts with dots between them: warp3.pc
	Bits   int      // 1 to 64
	States []string // of a state: the names of its values; nil: it is a number
	Detail bool     // shown only to those who ask for it by name
	Read   func() uint64
}

// Text is a state's value by name.
func (s *Signal) Text() string { return s.States[s.Read()] }

// List is a unit's signals, in the order in which they are shown.
type List []Signal

// Flag adds a signal of one bit.
func (l *List) Flag(name string, read func() bool) {
	*l = append(*l, Signal{Name: name, Bits: 1, Read: func() uint64 {
		if read() {
			return 1
		}
		return 0
	}})
}

// Count adds a number that goes up to most.
func (l *List) Count(name string, most int, read func() int) {
	*l = append(*l, Signal{Name: name, Bits: max(1, bits.Len(uint(most))), Read: func() uint64 { return uint64(read()) }})
}

// Word adds a number of 32 bits.
func (l *List) Word(name string, read func() uint32) {
	*l = append(*l, Signal{Name: name, Bits: 32, Read: func() uint64 { return uint64(read()) }})
}

// Vector adds so many bits: a set, or a number.
func (l *List) Vector(name string, size int, read func() uint64) {
	*l = append(*l, Signal{Name: name, Bits: size, Read: read})
}

// State adds a state.
func (l *List) State(name string, states []string, read func() int) {
	*l = append(*l, Signal{Name: name, Bits: max(1, bits.Len(uint(len(states)-1))), States: states, Read: func() uint64 { return uint64(read()) }})
}

// Hide makes the last signal one of those that are shown only to those who ask for it.
func (l *List) Hide() { (*l)[len(*l)-1].Detail = true }

// Under returns the signals with a prefix to their names.
func (l List) Under(prefix string) List {
	for i := range l {
		l[i].Name = prefix + "." + l[i].Name
	}
	return l
}

// Signed prints a word, of which -1 is often none.
func Signed(v uint32) string { return strconv.Itoa(int(int32(v))) }

// Kind is a kind of event of a unit.
type Kind struct{ Name, Doc string }

// Watch is told of events as they happen: their kind, the warp that they are of (-1: none), and a text.
// Its callers compare it with nil first.
type Watch func(kind string, warp int, format string, args ...any)
