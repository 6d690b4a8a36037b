package cache

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/queue"
)

// Cache is the clocked component: the banks, the crossbars around them, and the links. Arrays are indexed by the
// members of the sets.
type Cache struct {
	clock.Base
	spec  Spec
	event HookEvent

	lineShift int
	names     bankNames
	buffered  bool            // the crossbar has buffers, as there are more than 2 inputs
	direct    bool            // banks have no response queue of their own
	resend    bool            // replays of writes wait for memory
	samples   bool            // banks have inputs that depend on free link slots: direct or resend
	fastPath  *fastPath       // nil: every cycle is a full cycle
	trailing  *clock.Trailing // nil: the cache does not trail its requester
	resident  uint32          // trailing: a line that is there, which was found last; else invalid

	moved  bool // something moved in this cycle
	sets   sets
	ports  [maxPorts]port
	inputs [maxPorts]*input
	bank   [maxPorts]*bank
	memory [maxPorts]*memoryPort
	heads  [maxPorts]request // by input: its first request
	rspTo  [maxPorts]uint64  // by input: sorted banks whose first response is for it

	banks    []*bank // the first elements of bank
	allBanks uint64
	allPorts uint64   // set of all memory ports
	shared   []*input // inputs of several ports
	flush    cacheFlush
	initEnd  clock.Cycle // first cycle in which banks work
	last     clock.Cycle // the last cycle whose walk steps are done
	walkEnd  clock.Cycle // wake-up cycle of a walk that is slept through; 0: none
	acting   bool        // an atomic takes effect at the end of this cycle
	readOnly []span      // lines that nobody writes, by address

	stats Stats // counts that belong to no bank
	self  queue.Owner

	functional functional
}

// sets are the members with work in this cycle, so that a cycle costs only the members that move. Links and queues keep
// the bits of those that hold something.
type sets struct {
	queued   uint64 // ports of shared inputs whose link holds requests
	arrived  uint64 // inputs whose link, or arbiter buffer, holds requests
	seen     uint64 // inputs whose first request is in heads
	admitted uint64 // inputs whose first requests may be served: a flush holds back the others
	wanted   uint64 // banks addressed by first requests
	buffered uint64 // banks whose crossbar buffer holds requests
	readable uint64 // banks that can see a request in this cycle
	answered uint64 // memory ports whose link holds answers
	offered  uint64 // memory ports whose first answer is offered to its bank
	awake    uint64 // banks that the next step may change; the others do not change until one of their inputs does
	answers  uint64 // banks with responses
	leaving  uint64 // banks whose first response can leave in this cycle
	sorted   uint64 // banks whose first response is in rspTo
	served   uint64 // inputs for which sorted banks have responses
	asks     uint64 // banks with requests to memory
	asking   uint64 // banks whose first request to memory can leave in this cycle
	stuck    uint64 // memory ports whose link was full, with nothing taken from it since
}

type port struct {
	req *clock.Link[mem.Request]
	rsp *clock.Link[mem.Response]
	in  uint8 // the port's input
}

type memoryPort struct {
	req   *clock.Link[mem.Request]
	rsp   *clock.Link[mem.Response]
	arb   arbiter // over banks
	banks uint64  // banks that use this port
}

// front is the crossbar before a bank: an arbiter over the inputs, and a buffer if there are more than 2 inputs.
type front struct {
	want   uint64  // inputs whose first request is for the bank
	arb    arbiter // over inputs
	beside uint32  // with sector_pairs: the sector that goes first, as its neighbour has just come; or invalid
	buffer queue.Queue[request]
}

// New returns a cache on a clock. Its links must be connected before time passes.
func New(name string, s Spec, d *clock.Domain) (*Cache, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if s.Ports == 0 {
		return nil, fmt.Errorf("%s: no ports", name)
	}
	c := &Cache{
		Base: clock.NewBase(name), self: queue.Owner{Unit: name}, spec: s, lineShift: s.lineShift(),
		allBanks: ^uint64(0) >> (64 - s.Banks), allPorts: ^uint64(0) >> (64 - s.MemoryPorts),
		direct: s.ResponseQueue == 0, resident: invalid,
		initEnd: d.After() + clock.Cycle(s.InitCycles()),
	}
	c.names = c.spec.bankNames()
	c.buffered = c.makeInputs() > 2
	for i := range s.MemoryPorts {
		c.memory[i] = &memoryPort{}
	}
	for i := range s.Banks {
		c.makeBank(i)
	}
	c.makeFastPath()
	c.Join(d, c)
	return c, nil
}

