package codegen

import "heddle/kernels/ir"

func (l *lowering) control(i *ir.Instr) {
	switch i.Op {
	case ir.OpIf:
		switch {
		case !l.u.Partial[i.ID]:
			l.branches(i)
		case l.visiting:
			l.masks(i)
		default:
			l.split(i)
		}
	case ir.OpLoop:
		l.loop(i)
	case ir.OpWeaverEdges:
		l.weaverEdges(i)
	case ir.OpListEdges, ir.OpListVertices, ir.OpEghwEdges:
		l.takeFromList(i)
	case ir.OpBreak:
		l.leave(i)
	case ir.OpContinue:
		l.branchIf(i.Args[0], false, l.loops[i.Loop].next)
	case ir.OpAllLanes:
		l.allLanes(i)
	default:
		panic("BUG: codegen: " + i.Op.String() + " is left")
	}
}

// branches lowers an If whose condition is uniform to plain branches.
func (l *lowering) branches(i *ir.Instr) {
	then, els := i.Blocks[0], i.Blocks[1]
	end := l.code.newLabel()
	if len(then.Instrs) == 0 {
		l.branchIf(i.Args[0], false, end)
		l.block(els)
		l.label(end)
		return
	}
	otherwise := end
	if len(els.Instrs) > 0 {
		otherwise = l.code.newLabel()
	}
	l.branchIf(i.Args[0], true, otherwise)
	l.block(then)
	if len(els.Instrs) > 0 {
		l.jump(end)
		l.label(otherwise)
		l.block(els)
	}
	l.label(end)
}

// split lowers a divergent If: split runs one side, join the other. Both sides reach the same join, which belongs to
// this split only.
func (l *lowering) split(i *ir.Instr) {
	cond, then, els := i.Args[0], i.Blocks[0], i.Blocks[1]
	not := false
	for cond.Op == ir.OpNot && l.at.late[cond.ID] {
		cond, then, els, not = cond.Args[0], els, then, !not
	}
	p := l.condition(cond, false)
	depth, sides, otherwise, join := l.code.newX(), l.code.newLabel(), l.code.newLabel(), l.code.newLabel()
	defer l.wait(sides, join)()
	full, mask := l.full, l.mask
	l.full, l.mask = false, 0
	l.add(inst{row: row("split"), rd: depth, a: p, not: not})
	l.label(sides)
	if len(then.Instrs) == 0 {
		l.branch("bne", p, 0, join)
		l.block(els)
	} else {
		l.branch("beq", p, 0, otherwise)
		l.block(then)
		if len(els.Instrs) > 0 {
			l.jump(join)
		}
		l.label(otherwise)
		l.block(els)
	}
	l.label(join)
	l.emit("join", 0, depth, 0, 0)
	l.full, l.mask = full, mask
}

// masks lowers a divergent If in AllLanes. The lanes that AllLanes has turned on may have open splits, and the IPDOM
// stack has only as many entries as a warp has lanes less one, so the sides are run by tmc instead.
func (l *lowering) masks(i *ir.Instr) {
	then, els := i.Blocks[0], i.Blocks[1]
	saved, on, off := l.activeMask(), l.code.newX(), l.code.newX()
	otherwise, end := l.code.newLabel(), l.code.newLabel()
	defer l.wait(otherwise, end)()
	full, mask := l.full, l.mask
	l.emit("vote.ballot", on, l.condition(i.Args[0], false), 0, 0)
	if len(els.Instrs) > 0 {
		l.emit("xor", off, on, saved, 0) // computed while the lanes of both sides are active
	}
	l.full, l.mask = false, on
	l.branch("beq", on, 0, otherwise)
	l.emit("tmc", 0, on, 0, 0)
	l.block(then)
	l.label(otherwise)
	if len(els.Instrs) > 0 {
		l.mask = off
		l.branch("beq", off, 0, end)
		l.emit("tmc", 0, off, 0, 0)
		l.block(els)
	}
	l.label(end)
	l.emit("tmc", 0, saved, 0, 0)
	l.full, l.mask = full, mask
}

