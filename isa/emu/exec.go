package emu

import (
	"math/bits"
	"slices"

	"heddle/isa"
)

// Op is an instruction prepared for execution at one address of one machine:
// its row's meaning bound to the handler of its shape, register numbers turned
// into offsets, and everything that is fixed computed.
type Op struct {
	isa.Inst
	exec               func(*Warp, *Op) error
	rd, rs1, rs2, rs3  int // offsets into Warp.regs
	class              isa.Class
	memory             func(*Access) error // loads, stores and atomics: reaches memory
	size               uint8
	reads              bool // memory instructions: rs2 or rd is read
	signed, isIndirect bool
	imm                uint32
	unit               int
	fn                 uint8 // which function of it
	info               *isa.CSRInfo
	write              bool // CSR instructions: writes the CSR
	edge               bool // each lane that executes it handles an edge
	phase              isa.Phase
	demands            demands

	lanes  isa.LaneLoop
	imms   []uint32 // the immediate for every lane, for lanes
	branch isa.Branch
	fpOp   isa.FPOp
	amo    isa.AMO
	vote   isa.Vote
	shfl   isa.Shuffle
	ctl    isa.Control
	csrOp  isa.CSROp
}

// prepare fills o with the instruction at pc.
func (m *Machine) prepare(o *Op, pc uint32) error {
	word := m.Mem.Load32(pc)
	in, ok := isa.Decode(word)
	if !ok {
		return faultf(IllegalInstruction, -1, "0x%08x is no instruction of this machine", word)
	}
	n := m.cfg.Threads
	p := Op{Inst: in, class: in.Class, imm: uint32(in.Imm),
		rd: int(in.Rd) * n, rs1: int(in.Rs1) * n, rs2: int(in.Rs2) * n, rs3: int(in.Rs3) * n}
	if in.Rd == 0 {
		p.rd = sink * n
	}
	if slices.Contains(m.edges, pc) {
		p.edge = true
	}
	p.phase = isa.PhaseAt(m.phases, pc)
	p.demands = demandsOf(&in)
	if err := m.bind(&p, pc); err != nil {
		return err
	}
	*o = p
	return nil
}

// bind chooses the handler of the row's shape.
func (m *Machine) bind(p *Op, pc uint32) error {
	switch s := p.Sem.(type) {
	case isa.IntOp:
		p.lanes, p.exec = p.Lanes(), execInt
		if p.Format.Immediate() {
			p.imms = repeat(p.imm, m.cfg.Threads)
		}
	case isa.PCOp:
		p.imm, p.exec = s(pc, p.imm), execConst
	case isa.Branch:
		p.branch, p.exec = s, execBranch
	case isa.Jump:
		p.isIndirect, p.exec = s.Indirect, execJump
	case isa.Load:
		p.size, p.signed, p.memory = s.Size, s.Signed, loadLanes
	case isa.Store:
		p.size, p.reads, p.memory = s.Size, true, storeLanes
	case isa.AMO:
		p.amo = s
		p.bindAtomic(amoLane)
	case isa.LoadReserved:
		p.bindAtomic(lrLane)
	case isa.StoreConditional:
		p.bindAtomic(scLane)
	case isa.CompareSwap:
		p.bindAtomic(casLane)
	case isa.FPOp:
		p.fpOp, p.exec = s, execFP
	case isa.CSROp:
		p.csrOp, p.exec = s, execCSR
		return m.bindCSR(p)
	case isa.Fence, isa.FenceI: // one memory image, and stores drop stale instructions
		p.exec = execNothing
	case isa.Environment:
		p.exec = execEnvironment
	case isa.Vote:
		p.vote, p.exec = s, execVote
	case isa.Shuffle:
		p.shfl, p.exec = s, execShuffle
	case isa.Control:
		p.ctl, p.exec = s, execControl
	case isa.UnitOp:
		p.exec, p.fn = execUnit, s.Fn
		if p.unit = m.cores[0].unitIndex(s.Unit); p.unit < 0 {
			return faultf(MissingUnit, -1, "this machine has no %s unit", s.Unit)
		}
	}
	if p.memory != nil {
		p.exec = execMemory
	}
	return nil
}

func (p *Op) bindAtomic(f func(*Access, int) (uint32, error)) {
	p.size, p.reads = 4, true
	p.memory = func(a *Access) error { return a.atomic(f) }
}

func (m *Machine) bindCSR(p *Op) error {
	for i := range isa.CSRs {
		if isa.CSRs[i].Num == p.CSR {
			p.info = &isa.CSRs[i]
		}
	}
	if p.info == nil {
		return faultf(IllegalInstruction, -1, "CSR 0x%03x does not exist", p.CSR)
	}
	s := p.csrOp
	p.write = s.Swap || s.Immediate && p.Imm != 0 || !s.Immediate && p.Rs1 != 0
	if p.write && !p.info.Writable {
		return faultf(IllegalInstruction, -1, "CSR %s is read-only", p.info.Name)
	}
	return nil
}

