package eghw

import (
	"fmt"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// reply schedules the answer to a request, after a scratchpad read of that many cycles.
func (e *Engine) reply(r *emu.UnitRequest, cycles uint64) {
	e.answers.Push(r, e.self.Now+cycles+uint64(e.spec.BufferLatency))
	e.moved = true
}

// finish sends the oldest answer when it is due.
func (e *Engine) finish() {
	if !e.room || !e.answers.Ready(e.self.Now) {
		return
	}
	e.step.Answer = e.answers.Pop()
	e.moved = true
}

// serve gives the oldest pop its edges: one for each active lane, or all that are left.
func (e *Engine) serve() {
	if e.pops.Len() == 0 || e.answers.Full() {
		return
	}
	r := *e.pops.Front()
	want := bits.OnesCount32(r.Mask)
	have := min(want, e.buffer.Len())
	switch {
	case have < want && !e.exhausted():
		return
	case have == 0:
		e.deliver(0)
		e.reply(r, 0)
	case e.scratchpad(have * e.spec.ReadWords):
		e.deliver(have)
		e.reply(r, e.portFree-e.self.Now-1)
	}
}

// deliver answers the oldest pop with that many edges, lowest lanes first.
func (e *Engine) deliver(have int) {
	r := e.pops.Pop()
	mine := e.latch[r.Warp*e.shape.Threads:][:e.shape.Threads]
	for l := range mine {
		mine[l] = edge{None, None, None}
	}
	m := r.Mask
	for range have {
		mine[bits.TrailingZeros32(m)] = e.buffer.Pop()
		m &= m - 1
	}
	for l := range mine {
		r.Out[l] = mine[l][0]
	}
	if e.buffer.Len() == 0 && e.exhausted() {
		e.pushed = 0
	}
	e.WordsRead += uint64(have * e.spec.ReadWords)
	e.PopWait += e.self.Now - e.since[r.Warp]
	e.book(have, bits.OnesCount32(r.Mask))
}

// book counts a served pop.
func (e *Engine) book(n, lanes int) {
	e.EdgesPopped += uint64(n)
	switch n {
	case lanes:
		e.PopsFull++
	case 0:
		e.PopsEmpty++
	default:
		e.PopsPartial++
	}
}

// accept takes the request at the head of the queue, if possible. Pops move to a queue of their own, so that other
// warps' requests can pass waiting pops.
func (e *Engine) accept() {
	r := e.head
	if r == nil {
		return
	}
	if !e.configured {
		e.step.Err = fmt.Errorf("the eghw unit has no set-up: the host writes it before the launch, or the program carries "+
			"one at the symbol %s", SetupSymbol)
		e.took()
		return
	}
	switch r.Fn {
	case isa.EghwPush:
		e.push(r)
	case isa.EghwPop:
		e.since[r.Warp] = e.self.Now
		e.pops.Push(r)
		e.took()
	case isa.EghwGetOther, isa.EghwGetWt:
		e.get(r)
	default:
		panic(fmt.Sprintf("BUG: eghw: function %d", r.Fn))
	}
}

func (e *Engine) took() { e.step.Took, e.moved = true, true }

// push appends the vertices of the active lanes to their buffer.
func (e *Engine) push(r *emu.UnitRequest) {
	if e.step.Err = e.legal(r); e.step.Err != nil {
		e.took()
		return
	}
	n := bits.OnesCount32(r.Mask)
	if !e.scratchpad(n) {
		return
	}
	for m := r.Mask; m != 0; m &= m - 1 {
		e.vertices.Push(r.A[bits.TrailingZeros32(m)])
	}
	e.pushed += n
	e.Pushes++
	e.VerticesPushed += uint64(n)
	e.WordsWritten += uint64(n)
	e.took()
}

// legal returns an error if a push is not permitted.
func (e *Engine) legal(r *emu.UnitRequest) error {
	for m := r.Mask; m != 0; m &= m - 1 {
		if v := r.A[bits.TrailingZeros32(m)]; v >= e.setup.Vertices {
			return fmt.Errorf("eghw.push of vertex %d: the set-up says there are %d", int32(v), e.setup.Vertices)
		}
	}
	if n := bits.OnesCount32(r.Mask); e.pushed+n > e.vertices.Capacity() {
		return fmt.Errorf(
			"eghw.push of %d vertices, after %d whose edges have not all been taken: there is a slot for each of the core's "+
				"%d threads",
			n, e.pushed, e.vertices.Capacity())
	}
	return nil
}

// get answers with a field of the edges that the warp's last pop has latched.
func (e *Engine) get(r *emu.UnitRequest) {
	if e.answers.Full() {
		return
	}
	for l := range r.Out {
		r.Out[l] = e.latch[r.Warp*e.shape.Threads+l][r.Fn-isa.EghwPop]
	}
	e.Gets++
	e.reply(r, 0)
	e.took()
}

// state is the cause that a cycle is booked under: the one for which the oldest pop waits.
type state uint8

const (
	idle    state = iota // no pop waits
	offsets              // the offsets of a vertex
	edges                // a line of edges or weights
	writing              // edges being written to the buffer
	reading              // the scratchpad's port, or an earlier answer
	numStates
)

// waitsFor returns the unit's state.
func (e *Engine) waitsFor() state {
	switch {
	case e.pops.Len() == 0:
		return idle
	case e.buffer.Len() >= bits.OnesCount32((*e.pops.Front()).Mask), e.exhausted():
		return reading
	case e.chunks.Len() > 0 && e.chunks.Front().awaited == 0:
		return writing
	case e.chunks.Len() > 0:
		return edges
	}
	return offsets
}
