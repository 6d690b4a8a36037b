package emu

import (
	"fmt"
	"slices"

	"heddle/isa"
)

// Interface for timed machines, which decide themselves when a warp fetches, when an instruction takes effect, and when
// memory is accessed. Run does all of it at once.

// Decode returns the instruction at pc, prepared, without executing it.
func (w *Warp) Decode(pc uint32) (*Op, error) {
	o, err := w.fetchAt(pc)
	if err != nil {
		return nil, w.trap(err, pc)
	}
	return o, nil
}

// Execute performs an instruction that is not a memory access. The instructions of a warp must be executed in program
// order; memory accesses take part in that order with Issue.
func (w *Warp) Execute(o *Op) error {
	pc := w.pc
	w.count(o)
	if err := o.exec(w, o); err != nil {
		return w.trap(err, pc)
	}
	return nil
}

// Issue reads the operands of a memory access and fills a with its addresses.
func (w *Warp) Issue(o *Op, a *Access) error {
	pc := w.pc
	w.count(o)
	if err := a.begin(w, o); err != nil {
		return w.trap(err, pc)
	}
	a.pc = pc
	w.pc += 4
	return nil
}

// Perform applies an issued access: it reads and writes memory, and sets rd. Accesses take effect in the order of the
// calls.
func (a *Access) Perform() error {
	if f := a.w.m.effect; f != nil {
		f(a, a.Mask)
	}
	if a.given {
		a.performGiven()
		return nil
	}
	if err := a.op.memory(a); err != nil {
		return a.w.trap(err, a.pc)
	}
	if a.outcome != nil {
		a.outcome.Wrote |= a.wrote
		a.outcome.Left &^= a.Mask
	}
	return nil
}

// PerformLanes applies some lanes of an issued access, lower lanes first, and reports whether an atomic among them
// wrote.
func (a *Access) PerformLanes(lanes uint32) (wrote bool, err error) {
	all := a.Mask
	a.Mask, a.wrote = all&lanes, 0
	err = a.Perform()
	a.Mask = all
	return a.wrote != 0, err
}

// ObserveEffects makes the machine call f with every access, or lanes of an atomic, before it takes effect, in the
// order of effects.
func (m *Machine) ObserveEffects(f func(a *Access, lanes uint32)) { m.effect = f }

// Where returns the warp of the access, and the address of its instruction.
func (a *Access) Where() (core, warp int, pc uint32) { return a.w.core.id, a.w.id, a.pc }

// Op returns the instruction of the access.
func (a *Access) Op() *Op { return a.op }

// count books one executed instruction.
func (w *Warp) count(o *Op) {
	st := &w.core.stats
	st.WarpInstrs++
	st.ByClass[o.class]++
	st.LanesByClass[o.class] += w.lanes
	if o.edge != 0 {
		w.countEdges(o, w.mask, w.lanes)
	}
}

// countEdges counts executions that handle edges: one edge per lane, or one for all warps of a thread block, attributed
// to its first lane.
func (w *Warp) countEdges(o *Op, mask uint32, lanes uint64) {
	st := &w.core.stats
	st.Iterations++
	if o.edge > 1 {
		if w.id%int(o.edge) != 0 {
			return
		}
		mask, lanes = 1, 1
	}
	st.Edges += lanes
	w.handle(mask)
}

// handle counts an edge for each lane of the mask.
func (w *Warp) handle(mask uint32) {
	w.laneEdges.add(mask)
	w.laneTotals = w.laneTotals[:0]
}

// laneCount counts for every lane: bit l of word i is bit i of lane l's count.
type laneCount [64]uint32

// add counts one for each lane of the mask.
func (c *laneCount) add(mask uint32) {
	for i := 0; mask != 0 && i < len(c); i++ {
		c[i], mask = c[i]^mask, c[i]&mask
	}
}

// digits returns the number of bits of the largest count.
func (c *laneCount) digits() int {
	n := len(c)
	for n > 0 && c[n-1] == 0 {
		n--
	}
	return n
}

// of returns a lane's count, which has that many bits.
func (c *laneCount) of(lane, digits int) (n uint64) {
	for i, w := range c[:digits] {
		n |= uint64(w>>lane&1) << i
	}
	return n
}

// LaneEdges returns the number of edges that each lane has handled since the machine was created, core by core and warp
// by warp, in n's place if they have room there.
func (m *Machine) LaneEdges(n []uint64) []uint64 {
	n = slices.Grow(n[:0], m.cfg.Cores*m.cfg.Warps*m.cfg.Threads)
	for _, c := range m.cores {
		for _, w := range c.warps {
			n = append(n, w.totals()...)
		}
	}
	return n
}

// AddLaneEdges adds them to n.
func (m *Machine) AddLaneEdges(n []uint64) {
	for _, c := range m.cores {
		for _, w := range c.warps {
			for l, more := range w.totals() {
				n[l] += more
			}
			n = n[w.n:]
		}
	}
}

// totals returns the counts of the warp's lanes as numbers.
func (w *Warp) totals() []uint64 {
	if len(w.laneTotals) == 0 {
		digits := w.laneEdges.digits()
		for l := range w.n {
			w.laneTotals = append(w.laneTotals, w.laneEdges.of(l, digits))
		}
	}
	return w.laneTotals
}

