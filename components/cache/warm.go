package cache

import (
	"slices"

	"heddle/components/clock"
	"heddle/components/mem"
)

// The cache of a machine in functional execution. Cores access it through Warm, which changes lines and replacement
// state as the same accesses would in timed execution. Graph units still use their links, and are answered at the cycle
// that the estimate gives.
//
// The transition is Hold → AtRest → SetFunctional(true) → … → SetFunctional(false). Hold closes the inputs, so that
// accepted requests end; a cache must be at rest, together with the levels below it that it waits for, before
// SetFunctional(true), which panics otherwise. Requests that no bank has taken stay in their links and are served by
// serve. While functional, initEnd is Never, so that every Tick goes to beforeInit. SetFunctional(false) restores it;
// answers still in late leave by Tick at their cycles.

// functional is the state of functional execution.
type functional struct {
	next      mem.Warmer    // the next level
	performer mem.Performer // performs atomics, at whichever level does in timed execution
	on        bool          // functional execution
	begins    clock.Cycle   // saved value of initEnd
	served    Sent          // requests answered functionally
	single    *fastPath     // saved fast path of a cache that is held
	estimate  estimate
	late      []late // estimated answers that have not left, by cycle
}

// late is an answer that has not left.
type late struct {
	at   clock.Cycle
	tag  uint32
	port uint8
}

// WarmInto connects the next level and the performer of atomics.
func (c *Cache) WarmInto(next mem.Warmer, p mem.Performer) {
	c.functional.next, c.functional.performer = next, p
	c.functional.estimate.build(c)
}

// Hold makes the cache accept no request, so that accepted ones end.
func (c *Cache) Hold() {
	c.trailing.End()
	c.flush.closed = true
	c.functional.single, c.fastPath = c.fastPath, nil
	c.ClockHandle().Wake()
}

// AtRest reports whether no accepted request is left, in the cache or on its way to the next level.
func (c *Cache) AtRest() bool {
	c.trailing.End()
	for _, b := range c.banks {
		if b.front.buffer.Len()+b.mshr.used+b.rsp.Len()+b.mreq.Len() > 0 || b.busy() || b.performing() {
			return false
		}
	}
	for i := range c.spec.MemoryPorts {
		if c.memory[i].req.Len()+c.memory[i].rsp.Len() > 0 {
			return false
		}
	}
	return c.flush.state == noFlush && len(c.functional.late) == 0
}

// forget discards the recorded first requests of the inputs, none of which a bank has taken.
func (c *Cache) forget() {
	for _, b := range c.banks {
		b.front.want = 0
	}
	c.sets.seen, c.sets.wanted, c.flush.asked = 0, 0, 0
}

// SetFunctional switches the cache, which must be at rest, to functional or back to timed execution.
func (c *Cache) SetFunctional(on bool) {
	c.trailing.End()
	u := &c.functional
	if c.flush.closed {
		c.flush.closed, c.fastPath, u.single = false, u.single, nil
		c.ClockHandle().Wake()
	}
	if on == u.on {
		return
	}
	if u.on = on; on {
		if !c.AtRest() {
			panic(c.bug("to be without time, and not at rest"))
		}
		c.forget()
		u.begins, c.initEnd = c.initEnd, clock.Never
		u.estimate.walks, u.estimate.walked = 0, u.begins // banks also invalidate their sets at reset
	} else {
		c.initEnd = u.begins
	}
	c.ClockHandle().Wake()
}

// Served returns the number of accesses answered functionally, which Stats does not include.
func (c *Cache) Served() Sent { return c.functional.served }

// beforeInit is a cycle in which the banks do not work: they are being invalidated, or execution is functional.
func (c *Cache) beforeInit(now clock.Cycle) bool {
	if c.functional.on {
		c.answerLate(now)
		return c.serve(now)
	}
	c.ClockHandle().WakeAt(c.initEnd)
	return false
}

// maxLate bounds the answers in late; a cache with that many takes no request.
const maxLate = 64

