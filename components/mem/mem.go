// Package mem holds the messages of the memory system, and nothing else. No data
// travels: there is one functional memory image, and requests carry addresses.
package mem

// Op is what a request asks for.
type Op uint8

// Operations.
const (
	Read  Op = iota // answered when the data is there
	Write           // not answered: the level that takes it has acknowledged it
	Flush           // a fence: answered when the cache has walked its lines
)

// Request goes from a core towards memory.
type Request struct {
	Addr uint32 // byte address; caches look at its line
	Tag  uint32 // returned with the answer
	Op   Op
	Src  uint16 // which of a level's requesters it is, for the way back
}

// Response answers a Read or a Flush.
type Response struct {
	Tag uint32
}
