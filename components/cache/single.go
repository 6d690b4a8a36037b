package cache

import (
	"heddle/components/clock"
	"heddle/components/mem"
)

// single is what the short way through a cache of one bank, one port and one memory port needs. Most L1s are such, and
// an L1I is asked in nearly every cycle. Nothing is chosen in it, so a cycle needs nothing of what the crossbars
// keep. A flush takes the long way; results are the same on both.
type single struct {
	*bank
	port   *port
	memory *memoryPort
	head   request // the port's first request
}

// makeSingle gives a cache the short way if there is one.
func (c *Cache) makeSingle() {
	if len(c.banks) == 1 && len(c.inputs) == 1 && c.inputs[0].one && len(c.memory) == 1 {
		c.single = &single{bank: c.banks[0], port: &c.ports[0], memory: &c.memory[0]}
	}
}

// short reports whether this cycle can go the short way: there is no flush, and no request that the long way holds.
func (c *Cache) short() bool {
	if c.single == nil || c.flush.state != noFlush || c.sets.seen != 0 {
		return false
	}
	req := c.single.port.req
	return !req.Ready() || !req.Front().Op.Flushes()
}

// tickSingle does a cycle as the long way does.
func (c *Cache) tickSingle(now clock.Cycle) bool {
	s := c.single
	moved := c.stepSingle(s, now)
	if s.rsp.n != 0 && c.respondSingle(s, now) {
		moved = true
	}
	if c.sets.asks != 0 && c.sendPort(now, s.memory) {
		moved = true
	}
	c.sets.awake = c.allBanks // for the long way
	return moved && (c.sets.arrived|c.sets.answered|c.sets.answers|c.sets.asks != 0 || !s.idle())
}

func (c *Cache) stepSingle(s *single, now clock.Cycle) (moved bool) {
	if c.sets.answered != 0 {
		c.takeAnswers()
	}
	in := inputs{request: c.offerSingle(s), fill: c.fronts[0].fill}
	if in.request == nil && in.fill == none && s.idle() {
		return false
	}
	c.findPlaces(s.bank, &in)
	out := s.step(now, &in)
	if out.request {
		c.hook(HookPosRequest, 0, s.port.req.Pop())
	}
	if out.fill {
		c.dropAnswer(0)
	}
	if len(s.atomics.under) > 0 {
		c.wakeForAtomic(s.bank, now)
	}
	return out.active
}

func (c *Cache) offerSingle(s *single) *request {
	if c.sets.arrived == 0 || !s.port.req.Ready() {
		return nil
	}
	r := s.port.req.Front()
	if r.Op != mem.Read {
		c.inspect(0, r.Op)
	}
	s.head.set(r, c.lineShift, 0)
	return &s.head
}

func (c *Cache) respondSingle(s *single, now clock.Cycle) bool {
	r := s.rsp.front(now)
	if r == nil || s.port.rsp.Full() {
		return false
	}
	s.port.rsp.Push(r.mem)
	c.hook(HookPosResponse, 0, mem.Request{Tag: r.mem.Tag})
	s.rsp.pop()
	return true
}
