package emu

import (
	"context"
	"errors"
	"fmt"

	"heddle/isa"
)

// Scalar is the architectural state of a core of one lane and one warp, as Swarm's: it has no scratchpad, no barriers
// and no thread mask. It executes the rows of isa as a Warp of one lane does, except that warp control, votes,
// shuffles, traps' handlers, and the CSRs that name a place or a time are no instructions of it.
//
// Instructions that others see (memory, tasks) are left to the caller, who decides when they happen.
type Scalar struct {
	PC   uint32
	X    [isa.NumRegs + 1]uint32 // x, f, sink
	code *ScalarCode
	fp   isa.FP
	frm  uint8
	resv uint32 // address of the last load-reserved, plus 1; 0: none

	Counts [isa.NumClasses]uint32 // instructions by class, with those left to the caller
	Edges  uint32                 // executions of EdgeSymbol's instructions
}

// ScalarCode holds the prepared instructions of a program.
type ScalarCode struct {
	mem     *Memory
	program *isa.Program
	base    uint32 // address of ops[0]
	edges   map[uint32]uint8
	ops     []*ScalarOp
	arg     uint32 // mscratch
}

// maxCodeBytes bounds the addresses from a program's first instruction to its last.
const maxCodeBytes = 64 << 20

// NewScalarCode prepares for the execution of a program that is in memory; arg is the value of mscratch.
func NewScalarCode(p *isa.Program, mem *Memory, arg uint32) (*ScalarCode, error) {
	c := &ScalarCode{mem: mem, program: p, arg: arg, edges: edgeMarks(p)}
	lo, hi := ^uint32(0), uint32(0)
	for _, s := range p.Segments {
		if s.Executable {
			lo, hi = min(lo, s.Addr&^3), max(hi, s.Addr+s.Size)
		}
	}
	if lo >= hi || hi-lo > maxCodeBytes {
		return nil, fmt.Errorf("%s: expected instructions within %d MiB", p.Name, maxCodeBytes>>20)
	}
	c.base, c.ops = lo, make([]*ScalarOp, (hi-lo+3)/4)
	return c, nil
}

// scalarKind is the treatment of an instruction.
type scalarKind uint8

const (
	scalarInt scalarKind = iota
	scalarImm
	scalarConst
	scalarBranch
	scalarJump
	scalarIndirect
	scalarFP
	scalarCSR
	scalarNothing
	scalarLoad // from here on: left to the caller
	scalarStore
	scalarAMO
	scalarReserve
	scalarConditional
	scalarSwap
	scalarTask
)

// ScalarOp is a prepared instruction.
type ScalarOp struct {
	kind              scalarKind
	rd, rs1, rs2, rs3 isa.Reg
	size              uint8
	signed            bool
	fn                uint8 // of the task unit
	rm                uint8
	class             isa.Class
	imm               uint32
	f                 isa.IntOp
	test              isa.Branch
	fpOp              isa.FPOp
	amo               isa.AMO
	csr               isa.CSROp
	num               uint16
	write             bool
	edge              uint32
}

// Writes reports whether a memory instruction may write.
func (o *ScalarOp) Writes() bool { return o.kind != scalarLoad && o.kind != scalarReserve }

// Reads reports whether a memory instruction's result depends on memory.
func (o *ScalarOp) Reads() bool { return o.kind != scalarStore }

// IsMemory reports whether the instruction accesses memory.
func (o *ScalarOp) IsMemory() bool { return o.kind >= scalarLoad && o.kind < scalarTask }

// Task returns the function of a task instruction, of the constants beside its rows.
func (o *ScalarOp) Task() uint8 { return o.fn }

// Start makes the core execute from pc, with all registers 0.
func (s *Scalar) Start(c *ScalarCode, pc uint32) { *s = Scalar{PC: pc, code: c} }

