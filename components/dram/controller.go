package dram

import "math/bits"

// Request is a read or a write of one line. Line counts the lines of the whole
// memory: the channel drops the channel's part itself (Mapper.Channel says which
// channel to ask). ID comes back in its Done.
type Request struct {
	ID    uint64
	Line  uint64
	Write bool
}

// Issue is an issued command, for Trace. Row, Column, ID are those of the
// request it serves; a PREA or REF has only a rank.
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

	spec   Spec
	mapper Mapper
	buses  busTable
	state  bankState

	reads, writes queue
	active        queue // ACT issued, RD or WR not, by age
	activeBank    []bool
	activeInRank  []int
	writeMode     bool

	nextRefresh uint64 // clock of the next demand
	refreshes   int    // demanded REFs that have not issued
	refreshRank int    // rank of the first of them

	readDone, writeDone, mergeDone ring
	inFlight, maxInFlight          int // accepted and not popped

	wake    uint64 // no command can issue before
	horizon uint64 // wake after this Tick, if nothing issues
	settled uint64 // queue lengths are in stats up to here

	idealFree uint64 // ideal only: the next completion is not before

	stats Stats
}

// NewChannel returns a channel at clock 0, all banks closed. It checks the spec.
func NewChannel(s Spec) (*Channel, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	constraints, err := s.Constraints()
	if err != nil {
		return nil, err
	}
	banks, buses := s.Ranks*s.BankGroups*s.Banks, s.CommandBus.table()
	c := &Channel{
		spec: s, mapper: NewMapper(s), state: newBankState(s, newTimingTable(constraints)),
		reads: newQueue(s.ReadQueue, banks, buses), writes: newQueue(s.WriteQueue, banks, buses),
		active:     newQueue(banks, banks, buses),
		activeBank: make([]bool, banks), activeInRank: make([]int, s.Ranks),
		buses: buses, nextRefresh: never, wake: never,
	}
	if s.Refresh {
		c.nextRefresh = uint64(s.Timing.REFI)
		c.wake = c.nextRefresh
	}
	c.makeRings(banks)
	return c, nil
}

// makeRings sizes the completion rings for all that can be in flight when the
// component pops completions as they fall due: what is queued or active, at most
// one a clock on its way to the last data beat, and as many again for answers
// from the queues.
func (c *Channel) makeRings(banks int) {
	t := c.spec.Timing
	n := c.spec.ReadQueue + c.spec.WriteQueue + banks + t.CL + t.CWL + 2*t.BL
	c.maxInFlight = 1 << bits.Len(uint(2*n))
	c.readDone, c.writeDone, c.mergeDone = newRing(c.maxInFlight), newRing(c.maxInFlight), newRing(c.maxInFlight)
}

// Enqueue offers a request at clock now, after Tick(now). False: its queue is
// full; offer it again at a later clock.
func (c *Channel) Enqueue(now uint64, r Request) bool {
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
	if c.answerFromQueue(now, r, at.Bank) {
		return true
	}
	q := &c.reads
	if r.Write {
		q = &c.writes
	}
	if q.full() {
		return false
	}
	c.settle(now)
	c.insert(q, request{
		id: r.ID, line: r.Line, arrival: now,
		row: at.Row, column: at.Column, bank: uint16(at.Bank), write: r.Write,
	})
	c.wake = min(c.wake, now+1)
	return true
}

// answerFromQueue completes a read of a line that waits to be written, behind
// the reads on their way, and a write that such a write absorbs.
func (c *Channel) answerFromQueue(now uint64, r Request, bank int) bool {
	if r.Write && !c.spec.MergeWrites || !c.writes.hasLine(r.Line, bank) {
		return false
	}
	if r.Write {
		c.stats.Merged++
		c.mergeDone.push(Done{ID: r.ID, Clock: now + 1, Write: true})
		return true
	}
	c.stats.Forwarded++
	c.readDone.push(Done{ID: r.ID, Clock: max(now+1, c.readDone.last())})
	return true
}

// acceptIdeal completes a request after the fixed latency, spaced by the fixed
// interval.
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
	c.readDone.push(Done{ID: r.ID, Clock: done, Write: r.Write})
	return true
}

// PopDone returns a completion that is due at clock now, the earliest first.
func (c *Channel) PopDone(now uint64) (Done, bool) {
	r := &c.mergeDone
	if c.readDone.next() < r.next() {
		r = &c.readDone
	}
	if c.writeDone.next() < r.next() {
		r = &c.writeDone
	}
	if r.next() > now {
		return Done{}, false
	}
	c.inFlight--
	return r.pop(), true
}

// NextEvent returns the first clock after now at which Tick or PopDone may have
// something to do; without an Enqueue, all clocks before it may be skipped. It is
// the greatest uint64 if there is none.
func (c *Channel) NextEvent(now uint64) uint64 {
	at := min(c.wake, c.readDone.next(), c.writeDone.next(), c.mergeDone.next())
	return max(at, now+1)
}

