package cache

import "heddle/components/clock"

// Progress returns a number that changes while the cache makes progress, including a walk of its lines. A watchdog may
// call it at any time.
func (c *Cache) Progress(now clock.Cycle) (n uint64) {
	if c.functional.on {
		return c.functional.served.Reads + c.functional.served.Writes
	}
	if now < c.initEnd || now < c.walkEnd {
		return uint64(now)
	}
	for _, b := range c.banks {
		s := &b.stats
		n += s.Reads + s.Writes + s.Atomics + s.Fills + s.Replays + s.Flushes + s.AtomicOps + uint64(b.flush.step)
	}
	return n
}

// walkAhead lets the cache sleep while all its banks only walk over clean lines; settleWalk performs those steps on
// wake-up. It returns false if there are none.
func (c *Cache) walkAhead(now clock.Cycle) bool {
	if c.flush.state != walkFlush {
		return false
	}
	steps := 0
	for _, b := range c.banks {
		if b.rsp.Len() > 0 || b.mreq.Len() > 0 {
			return false
		}
		if b.flush.state == flushIdle && b.idle() {
			continue // it has walked
		}
		n := b.quietSteps()
		if n == 0 {
			return false
		}
		if steps == 0 || n < steps {
			steps = n
		}
	}
	if steps == 0 {
		return false
	}
	c.walkEnd = now + 1 + clock.Cycle(steps)
	c.ClockHandle().WakeAt(c.walkEnd)
	return true
}

// settleWalk performs the steps that were slept through.
func (c *Cache) settleWalk(skipped int) {
	for _, b := range c.banks {
		if b.flush.state == flushWalk {
			b.walkOver(skipped)
		}
	}
}

// mostQuiet bounds how far a bank with write-back looks ahead, as every dirty line of another bank makes it look again.
const mostQuiet = 256

// quietSteps returns how many of the walk's next steps only invalidate lines. The pipeline must hold such steps too,
// and is then full of them throughout.
func (b *bank) quietSteps() int {
	f := &b.flush
	if f.state != flushWalk || b.st0.kind != flushSet || b.st1.kind != flushSet {
		return 0
	}
	end := b.flushSteps - 1 // the last step ends the walk, in a cycle of its own
	if !b.writeBackPolicy {
		return max(0, end-f.step)
	}
	end = min(end, f.step+mostQuiet)
	first := int(b.st1.step)
	for step := first; step < end; step++ {
		if b.tags.dirty[b.lineOf(step)] {
			end = step
		}
	}
	return max(0, end-f.step)
}

// walkOver performs that many quiet steps; the pipeline holds the last two.
func (b *bank) walkOver(steps int) {
	f := &b.flush
	for step := int(b.st1.step); step < int(b.st1.step)+steps; step++ {
		if b.writeBackPolicy {
			b.tags.remove(b.lineOf(step))
		} else {
			b.tags.flush(step)
		}
	}
	b.st0.step += int32(steps)
	b.st1.step += int32(steps)
	f.step += steps
}