// Run executes until an instruction that is left to the caller, which it returns and at which PC then is, or until
// limit instructions are executed. An error is a *Trap.
func (s *Scalar) Run(limit int) (n int, o *ScalarOp, err error) {
	x := &s.X
	for n < limit {
		i := (s.PC - s.code.base) >> 2
		if uint64(i) >= uint64(len(s.code.ops)) || s.PC&3 != 0 || s.code.ops[i] == nil {
			if err := s.code.prepare(s.PC); err != nil {
				return n, nil, s.trap(err)
			}
		}
		o := s.code.ops[i]
		s.Counts[o.class]++
		s.Edges += o.edge
		switch o.kind {
		case scalarInt:
			x[o.rd] = o.f(x[o.rs1], x[o.rs2])
		case scalarImm:
			x[o.rd] = o.f(x[o.rs1], o.imm)
		case scalarConst:
			x[o.rd] = o.imm
		case scalarNothing:
		case scalarBranch:
			if o.test(x[o.rs1], x[o.rs2]) {
				if err := s.jump(s.PC + o.imm); err != nil {
					return n, nil, err
				}
				n++
				continue
			}
		case scalarJump, scalarIndirect:
			to := s.PC + o.imm
			if o.kind == scalarIndirect {
				to = (x[o.rs1] + o.imm) &^ 1
			}
			link := s.PC + 4
			if err := s.jump(to); err != nil {
				return n, nil, err
			}
			x[o.rd] = link
			n++
			continue
		case scalarFP, scalarCSR:
			if err := s.rarer(o); err != nil {
				return n, nil, s.trap(err)
			}
		default:
			return n, o, nil
		}
		s.PC += 4
		n++
	}
	return n, nil, nil
}

func (s *Scalar) jump(to uint32) error {
	if to&3 != 0 {
		return s.trap(misalignedJump(to))
	}
	s.PC = to
	return nil
}

// rarer executes float and CSR instructions.
func (s *Scalar) rarer(o *ScalarOp) error {
	x := &s.X
	if o.kind == scalarFP {
		s.fp.RM = o.rm
		if o.rm == isa.RMDynamic {
			if s.frm > isa.RMM {
				return illegal(0, IllegalInstruction, "rounding mode dyn, but frm holds %d, which is reserved", s.frm)
			}
			s.fp.RM = s.frm
		}
		x[o.rd] = o.fpOp(&s.fp, x[o.rs1], x[o.rs2], x[o.rs3])
		return nil
	}
	old, source := s.readCSR(o.num), o.imm
	if !o.csr.Immediate {
		source = x[o.rs1]
	}
	if o.write {
		s.writeCSR(o.num, o.csr.F(old, source))
	}
	x[o.rd] = old
	return nil
}

func (s *Scalar) readCSR(num uint16) uint32 {
	switch num {
	case isa.CSRFflags:
		return uint32(s.fp.Flags)
	case isa.CSRFrm:
		return uint32(s.frm)
	case isa.CSRFcsr:
		return uint32(s.frm)<<5 | uint32(s.fp.Flags)
	}
	return s.code.arg
}

func (s *Scalar) writeCSR(num uint16, v uint32) {
	switch num {
	case isa.CSRFflags:
		s.fp.Flags = uint8(v & 31)
	case isa.CSRFrm:
		s.frm = uint8(v & 7)
	case isa.CSRFcsr:
		s.fp.Flags, s.frm = uint8(v&31), uint8(v>>5&7)
	}
}

// Address returns the address that the memory instruction at PC accesses, or the trap that it causes.
func (s *Scalar) Address(o *ScalarOp) (uint32, error) {
	a := s.X[o.rs1] + o.imm
	switch {
	case a&uint32(o.size-1) != 0:
		as := isa.ExceptionMisalignedStore
		if !o.Writes() {
			as = isa.ExceptionMisalignedLoad
		}
		return a, s.trap(exceptionf(as, a, MisalignedAccess, -1, "address 0x%08x is not a multiple of %d", a, o.size))
	case o.kind == scalarConditional && s.resv != a+1: // it fails without an access
	case a < NullEnd:
		return a, s.trap(nullAccess(-1, a))
	case a >= ScratchpadBase:
		return a, s.trap(faultf(AccessFault, -1, "address 0x%08x: a Swarm core has no scratchpad", a))
	}
	return a, nil
}

// Prints reports whether the memory instruction writes a byte to the console, and which.
func (s *Scalar) Prints(o *ScalarOp, addr uint32) (b byte, ok bool) {
	return byte(s.X[o.rs2]), addr < ConsoleEnd && o.kind == scalarStore && o.size == 1
}

// Perform executes the memory instruction at PC, whose address is addr.
func (s *Scalar) Perform(o *ScalarOp, addr uint32) {
	x, m := &s.X, s.code.mem
	switch o.kind {
	case scalarLoad, scalarReserve:
		v := m.load(addr, o.size)
		if o.signed {
			shift := 32 - 8*uint(o.size)
			v = uint32(int32(v<<shift) >> shift)
		}
		if x[o.rd] = v; o.kind == scalarReserve {
			s.resv = addr + 1
		}
	case scalarStore:
		s.store(addr, o.size, x[o.rs2])
	case scalarAMO:
		old := m.load(addr, 4)
		s.store(addr, 4, o.amo(old, x[o.rs2]))
		x[o.rd] = old
	case scalarConditional:
		held := s.resv == addr+1
		if s.resv = 0; held {
			s.store(addr, 4, x[o.rs2])
		}
		x[o.rd] = uint32(1)
		if held {
			x[o.rd] = 0
		}
	case scalarSwap:
		old := m.load(addr, 4)
		if old == x[o.rs3] {
			s.store(addr, 4, x[o.rs2])
		}
		x[o.rd] = old
	}
	s.PC += 4
}

