package dram

import ring "heddle/components/queue"

// Done is a completed request.
type Done struct {
	ID    uint64
	Clock uint64 // the last data beat
	Write bool
}

// completions are the requests that a channel has finished and not handed over. Each kind is in the order of its
// clocks.
type completions struct {
	next                  uint64 // clock of the earliest
	merged, reads, writes ring.Timed[Done]
}

func newCompletions(slots int, of *ring.Owner) completions {
	return completions{
		next: never, merged: ring.NewTimed[Done](slots, of, "merged writes"),
		reads:  ring.NewTimed[Done](slots, of, "reads that are done"),
		writes: ring.NewTimed[Done](slots, of, "writes that are done"),
	}
}

// add appends d to a kind.
func (c *completions) add(kind *ring.Timed[Done], d Done) {
	kind.Push(d, d.Clock)
	c.next = min(c.next, d.Clock)
}

// pop returns the earliest completion; of those of one clock, merged writes first, then reads.
func (c *completions) pop() Done {
	kind := &c.merged
	if c.next < kind.First() {
		kind = &c.reads
	}
	if c.next < kind.First() {
		kind = &c.writes
	}
	d := kind.Pop()
	c.next = min(c.merged.First(), c.reads.First(), c.writes.First())
	return d
}

// lastRead returns the clock of the last read, or 0.
func (c *completions) lastRead() uint64 {
	if c.reads.Empty() {
		return 0
	}
	return c.reads.Due(c.reads.Len() - 1)
}
