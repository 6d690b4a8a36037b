package dram

import (
	"math/bits"

	"heddle/components/count"
	ring "heddle/components/queue"
)

// Request is a read or a write of one line. Line is a line number of the whole memory: the channel drops the channel
// bits itself (Mapper.Channel returns the channel to use). ID is returned in its Done.
type Request struct {
	ID    uint64
	Line  uint64
	Write bool
}

// Issue is an issued command, for Trace. Row, Column, ID are those of the request it serves; a PREA or REF has only a
// rank.
type Issue struct {
	Clock     uint64
	Command   Command
	Rank      int
	BankGroup int
	Bank      int
	Row       uint32
	Column    uint32
	ID        uint64
}

// Channel is one DRAM channel with its controller.
type Channel struct {
	// Trace, if set, sees every command as it issues.
	Trace func(Issue)

	self   ring.Owner
	spec   Spec
	mapper Mapper
	buses  busTable
	state  *bankState

	reads, writes queue
	active        queue  // ACT issued, RD or WR not, by age: these hold their rows open
	free          *entry // unused entries, linked by younger
	served        *queue // the queue being served: reads or writes
	numBuses      uint8
	choose        bool   // served may have to change, or a refresh waits
	ahead         uint64 // clock at whose end writes were chosen as no read was left; nothing arrives in it

	nextRefresh uint64 // clock of the next demand
	refreshes   int    // REFs demanded and not issued
	refreshRank int    // rank of the first of these REFs

	wake                  uint64 // no command can issue before
	done                  completions
	inFlight, maxInFlight int // accepted and not popped

	estimate *estimate // of functional accesses; nil: none yet

	idealFree uint64 // ideal only: the next completion is not before this clock

	stats   Stats
	counted count.Cycles // of Stats
}

// columnBus and rowBus carry RD and WR, and all other commands. A single bus is the column bus.
const (
	columnBus uint8 = iota
	rowBus
)

// NewChannel returns a channel at clock 0, all banks closed. It checks the spec.
func NewChannel(s Spec) (*Channel, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	constraints, err := s.Constraints()
	if err != nil {
		return nil, err
	}
	c := &Channel{
		self: ring.Owner{Unit: "dram"}, ahead: never, spec: s, mapper: NewMapper(s),
		state: newBankState(s, newTimingTable(constraints, s.commands())),
		buses: s.CommandBus.table(), nextRefresh: never, wake: never,
	}
	c.numBuses = 1 + c.buses[ACT]
	if s.Refresh {
		c.nextRefresh = uint64(s.Timing.REFI)
		c.wake = c.nextRefresh
	}
	c.makeQueues()
	c.counted = count.In(&c.stats)
	return c, nil
}

// commands returns the commands that a channel of the spec uses.
func (s *Spec) commands() CommandSet {
	used := setOf(ACT, PRE, RD, WR)
	if s.PagePolicy == ClosedPage {
		used |= setOf(RDA, WRA)
	}
	if s.Refresh {
		used |= setOf(PREA, REF)
	}
	return used
}

// makeQueues allocates the queues, with an entry for each slot, and completion rings for everything that can be in
// flight if completions are popped when due: requests queued or active, at most one per clock on its way to the last
// data beat, and as many again for answers from the queues.
func (c *Channel) makeQueues() {
	s, banks := &c.spec, len(c.state.banks)
	c.reads = newQueue(readQueue, s.ReadQueue, &c.buses)
	c.writes = newQueue(writeQueue, s.WriteQueue, &c.buses)
	c.active = newQueue(activeList, banks, &c.buses)
	c.served, c.choose = &c.reads, true
	if s.Scheduler == FCFS {
		c.reads.before, c.writes.before, c.active.before = [maxBuses]uint64{}, [maxBuses]uint64{}, [maxBuses]uint64{}
	}
	entries := make([]entry, s.ReadQueue+s.WriteQueue+banks)
	for i := range entries {
		c.release(&entries[i])
	}
	t := &s.Timing
	c.maxInFlight = 1 << bits.Len(uint(2*(len(entries)+t.CL+t.CWL+2*t.BL)))
	c.done = newCompletions(c.maxInFlight, &c.self)
}

// take allocates an entry.
func (c *Channel) take() *entry {
	e := c.free
	c.free = e.younger
	return e
}

// release frees e.
func (c *Channel) release(e *entry) {
	e.younger = c.free
	c.free = e
}

// Enqueue offers a request at clock now, after Tick(now). It returns false if the queue is full; the request must then
// be offered again at a later clock.
func (c *Channel) Enqueue(now uint64, r Request) bool {
	c.self.Now = now
	ok := c.inFlight < c.maxInFlight && c.accept(now, r)
	switch {
	case ok && r.Write:
		c.stats.Writes++
	case ok:
		c.stats.Reads++
	case r.Write:
		c.stats.WritesFull++
	default:
		c.stats.ReadsFull++
	}
	if ok {
		c.inFlight++
	}
	return ok
}

