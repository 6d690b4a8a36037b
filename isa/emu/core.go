package emu

import (
	"math/bits"

	"heddle/isa"
)

// Core is one core's architectural state.
type Core struct {
	m        *Machine
	id       int
	warps    []*Warp
	active   uint64 // warps that have not ended
	scratch  []byte
	barriers []barrier
	mscratch uint32
	mtvec    uint32 // where traps go; 0: they end the run
	units    []Unit
	stats    Stats
	clock    func() uint64 // a timed machine's clock
	released func()        // called when a device-wide barrier releases warps; nil: no observer

	counters     func(int) uint64 // source of performance counters; nil: they read 0
	halted       func()           // called when the program has ended for all warps at once; nil: no observer
	allAtBarrier func()           // called when all warps wait at a device-wide barrier; nil: the core arrives at once
	announced    bool             // it was called
	arrived      bool             // and Arrive followed

	memory   *Memory       // the units' view
	declared []declaration // arrivals at device-wide barriers that other cores do not know yet
}

// declaration is a warp's arrival at a device-wide barrier.
type declaration struct {
	w         *Warp
	id, count uint32
	pc        uint32
}

// barrier is one core-local barrier: the warps that have arrived, and the number that it waits for.
type barrier struct {
	arrived uint64
	count   uint32
}

func newCore(m *Machine, id int) *Core {
	c := &Core{
		m: m, id: id,
		scratch:  make([]byte, m.cfg.ScratchpadBytes),
		barriers: make([]barrier, numBarriers(m.cfg.Warps)), memory: m.Mem.View(),
	}
	if m.cfg.Units != nil {
		c.units = m.cfg.Units(id)
		for _, u := range c.units {
			if u, ok := u.(MemoryUnit); ok {
				u.UseMemory(c.memory)
			}
		}
	}
	for i := range m.cfg.Warps {
		c.warps = append(c.warps, newWarp(c, i))
	}
	return c
}

// numBarriers is Vortex's number of barriers, core-local and device-wide.
func numBarriers(warps int) int { return max(1, warps/2) }

// Warp returns warp i of the core.
func (c *Core) Warp(i int) *Warp { return c.warps[i] }

// Scratchpad returns the core's scratchpad memory.
func (c *Core) Scratchpad() []byte { return c.scratch }

func (c *Core) launch(pc uint32) {
	c.active, c.announced, c.arrived, c.declared = 0, false, false, c.declared[:0]
	c.mscratch, c.mtvec = c.m.cfg.Arg, 0
	clear(c.barriers)
	for _, u := range c.units {
		u.Launch()
	}
	for _, w := range c.warps {
		w.state = stopped
		w.preload()
	}
	c.warps[0].start(pc)
}

// ended is called when a warp of the core has ended.
func (c *Core) ended() {
	if bits.OnesCount64(c.active) == 1 { // a waiting wspawn may go on
		if w := c.warps[bits.TrailingZeros64(c.active)]; w.state == spawning {
			c.spawn(w)
		}
	}
	c.m.device.changed(c)
}

// spawn starts the warps that w's wspawn asked for. It is called when w is the
// core's only warp.
func (c *Core) spawn(w *Warp) {
	for i, o := range c.warps {
		if uint32(i) < w.spawnCount && o != w {
			o.start(w.spawnPC)
		}
	}
	w.state = running
}

// arrive makes w wait at a core-local barrier.
func (c *Core) arrive(w *Warp, id, count uint32) error {
	b := &c.barriers[id]
	if b.arrived != 0 && b.count != count {
		return faultf(BarrierMisuse, -1, "barrier %d for %d warps, but warps that wait there said %d", id, count,
			b.count)
	}
	if int(count) > len(c.warps) {
		return faultf(BarrierMisuse, -1, "barrier %d for %d warps on a core of %d", id, count, len(c.warps))
	}
	b.count = count
	b.arrived |= 1 << w.id
	w.state, w.barrier = atBarrier, id
	if bits.OnesCount64(b.arrived) == int(count) {
		if len(c.m.cores) == 1 {
			c.m.opened(w.pc)
		}
		c.release(b.arrived)
		*b = barrier{}
	}
	return nil
}

// release makes waiting warps runnable.
func (c *Core) release(set uint64) {
	for ; set != 0; set &= set - 1 {
		c.warps[bits.TrailingZeros64(set)].state = running
	}
}

// open makes warps runnable that waited at a device-wide barrier.
func (c *Core) open(set uint64) {
	if set == 0 {
		return
	}
	c.release(set)
	c.announced, c.arrived = false, false
	if c.released != nil {
		c.released()
	}
}

