package core

import (
	"errors"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// What a core does when an instruction traps, and the program handles traps. What stands before the instruction ends
// as ever. What has been fetched behind it has no effect: it leaves the pipeline when it would be dispatched, and its
// registers are free a write-back later. When nothing of the warp is left and it fetches no more, it goes on in the
// handler, as behind warp control. A program without traps pays nothing: the warp's trace is exchanged for one that
// does nothing, whose errors come where those of program errors do.

// squashed is the trace of a warp whose instructions are behind one that has trapped.
type squashed struct{ Trace }

// errSquashed ends each of them.
var errSquashed = errors.New("behind a trap")

func (squashed) Decode(uint32) (*emu.Op, error)     { return nil, errSquashed }
func (squashed) Execute(*emu.Op) error              { return errSquashed }
func (squashed) Issue(*emu.Op, *emu.Access) error   { return errSquashed }
func (squashed) Ask(op *emu.Op, call *emu.UnitCall) { panic("BUG: core: a request behind a trap") }

// errHalted is the fault of warps whose program is over.
var errHalted = errors.New("the program is over")

// programOver is called when the program has asked the host for its end. Warps see it in the next cycle, as what other
// cores do to them.
func (c *Core) programOver() {
	if u := c.functional; u != nil && u.on {
		u.begin()
		u.ClockHandle().Wake()
		return
	}
	c.halts = true
	c.otherCore()
}

// haltWarps ends all warps, each when what it has in flight has ended.
func (c *Core) haltWarps(now uint64) {
	c.halts = false
	for m := c.active; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if c.atBarrier>>i&1 != 0 { // nothing is fetched for it
			c.atBarrier &^= 1 << i
			c.leave(i)
			continue
		}
		c.squash(i, errHalted)
		c.reach(i, now)
	}
}

// squash has what is in flight of a warp come to nothing, but for what has been dispatched, and then a fault be met.
func (c *Core) squash(i int, fault error) {
	w := &c.warps[i]
	w.fault, w.squashing, w.trace = fault, true, squashed{w.own}
	c.branching |= 1 << i
	c.refreshState(i)
}

// handled returns an error as a trap of the warp's that the program handles; nil: it is none.
func (w *warp) handled(err error) *emu.Trap {
	var t *emu.Trap
	if errors.As(err, &t) && w.own.Handles(t) {
		return t
	}
	return nil
}

// trapped is for an instruction that has trapped when it was dispatched, or is behind one that has. It reports whether
// the program can go on.
func (c *Core) trapped(sl *slice, id flightID, err error, now uint64) bool {
	f := &c.all[id]
	i := int(f.warp)
	w := &c.warps[i]
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

// squashed counts an instruction of warp i that has issued, and has no effect.
func (c *Core) squashed(op *emu.Op, i int) {
	c.Squashed++
	if c.profile != nil {
		c.profile.squashed(op.PC(), c.warps[i].trace.Mask())
	}
}

// cancel takes back what has been noted of an instruction before its effect.
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

// trapDecode is for a warp that has fetched what is no instruction, or lies behind a trap: it fetches no more.
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

// trapControl is for a warp whose control has trapped, or is behind a trap. Nothing has been fetched behind it.
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

// reach has a warp come to its fault, when all before that has ended and nothing of it is fetched.
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
