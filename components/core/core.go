package core

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// inst is an instruction in flight.
type inst struct {
	op     *emu.Op
	warp   uint8
	access int16 // memory instructions: index into Core.accesses
}

// warp is the pipeline's view of one warp.
type warp struct {
	arch    *emu.Warp
	fetchPC uint32
	ibuffer queue[*emu.Op]
	staging *emu.Op // the head, whose registers the scoreboard watches
	since   uint64  // the cycle from which staging may issue
	busy    uint64  // registers with a write outstanding, a bit each
	pending int     // instructions decoded and not done
	fault   error   // what was fetched is no instruction: an error if it is reached
}

// slice is one issue slice: the warps of one residue, and their way to the units.
type slice struct {
	members    uint64      // its warps
	next       int         // cyclic arbiter: the warp it prefers
	issued     queue[inst] // behind the scoreboard's arbiter
	collectors []collector //
	operands   queue[inst] // behind the collectors' arbiter
	dispatch   [isa.NumUnits]queue[inst]
	alu        queue[inst]               // single-cycle integer operations
	mul        queue[inst]               // multiplier and divider, pipelined
	result     [isa.NumUnits]queue[inst] // before the commit arbiter
	fpuHeld    int                       // operations the FPU holds
	fpuFreed   int                       // of them, those that left in this cycle
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
	spec    Spec
	latency [isa.NumClasses]uint64
	arch    *emu.Core
	warps   []warp
	slices  []slice

	active, stalled uint64 // warps; RTL's active_warps and stalled_warps
	buffered        uint64 // warps with something in the instruction buffer
	staged          uint64 // warps with something before the scoreboard
	held            uint64 // warps whose barrier or wspawn has not let them go
	unlocks         [32]uint64
	scheduled       queue[fetchRequest]
	fetching        [64]fetchRequest // by warp: what is under way
	released        queue[release]
	turns           [isa.NumUnits]turn // LSU and SFU, when there are several slices
	lsu             lsu
	inFlight        int // instructions between decode and commit
	last            uint64

	accesses []emu.Access
	free     []int16
	fetchOut *clock.Link[mem.Request]
	fetchIn  *clock.Link[mem.Response]

	err error
}

type fetchRequest struct {
	pc   uint32
	warp uint8
}

// release clears a register of the scoreboard.
type release struct {
	warp uint8
	regs uint64
	last bool // the instruction is done
}

// Stats is what a core counts.
type Stats struct {
	Cycles     uint64 // cycles with work
	Scheduled  uint64 // warps given to fetch
	Issued     uint64
	Committed  uint64
	BankWaits  uint64 // cycles a collector lost to two operands in one bank
	Coalesced  uint64 // merged requests sent
	LaneLoads  uint64 // lane addresses of loads and stores
	LocalWaits uint64 // cycles lost to scratchpad bank conflicts
}

// New makes a core that executes what arch holds.
func New(name string, s Spec, arch *emu.Core) (*Core, error) {
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s = s.Derived()
	c := &Core{Base: clock.NewBase(name), spec: s, arch: arch, latency: s.Latency.table()}
	c.warps = make([]warp, s.Warps)
	for i := range c.warps {
		c.warps[i] = warp{arch: arch.Warp(i), ibuffer: newQueue[*emu.Op](s.IBuffer)}
	}
	c.slices = make([]slice, s.IssueSlices)
	for i := range c.slices {
		c.slices[i] = newSlice(&s)
		for w := i; w < s.Warps; w += s.IssueSlices {
			c.slices[i].members |= 1 << w
		}
	}
	for u := range c.turns {
		c.turns[u].buffer = newQueue[inst](1)
	}
	c.scheduled = newQueue[fetchRequest](1)
	c.released = newQueue[release](16 * s.IssueSlices)
	c.accesses = make([]emu.Access, s.accesses())
	for i := len(c.accesses) - 1; i >= 0; i-- {
		c.free = append(c.free, int16(i))
	}
	c.lsu = newLSU(&s)
	return c, nil
}

// accesses bounds the memory accesses between dispatch and their last answer:
// two dispatch buffers a slice, the unit's queues, and its loads.
func (s *Spec) accesses() int { return 2*s.IssueSlices + 8 + s.LSUQueue }

func newSlice(s *Spec) slice {
	sl := slice{issued: newQueue[inst](2), operands: newQueue[inst](2), alu: newQueue[inst](max(1, s.Latency.ALU-1)), mul: newQueue[inst](max(s.Latency.Mul, s.Latency.Div))}
	for range s.Collectors {
		sl.collectors = append(sl.collectors, collector{newQueue[inst](1), newQueue[inst](1), newQueue[inst](2), false})
	}
	for u := range sl.dispatch {
		sl.dispatch[u] = newQueue[inst](2)
		sl.result[u] = newQueue[inst](2)
	}
	sl.result[isa.FPU] = newQueue[inst](s.FPUQueue)
	return sl
}

// Connect gives the core its links to the instruction cache.
func (c *Core) Connect(out *clock.Link[mem.Request], in *clock.Link[mem.Response]) {
	c.fetchOut, c.fetchIn = out, in
}

// Start makes the warps that arch has started runnable.
func (c *Core) Start() {
	c.arch.SetClock(c.Place().Domain().Cycle)
	c.startNew(0)
	c.Place().Wake()
}

// Err returns the program error that stopped the core.
func (c *Core) Err() error { return c.err }

// Done tells that no warp is left and nothing is in flight.
func (c *Core) Done() bool {
	return c.active == 0 && c.arch.Active() == 0 && c.inFlight == 0 && c.lsu.idle()
}

// Tick does one cycle, the stages back to front.
func (c *Core) Tick(now uint64) bool {
	if c.err != nil {
		return false
	}
	c.release(now)
	c.unlock(now)
	for i := range c.slices {
		c.commit(&c.slices[i], now)
	}
	c.lsu.tick(c, now)
	c.gather(isa.LSU, now)
	c.executeSFU(now)
	c.gather(isa.SFU, now)
	for i := range c.slices {
		c.execute(&c.slices[i], now)
	}
	for i := range c.slices {
		c.dispatchStage(&c.slices[i], now)
		c.collect(&c.slices[i], now)
		c.issue(i, now)
	}
	c.stage(now)
	c.decode(now)
	c.fetch(now)
	c.schedule(now)
	c.Cycles++
	c.last = now
	return !c.Done()
}

// LastCycle returns the last cycle in which the core had work.
func (c *Core) LastCycle() uint64 { return c.last }

// release lets the scoreboard forget what was written back two cycles ago.
func (c *Core) release(now uint64) {
	for c.released.ready(now) {
		r := c.released.pop()
		c.warps[r.warp].busy &^= r.regs
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
	set := &c.unlocks[now%uint64(len(c.unlocks))]
	c.stalled &^= *set
	*set = 0
	if c.held == 0 {
		return
	}
	for m := c.held; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		if !c.warps[w].arch.Waiting() {
			c.held &^= 1 << w
			c.resume(w, now)
		}
	}
}

// resume lets warp w go on where its architectural state is.
func (c *Core) resume(w int, at uint64) {
	c.warps[w].fetchPC = c.warps[w].arch.PC()
	if at <= c.Place().Domain().Cycle() {
		c.stalled &^= 1 << w
		return
	}
	c.unlocks[at%uint64(len(c.unlocks))] |= 1 << w
}

// startNew makes warps runnable that wspawn has started.
func (c *Core) startNew(at uint64) {
	for m := c.arch.Active() &^ c.active; m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		c.active |= 1 << w
		c.stalled |= 1 << w
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
