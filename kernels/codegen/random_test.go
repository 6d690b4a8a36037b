package codegen

import (
	"math/rand/v2"

	"heddle/kernels/ir"
)

// Memory of random programs. Lanes write words of their own, or use atomics that
// commute and whose results are unused, so that the order of warps does not matter.
const (
	inWords    = 256 // read only
	ownWords   = 16  // of each lane
	lastWords  = 64  // of each lane, stored at the end
	accWords   = 8   // for each commuting atomic
	gridWords  = 256 // word i is written by the lane that takes i
	localWords = 4   // of each lane, in the scratchpad
	maxLanes   = 128 // of a core
)

// randomKernel builds a kernel from a seed.
type randomKernel struct {
	*ir.Builder
	r        *rand.Rand
	values   [][]ir.Value // by scope; innermost last
	vars     [][]*ir.Variable
	types    map[*ir.Variable]ir.Type
	loops    []*ir.Loop
	depth    int
	some     bool // only some lanes may be here
	free     bool // warps may differ here in how often they come
	budget   int
	visiting bool            // in AllLanes
	mine     func() ir.Value // where grid loops begin: the same for all, which share an array

	in, own, acc, grid, local, n ir.Value
}

var numberTypes = []ir.Type{ir.I32, ir.U32, ir.F32}

func newRandom(seed uint64, weaver bool) (*ir.Kernel, error) {
	k, err := newPlain(seed, weaver)
	if err == nil {
		r := rand.New(rand.NewPCG(seed, 3))
		k.Body.Walk(func(i *ir.Instr) {
			if i.Op == ir.OpFor && r.IntN(3) == 0 {
				i.Copies = 4 // as if its body were several steps
			}
		})
	}
	return k, err
}

func newPlain(seed uint64, weaver bool) (*ir.Kernel, error) {
	g := &randomKernel{Builder: ir.NewBuilder("random"), r: rand.New(rand.NewPCG(seed, 77)),
		types: map[*ir.Variable]ir.Type{}}
	g.budget = 20 + g.r.IntN(120)
	g.in, g.acc, g.grid = g.Array("in"), g.Array("acc"), g.Array("grid")
	own := g.Array("own")
	g.n = g.Param("n", ir.U32)
	g.mine = []func() ir.Value{g.GlobalThread, g.SpreadThread}[seed%2]
	g.own = g.Address(own, g.Mul(g.GlobalThread(), g.U32(ownWords)))
	g.local = g.Address(g.Shared("local", maxLanes*localWords), g.Mul(g.ThreadInCore(), g.U32(localWords)))
	g.scope(func() {
		for range 2 + g.r.IntN(6) {
			g.push(g.number(g.pickType()))
			g.newVar()
		}
		for k := range localWords {
			g.Store(g.local, g.U32(uint32(k)), g.U32(uint32(k)))
		}
		g.statements()
		if weaver {
			g.weaverEpoch()
		}
		g.finish()
	})
	return g.Build()
}

func (g *randomKernel) chance(percent int) bool { return g.r.IntN(100) < percent }

func (g *randomKernel) pickType() ir.Type { return numberTypes[g.r.IntN(3)] }

func (g *randomKernel) scope(body func()) {
	g.values, g.vars = append(g.values, nil), append(g.vars, nil)
	body()
	g.values, g.vars = g.values[:len(g.values)-1], g.vars[:len(g.vars)-1]
}

func (g *randomKernel) push(v ir.Value) {
	top := len(g.values) - 1
	g.values[top] = append(g.values[top], v)
}

func (g *randomKernel) newVar() {
	t := g.pickType()
	if g.chance(15) {
		t = ir.Pred
	}
	v := g.Var(g.value(t))
	g.types[v] = t
	top := len(g.vars) - 1
	g.vars[top] = append(g.vars[top], v)
}

// value returns a value of a type: one there is, a variable's, or a new one.
func (g *randomKernel) value(t ir.Type) ir.Value {
	var have []ir.Value
	for _, s := range g.values {
		for _, v := range s {
			if v.Type == t {
				have = append(have, v)
			}
		}
	}
	if v := g.variable(t); v != nil && g.chance(35) {
		x := v.Get()
		if g.chance(50) { // to be used after the variable has changed
			g.push(x)
		}
		return x
	}
	if len(have) > 0 && g.chance(75) {
		return have[g.r.IntN(len(have))]
	}
	v := g.leaf(t)
	if g.chance(50) {
		g.push(v)
	}
	return v
}

