package cache

import (
	"heddle/components/clock"
	"heddle/components/mem"
)

// fastPath is the state of the fast path through a cache of one bank, one port and one memory port. Most L1s are such,
// and an L1I is asked in nearly every cycle and nearly always hits. A cycle in which reads enter, move on and hit, and
// nothing else happens, goes the short way; all others go the long way. Results are the same on both.
type fastPath struct {
	*bank
	req  *clock.Link[mem.Request]
	rsp  *clock.Link[mem.Response]
	head request // the port's first request
}

// makeFastPath gives a cache the short way if there is one.
func (c *Cache) makeFastPath() {
	if c.spec.Banks == 1 && c.spec.Ports == 1 && c.spec.MemoryPorts == 1 && !c.spec.ResponseBuffer {
		c.fastPath = &fastPath{bank: c.bank[0]}
	}
}

// fastCycle does a cycle the short way, and reports whether the next one is wanted too. If the cycle has to go the long
// way, it changes nothing, and ok is false.
func (c *Cache) fastCycle(s *fastPath) (again, ok bool) {
	if w := &c.sets; w.seen|w.answered|w.answers|w.asks != 0 || c.flush.state != noFlush || !s.calm() {
		return false, false
	}
	enters, hits := s.req.Ready(), s.st1.kind != bubble
	if enters && !s.takes(s.req.Front()) {
		return false, false
	}
	line := -1
	if hits {
		if line = s.hit(); line < 0 || s.rsp.Full() {
			return false, false
		}
	}
	c.sets.awake = c.allBanks // for the long way
	if !enters && !hits && s.st0.kind == bubble {
		return false, true
	}
	tag := s.st1.mem.Tag
	s.advance(line)
	if enters {
		s.head.set(s.req.Front(), c.lineShift, 0)
		s.acceptRequest(c.self.Now, &s.head, 0)
		c.popPort(0)
	}
	if hits {
		s.rsp.Push(mem.Response{Tag: tag})
		c.hook(HookPosResponse, 0, mem.Request{Tag: tag})
	}
	return c.sets.arrived != 0 || s.busy(), true
}

// calm reports whether the bank waits for nothing and has nothing to replay or to perform.
func (b *bank) calm() bool { return b.waiting == 0 && b.mshr.replay == none && !b.performing() }

// takes reports whether the bank, whose memory queue is empty, accepts a request that is a read.
func (b *bank) takes(r *mem.Request) bool { return r.Op == mem.Read && !b.mshr.full() }

// hit returns where the line of stage 1 is, if that is a read that hits, or else -1.
func (b *bank) hit() int {
	if op := b.st1; op.kind == creq && op.mem.Op == mem.Read {
		return b.tags.find(op.line)
	}
	return -1
}

// advance moves the stages. A read in stage 1 finds its line among the tags (-1: there is none), and its answer leaves
// at once.
func (b *bank) advance(line int) {
	if line >= 0 {
		b.tags.touch(line)
		b.stats.ReadHits++
		b.mshr.release(b.st1.id)
		b.st1.kind = bubble
	}
	b.st0, b.st1 = b.st1, b.st0
}
