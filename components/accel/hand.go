package accel

import "heddle/components/clock"

// Hand is the host program's on the graph units of all cores, between launches. What it does
// there is an act: words, for who writes down what was done, and does it again on another machine.
type Hand interface {
	// Watch has f told all acts; it must not keep the words.
	Watch(f func(act []uint32))
	// Act does what the words of an act say.
	Act(words []uint32) error
	// Arrays are those that the units read as they are set up now, without what they write themselves.
	Arrays() []Array
}

// Array is memory from a word's address on.
type Array struct {
	Addr  uint32
	Words uint64
}

// Forsaken is a unit that others wait for until what it holds has been asked for. Forsake tells it that from
// the cycle after now nobody will ask before the next launch: it does away with what it holds.
type Forsaken interface {
	Forsake(now clock.Cycle)
}
