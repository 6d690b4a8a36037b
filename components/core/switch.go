package core

import "math/bits"

// What follows lets a launch go on without time, and in time again. A core that is held fetches nothing, so what is in
// flight ends. It then lends its warps, all but those that wait for an answer of its graph unit, which it lends when
// they have got it and what they had fetched behind it has ended. A warp that asks the unit without time, and has no
// answer when time goes on, comes back with its answer.

// Hold has the core fetch nothing more.
func (c *Core) Hold() { c.front.selector.choose = nobody }

// nobody is the policy of a core that is held.
func nobody(*selector, view) int { return -1 }

// Quiet reports whether nothing is in flight in a core that is held but what waits for its graph unit.
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

// fetching reports whether an instruction of a warp that has none in flight is being fetched: the L1I may be slow.
func (c *Core) fetching(i int) bool { return (c.stalled&^c.atBarrier)>>i&1 != 0 }

// awaits reports whether warp i waits for its graph unit.
func (c *Core) awaits(i int) bool { return c.socket != nil && c.socket.Awaits(i) }

// settled reports whether no fetch, no memory access and no warp is on its way.
func (c *Core) settled() bool {
	f := &c.front
	if !f.scheduled.Empty() || f.unlocks.cycles != 0 || f.releasedAt != 0 || c.resolving.cycles != 0 || !c.lsu.idle() {
		return false
	}
	for i := range f.out {
		if f.out[i].Len() > 0 || f.in[i].Len() > 0 {
			return false
		}
	}
	return true
}

// lendable are the warps that have nothing in flight.
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

// Lend begins to execute a launch without time that has begun in time. The core must be quiet, and its caches without
// time.
func (u *Functional) Lend() {
	u.on, u.within = true, true
	u.begin()
	u.core.functionalWarps = ^uint64(0)
	u.ClockHandle().Wake()
}

// borrow takes warps that have become free.
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

// Return ends it: time goes on. Warps that the unit has not answered come back when it has.
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

// finish ends a launch in time whose program has ended without.
func (c *Core) finish(now uint64) {
	c.settle(now + 1)
	c.over = true
	c.elapsed += now - c.begun
	c.bookIdle()
	c.settleAll()
}

// Reset forgets a launch that has ended.
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
