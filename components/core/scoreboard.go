package core

import (
	"math/bits"

	"heddle/isa"
)

// scoreboard tracks the registers of one warp: those of the instruction at issue, and those with an outstanding write,
// by the unit that writes them.
type scoreboard struct {
	wanted uint64             // registers that the instruction at issue reads or writes, a bit each
	busy   [numHazards]uint64 // registers with an outstanding write, by hazard
	all    uint64             // union of busy
	waits  cause              // cause for which the instruction waits; issued: none
}

// reserve marks the destination of an instruction that was issued.
func (b *scoreboard) reserve(by cause, regs uint64) {
	b.busy[by-waitsMemory] |= regs
	b.all |= regs
}

// release clears registers that an instruction reserved and has written: their RAW and WAW hazards are over. A load's
// may have been moved to the scratchpad since (change).
func (b *scoreboard) release(by cause, regs uint64) {
	b.all &^= regs
	b.busy[by-waitsMemory] &^= regs
	b.busy[waitsScratchpad-waitsMemory] &^= regs
}

// change moves an outstanding write to another cause.
func (b *scoreboard) change(from, to cause, regs uint64) {
	b.busy[from-waitsMemory] &^= regs
	b.busy[to-waitsMemory] |= regs
}

// hazard returns the cause of the wait, the longest-latency one first.
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

// causeOf maps a class to the cause of waits for its results. Loads count as memory until their addresses are known;
// scratchpad accesses are then moved.
var causeOf = func() (t [isa.NumClasses]cause) {
	for k := range t {
		t[k] = [isa.NumUnits]cause{isa.ALU: waitsALU, isa.FPU: waitsFPU, isa.LSU: waitsMemory,
			isa.SFU: waitsSFU}[isa.Class(k).Unit()]
	}
	t[isa.ClassUnit] = waitsUnit
	return t
}()

// issue sends ready warps' instructions to the collectors.
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
		if id := sl.issueWarp(sl, w, now); !sl.passIssued(id, now) {
			sl.issued.Push(id, now+sl.issueDelay)
		}
	}
	sl.bookIssue(b, now)
}

// choose returns the warp of the slice that issues next, or the cause for which none does. Back-pressure of issued
// instructions takes precedence over hazards of those not issued.
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

// backPressure returns the cause that holds up the slice's issued instructions: the unit that does not take the one
// furthest along, or else the collectors.
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

// furthest returns the instruction with all operands that has waited longest, if one has waited since an earlier cycle.
func (sl *slice) furthest(now uint64) (id flightID, ok bool) {
	if c := &sl.collect; len(c.id[0]) == 1 {
		return c.id[2][0], c.out&^c.fresh != 0
	}
	if !sl.operands.Ready(now) {
		return 0, false
	}
	return *sl.operands.Front(), true
}

// nothingReady returns the cause for which none of the slice's warps can issue.
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
