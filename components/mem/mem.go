// Package mem holds the messages of the memory system, and nothing else. No data
// travels: there is one functional memory image, and requests carry addresses.
package mem

// Op is what a request asks for.
type Op uint8

// Operations.
const (
	Read       Op = iota // answered when the data is there
	Write                // not answered: the level that takes it has acknowledged it
	Flush                // a fence: answered when the cache has walked its lines
	Invalidate           // a launch or a barrier: like Flush, but of this level only
	Atomic               // answered when it has been performed, by the level that performs atomics
)

// NumOps is the number of operations.
const NumOps = int(Atomic) + 1

var opNames = [NumOps]string{"read", "write", "flush", "invalidation", "atomic"}

func (o Op) String() string { return opNames[o] }

// Request goes from a core towards memory.
type Request struct {
	Addr uint32 // byte address; caches look at its line
	Tag  uint32 // returned with the answer
	Ref  uint32 // of an Atomic: what its Performer knows it by
	Op   Op
	Ops  uint8 // of an Atomic: operations done one after the other
}

// Response answers all but a Write.
type Response struct {
	Tag uint32
}

// Performer lets atomics take effect. The level where they meet calls it once a
// request, in the order in which they arrive there.
type Performer interface {
	// Perform does the atomic and tells whether it wrote.
	Perform(ref uint32) (wrote bool)
}