// unitIndex returns where the core keeps the unit of that name, or -1. All
// cores have the same units in the same order.
func (c *Core) unitIndex(name string) int {
	for i, u := range c.units {
		if u.Name() == name {
			return i
		}
	}
	return -1
}

// deviceBarriers are the barriers across cores. A core has arrived when all its active warps have.
type deviceBarriers struct {
	m       []deviceBarrier
	perCore int // words of arrived; one per core
}

type deviceBarrier struct {
	waiting []uint64 // per core: warps that have arrived
	count   uint32   // cores that it waits for; 0: no warp has arrived
}

func newDeviceBarriers(cfg *Config) deviceBarriers {
	d := deviceBarriers{m: make([]deviceBarrier, numBarriers(cfg.Warps)), perCore: cfg.Cores}
	d.reset()
	return d
}

func (d *deviceBarriers) reset() {
	for i := range d.m {
		d.m[i] = deviceBarrier{waiting: make([]uint64, d.perCore)}
	}
}

func (d *deviceBarriers) arrive(w *Warp, id, count uint32) error {
	if int(count) > d.perCore {
		return faultf(BarrierMisuse, -1, "device barrier %d for %d cores on a device of %d", id, count, d.perCore)
	}
	if c := w.core; c.allAtBarrier != nil {
		c.declared = append(c.declared, declaration{w, id, count, w.pc})
	} else if err := d.declare(id, count); err != nil {
		return err
	}
	d.m[id].waiting[w.core.id] |= 1 << w.id
	w.state, w.barrier = atDeviceBarrier, id
	d.changed(w.core)
	return nil
}

// declare records the number of cores of a barrier.
func (d *deviceBarriers) declare(id, count uint32) error {
	b := &d.m[id]
	if b.count != 0 && b.count != count {
		return faultf(BarrierMisuse, -1, "device barrier %d for %d cores, but warps that wait there said %d", id, count,
			b.count)
	}
	b.count = count
	return nil
}

// changed is called when a warp of core c has arrived or ended.
func (d *deviceBarriers) changed(c *Core) {
	if c.allAtBarrier == nil {
		d.check(c)
		return
	}
	for i := range d.m {
		if b := &d.m[i]; b.waiting[c.id] != 0 {
			c.announce(b)
		}
	}
}

// check opens the barriers that are complete after core c has changed.
func (d *deviceBarriers) check(c *Core) {
	for i := range d.m {
		b := &d.m[i]
		if b.count == 0 || b.waiting[c.id] == 0 || b.arrived(c.m) < b.count {
			continue
		}
		c.m.opened(c.warps[bits.TrailingZeros64(b.waiting[c.id])].pc)
		for core, set := range b.waiting {
			c.m.cores[core].open(set)
			b.waiting[core] = 0
		}
		b.count = 0
	}
}

// arrived returns the number of cores that have arrived.
func (b *deviceBarrier) arrived(m *Machine) (n uint32) {
	for core, set := range b.waiting {
		if c := m.cores[core]; set != 0 && set == c.active && (c.arrived || c.allAtBarrier == nil) {
			n++
		}
	}
	return n
}

// announce reports, once, that all warps of the core wait at b.
func (c *Core) announce(b *deviceBarrier) {
	if !c.announced && b.waiting[c.id] == c.active {
		c.announced = true
		c.allAtBarrier()
	}
}

// reservations are the words reserved by lr.w. There are rarely more than a
// few, and none in most programs.
type reservations struct{ list []reservation }

type reservation struct {
	hart uint32
	addr uint64 // device address; scratchpad words carry their core above bit 32
}

func (r *reservations) take(hart uint32, addr uint64) {
	for i := range r.list {
		if r.list[i].hart == hart {
			r.list[i].addr = addr
			return
		}
	}
	r.list = append(r.list, reservation{hart, addr})
}

// use ends the hart's reservation and reports whether it was for addr.
func (r *reservations) use(hart uint32, addr uint64) bool {
	for i, x := range r.list {
		if x.hart == hart {
			r.remove(i)
			return x.addr == addr
		}
	}
	return false
}

// written ends all other harts' reservations of the word at addr.
func (r *reservations) written(hart uint32, addr uint64) {
	for i := len(r.list) - 1; i >= 0; i-- {
		if r.list[i].addr == addr&^3 && r.list[i].hart != hart {
			r.remove(i)
		}
	}
}

func (r *reservations) remove(i int) {
	n := len(r.list) - 1
	r.list[i] = r.list[n]
	r.list = r.list[:n]
}