func (g *randomKernel) variable(t ir.Type) *ir.Variable {
	var have []*ir.Variable
	for _, s := range g.vars {
		for _, v := range s {
			if g.types[v] == t {
				have = append(have, v)
			}
		}
	}
	if len(have) == 0 {
		return nil
	}
	return have[g.r.IntN(len(have))]
}

// leaf is a value made of nothing.
func (g *randomKernel) leaf(t ir.Type) ir.Value {
	switch t {
	case ir.Pred:
		return g.Lt(g.u32(), g.u32())
	case ir.F32:
		if g.chance(50) {
			return g.F32([]float32{0, 1, -1.5, 3e20, 1e-30}[g.r.IntN(5)])
		}
		return g.ToF32(g.u32())
	case ir.I32:
		if g.chance(50) {
			return g.I32([]int32{0, 1, -1, 2, 5, -7, 4096, -1 << 31, 1<<31 - 1}[g.r.IntN(9)])
		}
		return g.AsI32(g.u32())
	}
	return g.u32()
}

func (g *randomKernel) u32() ir.Value {
	ids := []func() ir.Value{g.LaneID, g.WarpID, g.CoreID, g.ThreadInCore, g.GlobalThread, g.SpreadThread, g.NumLanes,
		g.NumWarps}
	if g.chance(50) {
		return ids[g.r.IntN(len(ids))]()
	}
	return g.U32([]uint32{0, 1, 2, 3, 4, 8, 31, 100, 4095, 1 << 31, 1<<32 - 1}[g.r.IntN(11)])
}

// small is a u32 below 2ⁿ.
func (g *randomKernel) small(n int) ir.Value {
	return g.And(g.value(ir.U32), g.U32(1<<n-1))
}

// number computes a new value.
func (g *randomKernel) number(t ir.Type) ir.Value {
	switch t {
	case ir.Pred:
		return g.predicate()
	case ir.F32:
		return g.float()
	}
	return g.integer(t)
}

func (g *randomKernel) integer(t ir.Type) ir.Value {
	x, y := g.value(t), g.value(t)
	two := []func(x, y ir.Value) ir.Value{g.Add, g.Add, g.Sub, g.Mul, g.MulHi, g.Div, g.Rem, g.And, g.Or, g.Xor, g.Shl,
		g.Shr, g.Min, g.Max}
	switch n := g.r.IntN(len(two) + 9); {
	case n < len(two):
		return two[n](x, y)
	case n == len(two):
		return g.Neg(x)
	case n == len(two)+1:
		return g.Not(x)
	case n == len(two)+2:
		return g.Select(g.value(ir.Pred), x, y)
	case n == len(two)+3 && t == ir.I32:
		return g.ToI32(g.value(ir.F32))
	case n == len(two)+4 && t == ir.U32:
		return g.ToU32(g.value([]ir.Type{ir.F32, ir.Pred}[g.r.IntN(2)]))
	case n == len(two)+5 && t == ir.U32:
		return g.Ballot(g.value(ir.Pred))
	case n == len(two)+6:
		return g.load(t)
	case n == len(two)+7:
		return g.constants(x)
	}
	if t == ir.I32 {
		return g.AsI32(g.value([]ir.Type{ir.U32, ir.F32}[g.r.IntN(2)]))
	}
	return g.AsU32(g.value([]ir.Type{ir.I32, ir.F32}[g.r.IntN(2)]))
}

// constants applies constants one after the other.
func (g *randomKernel) constants(x ir.Value) ir.Value {
	c := func() ir.Value {
		n := [...]uint32{0, 1, 2, 3, 8, 12, 30, 1 << 31, 1<<32 - 1, 1<<32 - 2048, 2048, 4095}[g.r.IntN(12)]
		if x.Type == ir.I32 {
			return g.I32(int32(n))
		}
		return g.U32(n)
	}
	ops := []func(x, y ir.Value) ir.Value{g.Add, g.Add, g.Sub, g.Shl, g.Shl, g.Shr, g.Mul, g.Div, g.Rem, g.And, g.Or,
		g.Xor, g.Min}
	for op := g.r.IntN(len(ops)); g.chance(70); {
		x = ops[op](x, c())
		if g.chance(30) {
			op = g.r.IntN(len(ops))
		}
	}
	if g.chance(20) {
		return g.Sub(c(), x)
	}
	return x
}

