package codegen

import (
	"fmt"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// lowering turns a kernel into instructions on virtual registers.
type lowering struct {
	k     *ir.Kernel
	o     Options
	u     *ir.Uniformity
	at    *uses
	code  *code
	entry []inst // code that all warps begin with, which computes roots
	value []reg  // by ID
	made  []bool // by ID: value is known
	vars  []reg  // by ID; 0: none yet
	bits  []bool // by ID: a float that is kept in an integer register
	even  bool   // every value registered with the Weaver is even

	full     bool // all lanes are active here
	mask     reg  // register that holds the current mask; 0: none
	loops    map[*ir.Instr]*loopContext
	visiting bool    // inside an AllLanes that has turned lanes on
	waits    []label // labels at which inactive lanes continue
	on       reg     // set in lanes that were active when AllLanes began; 0: not needed
	args     reg     // address of the argument block
	blockID  reg     // the warp's thread block's number in its core; 0: not computed

	inEntry bool // instructions are appended to entry
	phase   isa.Phase
	from    *ir.Instr // that is lowered; nil: the beginning or the end
	depth   int
	edge    uint8 // mark of the next instruction
	err     error
	fixed   [ir.TaskWords]reg // registers that stand for a0 to a6 of a task
}

// loopContext has the labels and masks that a loop's breaks and continues need.
type loopContext struct {
	next, exit label
	mask       reg // of the lanes in the loop
}

func newLowering(k *ir.Kernel, o Options) *lowering {
	l := &lowering{k: k, o: o, u: ir.Analyse(k), at: newUses(k), code: newCode(), full: true,
		loops: map[*ir.Instr]*loopContext{},
		value: make([]reg, k.Instr), made: make([]bool, k.Instr), vars: make([]reg, k.Vars),
		bits: make([]bool, k.Instr)}
	l.even = evenVertices(k)
	k.Body.Walk(func(i *ir.Instr) { l.bits[i.ID] = l.keepBits(i) })
	return l
}

// failf records the first error.
func (l *lowering) failf(i *ir.Instr, format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("%s: %s", i.Pos, fmt.Sprintf(format, args...))
	}
}

// row returns the row of an instruction by name.
func row(name string) *isa.Row {
	if r := isa.Lookup(name); r != nil {
		return r
	}
	panic("BUG: codegen: no instruction " + name)
}

// add appends an instruction.
func (l *lowering) add(i inst) {
	i.phase, i.from, i.depth = l.phase, l.from, l.depth
	if i.row == nil && l.edge != 0 { // lanes that handle no edge may jump to the label
		l.emit("addi", 0, 0, 0, 0)
	}
	if i.row != nil {
		i.edge, l.edge = l.edge, 0
	}
	l.code.insts = append(l.code.insts, i)
}

func (l *lowering) emit(name string, rd, a, b reg, imm int32) {
	l.add(inst{row: row(name), rd: rd, a: a, b: b, imm: imm, rm: isa.RMDynamic})
}

func (l *lowering) label(x label) { l.add(inst{label: x}) }

func (l *lowering) jump(to label) { l.add(inst{row: row("jal"), to: to}) }

func (l *lowering) branch(name string, a, b reg, to label) {
	l.add(inst{row: row(name), a: a, b: b, to: to})
}

// atEntry appends to the code that all warps begin with.
func (l *lowering) atEntry(f func()) {
	if l.inEntry {
		f()
		return
	}
	l.inEntry = true
	defer func() { l.inEntry = false }()
	body, edge, phase, from, depth := l.code.insts, l.edge, l.phase, l.from, l.depth
	l.code.insts, l.edge, l.phase, l.from, l.depth = l.entry, 0, isa.PhaseInit, nil, 0
	f()
	l.entry = l.code.insts
	l.code.insts, l.edge, l.phase, l.from, l.depth = body, edge, phase, from, depth
}

// kernel lowers the whole kernel.
func (l *lowering) kernel() error {
	l.phase, l.code.task = isa.PhaseInit, l.o.Task
	l.start()
	l.block(l.k.Body)
	l.phase = isa.PhaseOther
	l.end()
	for n, i := range l.code.insts {
		if i.row == nil && i.entry {
			rest := append([]inst(nil), l.code.insts[n+1:]...)
			l.code.insts = append(append(l.code.insts[:n+1], l.entry...), rest...)
			break
		}
	}
	return l.err
}

