package core

import (
	"fmt"
	"math/bits"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/count"
	"heddle/components/mem"
	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// Core is one SIMT core. It is ticked in three parts, each only when it is due: the pipeline, its write-back, and the
// load-store unit with its coalescer and scratchpad.
type Core struct {
	clock.Base
	pipe
	source      Source
	slices      []slice
	front       front
	entries     [isa.NumUnits]entry // of units that slices share
	shared      int                 // instructions dispatched to units that slices share, and not in them
	blocked     bool                // slices share ALUs or FPUs
	lsu         lsu
	sync        synchronizer
	launchOrder launchOrder

	over  bool // Done has returned true
	halts bool // the program ends for all warps in the next cycle
	awake bool // tests: never sleep

	begun   uint64 // the cycle before the launch
	elapsed uint64 // the clock's cycles from launches to their ends; Cycles must equal it

	socket *accel.Socket // nil: no graph unit

	functional      *Functional // nil: never executed functionally
	functionalWarps uint64      // warps that are executed functionally within a timed launch

	event HookEvent
}

// New returns a core that runs the warps of src.
func New(name string, s Spec, src Source) (*Core, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s = s.Derived()
	c := &Core{Base: clock.NewBase(name), source: src}
	c.pipe = pipe{due: never, backDue: never, spec: s, self: queue.Owner{Unit: name}, latency: s.Latency.table(s.IDiv),
		lanes: s.narrow(), blocks: s.blocks()}
	c.counted = count.In(&c.Stats)
	c.warps = make([]warp, s.Warps)
	for i := range c.warps {
		c.warps[i] = warp{
			slice: uint8(i % s.Issue.Slices), collector: uint8(i / s.Issue.Slices % s.Collectors), trace: src.Trace(i),
			own:     src.Trace(i),
			ibuffer: queue.New[*emu.Op](s.IBuffer, &c.self, fmt.Sprintf("instruction buffer of warp %d", i)),
		}
		c.warps[i].ibuffer.Flag(&c.buffered, i)
	}
	c.front.selector = newSelector(policies[s.Schedule.Policy].schedule, s.Schedule.Active, 0, 1, s.Warps,
		&c.launchOrder)
	c.front.scheduled = queue.New[flightID](2*s.FetchWidth, &c.self, "schedule buffer")
	c.slices = make([]slice, s.Issue.Slices)
	for i := range c.slices {
		in := fmt.Sprintf("slice %d, ", i)
		c.slices[i].build(&c.pipe, in, i)
		c.slices[i].selector = newSelector(policies[s.Issue.Policy].issue, s.Issue.Active, i, s.Issue.Slices, s.Warps,
			&c.launchOrder)
		c.slices[i].groups.build(&s, i, &c.self, in, &c.launchOrder)
		for w := i; w < s.Warps; w += s.Issue.Slices {
			c.slices[i].members |= 1 << w
		}
	}
	for u := range c.entries {
		last := len(c.slices)/max(1, c.blocks[u]) - 1
		c.entries[u] = entry{last, last, queue.New[flightID](2, &c.self, isa.Unit(u).String()+" buffer")}
	}
	c.blocked = c.blocks != [isa.NumUnits]int{}
	c.lsu = newLSU(&c.pipe, c.slices, &c.entries[isa.LSU].buffer)
	src.SetClock(func() uint64 { return c.ClockHandle().Domain().Cycle() })
	src.SetReleased(c.otherCore)
	src.SetAllAtBarrier(c.allAtBarrier)
	src.SetHalted(c.programOver)
	return c, nil
}

// accesses bounds the number of memory accesses between dispatch and their last answer: two dispatch buffer entries per
// slice, the unit's queues, its loads, and the effects deferred to the end of the cycle.
func (s *Spec) accesses() int { return 2*s.Issue.Slices + 10 + s.LSUQueue }

// Connect gives the core its links to the instruction cache, one pair for each warp fetched per cycle.
func (c *Core) Connect(out []*clock.Link[mem.Request], in []*clock.Link[mem.Response]) {
	c.front.out, c.front.in = out, in
	if len(out) == 1 {
		out[0].Lead()
	} else {
		for i, link := range out {
			link.FlagStuck(&c.front.stuck, i)
		}
	}
	for i, link := range in {
		link.Flag(&c.front.arrived, i)
	}
}

// Join adds the core to a clock domain. u is the clocked unit: the core, or a wrapper that ticks and finishes it.
func (c *Core) Join(d *clock.Domain, u clock.Unit) {
	c.Base.Join(d, u)
	c.lsu.handle = c.Base.ClockHandle()
}

// Start makes runnable the warps that the source has started.
func (c *Core) Start() {
	c.last, c.over, c.halts = c.ClockHandle().Domain().Cycle(), false, false
	c.begun = c.last
	if c.sync.warm {
		c.sync.begin(false, c.spec.KeepL1I)
	} else {
		c.startNew(0)
	}
	c.sync.warm = true
	c.lsu.due = 0
	c.ClockHandle().Wake()
}

// ClockHandle returns the pipeline's handle on its clock, for links and wakers.
func (c *Core) ClockHandle() clock.Handle { return c.Base.ClockHandle().Part(&c.due) }

// DataHandle returns the load-store unit's handle on its clock, for its links.
func (c *Core) DataHandle() clock.Handle { return c.Base.ClockHandle().Part(&c.lsu.due) }

// Err returns the program error that stopped the core.
func (c *Core) Err() error { return c.err }

// Done reports whether no warp is left and nothing is in flight, including stores that the L1D has not taken.
func (c *Core) Done() bool { return c.ended() && (c.functional == nil || !c.functional.busy()) }

// ended reports whether nothing of the program is left in the timed core.
func (c *Core) ended() bool {
	return c.active == 0 && c.source.Active() == 0 && c.inFlight == 0 && c.lsu.idle() && c.unitIdle()
}

// Tick does one cycle of the parts that are due. A part in which nothing moved would repeat the cycle until a time is
// reached, a link delivers, or another part acts on it: it is not due until then.
//
// Each part has a timer, the next cycle in which it can change something:
//
//   - due (pipeline): recomputed at the end of advance. Lowered by its links (ClockHandle), by the load-store unit when
//     it takes an instruction from the pipeline (accept), by touch before a change of state that the pipeline's cycles
//     are booked under, and by fail.
//   - backDue (write-back): recomputed here whenever write-back or pipeline ran, the only parts that change its inputs,
//     except that the load-store unit lowers it for its results (lsu.result), also those on the bypass path.
//   - lsu.due: recomputed at the end of lsu.tick. Lowered by its links (DataHandle), by enter for a new instruction,
//     and by commit when the result slot that it waited for is free.
//
// Only a part's own recomputation raises its timer; everything else may only lower it. The order is that of the RTL's
// stages, back to front, so that a stage sees the slots that later stages have freed and no value produced in this
// cycle: write-back, load-store unit, then the rest. Write-back may run without the pipeline; if it moved something,
// the pipeline runs too, as an instruction may now issue.
func (c *Core) Tick(now uint64) bool {
	if c.functional != nil && c.functional.waiting != 0 && c.socket.Answered() {
		c.ClockHandle().Finish() // the answer is for Functional
	}
	if c.err != nil || c.over {
		return false
	}
	c.self.Now = now
	// The end of a program and L1 invalidation also wait for the load-store unit, which does not lower due.
	pipe := c.due <= now || c.awake || c.active == 0 || c.sync.working()
	c.moved = false
	back := pipe || c.backDue <= now
	if back {
		c.writeBack(now)
	}
	if c.lsu.due <= now || c.awake {
		c.lsu.tick(now)
	}
	advance := pipe || c.moved || c.due <= now
	if advance {
		c.advance(now)
		if c.over = c.active == 0 && c.Done(); c.over {
			c.elapsed += now - c.begun
			c.bookIdle()
			c.settleAll()
			return false
		}
	}
	if back || advance {
		c.backDue = c.nextBack(now)
	}
	return c.sleep(now)
}

// writeBack runs the stages behind the load-store unit. The stages before it have work only if something moved here.
func (c *Core) writeBack(now uint64) {
	c.settle(now)
	if c.lsu.bypass.way.First() < now {
		c.lsu.deliver(now - 1)
	}
	for i := range c.slices {
		sl := &c.slices[i]
		if sl.releases.due(now) {
			c.release(sl, now)
		}
		if sl.forward.cycles != 0 && sl.forward.due(now) {
			c.forward(sl, now)
		}
	}
	c.unlock(now)
	for i := range c.slices {
		if sl := &c.slices[i]; sl.occupied&resultBits != 0 && sl.commit(now) {
			// the load-store unit may have waited for this slot, which is free in the next cycle
			c.lsu.due = min(c.lsu.due, now+1)
		}
	}
	if c.blocked {
		for _, u := range sliceUnits {
			for i := range c.blocks[u] {
				c.gatherBlock(&c.slices[i], u, now)
			}
		}
	}
	if c.sync.state != syncNone {
		c.synchronize()
	}
}

// nextBack returns the first cycle after now in which write-back has something to do.
func (c *Core) nextBack(now uint64) uint64 {
	at, cycles := c.lsu.bypass.next(), uint64(0)
	for i := range c.slices {
		sl := &c.slices[i]
		cycles |= sl.releases.cycles | sl.forward.cycles
		if sl.occupied&resultBits != 0 {
			at = sl.nextResult(now, at)
		}
	}
	if cycles != 0 {
		at = min(at, nextOf(cycles, now))
	}
	if c.sync.state == syncSignal {
		at = min(at, c.sync.due)
	}
	return max(at, now+1)
}

// advance runs the other stages, last first.
func (c *Core) advance(now uint64) {
	c.due = never
	c.settle(now)
	if c.enters(isa.LSU) {
		c.enter(isa.LSU, now)
	}
	if c.socket != nil {
		c.reply(now)
	}
	if !c.entries[isa.SFU].buffer.Empty() {
		c.executeSFU(now)
	}
	if c.enters(isa.SFU) {
		c.enter(isa.SFU, now)
	}
	for i := range c.slices {
		if sl := &c.slices[i]; sl.occupied&executeBits != 0 || sl.fpuFreed != 0 {
			if branch := sl.execute(now); branch >= 0 {
				c.resume(branch, now+switchToUnlock)
			}
		}
	}
	if c.blocked {
		for _, u := range sliceUnits {
			if c.blocks[u] != 0 && c.enters(u) {
				c.enterBlocks(u, now)
			}
		}
	}
	for m := c.resolving.take(now); m != 0; m &= m - 1 {
		c.resume(bits.TrailingZeros64(m), now+switchToUnlock)
	}
	for i := range c.slices {
		sl := &c.slices[i]
		if sl.gathers(now) {
			c.dispatch(sl, now)
			sl.gather(now)
		}
		sl.issue(now)
	}
	c.Cycles++
	if c.buffered&^c.atIssue != 0 {
		if open := c.stage(c.slices, now) & c.fetchBlocked; open != 0 {
			c.unblock(open, now)
		}
	}
	c.tickFront(now)
	c.last = now
	if c.moved {
		c.due = now + 1
	} else {
		c.due = min(c.due, c.nextEvent(now))
	}
}

// tickFront runs the front end's stages, last first.
func (c *Core) tickFront(now uint64) {
	undecoded, unscheduled := false, true
	near := c.front.near()
	if near != nil {
		near.Run(now)
	}
	switch {
	case near != nil && near.Express():
		undecoded = near.Due() <= now && !c.decodeExpress(near, now)
	case c.front.arrived != 0:
		undecoded = c.decode(now)
	}
	if !c.front.scheduled.Empty() {
		c.fetch(now)
	}
	if near := c.front.near(); near != nil {
		c.due = min(c.due, near.Next(now, !c.front.scheduled.Empty()))
	}
	if c.active&^c.stalled != 0 {
		unscheduled = c.schedule(now)
	}
	c.bookSchedule(unscheduled, undecoded)
}

// sleep reports whether a part is due in the next cycle; if not, it sets the wake-up timer for the first that is.
func (c *Core) sleep(now uint64) bool {
	switch at := min(c.due, c.backDue, c.lsu.due); {
	case at <= now+1 || c.awake:
		return true
	case at != never:
		c.Base.ClockHandle().WakeAt(at)
	}
	return false
}

// StayAwake makes the core tick in every cycle. Tests use it to show that sleeping changes no result.
func (c *Core) StayAwake() { c.awake = true }

// Settle books the time up to the clock's last cycle, for an observer that reads the counts in the middle of a run or
// after a run was stopped.
func (c *Core) Settle() {
	if c.err == nil && !c.over {
		c.settle(c.ClockHandle().Domain().Cycle() + 1)
	}
	c.settleAll()
}

// LastCycle returns the last cycle in which the core had work.
func (c *Core) LastCycle() uint64 { return c.last }

// release clears the scoreboard entries of instructions that were written back two cycles ago.
func (c *Core) release(sl *slice, now uint64) {
	sl.bypass.commits &^= 1 << ((now - commitToRelease) % 64)
	for id := sl.releases.take(now); id != noFlight; {
		f := &c.all[id]
		c.end(id)
		id = f.next
		c.moved = true
		w := &c.warps[f.warp]
		if f.op == nil {
			continue
		}
		// If it was forwarded, a later instruction may have reserved its register.
		if regs := f.op.Writes(); regs != 0 && f.access != forwards {
			w.board.release(causeOf[f.class], regs)
			if w.issueHead != nil && w.board.wanted&regs != 0 {
				c.bookPhase(w, f.op.Phase(), c.Cycles) // the wait was for the instruction that wrote it
				c.updateHazard(sl, int(f.warp))
			}
		}
		c.done(w, f.warp, now)
	}
}

// forward clears the scoreboard entries of instructions whose results are forwarded from this cycle on.
func (c *Core) forward(sl *slice, now uint64) {
	for _, f := range sl.forward.take(now) {
		c.moved = true
		w, regs := &c.warps[f.warp], f.op.Writes()
		w.board.release(causeOf[f.op.LatencyClass()], regs)
		if w.issueHead != nil && w.board.wanted&regs != 0 {
			c.bookPhase(w, f.op.Phase(), c.Cycles)
			c.updateHazard(sl, int(f.warp))
		}
	}
}

// done books the end of an instruction of warp i, whose state is w.
func (c *Core) done(w *warp, i uint8, now uint64) {
	w.ended = now
	c.inFlight--
	c.Committed++
	if w.pending--; w.pending == 0 && w.fault != nil {
		c.reach(int(i), now)
	}
}

// drained reports whether a single instruction of w is in flight. The scheduler's counter shows it a cycle after the
// scoreboard.
func (w *warp) drained(now uint64) bool { return w.pending == 1 && w.ended < now }