// makeBank creates bank i, with its crossbar buffer if there is one.
func (c *Cache) makeBank(i int) {
	b := newBank(&c.self, &c.spec, i)
	b.readOnly = &c.readOnly
	b.rsp.Flag(&c.sets.answers, i)
	b.mreq.Flag(&c.sets.asks, i)
	if c.buffered {
		b.front.buffer = queue.New[request](c.spec.RequestQueue, &c.self, fmt.Sprintf("request buffer of bank %d", i))
		b.front.buffer.Flag(&c.sets.buffered, i)
	}
	c.resend, c.samples = b.resend, c.direct || b.resend
	c.bank[i], c.banks = b, append(c.banks, b)
	c.memory[b.memoryPort].banks |= bit(i)
}

// ConnectPort connects port i to the links of its requests and its responses.
func (c *Cache) ConnectPort(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.ports[i].req, c.ports[i].rsp = req, rsp
	if c.fastPath != nil {
		c.fastPath.req, c.fastPath.rsp = req, rsp
		c.trailing = clock.NewTrailing(c, req, rsp)
	}
	if in := int(c.ports[i].in); c.inputs[in].one {
		req.Flag(&c.sets.arrived, in)
	} else {
		req.Flag(&c.sets.queued, i)
	}
}

// ConnectMemory connects memory port i to the links of its requests and their answers.
func (c *Cache) ConnectMemory(i int, req *clock.Link[mem.Request], rsp *clock.Link[mem.Response]) {
	c.memory[i].req, c.memory[i].rsp = req, rsp
	req.FlagStuck(&c.sets.stuck, i)
	rsp.Flag(&c.sets.answered, i)
}

// PerformAtomics makes this the level that performs atomics; each operation occupies its line for interval cycles, and
// its bank for bankInterval. Other levels pass atomics on.
func (c *Cache) PerformAtomics(p mem.Performer, interval, bankInterval int) {
	for _, b := range c.banks {
		b.atomics = atomics{performer: p, interval: uint64(interval), occupies: uint64(bankInterval),
			under: make([]performing, 0, c.spec.MSHRs)}
	}
}

// Check returns an error if a link is missing.
func (c *Cache) Check() error {
	for i := range c.spec.Ports {
		if c.ports[i].req == nil || c.ports[i].rsp == nil {
			return fmt.Errorf("%s: port %d is not connected", c.Name(), i)
		}
	}
	for i := range c.spec.MemoryPorts {
		if c.memory[i].req == nil || c.memory[i].rsp == nil {
			return fmt.Errorf("%s: memory port %d is not connected", c.Name(), i)
		}
	}
	return nil
}

// Spec returns the cache's parameters.
func (c *Cache) Spec() Spec { return c.spec }

// Stats returns the counts up to the clock's last cycle. It may be called between runs, not during other units' ticks.
func (c *Cache) Stats() Stats {
	now := c.ClockHandle().Domain().Cycle()
	c.trailing.Settle()
	c.settle(now)
	var sum Stats
	for _, s := range c.counts() {
		count.In(s).Settle(now + 1)
		count.Sum(&sum, s)
	}
	return sum
}

// Counts returns the counts. It may be called during a cycle by a unit of the same clock domain: it changes nothing but
// that it runs the cycles that a trailing cache is behind. Cycles that the cache is sleeping through are missing.
func (c *Cache) Counts() (sum Stats) {
	c.trailing.Settle()
	now := c.ClockHandle().Domain().Cycle()
	for _, s := range c.counts() {
		s := *s
		count.In(&s).Settle(now + 1)
		count.Sum(&sum, &s)
	}
	return sum
}

// counts returns the counters of the cache and its banks.
func (c *Cache) counts() []*Stats {
	all := []*Stats{&c.stats}
	for _, b := range c.banks {
		all = append(all, &b.stats)
	}
	return all
}

// Pending returns the number of accepted requests that have not ended and of messages in the cache; 0: it is at rest.
func (c *Cache) Pending() (n int) {
	c.trailing.End()
	for _, in := range c.shared {
		n += in.buf.Len()
	}
	for _, b := range c.banks {
		n += b.front.buffer.Len()
		n += b.mshr.used + b.rsp.Len() + b.mreq.Len()
		if b.busy() {
			n++
		}
	}
	return n
}

