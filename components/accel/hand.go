package accel

import (
	"heddle/components/clock"
	"heddle/isa"
)

// Hand is the host program's on the graph units of all cores, between launches. What it does
// there is an act: words, for who writes down what was done, and does it again on another machine.
type Hand interface {
	// Watch has f told all acts; it must not keep the words.
	Watch(f func(act []uint32))
	// Act does what the words of an act say.
	Act(words []uint32) error
	// Arrays are those that the units read as they are set up now, without what they write themselves.
	Arrays() []Array
	// SetUp writes the units' registers for the launch that comes.
	SetUp(s Setup) error
	// Carry does what the program says that it carries, for runs without a host program.
	Carry(p *isa.Program) error
}

// Setup is a launch, as units need to know it.
type Setup struct {
	Edges  Edges  // that units hand out in it
	In     uint32 // the list that is taken from
	Out    uint32 // the list that is filled
	Memory uint32 // address of what ListHand.RegionBytes asks for
}

// Edges are rows of a graph, in memory.
type Edges struct {
	Fields     uint32 // of an edge, as bits, that the kernel asks for; 0: it takes no edges
	Pull       bool   // rows are by destination
	Vertices   uint32
	Edges      uint32
	Offsets    uint32 // address of Vertices + 1 words
	Neighbours uint32 // address of the other ends
	Weights    uint32 // address of the weights, if the kernel asks for them
}

// FieldWeight is the bit of the weight among the fields of an edge.
const FieldWeight = 1 << 2

// ListHand is a hand on units that have lists of vertices.
type ListHand interface {
	Hand
	// RegionBytes is the memory that the lists of all cores need.
	RegionBytes() uint64
	// Deal puts vertices behind those in the cores' lists, a block for each core.
	Deal(list int, vertices []uint32) error
	// Size and Read return the length and the vertices of a list over all cores.
	Size(list int) int
	Read(list int) []uint32
	// Swap exchanges two lists; Forget empties all.
	Swap(a, b int)
	Forget()
}

// Managed is a unit, with time or without, that the host has a hand on. Manage returns the hand on it and on those that
// h is on, which are of its kind; nil: on none.
type Managed interface{ Manage(h Hand) Hand }

// HandOn is the host's hand on the cores' units; nil: there are none that it has one on.
func HandOn[U any](units []U) (h Hand) {
	for _, u := range units {
		if m, ok := any(u).(Managed); ok {
			h = m.Manage(h)
		}
	}
	return h
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
