package compose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"heddle/isa"
	"heddle/kernels/direction"
	"heddle/kernels/emit"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/reference"
)

// A hybrid in a fused loop is decided on the device, as in UGF: the lane that ends a round knows the next round's set,
// and all warps go to one of two sides of the round. The sides are two schedules, by the number of vertices, whose sets
// are laid out differently (then a kernel fills the one with the other when the side changes), or the two directions
// of one schedule, by the rule of its direction. A set that does not know its size is counted by a kernel at the end
// of each round, as are the edges of its vertices for a rule.

// side is what a round runs: of a loop without a hybrid, the only one.
type side struct {
	main      *EdgeOperator // the operator that reads the loop's set
	direction direction.Direction
	bank      int // of the kernels that name its set
	kernels   map[*VertexOperator]*ir.Kernel
	enter     *ir.Kernel // fills its set with the other side's active vertices; nil: they have one set
	count     *ir.Kernel // counts the set that a round has made; nil: the set has its size
}

// alternates reports whether an operator has two schedules.
func (l *FusedLoop) alternates() bool {
	return slices.ContainsFunc(l.Body, func(x LoopOperator) bool { return x.Above != nil })
}

// mains returns the operators that read the loop's set: one, or two schedules of one.
func (l *FusedLoop) mains() (list []*EdgeOperator) {
	list = append(list, l.main())
	for _, x := range l.Body {
		if x.Above != nil {
			list = append(list, x.Above)
		}
	}
	return list
}

func (l *FusedLoop) isMain(o *EdgeOperator) bool { return slices.Contains(l.mains(), o) }

// ofDirections reports whether the sides are directions, and not schedules.
func (l *FusedLoop) ofDirections() bool {
	return len(l.sides) > 1 && l.sides[1].main == l.sides[0].main
}

// own returns the kernels of a side that are no operator's.
func (s *side) own() (list []member) {
	if s.enter != nil {
		list = append(list, member{s.main.run, s.enter, s.bank})
	}
	if s.count != nil {
		list = append(list, s.counts())
	}
	return list
}

func (s *side) counts() member { return member{s.main.run, s.count, s.bank} }

// makeSides builds the kernels of both sides. Those that name no set are the same.
func (l *FusedLoop) makeSides(shape host.Shape, warps int) (err error) {
	first := &side{main: l.main(), direction: l.main().Plan.Direction.Uses[0]}
	l.sides = []*side{first}
	switch mains := l.mains(); {
	case len(mains) > 1:
		l.sides = append(l.sides, &side{main: mains[1], direction: mains[1].Plan.Direction.Uses[0], bank: 1})
	case first.main.Plan.changes():
		l.sides = append(l.sides, &side{main: first.main, direction: first.main.Plan.Direction.Uses[1]})
	}
	for _, s := range l.sides {
		if err := l.makeKernels(s, warps); err != nil {
			return err
		}
	}
	if len(l.sides) == 1 {
		return nil
	}
	for i, s := range l.sides {
		if err := l.makeOwn(s, l.sides[1-i], shape, warps); err != nil {
			return err
		}
	}
	return nil
}

// makeKernels builds the kernels of vertex operators on a side. Those that name no set are the first side's.
func (l *FusedLoop) makeKernels(s *side, warps int) (err error) {
	s.kernels = map[*VertexOperator]*ir.Kernel{}
	first := l.sides[0]
	for _, x := range l.vertices() {
		o := x.Vertices
		s.kernels[o] = first.kernels[o]
		ofQueue := l.Buckets != nil && o == l.Buckets.Takes // whose set is always the first side's
		if s == first || s.main != first.main && (o.Listed || o.Keeps) && !ofQueue {
			if s.kernels[o], err = l.kernel(x, s.main.Plan, warps); err != nil {
				return err
			}
		}
	}
	return nil
}

// Names of parameters of a side's own kernels.
const (
	loopSize = "loop.size"   // two words: numbers of vertices, and of the edges that leave them
	rowsOut  = "csr.offsets" // for the degrees
)

