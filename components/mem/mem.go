// Package mem holds the messages of the memory system, and nothing else. No data
// travels: there is one functional memory image, and requests carry addresses.
package mem

// Op is the operation of a request.
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

// Flushes reports whether it has a cache walk its lines.
func (o Op) Flushes() bool { return o == Flush || o == Invalidate }

func (o Op) String() string { return opNames[o] }

// Request goes from a core towards memory. It has four fields so that the compiler keeps
// it in registers.
type Request struct {
	Addr   uint32 // byte address; caches look at its line
	Tag    uint32 // returned with the answer
	Atomic AtomicRef
	Op     Op
}

// AtomicRef says of an Atomic, for the level that performs it, what its Performer knows
// it by, and how many operations are done one after the other.
type AtomicRef uint32

// refBits are those of the name, below the number of operations.
const refBits = 26

// MakeAtomicRef makes a reference; a request has at most one operation a lane.
func MakeAtomicRef(name uint32, operations int) AtomicRef {
	return AtomicRef(uint32(operations)<<refBits | name&(1<<refBits-1))
}

// Name is the Performer's name for the atomic.
func (r AtomicRef) Name() uint32 { return uint32(r) & (1<<refBits - 1) }

// Operations are done one after the other.
func (r AtomicRef) Operations() int { return int(r >> refBits) }

// Response answers all but a Write.
type Response struct {
	Tag uint32
}

// Performer lets atomics take effect. The level where they meet calls it once a
// request, in the order in which they arrive there.
type Performer interface {
	// Perform does the atomic of that name and reports whether it wrote.
	Perform(name uint32) (wrote bool)
}
