package emu

import (
	"math/bits"

	"heddle/isa"
)

// Op is an instruction prepared for execution at one address of one machine:
// its row's meaning bound to the handler of its shape, and everything that is fixed computed.
type Op struct {
	isa.Inst
	exec               func(*Warp, *Op) error
	rd                 isa.Reg // destination of the result: sink instead of x0
	class              isa.Class
	size               uint8
	reads, swaps       bool // memory instructions: rs2 is read; rs3 is read
	signed, isIndirect bool
	write              bool  // CSR instructions: writes the CSR
	edge               uint8 // counts an edge: 0, never; 1, per lane; n, per block of n warps
	fn                 uint8 // number of the unit's function
	phase              isa.Phase
	imm, pc            uint32
	unit               int
	lanes              isa.LaneLoop
	imms               *isa.Lanes // the immediate in every lane, for lanes; nil: rs2
	test               isa.LaneTest
	memory             func(*Access) error // loads, stores and atomics: accesses memory
	atomic             func(*Access) error // read-modify-writes: the same for one lane
	demands            demands

	info *isa.CSRInfo
	fpOp isa.FPOp
	near isa.FPLoop // fpOp rounding to nearest; nil: none
	amo  isa.AMOLoop

	amoLane isa.AMO // amo for one lane
	vote    isa.Vote
	shfl    isa.Shuffle
	ctl     isa.Control
	csrOp   isa.CSROp
}

// prepareIn returns the instruction at pc, which is in the page, and stores it there.
func (m *Machine) prepareIn(p *page, pc uint32) (*Op, error) {
	m.preparing.Lock()
	defer m.preparing.Unlock()
	c := p.code.Load()
	if c == nil {
		c = new(code)
		p.code.Store(c)
	}
	at := &c[pc>>2%(pageBytes/4)]
	if o := at.Load(); o != nil {
		return o, nil
	}
	o, err := m.prepare(pc, p.word(pc))
	if err == nil {
		at.Store(o)
	}
	return o, err
}

// prepare returns the instruction encoded by the word at pc.
func (m *Machine) prepare(pc, word uint32) (*Op, error) {
	in, ok := isa.Decode(word)
	if !ok {
		return nil, illegal(word, IllegalInstruction, "0x%08x is no instruction of this machine", word)
	}
	if in.Ext.Optional && !m.cfg.Zba { // the only one
		return nil, illegal(word, IllegalInstruction, "%s: the machine lacks %s (core.zba)", in.Name, in.Ext.Name)
	}
	p := &Op{
		Inst: in, class: in.Class, imm: uint32(in.Imm), pc: pc, rd: in.Rd,
		edge: m.edges[pc], phase: isa.PhaseAt(m.phases, pc), demands: demandsOf(&in),
	}
	if in.Rd == 0 {
		p.rd = sink
	}
	if err := m.bind(p, pc); err != nil {
		return nil, err
	}
	return p, nil
}

// illegal returns the fault for a word that is no instruction of this machine.
func illegal(word uint32, c Cause, format string, args ...any) error {
	return exceptionf(isa.ExceptionIllegal, word, c, -1, format, args...)
}

// bind chooses the handler of the row's shape.
func (m *Machine) bind(p *Op, pc uint32) error {
	switch s := p.Sem.(type) {
	case isa.IntOp:
		p.lanes, p.exec = p.Lanes(), execInt
		if p.Format.Immediate() {
			p.imms = m.constant(p.imm)
		}
	case isa.PCOp:
		p.imm, p.exec = s(pc, p.imm), execConst
	case isa.Branch:
		p.test, p.exec = p.Test(), m.branch(execBranch, execBranchOfOne)
		if p.imm%4 != 0 {
			p.exec = misalignedBranch(p.exec)
		}
	case isa.Jump:
		p.isIndirect, p.exec = s.Indirect, m.branch(execJump, execJumpOfOne)
		if !s.Indirect && p.imm%4 != 0 {
			p.exec = execMisalignedJump
		}
	case isa.FPOp:
		p.fpOp, p.near, p.exec = s, p.ToNearest(), execFP
	case isa.CSROp:
		p.csrOp, p.exec = s, execCSR
		return m.bindCSR(p)
	case isa.Fence, isa.FenceI: // one memory image, and stores drop stale instructions
		p.exec = execNothing
	case isa.Environment:
		p.exec = execEnvironment
	case isa.TrapReturn:
		p.isIndirect, p.exec = true, execTrapReturn
	case isa.Vote:
		p.vote, p.exec = s, execVote
	case isa.Shuffle:
		p.shfl, p.exec = s, execShuffle
	case isa.Control:
		p.ctl, p.exec = s, execControl
	case isa.UnitOp:
		p.exec, p.fn = execUnit, s.Fn
		if p.unit = m.cores[0].unitIndex(s.Unit); p.unit < 0 {
			return illegal(p.Raw, MissingUnit, "this machine has no %s unit", s.Unit)
		}
	default:
		p.bindMemory()
	}
	return nil
}

