package codegen

import (
	"heddle/isa"
	"heddle/kernels/ir"
)

// rowOf names the instructions that compute an operation of i32, u32 or f32, and the form with an immediate second
// argument.
type rowOf struct{ i, u, f, imm string }

var rows = map[ir.Op]rowOf{
	ir.OpAdd: {"add", "add", "fadd.s", "addi"}, ir.OpSub: {"sub", "sub", "fsub.s", ""}, ir.OpMul: {"mul", "mul",
		"fmul.s", ""},
	ir.OpMulHi: {"mulh", "mulhu", "", ""}, ir.OpDiv: {"div", "divu", "fdiv.s", ""}, ir.OpRem: {"rem", "remu", "", ""},
	ir.OpAnd: {"and", "and", "", "andi"}, ir.OpOr: {"or", "or", "", "ori"}, ir.OpXor: {"xor", "xor", "", "xori"},
	ir.OpShl: {"sll", "sll", "", "slli"}, ir.OpShr: {"sra", "srl", "", ""},
	ir.OpMin: {"", "", "fmin.s", ""}, ir.OpMax: {"", "", "fmax.s", ""},
	ir.OpAtomicAdd: {i: "amoadd.w", u: "amoadd.w"}, ir.OpAtomicMin: {i: "amomin.w", u: "amominu.w"},
	ir.OpAtomicMax: {i: "amomax.w", u: "amomaxu.w"},
	ir.OpAtomicAnd: {i: "amoand.w", u: "amoand.w"}, ir.OpAtomicOr: {i: "amoor.w", u: "amoor.w"},
	ir.OpAtomicXor:  {i: "amoxor.w", u: "amoxor.w"},
	ir.OpAtomicXchg: {i: "amoswap.w", u: "amoswap.w"}, ir.OpAtomicAddF: {f: "amofadd.w"},
	ir.OpShflIdx: {imm: "shfl.idx"}, ir.OpShflUp: {imm: "shfl.up"}, ir.OpShflDown: {imm: "shfl.down"},
	ir.OpShflXor: {imm: "shfl.bfly"},
	ir.OpBallot:  {imm: "vote.ballot"}, ir.OpAny: {imm: "vote.any"}, ir.OpAll: {imm: "vote.all"},
}

// named returns the instruction for a type; predicates are computed as u32.
func (r rowOf) named(t ir.Type) string {
	switch t {
	case ir.I32:
		return r.i
	case ir.F32:
		return r.f
	}
	return r.u
}

// compute lowers instructions without blocks.
func (l *lowering) compute(i *ir.Instr) {
	switch {
	case i.Op >= ir.OpEq && i.Op <= ir.OpGe || i.Op == ir.OpNot && i.Type == ir.Pred:
		l.compareInto(l.result(i), i)
		return
	case i.Op.Memory():
		l.memory(i)
		return
	}
	switch i.Op {
	case ir.OpMin, ir.OpMax:
		if i.Type == ir.F32 {
			l.binary(i)
		} else {
			l.minMax(i)
		}
	case ir.OpNeg, ir.OpNot, ir.OpAbs, ir.OpSqrt:
		l.unary(i)
	case ir.OpFMA:
		a, b, c := l.f(i.Args[0]), l.f(i.Args[1]), l.f(i.Args[2])
		l.add(inst{row: row("fmadd.s"), rd: l.result(i), a: a, b: b, c: c, rm: isa.RMDynamic})
	case ir.OpSelect:
		l.selects(i)
	case ir.OpConvert:
		l.convert(i)
	case ir.OpBitcast:
		from := l.reg(i.Args[0])
		l.move(l.result(i), from)
	case ir.OpFence:
		l.emit("fence", 0, 0, 0, 0xFF)
	case ir.OpEdge, ir.OpBlockEdge:
		if l.edge != 0 { // two marks: count both
			l.emit("addi", 0, 0, 0, 0)
		}
		if l.edge = 1; i.Op == ir.OpBlockEdge {
			l.edge = uint8(l.k.Block)
		}
	case ir.OpBallot, ir.OpAny, ir.OpAll:
		p := l.reg(i.Args[0])
		l.emit(rows[i.Op].imm, l.result(i), p, 0, 0)
	case ir.OpShflIdx, ir.OpShflUp, ir.OpShflDown, ir.OpShflXor:
		l.shuffle(i)
	case ir.OpBarrier, ir.OpDeviceBarrier:
		l.barrier(i)
	case ir.OpWeaverReg, ir.OpWeaverSkip, ir.OpWeaverDecID, ir.OpWeaverDecLoc:
		l.weaver(i)
	case ir.OpUnitDo, ir.OpUnitAsk:
		l.unit(i)
	case ir.OpTask:
		l.enqueue(i)
	case ir.OpListPush:
		l.listPush(i)
	case ir.OpCall:
		l.call(i)
	default:
		l.binary(i)
	}
}

