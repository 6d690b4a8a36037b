package graphpeg

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// reply schedules the answer to a request, after a read of the edge buffer or of the edges that a pop has latched.
func (e *Engine) reply(r *emu.UnitRequest) {
	e.answers.Push(r, e.self.Now+uint64(e.spec.BufferLatency))
	e.moved = true
}

// finish sends the oldest answer when it is due.
func (e *Engine) finish() {
	if e.room && e.answers.Ready(e.self.Now) {
		e.step.Answer = e.answers.Pop()
		e.moved = true
	}
}

// stall is the cause for which the oldest pop waits.
type stall uint8

const (
	noStall stall = iota
	short         // fewer edges than lanes, and more may come
	undone        // nothing is left here; other cores may still donate
)

// serve gives the oldest pop its edges or vertices: a full warp's, or all that are left (§3.3.1).
func (e *Engine) serve() {
	e.stalled = noStall
	if e.pops.Len() == 0 || e.answers.Full() {
		return
	}
	have, exhausted := e.available(), e.exhausted()
	switch {
	case have >= e.shape.Threads, have > 0 && exhausted, exhausted && e.exchange.done:
		e.deliver(e.pops.Pop(), have)
	case have == 0 && exhausted:
		e.stalled = undone
	default:
		e.stalled = short
	}
}

// deliver answers a pop, lowest lanes first.
func (e *Engine) deliver(r *emu.UnitRequest, have int) {
	n := min(have, bits.OnesCount32(r.Mask))
	if e.setup.VertexMode {
		e.deliverVertices(r, n)
	} else {
		e.deliverEdges(r, n)
	}
	e.PopWait += e.self.Now - e.since[r.Warp]
	e.book(n, bits.OnesCount32(r.Mask))
	e.reply(r)
}

// deliverVertices gives each of the first n active lanes a vertex.
func (e *Engine) deliverVertices(r *emu.UnitRequest, n int) {
	out := r.Out[:e.shape.Threads]
	for l := range out {
		out[l] = None
	}
	for m := r.Mask; n > 0; n-- {
		out[bits.TrailingZeros32(m)&31] = e.lists[e.setup.In].take()
		m &= m - 1
	}
}

// deliverEdges gives each of the first n active lanes an edge, and latches the edges' fields.
func (e *Engine) deliverEdges(r *emu.UnitRequest, n int) {
	lanes := e.shape.Threads
	latch := e.latch[r.Warp*4*lanes:][:4*lanes]
	if n < lanes {
		for i := range latch {
			latch[i] = None
		}
	}
	src, dst, wt, idx := latch[:lanes], latch[lanes:2*lanes], latch[2*lanes:3*lanes], latch[3*lanes:]
	for m := r.Mask; n > 0; n-- {
		l, x := bits.TrailingZeros32(m), e.buffer.pop()
		src[l], dst[l], wt[l], idx[l] = x[isa.PegSrc], x[isa.PegDst], x[isa.PegWt], x[isa.PegIdx]
		m &= m - 1
	}
	copy(r.Out, latch[int(r.Fn&3)*lanes:][:lanes])
}

// book counts an answered pop.
func (e *Engine) book(n, lanes int) {
	switch n {
	case lanes:
		e.PopsFull++
	case 0:
		e.PopsEmpty++
	default:
		e.PopsPartial++
	}
	if e.setup.VertexMode {
		e.VerticesPopped += uint64(n)
		return
	}
	e.EdgesPopped += uint64(n)
}

// accept takes the request at the head of the queue, if possible. Pops move to a queue of their own, so that pushes can
// pass waiting pops.
func (e *Engine) accept() {
	r := e.head
	if r == nil {
		return
	}
	fn, list := e.dialect.read(e, r)
	err := e.legal(fn, list)
	switch {
	case err != nil:
		e.step.Err = err
	case fn < isa.PegPop:
		if e.answers.Full() {
			return
		}
		copy(r.Out, e.latch[(r.Warp*4+int(r.Fn&3))*e.shape.Threads:][:e.shape.Threads])
		e.Gets++
		e.reply(r)
	case fn <= isa.PegPopV:
		e.since[r.Warp] = e.self.Now
		e.pops.Push(r)
	case !e.push(r, list):
		return
	}
	e.step.Took, e.moved = true, true
}

// push appends the vertices of the active lanes to a list, if it has room for all of them.
func (e *Engine) push(r *emu.UnitRequest, list uint32) bool {
	l := &e.lists[list]
	n := bits.OnesCount32(r.Mask)
	if !l.room(n) {
		e.pushHeld = true
		return false
	}
	for m := r.Mask; m != 0; m &= m - 1 {
		l.push(r.A[bits.TrailingZeros32(m)])
	}
	e.Pushes++
	e.VerticesPushed += uint64(n)
	return true
}

// listOf returns rs2 of the last active lane.
func listOf(r *emu.UnitRequest) uint32 { return r.B[31-bits.LeadingZeros32(r.Mask)] }

var fieldNames = [4]string{"src", "dst", "wt", "idx"}

// legal returns an error if the set-up does not permit the request.
func (e *Engine) legal(fn uint8, list uint32) error {
	if !e.configured {
		return fmt.Errorf("the graph unit has no set-up: the host writes it before the launch, or the program carries one "+
			"at the symbol %s", SetupSymbol)
	}
	switch {
	case fn == isa.PegPush:
		return e.legalPush(list)
	case fn == isa.PegPopV && !e.setup.VertexMode:
		return fmt.Errorf("peg.popv while the unit gathers edges: the set-up's mode is not vertex-list")
	case fn != isa.PegPopV && e.setup.VertexMode:
		return fmt.Errorf("peg.pop or peg.get in vertex-list mode: the unit gathers no edges")
	case fn != isa.PegPopV && e.setup.Fields>>(fn&3)&1 == 0:
		return fmt.Errorf("field %s of an edge: the set-up's fields (0x%x) are without it", fieldNames[fn&3],
			e.setup.Fields)
	case fn >= isa.PegPop && list != e.setup.In:
		return fmt.Errorf("pop from list %d: the set-up's input list is %d", list, e.setup.In)
	}
	return nil
}

func (e *Engine) legalPush(to uint32) error {
	if to >= uint32(len(e.lists)) {
		return fmt.Errorf("peg.push to list %d: there are %d (vertex_lists)", to, len(e.lists))
	}
	if to == e.setup.In {
		return fmt.Errorf("peg.push to list %d: it is the input list of this launch", to)
	}
	return nil
}
