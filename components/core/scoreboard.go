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

// causeOf returns the cause of a wait for an instruction of the class.
// Which of memory and the scratchpad a load goes to is known later.
var causeOf = func() (t [isa.NumClasses]cause) {
	for k := range t {
		t[k] = [isa.NumUnits]cause{isa.ALU: waitsALU, isa.FPU: waitsFPU, isa.LSU: waitsMemory, isa.SFU: waitsSFU}[isa.Class(k).Unit()]
	}
	t[isa.ClassUnit] = waitsUnit
	return t
}()

// issue sends the heads of some of the slice's warps whose registers are there to the
// collectors.
func (sl *slice) issue(now uint64) {
	if len(sl.groups.of) > 0 {
		sl.issueGroups(now)
		return
	}
	b := cycle{ready: uint8(bits.OnesCount64(sl.ready & sl.members))}
	for int(b.issued) < sl.spec.Issue.Dispatch {
		var w int
		if w, b.cause = sl.choose(now); b.cause != issued {
			break
		}
		b.issued++
		b.selected++
		id := sl.issueWarp(sl, w, now)
		sl.issued.Push(id, now+sl.issueDelay)
	}
	sl.bookIssue(b, now)
}

// choose returns the warp of the slice that issues next, or why none does. What holds
// up an instruction that was issued comes before what holds up those that were not.
func (sl *slice) choose(now uint64) (warp int, why cause) {
	ready := sl.ready & sl.members
	switch {
	case sl.issued.Closed(now):
		return 0, sl.backPressure(now)
	case ready == 0:
		return 0, sl.nothingReady()
	}
	if warp = sl.selector.pick(view{ready, sl.away(), ^(sl.atIssue | sl.buffered)}); warp < 0 {
		return 0, inactive
	}
	return warp, issued
}

// backPressure is the cause that holds up the slice's issued instructions: a unit
// that does not take the one furthest along, or else the collectors.
func (sl *slice) backPressure(now uint64) cause {
	id, ok := sl.furthest(now)
	if !ok {
		return operandsFull
	}
	u := sl.all[id].unit
	if !sl.dispatch[u].Closed(now) {
		return operandsFull
	}
	return [isa.NumUnits]cause{isa.ALU: aluBusy, isa.FPU: fpuBusy, isa.LSU: lsuFull, isa.SFU: sfuBusy}[u]
}

// furthest returns the instruction with its operands that has waited longest, if one has been there
// since the last cycle.
func (sl *slice) furthest(now uint64) (id flightID, ok bool) {
	if c := &sl.collect; len(c.id[0]) == 1 {
		return c.id[2][0], c.out&^c.fresh != 0
	}
	if !sl.operands.Ready(now) {
		return 0, false
	}
	return *sl.operands.Front(), true
}

// nothingReady is why none of the slice's warps can issue.
func (sl *slice) nothingReady() cause {
	if waiting := sl.atIssue & sl.members; waiting != 0 {
		return sl.warps[bits.TrailingZeros64(waiting)].board.waits
	}
	active := sl.active & sl.members
	switch {
	case active == 0:
		return drained
	case active&^sl.atBarrier == 0:
		return barrier
	case active&^(sl.atBarrier|sl.awaitingUnit) == 0:
		return waitsUnit
	}
	return ibufferEmpty
}
