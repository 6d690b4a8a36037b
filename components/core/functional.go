package core

import (
	"errors"
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// Functional executes a core's program functionally, on the architectural state that the timed core uses too, and keeps
// the caches warm. An estimate of time decides the order of execution, so that warps and cores progress as in timed
// execution: in turns of a fixed number of cycles, in each turn core by core. Requests to the graph unit go through the
// core's socket; the unit itself remains timed.
type Functional struct {
	clock.Base
	core     *Core
	arch     *emu.Core
	data     mem.Warmer // the L1D
	code     mem.Warmer // the L1I
	line     int        // log2 of the line size in bytes
	ended    func()     // called when the program has ended
	quantum  uint64     // cycles per turn
	on       bool
	within   bool   // within a launch that began in timed execution
	arriving bool   // all warps wait at a device-wide barrier
	arrives  uint64 // cycle in which the core arrives at the barrier; never: not pending
	opens    uint64 // first cycle in which the launch's first instruction can be fetched
	over     uint64 // first cycle by which everything begun by ended warps is over

	wheel       timingWheel // warps whose next instruction has its registers, by the cycle in which it can issue
	running     uint64      // warps that have been made fetchable and have not ended
	waiting     uint64      // warps that await an answer of the graph unit
	askedUnit   uint64      // waiting warps whose request was made functionally
	unitBlocked uint64      // waiting warps that are not fetched for until the answer
	full        uint64      // warps that are not fetched for until their buffer has room
	parked      uint64      // warps whose next instruction depends on a memory access that has not begun
	lines       [64]uint32  // by warp: the code line fetched last
	next        uint64      // cycle of the next event; never: none until an answer or a release

	estimate estimate
}

// Turn lengths in cycles. Memory accesses of other cores and answers of graph units become visible only between turns,
// so turns are shorter with a unit.
const (
	quantum         = 32
	quantumWithUnit = 16
)

// NewFunctional adds functional execution to a core. d must be a domain of the core's clock whose units finish after
// the core's.
func NewFunctional(c *Core, d *clock.Domain, arch *emu.Core, code, data mem.Warmer, lineBytes int,
	ended func()) *Functional {
	u := &Functional{
		Base: clock.NewBase(c.Name() + ".Functional"), core: c, arch: arch, code: code, data: data,
		line: bits.TrailingZeros(uint(lineBytes)), ended: ended, quantum: quantum, arrives: never,
	}
	if c.socket != nil {
		u.quantum = quantumWithUnit
	}
	u.estimate.build(c)
	u.Join(d, u)
	c.functional = u
	return u
}

// begin discards all state of an earlier launch.
func (u *Functional) begin() {
	u.wheel, u.lines = timingWheel{}, [64]uint32{}
	u.running, u.askedUnit, u.unitBlocked, u.full, u.parked = 0, 0, 0, 0, 0
	u.next, u.opens, u.over = never, 0, 0
	u.estimate.begin()
}

// Start begins a launch. L1s are invalidated, as in timed execution.
func (u *Functional) Start() {
	c := u.core
	u.on, u.within, u.arriving, u.arrives, u.waiting = true, false, false, never, 0
	u.begin()
	c.over, c.last = true, c.ClockHandle().Domain().Cycle()
	if c.sync.warm {
		_, u.opens = u.data.Warm(mem.Access{Op: mem.Invalidate}, c.last)
		if !c.spec.KeepL1I {
			_, opens := u.code.Warm(mem.Access{Op: mem.Invalidate}, c.last)
			u.opens = max(u.opens, opens)
		}
	}
	c.sync.warm = true
	u.ClockHandle().Wake()
}

// Tick defers the turn to the end of the instant, after all timed units.
func (u *Functional) Tick(clock.Cycle) bool {
	if u.busy() || u.waiting != 0 {
		u.ClockHandle().Finish()
	}
	return false
}

// Goes reports whether execution will continue by itself, however late.
func (u *Functional) Goes() bool { return u.busy() && u.next != never }

// busy reports whether the core's program is being executed functionally, or has begun something that is not over.
func (u *Functional) busy() bool { return u.on && !(u.within && u.core.over) }

// Finish executes the instructions that the estimate lets begin before the next turn.
func (u *Functional) Finish(now clock.Cycle) {
	if u.core.socket != nil {
		u.receive(now)
	}
	if !u.on {
		return
	}
	u.arrive(now)
	if u.within {
		u.borrow(now)
	}
	u.turn(now)
	switch done := u.core.err != nil || now >= u.over; {
	case done && u.within && (u.core.err != nil || u.core.ended()):
		u.core.finish(now)
		u.ended()
	case done && !u.within && (u.core.err != nil || u.arch.Active() == 0 && u.core.unitIdle()):
		u.end(now)
	default:
		u.sleep(now)
	}
}

// end leaves the core in the state in which a timed launch ends.
func (u *Functional) end(now clock.Cycle) {
	u.on = false
	u.core.last, u.core.front.releasedAt = now, 0
	u.ended()
}

// sleep sets the wake-up for the next turn.
func (u *Functional) sleep(now clock.Cycle) {
	at := u.arrives
	switch {
	case u.arch.Active() == 0:
		at = max(now+1, u.over) // to end the launch, also of the unit
	case u.within && u.core.active != 0:
		at = min(at, now+u.quantum)
	case u.next != never:
		at = min(at, max(u.next, now+u.quantum))
	}
	if at != never {
		u.ClockHandle().WakeAt(max(at, now+1))
	}
}

// released is called when another core releases warps of this one.
func (u *Functional) released() { u.ClockHandle().Wake() }

// arrive lets the core arrive at a device-wide barrier that all its warps have reached: after its L1D has been
// invalidated, or after the signal's delay.
func (u *Functional) arrive(now uint64) {
	if u.arriving {
		u.arriving = false
		if s := &u.core.spec; s.DeviceBarrier == BarrierSignal {
			u.arrives = now + uint64(s.BarrierRegisters)
		} else {
			_, u.arrives = u.data.Warm(mem.Access{Op: mem.Invalidate}, now)
		}
		u.arrives += uint64(u.core.spec.BarrierLatency)
	}
	if u.arrives <= now {
		u.arrives = never
		u.core.source.Arrive()
	}
}

// turn executes everything that begins before the next turn, cycle by cycle, and within a cycle stage by stage, last
// first.
func (u *Functional) turn(now clock.Cycle) {
	g, e, limit := &u.wheel, &u.estimate, now+u.quantum
	f, m := &e.front, &e.memory
	g.advance(now)
	u.join(now)
	for u.core.err == nil {
		at := min(f.decodable(), m.due, g.first(), f.due)
		for n := range e.slices {
			at = min(at, e.slices[n].due)
		}
		if at >= limit {
			u.next = at
			return
		}
		if f.decodable() <= at {
			u.decode(at)
		}
		if m.due <= at {
			u.access(at)
		}
		for g.first() <= at {
			i := g.take(at)
			e.slice(i).join(i, at)
		}
		for n := range e.slices {
			if s := &e.slices[n]; s.due <= at {
				u.issue(s.issue(u.notSoonReady(), ^f.filled), at)
			}
		}
		if f.due <= at {
			u.fetch(at)
		}
	}
}

// notSoonReady returns the warps that will not be ready soon.
func (u *Functional) notSoonReady() uint64 {
	return ^u.running | u.askedUnit | u.parked | u.wheel.later
}

// join adds warps that can execute: new ones, and those that a barrier has released.
func (u *Functional) join(at uint64) {
	at = max(at, u.opens)
	for m := u.arch.Active() &^ (u.waiting | u.core.active | u.running); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if w := u.arch.Warp(i); !w.Waiting() {
			u.running |= 1 << i
			u.estimate.restart(i, w.PC(), at)
		}
	}
}

