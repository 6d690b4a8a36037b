package core

import "math/bits"

// Switching between timed and functional execution within a launch. sim's alternator drives all cores and caches
// through
//
//    timed → Hold → (Quiet) → caches at rest → Lend → functional → Return → timed
//
// Hold stops fetch, so the instructions in flight drain; Quiet reports when nothing is in flight except requests to the
// graph unit. The caches are then held and become functional level by level (cache.Cache.Hold, AtRest). Lend hands the
// warps to Functional: at once those with nothing in flight, the others in borrow as soon as the unit has answered and
// the instructions fetched behind the request have ended. Return hands them back, after the memory accesses that have
// begun and a pending arrival at a barrier; warps whose request the unit has not answered yet stay with Functional
// until receive gets the answer (takeBack). If the program ends in functional execution, finish ends the timed launch.
// Every warp is either in pipe.active or executed functionally, never both; functionalWarps keeps startNew from
// launching the latter.

// Hold stops the core's fetch.
func (c *Core) Hold() { c.front.selector.choose = nobody }

// nobody is the scheduling policy of a held core: it admits no warp.
func nobody(*selector, view) int { return -1 }

// Quiet reports whether nothing is in flight in a held core except requests to its graph unit.
func (c *Core) Quiet() bool {
	if c.over {
		return true
	}
	if c.sync.state != syncNone || !c.settled() {
		return false
	}
	for m := c.active; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); !c.awaits(i) && (c.warps[i].pending > 0 || c.fetching(i)) {
			return false
		}
	}
	return true
}

// fetching reports whether a fetch is in flight for a warp without decoded instructions: the L1I may be slow.
func (c *Core) fetching(i int) bool { return (c.stalled&^c.atBarrier)>>i&1 != 0 }

// awaits reports whether warp i waits for the graph unit.
func (c *Core) awaits(i int) bool { return c.socket != nil && c.socket.Awaits(i) }

// settled reports whether no fetch, memory access or wake-up of a warp is pending.
func (c *Core) settled() bool {
	f := &c.front
	if !f.scheduled.Empty() || f.unlocks.cycles != 0 || f.releasedAt != 0 || len(c.opening) != 0 ||
		c.resolving.cycles != 0 || !c.lsu.idle() {
		return false
	}
	for i := range f.out {
		if f.out[i].Len() > 0 || f.in[i].Len() > 0 {
			return false
		}
	}
	return true
}

// lendable returns the warps with nothing in flight.
func (c *Core) lendable() (set uint64) {
	if !c.settled() {
		return 0
	}
	for m := c.active; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.warps[i].pending == 0 && !c.fetching(i) && !c.awaits(i) {
			set |= 1 << i
		}
	}
	return set
}

// Lend begins functional execution of a launch that began in timed execution. The core must be quiet, and its caches
// functional.
func (u *Functional) Lend() {
	u.on, u.within = true, true
	u.begin()
	u.core.functionalWarps = ^uint64(0)
	u.ClockHandle().Wake()
}

// borrow takes over the warps that have nothing in flight.
func (u *Functional) borrow(now uint64) {
	c := u.core
	set := c.lendable()
	if set == 0 {
		return
	}
	c.settle(now)
	for m := set; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c.atBarrier &^= 1 << i
		c.leave(i)
	}
}

// Return resumes timed execution. Warps that the unit has not answered return with their answer.
func (u *Functional) Return() {
	if !u.on {
		return
	}
	c := u.core
	for u.estimate.memory.due != never {
		u.access(u.estimate.memory.due)
	}
	if u.arrives != never {
		u.arrive(u.arrives)
	}
	u.on = false
	c.functionalWarps = u.waiting
	c.front.selector.choose = policies[c.spec.Schedule.Policy].schedule
	c.takeBack(u.arch.Active() &^ (u.waiting | c.active))
	c.ClockHandle().Wake()
}

// finish ends a timed launch whose program has ended functionally.
func (c *Core) finish(now uint64) {
	c.settle(now + 1)
	c.over = true
	c.elapsed += now - c.begun
	c.bookIdle()
	c.settleAll()
}

// Reset discards a launch that has ended.
func (u *Functional) Reset() {
	c := u.core
	u.on, u.waiting, u.arrives, c.functionalWarps = false, 0, never, 0
	c.front.selector.choose = policies[c.spec.Schedule.Policy].schedule
}

// takeBack resumes warps that were executed functionally.
func (c *Core) takeBack(warps uint64) {
	now := c.ClockHandle().Domain().Cycle()
	if !c.over {
		c.settle(now + 1)
	}
	c.functionalWarps &^= warps
	for m := warps & c.source.Active(); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c.begin(i)
		if c.warps[i].trace.Waiting() {
			c.atBarrier |= 1 << i
			c.refreshState(i)
		} else {
			c.resume(i, now+1)
		}
	}
	c.ClockHandle().Wake()
}
