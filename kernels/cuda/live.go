package cuda

import "heddle/kernels/ir"

// liveness finds the instructions whose value or effect matters. Schedules compute what not every layout or algorithm
// uses, and a reader should not look for its use.
type liveness struct {
	live    []bool // by an instruction's ID
	vars    []bool // by a variable's ID: its value is read
	changed bool
}

func findLive(k *ir.Kernel) []bool {
	l := &liveness{live: make([]bool, k.Instr), vars: make([]bool, k.Vars)}
	for l.changed = true; l.changed; {
		l.changed = false
		l.block(k.Body)
	}
	return l.live
}

// block looks at the instructions of a block, and reports whether any is live.
func (l *liveness) block(b *ir.Block) (any bool) {
	for n := len(b.Instrs) - 1; n >= 0; n-- {
		i := b.Instrs[n]
		inside := false
		for _, nested := range i.Blocks {
			inside = l.block(nested) || inside
		}
		if inside || l.matters(i) {
			l.mark(i)
		}
		any = any || l.live[i.ID]
	}
	return any
}

// matters reports whether an instruction is live whatever uses its value.
func (l *liveness) matters(i *ir.Instr) bool {
	switch i.Op {
	case ir.OpVar, ir.OpSet:
		return l.vars[i.Var.ID]
	case ir.OpBreak, ir.OpContinue:
		return true
	}
	return i.Op.Kind() == ir.KindEffect
}

// mark makes an instruction and its operands live.
func (l *liveness) mark(i *ir.Instr) {
	if l.live[i.ID] {
		return
	}
	l.live[i.ID], l.changed = true, true
	if i.Op == ir.OpGet {
		l.vars[i.Var.ID] = true
	}
	for _, a := range i.Args {
		if a != nil {
			l.mark(a)
		}
	}
}
