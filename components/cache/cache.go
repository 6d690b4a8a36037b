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

	lineShift int

	banks    []*bank
	allBanks uint64
	ports    []port
	inputs   []input
	shared   []int // inputs of several ports
	memory   []memoryPort
	fronts   []front // per bank
	buffered bool    // the crossbar has buffers: there are more than 2 inputs
	flush    cacheFlush
	single   *single     // nil: every cycle goes the long way
	initEnd  clock.Cycle // the first cycle in which banks work

	sets  sets
	heads []request // per input: its first request
	rspTo []uint64  // per input: banks whose first response is for it

	last    clock.Cycle // the last one that is settled
	walkEnd clock.Cycle // when a walk that is slept through is looked at again

	stats Stats // what is not a bank's
	self  owner
}

// sets says where there is something to do, so that a cycle costs what moves in it. Links and queues keep
// the bits of those that hold something.
type sets struct {
	queued   uint64 // ports of shared inputs: the link holds requests
	arrived  uint64 // inputs: the link, or the arbiter's buffer, holds requests
	seen     uint64 // inputs: the first request is in heads
	admitted uint64 // inputs whose first requests may be served: a flush holds back others
	wanted   uint64 // banks that first requests are for
	buffered uint64 // banks: the crossbar's buffer holds requests
	answered uint64 // memory ports: the link holds answers
	offered  uint64 // memory ports: the first answer is offered to its bank
	awake    uint64 // banks that the next step may change; the others stand still until an input of theirs changes
	answers  uint64 // banks with responses
	asks     uint64 // banks with requests for memory
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

// front is what is offered to a bank: by the crossbar, which picks one of the inputs and may
// have a buffer, and by memory.
type front struct {
	want   uint64  // inputs whose first request is for the bank
	arb    arbiter // over inputs
	buffer queue[request]
	fill   int16 // the MSHR entry that memory's first answer names; none: there is no answer
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
		Base: clock.NewBase(name), self: owner{unit: name}, spec: s, lineShift: s.lineShift(),
		allBanks: ^uint64(0) >> (64 - s.Banks),
		ports:    make([]port, s.Ports), memory: make([]memoryPort, s.MemoryPorts),
		initEnd: d.After() + clock.Cycle(s.InitCycles()),
	}
	c.makeInputs()
	c.buffered = len(c.inputs) > 2
	for i := range s.Banks {
		c.makeBank(i)
	}
	c.makeSingle()
	c.Join(d, c)
	return c, nil
}

// makeBank makes bank i, with the crossbar's buffer before it if there is one.
func (c *Cache) makeBank(i int) {
	b := newBank(&c.self, &c.spec, i)
	b.rsp.flag(&c.sets.answers, i)
	b.mreq.flag(&c.sets.asks, i)
	f := front{fill: none}
	if c.buffered {
		f.buffer = newQueue[request](c.spec.RequestQueue, &c.self, fmt.Sprintf("request buffer of bank %d", i))
		f.buffer.flag(&c.sets.buffered, i)
	}
	c.banks, c.fronts = append(c.banks, b), append(c.fronts, f)
	c.memory[b.memoryPort].banks |= 1 << i
}

// ConnectPort gives port i the link its requests come from and the one its
// responses go to.
func (c *Cache) ConnectPort(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.ports[i].req, c.ports[i].rsp = req, rsp
	if in := int(c.ports[i].in); c.inputs[in].one {
		req.Flag(&c.sets.arrived, in)
	} else {
		req.Flag(&c.sets.queued, i)
	}
}

// ConnectMemory gives memory port i the link its requests go to and the one the
// answers come from.
func (c *Cache) ConnectMemory(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.memory[i].req, c.memory[i].rsp = req, rsp
	rsp.Flag(&c.sets.answered, i)
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
	now := c.Place().Domain().Cycle()
	c.settle(now)
	sum := c.stats
	for _, b := range c.banks {
		b.settle(now)
		sum.add(&b.stats)
	}
	return sum
}

