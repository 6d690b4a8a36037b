package count

// By counts cycles by which of several things they are spent in, in an array of a unit's statistics that its methods
// are given. The zero value is in the first of them, from cycle 0 on.
type By struct {
	is    int
	since uint64
}

// Is returns which it is.
func (b *By) Is() int { return b.is }

// Set says which it is in cycle now and in those that follow.
func (b *By) Set(counts []uint64, is int, now uint64) {
	if is != b.is {
		b.Settle(counts, now)
		b.is = is
	}
}

// Settle counts the cycles before now. It comes before the counts are read.
func (b *By) Settle(counts []uint64, now uint64) {
	counts[b.is] += now - b.since
	b.since = now
}