// Tick runs a cycle. A cycle in which nothing moved would be repeated until a link delivers or has a slot again, so the
// cache sleeps then.
func (c *Cache) Tick(now clock.Cycle) bool {
	if c.trailing != nil && c.trailing.Has(now) {
		return false
	}
	c.self.Now = now
	if now < c.initEnd {
		return c.beforeInit(now)
	}
	if len(c.functional.late) > 0 {
		c.answerLate(now)
	}
	if c.fastPath != nil {
		if again, ok := c.fastCycle(c.fastPath); ok {
			return !c.trail(now) && again
		}
	}
	return c.fullCycle(now)
}

// fullCycle runs a cycle of all stages.
func (c *Cache) fullCycle(now clock.Cycle) bool {
	if c.flush.state != noFlush {
		c.settle(now - 1)
		c.walkEnd = 0
	}
	c.moved = false
	c.moveIn()
	outside := c.moved
	c.step()
	c.moveOut()
	if c.flush.state != noFlush || c.flush.asked != 0 {
		c.settle(now)
		c.moved = c.flush.advance(c) || c.moved
		c.stats.FlushCycles.Set(c.flush.state != noFlush, now+1)
	}
	return c.moved && c.holds() && (outside || c.flush.state != walkFlush || !c.walkAhead(now))
}

// moveIn moves requests and answers towards the banks. A request buffered by the crossbar in this cycle is visible to
// its bank in the next.
func (c *Cache) moveIn() {
	s := &c.sets
	s.readable, s.leaving, s.asking = s.buffered, s.answers, s.asks
	if s.arrived&^s.seen != 0 {
		c.look()
	}
	if a := c.flush.admits(); a != s.admitted {
		s.admitted, s.awake = a, c.allBanks
	}
	if s.answered&^s.offered != 0 {
		c.takeAnswers()
	}
	if s.queued != 0 {
		c.arbitrate()
	}
	if !c.buffered {
		s.readable = s.wanted
	} else if s.wanted != 0 {
		c.crossbar()
	}
}

// moveOut moves responses and requests away from the banks. With a register behind the banks, those of this cycle leave
// in the next.
func (c *Cache) moveOut() {
	s := &c.sets
	if !c.spec.ResponseBuffer {
		s.leaving = s.answers
	}
	if s.leaving != 0 {
		c.respond()
	}
	if c.acting {
		c.ClockHandle().Finish()
		if !c.spec.MemoryBuffer { // an atomic's write may be sent in the same cycle: see Finish
			return
		}
	}
	c.sendToMemory()
}

// sendToMemory sends the requests to memory that can leave in this cycle.
func (c *Cache) sendToMemory() {
	s := &c.sets
	if !c.spec.MemoryBuffer {
		s.asking = s.asks
	}
	if s.asking != 0 && s.stuck != c.allPorts {
		c.send()
	}
}

// Finish applies the cycle's atomics, in the order of banks.
func (c *Cache) Finish(clock.Cycle) {
	c.acting = false
	for _, b := range c.banks {
		b.finish()
	}
	if !c.spec.MemoryBuffer {
		c.sendToMemory()
	}
	c.ClockHandle().Wake()
}

// holds reports whether anything is in the cache or on its way into it, other than requests that wait for memory.
func (c *Cache) holds() bool {
	s := &c.sets
	return s.awake|s.queued|s.arrived|s.buffered|s.answered|s.answers|s.asks != 0 || c.flush.state != noFlush
}

// settle performs the walk steps that were slept through, up to cycle upTo.
func (c *Cache) settle(upTo clock.Cycle) {
	if c.walkEnd != 0 {
		c.settleWalk(int(upTo - c.last))
	}
	c.last = upTo
}

// look records the inputs' first requests and their banks.
func (c *Cache) look() {
	for m := c.sets.arrived &^ c.sets.seen; m != 0; m &= m - 1 {
		if i := first(m); c.head(i) {
			c.see(i)
		}
	}
}

// see records the first request of input i.
func (c *Cache) see(i int) {
	r := &c.heads[i]
	if r.mem.Op != mem.Read {
		c.inspect(i, r.mem.Op)
	}
	to := c.names.of(r.line)
	c.bank[to&(maxPorts-1)].front.want |= bit(i)
	c.sets.seen |= bit(i)
	c.sets.wanted |= bit(to)
	if !c.buffered {
		c.sets.awake |= bit(to)
	}
}

// inspect records a flush at the head of input i.
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

