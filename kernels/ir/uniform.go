package ir

// Uniformity records which values are the same in all active lanes of a warp. Indices are IDs.
type Uniformity struct {
	Varying []bool // values
	Vars    []bool // variables that may vary
	// Partial marks constructs in which only some lanes may be active: an If whose condition varies, a loop that lanes
	// leave at different times or whose remainder some skip.
	Partial []bool
	// Ragged marks loops that lanes leave at different times.
	Ragged []bool
}

// varies marks operations whose value differs between lanes whatever the arguments.
var varies = [NumOps]bool{
	OpLaneID: true, OpThreadInCore: true, OpGlobalThread: true, OpSpreadThread: true,
	OpShflIdx: true, OpShflUp: true, OpShflDown: true, OpShflXor: true,
	OpWeaverDecID: true, OpWeaverDecLoc: true, OpWeaverVID: true, OpWeaverLoc: true,
	OpListItem: true, OpUnitAsk: true,
}

// agrees marks operations whose value is the same in all active lanes whatever the arguments.
var agrees = [NumOps]bool{OpBallot: true, OpAny: true, OpAll: true}

// Analyse infers which values vary: a fixpoint that starts from none and only adds. Lanes that agree by chance count as
// varying.
func Analyse(k *Kernel) *Uniformity {
	u := &Uniformity{Varying: make([]bool, k.Instr), Vars: make([]bool, k.Vars), Partial: make([]bool, k.Instr),
		Ragged: make([]bool, k.Instr)}
	if k.Scalar {
		return u
	}
	for _, r := range k.Roots {
		u.Varying[r.ID] = varies[r.Op]
	}
	a := analysis{u: u, depth: make([]int, k.Vars)}
	for changed := true; changed; changed = a.changed {
		a.changed, a.open = false, nil
		a.block(k.Body)
	}
	return u
}

type analysis struct {
	u       *Uniformity
	changed bool
	open    []*Instr // enclosing constructs, outermost first
	depth   []int    // per variable: number of constructs around its declaration
}

func (a *analysis) set(list []bool, id int, v bool) {
	if v && !list[id] {
		list[id], a.changed = true, true
	}
}

func (a *analysis) block(b *Block) {
	for _, i := range b.Instrs {
		a.instr(i)
	}
}

func (a *analysis) anyArg(i *Instr) bool {
	for _, x := range i.Args {
		if x != nil && a.u.Varying[x.ID] {
			return true
		}
	}
	return false
}

// partial reports whether only some of the lanes that were active outside the innermost constructs, from index from on,
// may be active here.
func (a *analysis) partial(from int) bool {
	for _, i := range a.open[from:] {
		if a.u.Partial[i.ID] {
			return true
		}
	}
	return false
}

func (a *analysis) instr(i *Instr) {
	u := a.u
	switch i.Op {
	case OpVar:
		a.depth[i.Var.ID] = len(a.open)
		a.set(u.Vars, i.Var.ID, a.anyArg(i))
	case OpSet:
		a.set(u.Vars, i.Var.ID, a.anyArg(i) || a.partial(min(a.depth[i.Var.ID], len(a.open))))
	case OpGet:
		a.set(u.Varying, i.ID, u.Vars[i.Var.ID])
	case OpIndex:
		f := a.open[len(a.open)-1]
		a.set(u.Varying, i.ID, u.Varying[f.Args[0].ID] || u.Varying[f.Args[2].ID])
	case OpBreak, OpContinue:
		a.leave(i)
	case OpIf:
		a.set(u.Partial, i.ID, a.anyArg(i))
	case OpLoop:
		a.ragged(i, a.anyArg(i))
	case OpFor:
		a.ragged(i, a.anyArg(i))
	case OpWeaverEdges:
		a.ragged(i, true)
	case OpListEdges, OpListVertices, OpEghwEdges:
		a.set(u.Partial, i.ID, true) // all lanes stay, some without an edge
	default:
		a.set(u.Varying, i.ID, i.Type != None && !agrees[i.Op] && !broadcast(i) &&
			(varies[i.Op] || i.Op.Atomic() || a.anyArg(i)))
	}
	a.open = append(a.open, i)
	for _, b := range i.Blocks {
		a.block(b)
	}
	a.open = a.open[:len(a.open)-1]
}

// broadcast reports whether every lane receives lane 0's value.
func broadcast(i *Instr) bool {
	bits, ok := i.arg(1).IsConst()
	return i.Op == OpShflIdx && ok && bits&63 == 0
}

func (i *Instr) arg(n int) Value {
	if n < len(i.Args) {
		return i.Args[n]
	}
	return nil
}

func (a *analysis) ragged(i *Instr, v bool) {
	a.set(a.u.Ragged, i.ID, v)
	a.set(a.u.Partial, i.ID, v)
}

// leave handles a break or continue that the lanes in the loop do not all take at once.
func (a *analysis) leave(i *Instr) {
	at := len(a.open) - 1
	for a.open[at] != i.Loop {
		at--
	}
	if !a.anyArg(i) && !a.partial(at+1) {
		return
	}
	for _, x := range a.open[at+1:] { // loops in between lose lanes, too
		a.ragged(x, x.Op == OpLoop || x.Op == OpFor || x.Op == OpWeaverEdges)
	}
	if i.Op == OpBreak {
		a.ragged(i.Loop, true)
	} else {
		a.set(a.u.Partial, i.Loop.ID, true)
	}
}