// wait adds labels at which lanes wait while others run; the function that it returns removes them.
func (l *lowering) wait(at ...label) func() {
	outer := l.waits
	l.waits = append(l.waits[:len(l.waits):len(l.waits)], at...)
	return func() { l.waits = outer }
}

// activeMask returns a register with the mask of active lanes.
func (l *lowering) activeMask() reg {
	switch {
	case l.mask != 0:
		return l.mask
	case l.full:
		return l.rootOf(ir.OpAllMask)
	}
	r := l.code.newX()
	l.csr(r, csrs[ir.OpAllMask])
	return r
}

// loopKind is the way in which lanes leave a loop.
type loopKind uint8

const (
	together loopKind = iota // all at once: plain branches
	byPred                   // only at its end: pred narrows the mask, and restores it when no lane is left
	byBallot                 // at several points: tmc narrows the mask, and restores it after the loop
)

func (l *lowering) kindOf(i *ir.Instr) loopKind {
	if !l.u.Ragged[i.ID] {
		return together
	}
	breaks, last := 0, lastBreak(i)
	simple := true
	for _, b := range i.Blocks {
		b.Walk(func(x *ir.Instr) {
			if x.Op == ir.OpBreak && x.Loop == i {
				breaks++
			}
			if x.Op == ir.OpAllLanes {
				simple = false
			}
		})
	}
	if simple && i.Grid == nil && breaks == 1 && last != nil && l.u.Varying[last.Args[0].ID] {
		return byPred
	}
	return byBallot
}

// lastBreak returns the break at the end of a loop's test, or nil.
func lastBreak(i *ir.Instr) *ir.Instr {
	test := i.Blocks[0].Instrs
	if n := len(test); n > 0 && test[n-1].Op == ir.OpBreak && test[n-1].Loop == i {
		return test[n-1]
	}
	return nil
}

// loop lowers a loop as body, latch, test and branch to the body. It is entered at the test or, after a guard, at the
// body.
func (l *lowering) loop(i *ir.Instr) {
	kind := l.kindOf(i)
	c := &loopContext{next: l.code.newLabel(), exit: l.code.newLabel()}
	l.loops[i] = c
	body, test := l.code.newLabel(), l.code.newLabel()
	full, mask := l.full, l.mask
	saved, stays := reg(0), reg(0)
	if kind != together {
		saved = l.activeMask()
	}
	if kind == byBallot {
		c.mask = l.code.newX()
	}
	if kind == byPred {
		stays = l.code.newX()
	}
	known := l.enter(i, kind, c, saved, stays, test)
	if kind != together {
		l.full, l.mask = false, known
		defer l.wait(c.exit)()
	}
	l.depth++
	l.label(body)
	l.block(i.Blocks[1])
	l.label(c.next)
	l.block(i.Blocks[2])
	l.label(test)
	l.bottom(i, kind, c, saved, stays, body)
	l.depth--
	l.label(c.exit)
	l.full, l.mask = full, mask
	if kind == byBallot {
		l.emit("tmc", 0, saved, 0, 0)
	}
}

// enter lowers the entry of a loop. It returns the register that holds the mask in the loop, or 0.
func (l *lowering) enter(i *ir.Instr, kind loopKind, c *loopContext, saved, stays reg, test label) (known reg) {
	guard, not := i.Args[0], false
	always := guard != nil && isBits(guard, 1)
	if first := l.firstTest(i); first != nil { // in place of a jump to it, as values are computed behind it
		guard, not = first, true
	}
	if kind == byBallot && (guard == nil || always || !l.u.Varying[guard.ID]) && l.asksMask(i) {
		l.move(c.mask, saved)
		known = c.mask
	}
	switch {
	case guard == nil:
		if len(i.Blocks[0].Instrs) > 0 && len(i.Blocks[1].Instrs)+len(i.Blocks[2].Instrs) > 0 {
			l.jump(test)
		}
	case always:
	case !l.u.Varying[guard.ID]:
		l.branchIf(guard, !not, c.exit)
	case kind == byPred:
		l.predicate(stays, guard, not)
		l.emit("pred", 0, stays, saved, 0)
		l.branch("beq", stays, 0, c.exit)
	default:
		l.narrow(c, guard, not)
		known = c.mask
	}
	return known
}

