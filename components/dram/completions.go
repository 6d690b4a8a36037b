package dram

// Done is a completed request.
type Done struct {
	ID    uint64
	Clock uint64 // the last data beat
	Write bool
}

// completions are what a channel is done with and has not handed over. Each kind is in the
// order of its clocks.
type completions struct {
	next                  uint64 // the earliest
	merged, reads, writes ring
}

func newCompletions(slots int) completions {
	return completions{next: never, merged: newRing(slots), reads: newRing(slots), writes: newRing(slots)}
}

// add puts d behind the others of a kind.
func (c *completions) add(kind *ring, d Done) {
	kind.push(d)
	c.next = min(c.next, d.Clock)
}

// pop returns the earliest completion: of those of one clock merged writes first, then reads.
func (c *completions) pop() Done {
	kind := &c.merged
	if c.next < kind.next() {
		kind = &c.reads
	}
	if c.next < kind.next() {
		kind = &c.writes
	}
	d := kind.pop()
	c.next = min(c.merged.next(), c.reads.next(), c.writes.next())
	return d
}

// ring is a queue of completions in the order of their clocks.
type ring struct {
	slots      []Done // a power of two
	head, tail uint64
}

func newRing(slots int) ring { return ring{slots: make([]Done, slots)} }

func (r *ring) push(d Done) {
	if r.tail-r.head == uint64(len(r.slots)) {
		panic("BUG: dram: completion ring overflows")
	}
	r.slots[r.tail&uint64(len(r.slots)-1)] = d
	r.tail++
}

// next returns the clock of the first completion.
func (r *ring) next() uint64 {
	if r.head == r.tail {
		return never
	}
	return r.slots[r.head&uint64(len(r.slots)-1)].Clock
}

// last returns the clock of the last completion, 0 if there is none.
func (r *ring) last() uint64 {
	if r.head == r.tail {
		return 0
	}
	return r.slots[(r.tail-1)&uint64(len(r.slots)-1)].Clock
}

func (r *ring) pop() Done {
	d := r.slots[r.head&uint64(len(r.slots)-1)]
	r.head++
	return d
}