func (c *Channel) accept(now uint64, r Request) bool {
	if c.spec.Standard == Ideal {
		return c.acceptIdeal(now, r)
	}
	at := c.mapper.Map(r.Line)
	b := &c.state.banks[at.Bank]
	if c.answerFromQueue(now, r, b) {
		return true
	}
	q := &c.reads
	if r.Write {
		q = &c.writes
	}
	if q.full() {
		return false
	}
	if c.ahead == now { // a request does arrive
		c.served, c.ahead = &c.reads, never
	}
	e := c.take()
	e.request = request{id: r.ID, line: r.Line, arrival: now, row: at.Row, column: at.Column, bank: b, write: r.Write}
	q.insert(e, now)
	c.choose = true
	c.wakeBy(now + 1)
	return true
}

// answerFromQueue completes a read of a line that a queued write holds, after the reads in flight, and a write that
// such a write absorbs.
func (c *Channel) answerFromQueue(now uint64, r Request, b *bank) bool {
	if r.Write && !c.spec.MergeWrites || !c.writes.hasLine(r.Line, b) {
		return false
	}
	if r.Write {
		c.stats.Merged++
		c.done.add(&c.done.merged, Done{ID: r.ID, Clock: now + 1, Write: true})
		return true
	}
	c.stats.Forwarded++
	c.answer(r.ID, now+1)
	return true
}

// answer books the completion of a read at clock at, or after the reads in flight.
func (c *Channel) answer(id, at uint64) {
	behind := c.done.lastRead()
	if c.spec.OneReadAClock {
		behind++
	}
	c.done.add(&c.done.reads, Done{ID: id, Clock: max(at, behind)})
}

// acceptIdeal completes a request after the fixed latency, spaced by the fixed interval.
func (c *Channel) acceptIdeal(now uint64, r Request) bool {
	if c.inFlight >= c.spec.ReadQueue+c.spec.WriteQueue {
		return false
	}
	done := max(now+uint64(c.spec.IdealLatency), c.idealFree)
	c.idealFree = done + uint64(c.spec.IdealInterval)
	if r.Write {
		c.stats.WriteLatency += done - now
	} else {
		c.stats.ReadLatency += done - now
	}
	c.stats.DataBusClocks += uint64(c.spec.IdealInterval)
	c.done.add(&c.done.reads, Done{ID: r.ID, Clock: done, Write: r.Write})
	return true
}

// moved returns the number of lines that have crossed the data bus.
func (c *Channel) moved() uint64 {
	if c.spec.Standard == Ideal {
		return c.stats.Reads + c.stats.Writes - uint64(c.inFlight)
	}
	return c.stats.Columns()
}

// PopDone returns a completion that is due at clock now, the earliest first.
func (c *Channel) PopDone(now uint64) (d Done, ok bool) {
	if c.done.next > now {
		return d, false
	}
	c.inFlight--
	return c.done.pop(), true
}

// NextEvent returns the first clock after now at which Tick or PopDone may have work; without an Enqueue, all clocks
// before it may be skipped. It is the greatest uint64 if there is none.
func (c *Channel) NextEvent(now uint64) uint64 {
	return max(c.nextEvent(), now+1)
}

// nextEvent is NextEvent for a channel that has been ticked.
func (c *Channel) nextEvent() uint64 { return min(c.wake, c.done.next) }

// Tick issues the commands that clock now allows. Clocks must increase; those before NextEvent's result may be omitted.
func (c *Channel) Tick(now uint64) {
	if now < c.wake {
		return
	}
	c.self.Now = now
	if now >= c.nextRefresh {
		c.demandRefresh(now)
	}
	c.wake = c.nextRefresh
	issued, bus := false, columnBus
	if at := c.active.before[columnBus]; at > now {
		c.wakeBy(at)
	} else if c.issueActive(now) {
		issued, bus = true, rowBus
	}
	for ; bus < c.numBuses; bus++ {
		if at := c.served.before[bus&(maxBuses-1)]; at > now && !c.choose {
			c.wakeBy(at)
		} else if c.issueQueued(bus, now) {
			issued = true
		}
	}
	if issued {
		c.wake = c.following(now)
	}
}