// serve takes arrived requests, one per input and cycle.
func (c *Cache) serve(now clock.Cycle) bool {
	if c.sets.queued != 0 {
		c.arbitrate()
	}
	for m := c.sets.arrived; m != 0 && len(c.functional.late) < maxLate; m &= m - 1 {
		if i := first(m); c.head(i) {
			c.serveHead(&c.heads[i], now)
			c.pop(i)
		}
	}
	return c.sets.queued|c.sets.arrived != 0
}

// serveHead performs a request's access, and schedules its answer at the estimated cycle.
func (c *Cache) serveHead(r *request, now clock.Cycle) {
	wrote := true
	switch s := &c.functional.served; r.mem.Op {
	case mem.Write:
		s.Writes++
	case mem.Read:
		s.Reads++
	case mem.Atomic:
		s.Atomics++
		wrote = c.functional.performer.Perform(r.mem.Atomic.Name())
	}
	_, at := c.Warm(mem.Access{Op: r.mem.Op, Addr: r.mem.Addr, Wrote: wrote,
		Operations: uint16(r.mem.Atomic.Operations())}, now)
	if r.mem.Op != mem.Write {
		c.answerAt(late{max(at, now+1), r.mem.Tag, r.port})
	}
}

// answerAt schedules an answer, after those of the same or an earlier cycle.
func (c *Cache) answerAt(l late) {
	u := &c.functional
	i := len(u.late)
	for ; i > 0 && u.late[i-1].at > l.at; i-- {
	}
	u.late = slices.Insert(u.late, i, l)
	c.ClockHandle().WakeAt(u.late[0].at)
}

// answerLate sends the answers that are due, in order.
func (c *Cache) answerLate(now clock.Cycle) {
	u, kept := &c.functional, 0
	for i, l := range u.late {
		if to := c.ports[l.port&(maxPorts-1)].rsp; l.at <= now && !to.Full() {
			to.Push(mem.Response{Tag: l.tag})
			continue
		}
		u.late[kept] = u.late[i]
		kept++
	}
	if u.late = u.late[:kept]; kept > 0 {
		c.ClockHandle().WakeAt(max(now+1, u.late[0].at))
	}
}

// Warm performs an access functionally. taken is the cycle in which the bank begins it, answered that of its response;
// both are the end for a flush, as others wait for it.
func (c *Cache) Warm(a mem.Access, at uint64) (taken, answered uint64) {
	if a.Op.Flushes() {
		at = c.warmFlush(a.Op, at)
		return at, at
	}
	line := a.Addr >> (c.lineShift & 31)
	n := c.names.of(line) & (maxPorts - 1)
	b, e := c.bank[n], c.functional.estimate.banks[n]
	at = e.begin(at)
	where := b.tags.find(line)
	if where >= 0 {
		b.tags.touch(where)
	}
	var there uint64
	switch {
	case where >= 0 && a.Op == mem.Read:
		there = e.find(where, at)
	case a.Op == mem.Write && !b.writeBackPolicy:
		e.write(c.functional.next, a.Addr, at)
		there = at
	case a.Op == mem.Atomic && b.atomics.performer == nil:
		c.warmLeave(b, e, b.tags.drop(line), at)
		there = e.ask(c.functional.next, a, at)
		e.keep(there)
	default:
		there = c.warmLine(b, e, where, &a, at)
	}
	return at, there + e.hit
}

// warmLine performs an access that needs its line, which is filled if absent, and returns the cycle in which the bank
// has performed it.
func (c *Cache) warmLine(b *bank, e *bankEstimate, where int, a *mem.Access, at uint64) (there uint64) {
	missed := where < 0
	if !missed {
		there = e.find(where, at)
	} else {
		line := a.Addr >> (c.lineShift & 31)
		if b.goesAlong(line) {
			there = max(e.second, at)
		} else {
			there = e.ask(c.functional.next, mem.Access{Op: mem.Read, Addr: a.Addr & b.lineMask}, at)
			e.second = there + 1
		}
		if b.keepsLine(line) {
			var out []victim
			out, where = b.tags.fill(line)
			for _, v := range out {
				c.warmLeave(b, e, v, at)
			}
			b.tags.touch(where)
		}
	}
	if a.Op == mem.Atomic {
		n := uint64(a.Operations)
		if b.atomics.occupies > 0 {
			there = max(there, e.atomics.Take(there, b.atomics.occupies*n))
		}
		there += max(b.atomics.interval, b.atomics.occupies) * n
	}
	if missed || a.Op == mem.Atomic {
		e.keep(there)
	}
	if where >= 0 {
		e.there[where] = there
	}
	if a.Op == mem.Write || a.Op == mem.Atomic && a.Wrote {
		if b.writeBackPolicy {
			b.tags.dirty[where] = true
		} else {
			e.write(c.functional.next, a.Addr, there)
		}
	}
	return there
}

