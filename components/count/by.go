package count

// By counts the cycles spent in each of several states, in an array of a unit's statistics that is passed to its
// methods. The zero value is in the first state from cycle 0 on.
type By struct {
	is    int
	since uint64
}

// Is returns the current state.
func (b *By) Is() int { return b.is }

// Set sets the state from cycle now on.
func (b *By) Set(counts []uint64, is int, now uint64) {
	if is != b.is {
		b.Settle(counts, now)
		b.is = is
	}
}

// Settle books the cycles before now. It must precede a read of the counts.
func (b *By) Settle(counts []uint64, now uint64) {
	counts[b.is] += now - b.since
	b.since = now
}