// call lowers a call. The code that is called finds each lane's frame in CallFrame, returns to CallLink, and leaves all
// other registers as they were.
func (l *lowering) call(i *ir.Instr) {
	frame, link := l.code.newX(), l.code.newX()
	l.code.places[frame], l.code.places[link] = CallFrame, CallLink
	from, to := l.reg(i.Args[0]), l.reg(i.Args[1])
	l.move(frame, from)
	l.add(inst{row: row("jalr"), rd: link, a: to, also: frame})
}

func (l *lowering) binary(i *ir.Instr) {
	r := rows[i.Op]
	if i.Type == ir.F32 {
		a, b := l.f(i.Args[0]), l.f(i.Args[1])
		l.emit(r.f, l.result(i), a, b, 0)
		return
	}
	a := l.reg(i.Args[0])
	if c, ok := i.Args[1].IsConst(); ok {
		if name, imm, ok := immediate(i, int32(c)); ok {
			l.emit(name, l.result(i), a, 0, imm)
			return
		}
	}
	b := l.reg(i.Args[1])
	l.emit(r.named(i.Type), l.result(i), a, b, 0)
}

// immediate returns the form of an instruction that contains its constant argument.
func immediate(i *ir.Instr, c int32) (name string, imm int32, ok bool) {
	switch {
	case i.Op == ir.OpShl:
		return "slli", c & 31, true
	case i.Op == ir.OpShr && i.Type == ir.I32:
		return "srai", c & 31, true
	case i.Op == ir.OpShr:
		return "srli", c & 31, true
	case rows[i.Op].imm != "" && fits12(c):
		return rows[i.Op].imm, c, true
	}
	return "", 0, false
}

func (l *lowering) unary(i *ir.Instr) {
	if i.Type == ir.F32 {
		name := map[ir.Op]string{ir.OpNeg: "fsgnjn.s", ir.OpAbs: "fsgnjx.s", ir.OpSqrt: "fsqrt.s"}[i.Op]
		a := l.f(i.Args[0])
		l.emit(name, l.result(i), a, a, 0)
		return
	}
	a := l.reg(i.Args[0])
	if i.Op == ir.OpNeg {
		l.emit("sub", l.result(i), 0, a, 0)
	} else {
		l.emit("xori", l.result(i), a, 0, -1)
	}
}

// comparison describes the computation of an integer comparison: less-than, with the arguments possibly swapped and the
// result inverted, and the corresponding branch.
type comparison struct {
	swap, not      bool
	signed, branch string // branch: for unsigned
}

var comparisons = map[ir.Op]comparison{
	ir.OpLt: {false, false, "blt", "bltu"}, ir.OpGe: {false, true, "bge", "bgeu"},
	ir.OpGt: {true, false, "blt", "bltu"}, ir.OpLe: {true, true, "bge", "bgeu"},
	ir.OpEq: {false, false, "beq", "beq"}, ir.OpNe: {false, true, "bne", "bne"},
}

// opposite maps comparisons to their negations.
var opposite = map[ir.Op]ir.Op{ir.OpLt: ir.OpGe, ir.OpGe: ir.OpLt, ir.OpGt: ir.OpLe, ir.OpLe: ir.OpGt, ir.OpEq: ir.OpNe,
	ir.OpNe: ir.OpEq}