// goesAlong reports whether a sector that is missing comes with the one that the bank has asked for last.
func (b *bank) goesAlong(line uint32) bool {
	if !b.pairs {
		return false
	}
	along := b.lone == line^1
	if b.lone = line; along {
		b.lone = invalid
	}
	return along
}

// Touch implements mem.Warmer: it changes lines in the order in which Warm does.
func (c *Cache) Touch(a mem.Access) {
	if a.Op.Flushes() {
		c.touchFlush(a.Op)
		return
	}
	line := a.Addr >> (c.lineShift & 31)
	b := c.bank[c.names.of(line)&(maxPorts-1)]
	where := b.tags.find(line)
	if where >= 0 {
		b.tags.touch(where)
	}
	switch {
	case where >= 0 && a.Op == mem.Read:
	case a.Op == mem.Write && !b.writeBackPolicy:
		c.functional.next.Touch(mem.Access{Op: mem.Write, Addr: a.Addr})
	case a.Op == mem.Atomic && b.atomics.performer == nil:
		c.touchLeave(b, b.tags.drop(line))
		c.functional.next.Touch(a)
	default:
		c.touchLine(b, where, line, &a)
	}
}

// touchLine is warmLine without time.
func (c *Cache) touchLine(b *bank, where int, line uint32, a *mem.Access) {
	if where < 0 {
		if !b.goesAlong(line) {
			c.functional.next.Touch(mem.Access{Op: mem.Read, Addr: a.Addr & b.lineMask})
		}
		if b.keepsLine(line) {
			var out []victim
			out, where = b.tags.fill(line)
			for _, v := range out {
				c.touchLeave(b, v)
			}
			b.tags.touch(where)
		}
	}
	if a.Op == mem.Write || a.Op == mem.Atomic && a.Wrote {
		if b.writeBackPolicy {
			b.tags.dirty[where] = true
		} else {
			c.functional.next.Touch(mem.Access{Op: mem.Write, Addr: a.Addr})
		}
	}
}

// touchLeave writes an evicted line back if it is dirty.
func (c *Cache) touchLeave(b *bank, out victim) {
	if out.dirty {
		c.functional.next.Touch(mem.Access{Op: mem.Write, Addr: out.line << b.lineShift})
	}
}

// touchFlush is warmFlush without time.
func (c *Cache) touchFlush(op mem.Op) {
	for _, b := range c.banks {
		for step := range b.flushSteps {
			if b.writeBackPolicy {
				c.touchLeave(b, b.tags.remove(b.lineOf(step)))
			} else {
				b.tags.flush(step)
			}
		}
	}
	if op == mem.Flush && c.spec.ForwardFlush {
		c.functional.next.Touch(mem.Access{Op: mem.Flush})
	}
}

// warmLeave writes an evicted line back if it is dirty.
func (c *Cache) warmLeave(b *bank, e *bankEstimate, out victim, at uint64) {
	if out.dirty {
		e.write(c.functional.next, out.line<<b.lineShift, at)
	}
}

// warmFlush invalidates all lines, in the order of a flush's walk, and returns the cycle in which the flush ends.
func (c *Cache) warmFlush(op mem.Op, at uint64) uint64 {
	e := &c.functional.estimate
	at = e.walk(at, uint64(c.banks[0].flushSteps))
	for n, b := range c.banks {
		for step := range b.flushSteps {
			if b.writeBackPolicy {
				c.warmLeave(b, e.banks[n], b.tags.remove(b.lineOf(step)), at)
			} else {
				b.tags.flush(step)
			}
		}
	}
	if at += e.hit; op == mem.Flush && c.spec.ForwardFlush {
		_, at = c.functional.next.Warm(mem.Access{Op: mem.Flush}, at+e.to)
		at += e.from
	}
	return at
}
