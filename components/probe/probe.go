// Package probe is the interface between units and observers of a run: signals, which are read at the end of a cycle,
// and events, which are reported as they happen. Without an observer an event costs one comparison, and a signal
// nothing.
//
// It knows neither units nor the files that signals are written to.
package probe

import (
	"math/bits"
	"strconv"
)

// Signal is a value in a unit. Read must not change anything.
type Signal struct {
	Name   string   // within its unit, parts separated by dots: warp3.pc
	Bits   int      // 1 to 64
	States []string // names of the values of a state; nil: a number
	Detail bool     // shown only on request by name
	Read   func() uint64
}

// Text returns the name of a state's value.
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

// Count adds a number from 0 to most.
func (l *List) Count(name string, most int, read func() int) {
	*l = append(*l, Signal{Name: name, Bits: max(1, bits.Len(uint(most))),
		Read: func() uint64 { return uint64(read()) }})
}

// Word adds a 32-bit number.
func (l *List) Word(name string, read func() uint32) {
	*l = append(*l, Signal{Name: name, Bits: 32, Read: func() uint64 { return uint64(read()) }})
}

// Vector adds a value of size bits: a set or a number.
func (l *List) Vector(name string, size int, read func() uint64) {
	*l = append(*l, Signal{Name: name, Bits: size, Read: read})
}

// State adds a state.
func (l *List) State(name string, states []string, read func() int) {
	*l = append(*l, Signal{Name: name, Bits: max(1, bits.Len(uint(len(states)-1))), States: states,
		Read: func() uint64 { return uint64(read()) }})
}

// Hide marks the last signal as shown only on request.
func (l *List) Hide() { (*l)[len(*l)-1].Detail = true }

// Under returns the signals with a prefix to their names.
func (l List) Under(prefix string) List {
	for i := range l {
		l[i].Name = prefix + "." + l[i].Name
	}
	return l
}

// Signed formats a word as signed, as -1 often means none.
func Signed(v uint32) string { return strconv.Itoa(int(int32(v))) }

// Kind is a kind of event of a unit.
type Kind struct{ Name, Doc string }

// Watch receives events as they happen: their kind, their warp (-1: none) and a text. Callers compare it with nil
// first.
type Watch func(kind string, warp int, format string, args ...any)