// fetch begins a fetch. The instruction arrives when its line has.
func (u *Functional) fetch(at uint64) {
	f := &u.estimate.front
	i, to := f.fetch(u.notSoonReady())
	if line := f.pc[i] >> (u.line & 31); line != u.lines[i] {
		u.lines[i] = line
		_, answered := u.code.Warm(mem.Access{Op: mem.Read, Addr: f.pc[i]}, at+fetchToL1I+f.toL1I)
		to.at = max(to.at, answered+f.fromL1I-1)
	}
}

// decode adds an instruction to its warp's buffer, and allows the next fetch unless the instruction determines its
// address.
func (u *Functional) decode(at uint64) {
	f := &u.estimate.front
	i := f.decode(at)
	pc, first := f.pc[i], f.count[i] == 1
	op, err := u.arch.Warp(i).Decode(pc)
	for err == nil && u.core.spec.inBlock(pc+4) && !u.core.isControl(op) && f.more(i) {
		next, err := u.arch.Warp(i).Decode(pc + 4)
		if err != nil {
			break
		}
		op = next
		pc += 4
	}
	switch {
	case err != nil: // fetched ahead: the warp may never get here
	case u.core.isControl(op):
	case u.askedUnit>>i&1 != 0 && f.count[i] == f.room:
		u.unitBlocked |= 1 << i
		f.pc[i] = pc + 4
	case !f.fetchable(i):
		u.full |= 1 << i
		f.pc[i] = pc + 4
	default:
		f.unlock(i, pc+4, at+1)
	}
	if first && (u.askedUnit|u.parked)>>i&1 == 0 {
		u.scheduleNext(i, at+decodeToIssue)
	}
}

