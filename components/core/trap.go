package core

import (
	"errors"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// Traps that the program handles. Instructions before the trapping one end normally. Those fetched behind it have no
// effect: they leave the pipeline when they would be dispatched, and their registers are released after the delay of a
// write-back. When nothing of the warp is in flight and it fetches no more, it continues in the handler, with the
// latency of warp control. Programs without traps pay nothing: the warp's trace is replaced by one whose methods return
// an error, on the existing paths of program errors.

// squashed is the trace of a warp whose instructions follow one that has trapped.
type squashed struct{ Trace }

// errSquashed is the error of instructions behind a trap.
var errSquashed = errors.New("behind a trap")

func (squashed) Decode(uint32) (*emu.Op, error)     { return nil, errSquashed }
func (squashed) Execute(*emu.Op) error              { return errSquashed }
func (squashed) Issue(*emu.Op, *emu.Access) error   { return errSquashed }
func (squashed) Ask(op *emu.Op, call *emu.UnitCall) { panic("BUG: core: a request behind a trap") }

// errHalted is the fault of warps whose program has ended.
var errHalted = errors.New("the program is over")

// programOver is called when the program has asked the host to end it. Warps observe it in the next cycle, like the
// actions of other cores.
func (c *Core) programOver() {
	if u := c.functional; u != nil && u.on {
		u.begin()
		u.ClockHandle().Wake()
		return
	}
	c.halts = true
	c.otherCore()
}

// haltWarps ends all warps, each when its dispatched instructions have ended.
func (c *Core) haltWarps(now uint64) {
	c.halts = false
	c.opening = c.opening[:0]
	for m := c.active; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if c.atBarrier>>i&1 != 0 { // nothing is fetched for a held warp
			c.atBarrier &^= 1 << i
			c.leave(i)
			continue
		}
		c.squash(i, errHalted)
		c.reach(i, now)
	}
}

// squash cancels the warp's instructions that have not been dispatched, and sets the fault to meet after the others.
func (c *Core) squash(i int, fault error) {
	w := &c.warps[i]
	w.fault, w.squashing, w.trace = fault, true, squashed{w.own}
	c.branching |= 1 << i
	c.refreshState(i)
}

// handled returns err as a trap of the warp that the program handles, or nil.
func (w *warp) handled(err error) *emu.Trap {
	var t *emu.Trap
	if errors.As(err, &t) && w.own.Handles(t) {
		return t
	}
	return nil
}

// trapped handles an instruction that traps at dispatch, or follows one that has. It reports whether the program can go
// on.
func (c *Core) trapped(sl *slice, id flightID, err error, now uint64) bool {
	f := &c.all[id]
	i := int(f.warp)
	w := &c.warps[i]
	c.sent(i, f.op, now)
	if w.squashing {
		c.squashed(f.op, i)
		c.cancel(f)
	} else {
		if w.handled(err) == nil {
			c.fail(err)
			return false
		}
		c.squash(i, err)
	}
	w.stopped = w.stopped || c.isControl(f.op)
	c.hook(HookPosDiscard, now, f.warp, f.op)
	sl.releases.put(&c.flights, id, now+1+commitToRelease)
	return true
}

// squashed counts an issued instruction of warp i that has no effect.
func (c *Core) squashed(op *emu.Op, i int) {
	c.Squashed++
	if c.profile != nil {
		c.profile.squashed(op.PC(), c.warps[i].trace.Mask())
	}
}

// cancel reverts the bookkeeping of an instruction that will not take effect.
func (c *Core) cancel(f *inflight) {
	i := int(f.warp)
	switch f.class {
	case isa.ClassFence:
		c.fenced &^= 1 << i
	case isa.ClassUnit:
		c.socket.Cancel(i, f.op)
		c.awaitingUnit &^= 1 << i
	default:
		return
	}
	c.refreshState(i)
}

// trapDecode handles a fetched word that is no instruction, or lies behind a trap. The warp fetches no more.
func (c *Core) trapDecode(i int, err error, now uint64) {
	w := &c.warps[i]
	c.Discarded++
	c.hookFront(HookPosDiscard, now, i, nil)
	w.stopped = true
	if w.fault == nil {
		w.fault = err
	}
	c.reach(i, now)
}

// trapControl handles warp control that traps, or lies behind a trap. Nothing has been fetched behind it.
func (c *Core) trapControl(i int, op *emu.Op, err error) {
	w := &c.warps[i]
	if w.squashing {
		c.squashed(op, i)
	} else {
		if w.handled(err) == nil {
			c.fail(err)
			return
		}
		w.fault = err
	}
	w.stopped = true
}

// reach lets a warp meet its fault, if all earlier instructions have ended and it fetches no more.
func (c *Core) reach(i int, now uint64) {
	w := &c.warps[i]
	if w.pending > 0 || !w.stopped {
		return
	}
	fault := w.fault
	w.fault, w.stopped, w.squashing, w.trace = nil, false, false, w.own
	if t := w.handled(fault); t != nil {
		w.trace.Handle(t)
		c.resume(i, now+executeToUnlock)
	} else if fault == errHalted {
		c.leave(i)
	} else {
		c.fail(fault)
	}
}