// SetClock sets the source of mcycle.
func (c *Core) SetClock(now func() uint64) { c.clock = now }

// SetReleased sets the callback for device-wide barriers that open, by another core's arrival or end, while warps of
// this core wait there.
func (c *Core) SetReleased(f func()) { c.released = f }

// SetCounters sets the source of mhpmcounter3 and the following counters, from number 0 on.
func (c *Core) SetCounters(f func(n int) uint64) { c.counters = f }

// SetHalted sets the callback for the end of the program by a request to the host, which ends all warps.
func (c *Core) SetHalted(f func()) { c.halted = f }

// SetAllAtBarrier sets the callback for the moment when all of the core's warps wait at a device-wide barrier. The core
// then arrives there only with Arrive.
func (c *Core) SetAllAtBarrier(f func()) { c.allAtBarrier = f }

// Effects beyond the core. A timed machine applies them at the end of a cycle, core by core, so that results do not
// depend on the order of cores within the cycle.

// DeferUnits delays the visibility of stores by the core's graph units until LandUnits; tell is called when there are
// some.
func (c *Core) DeferUnits(tell func()) { c.memory.Defer(tell) }

// LandUnits makes the stores of the core's graph units visible.
func (c *Core) LandUnits() { c.memory.Land() }

// Declare publishes arrivals at device-wide barriers. It returns the first error of an arrival that contradicts them.
func (c *Core) Declare() (err error) {
	for _, d := range c.declared {
		if e := c.m.device.declare(d.id, d.count); e != nil && err == nil {
			err = d.w.trap(e, d.pc)
		}
	}
	c.declared = c.declared[:0]
	return err
}

// Arrive makes the core arrive at the barrier at which all its warps wait.
func (c *Core) Arrive() {
	c.arrived = true
	c.m.device.check(c)
}

// cycle returns the value of mcycle; without a clock, the number of executed instructions.
func (c *Core) cycle() uint64 {
	if c.clock == nil {
		return c.stats.WarpInstrs
	}
	return c.clock()
}

// demands are the properties of an instruction that a pipeline needs at every stage; they are computed once, when it is
// prepared.
type demands struct {
	waitsFor, writes uint64
	unit             isa.Unit
	bankConflicts    uint8
	steers           bool
}

// registerBanks is the number of banks of the register file; a register is in the bank of its number modulo that.
const registerBanks = 4

func demandsOf(in *isa.Inst) demands {
	d := demands{
		waitsFor: (1<<in.Rd | 1<<in.Rs1 | 1<<in.Rs2 | 1<<in.Rs3) &^ 1,
		writes:   1 << in.Rd &^ 1,
		unit:     in.Class.Unit(),
		steers:   in.Class == isa.ClassBranch || in.Class == isa.ClassWarp,
	}
	of := [registerBanks]uint8{}
	for _, r := range [3]isa.Reg{in.Rs1, in.Rs2, in.Rs3} {
		if r != 0 {
			d.bankConflicts = max(d.bankConflicts, of[r%registerBanks])
			of[r%registerBanks]++
		}
	}
	return d
}

// Unit returns the functional unit that executes the instruction.
func (o *Op) Unit() isa.Unit { return o.demands.unit }

// Reads returns the registers that must be available before the instruction may start, a bit each: those it reads, and
// the one it writes. x0 is never waited for.
func (o *Op) Reads() uint64 { return o.demands.waitsFor }

// Writes returns the bit of the register that the instruction writes; 0: none.
func (o *Op) Writes() uint64 { return o.demands.writes }

// BankConflicts returns the number of cycles beyond one that the read of the operands takes: each bank of the register
// file delivers one per cycle.
func (o *Op) BankConflicts() uint8 { return o.demands.bankConflicts }

// Steers reports whether the instruction determines its warp's next address or mask: branches, jumps and warp control.
// Unit instructions that set the mask do so too, which only their unit's traits state.
func (o *Op) Steers() bool { return o.demands.steers }

// FloatCSR reports whether the instruction accesses fflags, frm or fcsr, which all of the warp's
// float instructions before it may change and all behind it may read.
func (o *Op) FloatCSR() bool { return o.class == isa.ClassCSR && o.CSR <= isa.CSRFcsr }

// LatencyClass returns the instruction's class.
func (o *Op) LatencyClass() isa.Class { return o.class }

// PC returns the instruction's address.
func (o *Op) PC() uint32 { return o.pc }

// Phase returns the phase of the program at the instruction.
func (o *Op) Phase() isa.Phase { return o.phase }

// Active returns the core's warps that have not ended, a bit each.
func (c *Core) Active() uint64 { return c.active }

// Waiting reports whether the warp is held by a barrier or by wspawn.
func (w *Warp) Waiting() bool {
	return w.state == atBarrier || w.state == atDeviceBarrier || w.state == spawning
}

// Stats returns the core's counts.
func (c *Core) Stats() Stats {
	s := c.stats
	for _, lanes := range s.LanesByClass {
		s.ThreadInstrs += lanes
	}
	return s
}

// SymbolAt returns the position of an address in the program loaded last, as " <name+0x8>"; empty: no symbol precedes
// it.
func (m *Machine) SymbolAt(addr uint32) string {
	if name, off, ok := m.program.Where(addr); ok {
		return fmt.Sprintf(" <%s+0x%x>", name, off)
	}
	return ""
}