// fail stops the core with a program error. Traps are errors here, as no handler runs functionally.
func (u *Functional) fail(err error) {
	if t := (*emu.Trap)(nil); errors.As(err, &t) && u.arch.Warp(t.Warp).Handles(t) {
		err = fmt.Errorf("the program handles traps, which the parts of a run that are executed without time do not take: %w",
			err)
	}
	u.core.fail(err)
}

// scheduleNext schedules the issue of a warp's next decoded instruction, at cycle at or when its registers are
// available. Warp control also waits for the warp's memory accesses, which the warps that it releases may read.
func (u *Functional) scheduleNext(i int, at uint64) {
	e := &u.estimate
	if e.front.count[i] == 0 {
		return
	}
	w := u.arch.Warp(i)
	op, err := w.Decode(w.PC())
	if err != nil {
		u.fail(err)
		return
	}
	at = e.ready(i, op, at)
	if at == never || e.pending[i] > 0 && op.LatencyClass() == isa.ClassWarp {
		u.parked |= 1 << i
		return
	}
	e.ops[i] = op
	u.wheel.put(i, at)
}

// issue executes a warp's next instruction.
func (u *Functional) issue(i int, at uint64) {
	w, e := u.arch.Warp(i), &u.estimate
	op := e.ops[i]
	class := op.LatencyClass()
	if class == isa.ClassUnit && (!u.core.socket.CanIssue(i, op) || u.core.socket.Full()) {
		u.wheel.put(i, at+u.quantum)
		return
	}
	e.busy[i] &^= op.Reads()
	e.front.issued(i, at)
	if u.full>>i&1 != 0 && e.front.fetchable(i) {
		u.full &^= 1 << i
		e.front.unlock(i, e.front.pc[i], at+1)
	}
	var err error
	switch class {
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
		err = w.Issue(op, u.await(i, op, at))
	case isa.ClassFence:
		u.await(i, op, at)
		err = w.Execute(op)
	case isa.ClassUnit:
		if u.ask(i, w, op) {
			return
		}
	default:
		if u.execute(i, w, op, at) {
			return
		}
	}
	if err != nil {
		u.fail(err)
		return
	}
	u.scheduleNext(i, at+1)
}

// await queues a memory access or a fence for the load-store unit.
func (u *Functional) await(i int, op *emu.Op, at uint64) *emu.Access {
	e := &u.estimate
	q := e.slice(i).put(i, op, at+e.between.issueToMemory)
	e.pending[i]++
	e.memory.plan(e.slices)
	e.writes(i, op, never)
	return &q.made
}

