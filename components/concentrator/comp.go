package concentrator

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
)

// Concentrator is the clocked component.
type Concentrator struct {
	clock.Base
	requesters []requester
	ports      []port
	lineCycles clock.Cycle
	lineBit    uint32 // set in the tag of a request whose answer is a line; 0: a line takes one cycle
	tagBits    int    // the low bits of a tag that hold the requester's number, and the line's bit
	full       int    // ports with a request in this cycle whose way to the next level is full
	starved    int    // requesters in this cycle without a slot for an answer
	busy       int    // ports in this cycle with an answer that waits for the end of a line
	stats      Stats
}

// requester is a pair of links to a requester.
type requester struct {
	req  *clock.Link[mem.Request]
	rsp  *clock.Link[mem.Response]
	open int // requests that have left and have no answer
}

// port is a port to the next level.
type port struct {
	req *clock.Link[mem.Request]
	rsp *clock.Link[mem.Response]
	arb arbiter
	of  uint64      // requesters that use the port
	end clock.Cycle // of the last line

	messages messages
}

// New returns a concentrator for that many requesters on a clock. Its links must be connected before time passes.
func New(name string, s Spec, requesters int, d *clock.Domain) (*Concentrator, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if requesters < 1 || requesters > MaxRequesters {
		return nil, fmt.Errorf("%s: %d requesters: expected 1..%d", name, requesters, MaxRequesters)
	}
	c := &Concentrator{
		Base: clock.NewBase(name), requesters: make([]requester, requesters),
		ports:   make([]port, min(s.Ports, requesters)),
		tagBits: bits.Len(uint(requesters - 1)), lineCycles: clock.Cycle(s.LineCycles),
	}
	if s.LineCycles > 1 {
		c.lineBit = 1 << c.tagBits
		c.tagBits++
	}
	for i := range c.ports {
		c.ports[i].arb.policy = s.Arbiter
	}
	for i := range requesters {
		c.ports[i%len(c.ports)].of |= 1 << i
	}
	c.Join(d, c)
	return c, nil
}

// ConnectRequester connects requester i's links. The response link must have a slot for each request that may be
// outstanding.
func (c *Concentrator) ConnectRequester(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.requesters[i].req, c.requesters[i].rsp = req, rsp
}

// NextPorts returns the number of ports to the next level.
func (c *Concentrator) NextPorts() int { return len(c.ports) }

// ConnectPort gives port i its links to and from the next level.
func (c *Concentrator) ConnectPort(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.ports[i].req, c.ports[i].rsp = req, rsp
}

// Tick runs a cycle. A cycle in which nothing moved would be repeated until a link delivers or has a slot again, so the
// component sleeps then.
func (c *Concentrator) Tick(now clock.Cycle) bool {
	moved := false
	c.full, c.starved, c.busy = 0, 0, 0
	for i := range c.ports {
		p := &c.ports[i]
		moved = c.answer(p, now) || moved
		moved = c.request(p) || moved
	}
	c.stats.PortFull.Set(c.full, now)
	c.stats.NoEntry.Set(c.starved, now)
	c.stats.Busy.Set(c.busy, now)
	return moved
}

// answer passes the port's first answer back.
func (c *Concentrator) answer(p *port, now clock.Cycle) bool {
	answer := p.rsp.Ready()
	if now < p.end {
		if answer {
			c.busy++
		}
		if answer || len(p.messages.back) > 0 {
			c.ClockHandle().WakeAt(p.end)
		}
		return false
	}
	if len(p.messages.back) > 0 && p.messages.comeBack(answer) {
		c.stats.Messages++
		return true
	}
	if !answer {
		return false
	}
	tag := p.rsp.Pop().Tag
	if tag&c.lineBit != 0 {
		p.end = now + c.lineCycles
	}
	r := &c.requesters[tag&(1<<c.tagBits-1)&^c.lineBit]
	r.open--
	r.rsp.Push(mem.Response{Tag: tag >> c.tagBits})
	c.stats.Answers++
	return true
}

// request passes one of the port's requests on.
func (c *Concentrator) request(p *port) bool {
	ready := c.ready(p)
	if ready != 0 && p.req.Full() {
		c.full++
		ready = 0
	}
	if len(p.messages.there) > 0 {
		ready |= p.messages.ready(len(c.requesters))
	}
	if ready == 0 {
		return false
	}
	i := p.arb.pick(ready)
	p.arb.grant(i)
	c.stats.Conflicts += uint64(bits.OnesCount64(ready) - 1)
	if n := len(c.requesters); i >= n {
		p.messages.there[i-n].pass()
		c.stats.Messages++
		return true
	}
	p.req.Push(c.take(i))
	return true
}

// ready returns the port's requesters whose first request may leave.
func (c *Concentrator) ready(p *port) (ready uint64) {
	for m := p.of; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		r := &c.requesters[i]
		switch {
		case !r.req.Ready():
		case r.req.Front().Op == mem.Write || r.rsp.Room(r.open+1):
			ready |= 1 << i
		default:
			c.starved++
		}
	}
	return ready
}

// take removes requester i's first request, and adds its number to the tag.
func (c *Concentrator) take(i int) mem.Request {
	r := c.requesters[i].req.Pop()
	switch r.Op {
	case mem.Read:
		c.stats.Reads++
	case mem.Write:
		c.stats.Writes++
	case mem.Atomic:
		c.stats.Atomics++
	default:
		c.stats.Flushes++
	}
	if r.Op == mem.Write {
		return r
	}
	if bits.LeadingZeros32(r.Tag) < c.tagBits {
		panic(fmt.Sprintf("BUG: %s @%d: requester %d: tag %#x has no room for %d bits", c.Name(),
			c.ClockHandle().Domain().Cycle(), i, r.Tag, c.tagBits))
	}
	c.requesters[i].open++
	brings := uint32(0)
	if r.Op == mem.Read {
		brings = c.lineBit
	}
	r.Tag = r.Tag<<c.tagBits | brings | uint32(i)
	return r
}

// Stats returns the counts up to the clock's last cycle. It may be called between runs, not during other units' ticks.
func (c *Concentrator) Stats() Stats {
	count.In(&c.stats).Settle(c.ClockHandle().Domain().Cycle() + 1)
	return c.stats
}

// Sent returns the number of requests passed on, without flushes.
func (c *Concentrator) Sent() uint64 { return c.stats.Reads + c.stats.Writes + c.stats.Atomics }

// CheckInvariants returns an error if the counts of a concentrator at rest contradict each other.
func (c *Concentrator) CheckInvariants() error {
	s := c.Stats()
	open := 0
	for i := range c.requesters {
		open += c.requesters[i].open
	}
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{"answers = reads + atomics + flushes", s.Answers, s.Reads + s.Atomics + s.Flushes},
		{"nothing is outstanding", uint64(open), 0},
	} {
		if l.got != l.want {
			return fmt.Errorf("%s: invariant violated: %s: %d, %d", c.Name(), l.invariant, l.got, l.want)
		}
	}
	return nil
}

// Waits describes the requests without an answer, for reports of stuck machines.
func (c *Concentrator) Waits() (out []string) {
	for i := range c.requesters {
		if n := c.requesters[i].open; n > 0 {
			out = append(out, fmt.Sprintf("%s: requester %d: %d requests without an answer", c.Name(), i, n))
		}
	}
	return out
}