// takeAnswers offers memory's first answers to their banks.
func (c *Cache) takeAnswers() {
	for m := c.sets.answered &^ c.sets.offered; m != 0; m &= m - 1 {
		i := first(m)
		if in := c.memory[i].rsp; in.Ready() {
			to, id := c.names.asker(in.Front().Tag)
			c.bank[to&(maxPorts-1)].in.fill = id
			c.sets.offered |= bit(i)
			c.sets.awake |= bit(to)
		}
	}
}

// dropAnswer removes the answer that a bank has accepted from its port.
func (c *Cache) dropAnswer(b *bank) {
	b.in.fill = none
	c.sets.offered &^= bit(b.memoryPort)
	c.memory[b.memoryPort&(maxPorts-1)].rsp.Drop()
}

// crossbar moves requests into the banks' buffers.
func (c *Cache) crossbar() {
	for m := c.sets.wanted; m != 0; m &= m - 1 {
		i := first(m)
		f := &c.bank[i].front
		want := f.want & c.sets.admitted
		if want == 0 || f.buffer.Full() {
			continue
		}
		from := c.pick(f, want)
		f.buffer.Push(c.heads[from])
		c.sets.awake |= bit(i)
		c.moved = true
		c.took(i, from)
	}
}

// pick returns the input whose request a bank takes next: a sector's neighbour follows it, so that both can be asked
// for together, and one after it is the arbiter's choice again.
func (c *Cache) pick(f *front, want uint64) int {
	if c.spec.SectorPairs {
		return c.pickNeighbour(f, want)
	}
	return f.arb.pick(want)
}

func (c *Cache) pickNeighbour(f *front, want uint64) int {
	for m := want; m != 0 && f.beside != invalid; m &= m - 1 {
		if i := first(m); c.heads[i].line == f.beside {
			return i
		}
	}
	return f.arb.pick(want)
}

// neighbour notes that a sector has come: unless it has followed its neighbour, that goes first now.
func (f *front) neighbour(sector uint32) {
	if f.beside != sector {
		f.beside = sector ^ 1
	} else {
		f.beside = invalid
	}
}

