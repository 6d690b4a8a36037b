package dram

import (
	"heddle/components/mem"
)

// Warm opens the rows of a cache line, as a long past access would have.
func (m *Memory) Warm(a mem.Access, at uint64) (taken, answered uint64) {
	d := m.ClockHandle().Domain()
	own, requester, now := uint64(d.Period()), uint64(m.requester), d.After()
	taken = at * requester / own
	if a.Op.Flushes() {
		return at, roundUp(warmFlush(m.channels, taken)*own, requester)
	}
	first := uint64(a.Addr/m.line) * uint64(m.bursts)
	for line := first; line < first+uint64(m.bursts); line++ {
		in, out := m.channels[m.mapper.Channel(line)].warm(line, a.Op == mem.Write, taken, now)
		taken, answered = in, max(answered, out)
	}
	return roundUp(taken*own, requester), roundUp(answered*own, requester)
}

// Touch implements mem.Warmer.
func (m *Memory) Touch(a mem.Access) {
	if a.Op.Flushes() {
		return
	}
	now := m.ClockHandle().Domain().After()
	first := uint64(a.Addr/m.line) * uint64(m.bursts)
	for line := first; line < first+uint64(m.bursts); line++ {
		m.channels[m.mapper.Channel(line)].touch(line, now)
	}
}

func roundUp(n, by uint64) uint64 { return (n + by - 1) / by }

// Warm opens the rows of a line's pieces, as a long past access would have. The first piece answers, and the queue is
// unbounded.
func (h *Harness) Warm(a mem.Access, at uint64) (taken, answered uint64) {
	if a.Op.Flushes() {
		return at, warmFlush(h.channels, at)
	}
	now := h.ClockHandle().Domain().After()
	begin := h.entrance.Take(at, harnessPieces)
	for k := range uint64(harnessPieces) {
		line := uint64(a.Addr/harnessLineBytes) + k
		_, out := h.channels[h.mapper.Channel(line)].warm(line, a.Op == mem.Write, begin+k, now)
		if k == 0 {
			answered = out
		}
	}
	return at, answered
}

// Touch implements mem.Warmer.
func (h *Harness) Touch(a mem.Access) {
	if a.Op.Flushes() {
		return
	}
	now := h.ClockHandle().Domain().After()
	for k := range uint64(harnessPieces) {
		line := uint64(a.Addr/harnessLineBytes) + k
		h.channels[h.mapper.Channel(line)].touch(line, now)
	}
}

// touch is warm without time.
func (c *Channel) touch(line, now uint64) {
	if c.spec.Standard != Ideal {
		c.open(c.mapper.Map(line), now)
	}
}

// warmFlush returns the clock at which a flush that arrives at clock at is answered: like a read, after earlier writes.
func warmFlush(channels []*Channel, at uint64) (answered uint64) {
	for _, c := range channels {
		if c.estimate != nil {
			at = max(at, c.estimate.queues[1].Last())
		}
	}
	t := &channels[0].spec.Timing
	return at + controllerDelay + uint64(t.CL+t.BL)
}

// estimate is the timing of a channel's functional accesses: the queues have their capacity, rows are opened no more
// often than bank and rank allow, and the data bus carries one burst at a time. Requests are served in order of
// arrival: it models neither the scheduler, turnarounds between reads and writes, bank groups nor refreshes. Of the
// waiting writes it remembers only the last, with which others of its line are merged.
type estimate struct {
	queues [2]mem.Entries // reads, writes
	ranks  []estimatedRank

	merges uint64         // line of the last write, which absorbs others
	until  uint64         // until this clock
	banks  []mem.Calendar // by bank: row openings
}

// estimatedRank is a rank, or all ranks of a standard whose ranks share a data bus.
type estimatedRank struct {
	bus  mem.Calendar // of data
	rows mem.Calendar // row openings
}

// controllerDelay is the number of clocks from a request's arrival to its first command.
const controllerDelay = 1

func (c *Channel) newEstimate() *estimate {
	s, t := &c.spec, &c.spec.Timing
	e := &estimate{queues: [2]mem.Entries{make(mem.Entries, s.ReadQueue), make(mem.Entries, s.WriteQueue)}}
	rank := estimatedRank{mem.NewCalendar(uint64(t.BL)), mem.NewCalendar(t.rowInterval())}
	if s.Standard == Ideal {
		rank.bus = mem.NewCalendar(uint64(s.IdealInterval))
	}
	e.ranks = append(e.ranks, rank)
	if s.Standard.pseudoChannels() {
		for range s.Ranks - 1 {
			e.ranks = append(e.ranks, rank)
		}
	}
	for range c.state.banks {
		e.banks = append(e.banks, mem.NewCalendar(uint64(t.RC)))
	}
	return e
}

// rowInterval returns the number of clocks between row openings in different banks: ACT to ACT, or a quarter of the
// window of four.
func (t *Timing) rowInterval() uint64 { return uint64(max(t.RRDS, t.FAW/4)) }

// warm performs a burst's access that arrives at clock at. It returns estimates of the clock at which a queue takes it
// and of its completion.
func (c *Channel) warm(line uint64, write bool, at, now uint64) (taken, done uint64) {
	if c.estimate == nil {
		c.estimate = c.newEstimate()
	}
	e, s := c.estimate, &c.spec
	queue := e.queues[0]
	if write {
		queue = e.queues[1]
	}
	if write && s.MergeWrites && line == e.merges && at < e.until {
		return at, at + 1
	}
	taken = max(at, queue.First())
	if s.Standard == Ideal {
		done = e.ranks[0].bus.Take(taken, uint64(s.IdealInterval)) + uint64(s.IdealLatency)
		queue.Take(done)
		return taken, done
	}
	t, latency := &s.Timing, uint64(s.Timing.CL)
	if write {
		latency = uint64(t.CWL)
	}
	to := c.mapper.Map(line)
	rank := &e.ranks[to.Bank*len(e.ranks)/len(e.banks)]
	start := c.reach(rank, to, taken+controllerDelay, now)
	data := rank.bus.Take(start+latency, uint64(t.BL))
	queue.Take(data - latency)
	if write {
		e.merges, e.until = line, data-latency
	}
	return taken, data + uint64(t.BL)
}

// reach opens a row, if it is not open, and returns the clock from which its columns can be accessed.
func (c *Channel) reach(rank *estimatedRank, to Location, at, now uint64) uint64 {
	t, open := &c.spec.Timing, c.state.banks[to.Bank].row
	if open == to.Row && c.spec.PagePolicy == OpenPage {
		return at
	}
	if open != closedRow {
		at += uint64(t.RP)
	}
	at = c.estimate.banks[to.Bank].Take(at, uint64(t.RC))
	at = rank.rows.Take(at, t.rowInterval())
	c.open(to, now)
	return at + uint64(max(t.RCD, t.RCDRD))
}

// open opens a row, unless timed execution is using its bank or refreshing its rank. With a closed-page policy rows
// stay closed.
func (c *Channel) open(at Location, now uint64) {
	b := &c.state.banks[at.Bank]
	if c.spec.PagePolicy != OpenPage || b.claimed || b.queued != [numQueues]uint16{} || c.refreshes > 0 ||
		b.rank.refreshed > now {
		return
	}
	if b.row == closedRow {
		b.rank.open++
		c.countOpen(ACT, b.rank, now)
	}
	b.row = at.Row
}
