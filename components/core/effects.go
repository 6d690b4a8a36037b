package core

import "heddle/components/clock"

// effect is the effect of an access's lanes on memory or the scratchpad. It takes place at the end of the cycle in
// which the access leaves for there, when all cores have ticked: core by core, so that what a program reads does not
// depend on who is simulated first, or at the same time.
type effect struct {
	access int16
	last   bool // nothing more comes of the access
	lanes  uint32
}

// deferEffect has an access take effect at the end of the cycle.
func (l *lsu) deferEffect(e effect) {
	if len(l.effects) == 0 {
		l.handle.Finish()
	}
	l.effects = append(l.effects, e)
}

// Finish does what of the cycle reaches beyond the core: memory, and other cores' device-wide barriers.
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

// perform lets accesses take effect, in the order in which they have left.
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
