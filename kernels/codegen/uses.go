package codegen

import "heddle/kernels/ir"

// uses records where values of a kernel are computed and used, so that lowering can compute a value at its use, read a
// variable at the use of its value, or compute a value directly into the variable that it is assigned to.
type uses struct {
	k       *ir.Kernel
	pos     []int // by ID: instructions in the order of the text
	end     []int // by ID: the last position in the instruction's blocks
	parent  []*ir.Instr
	block   []*ir.Block
	use     [][]*ir.Instr
	sets    [][]int // by variable: positions of OpVar and OpSet
	gets    [][]*ir.Instr
	leaves  []int  // positions of breaks and continues
	others  []bool // by variable: set in AllLanes, also in lanes that are elsewhere
	late    []bool // by ID: computed at its use
	alias   []bool // by ID: an OpGet whose value is the variable's register
	targets []*ir.Var
}

func newUses(k *ir.Kernel) *uses {
	n := k.Instr
	u := &uses{k: k, pos: make([]int, n), end: make([]int, n), parent: make([]*ir.Instr, n),
		block: make([]*ir.Block, n), use: users(k),
		sets: make([][]int, k.Vars), others: make([]bool, k.Vars), gets: make([][]*ir.Instr, k.Vars),
		late: make([]bool, n), alias: make([]bool, n), targets: make([]*ir.Var, n)}
	next := 0
	u.number(k.Body, nil, &next)
	for _, list := range u.use { // late first: it moves uses
		for _, i := range list {
			for _, a := range i.Args {
				if a != nil {
					u.late[a.ID] = u.isLate(a)
				}
			}
		}
	}
	for _, list := range u.gets {
		for _, g := range list {
			u.alias[g.ID] = u.isAlias(g)
		}
	}
	k.Body.Walk(u.target)
	return u
}

func (u *uses) number(b *ir.Block, parent *ir.Instr, next *int) {
	for _, i := range b.Instrs {
		*next += 2
		u.pos[i.ID], u.parent[i.ID], u.block[i.ID] = *next, parent, b
		switch i.Op {
		case ir.OpVar, ir.OpSet:
			u.sets[i.Var.ID] = append(u.sets[i.Var.ID], *next)
		case ir.OpGet:
			u.gets[i.Var.ID] = append(u.gets[i.Var.ID], i)
		case ir.OpBreak, ir.OpContinue:
			u.leaves = append(u.leaves, *next)
		}
		if i.Op == ir.OpAllLanes {
			i.Blocks[0].Walk(func(x *ir.Instr) {
				if x.Op == ir.OpSet {
					u.others[x.Var.ID] = true
				}
			})
		}
		for _, x := range i.Blocks {
			u.number(x, i, next)
		}
		u.end[i.ID] = *next
	}
}

// isNothing reports whether a cast needs no code: between integers, or from a predicate, which is 0 or 1.
func isNothing(v ir.Value) bool {
	return v.Type.Int() && (v.Op == ir.OpBitcast && v.Args[0].Type.Int() ||
		v.Op == ir.OpConvert && v.Args[0].Type == ir.Pred)
}

// isLate reports whether a value is computed at its use: an integer comparison, or its negation, for a single branch in
// the same block, and casts without code.
func (u *uses) isLate(v ir.Value) bool {
	if isNothing(v) {
		return true
	}
	compares := v.Op >= ir.OpEq && v.Op <= ir.OpGe && v.Args[0].Type != ir.F32
	if !compares && v.Op != ir.OpNot || v.Type != ir.Pred || len(u.use[v.ID]) != 1 {
		return false
	}
	by := u.use[v.ID][0]
	branch := by.Op == ir.OpIf || by.Op == ir.OpBreak || by.Op == ir.OpContinue
	return u.block[v.ID] == u.block[by.ID] && (branch || by.Op == ir.OpLoop)
}

// inTest reports whether a value is computed in the test of a loop.
func (u *uses) inTest(v ir.Value) bool {
	loop := u.parent[v.ID]
	return loop != nil && loop.TestFirst()
}

// last returns the last position at which a value's register must hold it.
func (u *uses) last(v ir.Value) int {
	last := u.pos[v.ID]
	for _, i := range u.use[v.ID] {
		at := u.pos[i.ID]
		if u.late[i.ID] && i.Type != ir.None {
			at = u.last(i)
		}
		last = max(last, u.extended(v, i, at))
	}
	return last
}

// extended extends a use to the end of the loops around it that do not compute the value, since every step uses it.
func (u *uses) extended(v, use ir.Value, at int) int {
	around := map[*ir.Instr]bool{}
	for p := u.parent[v.ID]; p != nil; p = u.parent[p.ID] {
		around[p] = true
	}
	for p := u.parent[use.ID]; p != nil && !around[p]; p = u.parent[p.ID] {
		if isLoop(p) {
			at = max(at, u.end[p.ID]+1)
		}
	}
	if use.Grid != nil {
		at = max(at, u.end[use.ID]+1)
	}
	return at
}

// isAlias reports whether a variable does not change between a read and the last use of the value.
func (u *uses) isAlias(g *ir.Instr) bool {
	if u.others[g.Var.ID] {
		return false
	}
	last := u.last(g)
	for _, s := range u.sets[g.Var.ID] {
		if u.pos[g.ID] < s && s < last {
			return false
		}
	}
	return true
}

// target lets a value be computed directly into the variable that it is assigned to, if the old value of the variable
// is not needed meanwhile, and the variable still holds the value at its other uses.
func (u *uses) target(i *ir.Instr) {
	if i.Op != ir.OpVar && i.Op != ir.OpSet {
		return
	}
	x, v := i.Args[0], i.Var
	k := x.Op.Kind()
	if k == ir.KindRoot || k == ir.KindVar || u.late[x.ID] || u.block[x.ID] != u.block[i.ID] {
		return
	}
	if u.changes(v, x, i) || u.leavesBetween(x, i) || u.readsOld(v, x, i) {
		return
	}
	u.targets[x.ID] = v
}

// changes reports whether a variable is assigned another value between the computation of a value and its last use.
func (u *uses) changes(v *ir.Var, x, set *ir.Instr) bool {
	from, last, to := u.pos[x.ID], u.last(x), u.pos[set.ID]
	for _, p := range u.sets[v.ID] {
		if from < p && p < last && p != to {
			return true
		}
	}
	return u.others[v.ID] && len(u.use[x.ID]) > 1
}

// leavesBetween reports whether lanes can leave between the computation of the value and the assignment.
func (u *uses) leavesBetween(x, set *ir.Instr) bool {
	for _, p := range u.leaves {
		if u.pos[x.ID] < p && p < u.pos[set.ID] {
			return true
		}
	}
	return false
}

// readsOld reports whether the old value of the variable is used between the computation of the new value and its
// assignment.
func (u *uses) readsOld(v *ir.Var, x, set *ir.Instr) bool {
	from, to := u.pos[x.ID], u.pos[set.ID]
	for _, g := range u.gets[v.ID] {
		last := u.pos[g.ID]
		if u.alias[g.ID] {
			last = u.last(g)
		}
		if u.pos[g.ID] < to && last > from {
			return true
		}
	}
	return false
}
