package core

import (
	"fmt"
	"math/bits"

	"heddle/components/probe"
)

// Signals returns the signals of the core. Observers derive those of its stages from hook events.
func (c *Core) Signals() (l probe.List) {
	l.Count("in_flight", len(c.warps)*c.spec.IBuffer+len(c.lsu.accesses)+64, func() int { return c.inFlight })
	l.Vector("warps.active", len(c.warps), func() uint64 { return c.active })
	l.Vector("warps.stalled", len(c.warps), func() uint64 { return c.stalled })
	l.Vector("warps.held", len(c.warps), func() uint64 { return c.atBarrier })
	l.Vector("warps.ready", len(c.warps), func() uint64 { return c.ready })
	l.State("sync", syncNames[:], func() int { return int(c.sync.state) })
	for i := range c.slices {
		l = append(l, c.sliceSignals(i).Under(fmt.Sprintf("slice%d", i))...)
	}
	l = append(l, c.lsu.signals().Under("lsu")...)
	for i := range c.warps {
		l = append(l, c.warpSignals(i).Under(fmt.Sprintf("warp%d", i))...)
	}
	return l
}

var syncNames = [...]string{syncNone: "none", syncDrain: "drain", syncInvalidate: "invalidate", syncWait: "wait",
	syncSignal: "signal"}

// Slices returns the number of issue slices: warp w belongs to slice w modulo it.
func (c *Core) Slices() int { return len(c.slices) }

// sliceSignals returns a slice's signals. The scheduler's state in a cycle has the name of the statistic that the cycle
// is booked under.
func (c *Core) sliceSignals(i int) (l probe.List) {
	sl := &c.slices[i]
	l.State("scheduler", causeNames(), func() int {
		if sl.booked.issued > 0 {
			return int(issued)
		}
		return int(sl.booked.cause)
	})
	l.Count("eligible", bits.OnesCount64(sl.members), func() int { return int(sl.booked.ready) })
	return l
}

func causeNames() (names []string) {
	for i := range causeDocs {
		names = append(names, causeDocs[i][0])
	}
	return names
}

func (c *Core) warpSignals(i int) (l probe.List) {
	w := &c.warps[i]
	l.Word("pc", w.trace.PC)
	l.Word("mask", w.trace.Mask)
	l.Count("ibuffer", c.spec.IBuffer, func() int { return w.ibuffer.Len() })
	l.Vector("scoreboard", 64, func() uint64 { return w.board.all })
	l.Hide()
	l.Word("fetch_pc", func() uint32 { return w.fetchPC })
	l.Hide()
	return l
}

func (l *lsu) signals() (out probe.List) {
	out.Count("queue", l.requests.Capacity(), func() int { return l.requests.Len() })
	out.Count("loads", l.maxLoads, func() int { return l.loads })
	out.Count("batches", len(l.coalescer.tags), func() int { return len(l.coalescer.tags) - len(l.coalescer.free) })
	out.Flag("fence", func() bool { return l.fence })
	return out
}