// following returns the next clock, after one that issued commands, at which another can issue according to the queues:
// a scan to the end of a queue has recorded the clock before which no other command of it is ready.
func (c *Channel) following(now uint64) uint64 {
	switch {
	case c.refreshes > 0:
		return now + 1
	case !c.choose || !c.switches():
	case c.served == &c.reads && c.reads.n == 0:
		c.chooseQueue()
		c.ahead = now
	default:
		return now + 1
	}
	at := min(c.nextRefresh, c.active.before[columnBus])
	for bus := range c.numBuses {
		at = min(at, c.served.before[bus&(maxBuses-1)])
	}
	return max(at, now+1)
}

// wakeBy makes the channel tick at a clock, or before.
func (c *Channel) wakeBy(at uint64) {
	if at < c.wake {
		c.wake = at
	}
}

// demandRefresh demands a REF of each rank every REFI clocks.
func (c *Channel) demandRefresh(now uint64) {
	for now >= c.nextRefresh {
		c.nextRefresh += uint64(c.spec.Timing.REFI)
		c.refreshes += c.spec.Ranks
		c.choose = true
	}
}

// issueActive issues at most one RD or WR of the active list.
func (c *Channel) issueActive(now uint64) bool {
	e := c.scan(&c.active, columnBus, now)
	if e == nil {
		return false
	}
	c.unclaim(e.bank)
	c.transfer(&c.active, e, now)
	return true
}

// issueQueued issues at most one command on a bus, for a refresh or, if none waits, for a queued request.
func (c *Channel) issueQueued(bus uint8, now uint64) bool {
	if c.refreshes > 0 {
		return bus == c.buses[REF] && c.refresh(now)
	}
	if c.choose {
		c.chooseQueue()
	}
	q := c.served
	if at := q.before[bus&(maxBuses-1)]; at > now {
		c.wakeBy(at)
		return false
	}
	e := c.scan(q, bus, now)
	if e == nil {
		return false
	}
	c.serve(q, e, now)
	return true
}

// refresh issues the next command of the first demanded REF.
func (c *Channel) refresh(now uint64) bool {
	r := &c.state.ranks[c.refreshRank]
	cmd := REF
	if r.open > 0 {
		cmd = PREA
	}
	if at := c.state.rankReadyAt(cmd, r); at > now {
		c.wakeBy(at)
		return false
	}
	if cmd == PREA && r.claimed > 0 {
		return false // the active list's next command is the next event
	}
	c.issue(cmd, &request{bank: &r.banks[0]}, now)
	if cmd == REF {
		c.refreshes--
		c.refreshRank = (c.refreshRank + 1) % c.spec.Ranks
	}
	return true
}

// chooseQueue chooses the queue to serve.
func (c *Channel) chooseQueue() {
	c.choose = false
	switch {
	case !c.switches():
	case c.served == &c.reads:
		c.served = &c.writes
		if c.reads.n > 0 {
			c.stats.Drains++
		}
	default:
		c.served = &c.reads
	}
}

// switches reports whether the other queue is to be served.
func (c *Channel) switches() bool {
	if c.served == &c.reads {
		return c.writes.n >= c.spec.DrainHigh || c.reads.n == 0
	}
	return c.writes.n <= c.spec.DrainLow && c.reads.n > 0
}

// scan returns the oldest request whose next command is ready and uses the bus. If there is none, it returns nil and
// sets the channel's wake-up.
func (c *Channel) scan(q *queue, bus uint8, now uint64) *entry {
	if c.spec.Scheduler == FCFS {
		return c.first(q, bus, now)
	}
	soonest := never
	for e := q.oldest; e != nil; e = e.younger {
		if e.bus != bus {
			continue
		}
		at := e.readyBy(now)
		switch {
		case at > now:
			soonest = min(soonest, at)
			continue
		case e.next != PRE || c.mayClose(q, e):
			if e.younger == nil {
				q.before[bus&(maxBuses-1)] = soonest // of the others: e is planned again when it issues
			}
			return e
		}
		q.held = true
		if c.spec.StallOnBlockedPrecharge && e.bank.claimed {
			c.wakeBy(soonest)
			return nil
		}
	}
	q.before[bus&(maxBuses-1)] = soonest
	c.wakeBy(soonest)
	return nil
}

// first is scan for FCFS.
func (c *Channel) first(q *queue, bus uint8, now uint64) *entry {
	e := q.oldest
	if e == nil || e.bus != bus {
		return nil
	}
	if row := e.next == ACT || e.next == PRE; q != &c.active && c.active.n > 0 && (!row || e.bank.claimed) {
		return nil // the active request's command is the next event
	}
	if at := e.bank.readyAt(e.next); at > now {
		c.wakeBy(at)
		return nil
	}
	return e
}

// mayClose reports whether the scheduler lets e precharge its bank.
func (c *Channel) mayClose(q *queue, e *entry) bool {
	if e.bank.claimed {
		return false
	}
	switch c.spec.Scheduler {
	case FRFCFSRowHit:
		return !q.hitWaits(e.bank, e.arrival)
	case RowHitFirst:
		return !q.hitWaits(e.bank, never)
	}
	return true
}

