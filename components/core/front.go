package core

import (
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
)

// schedule gives ready warps to fetch. A warp waits then until its instruction has
// been decoded, and after control until that is resolved.
func (c *Core) schedule(now uint64) {
	c.unscheduled = c.active&^c.stalled == 0
	for range c.spec.FetchWidth {
		if ready := c.active &^ c.stalled; ready == 0 || c.scheduled.closed(now) || !c.scheduleOne(ready, now) {
			return
		}
	}
}

func (c *Core) scheduleOne(ready, now uint64) bool {
	w := c.selector.pick(view{ready: ready, away: c.away()})
	if w < 0 {
		c.unscheduled = true
		return false
	}
	c.scheduled.push(fetchRequest{c.warps[w].fetchPC, uint8(w)}, now+1)
	c.warps[w].fetchPC += 4
	c.stalled |= 1 << w
	c.moved = true
	c.Scheduled++
	return true
}

// away are the warps that will not be ready soon.
func (c *Core) away() uint64 {
	return ^c.active | c.held | c.waiting(waitsMemory) | c.waiting(waitsUnit)
}

// waiting are the warps whose head waits for a register, by what writes it.
func (c *Core) waiting(k cause) uint64 { return c.hazard[k-waitsMemory] }

// fetch asks the instruction cache, at each port.
func (c *Core) fetch(now uint64) {
	for _, out := range c.fetchOut {
		if !c.scheduled.ready(now) {
			return
		}
		if out.Full() {
			continue
		}
		r := c.scheduled.take(now)
		c.moved = true
		c.fetching[r.warp] = r
		c.hookFront(HookPosFetch, now, r, nil)
		out.Push(mem.Request{Addr: r.pc, Tag: uint32(r.warp), Op: mem.Read})
	}
}

// decode takes an instruction from each port.
func (c *Core) decode(now uint64) {
	c.undecoded = false
	for _, in := range c.fetchIn {
		if in.Ready() {
			c.decodeFrom(in, now)
		}
	}
}

// decodeFrom puts an instruction that has arrived into its warp's buffer. A full
// buffer blocks the answers behind it, of all warps.
func (c *Core) decodeFrom(from *clock.Link[mem.Response], now uint64) {
	r := c.fetching[from.Front().Tag]
	w := &c.warps[r.warp]
	if w.ibuffer.closed(now) {
		c.undecoded = true
		return
	}
	from.Pop()
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
	c.hookFront(HookPosDecode, now, r, op)
	if c.isControl(op) {
		c.branching |= 1 << r.warp
		if op.LatencyClass() == isa.ClassUnit {
			c.asking |= 1 << r.warp
		}
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
		w.staging = w.ibuffer.take(now)
		w.board.wanted = registers(w.staging)
		c.staged |= 1 << i
		c.look(i)
		c.hook(HookPosStage, now, uint8(i), w.staging)
		if w.ibuffer.empty() {
			c.buffered &^= 1 << i
		}
	}
}
