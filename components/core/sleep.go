package core

import (
	"math/bits"

	"heddle/components/clock"
	"heddle/isa"
)

// nextEvent returns the first cycle after now in which the core would do
// something because time has passed; Never: there is none. What waits for a link or
// for something before it in the pipeline moves after that, and is not looked at.
func (c *Core) nextEvent(now uint64) uint64 {
	at := c.released.next(now, clock.Never)
	at = c.scheduled.next(now, at)
	for i := range c.unlocks {
		if later := now + uint64(i); i > 0 && c.unlocks[later%uint64(len(c.unlocks))] != 0 {
			at = min(at, later)
			break
		}
	}
	if c.letGo > now {
		at = min(at, c.letGo)
	}
	for m := c.buffered &^ c.staged; m != 0; m &= m - 1 {
		at = c.warps[bits.TrailingZeros64(m)].ibuffer.next(now, at)
	}
	for i := range c.slices {
		at = c.slices[i].next(now, at)
	}
	if c.entering() {
		return now + 1
	}
	for u := range c.entries {
		at = c.entries[u].buffer.next(now, at)
	}
	return c.lsu.next(now, at)
}

// entering tells whether an instruction waits before a shared unit that has a place:
// its slice is selected in a cycle that moves nothing.
func (c *Core) entering() bool {
	for i := range c.slices {
		for _, u := range [...]isa.Unit{isa.LSU, isa.SFU} {
			if !c.slices[i].dispatch[u].empty() && !c.entries[u].buffer.full() {
				return true
			}
		}
	}
	return false
}

func (sl *slice) next(now, at uint64) uint64 {
	at = sl.issued.next(now, at)
	for i := range sl.groups.of {
		at = sl.groups.of[i].selected.next(now, at)
	}
	at = sl.operands.next(now, at)
	for i := range sl.collectors {
		k := &sl.collectors[i]
		at = k.out.next(now, k.st2.next(now, k.st1.next(now, at)))
	}
	for u := range sl.dispatch {
		at = sl.result[u].next(now, sl.dispatch[u].next(now, at))
	}
	return sl.div.next(now, sl.mul.next(now, sl.alu.next(now, at)))
}

func (l *lsu) next(now, at uint64) uint64 {
	at = l.answers.next(now, l.local.next(now, l.switched.next(now, l.requests.next(now, at))))
	if l.localAt > now {
		at = min(at, l.localAt)
	}
	return at
}
