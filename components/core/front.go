package core

import (
	"math/bits"

	"heddle/components/mem"
)

// schedule gives the lowest ready warp to fetch. A warp waits then until its
// instruction has been decoded, and after control until that is resolved.
func (c *Core) schedule(now uint64) {
	ready := c.active &^ c.stalled
	c.unscheduled = ready == 0
	if ready == 0 || c.scheduled.full() {
		return
	}
	w := bits.TrailingZeros64(ready)
	c.scheduled.push(fetchRequest{c.warps[w].fetchPC, uint8(w)}, now+1)
	c.warps[w].fetchPC += 4
	c.stalled |= 1 << w
	c.moved = true
	c.Scheduled++
}

// fetch asks the instruction cache.
func (c *Core) fetch(now uint64) {
	if !c.scheduled.ready(now) || c.fetchOut.Full() {
		return
	}
	r := c.scheduled.pop()
	c.moved = true
	c.fetching[r.warp] = r
	c.fetchOut.Push(mem.Request{Addr: r.pc, Tag: uint32(r.warp), Op: mem.Read})
}

// decode puts an instruction that has arrived into its warp's buffer. A full
// buffer blocks the answers behind it, of all warps.
func (c *Core) decode(now uint64) {
	c.undecoded = false
	if !c.fetchIn.Ready() {
		return
	}
	r := c.fetching[c.fetchIn.Front().Tag]
	w := &c.warps[r.warp]
	if w.ibuffer.full() {
		c.undecoded = true
		return
	}
	c.fetchIn.Pop()
	c.moved = true
	op, err := w.trace.Decode(r.pc)
	if err != nil { // fetched ahead: the warp fetches no more, and may never get here
		if w.fault = err; w.pending == 0 {
			c.fail(err)
		}
		return
	}
	w.ibuffer.push(op, now+1)
	w.pending++
	c.inFlight++
	c.buffered |= 1 << r.warp
	if c.isControl(op) {
		c.branching |= 1 << r.warp
		return
	}
	c.unlocks[(now+1)%uint64(len(c.unlocks))] |= 1 << r.warp
}

// stage moves the head of each buffer to where the scoreboard looks.
func (c *Core) stage(now uint64) {
	for m := c.buffered &^ c.staged; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		w := &c.warps[i]
		if !w.ibuffer.ready(now) {
			continue
		}
		c.moved = true
		w.staging = w.ibuffer.pop()
		w.board.wanted = registers(w.staging)
		c.staged |= 1 << i
		c.look(i)
		if w.ibuffer.empty() {
			c.buffered &^= 1 << i
		}
	}
}
