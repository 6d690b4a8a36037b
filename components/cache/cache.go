package cache

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
)

// Cache is the component: the banks, the crossbars around them, and links.
type Cache struct {
	clock.Base
	spec  Spec
	event HookEvent

	banks    []*bank
	allBanks uint64
	ports    []port
	inputs   []input
	shared   []int // inputs of several ports
	arbited  int   // requests in their buffers
	memory   []memoryPort
	buffers  []queue[request] // per bank, with more than 2 inputs: the crossbar's
	buffered int              // requests in them
	reqArb   []arbiter        // per bank, over inputs
	flush    cacheFlush
	initEnd  clock.Cycle // the first cycle in which banks work

	heads  []request // per input: its first request
	want   []uint64  // per bank: inputs whose first request is for it
	fills  []fillIn  // per bank: what memory answers
	rspTo  []uint64  // per input: banks whose first response is for it
	last   clock.Cycle
	idling bool // the last cycle moved nothing, or was one of a walk that is slept through

	walkEnd clock.Cycle // when a walk that is slept through is looked at again

	stats Stats // what is not a bank's
	self  owner
}

type port struct {
	req *clock.Link[mem.Request]
	rsp *clock.Link[mem.Response]
	in  uint8 // its input
}

type memoryPort struct {
	req   *clock.Link[mem.Request]
	rsp   *clock.Link[mem.Response]
	arb   arbiter // over banks
	banks uint64  // those that use this port
}

// fillIn is an answer of memory for a bank.
type fillIn struct {
	id   int16 // its MSHR entry; none: there is no answer
	port int16
}

// New makes a cache on a clock. Its links are connected before time passes.
func New(name string, s Spec, d *clock.Domain) (*Cache, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Ports == 0 {
		return nil, fmt.Errorf("%s: no ports", name)
	}
	c := &Cache{
		Base: clock.NewBase(name), self: owner{unit: name}, spec: s,
		allBanks: ^uint64(0) >> (64 - s.Banks),
		ports:    make([]port, s.Ports), memory: make([]memoryPort, s.MemoryPorts),
		reqArb: make([]arbiter, s.Banks), want: make([]uint64, s.Banks), fills: make([]fillIn, s.Banks),
		initEnd: d.After() + clock.Cycle(s.InitCycles()),
	}
	c.makeInputs()
	for i := range s.Banks {
		c.banks = append(c.banks, newBank(&c.self, &c.spec, i))
		c.memory[i%s.MemoryPorts].banks |= 1 << i
		if len(c.inputs) > 2 {
			c.buffers = append(c.buffers, newQueue[request](s.RequestQueue, &c.self, fmt.Sprintf("request buffer of bank %d", i)))
		}
	}
	c.Join(d, c)
	return c, nil
}

// ConnectPort gives port i the link its requests come from and the one its
// responses go to.
func (c *Cache) ConnectPort(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.ports[i].req, c.ports[i].rsp = req, rsp
}

// ConnectMemory gives memory port i the link its requests go to and the one the
// answers come from.
func (c *Cache) ConnectMemory(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.memory[i].req, c.memory[i].rsp = req, rsp
}

// PerformAtomics makes this the level that performs atomics, each operation taking
// interval cycles of its line. Other levels pass them on.
func (c *Cache) PerformAtomics(p mem.Performer, interval int) {
	for _, b := range c.banks {
		b.atomics = atomics{performer: p, interval: uint64(interval), under: make([]performing, 0, c.spec.MSHRs)}
	}
}

// Check returns an error if a link is missing.
func (c *Cache) Check() error {
	for i := range c.ports {
		if c.ports[i].req == nil || c.ports[i].rsp == nil {
			return fmt.Errorf("%s: port %d is not connected", c.Name(), i)
		}
	}
	for i := range c.memory {
		if c.memory[i].req == nil || c.memory[i].rsp == nil {
			return fmt.Errorf("%s: memory port %d is not connected", c.Name(), i)
		}
	}
	return nil
}

// Spec returns what the cache was made from.
func (c *Cache) Spec() Spec { return c.spec }

