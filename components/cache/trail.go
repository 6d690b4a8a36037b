package cache

import (
	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/clock"
	"heddle/components/mem"
)

// A cache with a fast path trails its requester while its pipeline holds nothing but reads that hit. No message moves
// and nothing ticks then for an instruction of a loop that the L1I holds. The requester asks Resident before it sends a
// read, and ends the trailing if the line is not there: the stages then hold what they would, and the cache ticks. Most
// reads that trail go by times (clock.Trailing.Run): they are in no stage and on no link.

// Resident reports whether a read of an address would hit.
func (c *Cache) Resident(addr uint32) bool {
	line := addr >> (c.lineShift & 31)
	if line == c.resident {
		return true
	}
	hit := c.fastPath.tags.find(line) >= 0
	if hit && c.trailing.On {
		c.resident = line
	}
	return hit
}

// Trails implements clock.Trailer.
func (c *Cache) Trails() bool {
	s, w := c.fastPath, &c.sets
	if s == nil || !c.direct || len(s.mshr.entries) < trailMSHRs || c.functional.on || len(c.functional.late) > 0 ||
		c.NumHooks() != 0 || s.watch != nil {
		return false
	}
	if w.seen|w.answered|w.answers|w.asks != 0 || c.flush.state != noFlush || !s.calm() || s.waiting != 0 {
		return false
	}
	held := 0
	for _, op := range [...]*operation{s.st0, s.st1} {
		if op.kind == bubble {
			continue
		}
		if held++; op.kind != creq || op.mem.Op != mem.Read || s.tags.find(op.line) < 0 {
			return false
		}
	}
	for i := range s.req.Len() {
		if r := s.req.At(i); r.Op != mem.Read || !c.Resident(r.Addr) {
			return false
		}
	}
	return s.mshr.used == held
}

// trailMSHRs is the least number of MSHRs with which a pipeline of reads that hit never waits for one.
const trailMSHRs = 4

// Trail implements clock.Trailer: a cycle of the fast path. Reads have no MSHRs meanwhile, which nothing looks at.
func (c *Cache) Trail(now clock.Cycle) (again bool) {
	s := c.fastPath
	if s.st1.kind != bubble {
		if s.tags.policy == LRU {
			s.tags.touch(s.tags.find(s.st1.line))
		}
		if s.rsp.FullAt(now) {
			if s.waiting == 0 {
				s.wait(now, responseQueueFull)
			}
			return !s.rsp.FullAt(now + 1)
		}
		s.endWait(now)
		s.rsp.PushAt(mem.Response{Tag: s.st1.mem.Tag}, now)
		s.stats.ReadHits++
		s.st1.kind = bubble
	}
	s.st0, s.st1 = s.st1, s.st0
	if s.req.From() <= now {
		s.stats.Reads++
		s.st0.request.set(s.req.Front(), c.lineShift, 0)
		s.st0.kind = creq
		s.req.DropAt(now)
	}
	return s.busy() || s.req.Len() != 0
}

// Ahead implements clock.Trailer.
func (c *Cache) Ahead() clock.Cycle {
	switch s := c.fastPath; {
	case s.st1.kind != bubble:
		return 0
	case s.st0.kind != bubble:
		return 1
	}
	return clock.Never
}

// Through implements clock.Trailer.
func (c *Cache) Through() clock.Cycle { return 2 }

// Flows implements clock.Trailer.
func (c *Cache) Flows() bool { return c.fastPath.waiting == 0 }

// Board implements clock.Trailer.
func (c *Cache) Board(t *clock.Trailing, now clock.Cycle) {
	s := c.fastPath
	back := s.rsp.Latency()
	for s.rsp.Len() != 0 {
		t.Aboard(0, s.rsp.Front().Tag, s.rsp.From(), true)
		s.rsp.DropAt(now - 1)
	}
	for i, op := range [...]*operation{s.st1, s.st0} {
		if op.kind != bubble {
			t.Aboard(op.mem.Addr, op.mem.Tag, now+clock.Cycle(i)+back, false)
			op.kind = bubble
			s.stats.Reads--
		}
	}
	for s.req.Len() != 0 {
		r := s.req.Front()
		t.Aboard(r.Addr, r.Tag, s.req.From()+c.Through()+back, false)
		s.req.DropAt(now - 1)
	}
}

// Passed implements clock.Trailer.
func (c *Cache) Passed(addr uint32) {
	s := c.fastPath
	s.stats.Reads++
	s.stats.ReadHits++
	if s.tags.policy == LRU {
		s.tags.touch(s.tags.find(addr >> (c.lineShift & 31)))
	}
}

// Stalled implements clock.Trailer.
func (c *Cache) Stalled(since, until clock.Cycle) {
	b := c.fastPath.bank
	b.wait(since, responseQueueFull)
	b.endWait(until)
}

// PutRequest implements clock.Trailer.
func (c *Cache) PutRequest(addr, tag uint32, at clock.Cycle) {
	c.fastPath.req.PushAt(mem.Request{Addr: addr, Tag: tag, Op: mem.Read}, at)
}

// PutAnswer implements clock.Trailer.
func (c *Cache) PutAnswer(tag uint32, at clock.Cycle) {
	c.fastPath.rsp.PushAt(mem.Response{Tag: tag}, at)
}

// trail begins to trail after the cycle.
func (c *Cache) trail(now clock.Cycle) bool {
	s := c.fastPath
	if !c.trailing.Begin(now) {
		return false
	}
	for _, op := range [...]*operation{s.st0, s.st1} {
		if op.kind != bubble {
			s.mshr.release(op.id)
		}
	}
	return true
}

// TrailEnds implements clock.Trailer: the reads in the pipeline get MSHRs.
func (c *Cache) TrailEnds() {
	s := c.fastPath
	for _, op := range [...]*operation{s.st1, s.st0} {
		if op.kind != bubble {
			op.id = s.mshr.allocate(&op.request)
		}
	}
	c.sets.awake, c.resident = c.allBanks, invalid
}

// AcceptHook registers a hook at the positions of the cache, which sees every cycle from now on.
func (c *Cache) AcceptHook(h sim.Hook) {
	c.trailing.Observe()
	c.Base.AcceptHook(h)
}