// bindMemory chooses the handlers of a row that accesses memory.
func (p *Op) bindMemory() {
	switch s := p.Sem.(type) {
	case isa.Load:
		p.size, p.signed, p.memory = s.Size, s.Signed, loadLanes
		if s.Size == 4 {
			p.memory = loadWords
		}
	case isa.Store:
		p.size, p.reads, p.memory = s.Size, true, storeLanes
		if s.Size == 4 {
			p.memory = storeWords
		}
	case isa.AMO:
		p.amo, p.amoLane = p.Atomics(), s
		p.bindAtomic(func(a *Access, l int) (uint32, error) { return amoLane(a, l, s) })
		p.atomic, p.memory = p.memory, amoLanes
	case isa.LoadReserved:
		p.bindAtomic(lrLane)
	case isa.StoreConditional:
		p.bindAtomic(scLane)
	case isa.CompareSwap:
		p.bindAtomic(casLane)
		p.swaps = true
	}
	if p.memory != nil {
		p.exec = execMemory
	}
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
		return illegal(p.Raw, IllegalInstruction, "CSR 0x%03x does not exist", p.CSR)
	}
	s := p.csrOp
	p.write = s.Swap || s.Immediate && p.Imm != 0 || !s.Immediate && p.Rs1 != 0
	if p.write && !p.info.Writable {
		return illegal(p.Raw, IllegalInstruction, "CSR %s is read-only", p.info.Name)
	}
	if p.info.Fixed {
		p.exec, p.imm = execConst, p.info.Value
	}
	return nil
}

// constant returns a row that holds v in every lane. Instructions share it.
func (m *Machine) constant(v uint32) *isa.Lanes {
	if m.constants[v] == nil {
		c := new(isa.Lanes)
		c.Fill(v, allLanes)
		m.constants[v] = c
	}
	return m.constants[v]
}

func execInt(w *Warp, o *Op) error {
	b := o.imms
	if b == nil {
		b = &w.regs[o.Rs2]
	}
	o.lanes(&w.regs[o.rd], &w.regs[o.Rs1], b, w.mask)
	w.pc += 4
	return nil
}

func execConst(w *Warp, o *Op) error {
	w.regs[o.rd].Fill(o.imm, w.mask)
	w.pc += 4
	return nil
}

func execBranch(w *Warp, o *Op) error {
	switch taken := o.test(&w.regs[o.Rs1], &w.regs[o.Rs2]) & w.mask; taken {
	case 0:
		w.pc += 4
	case w.mask:
		w.pc += o.imm
	default:
		return faultf(DivergentBranch, -1, "of the active lanes 0x%x, only 0x%x take it; lanes part with split/join or "+
			"pred, not with a branch", w.mask, taken)
	}
	return nil
}

// branch chooses between a handler that requires the lanes to agree, and one that follows a leading lane.
func (m *Machine) branch(agree, one func(*Warp, *Op) error) func(*Warp, *Op) error {
	if m.cfg.Divergent == DivergentTraps {
		return agree
	}
	return one
}

// leader returns the lane that the others follow.
func (w *Warp) leader() int {
	if w.m.cfg.Divergent == DivergentFollowsFirst {
		return bits.TrailingZeros32(w.mask)
	}
	return w.lastLane()
}

// execBranchOfOne branches as the leading lane does.
func execBranchOfOne(w *Warp, o *Op) error {
	if o.test(&w.regs[o.Rs1], &w.regs[o.Rs2])>>w.leader()&1 != 0 {
		w.pc += o.imm
	} else {
		w.pc += 4
	}
	return nil
}

// execJumpOfOne is execJump to the leading lane's target.
func execJumpOfOne(w *Warp, o *Op) error {
	if !o.isIndirect {
		return execJump(w, o)
	}
	target := (w.regs[o.Rs1][w.leader()] + o.imm) &^ 1
	if target&2 != 0 {
		return misalignedJump(target)
	}
	w.regs[o.rd].Fill(w.pc+4, w.mask)
	w.pc = target
	return nil
}

// misalignedBranch returns the handler of a branch with a misaligned target: it traps if taken.
func misalignedBranch(branch func(*Warp, *Op) error) func(*Warp, *Op) error {
	return func(w *Warp, o *Op) error {
		pc := w.pc
		if err := branch(w, o); err != nil || w.pc == pc+4 {
			return err
		}
		w.pc = pc
		return misalignedJump(pc + o.imm)
	}
}