// console collects output. Characters of one slot form lines of their own, so
// that harts printing at once do not mix inside a line.
type console struct {
	slots     [ConsoleEnd - ConsoleBase][]byte
	all       []byte
	truncated bool
	out       func([]byte)
}

func (c *console) put(slot uint32, b byte) {
	s := &c.slots[slot]
	*s = append(*s, b)
	if b == '\n' || len(*s) >= 1<<12 {
		c.emit(slot)
	}
}

func (c *console) emit(slot uint32) {
	s := &c.slots[slot]
	if len(*s) == 0 {
		return
	}
	if len(c.all)+len(*s) > maxConsoleBytes {
		c.truncated = true
	} else {
		c.all = append(c.all, *s...)
		if c.out != nil {
			c.out(*s)
		}
	}
	*s = (*s)[:0]
}

// flush ends the lines that are still open.
func (c *console) flush() {
	for i := range c.slots {
		c.emit(uint32(i))
	}
}

// csr reads a CSR as seen by one lane.
func (w *Warp) csr(num uint16, lane int) uint32 {
	c, cfg := w.core, &w.m.cfg
	switch num {
	case isa.CSRFflags:
		return uint32(w.fp.Flags)
	case isa.CSRFrm:
		return uint32(w.frm)
	case isa.CSRFcsr:
		return uint32(w.frm)<<5 | uint32(w.fp.Flags)
	case isa.CSRMscratch:
		return c.mscratch
	case isa.CSRTid:
		return uint32(lane)
	case isa.CSRWid:
		return uint32(w.id)
	case isa.CSRCid:
		return uint32(c.id)
	case isa.CSRActiveWarps:
		return uint32(c.active)
	case isa.CSRActiveThreads:
		return w.mask
	case isa.CSRMhartid:
		return w.hart(lane)
	case isa.CSRNumThreads:
		return uint32(cfg.Threads)
	case isa.CSRNumWarps:
		return uint32(cfg.Warps)
	case isa.CSRNumCores:
		return uint32(cfg.Cores)
	case isa.CSRLocalMemBase:
		return ScratchpadBase
	case isa.CSRMcycle, isa.CSRCycle:
		return uint32(c.cycle())
	case isa.CSRMcycleh, isa.CSRCycleh:
		return uint32(c.cycle() >> 32)
	case isa.CSRMinstret, isa.CSRInstret:
		return uint32(c.stats.WarpInstrs)
	case isa.CSRMinstreth, isa.CSRInstreth:
		return uint32(c.stats.WarpInstrs >> 32)
	}
	return w.rarer(num)
}

// rarer reads the CSRs of traps, units and performance counters.
func (w *Warp) rarer(num uint16) uint32 {
	c := w.core
	switch num {
	case isa.CSRMstatus:
		return w.machine.status | isa.Mstatus
	case isa.CSRMtvec:
		return c.mtvec
	case isa.CSRMepc:
		return w.machine.epc
	case isa.CSRMcause:
		return w.machine.cause
	case isa.CSRMtval:
		return w.machine.tval
	case isa.CSRUnits:
		v := uint32(0)
		for _, u := range c.units {
			v |= u.Presence()
		}
		return v
	}
	for _, u := range c.units {
		if v, ok := u.CSR(num); ok {
			return v
		}
	}
	return c.counter(num)
}

// counter returns a half of a performance counter, and 0 for other CSRs.
func (c *Core) counter(num uint16) uint32 {
	switch low, high := num-isa.CSRCounters, num-isa.CSRCountersh; {
	case c.counters == nil:
		return 0
	case low < isa.NumCounters:
		return uint32(c.counters(int(low)))
	case high < isa.NumCounters:
		return uint32(c.counters(int(high)) >> 32)
	}
	return 0
}

// setCSR writes a CSR that is writable.
func (w *Warp) setCSR(num uint16, v uint32) {
	switch num {
	case isa.CSRFflags:
		w.fp.Flags = uint8(v & 31)
	case isa.CSRFrm:
		w.frm = uint8(v & 7)
	case isa.CSRFcsr:
		w.fp.Flags, w.frm = uint8(v&31), uint8(v>>5&7)
	case isa.CSRMscratch:
		w.core.mscratch = v
	case isa.CSRMstatus:
		w.machine.status = v & (isa.MstatusMIE | isa.MstatusMPIE)
	case isa.CSRMtvec:
		w.core.mtvec = v &^ 3
	case isa.CSRMepc:
		w.machine.epc = v &^ 3
	case isa.CSRMcause:
		w.machine.cause = v
	case isa.CSRMtval:
		w.machine.tval = v
	}
}