// start emits the code of one lane of warp 0, which starts the others, and then the beginning of all.
func (l *lowering) start() {
	if l.o.Return != 0 || l.o.Task {
		l.add(inst{entry: true})
		return
	}
	n, pc, all := l.code.newX(), l.code.newX(), l.code.newX()
	l.code.quick = []reg{n, pc, all}
	l.numWarps(n)
	l.emit("auipc", pc, 0, 0, 0)
	l.emit("addi", pc, pc, 0, 12) // the address after wspawn
	l.emit("wspawn", 0, n, pc, 0)
	l.emit("addi", all, 0, 0, -1)
	l.emit("tmc", 0, all, 0, 0)
	l.add(inst{entry: true})
}

// end emits the end: warp 0 of core 0 stores the exit code, if there is one, and all warps end. A part of a larger
// program jumps back.
func (l *lowering) end() {
	if l.o.Task {
		l.emit("swarm.finish", 0, 0, 0, 0)
		return
	}
	if l.o.Return == 0 && l.o.SilentExit {
		l.code.dropMask()
		l.emit("tmc", 0, 0, 0, 0)
		return
	}
	if l.o.Return != 0 {
		to := l.code.newX()
		high := (l.o.Return + 0x800) &^ 0xFFF
		l.emit("lui", to, 0, 0, int32(high))
		l.emit("jalr", 0, to, 0, int32(l.o.Return-high))
		return
	}
	core, warp, out := l.code.newX(), l.code.newX(), l.code.newLabel()
	l.csr(core, isa.CSRCid)
	l.csr(warp, isa.CSRWid)
	l.emit("or", core, core, warp, 0)
	l.branch("bne", core, 0, out)
	l.emit("sw", 0, 0, 0, emu.ExitAddr)
	l.label(out)
	l.emit("tmc", 0, 0, 0, 0)
}

// numWarps loads the number of a core's warps that run the kernel.
func (l *lowering) numWarps(rd reg) {
	if n := l.k.Warps; n > 0 {
		l.emit("addi", rd, 0, 0, int32(n))
		return
	}
	l.csr(rd, isa.CSRNumWarps)
}

func (l *lowering) csr(rd reg, num uint16) {
	l.add(inst{row: row("csrrs"), rd: rd, csr: num})
}

func (l *lowering) block(b *ir.Block) {
	for _, i := range b.Instrs {
		l.instr(i)
	}
}

func (l *lowering) instr(i *ir.Instr) {
	if i.Type != ir.None && l.at.late[i.ID] {
		return
	}
	phase, from := l.phase, l.from
	defer func() { l.phase, l.from = phase, from }()
	l.phase, l.from = i.Phase, i
	switch i.Op.Kind() {
	case ir.KindControl:
		l.control(i)
	case ir.KindVar:
		l.variable(i)
	default:
		l.compute(i)
	}
}

// Registers of values.

// result returns the destination register of an instruction.
func (l *lowering) result(i *ir.Instr) reg {
	if l.made[i.ID] { // a loop's body, which is lowered before its test, has used it
		return l.value[i.ID]
	}
	var r reg
	switch {
	case l.at.targets[i.ID] != nil:
		r = l.variableReg(l.at.targets[i.ID])
	case i.Type == ir.F32 && !l.bits[i.ID]:
		r = l.code.newF()
	default:
		r = l.code.newX()
	}
	l.know(i, r)
	return r
}

func (l *lowering) know(i *ir.Instr, r reg) { l.value[i.ID], l.made[i.ID] = r, true }

func (l *lowering) variableReg(v *ir.Var) reg {
	if l.vars[v.ID] == 0 {
		if v.Type == ir.F32 {
			l.vars[v.ID] = l.code.newF()
		} else {
			l.vars[v.ID] = l.code.newX()
		}
	}
	return l.vars[v.ID]
}

// x returns a value in an integer register; for a float, its bits.
func (l *lowering) x(v ir.Value) reg {
	if v.Type != ir.F32 {
		return l.reg(v)
	}
	if c, ok := v.IsConst(); ok {
		return l.constReg(c)
	}
	r := l.reg(v)
	if !l.code.float[r] {
		return r
	}
	x := l.code.newX()
	l.emit("fmv.x.w", x, r, 0, 0)
	return x
}

// f returns a value in a float register.
func (l *lowering) f(v ir.Value) reg {
	r := l.reg(v)
	if l.code.float[r] {
		return r
	}
	f := l.code.newF()
	l.emit("fmv.w.x", f, r, 0, 0)
	return f
}