func execMisalignedJump(w *Warp, o *Op) error { return misalignedJump(w.pc + o.imm) }

func misalignedJump(target uint32) error {
	return exceptionf(isa.ExceptionMisalignedFetch, target, MisalignedFetch, -1,
		"0x%08x is not a multiple of 4 (there are no compressed instructions)", target)
}

func execJump(w *Warp, o *Op) error {
	target := w.pc + o.imm
	if o.isIndirect {
		at, differ := w.out.Sum(&w.regs[o.Rs1], o.imm, w.mask)
		if differ != 0 {
			return faultf(DivergentBranch, -1,
				"the lanes hold different targets; an indirect jump takes all lanes to one")
		}
		if target = at &^ 1; target&2 != 0 {
			return misalignedJump(target)
		}
	}
	w.regs[o.rd].Fill(w.pc+4, w.mask)
	w.pc = target
	return nil
}

// Access is one memory instruction of one warp from the read of its operands to the access to memory. On the functional
// machine these coincide; on a timed one other instructions of the warp execute between them.
type Access struct {
	op   *Op
	w    *Warp
	pc   uint32
	Mask uint32    // active lanes when it was issued
	Addr isa.Lanes // by lane

	first   uint32    // the address of the first active lane
	differ  uint32    // bits in which addresses of others differ from it
	data    isa.Lanes // data of a store or an atomic: rs2
	want    isa.Lanes // expected value of a compare-and-swap: rd before
	wrote   uint32    // lanes of an atomic that have written
	outcome *Outcome  // nil: not recorded
	given   bool      // replay: there is no data, and writes holds the lanes that write
	writes  uint32
}

// begin reads the operands and checks the addresses.
func (a *Access) begin(w *Warp, o *Op) error {
	a.op, a.w, a.Mask = o, w, w.mask
	a.outcome, a.given, a.wrote = nil, false, 0
	a.first, a.differ = a.Addr.Sum(&w.regs[o.Rs1], o.imm, w.mask)
	if (a.first|a.differ)&uint32(o.size-1) != 0 {
		return a.misaligned()
	}
	if o.reads {
		a.data = w.regs[o.Rs2]
	}
	if o.swaps {
		a.want = w.regs[o.Rs3]
	}
	return nil
}

func (a *Access) misaligned() error {
	low := uint32(a.op.size - 1)
	l := 0
	for a.Mask>>l&1 == 0 || a.Addr[l]&low == 0 {
		l++
	}
	as := isa.ExceptionMisalignedStore
	switch a.op.Sem.(type) {
	case isa.Load, isa.LoadReserved:
		as = isa.ExceptionMisalignedLoad
	}
	return exceptionf(as, a.Addr[l], MisalignedAccess, l, "address 0x%08x is not a multiple of %d", a.Addr[l],
		a.op.size)
}

// execMemory performs a memory instruction at once.
func execMemory(w *Warp, o *Op) error {
	if err := w.access.begin(w, o); err != nil {
		return err
	}
	if err := o.memory(&w.access); err != nil {
		return err
	}
	if f := w.m.cfg.Accessed; f != nil {
		f(w.core.id, o.class, &w.access.Addr, w.access.Mask)
	}
	w.pc += 4
	return nil
}

// atomic sets rd to the results of f for the word of every active lane, lower lanes first.
func (a *Access) atomic(f func(a *Access, l int) (uint32, error)) error {
	d := &a.w.regs[a.op.rd]
	for m := a.Mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		v, err := f(a, l)
		if err != nil {
			return err
		}
		d[l] = v
		a.w.core.stats.Atomics++
	}
	return nil
}

func amoLane(a *Access, l int, f isa.AMO) (uint32, error) {
	old, err := a.read(l)
	if err != nil {
		return 0, err
	}
	return old, a.update(l, f(old, a.data[l]))
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

// update performs the write of an atomic.
func (a *Access) update(l int, v uint32) error {
	a.wrote |= 1 << l
	return a.write(l, v)
}

func execFP(w *Warp, o *Op) error {
	w.fp.RM = o.RM
	if o.RM == isa.RMDynamic {
		if w.frm > isa.RMM {
			return illegal(o.Raw, IllegalInstruction, "rounding mode dyn, but frm holds %d, which is reserved", w.frm)
		}
		w.fp.RM = w.frm
	}
	d, a, b, c := &w.regs[o.rd], &w.regs[o.Rs1], &w.regs[o.Rs2], &w.regs[o.Rs3]
	rest := w.mask
	if o.near != nil && w.fp.RM == isa.RNE {
		done, inexact := o.near(d, a, b, c, rest)
		if rest &^= done; inexact != 0 {
			w.fp.Flags |= isa.NX
		}
	}
	f := o.fpOp
	for m := rest; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) % isa.MaxLanes
		d[l] = f(&w.fp, a[l], b[l], c[l])
	}
	w.pc += 4
	return nil
}