// makeOwn builds a side's own kernels.
func (l *FusedLoop) makeOwn(s, other *side, shape host.Shape, warps int) (err error) {
	p := s.main.Plan
	if s.main != other.main && (l.Buckets == nil || s != l.sides[0]) {
		k := emit.New("enter-" + p.Set.Name)
		k.Launch(warps, 0)
		from, to := other.main.Plan.Set.In(k, other.main.Plan.Dedup), p.Set.In(k, p.Dedup)
		k.Phase(isa.PhaseInit, to.Clear)
		k.Phase(isa.PhaseApply, func() {
			k.Strided(from.Places(), func(place ir.Value) {
				v := from.Vertex(place)
				if holds := from.Holds(v); holds != nil {
					k.When(holds, func() { to.Add(v) })
					return
				}
				to.Add(v)
			})
		})
		if s.enter, err = k.Build(); err != nil {
			return err
		}
	}
	switch {
	case l.ofDirections() && s != l.sides[0]:
		s.count = other.count
	case l.ofDirections() || !p.Set.Lists && (l.Buckets == nil || s == l.sides[0]):
		s.count, err = countKernel(p, shape, warps, l.ofDirections())
	}
	return err
}

// countKernel builds the kernel that counts the set which a round has made, and the edges that leave its vertices.
func countKernel(p *Plan, shape host.Shape, warps int, edges bool) (*ir.Kernel, error) {
	k := emit.New("count")
	k.Launch(warps, 0)
	k.Phase(isa.PhaseApply, func() {
		set, vertices, degrees := p.Set.Filled(k), k.Var(k.U32(0)), k.Var(k.U32(0))
		k.Strided(set.Places(), func(place ir.Value) {
			v := set.Vertex(place)
			k.When(set.Holds(v), func() {
				vertices.Set(k.Add(vertices.Get(), k.U32(1)))
				if edges {
					first := k.Load(ir.U32, k.Addr(rowsOut), v)
					end := k.Load(ir.U32, k.Addr(rowsOut), k.Add(v, k.U32(1)))
					degrees.Set(k.Add(degrees.Get(), k.Sub(end, first)))
				}
			})
		})
		add := func(word uint32, n *ir.Variable) {
			sum := k.WarpSum(n.Get(), shape.Threads)
			k.When(k.And(k.Eq(k.LaneID(), k.U32(0)), k.Ne(sum, k.U32(0))), func() {
				k.AtomicAdd(k.Addr(loopSize), k.U32(word), sum)
			})
		}
		add(0, vertices)
		if edges {
			add(1, degrees)
		}
	})
	return k.Build()
}

// place places what the loop's own kernels name, apart from the sets.
func (l *FusedLoop) place() error {
	r := l.main().run
	if _, placed := r.addresses[rowsOut]; placed || !l.ofDirections() {
		return nil
	}
	return r.placeArray(rowsOut)
}

// first returns the side of the first round, which begins with a set.
func (l *FusedLoop) first(in *Frontier) *side {
	if l.alternates() && uint32(len(in.Vertices)) >= l.AtLeast {
		return l.sides[1]
	}
	return l.sides[0]
}

// operator has a round begin, unless it has, and returns the operator over edges that its side runs.
func (l *FusedLoop) operator(ctx context.Context, s *Session, o *EdgeOperator) (*EdgeOperator, error) {
	if err := l.enter(ctx, s); err != nil || o != l.main() {
		return o, err
	}
	return l.now.main, nil
}

// enter decides the side of a round as the device does, before its first operator. In the first round, Begin has.
func (l *FusedLoop) enter(ctx context.Context, s *Session) error {
	if l.ran < len(l.Body) {
		return nil
	}
	l.ran = 0
	if !l.alternates() {
		return nil
	}
	from, to := l.now, l.sides[0]
	if l.Buckets != nil {
		from = l.sides[0]
	}
	if uint32(len(from.main.run.set.Active(from.main.run))) >= l.AtLeast {
		to = l.sides[1]
	}
	l.now = to
	if to == from {
		return nil
	}
	before := from.main.onDevice
	if err := l.awaited(ctx, s, to.main.Name+"/"+to.enter.Name, to.own()[0]); err != nil {
		return err
	}
	after, err := s.exchange(to.main)
	if err != nil {
		return err
	}
	if !slices.Equal(before.Vertices, after.Vertices) {
		return fmt.Errorf("%w: %s enters %d vertices, which are not the %d of the set", reference.ErrWrong, to.main.Name,
			len(after.Vertices), len(before.Vertices))
	}
	to.main.onDevice = before
	return nil
}