func (g *randomKernel) float() ir.Value {
	x, y := g.value(ir.F32), g.value(ir.F32)
	two := []func(x, y ir.Value) ir.Value{g.Add, g.Sub, g.Mul, g.Div, g.Min, g.Max}
	switch n := g.r.IntN(len(two) + 8); {
	case n < len(two):
		return two[n](x, y)
	case n == len(two):
		return g.FMA(x, y, g.value(ir.F32))
	case n == len(two)+1:
		return g.Sqrt(x)
	case n == len(two)+2:
		return g.Neg(x)
	case n == len(two)+3:
		return g.Abs(x)
	case n == len(two)+4:
		return g.Select(g.value(ir.Pred), x, y)
	case n == len(two)+5:
		return g.AsF32(g.value([]ir.Type{ir.U32, ir.I32}[g.r.IntN(2)]))
	case n == len(two)+6:
		return g.load(ir.F32)
	}
	return g.ToF32(g.value([]ir.Type{ir.U32, ir.I32}[g.r.IntN(2)]))
}

func (g *randomKernel) predicate() ir.Value {
	t := g.pickType()
	compare := []func(x, y ir.Value) ir.Value{g.Eq, g.Ne, g.Lt, g.Le, g.Gt, g.Ge}
	logic := []func(x, y ir.Value) ir.Value{g.And, g.Or, g.Xor}
	switch g.r.IntN(10) {
	case 0:
		return g.Not(g.value(ir.Pred))
	case 1:
		return logic[g.r.IntN(3)](g.value(ir.Pred), g.value(ir.Pred))
	case 2:
		return g.Any(g.value(ir.Pred))
	case 3:
		return g.All(g.value(ir.Pred))
	case 4:
		return g.Select(g.value(ir.Pred), g.value(ir.Pred), g.value(ir.Pred))
	}
	return compare[g.r.IntN(6)](g.value(t), g.value(t))
}

// load reads a word that no other lane writes.
func (g *randomKernel) load(t ir.Type) ir.Value {
	switch g.r.IntN(5) {
	case 0:
		return g.Load(t, g.own, g.small(4))
	case 1:
		return g.Load(t, g.local, g.small(2))
	case 2:
		if t == ir.U32 {
			return g.LoadByte(g.in, g.small(8))
		}
		return g.Load(t, g.Add(g.in, g.U32(8)), g.Add(g.AsI32(g.small(7)), g.I32(-2)))
	}
	return g.Load(t, g.in, g.Add(g.small(6), g.U32(uint32(g.r.IntN(64)))))
}

func (g *randomKernel) statements() {
	for range 1 + g.r.IntN(6) {
		if g.budget--; g.budget < 0 {
			return
		}
		g.statement()
	}
}

// statement adds one; nested ones only to some depth.
func (g *randomKernel) statement() {
	simple := []func(){g.compute, g.compute, g.set, g.set, g.set, g.store, g.atomic, g.newVar, g.leave, g.leave}
	nested := []func(){g.ifs, g.ifs, g.ifs, g.forLoop, g.forLoop, g.whileLoop, g.anyLoop, g.allLanes, g.gridLoop,
		g.walk, g.cross, g.barrier}
	if g.depth < 4 && g.chance(45) {
		g.depth++
		nested[g.r.IntN(len(nested))]()
		g.depth--
		return
	}
	simple[g.r.IntN(len(simple))]()
}

func (g *randomKernel) compute() {
	t := g.pickType()
	if g.chance(25) {
		t = ir.Pred
	}
	g.push(g.number(t))
}

func (g *randomKernel) set() {
	t := g.pickType()
	if g.chance(20) {
		t = ir.Pred
	}
	if v := g.variable(t); v != nil {
		v.Set(g.number(t))
	}
}

func (g *randomKernel) store() {
	switch g.r.IntN(4) {
	case 0:
		g.Store(g.local, g.small(2), g.value(g.pickType()))
	case 1:
		g.StoreByte(g.own, g.small(6), g.value(ir.U32))
	default:
		g.Store(g.own, g.small(4), g.value(g.pickType()))
	}
}

func (g *randomKernel) atomic() {
	ops := []func(base, index, v ir.Value) ir.Value{g.AtomicAdd, g.AtomicMin, g.AtomicMax, g.AtomicAnd, g.AtomicOr,
		g.AtomicXor}
	switch n := g.r.IntN(10); {
	case n < 6:
		base := g.Add(g.acc, g.U32(uint32(n*accWords*4)))
		ops[n](base, g.small(3), g.value([]ir.Type{ir.I32, ir.U32}[n%2]))
	case n == 6:
		g.push(g.AtomicAddF(g.own, g.small(4), g.value(ir.F32)))
	case n == 7:
		g.push(g.AtomicCAS(g.own, g.small(4), g.value(ir.U32), g.value(ir.U32)))
	case n == 8:
		g.push(g.AtomicXchg(g.local, g.small(2), g.value(ir.I32)))
	default:
		g.push(ops[g.r.IntN(6)](g.own, g.small(4), g.value(ir.I32)))
	}
}

