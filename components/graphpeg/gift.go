package graphpeg

import "heddle/components/balance"

// Vertices are given away from the end of the output list and received at its end, by way of
// memory (§4.3): the donor writes them by line to a region of its own, the receiver reads
// them there.

// gift is a donation, as the donor writes it.
type gift struct {
	active   bool
	left     int  // vertices
	given    int  // vertices that have been written
	awaits   bool // a line that the list had spilled
	returned bool // it has come
}

// receipt is a donation, as the receiver reads it.
type receipt struct {
	active  bool
	left    int    // vertices that are not in the list yet
	address uint32 // of the first of them
	unasked int    // lines
	next    uint32 // the first of them
	coming  int    // lines under way
	come    int    // vertices that have come, and are not in the list
}

// Tickets of reads that are not refills of a list.
const (
	giftTicket = maxRefills + iota
	receiptTicket
)

// mailbox is the address of the donor's region.
func (e *Engine) mailbox() uint32 {
	return e.setup.Regions + uint32((e.shape.Core*(e.spec.VertexLists+1)+e.spec.VertexLists)*e.spec.ListRegion)
}

// donateVertices begins a gift.
func (e *Engine) donateVertices(n uint32) {
	e.giving = gift{active: true, left: int(min(n, uint32(e.spec.ListRegion/4)))}
}

// give is a cycle of a gift: a line is written, or asked back from where the list has spilled
// it. A gift ends early rather than split such a line.
func (e *Engine) give() {
	g, l := &e.giving, &e.lists[e.setup.Out]
	if !g.active || g.awaits || !e.port.free(spillSource) {
		return
	}
	e.moved = true
	n := e.collect()
	switch {
	case n > 0:
		e.wrote(n)
	case g.left >= l.line && l.spilled > 0:
		if e.port.free(refillSource) {
			e.bringBack()
		}
	default:
		e.DonatedLists++
		e.exchange.reports = append(e.exchange.reports,
			balance.Report{Event: balance.DonatedVertices, Epoch: e.exchange.epoch, Vertices: uint32(g.given), Addr: e.mailbox()})
		e.giving = gift{}
	}
}

// bringBack asks for the newest line in memory. The list may write over it before it has
// come, so what is in it goes to the mailbox at once; the write is sent when it is here.
func (e *Engine) bringBack() {
	addr := e.lists[e.setup.Out].unspill()
	for i := range int(e.line) {
		e.deposit(i, e.mem.Load32(addr+uint32(4*i)))
	}
	e.giving.awaits = true
	e.ExchangeLines++
	e.read(refillSource, addr, 0, giftTicket)
}

// deposit stores a vertex, the i-th behind those given, in the mailbox.
func (e *Engine) deposit(i int, v uint32) {
	e.mem.Store32(e.mailbox()+uint32(4*(e.giving.given+i)), v)
}

// collect returns how many vertices are there to be written: a line that has come back, or up to
// as many of the newest on chip.
func (e *Engine) collect() (n int) {
	g, l := &e.giving, &e.lists[e.setup.Out]
	if g.returned {
		g.returned = false
		return l.line
	}
	for ; n < min(l.line, g.left); n++ {
		v, ok := l.last()
		if !ok {
			break
		}
		e.deposit(n, v)
	}
	return n
}

// wrote sends the lines that n more vertices lie in.
func (e *Engine) wrote(n int) {
	g := &e.giving
	first := e.mailbox() + uint32(4*g.given)
	for line := e.lineOf(first); line <= e.lineOf(first+uint32(4*(n-1))); line++ {
		e.port.write(spillSource, line*4*e.line)
		e.SpillLines++
	}
	g.left -= n
	g.given += n
	e.VerticesGiven += uint64(n)
}

// receiveVertices begins a receipt.
func (e *Engine) receiveVertices(n, addr uint32) {
	e.taking = receipt{active: true, left: int(n), address: addr, next: addr, unasked: (int(n) + int(e.line) - 1) / int(e.line)}
}

// accrue is a cycle of a receipt: a line is asked for, and what has come is pushed, as many
// at once as a warp would.
func (e *Engine) accrue() {
	t, l := &e.taking, &e.lists[e.setup.Out]
	if !t.active {
		return
	}
	if t.unasked > 0 && t.coming < maxRefills && e.port.free(refillSource) {
		e.read(refillSource, t.next, 0, receiptTicket)
		e.ExchangeLines++
		t.next += 4 * e.line
		t.unasked--
		t.coming++
		e.moved = true
	}
	if n := min(t.come, t.left, e.shape.Threads); n > 0 && l.room(n) {
		for range n {
			l.push(e.mem.Load32(t.address))
			t.address += 4
		}
		t.come -= n
		t.left -= n
		e.VerticesTaken += uint64(n)
		e.moved = true
	}
	if t.left == 0 {
		t.active, e.moved = false, true
		e.exchange.reports = append(e.exchange.reports, balance.Report{Event: balance.InsertedVertices, Epoch: e.exchange.epoch})
	}
}

// exchanged is told that a line has come.
func (e *Engine) exchanged(ticket int) {
	if ticket == giftTicket {
		e.giving.awaits, e.giving.returned = false, true
		return
	}
	e.taking.coming--
	e.taking.come += int(e.line)
}