// took books that bank i has taken the first request of an input.
func (c *Cache) took(i, from int) {
	f := &c.bank[i&(maxPorts-1)].front
	f.arb.grant(from)
	if c.spec.SectorPairs {
		f.neighbour(c.heads[from].line)
	}
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

// step runs a cycle of the banks that it may change.
func (c *Cache) step() {
	for m := c.sets.awake; m != 0; m &= m - 1 {
		c.stepBank(first(m))
	}
}

func (c *Cache) stepBank(i int) {
	b := c.bank[i&(maxPorts-1)]
	var r *request
	if c.sets.readable&bit(i) != 0 {
		r = c.offer(b)
	}
	if c.samples {
		c.sampleBackPressure(b)
	}
	done := b.step(c.self.Now, r)
	if done.has(moved) {
		c.moved = true
	}
	if done > moved {
		c.conclude(i, b, r, done)
	}
	if (done.has(moved) && b.busy() && !b.performing()) || c.staysAwake(b, r, done.has(moved)) {
		return
	}
	c.sets.awake &^= bit(i)
}

// conclude removes the items that bank i has accepted from where they came.
func (c *Cache) conclude(i int, b *bank, r *request, done actions) {
	switch {
	case done.has(tookFill):
		c.dropAnswer(b)
	case done.has(tookRequest) && c.buffered:
		b.front.buffer.Drop()
	case done.has(tookRequest):
		c.took(i, int(c.ports[r.port&(maxPorts-1)].in))
	}
	if done.has(walked) {
		c.flush.done |= bit(i)
	}
}

// staysAwake reports whether the next cycle may change a bank whose inputs stay the same.
func (c *Cache) staysAwake(b *bank, r *request, active bool) bool {
	switch {
	case b.performing():
		c.acting = c.acting || b.atomics.acts
		c.wakeForAtomic(b)
		return true
	case b.in.responseBlocked:
		return true // the link wakes the cache, not the bank
	case r == nil && b.front.buffer.Len() > 0:
		return true // it can be read from the next cycle on
	}
	return active && (!b.idle() || b.front.want != 0 || b.front.buffer.Len() > 0 || b.in.fill != none)
}

// wakeBank steps bank i in the next cycle if it waits for a cause in over, or during a flush, because one of its queues
// has a slot again.
func (c *Cache) wakeBank(i int, b *bank, over cause) {
	if b.waiting&over != 0 || b.flush.state != flushIdle {
		c.sets.awake |= bit(i)
	}
}

// sampleBackPressure sets the bank's inputs that depend on free link slots.
func (c *Cache) sampleBackPressure(b *bank) {
	if c.direct {
		b.in.responseBlocked = c.responseBlocked(b)
	}
	if c.resend {
		b.in.memoryBackPressure = c.memoryBackPressure(b)
	}
}

// responseBlocked reports whether a bank without a response queue has a response for which its port has no slot.
func (c *Cache) responseBlocked(b *bank) bool {
	op := b.st1
	return (op.kind == creq || op.kind == replayed) && c.ports[op.port&(maxPorts-1)].rsp.Full()
}

// memoryBackPressure reports whether memory can send nothing more to bank b until the bank takes a fill.
func (c *Cache) memoryBackPressure(b *bank) bool {
	return b.mshr.replay != none && c.memory[b.memoryPort].rsp.BackedUp()
}

// wakeForAtomic sets the timer for the end of bank b's first atomic.
func (c *Cache) wakeForAtomic(b *bank) {
	if at, _ := b.atomics.next(); at > c.self.Now {
		c.ClockHandle().WakeAt(at)
	}
}

// offer returns the request at a bank's input, or nil.
func (c *Cache) offer(b *bank) *request {
	if c.buffered {
		return b.front.buffer.Front()
	}
	if want := b.front.want & c.sets.admitted; want != 0 {
		return &c.heads[c.pick(&b.front, want)]
	}
	return nil
}

// respond moves the banks' responses to the inputs, one per input and cycle.
func (c *Cache) respond() {
	for m := c.sets.leaving &^ c.sets.sorted; m != 0; m &= m - 1 {
		c.sort(first(m))
	}
	for m := c.sets.served; m != 0; m &= m - 1 {
		c.respondInput(first(m))
	}
}

// sort records the input of bank i's first response.
func (c *Cache) sort(i int) {
	in := c.ports[c.bank[i].rsp.Front().port&(maxPorts-1)].in & (maxPorts - 1)
	c.rspTo[in] |= bit(i)
	c.sets.served |= bit(int(in))
	c.sets.sorted |= bit(i)
}

// respondInput sends an input's next response to its port. If that has no slot, later responses wait too.
func (c *Cache) respondInput(i int) {
	arb := &c.inputs[i&(maxPorts-1)].rsp
	from := arb.pick(c.rspTo[i&(maxPorts-1)])
	b := c.bank[from]
	if !c.sendResponse(b) {
		return
	}
	c.moved = true
	arb.grant(from)
	if c.rspTo[i&(maxPorts-1)] &^= bit(from); c.rspTo[i&(maxPorts-1)] == 0 {
		c.sets.served &^= bit(i)
	}
	c.sets.sorted &^= bit(from)
	c.wakeBank(from, b, responseQueueFull)
}

// sendResponse sends a bank's first response to its port, if that has a slot.
func (c *Cache) sendResponse(b *bank) bool {
	r := *b.rsp.Front()
	link := c.ports[r.port&(maxPorts-1)].rsp
	if link.Full() {
		return false
	}
	b.rsp.Drop()
	link.Push(r.mem)
	c.hook(HookPosResponse, int(r.port), mem.Request{Tag: r.mem.Tag})
	return true
}

// send moves the banks' requests to the memory ports, one per port and cycle.
func (c *Cache) send() {
	for asking := c.sets.asking; asking != 0; {
		i := c.bank[first(asking)].memoryPort
		p := c.memory[i&(maxPorts-1)]
		if c.sets.stuck&bit(i) == 0 && !p.req.Full() {
			c.sendPort(p, asking&p.banks)
			c.moved = true
		}
		asking &^= p.banks
	}
}

// sendPort sends the request of one of the requesting banks.
func (c *Cache) sendPort(p *memoryPort, asks uint64) {
	from := p.arb.pick(asks)
	p.arb.grant(from)
	b := c.bank[from]
	r := b.mreq.Front()
	p.req.Push(*r)
	if c.spec.SectorPairs && r.Op == mem.Read {
		_, id := c.names.asker(r.Tag)
		b.mshr.left(id)
	}
	c.hook(HookPosMemory, -1, *r)
	if b.mreq.Drop(); b.mreq.Len() < b.mreqAlmost {
		c.wakeBank(from, b, memoryQueueFull)
	}
}

func (c *Cache) bug(what string) string {
	return fmt.Sprintf("BUG: %s @%d: %s", c.Name(), c.ClockHandle().Domain().Cycle(), what)
}