// leave leaves some loop around, or skips its rest.
func (g *randomKernel) leave() {
	if len(g.loops) == 0 {
		return
	}
	l := g.loops[g.r.IntN(len(g.loops))]
	if p := g.value(ir.Pred); g.chance(50) {
		l.BreakIf(p)
	} else {
		l.ContinueIf(p)
	}
	g.some, g.free = true, true
}

// inside builds a block.
func (g *randomKernel) inside(body func()) func() {
	return func() {
		some, free := g.some, g.free
		g.scope(func() { body() })
		g.some, g.free = some, free
	}
}

func (g *randomKernel) ifs() {
	p := g.value(ir.Pred)
	if g.chance(25) { // the same in all lanes
		p = g.Lt(g.WarpID(), g.Add(g.n, g.U32(uint32(g.r.IntN(4))-200)))
	}
	some, free := g.some, g.free
	g.some, g.free = true, true
	var els func()
	if g.chance(60) {
		els = g.inside(g.statements)
	}
	g.If(p, g.inside(g.statements), els)
	g.some, g.free = some, free
}

// inLoop builds a loop's body. In loops lanes may be off, and stay off until it ends.
func (g *randomKernel) inLoop(l *ir.Loop, body func()) {
	some, free := g.some, g.free
	g.some, g.free = true, true
	if l != nil {
		g.loops = append(g.loops, l)
	}
	g.inside(body)()
	if l != nil {
		g.loops = g.loops[:len(g.loops)-1]
	}
	g.some, g.free = some, free
}

func (g *randomKernel) forLoop() {
	from, below, step := g.small(2), g.small(3), g.U32(uint32(1+g.r.IntN(3)))
	if g.chance(30) {
		below = g.U32(uint32(g.r.IntN(6)))
	}
	if g.chance(30) {
		from = g.U32(0)
	}
	if g.chance(20) {
		step = g.Add(g.small(1), g.U32(1))
	}
	if g.chance(25) {
		from, below, step = g.Sub(g.AsI32(from), g.I32(3)), g.AsI32(below), g.AsI32(step)
	}
	g.ForLoop(from, below, step, func(i ir.Value, l *ir.Loop) {
		g.inLoop(l, func() {
			g.push(i)
			if i.Type == ir.U32 {
				g.push(g.Load(g.pickType(), g.in, g.Add(i, g.small(4))))
			}
			g.statements()
		})
	})
}

// walk is a loop over elements of an array, each read in every step.
func (g *randomKernel) walk() {
	begin := g.small(6)
	end := g.Add(begin, g.small(3))
	if g.chance(20) {
		end = g.small(6)
	}
	sum := g.Var(g.F32(0))
	last := g.Add(begin, g.small(2))
	far := g.chance(20) // further than memory, but for a break
	if far {
		end = g.U32(0xC0000000 + uint32(g.r.IntN(2))<<29)
	}
	body := func(i ir.Value, l *ir.Loop) {
		g.inLoop(nil, func() {
			if far {
				l.BreakIf(g.Gt(i, last))
			}
			if g.chance(50) {
				g.push(i)
			}
			x := g.Load(ir.F32, g.in, i)
			g.push(x)
			if g.chance(50) {
				g.push(g.Load(ir.U32, g.in, g.Add(i, g.U32(3))))
			}
			sum.Set(g.Add(sum.Get(), x))
			g.statements()
		})
	}
	g.ForLoop(begin, end, g.U32(uint32(1+g.r.IntN(2))), body)
	g.push(sum.Get())
}

// gridLoop deals elements out to lanes.
func (g *randomKernel) gridLoop() {
	if g.free || len(g.loops) > 0 || g.some {
		return
	}
	sum := g.Var(g.U32(0))
	body := func(i ir.Value, l *ir.Loop) {
		g.inLoop(l, func() {
			x := g.Load(ir.U32, g.in, i)
			if g.chance(30) {
				g.push(i)
			}
			g.push(x)
			sum.Set(g.Xor(sum.Get(), x))
			g.statements()
			g.Store(g.grid, i, g.value(ir.U32))
		})
	}
	below := g.n
	if g.chance(20) { // lanes differ
		below = g.Add(g.n, g.small(3))
	}
	if g.chance(50) {
		g.ForLoop(g.mine(), below, g.NumThreads(), func(i ir.Value, _ *ir.Loop) { body(i, nil) })
	} else {
		g.ForLoop(g.mine(), below, g.NumThreads(), body)
	}
	g.push(sum.Get())
}

