package mem

// Warmer is a level of the memory system, as execution without time reaches it. An access leaves there what it
// leaves when it is made in time and nothing else is under way: lines, their replacement state, open rows. Nothing is
// counted, and nothing takes time.
type Warmer interface {
	// Warm makes an access. Of an atomic, wrote says whether it wrote.
	Warm(op Op, addr uint32, wrote bool)
}
