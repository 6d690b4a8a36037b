package mem

// Warmer is a level of the memory system, as execution without time reaches it. An access leaves there what it
// leaves when it is made in time and nothing else is under way: lines, their replacement state, open rows. Nothing is
// counted. How long it would take is estimated: by the level's latencies, and by how often each of its parts can be
// used.
type Warmer interface {
	// Warm makes an access that arrives in a cycle. It returns estimates of the cycle in which the level takes it, and
	// of that in which its answer is there; a Write has no answer, and is over when it is taken.
	Warm(a Access, at uint64) (taken, answered uint64)
}

// Access is one that is made without time.
type Access struct {
	Op         Op
	Wrote      bool   // an atomic: it did
	Operations uint16 // an atomic: one after the other
	Addr       uint32
}