// predicate computes a condition, or its negation, into a register.
func (l *lowering) predicate(rd reg, v ir.Value, not bool) {
	late := v.Op.Kind() != ir.KindRoot && l.at.late[v.ID]
	switch {
	case v.Op == ir.OpConst:
		l.emit("addi", rd, 0, 0, int32(v.Imm&1)^b2i(not))
	case late && v.Op == ir.OpNot:
		l.predicate(rd, v.Args[0], !not)
	case late:
		op := v.Op
		if not {
			op = opposite[op]
		}
		l.compareInts(rd, op, v.Args[0], v.Args[1])
	case not:
		l.emit("xori", rd, l.reg(v), 0, 1)
	default:
		l.move(rd, l.reg(v))
	}
}

func b2i(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

// condition returns a register with a condition or its negation, if possible one that holds it already.
func (l *lowering) condition(v ir.Value, not bool) reg {
	if !not && v.Op.Kind() != ir.KindRoot && !l.at.late[v.ID] {
		return l.reg(v)
	}
	r := l.code.newX()
	l.predicate(r, v, not)
	return r
}

// compareInto computes a comparison, or the negation of a predicate, into a register.
func (l *lowering) compareInto(rd reg, i *ir.Instr) {
	switch {
	case i.Op == ir.OpNot:
		l.emit("xori", rd, l.reg(i.Args[0]), 0, 1)
	case i.Args[0].Type == ir.F32:
		l.compareFloats(rd, i)
	default:
		l.compareInts(rd, i.Op, i.Args[0], i.Args[1])
	}
}

func (l *lowering) compareFloats(rd reg, i *ir.Instr) {
	a, b := l.f(i.Args[0]), l.f(i.Args[1])
	switch i.Op {
	case ir.OpEq, ir.OpNe:
		l.emit("feq.s", rd, a, b, 0)
	case ir.OpLt:
		l.emit("flt.s", rd, a, b, 0)
	case ir.OpLe:
		l.emit("fle.s", rd, a, b, 0)
	case ir.OpGt:
		l.emit("flt.s", rd, b, a, 0)
	case ir.OpGe:
		l.emit("fle.s", rd, b, a, 0)
	}
	if i.Op == ir.OpNe {
		l.emit("xori", rd, rd, 0, 1)
	}
}

// compareInts computes a comparison of integers. It reads nothing after writing rd, which may be an argument.
func (l *lowering) compareInts(rd reg, op ir.Op, x, y ir.Value) {
	c := comparisons[op]
	if op == ir.OpEq || op == ir.OpNe {
		l.equalInts(rd, op, x, y)
		return
	}
	slt, slti := "sltu", "sltiu"
	if x.Type == ir.I32 {
		slt, slti = "slt", "slti"
	}
	if c.swap {
		x, y = y, x
	}
	if k, ok := y.IsConst(); ok && fits12(int32(k)) && k != 0 {
		l.emit(slti, rd, l.reg(x), 0, int32(k))
	} else {
		a := l.reg(x)
		l.emit(slt, rd, a, l.reg(y), 0)
	}
	if c.not {
		l.emit("xori", rd, rd, 0, 1)
	}
}

func (l *lowering) equalInts(rd reg, op ir.Op, x, y ir.Value) {
	d := l.reg(x)
	if k, ok := y.IsConst(); !ok || k != 0 {
		t := l.code.newX()
		if ok && fits12(-int32(k)) && int32(k) != -2048 {
			l.emit("addi", t, d, 0, -int32(k))
		} else {
			l.emit("xor", t, d, l.reg(y), 0)
		}
		d = t
	}
	if op == ir.OpEq {
		l.emit("sltiu", rd, d, 0, 1)
	} else {
		l.emit("sltu", rd, 0, d, 0)
	}
}

// branchIf branches to a label if a uniform condition, or its negation, holds.
func (l *lowering) branchIf(v ir.Value, not bool, to label) {
	switch {
	case v.Op == ir.OpConst:
		if (v.Imm&1 != 0) != not {
			l.jump(to)
		}
	case v.Op.Kind() != ir.KindRoot && l.at.late[v.ID] && v.Op == ir.OpNot:
		l.branchIf(v.Args[0], !not, to)
	case v.Op.Kind() != ir.KindRoot && l.at.late[v.ID]:
		l.compareBranch(v, not, to)
	case not:
		l.branch("beq", l.reg(v), 0, to)
	default:
		l.branch("bne", l.reg(v), 0, to)
	}
}

func (l *lowering) compareBranch(v ir.Value, not bool, to label) {
	op := v.Op
	if not {
		op = opposite[op]
	}
	c := comparisons[op]
	x, y := l.reg(v.Args[0]), l.reg(v.Args[1])
	if c.swap {
		x, y = y, x
	}
	name := c.branch
	if v.Args[0].Type == ir.I32 {
		name = c.signed
	}
	l.branch(name, x, y, to)
}

func (l *lowering) minMax(i *ir.Instr) {
	slt := "sltu"
	if i.Type == ir.I32 {
		slt = "slt"
	}
	a, b := l.reg(i.Args[0]), l.reg(i.Args[1])
	t := l.code.newX()
	if i.Op == ir.OpMin {
		l.emit(slt, t, a, b, 0)
	} else {
		l.emit(slt, t, b, a, 0)
	}
	l.emit("sub", t, 0, t, 0)
	l.pick(l.result(i), t, a, b)
}

// pick selects a if all bits of mask are 1, b if all are 0.
func (l *lowering) pick(rd, mask, a, b reg) {
	t := l.code.newX()
	switch {
	case b == 0:
		l.emit("and", rd, a, mask, 0)
	case a == 0:
		l.emit("xori", t, mask, 0, -1)
		l.emit("and", rd, b, t, 0)
	default:
		l.emit("xor", t, a, b, 0)
		l.emit("and", t, t, mask, 0)
		l.emit("xor", rd, t, b, 0)
	}
}

func (l *lowering) selects(i *ir.Instr) {
	p, a, b := l.reg(i.Args[0]), l.x(i.Args[1]), l.x(i.Args[2])
	mask := l.code.newX()
	rd := l.result(i)
	to := rd
	if l.code.float[rd] {
		to = l.code.newX()
	}
	if a == 0 && b != 0 {
		l.emit("addi", mask, p, 0, -1)
		l.emit("and", to, b, mask, 0)
	} else {
		l.emit("sub", mask, 0, p, 0)
		l.pick(to, mask, a, b)
	}
	if to != rd {
		l.emit("fmv.w.x", rd, to, 0, 0)
	}
}

func (l *lowering) convert(i *ir.Instr) {
	x := i.Args[0]
	switch {
	case x.Type == ir.F32:
		from := l.f(x)
		name := "fcvt.w.s"
		if i.Type == ir.U32 {
			name = "fcvt.wu.s"
		}
		l.add(inst{row: row(name), rd: l.result(i), a: from, rm: isa.RTZ})
	default:
		from := l.reg(x)
		name := "fcvt.s.w"
		if x.Type == ir.U32 {
			name = "fcvt.s.wu"
		}
		l.emit(name, l.result(i), from, 0, 0)
	}
}

// shuffle lowers a shuffle, whose second argument the pass shuffles has brought into the form of the instruction.
func (l *lowering) shuffle(i *ir.Instr) {
	x, by := l.x(i.Args[0]), l.reg(i.Args[1])
	rd := l.result(i)
	to := rd
	if l.code.float[rd] {
		to = l.code.newX()
	}
	l.emit(rows[i.Op].imm, to, x, by, 0)
	if to != rd {
		l.emit("fmv.w.x", rd, to, 0, 0)
	}
}

// memory lowers loads, stores and atomics, whose addresses are in one argument.
func (l *lowering) memory(i *ir.Instr) {
	base := l.reg(i.Args[0])
	imm := int32(i.Imm)
	switch i.Op {
	case ir.OpLoad:
		rd := l.result(i)
		name := "lw"
		if l.code.float[rd] {
			name = "flw"
		}
		l.emit(name, rd, base, 0, imm)
	case ir.OpLoadByte:
		l.emit("lbu", l.result(i), base, 0, imm)
	case ir.OpStoreByte:
		l.emit("sb", 0, base, l.reg(i.Args[2]), imm)
	case ir.OpStore:
		l.store(i.Args[2], base, imm)
	default:
		l.atomic(i, base)
	}
}

func (l *lowering) store(v ir.Value, base reg, imm int32) {
	if v.Type == ir.F32 && v.Op != ir.OpConst {
		if r := l.reg(v); l.code.float[r] {
			l.emit("fsw", 0, base, r, imm)
			return
		}
	}
	l.emit("sw", 0, base, l.x(v), imm)
}

func (l *lowering) atomic(i *ir.Instr, base reg) {
	v := l.x(i.Args[2])
	used := len(l.at.use[i.ID]) > 0
	if i.Op == ir.OpAtomicCAS {
		rd, next := l.code.newX(), l.reg(i.Args[3])
		l.move(rd, v)
		l.emit("amocas.w", rd, base, next, 0)
		if used {
			l.move(l.result(i), rd)
		}
		return
	}
	name := rows[i.Op].named(i.Type)
	if !used {
		l.emit(name, 0, base, v, 0)
		return
	}
	rd := l.result(i)
	to := rd
	if l.code.float[rd] {
		to = l.code.newX()
	}
	l.emit(name, to, base, v, 0)
	if to != rd {
		l.emit("fmv.w.x", rd, to, 0, 0)
	}
}

// barrier lowers a device-wide barrier. The instruction waits for cores only, and on a device of one core for nothing,
// so the warps of the core synchronise first.
func (l *lowering) barrier(i *ir.Instr) {
	if l.k.Block > 0 {
		l.blockBarrier()
		return
	}
	l.emit("bar", 0, 0, l.rootOf(ir.OpNumWarps), 0)
	if i.Op == ir.OpDeviceBarrier {
		l.emit("bar", 0, l.constReg(1<<31), l.rootOf(ir.OpNumCores), 0)
	}
}

// blockBarrier emits the barrier of a thread block, which has the number of the block. A block of one warp needs none.
func (l *lowering) blockBarrier() {
	if l.k.Block == 1 {
		return
	}
	if l.blockID == 0 {
		l.blockID = l.code.newX()
		l.atEntry(func() { l.emit("divu", l.blockID, l.rootOf(ir.OpWarpID), l.constReg(uint32(l.k.Block)), 0) })
	}
	l.emit("bar", 0, l.blockID, l.constReg(uint32(l.k.Block)), 0)
}

// unit lowers an instruction of a graph unit.
func (l *lowering) unit(i *ir.Instr) {
	x := inst{row: i.UnitRow()}
	for n, to := range []*reg{&x.a, &x.b} {
		if a := i.Args[n]; a != nil {
			*to = l.reg(a)
		}
	}
	if i.Type != ir.None {
		x.rd = l.result(i)
	}
	l.add(x)
}

func (l *lowering) weaver(i *ir.Instr) {
	switch i.Op {
	case ir.OpWeaverReg:
		a, b, c := l.reg(i.Args[0]), l.reg(i.Args[1]), l.reg(i.Args[2])
		l.add(inst{row: row("weaver.reg"), a: a, b: b, c: c})
	case ir.OpWeaverSkip:
		l.emit("weaver.skip", 0, l.reg(i.Args[0]), 0, 0)
	case ir.OpWeaverDecID:
		if l.o.MaskByUnit {
			l.failf(i, "weaver_dec_id on a machine whose Weaver sets the thread mask (mask_by_unit): use WeaverEdges")
		}
		l.emit("weaver.dec.id", l.result(i), 0, 0, 0)
	case ir.OpWeaverDecLoc:
		l.emit("weaver.dec.loc", l.result(i), 0, 0, 0)
	}
}