// reg returns the register in which a value is kept.
func (l *lowering) reg(v ir.Value) reg {
	switch {
	case v.Op.Kind() == ir.KindRoot:
		return l.root(v)
	case l.at.late[v.ID] && isNothing(v):
		return l.reg(v.Args[0])
	case l.at.late[v.ID]:
		r := l.code.newX()
		l.predicate(r, v, false)
		return r
	case !l.made[v.ID] && l.at.inTest(v):
		if v.Op == ir.OpGet && l.at.alias[v.ID] {
			return l.variableReg(v.Var)
		}
		return l.result(v)
	case !l.made[v.ID]:
		panic(fmt.Sprintf("BUG: codegen: %s %%%d of %s is used before it is computed", v.Op, v.ID, v.Pos))
	}
	return l.value[v.ID]
}

// keepBits reports whether a float is only moved, so that it can stay in an integer register.
func (l *lowering) keepBits(i *ir.Instr) bool {
	if i.Type != ir.F32 || l.at.targets[i.ID] != nil {
		return false
	}
	switch i.Op {
	case ir.OpLoad, ir.OpAtomicAddF, ir.OpBitcast, ir.OpSelect, ir.OpShflIdx, ir.OpShflUp, ir.OpShflDown, ir.OpShflXor:
	default:
		return false
	}
	for _, u := range l.at.use[i.ID] {
		switch u.Op {
		case ir.OpStore, ir.OpAtomicAddF, ir.OpBitcast, ir.OpSelect, ir.OpShflIdx, ir.OpShflUp, ir.OpShflDown,
			ir.OpShflXor:
		default:
			return false
		}
	}
	return true
}

// root returns the register of a root. Constants are materialised where they are used, outside loops.
func (l *lowering) root(v ir.Value) reg {
	if l.made[v.ID] {
		return l.value[v.ID]
	}
	if v.Op == ir.OpConst && v.Type != ir.F32 && v.Imm == 0 {
		return 0
	}
	r := l.code.newX()
	if v.Type == ir.F32 {
		r = l.code.newF()
	}
	if v.Op == ir.OpConst && l.depth == 0 {
		l.rootInto(r, v)
		return r
	}
	l.atEntry(func() { l.rootInto(r, v) })
	l.know(v, r)
	return r
}

// rootInto computes a root into a register.
func (l *lowering) rootInto(r reg, v ir.Value) {
	switch v.Op {
	case ir.OpConst:
		l.constant(r, v.Imm)
	case ir.OpParam:
		l.param(r, v)
	case ir.OpShared:
		l.constant(r, emu.ScratchpadBase+uint32(l.k.Shared[v.Imm].Offset))
	case ir.OpThreadInCore:
		l.emit("mul", r, l.rootOf(ir.OpWarpID), l.rootOf(ir.OpNumLanes), 0)
		l.emit("add", r, r, l.rootOf(ir.OpLaneID), 0)
	case ir.OpSpreadThread:
		l.emit("mul", r, l.rootOf(ir.OpWarpID), l.rootOf(ir.OpNumCores), 0)
		l.emit("add", r, r, l.rootOf(ir.OpCoreID), 0)
		l.byLanes(r)
		l.emit("add", r, r, l.rootOf(ir.OpLaneID), 0)
	case ir.OpNumWarps:
		l.numWarps(r)
	case ir.OpNumThreads:
		l.emit("mul", r, l.rootOf(ir.OpNumLanes), l.rootOf(ir.OpNumWarps), 0)
		l.emit("mul", r, r, l.rootOf(ir.OpNumCores), 0)
	case ir.OpGlobalThread:
		l.globalThread(r)
	case ir.OpWeaverCapacity:
		l.weaverCapacity(r)
	default:
		l.csr(r, csrs[v.Op])
	}
}

// globalThread computes the lane's number among those that run the kernel.
func (l *lowering) globalThread(r reg) {
	if l.k.Warps == 0 {
		l.csr(r, isa.CSRMhartid)
		return
	}
	l.emit("mul", r, l.rootOf(ir.OpCoreID), l.rootOf(ir.OpNumWarps), 0)
	l.emit("add", r, r, l.rootOf(ir.OpWarpID), 0)
	l.byLanes(r)
	l.emit("add", r, r, l.rootOf(ir.OpLaneID), 0)
}

// weaverCapacity computes the capacity of the Weaver, or the number of registering lanes if that is lower.
func (l *lowering) weaverCapacity(r reg) {
	l.csr(r, isa.CSRWeaverCapacity)
	if l.k.Warps == 0 {
		return
	}
	lanes, fewer := l.code.newX(), l.code.newX()
	l.emit("mul", lanes, l.rootOf(ir.OpNumLanes), l.rootOf(ir.OpNumWarps), 0)
	l.emit("sltu", fewer, lanes, r, 0)
	l.emit("sub", fewer, 0, fewer, 0) // all ones, or 0
	l.emit("xor", lanes, lanes, r, 0)
	l.emit("and", lanes, lanes, fewer, 0)
	l.emit("xor", r, r, lanes, 0)
}

