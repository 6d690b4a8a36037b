package codegen

import (
	"math/bits"

	"heddle/isa"
	"heddle/kernels/ir"
)

// fieldNames are the instructions' names for the fields of an edge.
var fieldNames = [4]string{isa.PegSrc: "src", isa.PegDst: "dst", isa.PegWt: "wt", isa.PegIdx: "idx"}

// takeFromList lowers the loop that takes edges or vertices from a unit. A full batch leaves all lanes on; after a
// partial one, all are turned on again, since the next batch may be full: -1 in one lane is not the end.
func (l *lowering) takeFromList(i *ir.Instr) {
	body, pop, exit := l.code.newLabel(), l.code.newLabel(), l.code.newLabel()
	full, mask := l.full, l.mask
	saved, on := l.activeMask(), l.code.newX()
	none := l.constReg(^uint32(0))
	list := reg(0)
	if len(i.Args) > 0 {
		list = l.reg(i.Args[0])
	}
	defer l.wait(pop, exit)()
	l.full, l.mask = false, on
	l.depth++
	l.jump(pop)
	l.label(body)
	items := l.items(i)
	for _, x := range i.Blocks[0].Instrs {
		if x.Op != ir.OpListItem {
			l.instr(x)
		}
	}
	l.branch("beq", on, saved, pop)
	l.emit("tmc", 0, saved, 0, 0)
	l.label(pop)
	first := l.pop(i, items, list)
	l.emit("slt", on, none, first, 0)
	l.emit("vote.ballot", on, on, 0, 0)
	l.branch("beq", on, saved, body)
	l.branch("beq", on, 0, exit)
	l.emit("tmc", 0, on, 0, 0)
	l.jump(body)
	l.depth--
	l.label(exit)
	l.full, l.mask = full, mask
}

// items assigns registers to the fields that the body uses.
func (l *lowering) items(i *ir.Instr) (regs [4]reg) {
	fields := ir.Fields(i)
	for _, x := range i.Blocks[0].Instrs {
		if x.Op == ir.OpListItem && fields>>x.Imm&1 != 0 {
			regs[x.Imm] = l.code.newX()
			l.know(x, regs[x.Imm])
		}
	}
	if i.Op != ir.OpListVertices && regs[bits.TrailingZeros32(fields)] == 0 {
		regs[bits.TrailingZeros32(fields)] = l.code.newX()
	}
	return regs
}

// pop takes an item, and returns the register that shows whether there was one. The other fields are requested before
// that is known, to overlap the latencies.
func (l *lowering) pop(i *ir.Instr, items [4]reg, list reg) (first reg) {
	switch i.Op {
	case ir.OpEghwEdges:
		return l.popGenerated(items)
	case ir.OpListVertices:
		if first = items[0]; first == 0 {
			first = l.code.newX()
		}
		pop, _ := l.k.ListRows()
		l.add(inst{row: pop, rd: first, b: list})
		return first
	}
	for f, r := range items {
		switch {
		case r == 0:
		case first == 0:
			first = r
			l.emit("peg.pop."+fieldNames[f], r, 0, list, 0)
		default:
			l.emit("peg.get."+fieldNames[f], r, 0, 0, 0)
		}
	}
	return first
}

func (l *lowering) listPush(i *ir.Instr) {
	_, push := l.k.ListRows()
	x := inst{row: push, a: l.reg(i.Args[0])}
	if _, names := push.Operand("rs2"); names {
		x.b = l.reg(i.Args[1])
	}
	l.add(x)
}

// popGenerated takes edges from edge-generating hardware.
func (l *lowering) popGenerated(items [4]reg) (base reg) {
	l.emit("eghw.pop", items[0], 0, 0, 0)
	for f, name := range [...]string{1: "eghw.get.other", 2: "eghw.get.wt"} {
		if items[f] != 0 && f > 0 {
			l.emit(name, items[f], 0, 0, 0)
		}
	}
	return items[0]
}
