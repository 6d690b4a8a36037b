package emu

import (
	"math/bits"

	"heddle/isa"
)

// Recording and replay on timed machines. A recording machine notes the outcomes of a program's instructions; a
// replaying one is given them and has no data: its registers and memory are meaningless, but masks, divergence,
// barriers and counts are those of the program.

// Decides is the part of an instruction's outcome that does not follow from the code, besides the addresses of memory
// accesses and the operands of unit instructions.
type Decides uint8

// A branch is taken or not, an indirect jump has a target, control has operands.
const (
	DecidesNothing Decides = iota
	DecidesBranch
	DecidesTarget
	DecidesControl
)

// Decides returns the kind of outcome of the instruction.
func (o *Op) Decides() Decides {
	switch {
	case o.test != nil:
		return DecidesBranch
	case o.isIndirect:
		return DecidesTarget
	case o.ctl != nil:
		return DecidesControl
	}
	return DecidesNothing
}

// Chooses reports whether an atomic may or may not write, depending on memory.
func (o *Op) Chooses() bool {
	switch o.Sem.(type) {
	case isa.StoreConditional, isa.CompareSwap:
		return true
	}
	return false
}

// Size returns the number of bytes of a lane's memory access.
func (o *Op) Size() uint8 { return o.size }

// ControlArgs returns the current operands of a control instruction.
func (w *Warp) ControlArgs(o *Op) isa.ControlArgs {
	last := w.lastLane()
	return isa.ControlArgs{A: w.regs[o.Rs1][last], B: w.regs[o.Rs2][last], Pred: w.predicate(o.Rs1),
		Negated: o.Neg != 0}
}

// Outcome records the lanes of an access that have written, as they take effect.
type Outcome struct {
	Wrote uint32
	Left  uint32 // lanes that have not taken effect
}

// Tell sets the recorder of the access; nil: none.
func (a *Access) Tell(out *Outcome) {
	if a.outcome = out; out != nil {
		*out = Outcome{Left: a.Mask}
	}
}

// Pass executes an instruction without a recorded outcome.
func (w *Warp) Pass(o *Op) {
	w.count(o)
	if o.shfl != nil {
		w.core.stats.Shuffles += w.lanes
	}
	w.pc += 4
}

// Branch executes a branch with a recorded direction, or a direct jump.
func (w *Warp) Branch(o *Op, taken bool) {
	w.count(o)
	if taken {
		w.pc += o.imm
	} else {
		w.pc += 4
	}
}

// JumpTo executes an indirect jump.
func (w *Warp) JumpTo(o *Op, target uint32) {
	w.count(o)
	w.pc = target &^ 1
}

// Control executes a control instruction with these operands.
func (w *Warp) Control(o *Op, args isa.ControlArgs) error {
	pc := w.pc
	w.count(o)
	args.Pred &= w.mask
	w.rd = o.rd
	w.pc += 4
	if err := o.ctl(w, args); err != nil {
		return w.trap(err, pc)
	}
	return nil
}

// IssueGiven begins an access that will not touch memory. The caller fills in the addresses of
// the lanes in Mask, which must be aligned; writes are the lanes that an atomic will write.
func (w *Warp) IssueGiven(o *Op, a *Access, writes uint32) {
	w.count(o)
	a.op, a.w, a.pc, a.Mask, a.outcome = o, w, w.pc, w.mask, nil
	a.given, a.writes = true, writes
	w.pc += 4
}

// performGiven performs an access without data: it counts scratchpad uses and atomics, and the lanes that wrote.
func (a *Access) performGiven() {
	a.wrote = a.Mask & a.writes
	if a.op.class == isa.ClassAtomic {
		a.w.core.stats.Atomics += uint64(bits.OnesCount32(a.Mask))
	}
	top := uint32(0)
	for _, x := range a.Addr[:a.w.n] { // also of inactive lanes: they only cost the slower check
		top = max(top, x)
	}
	if top < ScratchpadBase {
		return
	}
	uses := a.Mask
	for ; uses != 0; uses &= uses - 1 {
		if l := bits.TrailingZeros32(uses); a.Addr[l] >= ScratchpadBase {
			a.w.core.stats.Scratchpad += a.scratchpadUses(l)
		}
	}
}

// scratchpadUses returns a lane's number of reads and writes.
func (a *Access) scratchpadUses(l int) (n uint64) {
	switch a.op.Sem.(type) {
	case isa.Load, isa.LoadReserved, isa.Store:
		return 1
	case isa.AMO, isa.CompareSwap:
		n = 1
	}
	return n + uint64(a.writes>>l&1)
}
