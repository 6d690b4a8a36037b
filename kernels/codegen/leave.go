package codegen

import "heddle/kernels/ir"

// leave restricts breaks and continues to those that the thread mask can express: a break with no open split between it
// and its loop, and a continue that all active lanes take. Others become variables: the lane records that it leaves,
// the code that follows is executed by the other lanes only, and the lane leaves where no split is open any more.
func leave(k *ir.Kernel) {
	l := &leaver{k: k, u: ir.Analyse(k)}
	l.block(k.Body)
}

type leaver struct {
	k    *ir.Kernel
	u    *ir.Uniformity
	open []*ir.Instr // the instructions around the block
}

// varies reports whether a value can differ between lanes; values that this pass creates do.
func (l *leaver) varies(v ir.Value) bool { return v.ID >= len(l.u.Varying) || l.u.Varying[v.ID] }

// partial reports whether an If is divergent.
func (l *leaver) partial(i *ir.Instr) bool { return i.Op == ir.OpIf && l.varies(i.Args[0]) }

func isLoop(i *ir.Instr) bool {
	return i.Op == ir.OpLoop || i.Op == ir.OpFor || i.Op == ir.OpWeaverEdges || i.Op == ir.OpListEdges ||
		i.Op == ir.OpListVertices || i.Op == ir.OpEghwEdges
}

// given reports whether an instruction is a value that the loop provides at the beginning of its body.
func given(i *ir.Instr) bool {
	return i.Op == ir.OpIndex || i.Op == ir.OpWeaverVID || i.Op == ir.OpWeaverLoc || i.Op == ir.OpListItem
}

// block handles the loops in a block, innermost first.
func (l *leaver) block(b *ir.Block) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		l.open = append(l.open, i)
		for _, x := range i.Blocks {
			l.block(x)
		}
		l.open = l.open[:len(l.open)-1]
		if l.k.Phase = i.Phase; isLoop(i) {
			n += l.outer(b, n, i)
			l.loop(i)
		}
	}
}

// outer splits breaks and continues of enclosing loops: the lane records that it leaves the outer loop, leaves this
// one, and after it the outer one. It returns the number of instructions inserted before the loop.
func (l *leaver) outer(b *ir.Block, at int, loop *ir.Instr) int {
	type leaving struct {
		op   ir.Op
		from *ir.Instr
	}
	notes := map[leaving]*ir.Var{}
	var before, after []*ir.Instr
	l.replaceOuter(loop, loop, false, func(x *ir.Instr) []*ir.Instr {
		which := leaving{x.Op, x.Loop}
		l.k.Phase = x.Phase
		v := notes[which]
		if v == nil {
			v = l.k.NewVar(ir.Pred)
			notes[which] = v
			before = append(before, l.variable(ir.OpVar, v, l.k.Const(ir.Pred, 0)))
			get := l.get(v)
			then := l.k.New(x.Op, ir.None, get)
			then.Loop = x.Loop
			after = append(after, get, then)
		}
		note := l.variable(ir.OpSet, v, x.Args[0])
		x.Op, x.Loop = ir.OpBreak, loop
		return []*ir.Instr{note, x}
	})
	insert(b, at+1, after...)
	insert(b, at, before...)
	return len(before)
}

// guarded reports whether the loop in work may get into an If of guard's on its way to a loop around it: where that
// loop, or one between, has lanes that leave or continue alone.
func (l *leaver) guarded(around *ir.Instr) bool {
	for n := len(l.open) - 1; n >= 0; n-- {
		x := l.open[n]
		if isLoop(x) && (x.ID >= len(l.u.Partial) || l.u.Partial[x.ID]) {
			return true
		}
		if x == around {
			break
		}
	}
	return false
}

// replaceOuter replaces breaks and continues of loops around loop that are divergent, or may be within a guard.
func (l *leaver) replaceOuter(in, loop *ir.Instr, partial bool, f func(*ir.Instr) []*ir.Instr) {
	partial = partial || in.ID >= len(l.u.Partial) || l.u.Partial[in.ID]
	for _, b := range in.Blocks {
		var out []*ir.Instr
		for _, i := range b.Instrs {
			if (i.Op == ir.OpBreak || i.Op == ir.OpContinue) && i.Loop != loop && !inside(loop, i.Loop) &&
				(partial || l.varies(i.Args[0]) || l.guarded(i.Loop)) {
				out = append(out, f(i)...)
				continue
			}
			if !isLoop(i) {
				l.replaceOuter(i, loop, partial, f)
			}
			out = append(out, i)
		}
		b.Instrs = out
	}
}

// inside reports whether a loop is within another one.
func inside(loop, x *ir.Instr) bool {
	found := false
	for _, b := range loop.Blocks {
		b.Walk(func(i *ir.Instr) { found = found || i == x })
	}
	return found
}

func (l *leaver) variable(op ir.Op, v *ir.Var, x ir.Value) *ir.Instr {
	i := l.k.New(op, ir.None, x)
	i.Var = v
	return i
}

func (l *leaver) get(v *ir.Var) *ir.Instr {
	i := l.k.New(ir.OpGet, v.Type)
	i.Var = v
	return i
}