func (g *randomKernel) whileLoop() {
	c := g.Var(g.U32(0))
	limit := g.small(3)
	g.While(func() ir.Value {
		next := g.Add(c.Get(), g.U32(1))
		c.Set(next)
		return g.Le(c.Get(), limit)
	}, func() { g.inLoop(nil, g.statements) })
}

func (g *randomKernel) anyLoop() {
	c := g.Var(g.U32(0))
	g.Loop(func(l *ir.Loop) {
		g.inLoop(l, func() {
			c.Set(g.Add(c.Get(), g.U32(1)))
			l.BreakIf(g.Gt(c.Get(), g.U32(uint32(2+g.r.IntN(5)))))
			g.statements()
			l.BreakIf(g.value(ir.Pred))
		})
	})
}

// allLanes uses, of what is outside, only roots and what all lanes have computed: what
// the outermost scope has.
func (g *randomKernel) allLanes() {
	if g.visiting { // which side of an If runs first would show
		g.compute()
		return
	}
	g.visiting = true
	defer func() { g.visiting = false }()
	values, vars, loops, some := g.values, g.vars, g.loops, g.some
	g.values, g.vars, g.loops, g.some = g.values[:1:1], g.vars[:1:1], nil, false
	g.values[0] = g.values[0][:len(g.values[0]):len(g.values[0])]
	g.AllLanes(func() {
		g.inside(func() {
			g.cross()
			g.statements()
			g.cross()
		})()
	})
	g.values, g.vars, g.loops, g.some = values, vars, loops, some
}

// cross takes a value of another lane, where all lanes are on.
func (g *randomKernel) cross() {
	if g.some {
		g.compute()
		return
	}
	x := g.value(g.pickType())
	n := g.small(6)
	g.push([]func(x, n ir.Value) ir.Value{g.ShflIdx, g.ShflUp, g.ShflDown, g.ShflXor}[g.r.IntN(4)](x, n))
	g.push(g.ShflIdx(x, g.U32(0)))
}

func (g *randomKernel) barrier() {
	if g.free || g.some {
		g.compute()
		return
	}
	if g.chance(50) {
		g.Barrier()
	} else {
		g.DeviceBarrier()
	}
}

// weaverEpoch registers vertices, and adds up a number that follows from each edge, in
// no order.
func (g *randomKernel) weaverEpoch() {
	slot, scale := g.ThreadInCore(), g.U32(uint32(1+g.r.IntN(2)))
	g.values, g.vars = [][]ir.Value{nil}, [][]*ir.Variable{nil}
	for range 1 + g.r.IntN(2) {
		g.If(g.Lt(slot, g.WeaverCapacity()), func() {
			deg := g.And(g.Load(ir.U32, g.in, slot), g.U32(7))
			g.WeaverReg(g.Mul(slot, scale), g.Mul(slot, g.U32(8)), deg)
		}, nil)
		g.Barrier()
		g.WeaverEdges(func(vid, loc ir.Value, l *ir.Loop) {
			g.Edge()
			x := g.Add(g.Mul(vid, g.U32(1000)), loc)
			g.If(g.Eq(g.And(loc, g.U32(3)), g.U32(1)), func() { g.AtomicAdd(g.acc, nil, x) }, nil)
			l.ContinueIf(g.Gt(g.And(loc, g.U32(7)), g.U32(4)))
			g.For(g.U32(0), g.And(loc, g.U32(3)), g.U32(1), func(i ir.Value) { g.AtomicAdd(g.acc, i, x) })
		})
		g.Barrier()
	}
}

// finish stores the final values of everything.
func (g *randomKernel) finish() {
	last := g.Address(g.Array("last"), g.Mul(g.GlobalThread(), g.U32(lastWords)))
	n := uint32(0)
	add := func(v ir.Value) {
		if v.Type == ir.Pred {
			v = g.ToU32(v)
		}
		if n < lastWords {
			g.Store(last, g.U32(n), v)
		}
		n++
	}
	for _, v := range g.vars[0] {
		add(v.Get())
	}
	for k := range localWords {
		add(g.Load(ir.U32, g.local, g.U32(uint32(k))))
	}
	for _, v := range g.values[0] {
		add(v)
	}
}