// Tick issues what clock now allows. Clocks must rise, and none before
// NextEvent's answer need be given.
func (c *Channel) Tick(now uint64) {
	if now < c.wake {
		return
	}
	c.demandRefresh(now)
	c.horizon = c.nextRefresh
	issued := c.issueOn(0, now)
	if c.spec.CommandBus == SplitBus {
		issued = c.issueOn(1, now) || issued
	}
	if issued {
		c.horizon = now + 1
	}
	c.wake = c.horizon
}

// demandRefresh asks for a REF of each rank every REFI clocks.
func (c *Channel) demandRefresh(now uint64) {
	for now >= c.nextRefresh {
		c.nextRefresh += uint64(c.spec.Timing.REFI)
		c.refreshes += c.spec.Ranks
	}
}

// issueOn issues at most one command on a bus.
func (c *Channel) issueOn(bus uint8, now uint64) bool {
	if i := c.pick(&c.active, bus, now); i >= 0 {
		c.serve(&c.active, i, now)
		return true
	}
	if c.refreshes > 0 {
		return bus == c.buses[REF] && c.refresh(now)
	}
	c.switchMode()
	q := &c.reads
	if c.writeMode {
		q = &c.writes
	}
	if i := c.pick(q, bus, now); i >= 0 {
		c.serve(q, i, now)
		return true
	}
	return false
}

// refresh issues the next command of the first demanded REF.
func (c *Channel) refresh(now uint64) bool {
	rank := c.refreshRank
	cmd := REF
	if c.state.openBanks[rank] > 0 {
		cmd = PREA
	}
	at := c.state.rankReadyAt(cmd, rank)
	if at > now {
		c.horizon = min(c.horizon, at)
		return false
	}
	if cmd == PREA && c.activeInRank[rank] > 0 {
		return false // the active list's next command is the next event
	}
	c.issue(cmd, &request{bank: uint16(rank << c.state.rankShift)}, now)
	if cmd == REF {
		c.refreshes--
		c.refreshRank = (rank + 1) % c.spec.Ranks
	}
	return true
}

// switchMode chooses the queue to serve.
func (c *Channel) switchMode() {
	queued, readsWait := c.writes.len(), c.reads.len() > 0
	switch {
	case !c.writeMode && (queued >= c.spec.DrainHigh || !readsWait):
		c.writeMode = true
		if readsWait {
			c.stats.Drains++
		}
	case c.writeMode && queued <= c.spec.DrainLow && readsWait:
		c.writeMode = false
	}
}

// next returns the command that brings the request forward.
func (c *Channel) next(r *request) Command {
	switch open := c.state.openRow[r.bank]; {
	case open == closedRow:
		return ACT
	case open != r.row:
		return PRE
	case r.write:
		return WR
	}
	return RD
}

// insert queues a request with its next command.
func (c *Channel) insert(q *queue, r request) {
	next := c.next(&r)
	q.insert(r, next, c.state.readyAt(next, int(r.bank)))
}

// reconsider renews the next commands of the requests to a bank whose row
// changed.
func (c *Channel) reconsider(q *queue, bank int) {
	if q.inBank[bank] == 0 {
		return
	}
	for i, b := range q.bank {
		if int(b) == bank {
			q.next[i] = c.next(&q.requests[i])
			q.notBefore[i] = c.state.readyAt(q.next[i], bank)
			q.lower(q.next[i], q.notBefore[i])
		}
	}
}

// pick returns the oldest request whose next command is ready and of the bus, or
// -1, and then the horizon includes when that may change.
func (c *Channel) pick(q *queue, bus uint8, now uint64) int {
	if c.spec.Scheduler == FCFS {
		return c.first(q, bus, now)
	}
	if q.before[bus] > now {
		c.horizon = min(c.horizon, q.before[bus])
		return -1
	}
	return c.scan(q, bus, now)
}

// first is pick of FCFS.
func (c *Channel) first(q *queue, bus uint8, now uint64) int {
	if q.len() == 0 || q.buses[q.next[0]] != bus {
		return -1
	}
	cmd, bank := q.next[0], int(q.bank[0])
	if row := cmd == ACT || cmd == PRE; q != &c.active && c.active.len() > 0 && (!row || c.activeBank[bank]) {
		return -1 // the active request's command is the next event
	}
	if at := c.state.readyAt(cmd, bank); at > now {
		c.horizon = min(c.horizon, at)
		return -1
	}
	return 0
}

