package core

import (
	"math/bits"

	"heddle/isa"
)

// scoreboard watches the registers of one warp: what the head of its instruction
// buffer wants, and what is still to be written, by what writes it.
type scoreboard struct {
	wanted uint64             // registers the head reads or writes, a bit each
	busy   [numHazards]uint64 // registers with a write outstanding
	all    uint64             // all of busy
	waits  cause              // what the head waits for; issued: nothing
}

// reserve marks the destination of an instruction that was issued.
func (b *scoreboard) reserve(by cause, regs uint64) {
	b.busy[by-waitsMemory] |= regs
	b.all |= regs
}

// release is a write-back: RAW and WAW hazards on the registers are over.
func (b *scoreboard) release(regs uint64) {
	if b.all &^= regs; regs != 0 {
		for i := range b.busy {
			b.busy[i] &^= regs
		}
	}
}

// change books an outstanding write under another cause.
func (b *scoreboard) change(from, to cause, regs uint64) {
	b.busy[from-waitsMemory] &^= regs
	b.busy[to-waitsMemory] |= regs
}

// hazard returns what the head waits for, what takes longest first.
func (b *scoreboard) hazard() cause {
	if b.wanted&b.all == 0 {
		return issued
	}
	k := cause(0)
	for b.wanted&b.busy[k] == 0 {
		k++
	}
	return waitsMemory + k
}

// causeOf is what a warp waits for that waits for an instruction of the class.
// Which of memory and the scratchpad a load goes to is known later.
var causeOf = func() (t [isa.NumClasses]cause) {
	for k := range t {
		t[k] = [isa.NumUnits]cause{isa.ALU: waitsALU, isa.FPU: waitsFPU, isa.LSU: waitsMemory, isa.SFU: waitsSFU}[isa.Class(k).Unit()]
	}
	t[isa.ClassUnit] = waitsUnit
	return t
}()

// look sorts warp i, if it has an instruction before the scoreboard, by what that waits for.
func (c *Core) look(i int) {
	bit := uint64(1) << i
	if c.staged&bit == 0 {
		return
	}
	b := &c.warps[i].board
	c.ready &^= bit
	if b.waits != issued {
		c.hazard[b.waits-waitsMemory] &^= bit
	}
	if b.waits = c.unitHazard(i, b.hazard()); b.waits == issued {
		c.ready |= bit
	} else {
		c.hazard[b.waits-waitsMemory] |= bit
	}
}

// choose returns the warp of slice sl that issues next, or why none does. What holds
// up an instruction that was issued comes before what holds up those that were not.
func (c *Core) choose(sl *slice, now uint64) (warp int, why cause) {
	ready := c.ready & sl.members
	switch {
	case sl.issued.closed(now):
		return 0, c.backPressure(sl, now)
	case ready == 0:
		return 0, c.nothingReady(sl)
	}
	if warp = sl.selector.pick(view{ready, c.away(), ^(c.staged | c.buffered)}); warp < 0 {
		return 0, inactive
	}
	return warp, issued
}

// backPressure is what keeps the slice's issued instructions from going on: a unit
// that does not take the one furthest along, or else the collectors.
func (c *Core) backPressure(sl *slice, now uint64) cause {
	head := &sl.operands
	if len(sl.collectors) == 1 {
		head = &sl.collectors[0].out
	}
	if !head.ready(now) {
		return operandsFull
	}
	u := head.front().op.LatencyClass().Unit()
	if !sl.dispatch[u].closed(now) {
		return operandsFull
	}
	return [isa.NumUnits]cause{isa.ALU: aluBusy, isa.FPU: fpuBusy, isa.LSU: lsuFull, isa.SFU: sfuBusy}[u]
}

// nothingReady is why none of the slice's warps can issue.
func (c *Core) nothingReady(sl *slice) cause {
	active := c.active & sl.members
	if waiting := c.staged & sl.members; waiting != 0 {
		return c.warps[bits.TrailingZeros64(waiting)].board.waits
	}
	switch {
	case active == 0:
		return drained
	case active&^c.held == 0:
		return barrier
	case active&^(c.held|c.asking) == 0:
		return waitsUnit
	}
	return ibufferEmpty
}
