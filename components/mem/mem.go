// Package mem holds the messages of the memory system. They carry addresses and no data: there is one functional memory
// image.
package mem

// Op is the operation of a request.
type Op uint8

// Operations.
const (
	Read       Op = iota // answered when the data has arrived
	Write                // not answered: taking it is the acknowledgement
	Flush                // a fence: answered when the cache has walked its lines
	Invalidate           // a launch or a barrier: like Flush, but of this level only
	Atomic               // answered by the level that performs atomics, when it has
)

// NumOps is the number of operations.
const NumOps = int(Atomic) + 1

var opNames = [NumOps]string{"read", "write", "flush", "invalidation", "atomic"}

// Flushes reports whether the operation makes a cache walk its lines.
func (o Op) Flushes() bool { return o == Flush || o == Invalidate }

func (o Op) String() string { return opNames[o] }

// Request goes from a core towards memory. It has four fields so that the compiler keeps it in registers.
type Request struct {
	Addr   uint32 // byte address; caches look at its line
	Tag    uint32 // returned with the answer
	Atomic AtomicRef
	Op     Op
}

// AtomicRef identifies an atomic to the Performer, and holds the number of its operations, which are performed one
// after the other.
type AtomicRef uint32

// refBits is the width of the name, below the number of operations.
const refBits = 26

// MakeAtomicRef returns a reference; a request has at most one operation per lane.
func MakeAtomicRef(name uint32, operations int) AtomicRef {
	return AtomicRef(uint32(operations)<<refBits | name&(1<<refBits-1))
}

// Name is the Performer's name for the atomic.
func (r AtomicRef) Name() uint32 { return uint32(r) & (1<<refBits - 1) }

// Operations returns the number of operations, performed one after the other.
func (r AtomicRef) Operations() int { return int(r >> refBits) }

// Response answers a request other than a Write.
type Response struct {
	Tag uint32
}

// Performer applies atomics. The level that performs atomics calls it once per request, in the order of arrival there.
type Performer interface {
	// Perform applies the atomic of that name and reports whether it wrote.
	Perform(name uint32) (wrote bool)
}