// scan is pick by looking at the requests.
func (c *Channel) scan(q *queue, bus uint8, now uint64) int {
	soonest, stalled := never, false
	for i, at := range q.notBefore {
		cmd := q.next[i]
		if q.buses[cmd] != bus {
			continue
		}
		if at <= now {
			at = c.state.readyAt(cmd, int(q.bank[i]))
			q.notBefore[i] = at
		}
		if at > now {
			soonest = min(soonest, at)
			continue
		}
		if cmd != PRE || c.mayClose(q, &q.requests[i]) {
			return i
		}
		q.held = true
		if stalled = c.spec.StallOnBlockedPrecharge && c.activeBank[q.bank[i]]; stalled {
			break
		}
	}
	if !stalled {
		q.before[bus] = soonest
	}
	c.horizon = min(c.horizon, soonest)
	return -1
}

// mayClose says whether the scheduler lets r precharge its bank.
func (c *Channel) mayClose(q *queue, r *request) bool {
	if c.activeBank[r.bank] {
		return false
	}
	switch c.spec.Scheduler {
	case FRFCFSRowHit:
		return !c.hitWaits(q, r, r.arrival)
	case RowHitFirst:
		return !c.hitWaits(q, r, never)
	}
	return true
}

// hitWaits says whether a request that arrived no later than latest waits for the row
// that r closes.
func (c *Channel) hitWaits(q *queue, r *request, latest uint64) bool {
	for i := range q.requests {
		o := &q.requests[i]
		if o.arrival > latest {
			return false
		}
		if o.bank == r.bank && o.row == c.state.openRow[r.bank] {
			return true
		}
	}
	return false
}

// serve issues the next command of q.requests[i] and moves the request on.
func (c *Channel) serve(q *queue, i int, now uint64) {
	c.settle(now)
	r := q.requests[i]
	cmd := c.next(&r)
	if !r.started {
		q.requests[i].started = true
		c.countRow(cmd)
	}
	switch cmd {
	case PRE:
		c.issue(PRE, &r, now)
	case ACT:
		q.remove(i)
		c.issue(ACT, &r, now)
		c.activate(r)
	default:
		q.remove(i)
		if q == &c.active {
			c.deactivate(r)
		}
		c.issue(c.closing(cmd, &r, now), &r, now)
		c.finish(&r, now)
	}
}

// activate moves a request to the active list, which holds its row open.
func (c *Channel) activate(r request) {
	r.started = true
	c.insert(&c.active, r)
	c.activeBank[r.bank] = true
	c.activeInRank[r.bank>>c.state.rankShift]++
}

// deactivate ends a request's claim on its bank.
func (c *Channel) deactivate(r request) {
	c.reads.release()
	c.writes.release()
	c.activeBank[r.bank] = false
	c.activeInRank[r.bank>>c.state.rankShift]--
}

// closing turns a column command into its precharging form when the page policy
// closes the row: nobody else waits for it.
func (c *Channel) closing(cmd Command, r *request, now uint64) Command {
	if c.spec.PagePolicy == OpenPage || c.activeBank[r.bank] || c.wanted(&c.reads, r) || c.wanted(&c.writes, r) {
		return cmd
	}
	closing := RDA
	if cmd == WR {
		closing = WRA
	}
	if c.state.readyAt(closing, int(r.bank)) > now {
		return cmd
	}
	return closing
}

func (c *Channel) wanted(q *queue, r *request) bool {
	for i := range q.requests {
		if o := &q.requests[i]; o.bank == r.bank && o.row == r.row {
			return true
		}
	}
	return false
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
		c.writeDone.push(Done{ID: r.id, Clock: done, Write: true})
		return
	}
	done := now + uint64(t.CL+t.BL)
	c.stats.ReadLatency += done - r.arrival
	c.readDone.push(Done{ID: r.id, Clock: done})
}

// issue sends a command to the DRAM.
func (c *Channel) issue(cmd Command, r *request, now uint64) {
	c.state.issue(cmd, int(r.bank), r.row, now)
	c.stats.Commands[cmd]++
	c.rowsChanged(cmd, int(r.bank))
	if c.Trace != nil {
		c.Trace(c.describe(cmd, r, now))
	}
}

// rowsChanged tells the queues that cmd opened or closed rows.
func (c *Channel) rowsChanged(cmd Command, bank int) {
	last := bank
	switch cmd {
	case RD, WR, REF:
		return
	case PREA:
		last = bank + 1<<c.state.rankShift - 1
	}
	for b := bank; b <= last; b++ {
		c.reconsider(&c.reads, b)
		c.reconsider(&c.writes, b)
	}
}

func (c *Channel) describe(cmd Command, r *request, now uint64) Issue {
	bank := int(r.bank)
	return Issue{
		Clock: now, Command: cmd, ID: r.id, Row: r.row, Column: r.column,
		Rank:      bank >> c.state.rankShift,
		BankGroup: bank >> c.state.groupShift & (c.spec.BankGroups - 1),
		Bank:      bank & (c.spec.Banks - 1),
	}
}
