package cuda

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/ir"
)

// control prints an instruction that has blocks or leaves them.
func (p *printer) control(i *ir.Instr) {
	switch i.Op {
	case ir.OpIf:
		p.branch(i)
	case ir.OpFor:
		p.forLoop(i)
	case ir.OpLoop:
		p.loop(i)
	case ir.OpBreak, ir.OpContinue:
		p.leave(i)
	case ir.OpAllLanes:
		if p.mask != allLanes {
			p.fail(i, "all lanes are needed where only some are active")
		}
		p.blockOf(i.Blocks[0])
	default:
		p.fail(i, "%s: CUDA has no such unit", i.Op)
	}
}

// inner prints a block of a construct.
func (p *printer) inner(b *ir.Block) {
	p.depth++
	p.blockOf(b)
	p.depth--
}

// divergent prepares a construct in which only some lanes may be active: its accesses to the scratchpad come after
// those of other lanes before it. It reports whether the construct needs the mask of its active lanes.
func (p *printer) divergent(i *ir.Instr) (masked bool) {
	if !p.uniform.Partial[i.ID] {
		return false
	}
	if p.warp[i.ID] || p.loads[i.ID] && p.stores[i.ID] && !p.quiet {
		return true
	}
	if p.loads[i.ID] || p.stores[i.ID] {
		p.meet(i, access{p.loads[i.ID], p.stores[i.ID]})
	}
	return false
}

func (p *printer) branch(i *ir.Instr) {
	masked := p.divergent(i)
	outer, quiet := p.mask, p.quiet
	condition := p.text(i.Args[0], precSelect)
	mask := outer
	if masked {
		mask = p.fresh("active")
		p.statement(i, "const uint32_t %s = __ballot_sync(%s, %s);", mask, outer, condition)
	} else if p.uniform.Partial[i.ID] {
		p.quiet = true
	}
	then, els := i.Blocks[0], i.Blocks[1]
	before := p.pending
	p.statement(i, "if (%s) {", condition)
	phase := p.phase
	p.mask = mask
	p.inner(then)
	after := p.pending
	if len(p.liveOf(els)) > 0 {
		if masked {
			p.mask = "(" + outer + " & ~" + mask + ")"
		}
		p.line("} else {")
		p.pending, p.phase = before, phase
		p.inner(els)
	} else {
		p.pending = before
	}
	p.line("}")
	p.pending = access{p.pending.loads || after.loads, p.pending.stores || after.stores}
	p.mask, p.quiet = outer, quiet
}

// enter prepares a loop: its accesses to the scratchpad may follow those of its own earlier iterations, and what comes
// behind it may follow those before it, as the loop may have no iteration, and with it no meeting of lanes.
func (p *printer) enter(i *ir.Instr) (leave func()) {
	masked := p.divergent(i)
	mask, quiet := p.mask, p.quiet
	if masked {
		p.fail(i, "lanes leave a loop with votes, shuffles or exchanges through the scratchpad at different times")
	}
	if p.uniform.Partial[i.ID] {
		p.quiet = true
	}
	p.pending = access{p.pending.loads || p.loads[i.ID], p.pending.stores || p.stores[i.ID]}
	pending := p.pending
	return func() { p.mask, p.quiet, p.pending = mask, quiet, pending }
}

func (p *printer) forLoop(i *ir.Instr) {
	leave := p.enter(i)
	index := i.Blocks[0].Instrs[0]
	name := p.fresh(p.nameOfIndex(i, index))
	p.known[index.ID] = expression{text: name, prec: precPrimary}
	t := typeOf(i.Args[0].Type)
	step := name + " += " + p.text(i.Args[2], precSelect)
	if bits, ok := p.constOf(i.Args[2]); ok {
		step = choose(bits == 1, name+"++", name+" += "+constant(i.Args[2].Type, bits, false))
	}
	from := i.Args[0]
	begin := p.text(from, precSelect)
	if bits, ok := p.constOf(from); ok {
		begin = constant(from.Type, bits, false)
	}
	head := []string{t + " " + name + " = " + begin, name + " < " + p.text(i.Args[1], precOrder+1), step}
	p.comment(i)
	if i.Copies > 1 {
		p.line("// %d steps at a time.", i.Copies)
	}
	p.line("for (%s) {", strings.Join(head, "; "))
	p.inner(i.Blocks[0])
	p.line("}")
	p.behind(i)
	leave()
}

