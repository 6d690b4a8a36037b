package emu

import (
	"fmt"

	"heddle/isa"
)

// What follows is for machines with time, which decide themselves when a warp
// fetches, when an instruction takes effect, and when memory is reached. Run
// does the same in one go.

// Decode returns the instruction at pc, prepared, without executing it.
func (w *Warp) Decode(pc uint32) (*Op, error) {
	o, err := w.fetchAt(pc)
	if err != nil {
		return nil, w.trap(err, pc)
	}
	return o, nil
}

// Execute gives an instruction that is not a memory access its effect. The
// instructions of a warp must be executed in program order; memory accesses
// take part in that order with Issue.
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

// Perform lets an issued access take effect: memory is read and written, and
// rd gets its value. Accesses take effect in the order of the calls.
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

// PerformLanes lets some lanes of an issued access take effect, lower lanes
// first, and reports whether one of an atomic wrote.
func (a *Access) PerformLanes(lanes uint32) (wrote bool, err error) {
	all := a.Mask
	a.Mask, a.wrote = all&lanes, 0
	err = a.Perform()
	a.Mask = all
	return a.wrote != 0, err
}

// ObserveEffects has f see every access, or the lanes of an atomic, before it takes
// effect. The order of the calls is the order of the effects.
func (m *Machine) ObserveEffects(f func(a *Access, lanes uint32)) { m.effect = f }

// Where returns which warp's access it is, and where its instruction is.
func (a *Access) Where() (core, warp int, pc uint32) { return a.w.core.id, a.w.id, a.pc }

// Op returns the instruction of the access.
func (a *Access) Op() *Op { return a.op }

// count books one executed instruction.
func (w *Warp) count(o *Op) {
	st := &w.core.stats
	st.WarpInstrs++
	st.ThreadInstrs += w.lanes
	st.ByClass[o.class]++
	if o.edge != 0 {
		w.countEdges(o, w.mask, w.lanes)
	}
}

// countEdges books what handles edges: an edge a lane, or one for all warps of a thread block, which is its first
// lane's.
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
	w.laneEdges.add(mask)
}

// laneCount counts for every lane: bit l of word i is bit i of lane l's count.
type laneCount [64]uint32

// add counts one for each lane of the mask.
func (c *laneCount) add(mask uint32) {
	for i := 0; mask != 0 && i < len(c); i++ {
		c[i], mask = c[i]^mask, c[i]&mask
	}
}

// digits returns how many bits the largest count has.
func (c *laneCount) digits() int {
	n := len(c)
	for n > 0 && c[n-1] == 0 {
		n--
	}
	return n
}

// of returns a lane's count, of so many bits.
func (c *laneCount) of(lane, digits int) (n uint64) {
	for i, w := range c[:digits] {
		n |= uint64(w>>lane&1) << i
	}
	return n
}

// LaneEdges returns how many edges each lane has handled since the machine was made, core
// by core and warp by warp.
func (m *Machine) LaneEdges() []uint64 {
	n := make([]uint64, 0, m.cfg.Cores*m.cfg.Warps*m.cfg.Threads)
	for _, c := range m.cores {
		for _, w := range c.warps {
			digits := w.laneEdges.digits()
			for l := range w.n {
				n = append(n, w.laneEdges.of(l, digits))
			}
		}
	}
	return n
}

// SetClock tells what mcycle reads.
func (c *Core) SetClock(now func() uint64) { c.clock = now }

// SetReleased tells whom to call when another core's arrival or end opens a device-wide
// barrier at which warps of this core wait.
func (c *Core) SetReleased(f func()) { c.released = f }

// SetCounters tells what mhpmcounter3 and those behind it read, from number 0 on.
func (c *Core) SetCounters(f func(n int) uint64) { c.counters = f }

// SetHalted tells whom to call when the program has asked the host for its end: all warps are over, wherever they are.
func (c *Core) SetHalted(f func()) { c.halted = f }

// SetAllAtBarrier tells whom to call when all of the core's warps wait at a device-wide barrier.
// The core has then not arrived there before Arrive.
func (c *Core) SetAllAtBarrier(f func()) { c.allAtBarrier = f }

// What follows reaches beyond the core. On a machine with time that happens at the end of a cycle, core by core, so
// that nothing depends on which core was first within it.

// DeferUnits has what the core's graph units store reach others with LandUnits only; tell is called when there is some.
func (c *Core) DeferUnits(tell func()) { c.memory.Defer(tell) }

// LandUnits has others see what the core's graph units have stored.
func (c *Core) LandUnits() { c.memory.Land() }

// Declare has other cores know of arrivals at device-wide barriers. The error is the first that disagrees with them.
func (c *Core) Declare() (err error) {
	for _, d := range c.declared {
		if e := c.m.device.declare(d.id, d.count); e != nil && err == nil {
			err = d.w.trap(e, d.pc)
		}
	}
	c.declared = c.declared[:0]
	return err
}

// Arrive lets the core arrive at the barrier at which all its warps wait.
func (c *Core) Arrive() {
	c.arrived = true
	c.m.device.check(c)
}

// cycle is the value of mcycle; without a clock, the instructions executed.
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

// Reads returns the registers that must be there before the instruction may start, a bit each: those it reads, and
// the one it writes. x0 is never waited for.
func (o *Op) Reads() uint64 { return o.demands.waitsFor }

// Writes returns the bit of the register that the instruction writes; 0: none.
func (o *Op) Writes() uint64 { return o.demands.writes }

// BankConflicts returns how many cycles more than one it takes to read the operands: each bank of the register file
// reads one a cycle.
func (o *Op) BankConflicts() uint8 { return o.demands.bankConflicts }

// Steers reports whether the instruction decides where its warp goes on, or with which lanes: branches, jumps and warp
// control. Unit instructions that set the mask do so too, which only their unit knows.
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

// Stats returns what the core has executed.
func (c *Core) Stats() Stats { return c.stats }

// SymbolAt is where an address lies in the program that was loaded last, as " <name+0x8>"; empty: behind no symbol.
func (m *Machine) SymbolAt(addr uint32) string {
	if name, off, ok := m.program.Where(addr); ok {
		return fmt.Sprintf(" <%s+0x%x>", name, off)
	}
	return ""
}