// after counts the operators of a round, behind which its set is counted.
func (l *FusedLoop) after(ctx context.Context, s *Session) error {
	if l.ran++; l.ran < len(l.Body) || l.Buckets != nil || l.now.count == nil {
		return nil
	}
	return l.awaited(ctx, s, l.Name+"/"+l.now.count.Name, l.now.counts())
}

// decidable returns an error for a rule that the device would not decide exactly as the host.
func (p *Plan) decidable() error {
	if a := p.alpha; p.changes() && (a != math.Trunc(a) || a < 0 || a > mostAlpha) {
		return fmt.Errorf("direction.alpha is %g: expected a whole number up to %d, by which the device multiplies edges",
			a, mostAlpha)
	}
	return nil
}

// mostAlpha bounds alpha so that its product with a number of edges is exact in a float64.
const mostAlpha = 1 << 20

// driverBytes is the room for the loop's driver.
func (l *FusedLoop) driverBytes() int { return driverBytes * len(l.sides) }

// Control words of a loop with two sides.
const (
	sideWord       = controlWords + 4*iota // the side of the coming round
	otherBase                              // of the second bank: address of the current state's argument blocks
	otherStep                              // and its parameter step
	beforeWord                             // vertices of the set before
	unexploredWord                         // edges that no set has had, with Once
	unpushedWord                           // edges minus those that sets have been pushed along; below 0: more
	loopControls
)

func (l *FusedLoop) controls() int {
	if len(l.sides) > 1 {
		return loopControls
	}
	return controlWords
}

// begin sets up the banks and what kernels and the lane count in.
func (l *FusedLoop) begin(d *driver) (err error) {
	if len(l.sides) == 1 {
		return nil
	}
	d.banks = []*bank{{of: l.sides[0].main.run, base: baseWord, step: stepWord}}
	if l.alternates() {
		d.banks = append(d.banks, &bank{of: l.sides[1].main.run, base: otherBase, step: otherStep})
	}
	at, err := d.allocate("driver.size", []uint32{0, 0})
	for _, o := range l.mains() {
		o.run.addresses[loopSize] = at
	}
	return err
}

// control sets the side of the first round, and what a rule knows of the sets before.
func (l *FusedLoop) control(words []uint32) {
	switch {
	case l.alternates():
		words[sideWord/4] = uint32(slices.Index(l.sides, l.now))
	case l.ofDirections():
		r := l.main().run
		s, f := r.look()
		d := r.decide(&f)
		words[sideWord/4], words[beforeWord/4] = uint32(d), uint32(s.Frontier)
		words[unexploredWord/4] = uint32(f.Unexplored - min(f.Unexplored, s.Edges))
		left := f.Unpushed
		if d == direction.Push {
			left -= int64(s.Edges)
		}
		words[unpushedWord/4] = uint32(int32(max(left, -1)))
	}
}

// copied tells the parameters of a kernel that fills one side's set with the other's which are of the latter.
func copied(parameter string) bool { return strings.HasPrefix(parameter, "active.") }

func (l *FusedLoop) copies(k *ir.Kernel) func(string) bool {
	if slices.ContainsFunc(l.sides, func(s *side) bool { return s.enter == k }) {
		return copied
	}
	return nil
}

// exports lays out the parameters that a side's set has for the kernel which enters the other's.
func (l *FusedLoop) exports(d *driver) {
	for i, s := range l.sides {
		if s.enter == nil {
			continue
		}
		out := &ir.Kernel{Name: "exports"}
		for _, p := range s.enter.Params {
			if copied(p.Name) {
				p.Word = len(out.Params)
				out.Params = append(out.Params, p)
			}
		}
		from := l.sides[1-i]
		d.calls = append(d.calls, &call{member: member{from.main.run, out, from.bank}, index: len(d.members) + i,
			bank: d.banks[from.bank]})
	}
}

