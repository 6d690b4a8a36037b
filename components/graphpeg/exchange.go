package graphpeg

import (
	"fmt"

	"heddle/components/balance"
)

// exchange is the EF exchange unit: the registers between the table and the control processor (§3.3.2).
type exchange struct {
	epoch         uint32        // number of launches
	pending       bool          // R_BS: bw waits for a free entry
	standby       bool          // R_BC = ERS
	bw            balance.Range // R_BW0..2
	done          bool
	drainReported bool             // the last reported value of drained
	reports       []balance.Report // not sent, oldest first
	err           error
}

func (x *exchange) launch() {
	*x = exchange{epoch: x.epoch + 1, reports: x.reports[:0]}
}

// edges returns the number of edges waiting in R_BW.
func (x *exchange) edges() uint64 {
	if !x.pending {
		return 0
	}
	return uint64(x.bw.End - x.bw.Start)
}

func (x *exchange) report(ev balance.Event, edges uint32, r balance.Range) {
	x.reports = append(x.reports, balance.Report{Event: ev, Epoch: x.epoch, Edges: edges, Range: r})
}

// Report returns the oldest report that has not been sent.
func (e *Engine) Report() (balance.Report, bool) {
	if len(e.exchange.reports) == 0 {
		return balance.Report{}, false
	}
	return e.exchange.reports[0], true
}

// Reported removes that report, after it has been sent.
func (e *Engine) Reported() {
	x := &e.exchange
	x.reports = x.reports[:copy(x.reports, x.reports[1:])]
}

// Command executes an order of the control processor. Orders of earlier launches are void.
func (e *Engine) Command(c balance.Command) {
	x := &e.exchange
	if c.Epoch != x.epoch {
		e.lose(c)
		return
	}
	switch c.Order {
	case balance.Read:
		x.report(balance.Value, e.EFS(), balance.Range{})
		x.reports[len(x.reports)-1].Vertices = e.outSize()
	case balance.Donate:
		e.donate(c.Edges)
	case balance.Standby, balance.Release:
		x.standby = c.Order == balance.Standby
	case balance.Receive:
		e.receive(c.Range)
	case balance.DonateVertices:
		e.donateVertices(c.Vertices)
	case balance.ReceiveVertices:
		e.receiveVertices(c.Vertices, c.Addr)
	case balance.Done:
		x.done = true
	}
}

// lose books edges that arrive after the end of their launch.
func (e *Engine) lose(c balance.Command) {
	if c.Order == balance.Receive {
		n := uint64(c.Range.End - c.Range.Start)
		e.EdgesReceived += n
		e.EdgesAbandoned += n
	}
}

// outSize returns the length of the output list.
func (e *Engine) outSize() uint32 {
	if !e.configured {
		return 0
	}
	return uint32(e.lists[e.setup.Out].size())
}

// donate cuts edges off the largest entry. It does not touch edges that have been requested.
func (e *Engine) donate(edges uint32) {
	r, ok := e.Cut(edges)
	if !ok {
		e.DonationsRefused++
		e.exchange.report(balance.Refused, 0, balance.Range{})
		return
	}
	e.exchange.report(balance.Donated, 0, r)
}

// Cut removes up to n edges from the start of the largest entry.
func (e *Engine) Cut(n uint32) (r balance.Range, ok bool) {
	i := e.table.largest()
	if i < 0 {
		return r, false
	}
	r.Base = e.table.entries[i].base
	r.Start, r.End = e.table.cut(i, n)
	e.endFetch(i)
	e.Donations++
	e.EdgesDonated += uint64(r.End - r.Start)
	if e.table.watch != nil {
		e.table.watch("exchange", -1, "edges %d..%d of vertex %d are donated", r.Start, r.End, r.Base)
	}
	return r, true
}

// receive puts a range into R_BW. The unit reports that it is not drained before it reports the insertion, so that the
// control processor always sees the range as in flight or the unit as not drained.
func (e *Engine) receive(r balance.Range) {
	x := &e.exchange
	if x.pending || !x.standby {
		panic(fmt.Sprintf("BUG: %s @%d: a range received, pending %v, standby %v", e.self.Unit, e.self.Now, x.pending,
			x.standby))
	}
	x.bw, x.pending, x.standby = r, true, false
	if e.table.watch != nil {
		e.table.watch("exchange", -1, "edges %d..%d of vertex %d are received", r.Start, r.End, r.Base)
	}
	e.EdgesReceived += uint64(r.End - r.Start)
	e.reportDrained()
}

// insert moves R_BW into the table, if an entry is free.
func (e *Engine) insert() {
	x := &e.exchange
	if !x.pending || len(e.table.free) == 0 {
		return
	}
	e.table.fill(e.table.allocate(x.bw.Base, 0), x.bw.Start, x.bw.End)
	e.Receives++
	x.pending = false
	x.report(balance.Inserted, 0, balance.Range{})
	e.moved = true
}

// reportDrained reports every change of drained.
func (e *Engine) reportDrained() {
	x := &e.exchange
	if d := e.drained(); d != x.drainReported {
		x.drainReported = d
		ev := balance.NotDrained
		if d {
			ev = balance.Drained
		}
		x.report(ev, 0, balance.Range{})
		e.moved = true
	}
}

// Movable reports whether the table has edges to cut.
func (e *Engine) Movable() bool { return e.table.edges > 0 }

// Take cuts up to n edges off the largest entry, in cycle now.
func (e *Engine) Take(now uint64, n uint32) balance.Range {
	e.Settle(now)
	r, ok := e.Cut(n)
	if !ok {
		panic(fmt.Sprintf("BUG: %s @%d: nothing to take", e.self.Unit, now))
	}
	return r
}

// Give adds a range to the table, which grows if necessary.
func (e *Engine) Give(now uint64, r balance.Range) {
	e.Settle(now)
	e.table.insert(r)
	e.Receives++
	e.EdgesReceived += uint64(r.End - r.Start)
}