// Stats returns the counts up to the clock's last cycle. It is for between runs, not
// for other units' ticks.
func (c *Cache) Stats() Stats {
	c.settle(c.Place().Domain().Cycle() + 1)
	sum := c.stats
	for _, b := range c.banks {
		sum.add(&b.stats)
	}
	return sum
}

// Pending returns the requests that were accepted and are not over, and the
// messages that wait in the cache: 0 if it is at rest.
func (c *Cache) Pending() int {
	n := c.buffered + c.arbited
	for _, b := range c.banks {
		n += b.mshr.used + b.rsp.n + b.mreq.n
		if b.st0.kind != bubble || b.st1.kind != bubble {
			n++
		}
	}
	return n
}

// Tick does a cycle. A cycle in which nothing moved would be repeated until a
// link brings something or has a place again, so the cache sleeps then.
func (c *Cache) Tick(now clock.Cycle) bool {
	c.self.now = now
	if now < c.initEnd {
		c.Place().WakeAt(c.initEnd)
		return false
	}
	c.settle(now)
	c.look(now)
	c.answers()
	around := c.arbitrate(now)
	around = c.crossbar(now) || around
	moved := c.step(now) || around
	moved = c.respond(now) || moved
	moved = c.send(now) || moved
	c.countFlush()
	moved = c.flush.advance(c) || moved
	c.last = now
	if moved && !around && c.walkAhead(now) {
		moved = false
	}
	c.idling = !moved
	return moved
}

// settle counts the cycles slept through before cycle now.
func (c *Cache) settle(now clock.Cycle) {
	if !c.idling || now <= c.last+1 {
		return
	}
	skipped := now - c.last - 1
	for _, b := range c.banks {
		b.settle(skipped)
	}
	if c.flush.state != noFlush {
		c.stats.FlushCycles += skipped
	}
	if c.walkEnd > c.last {
		c.settleWalk(int(skipped))
	}
	c.last += skipped
}

func (c *Cache) countFlush() {
	if c.flush.state != noFlush {
		c.stats.FlushCycles++
	}
}

// look takes note of the inputs' first requests, and of the banks they are for.
func (c *Cache) look(now clock.Cycle) {
	var valid uint64
	c.flush.asked = 0
	for i := range c.inputs {
		if c.head(i, now) {
			c.inspect(i)
			valid |= 1 << i
		}
	}
	clear(c.want)
	for m := c.flush.admits(valid); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		c.want[c.spec.bankOf(c.heads[i].line)] |= 1 << i
	}
}

// inspect notes a flush at the end of input i.
func (c *Cache) inspect(i int) {
	switch c.heads[i].mem.Op {
	case mem.Flush, mem.Invalidate:
		c.flush.asked |= 1 << i
	case mem.Write, mem.Atomic:
		if !c.spec.WriteEnable {
			panic(c.bug("a write to a read-only cache"))
		}
	}
}

// answers takes note of memory's first answers, and of the banks they are for.
func (c *Cache) answers() {
	for b := range c.fills {
		c.fills[b].id = none
	}
	for i := range c.memory {
		in := c.memory[i].rsp
		if !in.Ready() {
			continue
		}
		tag := in.Front().Tag
		if f := &c.fills[tag&(1<<c.spec.bankBits()-1)]; f.id == none {
			*f = fillIn{int16(tag >> c.spec.bankBits()), int16(i)}
		}
	}
}

// crossbar moves requests into the banks' buffers, where there are any.
func (c *Cache) crossbar(now clock.Cycle) (moved bool) {
	for i := range c.buffers {
		if q := &c.buffers[i]; c.want[i] != 0 && !q.full() {
			from := c.reqArb[i].pick(c.want[i])
			q.push(c.heads[from], now+1)
			c.buffered++
			c.took(i, from)
			moved = true
		}
	}
	return moved
}

// took is bank i taking the first request of an input.
func (c *Cache) took(i, from int) {
	c.reqArb[i].grant(from)
	c.stats.BankConflicts += uint64(bits.OnesCount64(c.want[i]) - 1)
	c.flush.released &^= 1 << from
	c.pop(from)
}