// runAll writes the launches of kernels.
func (d *driver) runAll(list []member) {
	for _, m := range list {
		d.runKernel(m.kernel)
	}
}

// bySide writes the launches of kernels that may differ by side.
func (l *FusedLoop) bySide(d *driver, of func(s *side) []member) {
	first := of(l.sides[0])
	if len(l.sides) == 1 {
		d.runAll(first)
		return
	}
	second := of(l.sides[1])
	if slices.EqualFunc(first, second, func(a, b member) bool { return a.kernel == b.kernel }) {
		d.runAll(first)
		return
	}
	n := d.label()
	d.line(" li t0, 0x%x\n lw t0, %d(t0)\n beqz t0, 1f\n j other%d\n1:", d.control, sideWord, n)
	d.runAll(first)
	d.line(" j both%d\nother%d:", n, n)
	d.runAll(second)
	d.line("both%d:", n)
}

// emitCount writes the count of the set that the round has made, or that has been taken out of a queue.
func (l *FusedLoop) emitCount(d *driver) {
	counts := func(s *side) (list []member) {
		if s.count != nil {
			list = append(list, s.counts())
		}
		return list
	}
	if l.Buckets != nil {
		d.runAll(counts(l.sides[0]))
		return
	}
	l.bySide(d, counts)
}

// advance writes the end of a round, as the driver's does, and the choice of the next one's side.
func (l *FusedLoop) advance(d *driver) {
	d.line(" li s0, 0x%x", d.control)
	if d.limit > 0 {
		d.line(" lw s5, %d(s0)\n addi s5, s5, 1\n sw s5, %d(s0)", stepsWord, stepsWord)
	}
	first := l.sides[0]
	if l.alternates() && l.Buckets == nil {
		d.line(" lw t0, %d(s0)\n beqz t0, 1f\n j exchange1\n1:", sideWord)
		l.turn(d, first)
		d.line(" j exchanged\nexchange1:")
		l.turn(d, l.sides[1])
		d.line("exchanged:")
	} else {
		l.turn(d, first)
	}
	d.use(d.banks[0])
	if l.Counted {
		d.line(" li t0, %d\n bne s5, t0, 1f", d.limit)
		d.decide(toEnd)
		d.line("1:")
		l.choose(d)
		return
	}
	d.line(" bnez s1, 1f\n j refill\n1:")
	d.checkLimit()
	l.choose(d)
	d.line("refill:")
	l.refill(d)
	d.line("over:")
	d.decide(toEnd)
}

// turn exchanges the set of a side. s1 has its size, and s2 the edges of its vertices if they are counted.
func (l *FusedLoop) turn(d *driver, s *side) {
	d.use(d.banks[s.bank])
	d.line(" lw s4, %d(s0)", d.base)
	d.turn()
	if s.count != nil {
		d.line(" li t0, 0x%x\n lw s1, 0(t0)\n lw s2, 4(t0)\n sw zero, 0(t0)\n sw zero, 4(t0)",
			l.main().run.addresses[loopSize])
	}
}

// choose decides the side of the next round.
func (l *FusedLoop) choose(d *driver) {
	if l.ofDirections() {
		l.chooseDirection(d)
		return
	}
	d.line(" li t0, 0x%x\n sltu t1, s1, t0\n xori t1, t1, 1\n lw t2, %d(s0)\n sw t1, %d(s0)", l.AtLeast, sideWord,
		sideWord)
	if l.Buckets != nil {
		d.line(" mv t2, zero")
	}
	d.line(" beq t1, t2, unchanged\n bnez t1, 1f")
	if l.Buckets == nil {
		l.copy(d, 0)
		d.decide(toFirstSide)
	}
	d.line("1:")
	l.copy(d, 1)
	d.decide(toSecondSide)
	d.line("unchanged:")
	d.decide(toSuperStep)
}