func repeat(v uint32, n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// row returns the lanes of the register at offset o.
func (w *Warp) row(o int) []uint32 { return w.regs[o : o+w.n : o+w.n] }

// fill writes v to the active lanes of the register at offset rd.
func (w *Warp) fill(rd int, v uint32) {
	d := w.row(rd)
	for m := w.mask; m != 0; m &= m - 1 {
		d[bits.TrailingZeros32(m)] = v
	}
}

// take copies the active lanes of w.out to the register at offset rd.
func (w *Warp) take(rd int) {
	d := w.row(rd)
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		d[l] = w.out[l]
	}
}

// execInt computes all lanes and keeps the active ones: that is faster than
// walking the mask, and lanes that are off have no effect anyone could see.
func execInt(w *Warp, o *Op) error {
	a, b := w.row(o.rs1), o.imms
	if b == nil {
		b = w.row(o.rs2)
	}
	if w.mask == w.full {
		o.lanes(w.row(o.rd), a, b)
	} else {
		o.lanes(w.out[:w.n], a, b)
		w.take(o.rd)
	}
	w.pc += 4
	return nil
}

func execConst(w *Warp, o *Op) error {
	w.fill(o.rd, o.imm)
	w.pc += 4
	return nil
}

func execBranch(w *Warp, o *Op) error {
	a, b := w.row(o.rs1), w.row(o.rs2)
	f := o.branch
	taken := f(a[w.lastLane()], b[w.lastLane()])
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if f(a[l], b[l]) != taken {
			return w.divergent(o)
		}
	}
	if taken {
		w.pc += o.imm
	} else {
		w.pc += 4
	}
	return nil
}

func (w *Warp) divergent(o *Op) error {
	a, b := w.row(o.rs1), w.row(o.rs2)
	taken := uint32(0)
	for m := w.mask; m != 0; m &= m - 1 {
		if l := bits.TrailingZeros32(m); o.branch(a[l], b[l]) {
			taken |= 1 << l
		}
	}
	return faultf(DivergentBranch, -1, "of the active lanes 0x%x, only 0x%x take it; lanes part with split/join or pred, not with a branch", w.mask, taken)
}

func execJump(w *Warp, o *Op) error {
	target := w.pc + o.imm
	if o.isIndirect {
		a := w.row(o.rs1)
		last := a[w.lastLane()]
		for m := w.mask; m != 0; m &= m - 1 {
			if a[bits.TrailingZeros32(m)] != last {
				return faultf(DivergentBranch, -1, "the lanes hold different targets; an indirect jump takes all lanes to one")
			}
		}
		target = (last + o.imm) &^ 1
	}
	w.fill(o.rd, w.pc+4)
	w.pc = target
	return nil
}

// Access is one memory instruction of one warp between the moment its operands
// are read and the moment memory is: on the untimed machine the same, on a
// timed one apart, with other instructions of the warp between.
type Access struct {
	op   *Op
	w    *Warp
	pc   uint32
	Mask uint32             // active lanes when it was issued
	Addr [MaxThreads]uint32 // by lane
	data [MaxThreads]uint32 // what a store or an atomic brings: rs2
	want [MaxThreads]uint32 // what a compare-and-swap expects: rd before

	wrote   uint32   // lanes of an atomic that have written
	outcome *Outcome // nil: nobody asks
	given   bool     // there is no data, and writes are the lanes that write
	writes  uint32
}

// begin reads the operands and checks the addresses.
func (a *Access) begin(w *Warp, o *Op) error {
	a.op, a.w, a.Mask = o, w, w.mask
	a.outcome, a.given, a.wrote = nil, false, 0
	base, wrong := w.row(o.rs1), uint32(0)
	low := uint32(o.size - 1)
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		x := base[l] + o.imm
		a.Addr[l] = x
		wrong |= x & low
	}
	if wrong != 0 {
		return a.misaligned()
	}
	if o.reads {
		copy(a.data[:w.n], w.row(o.rs2))
		copy(a.want[:w.n], w.row(o.rs3))
	}
	return nil
}

func (a *Access) misaligned() error {
	low := uint32(a.op.size - 1)
	l := 0
	for a.Mask>>l&1 == 0 || a.Addr[l]&low == 0 {
		l++
	}
	return faultf(MisalignedAccess, l, "address 0x%08x is not a multiple of %d", a.Addr[l], a.op.size)
}

// execMemory does a memory instruction in one go.
func execMemory(w *Warp, o *Op) error {
	if err := w.access.begin(w, o); err != nil {
		return err
	}
	if err := o.memory(&w.access); err != nil {
		return err
	}
	w.pc += 4
	return nil
}

func loadLanes(a *Access) error {
	o := a.op
	d := a.w.row(o.rd)
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v, err := a.read(l)
		if err != nil {
			return err
		}
		if o.signed {
			shift := 32 - 8*uint(o.size)
			v = uint32(int32(v<<shift) >> shift)
		}
		d[l] = v
	}
	return nil
}

