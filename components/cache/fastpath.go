package cache

import (
	"heddle/components/clock"
	"heddle/components/mem"
)

// fastPath is the state of the fast path through a cache of one bank, one port and one memory port. Most L1s have this
// shape, and an L1I is read in nearly every cycle and nearly always hits. A cycle in which reads enter, move on and
// hit, or a hit waits for its port, and nothing else happens, takes the fast path; every other cycle is a full cycle.
// The results are the same.
type fastPath struct {
	*bank
	req *clock.Link[mem.Request]
	rsp *clock.Link[mem.Response]
}

// makeFastPath enables the fast path if the cache's shape permits it.
func (c *Cache) makeFastPath() {
	if c.spec.Banks == 1 && c.spec.Ports == 1 && c.spec.MemoryPorts == 1 && !c.spec.ResponseBuffer {
		c.fastPath = &fastPath{bank: c.bank[0]}
	}
}

// fastCycle runs a cycle on the fast path, and reports whether the next one is wanted too. If a full cycle is needed,
// it changes nothing, and ok is false.
func (c *Cache) fastCycle(s *fastPath) (again, ok bool) {
	if w := &c.sets; w.seen|w.answered|w.answers|w.asks != 0 || c.flush.state != noFlush || !s.calm() {
		return false, false
	}
	enters, hits := s.req.Ready(), s.st1.kind != bubble
	if enters && !s.takes(s.req.Front()) {
		return false, false
	}
	line, blocked := -1, false
	if hits {
		if line, blocked = s.hit(), s.rsp.Full(); line < 0 || blocked && !c.direct {
			return false, false
		}
	}
	c.sets.awake = c.allBanks // for a later full cycle
	s.endWait(c.self.Now)
	if blocked { // until the link has a slot, and wakes the cache
		s.tags.touch(line)
		s.wait(c.self.Now, responseQueueFull)
		return false, true
	}
	if !enters && !hits && s.st0.kind == bubble {
		return false, true
	}
	tag := s.st1.mem.Tag
	s.advance(line)
	if enters {
		s.stats.Reads++
		r := &s.st0.request
		r.set(s.req.Front(), c.lineShift, 0)
		s.st0.kind, s.st0.id = creq, s.mshr.allocate(r)
		c.popPort(0)
	}
	if hits {
		s.rsp.Push(mem.Response{Tag: tag})
		c.hook(HookPosResponse, 0, mem.Request{Tag: tag})
	}
	return c.sets.arrived != 0 || s.busy(), true
}

// calm reports whether the bank waits for nothing but a port, and has nothing to replay or perform.
func (b *bank) calm() bool {
	return b.waiting&^responseQueueFull == 0 && b.mshr.replay == none && !b.performing()
}

// takes reports whether the bank, whose memory queue is empty, accepts a request and it is a read.
func (b *bank) takes(r *mem.Request) bool { return r.Op == mem.Read && !b.mshr.full() }

// hit returns the tag index of stage 1's line if stage 1 is a read that hits, or -1.
func (b *bank) hit() int {
	if op := b.st1; op.kind == creq && op.mem.Op == mem.Read {
		return b.tags.find(op.line)
	}
	return -1
}

// advance moves the stages. line is the tag index of stage 1's read, whose response leaves at once; -1: stage 1 is
// empty.
func (b *bank) advance(line int) {
	if line >= 0 {
		b.tags.touch(line)
		b.stats.ReadHits++
		b.mshr.release(b.st1.id)
		b.st1.kind = bubble
	}
	b.st0, b.st1 = b.st1, b.st0
}