// Pending returns the requests that were accepted and are not over, and the
// messages that wait in the cache: 0 if it is at rest.
func (c *Cache) Pending() (n int) {
	for i := range c.inputs {
		n += c.inputs[i].buf.n
	}
	for i, b := range c.banks {
		n += c.fronts[i].buffer.n
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
	if c.short() {
		return c.tickSingle(now)
	}
	c.settle(now - 1)
	c.walkEnd = 0
	c.look(now)
	c.takeAnswers()
	around := c.sets.queued != 0 && c.arbitrate(now)
	if c.buffered && c.crossbar(now) {
		around = true
	}
	moved := c.step(now) || around
	if c.sets.answers != 0 && c.respond(now) {
		moved = true
	}
	if c.sets.asks != 0 && c.send(now) {
		moved = true
	}
	c.settle(now)
	if c.flush.state != noFlush || c.flush.asked != 0 {
		moved = c.flush.advance(c) || moved
	}
	return moved && c.holds() && (around || !c.walkAhead(now))
}

// holds reports whether there is anything in the cache or on its way into it, besides requests that wait for memory.
func (c *Cache) holds() bool {
	s := &c.sets
	return s.awake|s.queued|s.arrived|s.buffered|s.answered|s.answers|s.asks != 0 || c.flush.state != noFlush
}

// settle counts the cycles up to this one, and does the steps of a walk that were slept through.
func (c *Cache) settle(upTo clock.Cycle) {
	if c.flush.state != noFlush {
		c.stats.FlushCycles += upTo - c.last
	}
	if c.walkEnd != 0 {
		c.settleWalk(int(upTo - c.last))
	}
	c.last = upTo
}

// look takes note of the inputs' first requests, and of the banks they are for.
func (c *Cache) look(now clock.Cycle) {
	for m := c.sets.arrived &^ c.sets.seen; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.head(i, now) {
			c.see(i)
		}
	}
	if a := c.flush.admits(); a != c.sets.admitted {
		c.sets.admitted, c.sets.awake = a, c.allBanks
	}
}

// see takes note of the request at the end of input i.
func (c *Cache) see(i int) {
	r := &c.heads[i]
	if r.mem.Op != mem.Read {
		c.inspect(i, r.mem.Op)
	}
	bank := c.spec.bankOf(r.line)
	c.fronts[bank].want |= bit(i)
	c.sets.seen |= bit(i)
	c.sets.wanted |= bit(bank)
	if !c.buffered {
		c.sets.awake |= bit(bank)
	}
}

// inspect notes a flush at the end of input i.
func (c *Cache) inspect(i int, op mem.Op) {
	switch op {
	case mem.Flush, mem.Invalidate:
		c.flush.asked |= bit(i)
	case mem.Write, mem.Atomic:
		if !c.spec.WriteEnable {
			panic(c.bug("a write to a read-only cache"))
		}
	}
}

// takeAnswers takes note of memory's first answers, and of the banks they are for.
func (c *Cache) takeAnswers() {
	for m := c.sets.answered &^ c.sets.offered; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if in := c.memory[i].rsp; in.Ready() {
			bank, id := c.spec.nameOf(in.Front().Tag)
			c.fronts[bank].fill = id
			c.sets.offered |= bit(i)
			c.sets.awake |= bit(bank)
		}
	}
}

// dropAnswer takes the answer that bank i has accepted from its port.
func (c *Cache) dropAnswer(i int) {
	port := c.banks[i].memoryPort
	c.memory[port].rsp.Pop()
	c.sets.offered &^= bit(port)
	c.fronts[i].fill = none
}

// crossbar moves requests into the banks' buffers.
func (c *Cache) crossbar(now clock.Cycle) (moved bool) {
	for m := c.sets.wanted; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		f := &c.fronts[i]
		want := f.want & c.sets.admitted
		if want == 0 || f.buffer.full() {
			continue
		}
		from := f.arb.pick(want)
		f.buffer.push(c.heads[from], now+1)
		c.took(i, from)
		c.sets.awake |= bit(i)
		moved = true
	}
	return moved
}

// took is bank i taking the first request of an input.
func (c *Cache) took(i, from int) {
	f := &c.fronts[i]
	f.arb.grant(from)
	if others := f.want & c.sets.admitted &^ bit(from); others != 0 {
		c.stats.BankConflicts += uint64(bits.OnesCount64(others))
	}
	if f.want &^= bit(from); f.want == 0 {
		c.sets.wanted &^= bit(i)
	}
	c.sets.seen &^= bit(from)
	c.flush.asked &^= bit(from)
	c.flush.released &^= bit(from)
	c.pop(from)
}

// step does a cycle of every bank that it may change.
func (c *Cache) step(now clock.Cycle) (moved bool) {
	for m := c.sets.awake; m != 0; m &= m - 1 {
		if c.stepBank(bits.TrailingZeros64(m), now) {
			moved = true
		}
	}
	return moved
}

func (c *Cache) stepBank(i int, now clock.Cycle) (moved bool) {
	b, f := c.banks[i], &c.fronts[i]
	in := inputs{request: c.offer(f, now), fill: f.fill}
	c.findPlaces(b, &in)
	out := b.step(now, &in)
	if out.fill {
		c.dropAnswer(i)
	}
	if out.request {
		c.accepted(i, in.request)
	}
	if out.flushEnd {
		c.flush.done |= bit(i)
	}
	if !c.staysAwake(b, f, now, &in, out.active) {
		c.sets.awake &^= bit(i)
	}
	return out.active
}