// serve issues the next command of a queued request and advances the request.
func (c *Channel) serve(q *queue, e *entry, now uint64) {
	if !e.started {
		e.started = true
		c.countRow(e.next)
	}
	switch e.next {
	case PRE:
		c.issue(PRE, &e.request, now)
	case ACT:
		q.remove(e, now)
		c.choose = true
		c.issue(ACT, &e.request, now)
		c.claim(e, now)
	default:
		c.choose = true
		c.transfer(q, e, now)
	}
}

// claim moves a request to the active list.
func (c *Channel) claim(e *entry, now uint64) {
	e.bank.claimed = true
	e.bank.rank.claimed++
	c.active.insert(e, now)
}

// unclaim ends a request's claim on its bank.
func (c *Channel) unclaim(b *bank) {
	c.reads.release()
	c.writes.release()
	b.claimed = false
	b.rank.claimed--
}

// transfer issues a request's RD or WR, which is its last command.
func (c *Channel) transfer(q *queue, e *entry, now uint64) {
	q.remove(e, now)
	c.issue(c.closing(e, now), &e.request, now)
	c.finish(&e.request, now)
	c.release(e)
}

// closing returns the request's column command, in its precharging form if the page policy closes the row and no other
// request waits for it.
func (c *Channel) closing(e *entry, now uint64) Command {
	if c.spec.PagePolicy == OpenPage || e.bank.claimed || c.reads.wants(e.bank, e.row) ||
		c.writes.wants(e.bank, e.row) {
		return e.next
	}
	closing := RDA
	if e.write {
		closing = WRA
	}
	if e.bank.readyAt(closing) > now {
		return e.next
	}
	return closing
}

func (c *Channel) countRow(first Command) {
	switch first {
	case PRE:
		c.stats.RowConflicts++
	case ACT:
		c.stats.RowMisses++
	default:
		c.stats.RowHits++
	}
}

// finish books the completion of a request whose RD or WR issues now.
func (c *Channel) finish(r *request, now uint64) {
	t := &c.spec.Timing
	c.stats.DataBusClocks += uint64(t.BL)
	if r.write {
		done := now + uint64(t.CWL+t.BL)
		c.stats.WriteLatency += done - r.arrival
		c.done.add(&c.done.writes, Done{ID: r.id, Clock: done, Write: true})
		return
	}
	done := now + uint64(t.CL+t.BL)
	c.stats.ReadLatency += done - r.arrival
	c.answer(r.id, done)
}

// issue sends a command to the DRAM.
func (c *Channel) issue(cmd Command, r *request, now uint64) {
	c.state.issue(cmd, r.bank, r.row, now)
	c.stats.Commands[cmd&(numCommands-1)]++
	if cmd != RD && cmd != WR && cmd != REF {
		c.countOpen(cmd, r.bank.rank, now)
		c.rowsChanged(cmd, r.bank)
	}
	if c.Trace != nil {
		c.Trace(c.describe(cmd, r, now))
	}
}

// countOpen counts a rank whose first row a command has opened, or its last one closed.
func (c *Channel) countOpen(cmd Command, r *rank, now uint64) {
	switch {
	case cmd == ACT && r.open == 1:
		c.stats.OpenRanks.Add(1, now)
	case cmd != ACT && r.open == 0:
		c.stats.OpenRanks.Add(-1, now)
	}
}

// rowsChanged notifies the queues that a command to the bank opened or closed rows.
func (c *Channel) rowsChanged(cmd Command, b *bank) {
	if cmd != PREA {
		c.rowChanged(b)
		return
	}
	for i := range b.rank.banks {
		c.rowChanged(&b.rank.banks[i])
	}
}

func (c *Channel) rowChanged(b *bank) {
	if b.queued[readQueue] > 0 {
		c.reads.rowChanged(b)
	}
	if b.queued[writeQueue] > 0 {
		c.writes.rowChanged(b)
	}
}

func (c *Channel) describe(cmd Command, r *request, now uint64) Issue {
	bank := int(r.bank.index)
	return Issue{
		Clock: now, Command: cmd, ID: r.id, Row: r.row, Column: r.column,
		Rank:      bank / (c.spec.BankGroups * c.spec.Banks),
		BankGroup: bank / c.spec.Banks % c.spec.BankGroups,
		Bank:      bank % c.spec.Banks,
	}
}

// bankNumber returns the number of a command's bank among all banks of the channel.
func (s *Spec) bankNumber(i Issue) int { return (i.Rank*s.BankGroups+i.BankGroup)*s.Banks + i.Bank }
