package mem

// Warmer is a level of the memory system as accessed by functional execution. An access leaves the same state as a
// timed one with nothing else in flight: lines, replacement state, open rows. Nothing is counted. Its time is estimated
// from the level's latencies and the throughput of its parts.
type Warmer interface {
	// Warm performs an access that arrives at cycle at. It returns estimates of the cycle in which the level takes it
	// and of that of its answer; a Write has no answer, and is over when it is taken.
	Warm(a Access, at uint64) (taken, answered uint64)
	// Touch performs an access as Warm does, but estimates no time: what Warm books for later accesses stays as it is.
	Touch(a Access)
}

// Access is a functional access.
type Access struct {
	Op         Op
	Wrote      bool   // of an atomic: whether it wrote
	Operations uint16 // of an atomic: number of successive operations
	Addr       uint32
}