func execCSR(w *Warp, o *Op) error {
	last := w.lastLane()
	old, src := w.csr(o.CSR, last), uint32(o.Imm)
	if !o.csrOp.Immediate {
		src = w.regs[o.Rs1][last]
	}
	d := &w.regs[o.rd]
	if o.info.Scope == isa.PerLane {
		first := w.csr(o.CSR, 0) // thread numbers: the next lane's is one higher
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) % isa.MaxLanes
			d[l] = first + uint32(l)
		}
	} else {
		d.Fill(old, w.mask)
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

func execEnvironment(w *Warp, o *Op) error {
	as, value := o.Sem.(isa.Environment).Cause, uint32(0)
	if as == isa.ExceptionBreakpoint {
		value = w.pc
	}
	return exceptionf(as, value, EnvironmentCall, -1,
		"%s: there is no operating system and no debugger; a program ends with `tmc zero`", o.Name)
}

func execTrapReturn(w *Warp, _ *Op) error {
	w.machine.status = w.machine.status&isa.MstatusMPIE>>4 | isa.MstatusMPIE
	w.pc = w.machine.epc
	return nil
}

// predicate returns the active lanes whose register r has bit 0 set.
func (w *Warp) predicate(r isa.Reg) uint32 { return w.regs[r].Odd() & w.mask }

func execVote(w *Warp, o *Op) error {
	w.regs[o.rd].Fill(o.vote(w.mask, w.predicate(o.Rs1)), w.mask)
	w.pc += 4
	return nil
}

// execShuffle reads the register file as it is: the value of a lane that is
// not active is the one it holds.
func execShuffle(w *Warp, o *Op) error {
	a, b := &w.regs[o.Rs1], &w.regs[o.Rs2]
	w.core.stats.Shuffles += w.lanes
	if fields := b[w.lastLane()]; b.Equal(fields, allLanes)&w.mask == w.mask {
		r := &w.routes[fields*0x9E3779B1>>(32-routeBits)] // 2^32 / golden ratio
		if r.row != o.Row || r.fields != fields {
			r.compute(o, fields, w.n)
		}
		for l, from := range &r.from {
			w.out[l] = a[from%isa.MaxLanes]
		}
	} else {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) % isa.MaxLanes
			w.out[l] = a[o.source(l, b[l], w.n)]
		}
	}
	w.regs[o.rd].Take(&w.out, w.mask)
	w.pc += 4
	return nil
}

// source returns the lane of n whose value a shuffle gives to lane l.
func (o *Op) source(l int, fields uint32, n int) int {
	f := int(fields)
	src, ok := o.shfl(l, f&63, f>>6&63, f>>12&63)
	if !ok || src < 0 || src >= n {
		return l
	}
	return src
}

// routeBits is the logarithm of the routes that a warp remembers, by a hash of the fields: a warp's sum takes five
// shuffles, each with fields of its own.
const routeBits = 4

// route remembers the sources of a shuffle whose lanes had the same fields, as they have in most programs.
type route struct {
	row    *isa.Row
	fields uint32
	from   [isa.MaxLanes]uint8
}

func (r *route) compute(o *Op, fields uint32, n int) {
	r.row, r.fields = o.Row, fields
	for l := range n {
		r.from[l] = uint8(o.source(l, fields, n))
	}
}

func execControl(w *Warp, o *Op) error {
	args := w.ControlArgs(o)
	w.rd = o.rd
	w.pc += 4
	return o.ctl(w, args)
}

func execUnit(w *Warp, o *Op) error {
	r := &w.req
	*r = UnitRequest{
		Fn: o.fn, Warp: w.id, Mask: w.mask, NewMask: w.mask,
		A: w.regs[o.Rs1][:w.n], B: w.regs[o.Rs2][:w.n], C: w.regs[o.Rs3][:w.n], Out: w.out[:w.n],
	}
	if err := w.core.units[o.unit].Exec(r); err != nil {
		return faultf(UnitError, -1, "%v", err)
	}
	if r.Retry {
		w.state = polling
		return nil
	}
	w.regs[o.rd].Take(&w.out, w.mask)
	w.pc += 4
	if r.NewMask != w.mask {
		w.SetMask(r.NewMask)
	}
	return nil
}