func storeLanes(a *Access) error {
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		if err := a.write(l, a.data[l]); err != nil {
			return err
		}
	}
	return nil
}

// atomic gives rd what f returns for the word of every active lane, lower
// lanes first.
func (a *Access) atomic(f func(a *Access, l int) (uint32, error)) error {
	d := a.w.row(a.op.rd)
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v, err := f(a, l)
		if err != nil {
			return err
		}
		d[l] = v
		a.w.core.stats.Atomics++
	}
	return nil
}

func amoLane(a *Access, l int) (uint32, error) {
	old, err := a.read(l)
	if err != nil {
		return 0, err
	}
	return old, a.update(l, a.op.amo(old, a.data[l]))
}

func casLane(a *Access, l int) (uint32, error) {
	old, err := a.read(l)
	if err != nil || old != a.want[l] {
		return old, err
	}
	return old, a.update(l, a.data[l])
}

func lrLane(a *Access, l int) (uint32, error) {
	v, err := a.read(l)
	if err == nil {
		a.w.m.resv.take(a.w.hart(l), a.deviceAddr(l))
	}
	return v, err
}

func scLane(a *Access, l int) (uint32, error) {
	if !a.w.m.resv.use(a.w.hart(l), a.deviceAddr(l)) {
		return 1, nil
	}
	return 0, a.update(l, a.data[l])
}

// update is the write of an atomic.
func (a *Access) update(l int, v uint32) error {
	a.wrote |= 1 << l
	return a.write(l, v)
}

func execFP(w *Warp, o *Op) error {
	w.fp.RM = o.RM
	if o.RM == isa.RMDynamic {
		if w.frm > isa.RMM {
			return faultf(IllegalInstruction, -1, "rounding mode dyn, but frm holds %d, which is reserved", w.frm)
		}
		w.fp.RM = w.frm
	}
	d, a, b, c := w.row(o.rd), w.row(o.rs1), w.row(o.rs2), w.row(o.rs3)
	f := o.fpOp
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		d[l] = f(&w.fp, a[l], b[l], c[l])
	}
	w.pc += 4
	return nil
}

func execCSR(w *Warp, o *Op) error {
	last := w.lastLane()
	old, src := w.csr(o.CSR, last), uint32(o.Imm)
	if !o.csrOp.Immediate {
		src = w.regs[o.rs1+last]
	}
	d := w.row(o.rd)
	if o.info.Scope == isa.PerLane {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m)
			d[l] = w.csr(o.CSR, l)
		}
	} else {
		w.fill(o.rd, old)
	}
	if o.write {
		w.setCSR(o.CSR, o.csrOp.F(old, src))
	}
	w.pc += 4
	return nil
}

func execNothing(w *Warp, _ *Op) error {
	w.pc += 4
	return nil
}

func execEnvironment(_ *Warp, o *Op) error {
	return faultf(EnvironmentCall, -1, "%s: there is no operating system and no debugger; a program ends with `tmc zero`", o.Name)
}

// predicate returns the active lanes whose register at offset o has bit 0 set.
func (w *Warp) predicate(o int) uint32 {
	p, r := uint32(0), w.row(o)
	for l, v := range r {
		p |= v & 1 << l
	}
	return p & w.mask
}

func execVote(w *Warp, o *Op) error {
	w.fill(o.rd, o.vote(w.mask, w.predicate(o.rs1)))
	w.pc += 4
	return nil
}

// execShuffle reads the register file as it is: the value of a lane that is
// not active is the one it holds.
func execShuffle(w *Warp, o *Op) error {
	a, b := w.row(o.rs1), w.row(o.rs2)
	w.core.stats.Shuffles += w.lanes
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		f := int(b[l])
		src, ok := o.shfl(l, f&63, f>>6&63, f>>12&63)
		if !ok || src < 0 || src >= w.n {
			src = l
		}
		w.out[l] = a[src]
	}
	w.take(o.rd)
	w.pc += 4
	return nil
}

func execControl(w *Warp, o *Op) error {
	last := w.lastLane()
	args := isa.ControlArgs{A: w.regs[o.rs1+last], B: w.regs[o.rs2+last], Pred: w.predicate(o.rs1), Negated: o.Neg != 0}
	w.rd = o.rd
	w.pc += 4
	return o.ctl(w, args)
}

func execUnit(w *Warp, o *Op) error {
	r := &w.req
	*r = UnitRequest{
		Fn: o.fn, Warp: w.id, Mask: w.mask, NewMask: w.mask,
		A: w.row(o.rs1), B: w.row(o.rs2), C: w.row(o.rs3), Out: w.out[:w.n],
	}
	if err := w.core.units[o.unit].Exec(r); err != nil {
		return faultf(UnitError, -1, "%v", err)
	}
	if r.Retry {
		w.state = polling
		return nil
	}
	w.take(o.rd)
	w.pc += 4
	if r.NewMask != w.mask {
		w.SetMask(r.NewMask)
	}
	return nil
}