func (s *Scalar) store(addr uint32, size uint8, v uint32) {
	s.code.mem.store(addr, size, v)
	s.code.stored(addr)
}

// stored makes a prepared instruction stale whose word has been written.
func (c *ScalarCode) stored(addr uint32) {
	if i := (addr - c.base) >> 2; uint64(i) < uint64(len(c.ops)) {
		c.ops[i] = nil
	}
}

// Restore writes a word, as an undo log holds it.
func (c *ScalarCode) Restore(addr, v uint32) {
	c.mem.store(addr, 4, v)
	c.stored(addr)
}

// Enqueued returns the task that the swarm.enqueue at PC creates, which it passes. now is the task's own timestamp.
func (s *Scalar) Enqueued(o *ScalarOp, now uint32) (t Task, err error) {
	t.Fn, t.TS = s.X[o.rs1], s.X[o.rs2]
	copy(t.Args[:], s.X[10:10+isa.SwarmArgs])
	if t.TS < now {
		return t, s.trap(faultf(UnitError, -1, "a task with timestamp %d enqueues one with timestamp %d: expected its own "+
			"or a later one", now, t.TS))
	}
	s.PC += 4
	return t, nil
}

// Task is a task that waits: an address, a timestamp and arguments.
type Task struct {
	Fn, TS uint32
	Args   [isa.SwarmArgs]uint32
}

// Begin makes the core execute a task.
func (s *Scalar) Begin(c *ScalarCode, t *Task) {
	s.Start(c, t.Fn)
	copy(s.X[10:], t.Args[:])
	s.X[10+isa.SwarmArgs] = t.TS
}

// trap adds the position to an error of the instruction at PC.
func (s *Scalar) trap(err error) error {
	f := &fault{cause: StackFault, lane: -1, detail: err.Error()}
	errors.As(err, &f)
	p, pc := s.code.program, s.PC
	t := &Trap{
		Cause: f.cause, Detail: f.detail, Lane: f.lane, As: f.as, Exceptional: f.exceptional, Value: f.value,
		PC: pc, Inst: isa.Disassemble(s.code.mem.Load32(pc&^3), pc), Source: source(p, pc),
	}
	if name, off, ok := p.Where(pc); ok {
		t.Symbol = fmt.Sprintf("%s+0x%x", name, off)
	}
	return t
}

// prepare decodes the instruction at pc.
func (c *ScalarCode) prepare(pc uint32) error {
	i := (pc - c.base) >> 2
	switch {
	case pc&3 != 0:
		return misalignedJump(pc)
	case uint64(i) >= uint64(len(c.ops)):
		return exceptionf(isa.ExceptionFetchFault, pc, FetchFault, -1, "no instructions are loaded at 0x%08x", pc)
	}
	word := c.mem.Load32(pc)
	in, ok := isa.Decode(word)
	if !ok {
		return illegal(word, IllegalInstruction, "0x%08x is no instruction of this machine", word)
	}
	o := &ScalarOp{
		rd: in.Rd, rs1: in.Rs1, rs2: in.Rs2, rs3: in.Rs3, imm: uint32(in.Imm), class: in.Class, rm: in.RM, num: in.CSR,
	}
	if c.edges[pc] != 0 {
		o.edge = 1
	}
	if in.Rd == 0 {
		o.rd = sink
	}
	if err := o.bind(&in, pc); err != nil {
		return err
	}
	c.ops[i] = o
	return nil
}

