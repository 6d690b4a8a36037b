package core

import (
	"fmt"
	"math/bits"

	"heddle/components/accel"
	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// inst is an instruction in flight. With more than four fields the Go compiler would
// copy it through memory.
type inst struct {
	op     *emu.Op
	warp   uint8
	access int16 // memory instructions: index into Core.accesses
	rest   uint8 // packets that follow the first, in a unit with fewer lanes than the warp
}

// warp is the pipeline's view of one warp.
type warp struct {
	slice, collector uint8 // of the slice
	trace            Trace
	fetchPC          uint32
	ibuffer          queue[*emu.Op]
	staging          *emu.Op // the head, whose registers the scoreboard watches
	board            scoreboard
	since            uint64    // cycles booked when the time began that belongs to no phase yet
	phase            isa.Phase // of what it issued last
	waited           isa.Phase // whose the time before since was
	pending          int       // instructions decoded and not done
	fault            error     // what was fetched is no instruction: an error if it is reached
}

// slice is one issue slice: the warps of one residue, and their way to the units.
type slice struct {
	members    uint64      // its warps
	selector   selector    // chooses among them
	groups     groups      // of them; empty: selector chooses
	issued     queue[inst] // behind the scoreboard's arbiter
	collectors []collector //
	operands   queue[inst] // behind the collectors' arbiter
	dispatch   [isa.NumUnits]queue[inst]
	alu        queue[inst]               // single-cycle integer operations
	mul        queue[inst]               // multiplier, pipelined
	div        queue[inst]               // divider
	muldivNext bool                      // the switch behind them prefers them to alu
	result     [isa.NumUnits]queue[inst] // before the commit arbiter
	fpuHeld    int                       // operations the FPU holds
	fpuFreed   int                       // of them, those that left in this cycle
	booked     cycle                     // what its scheduler did in the last cycle
	since      uint64                    // cycles booked when the time began that belongs to no phase yet
}

// collector reads the operands of one instruction a cycle.
type collector struct {
	st1, st2, out queue[inst]
	collided      bool // the instruction at the input waits for a bank
}

// Core is one SIMT core.
type Core struct {
	clock.Base
	Stats
	self    owner
	spec    Spec
	latency [isa.NumClasses]uint64
	lanes   [isa.NumUnits]int // of units that take a warp in packets; 0: whole
	source  Source
	warps   []warp
	slices  []slice

	active, stalled uint64             // warps; RTL's active_warps and stalled_warps
	buffered        uint64             // warps with something in the instruction buffer
	staged          uint64             // warps with something before the scoreboard
	ready           uint64             // of them, those that have their registers
	hazard          [numHazards]uint64 // the others, by what they wait for
	picked          uint64             // warps that have issued in this cycle
	branching       uint64             // warps that fetched control, until it is resolved
	asking          uint64             // of them, those whose control is a request to the graph unit, until its answer
	held            uint64             // warps whose barrier or wspawn has not let them go
	fenced          uint64             // warps whose fence has not ended
	letGo           uint64             // the cycle from which warps go on that another core let go; 0: none
	unlocks         [32]uint64
	selector        selector   // chooses the warp to fetch for
	issueDelay      uint64     // through the scoreboard's arbiter
	started         [64]uint32 // by warp: the order of their starts
	starts          uint32
	unscheduled     bool // in the last cycle no warp could be fetched for
	undecoded       bool // in the last cycle an instruction buffer was full
	scheduled       queue[fetchRequest]
	fetching        [64]fetchRequest // by warp: what is under way
	released        queue[release]
	entries         [isa.NumUnits]entry // LSU and SFU
	lsu             lsu
	sync            synchronizer
	inFlight        int // instructions between decode and commit

	over  bool   // Done was true
	awake bool   // tests: never sleep
	moved bool   // something moved in this cycle, so the next can differ
	last  uint64 // the last cycle that was ticked, or slept through and booked

	begun   uint64 // the cycle before the launch
	elapsed uint64 // from launches to their ends, by the clock: what Cycles must come to

	accesses []emu.Access
	free     []int16
	fetchOut []*clock.Link[mem.Request]
	fetchIn  []*clock.Link[mem.Response]

	socket *accel.Socket // nil: no graph unit

	err   error
	event HookEvent
}

type fetchRequest struct {
	pc   uint32
	warp uint8
}

// release clears a register of the scoreboard.
type release struct {
	warp  uint8
	last  bool // the instruction is done
	phase isa.Phase
	regs  uint64
}

// New makes a core that runs the warps of src.
func New(name string, s Spec, src Source) (*Core, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s = s.Derived()
	c := &Core{Base: clock.NewBase(name), spec: s, source: src, latency: s.Latency.table(s.IDiv)}
	c.self.unit = name
	c.lanes = s.narrow()
	c.issueDelay = 1 + levels(s.Warps/s.Issue.Slices)
	c.warps = make([]warp, s.Warps)
	for i := range c.warps {
		c.warps[i] = warp{slice: uint8(i % s.Issue.Slices), collector: uint8(i / s.Issue.Slices % s.Collectors), trace: src.Trace(i), ibuffer: newQueue[*emu.Op](s.IBuffer, &c.self, fmt.Sprintf("instruction buffer of warp %d", i))}
	}
	c.selector = newSelector(policies[s.Schedule.Policy].schedule, s.Schedule.Active, 0, 1, s.Warps, &c.started)
	c.slices = make([]slice, s.Issue.Slices)
	for i := range c.slices {
		c.slices[i] = newSlice(&s, &c.self, fmt.Sprintf("slice %d, ", i))
		c.slices[i].selector = newSelector(policies[s.Issue.Policy].issue, s.Issue.Active, i, s.Issue.Slices, s.Warps, &c.started)
		c.slices[i].groups = c.newGroups(i)
		for w := i; w < s.Warps; w += s.Issue.Slices {
			c.slices[i].members |= 1 << w
		}
	}
	for u := range c.entries {
		c.entries[u] = entry{len(c.slices) - 1, newQueue[inst](2, &c.self, isa.Unit(u).String()+" buffer")}
	}
	c.scheduled = newQueue[fetchRequest](2*s.FetchWidth, &c.self, "schedule buffer")
	c.released = newQueue[release](16*s.Issue.Slices*s.Issue.Dispatch, &c.self, "write-back")
	c.accesses = make([]emu.Access, s.accesses())
	for i := len(c.accesses) - 1; i >= 0; i-- {
		c.free = append(c.free, int16(i))
	}
	c.lsu = newLSU(&s, &c.self)
	src.SetClock(func() uint64 { return c.Place().Domain().Cycle() })
	src.SetReleased(c.otherCore)
	src.SetAllAtBarrier(c.allAtBarrier)
	return c, nil
}

// accesses bounds the memory accesses between dispatch and their last answer:
// two dispatch buffers a slice, the unit's queues, and its loads.
func (s *Spec) accesses() int { return 2*s.Issue.Slices + 8 + s.LSUQueue }

func newSlice(s *Spec, of *owner, in string) slice {
	q := func(places int, name string) queue[inst] { return newQueue[inst](places, of, in+name) }
	sl := slice{
		issued: q(2*s.Issue.Dispatch*int(1+levels(s.Warps/s.Issue.Slices)), "issued"), operands: q(2*s.Issue.Dispatch, "operands"),
		alu: q(max(1, s.Latency.ALU-1), "integer unit"), mul: q(s.Latency.Mul, "multiplier"), div: q(s.divisions(), "divider"),
	}
	for range s.Collectors {
		sl.collectors = append(sl.collectors, collector{q(1, "collector stage 1"), q(1, "collector stage 2"), q(2, "collector output"), false})
	}
	for u := range sl.dispatch {
		sl.dispatch[u] = q(2, isa.Unit(u).String()+" dispatch")
		sl.result[u] = q(2, isa.Unit(u).String()+" result")
	}
	sl.result[isa.FPU] = q(s.FPUQueue, "FPU result")
	sl.result[isa.SFU] = q(2*3, "SFU result") // response, switch and gather buffers
	sl.result[isa.LSU] = q(2*3, "LSU result") // response, arbiter and gather buffers
	return sl
}

// divisions is how many a slice can have under way.
func (s *Spec) divisions() int {
	if s.IDiv == DividerSerial {
		return 1
	}
	return s.Latency.Div
}

// Connect gives the core its links to the instruction cache, one pair for each warp that
// is fetched for in a cycle.
func (c *Core) Connect(out []*clock.Link[mem.Request], in []*clock.Link[mem.Response]) {
	c.fetchOut, c.fetchIn = out, in
}

// Start makes the warps runnable that the source has started.
func (c *Core) Start() {
	c.last, c.over = c.Place().Domain().Cycle(), false
	c.begun = c.last
	if c.sync.warm {
		c.sync.begin(false, c.spec.KeepL1I)
	} else {
		c.startNew(0)
	}
	c.sync.warm = true
	c.Place().Wake()
}

// Err returns the program error that stopped the core.
func (c *Core) Err() error { return c.err }

// Done tells that no warp is left and nothing is in flight, stores included that the L1D
// has not taken.
func (c *Core) Done() bool {
	return c.active == 0 && c.source.Active() == 0 && c.inFlight == 0 && c.lsu.idle() && c.unitIdle()
}

// Tick does one cycle, the stages back to front. A cycle in which nothing moved
// would be repeated until a time comes or a link brings something: the core sleeps
// until then.
func (c *Core) Tick(now uint64) bool {
	if c.err != nil || c.over {
		return false
	}
	c.self.now = now
	c.settle(now)
	c.moved = false
	c.release(now)
	c.unlock(now)
	for i := range c.slices {
		c.commit(&c.slices[i], now)
	}
	c.synchronize()
	c.lsu.tick(c, now)
	c.gather(isa.LSU, now)
	if c.socket != nil {
		c.reply(now)
	}
	c.executeSFU(now)
	c.gather(isa.SFU, now)
	for i := range c.slices {
		c.execute(&c.slices[i], now)
	}
	for i := range c.slices {
		c.dispatchStage(&c.slices[i], now)
		c.collect(&c.slices[i], now)
		c.issue(&c.slices[i], now)
	}
	c.book(1)
	c.stage(now)
	c.decode(now)
	c.fetch(now)
	c.schedule(now)
	c.bookFront(1)
	c.last = now
	if c.over = c.Done(); c.over {
		c.elapsed += now - c.begun
		c.bookIdle()
		return false
	}
	return c.moved || c.awake || c.sleep(now)
}

// StayAwake makes the core tick in every cycle, for tests that sleeping changes no result.
func (c *Core) StayAwake() { c.awake = true }

// sleep sets the timer for the next cycle in which time lets something move. It
// returns false: links wake the core for all else.
func (c *Core) sleep(now uint64) bool {
	if at := c.nextEvent(now); at != clock.Never {
		c.Place().WakeAt(at)
	}
	return false
}

// settle books the cycles slept through before cycle now.
func (c *Core) settle(now uint64) {
	if skipped := now - c.last - 1; now > c.last+1 {
		c.book(skipped)
		c.bookFront(skipped)
		c.last += skipped
	}
}

// Settle books the cycles slept through up to the clock's last cycle, for an observer that wants
// the counts in the middle of a run, or of a run that has been stopped.
func (c *Core) Settle() {
	if c.err == nil && !c.over {
		c.settle(c.Place().Domain().Cycle() + 1)
	}
}

// LastCycle returns the last cycle in which the core had work.
func (c *Core) LastCycle() uint64 { return c.last }

// release lets the scoreboard forget what was written back two cycles ago.
func (c *Core) release(now uint64) {
	for c.released.ready(now) {
		r := c.released.pop()
		c.moved = true
		c.awaited(&r)
		c.warps[r.warp].board.release(r.regs)
		c.look(int(r.warp))
		if r.last {
			c.done(&c.warps[r.warp])
		}
	}
}

// done books the end of one of w's instructions.
func (c *Core) done(w *warp) {
	c.inFlight--
	c.Committed++
	if w.pending--; w.pending == 0 && w.fault != nil {
		c.fail(w.fault)
	}
}

// unlock makes warps schedulable whose turn has come.
func (c *Core) unlock(now uint64) {
	if set := &c.unlocks[now%uint64(len(c.unlocks))]; *set != 0 {
		c.moved = true
		c.stalled &^= *set
		c.branching &^= *set
		*set = 0
	}
	if c.letGo != 0 && c.letGo <= now {
		c.letGo = 0
		c.resumeHeld(now)
	}
}

// resumeHeld makes the warps go on that a barrier or wspawn holds no longer.
func (c *Core) resumeHeld(at uint64) {
	for m := c.held; m != 0; m &= m - 1 {
		if w := bits.TrailingZeros64(m); !c.warps[w].trace.Waiting() {
			c.held &^= 1 << w
			c.resume(w, at)
		}
	}
}

// otherCore is called when another core lets warps of this one go. They see it
// in the next cycle, whichever of the two cores ticks first.
func (c *Core) otherCore() {
	if c.letGo == 0 {
		c.letGo = c.Place().Domain().Cycle() + 1
	}
	c.Place().Wake()
}

// resume lets warp w go on where its trace is.
func (c *Core) resume(w int, at uint64) {
	c.moved = true
	c.resolved(w)
	c.warps[w].fetchPC = c.warps[w].trace.PC()
	if at <= c.Place().Domain().Cycle() {
		c.stalled &^= 1 << w
		c.branching &^= 1 << w
		return
	}
	c.unlocks[at%uint64(len(c.unlocks))] |= 1 << w
}

// startNew makes warps runnable that wspawn has started.
func (c *Core) startNew(at uint64) {
	for m := c.source.Active() &^ c.active; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		c.active |= 1 << w
		c.stalled |= 1 << w
		c.warps[w].since, c.warps[w].phase, c.warps[w].waited = c.Cycles, isa.PhaseOther, isa.PhaseOther
		c.starts++
		c.started[w] = c.starts
		c.resume(w, at)
	}
}

// fail stops the core with a program error.
func (c *Core) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// takeAccess returns a free access; their number bounds what the pipeline can hold.
func (c *Core) takeAccess() int16 {
	n := len(c.free) - 1
	if n < 0 {
		panic(fmt.Sprintf("BUG: %s @%d: no memory access is free", c.Name(), c.Place().Domain().Cycle()))
	}
	i := c.free[n]
	c.free = c.free[:n]
	return i
}