// execute executes an instruction of another unit. It reports whether the instruction steers: the warp's next one is
// then scheduled by steered.
func (u *Functional) execute(i int, w *emu.Warp, op *emu.Op, at uint64) (steers bool) {
	e, between := &u.estimate, &u.estimate.between
	at = e.execute(i, op, w.Mask(), at)
	err := w.Execute(op)
	class := op.LatencyClass()
	if class == isa.ClassWarp && err == nil {
		err = u.core.source.Declare() // warps of other cores may wait at the same barrier
	}
	if err != nil {
		u.fail(err)
		return true
	}
	toRead, toFetch := between.executeToRead, between.branchToFetch+e.latency[class]
	if op.Unit() == isa.SFU {
		toRead, toFetch = between.sharedToRead, between.sharedToFetch
	}
	if after, ok := u.core.forwards(class); ok {
		e.writes(i, op, at+after)
	} else {
		e.writes(i, op, at+e.latency[class]+toRead)
	}
	if !u.core.isControl(op) {
		return false
	}
	u.steered(i, w, at+toFetch)
	return true
}

// steered makes a warp fetchable at the target of its control instruction, if it goes on, and the warps that it has
// released.
func (u *Functional) steered(i int, w *emu.Warp, at uint64) {
	if u.arch.Active()>>i&1 != 0 && !w.Waiting() {
		u.estimate.front.unlock(i, w.PC(), at)
	} else {
		u.running &^= 1 << i
		u.over = max(u.over, at, u.estimate.memory.last())
	}
	u.arrive(at)
	u.join(at)
}

// access performs the memory access that is due.
func (u *Functional) access(at uint64) {
	e := &u.estimate
	q := e.slices[e.memory.of].take(at)
	i := q.warp
	if e.pending[i]--; q.op.LatencyClass() == isa.ClassFence {
		u.fence(at)
	} else {
		done, err := u.reach(&q.made, at)
		if err != nil {
			u.fail(err)
		}
		e.writes(i, q.op, done+e.between.memoryToIssue)
	}
	e.memory.plan(e.slices)
	if u.parked>>i&1 != 0 {
		u.parked &^= 1 << i
		u.scheduleNext(i, at+1)
	}
}

// ask sends a request to the unit, whose queue must have a slot. It reports whether the warp awaits an answer.
func (u *Functional) ask(i int, w *emu.Warp, op *emu.Op) (waits bool) {
	s := u.core.socket
	s.Issue(i, op)
	call := s.Begin()
	w.Ask(op, call)
	s.Send(call.Tag)
	if waits = s.Traits(op).Answered; waits {
		u.waiting |= 1 << i
		u.askedUnit |= 1 << i
	}
	return waits
}

// receive delivers the unit's answers to functionally executed warps.
func (u *Functional) receive(now clock.Cycle) {
	s := u.core.socket
	if err := s.Err(); err != nil {
		u.fail(err)
		return
	}
	for s.Answered() && u.waiting>>s.Front().Warp&1 != 0 {
		call := s.Front()
		i, op := call.Warp, call.Op()
		u.waiting &^= 1 << i
		u.arch.Warp(i).Answer(call)
		s.Receive()
		u.arrive(now)
		if u.on {
			u.answered(i, op, now)
		} else {
			u.core.takeBack(1 << i)
		}
	}
	if s.Answered() { // a warp whose request was timed: its core may have slept behind the answers to others
		u.core.ClockHandle().Wake()
	}
}

// answered lets a warp go on after the unit's answer.
func (u *Functional) answered(i int, op *emu.Op, now uint64) {
	u.wheel.advance(now)
	u.askedUnit &^= 1 << i
	if u.running>>i&1 == 0 {
		return
	}
	f := &u.estimate.front
	if u.core.socket.Traits(op).SetsMask {
		f.unlock(i, u.arch.Warp(i).PC(), now+answerToFetch)
	} else if u.unitBlocked>>i&1 != 0 {
		u.unitBlocked &^= 1 << i
		f.unlock(i, f.pc[i], now+answerToFetch)
	}
	u.scheduleNext(i, now+answerToFetch)
}
