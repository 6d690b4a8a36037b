package cache

import (
	"heddle/components/clock"
	"heddle/components/mem"
)

// What follows is the cache of a machine that executes without time. Cores reach it with Warm, and change lines
// and replacement state as the same accesses in time would. Graph units reach it by their links as ever, and are
// answered in the cycle in which their request arrives.

// untimed is what a cache needs for that.
type untimed struct {
	next   mem.Warmer  // the next level
	on     bool        // no time passes here
	begins clock.Cycle // what initEnd is otherwise
	served Sent        // requests that were answered so
}

// WarmInto connects the next level.
func (c *Cache) WarmInto(next mem.Warmer) { c.untimed.next = next }

// SetUntimed has the cache, which must be at rest, answer requests in no time, or in time again.
func (c *Cache) SetUntimed(on bool) {
	u := &c.untimed
	if on == u.on {
		return
	}
	if on && c.Pending() > 0 {
		panic(c.bug("to be without time, and not at rest"))
	}
	if u.on = on; on {
		u.begins, c.initEnd = c.initEnd, clock.Never
	} else {
		c.initEnd = u.begins
	}
	c.Place().Wake()
}

// Served is what has been answered without time, which Stats does not count.
func (c *Cache) Served() Sent { return c.untimed.served }

// beforeInit is a cycle in which the banks do not work: they are being invalidated, or no time passes.
func (c *Cache) beforeInit() bool {
	if c.untimed.on {
		return c.serve()
	}
	c.Place().WakeAt(c.initEnd)
	return false
}

// serve answers what has arrived, a request an input and cycle.
func (c *Cache) serve() bool {
	if c.sets.queued != 0 {
		c.arbitrate()
	}
	for m := c.sets.arrived; m != 0; m &= m - 1 {
		if i := first(m); c.head(i) && c.serveHead(&c.heads[i]) {
			c.pop(i)
		}
	}
	return c.sets.queued|c.sets.arrived != 0
}

// serveHead answers one request, if its answer has a place.
func (c *Cache) serveHead(r *request) bool {
	to := c.ports[r.port&(most-1)].rsp
	switch s := &c.untimed.served; r.mem.Op {
	case mem.Write:
		s.Writes++
	case mem.Read:
		if to.Full() {
			return false
		}
		s.Reads++
		to.Push(mem.Response{Tag: r.mem.Tag})
	default:
		panic(c.bug("a " + r.mem.Op.String() + " from its links, and no time passes"))
	}
	c.Warm(r.mem.Op, r.mem.Addr, true)
	return true
}

// Warm makes an access without time.
func (c *Cache) Warm(op mem.Op, addr uint32, wrote bool) {
	if op.Flushes() {
		c.warmFlush(op)
		return
	}
	line := addr >> (c.lineShift & 31)
	b := c.bank[c.names.of(line)&(most-1)]
	at := b.tags.find(line)
	if at >= 0 && (op == mem.Read || b.back && op == mem.Write) {
		b.tags.touch(at)
		if op == mem.Write {
			b.tags.dirty[at] = true
		}
		return
	}
	switch {
	case op == mem.Write && !b.back:
		if at >= 0 {
			b.tags.touch(at)
		}
		c.untimed.next.Warm(mem.Write, addr, true)
	case op == mem.Atomic && b.atomics.performer == nil:
		b.leave(c.untimed.next, b.tags.drop(line))
		c.untimed.next.Warm(mem.Atomic, addr, wrote)
	default:
		if at < 0 {
			at = b.warmFill(c.untimed.next, addr, line)
		}
		b.tags.touch(at)
		if op == mem.Write || op == mem.Atomic && wrote {
			b.warmWrite(c.untimed.next, addr, at)
		}
	}
}

// warmFill brings a line in, and returns where it is.
func (b *bank) warmFill(next mem.Warmer, addr, line uint32) int {
	next.Warm(mem.Read, addr&b.lineMask, false)
	out, at := b.tags.fill(line)
	b.leave(next, out)
	return at
}

// warmWrite writes a line that is there.
func (b *bank) warmWrite(next mem.Warmer, addr uint32, at int) {
	if b.back {
		b.tags.dirty[at] = true
	} else {
		next.Warm(mem.Write, addr, true)
	}
}

// leave writes a line back that has gone out, if it must be.
func (b *bank) leave(next mem.Warmer, out victim) {
	if out.dirty {
		next.Warm(mem.Write, out.line<<b.lineShift, true)
	}
}

// warmFlush invalidates all lines, in the order of a flush's walk.
func (c *Cache) warmFlush(op mem.Op) {
	for _, b := range c.banks {
		for step := range b.walk {
			if b.back {
				b.leave(c.untimed.next, b.tags.remove(b.lineOf(step)))
			} else {
				b.tags.flush(step)
			}
		}
	}
	if op == mem.Flush && c.spec.ForwardFlush {
		c.untimed.next.Warm(mem.Flush, 0, false)
	}
}