// csrs maps roots to CSRs.
var csrs = map[ir.Op]uint16{
	ir.OpLaneID: isa.CSRTid, ir.OpWarpID: isa.CSRWid, ir.OpCoreID: isa.CSRCid,
	ir.OpNumLanes: isa.CSRNumThreads, ir.OpNumCores: isa.CSRNumCores, ir.OpAllMask: isa.CSRActiveThreads,
}

// rootOf returns the register of a root without an argument.
func (l *lowering) rootOf(op ir.Op) reg {
	if n, ok := l.o.Size.number(l.k, op); ok {
		return l.constReg(n)
	}
	v := l.k.Root(op, ir.U32, 0)
	l.grow()
	return l.root(v)
}

// constReg returns a register with the given bits.
func (l *lowering) constReg(bits uint32) reg {
	v := l.k.Const(ir.U32, bits)
	l.grow()
	return l.root(v)
}

// grow extends the tables for roots that lowering has added.
func (l *lowering) grow() {
	for len(l.value) < l.k.Instr {
		l.value, l.made, l.bits = append(l.value, 0), append(l.made, false), append(l.bits, false)
		l.at.late = append(l.at.late, false)
	}
}

func (l *lowering) param(r reg, v ir.Value) {
	if word := l.k.Params[v.Imm].Word; l.o.Task && word < ir.TaskWords {
		l.move(r, l.taskRegister(word))
		return
	}
	if word := l.k.Params[v.Imm].Word; word < l.o.ArgumentRegisters && l.o.Return == 0 {
		l.preloaded(r, v, word)
		return
	}
	if l.args == 0 {
		l.args = l.code.newX()
		l.csr(l.args, isa.CSRMscratch)
		l.code.args = l.args
	}
	name := "lw"
	if v.Type == ir.F32 {
		name = "flw"
	}
	l.emit(name, r, l.args, 0, int32(4*l.k.Params[v.Imm].Word))
}

// preloaded takes a parameter from the register to which the launch has written it. If the value gets the same
// register, the move is dropped; if it gets none, it is loaded from the argument block where it is used.
func (l *lowering) preloaded(r reg, v ir.Value, word int) {
	from := l.code.newX()
	l.code.preloads[from] = emu.ArgumentRegister(word)
	name, load := "addi", "lw"
	if v.Type == ir.F32 {
		name, load = "fmv.w.x", "flw"
	}
	l.emit(name, r, from, 0, 0)
	l.code.reloads[r] = inst{row: row(load), rd: r, a: from, imm: int32(4 * word)}
}

// constant loads bits into a register.
func (l *lowering) constant(r reg, bits uint32) {
	switch {
	case l.code.float[r] && bits == 0:
		l.emit("fmv.w.x", r, 0, 0, 0)
	case l.code.float[r]:
		x := l.code.newX()
		l.constant(x, bits)
		l.emit("fmv.w.x", r, x, 0, 0)
	case fits12(int32(bits)):
		l.emit("addi", r, 0, 0, int32(bits))
	default:
		high := (bits + 0x800) &^ 0xFFF
		l.emit("lui", r, 0, 0, int32(high))
		if low := int32(bits - high); low != 0 {
			l.emit("addi", r, r, 0, low)
		}
	}
}

func fits12(v int32) bool { return v >= -2048 && v <= 2047 }

// move copies a value's register.
func (l *lowering) move(rd, from reg) {
	switch to, f := l.code.float[rd], l.code.float[from]; {
	case to && f:
		l.emit("fsgnj.s", rd, from, from, 0)
	case to:
		l.emit("fmv.w.x", rd, from, 0, 0)
	case f:
		l.emit("fmv.x.w", rd, from, 0, 0)
	default:
		l.emit("addi", rd, from, 0, 0)
	}
}

func (l *lowering) variable(i *ir.Instr) {
	switch i.Op {
	case ir.OpGet:
		v := l.variableReg(i.Var)
		if l.at.alias[i.ID] {
			l.know(i, v)
			return
		}
		l.move(l.result(i), v)
	case ir.OpVar, ir.OpSet:
		x := i.Args[0]
		rd := l.variableReg(i.Var)
		if l.at.targets[x.ID] == i.Var && l.made[x.ID] && l.value[x.ID] == rd {
			return
		}
		switch {
		case x.Op == ir.OpConst && !l.made[x.ID]:
			l.constant(rd, x.Imm)
		case l.at.late[x.ID] && x.Type == ir.Pred:
			l.predicate(rd, x, false)
		default:
			l.move(rd, l.reg(x))
		}
	}
}
