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
	if c.spec.Banks == 1 && c.spec.Ports == 1 && c.spec.MemoryPorts == 1 {
		c.single = &single{bank: c.bank[0], port: &c.ports[0], memory: c.memory[0]}
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
	answers, asks := s.rsp.n, s.mreq.n
	moved := c.stepSingle(s, now)
	if !c.spec.ResponseBuffer {
		answers = s.rsp.n
	}
	if answers != 0 && c.sendResponse(s.bank) {
		moved = true
	}
	if !c.spec.MemoryBuffer {
		asks = s.mreq.n
	}
	if asks != 0 && !s.memory.req.Full() {
		c.sendPort(s.memory, 1)
		moved = true
	}
	c.sets.awake = c.allBanks // for the long way
	return moved && (c.sets.arrived|c.sets.answered|c.sets.answers|c.sets.asks != 0 || !s.idle())
}

func (c *Cache) stepSingle(s *single, now clock.Cycle) bool {
	if c.sets.answered != 0 {
		c.takeAnswers()
	}
	r := c.offerSingle(s)
	if r == nil && s.in.fill == none && s.idle() {
		return false
	}
	if c.direct || c.resend {
		c.findPlaces(s.bank)
	}
	done := s.step(now, r)
	if done.has(tookRequest) {
		c.popPort(0)
	}
	if done.has(tookFill) {
		c.dropAnswer(s.bank)
	}
	if s.performing() {
		c.wakeForAtomic(s.bank)
	}
	return done.has(moved)
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
