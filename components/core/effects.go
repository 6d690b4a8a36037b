package core

import "heddle/components/clock"

// effect is the effect of some lanes of an access on memory or the scratchpad. It is applied at the end of the cycle in
// which the access leaves the unit, after all cores have ticked and core by core, so that the values a program reads do
// not depend on the order in which cores are simulated, or on worker threads.
type effect struct {
	access int16
	last   bool // the access's slot is free afterwards
	lanes  uint32
}

// deferEffect schedules an effect for the end of the cycle.
func (l *lsu) deferEffect(e effect) {
	if len(l.effects) == 0 {
		l.handle.Finish()
	}
	l.effects = append(l.effects, e)
}

// Finish applies the effects of the cycle that other cores can observe: memory, and arrivals at device-wide barriers.
func (c *Core) Finish(clock.Cycle) {
	if c.functional != nil && c.functional.waiting != 0 {
		c.functional.ClockHandle().Wake()
	}
	c.lsu.perform()
	if err := c.source.Declare(); err != nil {
		c.fail(err)
	}
	if c.sync.arrives {
		c.sync.arrives = false
		c.source.Arrive()
	}
}

// perform applies the deferred effects in the order in which the accesses left.
func (l *lsu) perform() {
	for _, e := range l.effects {
		if _, err := l.accesses[e.access].PerformLanes(e.lanes); err != nil {
			l.fail(err)
		}
		if e.last {
			l.free = append(l.free, e.access)
		}
	}
	l.effects = l.effects[:0]
}
