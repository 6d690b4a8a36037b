package graphpeg

import "heddle/components/balance"

// Vertices are donated from the end of the output list and received at its end, through memory (§4.3): the donor writes
// them by line to a region of its own, and the receiver reads them there.

// vertexDonation is the donor's side of a donation.
type vertexDonation struct {
	active        bool
	pending       int  // vertices still to be donated
	written       int  // vertices written
	refillPending bool // a read of a spilled line is in flight
	refillArrived bool // the spilled line has arrived
}

// vertexIntake is the receiver's side of a donation.
type vertexIntake struct {
	active        bool
	pending       int    // vertices not yet in the list
	address       uint32 // of the first pending vertex
	linesLeft     int    // lines not requested
	next          uint32 // address of the next line
	linesInFlight int    // lines under way
	buffered      int    // vertices that have arrived and are not in the list
}

// Tickets of reads other than refills of a list.
const (
	donationTicket = maxRefills + iota
	intakeTicket
)

// donationRegion returns the address of the donor's region.
func (e *Engine) donationRegion() uint32 {
	return e.setup.Regions + uint32((e.shape.Core*(e.spec.VertexLists+1)+e.spec.VertexLists)*e.spec.ListRegion)
}

// donateVertices begins a donation of n vertices.
func (e *Engine) donateVertices(n uint32) {
	e.giving = vertexDonation{active: true, pending: int(min(n, uint32(e.spec.ListRegion/4)))}
}

// give is one cycle of a donation: it writes a line, or requests a line that the list has spilled. A donation ends
// early rather than split such a line.
func (e *Engine) give() {
	g, l := &e.giving, &e.lists[e.setup.Out]
	if !g.active || g.refillPending || !e.port.free(spillSource) {
		return
	}
	e.moved = true
	n := e.collect()
	switch {
	case n > 0:
		e.wrote(n)
	case g.pending >= l.line && l.spilled > 0:
		if e.port.free(refillSource) {
			e.bringBack()
		}
	default:
		e.DonatedLists++
		e.exchange.reports = append(e.exchange.reports,
			balance.Report{Event: balance.DonatedVertices, Epoch: e.exchange.epoch, Vertices: uint32(g.written),
				Addr: e.donationRegion()})
		e.giving = vertexDonation{}
	}
}

// bringBack requests the newest line in memory. The list may overwrite it before it arrives, so its vertices are copied
// to the donation region now; the write is sent when the line has arrived.
func (e *Engine) bringBack() {
	addr := e.lists[e.setup.Out].unspill()
	for i := range int(e.line) {
		e.deposit(i, e.mem.Load32(addr+uint32(4*i)))
	}
	e.giving.refillPending = true
	e.ExchangeLines++
	e.read(refillSource, addr, 0, donationTicket)
}

// deposit stores a vertex, the i-th after those written, in the donation region.
func (e *Engine) deposit(i int, v uint32) {
	e.mem.Store32(e.donationRegion()+uint32(4*(e.giving.written+i)), v)
}

// collect returns the number of vertices available for writing: those of a line that has arrived, or up to a line of
// the newest on chip.
func (e *Engine) collect() (n int) {
	g, l := &e.giving, &e.lists[e.setup.Out]
	if g.refillArrived {
		g.refillArrived = false
		return l.line
	}
	for ; n < min(l.line, g.pending); n++ {
		v, ok := l.last()
		if !ok {
			break
		}
		e.deposit(n, v)
	}
	return n
}

// wrote sends the lines that contain n more vertices.
func (e *Engine) wrote(n int) {
	g := &e.giving
	first := e.donationRegion() + uint32(4*g.written)
	for line := e.lineOf(first); line <= e.lineOf(first+uint32(4*(n-1))); line++ {
		e.port.write(spillSource, line*4*e.line)
		e.SpillLines++
	}
	g.pending -= n
	g.written += n
	e.VerticesGiven += uint64(n)
}

// receiveVertices begins the intake of a donation.
func (e *Engine) receiveVertices(n, addr uint32) {
	e.taking = vertexIntake{active: true, pending: int(n), address: addr, next: addr,
		linesLeft: (int(n) + int(e.line) - 1) / int(e.line)}
}

// accrue is one cycle of an intake: it requests a line, and pushes vertices that have arrived, at most as many as a
// warp would.
func (e *Engine) accrue() {
	t, l := &e.taking, &e.lists[e.setup.Out]
	if !t.active {
		return
	}
	if t.linesLeft > 0 && t.linesInFlight < maxRefills && e.port.free(refillSource) {
		e.read(refillSource, t.next, 0, intakeTicket)
		e.ExchangeLines++
		t.next += 4 * e.line
		t.linesLeft--
		t.linesInFlight++
		e.moved = true
	}
	if n := min(t.buffered, t.pending, e.shape.Threads); n > 0 && l.room(n) {
		for range n {
			l.push(e.mem.Load32(t.address))
			t.address += 4
		}
		t.buffered -= n
		t.pending -= n
		e.VerticesTaken += uint64(n)
		e.moved = true
	}
	if t.pending == 0 {
		t.active, e.moved = false, true
		e.exchange.reports = append(e.exchange.reports,
			balance.Report{Event: balance.InsertedVertices, Epoch: e.exchange.epoch})
	}
}

// exchanged handles the arrival of a line of a donation or an intake.
func (e *Engine) exchanged(ticket int) {
	if ticket == donationTicket {
		e.giving.refillPending, e.giving.refillArrived = false, true
		return
	}
	e.taking.linesInFlight--
	e.taking.buffered += int(e.line)
}