// staysAwake reports whether the next cycle may change a bank though its inputs stay the same.
func (c *Cache) staysAwake(b *bank, f *front, now clock.Cycle, in *inputs, active bool) bool {
	switch {
	case len(b.atomics.under) > 0:
		c.wakeForAtomic(b, now)
		return true
	case in.held:
		return true // the link wakes the cache and not the bank
	case in.request == nil && f.buffer.n > 0:
		return true // it can be read from the next cycle on
	}
	return active && (!b.idle() || f.want != 0 || f.buffer.n > 0 || f.fill != none)
}

// rouse has bank i stepped in the next cycle if it stands still, because one of its queues has a place again.
func (c *Cache) rouse(i int) {
	if b := c.banks[i]; b.waiting != nil || b.flush.state != flushIdle {
		c.sets.awake |= bit(i)
	}
}

// findPlaces completes a bank's inputs by what its links have places for.
func (c *Cache) findPlaces(b *bank, in *inputs) {
	if c.spec.ResponseQueue == 0 {
		in.held = c.held(b)
	}
	if b.resend {
		in.pressed = c.pressed(b)
	}
}

// held tells whether a bank without a response queue of its own has an answer that its
// port has no place for.
func (c *Cache) held(b *bank) bool {
	op := &b.st1
	return (op.kind == creq || op.kind == replayed) && c.ports[op.port].rsp.Full()
}

// pressed reports whether memory can send nothing more to bank b until the bank takes a fill.
func (c *Cache) pressed(b *bank) bool {
	return b.mshr.replay != none && c.memory[b.memoryPort].rsp.BackedUp()
}

// wakeForAtomic sets the timer for the end of bank b's first atomic.
func (c *Cache) wakeForAtomic(b *bank, now clock.Cycle) {
	if at, _ := b.atomics.next(); at > now {
		c.Place().WakeAt(at)
	}
}

// offer returns the request at a bank's input.
func (c *Cache) offer(f *front, now clock.Cycle) *request {
	if c.buffered {
		return f.buffer.front(now)
	}
	if want := f.want & c.sets.admitted; want != 0 {
		return &c.heads[f.arb.pick(want)]
	}
	return nil
}

func (c *Cache) accepted(i int, r *request) {
	if c.buffered {
		c.fronts[i].buffer.pop()
		return
	}
	c.took(i, int(c.ports[r.port].in))
}

// respond moves the banks' responses to the inputs, one a cycle each.
func (c *Cache) respond(now clock.Cycle) (moved bool) {
	for inputs := c.sortResponses(now); inputs != 0; inputs &= inputs - 1 {
		if c.respondInput(now, bits.TrailingZeros64(inputs)) {
			moved = true
		}
	}
	return moved
}

// sortResponses notes for each input the banks whose first response is for it, and
// returns the inputs that have some.
func (c *Cache) sortResponses(now clock.Cycle) (inputs uint64) {
	for m := c.sets.answers; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		r := c.banks[i].rsp.front(now)
		if r == nil {
			continue
		}
		in := int(c.ports[r.port].in)
		if inputs&bit(in) == 0 {
			inputs |= bit(in)
			c.rspTo[in] = 0
		}
		c.rspTo[in] |= bit(i)
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
	c.rouse(from)
	return true
}

// send moves the banks' requests to the memory ports, one a cycle each.
func (c *Cache) send(now clock.Cycle) (moved bool) {
	for i := range c.memory {
		if p := &c.memory[i]; p.banks&c.sets.asks != 0 && c.sendPort(now, p) {
			moved = true
		}
	}
	return moved
}

func (c *Cache) sendPort(now clock.Cycle, p *memoryPort) bool {
	var ready uint64
	for m := p.banks & c.sets.asks; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.banks[i].mreq.front(now) != nil {
			ready |= bit(i)
		}
	}
	if ready == 0 || p.req.Full() {
		return false
	}
	from := p.arb.pick(ready)
	p.arb.grant(from)
	q := &c.banks[from].mreq
	r := q.front(now)
	p.req.Push(*r)
	c.hook(HookPosMemory, -1, *r)
	q.pop()
	c.rouse(from)
	return true
}

// bit is the set of one.
func bit(i int) uint64 { return 1 << (uint(i) & 63) }

func (c *Cache) bug(what string) string {
	return fmt.Sprintf("BUG: %s @%d: %s", c.Name(), c.Place().Domain().Cycle(), what)
}
