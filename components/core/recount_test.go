package core

import (
	"math/big"
	"math/bits"
)

// Recount is a naive count of SharedStalls, warp by warp and cycle by cycle, in fractions.
type Recount [numCauses]big.Rat

// Recount counts beside ShareStalls, which must have been called, on a core that stays awake.
func (c *Core) Recount() *Recount {
	r := new(Recount)
	for i := range c.slices {
		c.slices[i].sharing.seen = r.see
	}
	return r
}

func (r *Recount) see(sl *slice) {
	empty := int64(sl.spec.Issue.Dispatch - int(sl.booked.issued))
	var causes []cause
	for i := range sl.warps {
		if bit := uint64(1) << i; sl.members&sl.active&bit != 0 {
			causes = append(causes, sl.causeOf(i, bit))
		}
	}
	if len(causes) == 0 {
		causes = []cause{drained}
	}
	for _, k := range causes {
		r[k].Add(&r[k], big.NewRat(empty, int64(len(causes))))
	}
}

// causeOf returns the cause for which warp i does not issue.
func (sl *slice) causeOf(i int, bit uint64) cause {
	switch w := &sl.warps[i]; {
	case w.issueHead != nil && w.board.waits != issued:
		return w.board.waits
	case w.issueHead != nil:
		return sl.booked.cause
	case sl.atBarrier&bit != 0:
		return barrier
	case sl.awaitingUnit&bit != 0:
		return waitsUnit
	}
	return ibufferEmpty
}

// Exact returns SharedStalls with their fractions, and the slots left empty by cause.
func (c *Core) Exact() (r Recount, empty uint64) {
	for i := range c.slices {
		x := c.slices[i].sharing
		for k, n := range x.counts {
			r[k].Add(&r[k], new(big.Rat).SetUint64(n))
			r[k].Add(&r[k], big.NewRat(x.owed[k], whole))
		}
	}
	for k := issued + 1; k < numCauses; k++ {
		empty += c.Scheduler[k]
	}
	return r, empty
}

// Several reports whether some cycle had warps of different causes.
func (c *Core) Several() bool { return bits.OnesCount(c.causesSeen()) > 1 }

func (c *Core) causesSeen() (set uint) {
	for i := range c.slices {
		for k, n := range c.slices[i].sharing.counts {
			if n > 0 {
				set |= 1 << k
			}
		}
	}
	return set
}