// firstTest returns the condition under which lanes leave a loop outside others at its test, if values are to be
// computed behind the first one and it consists of nothing else; otherwise nil.
func (l *lowering) firstTest(i *ir.Instr) ir.Value {
	last := lastBreak(i)
	if !l.o.Sink || l.depth > 0 || i.Args[0] != nil || last == nil {
		return nil
	}
	for _, x := range i.Blocks[0].Instrs {
		if x != last && !l.at.late[x.ID] && !(x.Op == ir.OpGet && l.at.alias[x.ID]) {
			return nil
		}
	}
	return last.Args[0]
}

// asksMask reports whether an instruction in a loop needs the mask of active lanes.
func (l *lowering) asksMask(i *ir.Instr) bool {
	found := false
	for _, b := range i.Blocks {
		b.Walk(func(x *ir.Instr) { found = found || isLoop(x) && l.u.Ragged[x.ID] })
	}
	return found
}

// narrow removes the lanes for which a condition does not hold from the loop.
func (l *lowering) narrow(c *loopContext, v ir.Value, not bool) {
	p := l.condition(v, not)
	l.emit("vote.ballot", c.mask, p, 0, 0)
	l.branch("beq", c.mask, 0, c.exit)
	l.emit("tmc", 0, c.mask, 0, 0)
}

// bottom lowers the test of a loop and the branch back.
func (l *lowering) bottom(i *ir.Instr, kind loopKind, c *loopContext, saved, stays reg, body label) {
	last := lastBreak(i)
	if last == nil {
		l.block(i.Blocks[0])
		l.jump(body)
		return
	}
	test := i.Blocks[0].Instrs
	l.block(&ir.Block{Instrs: test[:len(test)-1]})
	p, from := last.Args[0], l.from
	defer func() { l.from = from }()
	l.from = last
	switch {
	case !l.u.Varying[p.ID]:
		l.branchIf(p, true, body)
	case kind == byPred:
		l.predicate(stays, p, true)
		l.emit("pred", 0, stays, saved, 0)
		l.branch("bne", stays, 0, body)
	default:
		if g := i.Grid; g != nil {
			l.branch("bltu", l.variableReg(g.Next), l.reg(g.Safe), body)
		}
		l.narrow(c, p, true)
		l.jump(body)
	}
}

// leave lowers a break other than a loop's test.
func (l *lowering) leave(i *ir.Instr) {
	c, p := l.loops[i.Loop], i.Args[0]
	if !l.u.Varying[p.ID] {
		l.branchIf(p, false, c.exit)
		return
	}
	l.narrow(c, p, true)
}

// weaverEdges lowers the loop over the Weaver's edges. A lane that receives none will never receive another, and
// leaves.
func (l *lowering) weaverEdges(i *ir.Instr) {
	c := &loopContext{next: l.code.newLabel(), exit: l.code.newLabel(), mask: l.code.newX()}
	l.loops[i] = c
	body := l.code.newLabel()
	full, mask := l.full, l.mask
	saved := l.activeMask()
	l.full, l.mask = false, 0
	defer l.wait(c.exit)()
	if !l.o.MaskByUnit {
		l.move(c.mask, saved)
		l.mask = c.mask
	}
	vid, loc := l.code.newX(), l.code.newX()
	for _, x := range i.Blocks[0].Instrs {
		switch x.Op {
		case ir.OpWeaverVID:
			l.know(x, vid)
		case ir.OpWeaverLoc:
			l.know(x, loc)
		}
	}
	l.depth++
	none := reg(0)
	if l.o.MaskByUnit {
		none = l.constReg(^uint32(0))
	}
	l.jump(c.next)
	l.label(body)
	for _, x := range i.Blocks[0].Instrs {
		if x.Op != ir.OpWeaverVID && x.Op != ir.OpWeaverLoc {
			l.instr(x)
		}
	}
	l.label(c.next)
	l.emit("weaver.dec.id", vid, 0, 0, 0)
	l.emit("weaver.dec.loc", loc, 0, 0, 0) // before the test for an edge, to overlap the latencies
	if l.o.MaskByUnit {
		l.branch("bne", vid, none, body)
	} else {
		l.lanesWithEdges(c, vid, body)
	}
	l.depth--
	l.label(c.exit)
	l.emit("tmc", 0, saved, 0, 0)
	l.full, l.mask = full, mask
}

