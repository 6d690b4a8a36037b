package accel

import (
	"heddle/components/clock"
	"heddle/isa"
)

// Hand is the host-side interface to the graph units of all cores, for use between launches. Every operation is an
// action that can be expressed as words, so that it can be recorded and repeated on another machine.
type Hand interface {
	// Watch makes the units report all actions to f, which must not keep the words.
	Watch(f func(act []uint32))
	// Act performs the action that the words describe.
	Act(words []uint32) error
	// Arrays returns the arrays that the units read with the current set-up, without those that they write.
	Arrays() []Array
	// SetUp writes the units' registers for the next launch.
	SetUp(s Setup) error
	// Carry applies the set-up that the program carries, for runs without a host program.
	Carry(p *isa.Program) error
}

// Setup describes a launch to the units.
type Setup struct {
	Edges  Edges  // edges that units distribute
	In     uint32 // input list
	Out    uint32 // output list
	Memory uint32 // address of a region of ListHand.RegionBytes bytes
}

// Edges are rows of a graph in memory.
type Edges struct {
	Fields     uint32 // fields of an edge that the kernel reads, as bits; 0: the kernel takes no edges
	Pull       bool   // rows are by destination
	Vertices   uint32
	Edges      uint32
	Offsets    uint32 // address of Vertices + 1 words
	Neighbours uint32 // address of the neighbours
	Weights    uint32 // address of the weights, if the kernel reads them
}

// FieldWeight is the bit of the weight in Edges.Fields.
const FieldWeight = 1 << 2

// ListHand is the Hand of units with vertex-lists.
type ListHand interface {
	Hand
	// RegionBytes returns the size of the memory that the lists of all cores need.
	RegionBytes() uint64
	// Deal appends vertices to the cores' lists, a block for each core.
	Deal(list int, vertices []uint32) error
	// Size and Read return the length and the vertices of a list over all cores.
	Size(list int) int
	Read(list int) []uint32
	// Swap exchanges two lists; Forget empties all lists.
	Swap(a, b int)
	Forget()
}

// Managed is a unit, timed or functional, with a host-side interface. Manage returns a Hand of the unit and of the
// units of h, which must be of the same kind; nil: of no others.
type Managed interface{ Manage(h Hand) Hand }

// HandOn returns the Hand of the cores' units; nil: they have none.
func HandOn[U any](units []U) (h Hand) {
	for _, u := range units {
		if m, ok := any(u).(Managed); ok {
			h = m.Manage(h)
		}
	}
	return h
}

// Array is a range of words in memory.
type Array struct {
	Addr  uint32
	Words uint64
}

// Forsaken is a unit whose contents other cores' units wait for. Forsake announces that from the cycle after now no
// warp will take anything before the next launch: the unit discards its contents.
type Forsaken interface {
	Forsake(now clock.Cycle)
}