// loop prints a loop with a test in front of its body.
func (p *printer) loop(i *ir.Instr) {
	if i.Args[0] != nil || len(i.Blocks[2].Instrs) > 0 {
		p.fail(i, "a loop that a pass has changed")
	}
	leave := p.enter(i)
	if test, ok := p.whileTest(i); ok {
		p.statement(i, "while (%s) {", test)
	} else {
		p.statement(i, "for (;;) {")
		p.inner(i.Blocks[0])
	}
	p.inner(i.Blocks[1])
	p.line("}")
	p.behind(i)
	leave()
}

// liveOf returns the instructions of a block that matter.
func (p *printer) liveOf(b *ir.Block) (list []*ir.Instr) {
	for _, i := range b.Instrs {
		if p.live[i.ID] {
			list = append(list, i)
		}
	}
	return list
}

// whileTest returns the condition of a loop whose test is an expression.
func (p *printer) whileTest(i *ir.Instr) (test string, ok bool) {
	list := p.liveOf(i.Blocks[0])
	if len(list) < 2 || list[len(list)-1].Op != ir.OpBreak {
		return "", false
	}
	exit := list[len(list)-1].Args[0]
	for _, x := range list[:len(list)-1] {
		if kind := x.Op.Kind(); kind != ir.KindPure && x.Op != ir.OpGet || len(p.uses[x.ID]) > 1 ||
			slices.ContainsFunc(p.uses[x.ID], func(u *ir.Instr) bool { return p.block[u.ID] != i.Blocks[0] }) {
			return "", false
		}
	}
	for _, x := range list[:len(list)-1] {
		switch {
		case x.Op == ir.OpGet:
			p.known[x.ID] = expression{text: p.vars[x.Var.ID], prec: precPrimary, deps: []int{x.Var.ID}}
		case x == exit && x.Op == ir.OpNot:
			return p.text(x.Args[0], precSelect), true
		default:
			p.known[x.ID] = p.pure(x)
		}
	}
	return "!" + p.text(exit, precUnary), true
}

// behind prints the label behind a loop that is left from within another.
func (p *printer) behind(i *ir.Instr) {
	if label := p.labels[i.ID]; label != "" {
		p.line("%s:;", label)
	}
}

// leave prints the end of a loop, or of an iteration, for some lanes.
func (p *printer) leave(i *ir.Instr) {
	loops := p.loops[i.ID]
	word := choose(i.Op == ir.OpBreak, "break;", "continue;")
	if loops[len(loops)-1] != i.Loop {
		if i.Op == ir.OpContinue {
			p.fail(i, "an iteration of an outer loop ends within an inner one")
		}
		if p.labels[i.Loop.ID] == "" {
			p.labels[i.Loop.ID] = p.fresh("done")
		}
		word = fmt.Sprintf("goto %s;", p.labels[i.Loop.ID])
	}
	if p.constIs(i.Args[0], 1) {
		p.statement(i, "%s", word)
		return
	}
	condition := p.text(i.Args[0], precSelect)
	if x := i.Args[0]; x.Op == ir.OpNot && len(p.uses[x.ID]) == 1 && strings.HasPrefix(condition, "!(") {
		condition = strings.TrimSuffix(strings.TrimPrefix(condition, "!("), ")")
		condition = "!(" + condition + ")"
	}
	p.statement(i, "if (%s) %s", condition, word)
}
