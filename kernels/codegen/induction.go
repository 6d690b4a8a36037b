package codegen

import (
	"math/bits"

	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// induction turns for loops into general loops by strength reduction. A value that grows by a constant in every step,
// such as the address of an element, becomes a variable that is incremented. If nothing else needs the index, the
// loop's test uses such an address.
//
// An array does not wrap around the end of the address space, so within it comparing addresses is equivalent to
// comparing indices. That requires that the loop does access the array in every step, so the test before the first step
// still uses the index.
func induction(k *ir.Kernel) { inductBlock(k, k.Body) }

func inductBlock(k *ir.Kernel, b *ir.Block) {
	for n := 0; n < len(b.Instrs); n++ {
		i := b.Instrs[n]
		for _, x := range i.Blocks {
			inductBlock(k, x)
		}
		if i.Op == ir.OpFor {
			before := newInductor(k, i).loop()
			insert(b, n, before...)
			n += len(before)
		}
	}
}

// inductor rewrites one loop.
type inductor struct {
	k      *ir.Kernel
	u      *ir.Uniformity
	f      *ir.Instr
	index  *ir.Instr
	made   []bool // by ID: values computed in the loop
	before []*ir.Instr
	latch  []*ir.Instr
	steps  []stepper
	coefs  map[ir.Value]coefficient
	copies map[[2]ir.Value]ir.Value // results of at
}

// coefficient is the result of affine.
type coefficient struct {
	coef uint32
	ok   bool
}

// stepper is a variable that grows by a fixed amount.
type stepper struct {
	v     *ir.Var
	value ir.Value // the value that it replaces in the body
	coef  uint32
	end   ir.Value // its value at the end of the loop
}

func newInductor(k *ir.Kernel, f *ir.Instr) *inductor {
	return &inductor{k: k, u: ir.Analyse(k), f: f, index: f.Blocks[0].Instrs[0], made: newHoister(k, f).made,
		coefs: map[ir.Value]coefficient{}, copies: map[[2]ir.Value]ir.Value{}}
}

func (d *inductor) from() ir.Value  { return d.f.Args[0] }
func (d *inductor) below() ir.Value { return d.f.Args[1] }
func (d *inductor) step() ir.Value  { return d.f.Args[2] }

// add appends an instruction before the loop.
func (d *inductor) add(op ir.Op, t ir.Type, args ...ir.Value) ir.Value {
	i := d.k.New(op, t, args...)
	d.before = append(d.before, i)
	return i
}

// loop rewrites the loop, and returns the instructions before it.
func (d *inductor) loop() []*ir.Instr {
	d.pointers()
	d.k.Phase = d.f.Phase
	test, next := d.test()
	if test == nil {
		next = d.counter()
	}
	switch {
	case d.isGrid():
		d.gridTest(test, next)
	default:
		d.plainTest(test, next)
	}
	return d.before
}

// pointers finds the values that become variables.
func (d *inductor) pointers() {
	use := users(d.k)
	var found []ir.Value
	d.always(d.f.Blocks[0], func(i *ir.Instr) {
		if c, ok := d.affine(i); ok && c != 0 && i != d.index && i.Op.Kind() == ir.KindPure && !d.onlyFor(use[i.ID]) &&
			!d.beside(i) {
			found = append(found, i)
		}
	})
	for _, v := range found {
		c, _ := d.affine(v)
		d.steps = append(d.steps, stepper{value: v, coef: c})
	}
	for n := range d.steps {
		s := &d.steps[n]
		d.k.Phase = s.value.Phase
		s.v = d.variable(d.at(s.value, d.from()), d.amount(s.coef))
		s.end = d.at(s.value, d.below())
	}
	for _, s := range d.steps { // the value becomes a read of the variable
		*s.value = ir.Instr{ID: s.value.ID, Op: ir.OpGet, Type: s.value.Type, Var: s.v, Phase: s.value.Phase}
	}
	d.sweep()
}

// beside reports whether a value of an unrolled loop has a constant distance from another that becomes a variable. It
// then takes one addition in each iteration, as a variable would, but no register across iterations.
func (d *inductor) beside(i *ir.Instr) bool {
	if d.f.Copies < 2 || i.Op != ir.OpAdd || i.Args[0] == d.index {
		return false
	}
	c, ok := d.affine(i.Args[0])
	return ok && c != 0 && d.fixed(i.Args[1])
}

// fixed reports whether a value is computed outside the loop.
func (d *inductor) fixed(v ir.Value) bool { return v.ID >= len(d.made) || !d.made[v.ID] }

// sweep drops the instructions that computed replaced values, from the last to the first.
func (d *inductor) sweep() {
	for changed := true; changed; {
		changed = false
		use := users(d.k)
		for _, i := range d.latch { // the latch is not in the kernel yet
			for _, a := range i.Args {
				use[a.ID] = append(use[a.ID], i)
			}
		}
		sweep(d.f.Blocks[0], func(i *ir.Instr) bool {
			drop := i.Op.Kind() == ir.KindPure && len(use[i.ID]) == 0
			changed = changed || drop
			return drop
		})
	}
}

// always calls f for the instructions that every step executes, disregarding breaks.
func (d *inductor) always(b *ir.Block, f func(*ir.Instr)) {
	for _, i := range b.Instrs {
		f(i)
	}
}

// onlyFor reports whether all users are themselves values that become variables.
func (d *inductor) onlyFor(use []*ir.Instr) bool {
	found := map[*ir.Instr]bool{}
	d.always(d.f.Blocks[0], func(i *ir.Instr) { found[i] = true })
	for _, u := range use {
		if c, ok := d.affine(u); !ok || c == 0 || !found[u] {
			return false
		}
	}
	return true
}

// affine reports whether a value is coef·index plus an invariant.
func (d *inductor) affine(v ir.Value) (coef uint32, ok bool) {
	c, known := d.coefs[v]
	if !known {
		c.coef, c.ok = d.findAffine(v)
		d.coefs[v] = c
	}
	return c.coef, c.ok
}

func (d *inductor) findAffine(v ir.Value) (coef uint32, ok bool) {
	if v == d.index {
		return 1, true
	}
	if v.ID >= len(d.made) || !d.made[v.ID] {
		return 0, true
	}
	if v.Op.Kind() != ir.KindPure || !v.Type.Int() {
		return 0, false
	}
	var c [3]uint32
	for n, a := range v.Args {
		if c[n], ok = d.affine(a); !ok {
			return 0, false
		}
	}
	constant := uint32(0)
	if len(v.Args) == 2 {
		constant, ok = v.Args[1].IsConst()
	}
	switch v.Op {
	case ir.OpAdd:
		return c[0] + c[1], true
	case ir.OpSub:
		return c[0] - c[1], true
	case ir.OpShl:
		return c[0] << (constant & 31), ok
	case ir.OpMul:
		return c[0] * constant, ok
	case ir.OpBitcast:
		return c[0], v.Args[0].Type.Int()
	}
	return 0, false
}

// at computes an affine value for an index, before the loop.
func (d *inductor) at(v, index ir.Value) ir.Value {
	if v == d.index {
		return index
	}
	if v.ID >= len(d.made) || !d.made[v.ID] {
		return v
	}
	if c, ok := d.copies[[2]ir.Value{v, index}]; ok {
		return c
	}
	var args []ir.Value
	for _, a := range v.Args {
		args = append(args, d.at(a, index))
	}
	c := d.add(v.Op, v.Type, args...)
	d.copies[[2]ir.Value{v, index}] = c
	return c
}

// amount returns coef·step.
func (d *inductor) amount(coef uint32) ir.Value {
	switch c, ok := d.step().IsConst(); {
	case ok:
		return d.k.Const(d.step().Type, c*coef)
	case coef == 1:
		return d.step()
	case coef&(coef-1) == 0:
		return d.add(ir.OpShl, d.step().Type, d.step(), d.k.Const(ir.U32, uint32(bits.TrailingZeros32(coef))))
	}
	return d.add(ir.OpMul, d.step().Type, d.step(), d.k.Const(d.step().Type, coef))
}

// cast converts between integer types.
func (d *inductor) cast(t ir.Type, v ir.Value) ir.Value {
	if v.Type == t {
		return v
	}
	if c, ok := v.IsConst(); ok {
		return d.k.Const(t, c)
	}
	return d.add(ir.OpBitcast, t, v)
}

// variable creates a variable that is incremented in the latch.
func (d *inductor) variable(init, by ir.Value) *ir.Var {
	v := d.k.NewVar(init.Type)
	by = d.cast(init.Type, by)
	d.add(ir.OpVar, ir.None, init).Var = v
	get := d.k.New(ir.OpGet, v.Type)
	get.Var = v
	sum := d.k.New(ir.OpAdd, v.Type, get, by)
	set := d.k.New(ir.OpSet, ir.None, sum)
	set.Var = v
	d.latch = append(d.latch, get, sum, set)
	return v
}

// counter turns the index into a variable.
func (d *inductor) counter() *ir.Var {
	v := d.variable(d.from(), d.step())
	*d.index = ir.Instr{ID: d.index.ID, Op: ir.OpGet, Type: d.index.Type, Var: v, Phase: d.index.Phase}
	return v
}

// test finds an address for the loop's test. An access at a small offset from it is sufficient: as nothing below
// emu.NullEnd can be accessed, the address itself has not wrapped below 0.
func (d *inductor) test() (*stepper, *ir.Var) {
	if len(users(d.k)[d.index.ID]) > 0 || leaves(d.f, ir.OpBreak) || leaves(d.f, ir.OpContinue) {
		return nil, nil
	}
	if c, ok := d.step().IsConst(); !d.isGrid() && (!ok || c < 1 || c > 16) {
		return nil, nil
	}
	var best *stepper
	d.always(d.f.Blocks[0], func(i *ir.Instr) {
		if !i.Op.Memory() || i.Op == ir.OpLoadByte || i.Op == ir.OpStoreByte || i.Imm > emu.NullEnd || best != nil {
			return
		}
		for n := range d.steps {
			if s := &d.steps[n]; s.value == i.Args[0] && s.coef == 4 && !d.shared(s.v) {
				best = s
			}
		}
	})
	if best == nil {
		return nil, nil
	}
	return best, best.v
}

// shared reports whether an address is in the scratchpad, which may extend to the end of the address space.
func (d *inductor) shared(v *ir.Var) bool {
	for _, i := range d.before {
		if i.Op == ir.OpVar && i.Var == v {
			return mentions(i.Args[0], ir.OpShared, 8)
		}
	}
	return true
}

// mentions reports whether a value depends on an operation, examining operands up to depth far; beyond that, it may.
func mentions(v ir.Value, op ir.Op, far int) bool {
	if v.Op == op || far == 0 {
		return true
	}
	for _, a := range v.Args {
		if a != nil && mentions(a, op, far-1) {
			return true
		}
	}
	return false
}

// plainTest emits tests for each lane: it enters if from < below, and stays while the next value is below its end.
func (d *inductor) plainTest(s *stepper, next *ir.Var) {
	guard := d.add(ir.OpLt, ir.Pred, d.from(), d.below())
	end := d.below()
	if s != nil {
		end = s.end
	}
	d.finish(guard, next, end, nil)
}

// finish builds the loop.
func (d *inductor) finish(guard ir.Value, next *ir.Var, end ir.Value, g *ir.Grid) {
	get := d.k.New(ir.OpGet, next.Type)
	get.Var = next
	out := d.k.New(ir.OpGe, ir.Pred, get, end)
	br := d.k.New(ir.OpBreak, ir.None, out)
	br.Loop = d.f
	body := d.f.Blocks[0]
	if d.index.Op == ir.OpIndex { // the index is not used
		body.Instrs = body.Instrs[1:]
	}
	*d.f = ir.Instr{ID: d.f.ID, Op: ir.OpLoop, Args: []ir.Value{guard}, Phase: d.f.Phase, Pos: d.f.Pos, Grid: g,
		Blocks: []*ir.Block{{Instrs: []*ir.Instr{get, out, br}}, body, {Instrs: d.latch}}}
}

// gridSteps maps the first values of grid loops to their steps.
var gridSteps = map[ir.Op]ir.Op{ir.OpSpreadThread: ir.OpNumThreads, ir.OpGlobalThread: ir.OpNumThreads,
	ir.OpLaneID: ir.OpNumLanes}

// isGrid reports whether the lanes of a warp, of a core or of the device take neighbouring elements in a loop: lane l+1
// the element after that of lane l.
func (d *inductor) isGrid() bool {
	step := gridSteps[d.from().Op]
	return step != 0 && d.step().Op == step && !d.u.Varying[d.below().ID]
}

// gridTest emits a test of the last lane, whose element is the last of the warp's: as long as it is below the end, all
// lanes stay, which takes one plain branch.
//
// With addresses, lanes need no test before the first step: a lane begins at most as many elements beyond the array's
// end as the device has lanes, and the address space ends with the lanes' stacks, each of which is larger than an
// element, so the address does not wrap. The distance of the last lane is below emu.NullEnd, where no array can be.
func (d *inductor) gridTest(s *stepper, next *ir.Var) {
	one := d.k.Const(ir.U32, 1)
	gap := d.add(ir.OpSub, ir.U32, d.add(ir.OpSub, ir.U32, d.k.Root(ir.OpNumLanes, ir.U32, 0), one),
		d.k.Root(ir.OpLaneID, ir.U32, 0))
	if s != nil {
		bytes := d.add(ir.OpShl, ir.U32, gap, d.k.Const(ir.U32, 2))
		d.finish(nil, next, s.end, &ir.Grid{Next: next, Safe: d.add(ir.OpSub, ir.U32, s.end, bytes)})
		return
	}
	last := d.add(ir.OpAdd, ir.U32, d.from(), gap)
	all := d.add(ir.OpLt, ir.Pred, last, d.below())
	safe := d.add(ir.OpSelect, ir.U32, all, d.add(ir.OpSub, ir.U32, d.below(), gap), d.k.Const(ir.U32, 0))
	d.finish(nil, next, d.below(), &ir.Grid{Next: next, Safe: safe})
}
