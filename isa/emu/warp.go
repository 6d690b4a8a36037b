package emu

import (
	"fmt"
	"math/bits"

	"heddle/isa"
)

// warpState is the state of a warp: running, or the cause of its wait.
type warpState uint8

const (
	stopped warpState = iota
	running
	atBarrier
	atDeviceBarrier
	spawning // wspawn, until it is the core's only warp
	polling  // a unit had no answer yet; the warp asks again at its next turn
)

// sink is the register that instructions with rd = x0 write.
const sink = isa.NumRegs

// allLanes is the mask of the widest warp.
const allLanes = 1<<MaxThreads - 1

// Warp is one warp's architectural state.
type Warp struct {
	m    *Machine
	core *Core
	id   int

	state   warpState
	pc      uint32
	mask    uint32                     // active lanes
	full    uint32                     // all lanes of the machine
	n       int                        // lanes of the machine
	lanes   uint64                     // active lanes, counted
	regs    [isa.NumRegs + 1]isa.Lanes // x, f, sink
	ipdom   isa.IPDOM
	fp      isa.FP // Flags is fflags; RM is set for each instruction
	frm     uint8
	machine machine
	access  Access    // the last memory instruction
	out     isa.Lanes // answers and new values before they are written
	page    *page     `checkpoint:"assembled"` // the page of pc, looked up before
	pageN   uint32    `checkpoint:"assembled"`

	barrier    uint32 // barrier of atBarrier and atDeviceBarrier
	spawnCount uint32
	spawnPC    uint32
	rd         isa.Reg   // destination of the control instruction that executes
	laneEdges  laneCount // edges that each lane has handled
	laneTotals []uint64  `checkpoint:"assembled"` // as numbers, by lane; empty: not computed since they changed
	req        UnitRequest
	routes     [1 << routeBits]route `checkpoint:"assembled"` // found again
}

func newWarp(c *Core, id int) *Warp {
	n := c.m.cfg.Threads
	w := &Warp{
		m: c.m, core: c, id: id, n: n, full: uint32(1<<n - 1),
		ipdom: isa.NewIPDOM(max(1, n-1)),
		pageN: ^uint32(0),
	}
	return w
}

// preload writes the first words of the argument block to the registers of all lanes.
func (w *Warp) preload() {
	arg := w.m.cfg.Arg
	if arg == 0 {
		return
	}
	for i := range w.m.cfg.ArgumentRegisters {
		w.regs[ArgumentRegister(i)].Fill(w.m.Mem.Load32(arg+4*uint32(i)), w.full)
	}
}

// start makes the warp run at pc with lane 0. Its registers keep their values.
func (w *Warp) start(pc uint32) {
	w.state, w.pc = running, pc
	w.ipdom.Reset()
	w.fp.Flags, w.frm, w.machine = 0, 0, machine{}
	w.core.active |= 1 << w.id
	w.mask, w.lanes = 1, 1
}

// hart returns the hardware thread number of a lane.
func (w *Warp) hart(lane int) uint32 {
	return uint32((w.core.id*len(w.core.warps)+w.id)*w.n + lane)
}

// Reg returns a register of one lane.
func (w *Warp) Reg(r isa.Reg, lane int) uint32 { return w.regs[r][lane] }

// SetReg writes a register of one lane; x0 stays zero.
func (w *Warp) SetReg(r isa.Reg, lane int, v uint32) {
	if r != 0 {
		w.regs[r][lane] = v
	}
}

// Fcsr and SetFcsr reach the float control and status register.
func (w *Warp) Fcsr() uint32     { return w.csr(isa.CSRFcsr, 0) }
func (w *Warp) SetFcsr(v uint32) { w.setCSR(isa.CSRFcsr, v) }

// PC returns the address of the next instruction.
func (w *Warp) PC() uint32 { return w.pc }

// lane returns the last active lane, whose values scalar operands take.
func (w *Warp) lastLane() int { return 31 - bits.LeadingZeros32(w.mask) }

// run executes up to n instructions.
func (w *Warp) run(n uint64) (ran uint64, err error) {
	w.state = running
	st := &w.core.stats
	for ran < n && w.state == running {
		if w.m.cfg.Stop != nil {
			if err := w.m.cfg.Stop(w); err != nil {
				return ran, err
			}
		}
		pc, mask, lanes := w.pc, w.mask, w.lanes
		o, err := w.prepared(pc), error(nil)
		if o == nil {
			o, err = w.fetchNew(pc)
		}
		if err == nil {
			err = o.exec(w, o)
		}
		if err != nil {
			t := w.trap(err, pc)
			if !w.Handles(t) {
				return ran, t
			}
			w.Handle(t)
			if ran++; o != nil {
				w.count(o)
				w.traced(o, pc, mask)
			}
			continue
		}
		if w.state == polling {
			return ran, nil
		}
		ran++
		st.WarpInstrs++
		st.ByClass[o.class]++
		st.LanesByClass[o.class] += lanes
		if o.edge != 0 {
			w.countEdges(o, mask, lanes)
		}
		w.traced(o, pc, mask)
	}
	return ran, nil
}