// step does a cycle of every bank that has something to do.
func (c *Cache) step(now clock.Cycle) (moved bool) {
	for i, b := range c.banks {
		in := inputs{c.offer(i, now), c.fills[i].id, c.held(b), c.pressed(b)}
		if in.request == nil && in.fill == none && b.idle() {
			b.waiting = nil
			continue
		}
		out := b.step(now, in)
		moved = moved || out.active
		if len(b.atomics.under) > 0 {
			c.wakeForAtomic(b, now)
		}
		if out.fill {
			c.memory[c.fills[i].port].rsp.Pop()
		}
		if out.request {
			c.accepted(i, in.request)
		}
		if out.flushEnd {
			c.flush.done |= 1 << i
		}
	}
	return moved
}

// held tells whether a bank without a response queue of its own has an answer that its
// port has no place for.
func (c *Cache) held(b *bank) bool {
	op := &b.st1
	return c.spec.ResponseQueue == 0 && (op.kind == creq || op.kind == replayed) && c.ports[op.port].rsp.Full()
}

// pressed reports whether memory can send nothing more to bank b until the bank takes a fill.
func (c *Cache) pressed(b *bank) bool {
	return b.resend && b.mshr.replay != none && c.memory[b.id%len(c.memory)].rsp.BackedUp()
}

// wakeForAtomic sets the timer for the end of bank b's first atomic.
func (c *Cache) wakeForAtomic(b *bank, now clock.Cycle) {
	if at, _ := b.atomics.next(); at > now {
		c.Place().WakeAt(at)
	}
}

// offer returns the request at bank i's input.
func (c *Cache) offer(i int, now clock.Cycle) *request {
	if len(c.buffers) > 0 {
		return c.buffers[i].front(now)
	}
	if c.want[i] == 0 {
		return nil
	}
	return &c.heads[c.reqArb[i].pick(c.want[i])]
}

func (c *Cache) accepted(i int, r *request) {
	if len(c.buffers) > 0 {
		c.buffers[i].pop()
		c.buffered--
		return
	}
	c.took(i, int(c.ports[r.port].in))
}

// respond moves the banks' responses to the inputs, one a cycle each.
func (c *Cache) respond(now clock.Cycle) (moved bool) {
	for inputs := c.sortResponses(now); inputs != 0; inputs &= inputs - 1 {
		moved = c.respondInput(now, bits.TrailingZeros64(inputs)) || moved
	}
	return moved
}

// sortResponses notes for each input the banks whose first response is for it, and
// returns the inputs that have some.
func (c *Cache) sortResponses(now clock.Cycle) (inputs uint64) {
	for i, b := range c.banks {
		r := b.rsp.front(now)
		if r == nil {
			continue
		}
		in := c.ports[r.port].in
		if inputs>>in&1 == 0 {
			inputs |= 1 << in
			c.rspTo[in] = 0
		}
		c.rspTo[in] |= 1 << i
	}
	return inputs
}

// respondInput sends an input's next response to its port. If that has no place, those behind it wait.
func (c *Cache) respondInput(now clock.Cycle, i int) bool {
	arb := &c.inputs[i].rsp
	from := arb.pick(c.rspTo[i])
	q := &c.banks[from].rsp
	r := q.front(now)
	p := &c.ports[r.port]
	if p.rsp.Full() {
		return false
	}
	arb.grant(from)
	p.rsp.Push(r.mem)
	c.hook(HookPosResponse, int(r.port), mem.Request{Tag: r.mem.Tag})
	q.pop()
	return true
}

// send moves the banks' requests to the memory ports, one a cycle each.
func (c *Cache) send(now clock.Cycle) (moved bool) {
	for i := range c.memory {
		moved = c.sendPort(now, &c.memory[i]) || moved
	}
	return moved
}

func (c *Cache) sendPort(now clock.Cycle, p *memoryPort) bool {
	var ready uint64
	for m := p.banks; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.banks[i].mreq.front(now) != nil {
			ready |= 1 << i
		}
	}
	if ready == 0 || p.req.Full() {
		return false
	}
	from := p.arb.pick(ready)
	p.arb.grant(from)
	q := &c.banks[from].mreq
	p.req.Push(*q.front(now))
	c.hook(HookPosMemory, -1, *q.front(now))
	q.pop()
	return true
}

func (c *Cache) bug(what string) string {
	return fmt.Sprintf("BUG: %s @%d: %s", c.Name(), c.Place().Domain().Cycle(), what)
}