// bind chooses the treatment of the row's shape.
func (o *ScalarOp) bind(in *isa.Inst, pc uint32) error {
	switch f := in.Sem.(type) {
	case isa.IntOp:
		o.kind, o.f = scalarInt, f
		if in.Format.Immediate() {
			o.kind = scalarImm
		}
	case isa.PCOp:
		o.kind, o.imm = scalarConst, f(pc, o.imm)
	case isa.Branch:
		o.kind, o.test = scalarBranch, f
	case isa.Jump:
		if o.kind = scalarJump; f.Indirect {
			o.kind = scalarIndirect
		}
	case isa.FPOp:
		o.kind, o.fpOp = scalarFP, f
	case isa.CSROp:
		o.kind, o.csr = scalarCSR, f
		o.write = f.Swap || f.Immediate && in.Imm != 0 || !f.Immediate && in.Rs1 != 0
		return o.bindCSR(in)
	case isa.Fence, isa.FenceI:
		o.kind = scalarNothing
	case isa.Load:
		o.kind, o.size, o.signed = scalarLoad, f.Size, f.Signed
	case isa.Store:
		o.kind, o.size = scalarStore, f.Size
	case isa.AMO:
		o.kind, o.size, o.amo = scalarAMO, 4, f
	case isa.LoadReserved:
		o.kind, o.size = scalarReserve, 4
	case isa.StoreConditional:
		o.kind, o.size = scalarConditional, 4
	case isa.CompareSwap:
		o.kind, o.size = scalarSwap, 4
	case isa.UnitOp:
		if f.Unit != isa.SwarmUnit {
			return illegal(in.Raw, MissingUnit, "a Swarm core has no %s unit", f.Unit)
		}
		o.kind, o.fn = scalarTask, f.Fn
	default:
		return illegal(in.Raw, IllegalInstruction, "%s: a Swarm core has one lane and one warp, and no operating system; a "+
			"task ends with swarm.finish", in.Name)
	}
	return nil
}

// bindCSR refuses CSRs that a Swarm core does not have. Numbers of cores and cycles would make the result depend on
// where and when a task executes, and mscratch is no memory that an abort could restore.
func (o *ScalarOp) bindCSR(in *isa.Inst) error {
	switch in.CSR {
	case isa.CSRFflags, isa.CSRFrm, isa.CSRFcsr:
		return nil
	case isa.CSRMscratch:
		if !o.write {
			return nil
		}
		return illegal(in.Raw, IllegalInstruction, "mscratch is read-only on a Swarm core")
	}
	return illegal(in.Raw, IllegalInstruction, "CSR 0x%03x: a Swarm core has fcsr and mscratch only: tasks must not "+
		"depend on where or when they execute", in.CSR)
}

// TaskRecord names a task of a run: the number, in order of execution, of the task that enqueued it, -1 for the
// program's first, and which of that one's it is.
type TaskRecord struct{ Parent, Child int32 }

// TaskStats are the counts of an execution of tasks.
type TaskStats struct{ Tasks, Instrs, Enqueues uint64 }

// TaskOrderError is an order of tasks that is not one of their timestamps.
type TaskOrderError struct{ msg string }

func (e *TaskOrderError) Error() string { return e.msg }

// Print passes a byte to the console, at its address.
func (m *Machine) Print(addr uint32, b byte) { m.console.put(addr-ConsoleBase, b) }

// Count adds instructions that a core has executed as a Scalar.
func (m *Machine) Count(core int, byClass *[isa.NumClasses]uint32, edges uint32) {
	c := m.cores[core]
	st := &c.stats
	for i, n := range byClass {
		st.WarpInstrs += uint64(n)
		st.ByClass[i] += uint64(n)
		st.LanesByClass[i] += uint64(n)
	}
	st.Edges += uint64(edges)
	st.Iterations += uint64(edges)
	for range edges {
		c.warps[0].handle(1)
	}
}

// SetExit sets the program's exit code.
func (m *Machine) SetExit(code uint32) { m.exit, m.exited = code, true }

// RunTasks executes a program's tasks one after another in the order of their timestamps, which is the meaning of a
// Swarm program, on memory that holds it. Tasks of equal timestamp execute in the order in which they are enqueued, or,
// with an order of all tasks, in that order if it is one of their timestamps (otherwise the error is a
// *TaskOrderError). The configuration's limit on instructions applies.
func (m *Machine) RunTasks(ctx context.Context, p *isa.Program, order []TaskRecord) (TaskStats, error) {
	defer m.console.flush()
	code, err := NewScalarCode(p, m.Mem, m.cfg.Arg)
	if err != nil {
		return TaskStats{}, err
	}
	m.program = p
	r := sequential{m: m, code: code, limit: m.cfg.MaxInstrs}
	r.add(Task{Fn: p.Entry}, -1)
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return r.stats, err
		}
		t, ok := r.first()
		if !ok {
			break
		}
		if order != nil {
			if t, err = r.named(order, n, t); err != nil {
				return r.stats, err
			}
		}
		t.taken = true
		if err := r.execute(t, int32(n)); err != nil {
			return r.stats, err
		}
	}
	if order != nil && int(r.stats.Tasks) != len(order) {
		return r.stats, &TaskOrderError{fmt.Sprintf("%d tasks were committed, %d are executed one after another",
			len(order), r.stats.Tasks)}
	}
	m.SetExit(m.Mem.Load32(ExitAddr))
	return r.stats, nil
}