// loopState records which lanes leave or continue a loop within one iteration.
type loopState struct {
	loop    *ir.Instr
	left    *ir.Var // lanes that leave the loop
	skipped *ir.Var // lanes that skip the rest of the iteration
}

func (l *leaver) loop(i *ir.Instr) {
	s := &loopState{loop: i}
	for _, b := range i.Blocks {
		s.left, s.skipped = nil, nil
		l.guard(b, s, true, false)
		l.k.Phase = i.Phase
		at := 0
		for at < len(b.Instrs) && given(b.Instrs[at]) {
			at++
		}
		for _, v := range []*ir.Var{s.left, s.skipped} {
			if v != nil {
				insert(b, at, l.variable(ir.OpVar, v, l.k.Const(ir.Pred, 0)))
			}
		}
	}
}

// note returns the variable for a kind of leaving, which it creates on first use.
func (l *leaver) note(s *loopState, op ir.Op) *ir.Var {
	p := &s.left
	if op == ir.OpContinue {
		p = &s.skipped
	}
	if *p == nil {
		*p = l.k.NewVar(ir.Pred)
	}
	return *p
}

// leaving holds the kinds of leaving that a block records.
type leaving struct{ left, skipped bool }

// guard rewrites a block of a loop. top: it is the body itself; split: a split is open around it.
func (l *leaver) guard(b *ir.Block, s *loopState, top, split bool) (all leaving) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		l.k.Phase = i.Phase
		switch {
		case (i.Op == ir.OpBreak || i.Op == ir.OpContinue) && i.Loop == s.loop:
			if !split && (i.Op == ir.OpBreak || !l.varies(i.Args[0])) {
				continue
			}
			if top { // a continue: the other lanes execute the rest
				b.Instrs = append(b.Instrs[:n:n], l.others(i.Args[0], b.Instrs[n+1:])...)
				n--
				continue
			}
			all.left = all.left || i.Op == ir.OpBreak
			all.skipped = all.skipped || i.Op == ir.OpContinue
			rest := l.others(i.Args[0], b.Instrs[n+1:])
			b.Instrs = append(append(b.Instrs[:n:n], l.variable(ir.OpSet, l.note(s, i.Op), i.Args[0])), rest...)
		case !isLoop(i) && len(i.Blocks) > 0 && i.Op != ir.OpAllLanes:
			var in leaving
			for _, x := range i.Blocks {
				r := l.guard(x, s, false, split || l.partial(i))
				in.left, in.skipped = in.left || r.left, in.skipped || r.skipped
			}
			if in.left || in.skipped {
				l.k.Phase = i.Phase
				b.Instrs = append(b.Instrs[:n+1:n+1], l.after(in, s, top, b.Instrs[n+1:])...)
			}
			if !top {
				all.left, all.skipped = all.left || in.left, all.skipped || in.skipped
			}
		}
	}
	return all
}

// others restricts the rest of a block to lanes without p.
func (l *leaver) others(p ir.Value, rest []*ir.Instr) []*ir.Instr {
	if len(rest) == 0 {
		return nil
	}
	not := l.k.New(ir.OpNot, ir.Pred, p)
	cond := l.k.New(ir.OpIf, ir.None, not)
	cond.Blocks = []*ir.Block{{Instrs: append([]*ir.Instr(nil), rest...)}, {}}
	return []*ir.Instr{not, cond}
}

// after guards the code that follows an instruction in which lanes may leave.
func (l *leaver) after(in leaving, s *loopState, top bool, rest []*ir.Instr) (out []*ir.Instr) {
	if in.left && top {
		get := l.get(s.left)
		br := l.k.New(ir.OpBreak, ir.None, get)
		br.Loop = s.loop
		out = append(out, get, br)
	}
	var p ir.Value
	if in.left && !top {
		p = l.get(s.left)
		out = append(out, p)
	}
	if in.skipped {
		get := l.get(s.skipped)
		out = append(out, get)
		if p == nil {
			p = get
		} else {
			p = l.k.New(ir.OpOr, ir.Pred, p, get)
			out = append(out, p)
		}
	}
	if p == nil {
		return append(out, rest...)
	}
	return append(out, l.others(p, rest)...)
}

// rotate moves the part of a loop before its first break into its test.
func rotate(k *ir.Kernel) {
	k.Body.Walk(func(i *ir.Instr) {
		if i.Op != ir.OpLoop || i.Args[0] != nil || len(i.Blocks[0].Instrs) > 0 || leaves(i, ir.OpContinue) {
			return
		}
		body := i.Blocks[1]
		for n, x := range body.Instrs {
			if x.Op == ir.OpBreak && x.Loop == i {
				i.Blocks[0] = &ir.Block{Instrs: body.Instrs[: n+1 : n+1]}
				i.Blocks[1] = &ir.Block{Instrs: body.Instrs[n+1:]}
				return
			}
		}
	})
}

// leaves reports whether a loop has a break or a continue.
func leaves(loop *ir.Instr, op ir.Op) bool {
	found := false
	for _, b := range loop.Blocks {
		b.Walk(func(i *ir.Instr) { found = found || i.Op == op && i.Loop == loop })
	}
	return found
}
