package core

import (
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// Untimed executes a core's program without time, on the architectural state that the core itself executes on, and
// leaves the caches warm. The warps take turns; what they ask of the graph unit, they ask by the core's socket, and the
// unit works as ever. It is on a clock for that only: its cycles are turns, and no time. Cores take their turns when all
// units have ticked, in order.
type Untimed struct {
	clock.Base
	core     *Core
	arch     *emu.Core
	data     mem.Warmer // the L1D
	code     mem.Warmer // the L1I
	line     int        // log2 of a line's bytes
	ended    func()     // is told when the program has ended
	on       bool
	arriving bool   // at a device-wide barrier
	waiting  uint64 // warps that the unit has not answered
	access   emu.Access
}

// turn is how many instructions a warp executes in its turn.
const turn = 8

// NewUntimed makes it, on a domain of the core's clock whose units finish after the core's.
func NewUntimed(c *Core, d *clock.Domain, arch *emu.Core, code, data mem.Warmer, lineBytes int, ended func()) *Untimed {
	u := &Untimed{
		Base: clock.NewBase(c.Name() + ".Untimed"), core: c, arch: arch, code: code, data: data,
		line: bits.TrailingZeros(uint(lineBytes)), ended: ended,
	}
	u.Join(d, u)
	c.untimed = u
	return u
}

// Start begins a launch: L1s forget, as they do in time.
func (u *Untimed) Start() {
	c := u.core
	u.on, u.arriving, u.waiting = true, false, 0
	c.over, c.last = true, c.Place().Domain().Cycle()
	if c.sync.warm {
		u.data.Warm(mem.Invalidate, 0, false)
		if !c.spec.KeepL1I {
			u.code.Warm(mem.Invalidate, 0, false)
		}
	}
	c.sync.warm = true
	u.Place().Wake()
}

// Tick leaves it to the end of the instant to give warps their turns.
func (u *Untimed) Tick(clock.Cycle) bool {
	if u.on {
		u.Place().Finish()
	}
	return false
}

// Finish gives each warp a turn.
func (u *Untimed) Finish(now clock.Cycle) {
	if u.turns(now) {
		u.Place().Wake()
	}
}

// turns gives each warp a turn, and reports whether another is to follow.
func (u *Untimed) turns(now clock.Cycle) bool {
	if u.core.socket != nil {
		u.receive()
	}
	busy := u.waiting != 0
	for m := u.arch.Active() &^ u.waiting; m != 0 && u.core.err == nil; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if w := u.arch.Warp(i); !w.Waiting() {
			busy = true
			if err := u.turn(i, w); err != nil {
				u.core.fail(err)
			}
		}
	}
	if u.core.err != nil || u.arch.Active() == 0 && u.core.unitIdle() {
		u.end(now)
		return false
	}
	return busy || u.arch.Active() == 0
}

// end leaves the core as the end of a launch in time does.
func (u *Untimed) end(now clock.Cycle) {
	u.on = false
	u.core.last, u.core.front.letGo = now, 0
	u.ended()
}

// released is called when warps go on because of another core.
func (u *Untimed) released() { u.Place().Wake() }

// receive gives warps the unit's answers.
func (u *Untimed) receive() {
	s := u.core.socket
	if err := s.Err(); err != nil {
		u.core.fail(err)
		return
	}
	for s.Answered() {
		call := s.Front()
		u.waiting &^= 1 << call.Warp
		u.arch.Warp(call.Warp).Answer(call)
		s.Receive()
		u.arrive()
	}
}

// turn executes instructions of a warp, until it has had its turn or has to wait.
func (u *Untimed) turn(i int, w *emu.Warp) error {
	fetched := ^uint32(0)
	for range turn {
		pc := w.PC()
		if line := pc >> (u.line & 31); line != fetched {
			fetched = line
			u.code.Warm(mem.Read, pc, false)
		}
		op, err := w.Decode(pc)
		if err != nil {
			return err
		}
		switch op.LatencyClass() {
		case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
			if err := u.reach(w, op); err != nil {
				return err
			}
		case isa.ClassWarp:
			if err := u.control(w, op); err != nil || !u.goesOn(i, w) {
				return err
			}
		case isa.ClassUnit:
			if !u.ask(i, w, op) {
				return nil
			}
		case isa.ClassFence:
			if u.core.spec.Fence != FenceWait {
				u.data.Warm(mem.Flush, 0, false)
			}
			fallthrough
		default:
			if err := w.Execute(op); err != nil {
				return err
			}
		}
	}
	return nil
}

// control executes control, and lets other cores know of a barrier that it leads to.
func (u *Untimed) control(w *emu.Warp, op *emu.Op) error {
	if err := w.Execute(op); err != nil {
		return err
	}
	return u.core.source.Declare()
}

// goesOn reports whether the warp goes on behind control.
func (u *Untimed) goesOn(i int, w *emu.Warp) bool {
	u.arrive()
	return u.arch.Active()>>i&1 != 0 && !w.Waiting()
}

// arrive lets the core arrive at a device-wide barrier to which all its warps have come, when its L1D has forgotten its
// lines.
func (u *Untimed) arrive() {
	if u.arriving {
		u.arriving = false
		u.data.Warm(mem.Invalidate, 0, false)
		u.core.source.Arrive()
	}
}

// ask gives a request to the unit, when its queue has a place, and reports whether the warp goes on.
func (u *Untimed) ask(i int, w *emu.Warp, op *emu.Op) bool {
	s := u.core.socket
	if !s.CanIssue(i, op) || s.Full() {
		return false
	}
	s.Issue(i, op)
	call := s.Begin()
	w.Ask(op, call)
	s.Send(call.Tag)
	if s.Traits(op).Answered {
		u.waiting |= 1 << i
		return false
	}
	return true
}

// reach makes a memory access: it takes effect, and warms the L1D.
func (u *Untimed) reach(w *emu.Warp, op *emu.Op) error {
	a := &u.access
	if err := w.Issue(op, a); err != nil {
		return err
	}
	wrote, err := a.PerformLanes(a.Mask)
	if err != nil {
		return err
	}
	as := u.asked(op)
	reached := ^uint32(0)
	for m := a.Mask; m != 0; m &= m - 1 {
		addr := a.Addr[bits.TrailingZeros32(m)&31]
		if line := addr >> (u.line & 31); line != reached && addr < emu.ScratchpadBase {
			reached = line
			u.data.Warm(as, addr, wrote)
		}
	}
	return nil
}

// asked is what an access asks of the L1D.
func (u *Untimed) asked(op *emu.Op) mem.Op {
	switch op.LatencyClass() {
	case isa.ClassLoad:
		return mem.Read
	case isa.ClassStore:
		return mem.Write
	}
	switch u.core.lsu.spec.Atomics.Mode {
	case AtomicsSimX24:
		return mem.Read
	case AtomicsSimX25:
		return mem.Write
	}
	return mem.Atomic
}