// copy copies the parameters of the set that has been made, whose state is s4, for the kernel that enters a side.
func (l *FusedLoop) copy(d *driver, to int) {
	k := l.sides[to].enter
	enters, out := d.callsOf(k)[0], (*call)(nil)
	for _, c := range d.calls {
		if c.index == len(d.members)+to {
			out = c
		}
	}
	d.line(" lw t1, %d(s0)", enters.bank.base)
	n := uint32(0)
	for _, p := range k.Params {
		if copied(p.Name) {
			d.line(" lw t0, %d(s4)\n sw t0, %d(t1)", out.at+4*n, enters.at+uint32(4*p.Word))
			n++
		}
	}
}

// chooseDirection decides by the rule of the plan's direction, in whole numbers: s1 vertices with s2 edges.
func (l *FusedLoop) chooseDirection(d *driver) {
	p, w := l.main().Plan, l.main().run.workload
	all, n := uint64(d.problem.Graph.Edges()), uint64(d.problem.Graph.Vertices())
	// times branches to pull if the edges times alpha are more than those in t5.
	times := func() {
		d.line(" li t2, %d\n mulhu t3, s2, t2\n mul t4, s2, t2\n bnez t3, pull\n bltu t5, t4, pull", uint32(w.Alpha))
	}
	d.line(" lw t0, %d(s0)\n lw t1, %d(s0)\n sw s1, %d(s0)\n sltu t1, t1, s1", sideWord, beforeWord, beforeWord)
	if p.Rule == direction.SEPGraph {
		least := leastWith(n, func(v uint64) bool { return float64(v)*w.Beta > float64(n) })
		d.line(" beqz t0, 1f\n li t2, 0x%x\n bgeu s1, t2, pull\n1:\n lw t5, %d(s0)\n bltz t5, push", least, unpushedWord)
		times()
		d.line(" j push")
	} else {
		least := leastWith(n, func(v uint64) bool { return float64(v)*w.Beta >= float64(n) })
		d.line(" bnez t0, 1f\n beqz t1, push")
		if p.Algorithm.Once {
			d.line(" lw t5, %d(s0)", unexploredWord)
		} else {
			d.line(" li t5, 0x%x", all)
		}
		times()
		d.line(" j push\n1:\n bnez t1, pull\n li t2, 0x%x\n bgeu s1, t2, pull", least)
	}
	d.line("push:\n sw zero, %d(s0)", sideWord)
	d.line(" lw t5, %d(s0)\n bltz t5, chosen\n sub t5, t5, s2\n sw t5, %d(s0)\n j chosen", unpushedWord,
		unpushedWord)
	d.line("pull:\n li t0, 1\n sw t0, %d(s0)\nchosen:", sideWord)
	d.line(" lw t5, %d(s0)\n sub t4, t5, s2\n bgeu t5, s2, 1f\n mv t4, zero\n1:\n sw t4, %d(s0)", unexploredWord,
		unexploredWord)
	d.decide(toSuperStep)
}

// leastWith returns the smallest number up to most for which a monotonic condition holds; more than any set's size:
// for none.
func leastWith(most uint64, holds func(n uint64) bool) uint64 {
	least := uint64(sort.Search(int(most)+1, func(n int) bool { return holds(uint64(n)) }))
	if least > most {
		return math.MaxUint32
	}
	return least
}

// emitEnters writes the parts that fill one side's set with the other's.
func (l *FusedLoop) emitEnters(d *driver) {
	for i, s := range l.sides {
		if s.enter == nil {
			continue
		}
		d.line("enter%d:", i)
		d.runKernel(s.enter)
		d.singleLane("advanced")
		d.use(d.banks[s.bank])
		d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, d.base)
		d.turn()
		d.decide(toSuperStep)
	}
	d.use(d.banks[0])
}

func (l *FusedLoop) enters(d *driver) {
	for i, s := range l.sides {
		if s.enter != nil {
			d.line(" li t0, %d\n bne s1, t0, 1f\n j enter%d\n1:", toFirstSide+i, i)
		}
	}
}