// lanesWithEdges continues with the lanes that have an edge; the others have -1, which is odd and negative.
func (l *lowering) lanesWithEdges(c *loopContext, vid reg, body label) {
	without := l.code.newX()
	if !l.even {
		l.emit("slt", without, vid, 0, 0)
		vid = without
	}
	l.emit("vote.ballot", without, vid, 0, 0)
	l.branch("beq", without, 0, body)
	l.emit("xor", c.mask, without, c.mask, 0)
	l.branch("beq", c.mask, 0, c.exit)
	l.emit("tmc", 0, c.mask, 0, 0)
	l.jump(body)
}

// evenVertices reports whether every value that a kernel registers as a vertex is even.
func evenVertices(k *ir.Kernel) bool {
	even := true
	k.Body.Walk(func(i *ir.Instr) {
		if i.Op == ir.OpWeaverReg {
			even = even && (i.Imm == ir.RegistersEven || isEven(k, i.Args[0]))
		}
	})
	return even
}

func isEven(k *ir.Kernel, v ir.Value) bool { return isEvenTo(k, v, 8) }

// isEvenTo examines operands up to depth far; beyond that, a number counts as odd.
func isEvenTo(k *ir.Kernel, v ir.Value, far int) bool {
	if far == 0 {
		return false
	}
	far--
	switch v.Op {
	case ir.OpConst:
		return v.Imm&1 == 0
	case ir.OpParam:
		return k.Params[v.Imm].Aligned
	case ir.OpShared:
		return true
	case ir.OpAdd, ir.OpSub:
		return isEvenTo(k, v.Args[0], far) && isEvenTo(k, v.Args[1], far)
	case ir.OpAnd, ir.OpMul:
		return isEvenTo(k, v.Args[0], far) || isEvenTo(k, v.Args[1], far)
	case ir.OpShl:
		c, ok := v.Args[1].IsConst()
		return ok && c&31 != 0
	case ir.OpBitcast:
		return v.Args[0].Type.Int() && isEvenTo(k, v.Args[0], far)
	case ir.OpGet:
		return evenVariable(k, v.Var)
	}
	return false
}

// evenVariable reports whether a variable is initially even, and only even numbers are added to it.
func evenVariable(k *ir.Kernel, v *ir.Var) bool {
	even := true
	k.Body.Walk(func(i *ir.Instr) {
		if (i.Op != ir.OpVar && i.Op != ir.OpSet) || i.Var != v {
			return
		}
		x := i.Args[0]
		if x.Op == ir.OpAdd && x.Args[0].Op == ir.OpGet && x.Args[0].Var == v {
			x = x.Args[1]
		}
		even = even && !mentions(x, ir.OpGet, 8) && isEven(k, x)
	})
	return even
}

// allLanes turns the other lanes on. Only active lanes know the mask, so each active lane first records in a register
// of its own that it is active.
func (l *lowering) allLanes(i *ir.Instr) {
	if l.full {
		l.block(i.Blocks[0])
		return
	}
	if l.on == 0 {
		l.on = l.code.newX()
		l.code.pinned = append(l.code.pinned, l.on)
		l.atEntry(func() { l.emit("addi", l.on, 0, 0, 0) })
	}
	full, mask := l.full, l.mask
	all, saved := l.code.newX(), l.code.newX()
	l.emit("addi", l.on, 0, 0, 1)
	l.emit("addi", all, 0, 0, -1)
	l.emit("tmc", 0, all, 0, 0)
	l.emit("vote.ballot", saved, l.on, 0, 0)
	l.emit("addi", l.on, 0, 0, 0)
	begin, end := l.code.newLabel(), l.code.newLabel()
	l.full, l.mask = true, 0
	l.label(begin)
	visiting := l.visiting
	l.visiting = true
	l.block(i.Blocks[0])
	l.visiting = visiting
	l.label(end)
	l.code.visits = append(l.code.visits, visit{begin, end, l.waits})
	l.emit("tmc", 0, saved, 0, 0)
	l.full, l.mask = full, mask
}