// traced passes an instruction to the trace function. It must stay small enough to be inlined.
func (w *Warp) traced(o *Op, pc, mask uint32) {
	if w.m.cfg.Trace != nil {
		w.trace(o, pc, mask)
	}
}

func (w *Warp) trace(o *Op, pc, mask uint32) {
	s := &w.m.step
	*s = Step{Core: w.core.id, Warp: w.id, PC: pc, Mask: mask, Inst: &o.Inst, NextPC: w.pc, NextMask: w.mask}
	switch o.class {
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
		s.Addrs = w.access.Addr[:w.n]
	}
	w.m.cfg.Trace(s)
}

// fetchAt returns the prepared instruction at pc.
func (w *Warp) fetchAt(pc uint32) (*Op, error) {
	if o := w.prepared(pc); o != nil {
		return o, nil
	}
	return w.fetchNew(pc)
}

// prepared returns the instruction at pc if it is prepared and in the same page as the last one, else nil. It must stay
// small enough to be inlined.
func (w *Warp) prepared(pc uint32) *Op {
	if pc>>pageBits == w.pageN && pc&3 == 0 {
		if c := w.page.code.Load(); c != nil {
			return c[pc>>2%(pageBytes/4)].Load()
		}
	}
	return nil
}

// fetchNew is fetchAt for an instruction that is not prepared or in another page than the last.
func (w *Warp) fetchNew(pc uint32) (*Op, error) {
	if pc&3 != 0 {
		return nil, misalignedJump(pc)
	}
	if n := pc >> pageBits; n != w.pageN {
		p := w.m.Mem.page(n)
		if p == nil {
			return nil, exceptionf(isa.ExceptionFetchFault, pc, FetchFault, -1, "nothing is loaded at 0x%08x", pc)
		}
		w.page, w.pageN = p, n
	}
	return w.m.prepareIn(w.page, pc)
}

// DescribeWait describes the warp's position and the cause of its wait.
func (w *Warp) DescribeWait() string {
	why := "?"
	switch w.state {
	case atBarrier:
		b := w.core.barriers[w.barrier]
		why = fmt.Sprintf("at barrier %d: %d of %d warps have arrived", w.barrier, bits.OnesCount64(b.arrived), b.count)
	case atDeviceBarrier:
		why = fmt.Sprintf("at device barrier %d for %d cores", w.barrier, w.m.device.m[w.barrier].count)
	case spawning:
		why = fmt.Sprintf("wspawn waits until it is the only warp of its core; %d others are left",
			bits.OnesCount64(w.core.active)-1)
	case polling:
		why = "its graph unit has no answer"
	}
	where := fmt.Sprintf("0x%08x", w.pc)
	if name, off, ok := w.m.program.Where(w.pc); ok {
		where += fmt.Sprintf(" <%s+0x%x>", name, off)
	}
	return fmt.Sprintf("core %d warp %d, next pc %s: %s", w.core.id, w.id, where, why)
}

// Implementation of isa.Warp: the effects of control instructions.

// Mask returns the active lanes.
func (w *Warp) Mask() uint32 { return w.mask }

// SetMask sets the active lanes; none ends the warp.
func (w *Warp) SetMask(m uint32) {
	w.mask = m & w.full
	w.lanes = uint64(bits.OnesCount32(w.mask))
	if w.mask == 0 {
		w.state = stopped
		w.core.active &^= 1 << w.id
		w.core.ended()
	}
}

// Jump sets the warp's next address.
func (w *Warp) Jump(pc uint32) { w.pc = pc }

// NextPC returns the address after the control instruction.
func (w *Warp) NextPC() uint32 { return w.pc }

// IPDOM returns the divergence stack.
func (w *Warp) IPDOM() *isa.IPDOM { return &w.ipdom }

// Return writes rd in all active lanes.
func (w *Warp) Return(v uint32) { w.regs[w.rd].Fill(v, w.mask) }

// Spawn is wspawn.
func (w *Warp) Spawn(n, pc uint32) error {
	if int64(n) > int64(len(w.core.warps)) {
		return faultf(BarrierMisuse, -1, "wspawn of %d warps on a core of %d", n, len(w.core.warps))
	}
	w.spawnCount, w.spawnPC = n, pc
	w.state = spawning
	if bits.OnesCount64(w.core.active) == 1 {
		w.core.spawn(w)
	}
	return nil
}

// Barrier is bar.
func (w *Warp) Barrier(id, count uint32) error {
	if count < 2 {
		if len(w.m.cores) == 1 {
			w.m.opened(w.pc)
		}
		return nil
	}
	n := id &^ (1 << 31)
	if limit := uint32(len(w.core.barriers)); n >= limit {
		return faultf(BarrierMisuse, -1, "barrier %d does not exist: a core of %d warps has %d", n, len(w.core.warps),
			limit)
	}
	w.core.stats.Barriers++
	if id>>31 != 0 {
		return w.m.device.arrive(w, n, count)
	}
	return w.core.arrive(w, n, count)
}
