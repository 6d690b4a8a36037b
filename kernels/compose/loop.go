package compose

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/activeset"
	"heddle/kernels/codegen"
	"heddle/kernels/emit"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/reference"
)

// FusedLoop is a loop of a program that runs as one launch (UGF, §5.2.1): its operators are parts of a driver's
// program, and one lane decides whether there is another round. At most one operator reads a set, its active set, and
// the operator that makes the set of the next round adds to the same. The host executes the loop beside it, as in a
// fused run.
//
// A session is inside the loop between Session.Begin and End: the runs of its operators await their kernels (inLoop),
// and launches wait for parts.
type FusedLoop struct {
	Name string
	Body []LoopOperator // the operators of a round, in order
	// Counted loops have a number of rounds that the host knows in advance; others continue while the round has made a
	// non-empty set, or a queue has a non-empty bucket.
	Counted bool
	Buckets *Buckets // the queue that a round takes its set from; nil: Body makes the set, or there is none
	Lists   []*List  // of sets, that a round appends a set to or pops one off
	// AtLeast is the smallest number of vertices of a round's set for which its operator's Above runs.
	AtLeast uint32

	sides    []*side
	now      *side // that the current round runs, on the host
	ran      int   // operators of Body that the current round has run, on the host
	compiled map[*ir.Kernel]*codegen.Compiled
	base     uint32
	barrier  int
	placed   map[string]uint32
	fused    *fused
}

// LoopOperator is an operator of a loop: over edges or over vertices.
type LoopOperator struct {
	Edges    *EdgeOperator
	Above    *EdgeOperator // runs in place of Edges, which reads the loop's set, if the set is large; nil: never
	Vertices *VertexOperator
	// Filled: Vertices walks the set that this round has made; otherwise, if it walks a set, the active one.
	Filled bool
}

// Buckets describes how a loop takes a set out of a queue: Takes adds the vertices of the current bucket, and if there
// are none, Finds looks for the least priority of a waiting vertex.
type Buckets struct {
	Takes, Finds *VertexOperator
	// Least is an array of two words that Finds sets: the least priority, initially Greatest, and whether there is one.
	Least    string
	Greatest uint32
	Signed   bool
	Delta    uint32 // priorities of a bucket
	// Priority and Below are the parameters for the bounds of the current bucket.
	Priority, Below string
}

// mostInLoop bounds the operators of a loop, so that all parameters are within the reach of a store.
const mostInLoop = 16

// main returns the operator whose active set is the loop's: the one that reads a set, or else the first.
func (l *FusedLoop) main() (o *EdgeOperator) {
	for _, x := range l.Body {
		if x.Edges != nil && (o == nil || !x.Edges.Plan.Algorithm.Dense) {
			o = x.Edges
		}
	}
	return o
}

// Main returns the operator whose active set is the loop's.
func (l *FusedLoop) Main() *EdgeOperator { return l.main() }

// Kernel builds the kernel of an operator over vertices within the loop, for cores with a number of warps; 0: all.
func (l *FusedLoop) Kernel(x LoopOperator, warps int) (*ir.Kernel, error) {
	return l.kernel(x, l.main().Plan, warps)
}

// madeBy reports whether an edge operator makes the set of the next round.
func (l *FusedLoop) madeBy(o *EdgeOperator) bool {
	return l.isMain(o) && !o.Plan.Algorithm.Dense && !o.Plan.Algorithm.Silent
}

// edges returns the edge operators.
func (l *FusedLoop) edges() (list []*EdgeOperator) {
	for _, x := range l.Body {
		if x.Edges != nil {
			list = append(list, x.Edges)
		}
		if x.Above != nil {
			list = append(list, x.Above)
		}
	}
	return list
}

// vertices returns the vertex operators, including those of the queue.
func (l *FusedLoop) vertices() (list []LoopOperator) {
	for _, x := range l.Body {
		if x.Vertices != nil {
			list = append(list, x)
		}
	}
	if q := l.Buckets; q != nil {
		list = append(list, LoopOperator{Vertices: q.Takes}, LoopOperator{Vertices: q.Finds})
	}
	return list
}

// Refused returns the reason for which a loop cannot be fused on a machine; nil: it can.
func (l *FusedLoop) Refused(s host.Shape) error {
	if n := len(l.Body); n > mostInLoop {
		return fmt.Errorf("it has %d operators: expected at most %d", n, mostInLoop)
	}
	reads := 0
	for _, o := range l.edges() {
		p := *o.Plan
		p.Fused, p.inLoop = true, l.isMain(o)
		if r := p.breaks(); r != nil {
			return &Refused{Plan: o.Name, Why: r.why}
		}
		if err := p.Runs(s); err != nil {
			return err
		}
		if p.Schedule.Unit.ReadsRows() {
			reads++
		}
	}
	switch main := l.main(); {
	case main == nil:
		return fmt.Errorf("it has no operator over edges")
	case reads > 1:
		return fmt.Errorf("several operators have the graph unit read edges, and the host sets it up for each")
	case main.Plan.changes() && l.alternates():
		return fmt.Errorf("%s has two schedules, one of which changes its direction", main.Name)
	case slices.ContainsFunc(l.Body, func(x LoopOperator) bool { return x.Vertices != nil && x.Vertices.Listed }):
		for _, o := range l.mains() {
			if err := o.Plan.once(); err != nil {
				return err
			}
		}
	}
	return l.main().Plan.decidable()
}

// once returns an error for an active set that vertex operators cannot walk, or that can hold a vertex several times.
func (p *Plan) once() error {
	switch {
	case p.Set.OfUnit || p.Set.Sized:
		return fmt.Errorf("an operator over its vertices cannot walk frontier %s", p.Set.Name)
	case p.Set.Lists && !p.Dedup.Exact() && p.Algorithm.Sum.Often():
		return fmt.Errorf("a vertex may be in the %s several times, and an operator over its vertices would have it "+
			"as often: give configDeduplication", p.Set.Name)
	}
	return nil
}

// compile compiles the parts of the loop's program, at addresses from base on.
func (l *FusedLoop) compile(s host.Shape, base uint32, warps int) (graph.Region, error) {
	l.base, l.placed, l.compiled = base, map[string]uint32{}, map[*ir.Kernel]*codegen.Compiled{}
	if err := l.makeSides(s, warps); err != nil {
		return graph.Region{}, err
	}
	for _, o := range l.edges() {
		p := *o.Plan
		p.Fused = true
		n := 0
		if s.Cores == 1 {
			var err error
			if n, err = p.freeBarrier(s); err != nil {
				return graph.Region{}, err
			}
		}
		l.barrier = max(l.barrier, n)
	}
	options := partOptions(base, l.driverBytes(), s)
	var before *codegen.Compiled
	for i, m := range l.members() {
		o := options(i, before)
		o.FloatSpills = l.main().Plan.Spill == SpillRegisters
		o.Sink = l.main().Plan.Unroll == UnrollAuto
		OnGPU(&o, s)
		c, err := codegen.Compile(m.kernel, o)
		if err != nil {
			return graph.Region{}, err
		}
		l.compiled[m.kernel], before = c, c
	}
	return graph.Region{Name: "program " + l.Name, Addr: base, Size: end(before.Program) - uint64(base)}, nil
}

// kernel builds the kernel of a vertex operator, with the set of a plan in place of lists of its own.
func (l *FusedLoop) kernel(x LoopOperator, p *Plan, warps int) (*ir.Kernel, error) {
	o := x.Vertices
	k := emit.New(o.Name)
	k.Launch(warps, 0)
	alone, err := activeset.DedupByName("none") // each vertex is visited once
	if err != nil {
		return nil, err
	}
	set := p.Set.In(k, alone)
	// Takes can run several times without a gather between, which would clear the set.
	if l.Buckets != nil && o == l.Buckets.Takes {
		k.Phase(isa.PhaseInit, set.Clear)
	}
	k.Phase(isa.PhaseApply, func() {
		handle := func(v ir.Value) {
			if keep := o.Emit(k, v); o.Keeps {
				k.When(keep, func() { set.Add(v) })
			}
		}
		switch {
		case o.Each != nil:
			o.Each(k, handle)
			return
		case !o.Listed:
			k.Strided(k.Count("vertices"), handle)
			return
		}
		walked := set
		if x.Filled {
			walked = p.Set.Filled(k)
		}
		k.Strided(walked.Places(), func(place ir.Value) {
			v := walked.Vertex(place)
			if holds := walked.Holds(v); holds != nil {
				k.When(holds, func() { handle(v) })
				return
			}
			handle(v)
		})
	})
	return k.Build()
}

// members returns the kernels of a round, those that take a bucket and find the next, and a hybrid's own. Vertex
// operators receive the arguments of the main operator's run.
func (l *FusedLoop) members() []member {
	var all []member
	for i := range l.Body {
		for _, s := range l.sides {
			all = append(all, l.membersOf(&l.Body[i], s)...)
		}
	}
	if q := l.Buckets; q != nil {
		all = append(all, l.membersOf(&LoopOperator{Vertices: q.Takes}, l.sides[0])...)
		all = append(all, l.membersOf(&LoopOperator{Vertices: q.Finds}, l.sides[0])...)
	}
	for _, s := range l.sides {
		all = append(all, s.own()...)
	}
	var once []member
	seen := map[*ir.Kernel]bool{}
	for _, m := range all {
		if !seen[m.kernel] {
			once = append(once, m)
		}
		seen[m.kernel] = true
	}
	return once
}

// membersOf returns the kernels of an operator on one side.
func (l *FusedLoop) membersOf(x *LoopOperator, s *side) (list []member) {
	if v := x.Vertices; v != nil {
		if k := s.kernels[v]; k != l.sides[0].kernels[v] {
			return []member{{s.main.run, k, s.bank}}
		}
		return []member{{l.main().run, s.kernels[v], 0}}
	}
	o, d, bank := x.Edges, x.Edges.Plan.Direction.Uses[0], 0
	if o == l.main() {
		o, d, bank = s.main, s.direction, s.bank
	}
	for _, k := range []*ir.Kernel{o.kernels.Topology[d], o.kernels.Lists[d], o.kernels.Gather[d]} {
		if k != nil {
			list = append(list, member{o.run, k, bank})
		}
	}
	return list
}

// changes reports whether the loop's driver writes a parameter.
func (l *FusedLoop) changes(parameter string) bool {
	return l.Buckets != nil && (parameter == l.Buckets.Priority || parameter == l.Buckets.Below)
}

// Begin starts a loop on the device with a set, and with at least one round if the loop is counted. Of others, rounds
// are those after which it ends even if its set is not empty; 0: there is no such number. Operators that the
// session runs next are the loop's, until End or Close.
func (s *Session) Begin(l *FusedLoop, in *Frontier, rounds int) error {
	l.now, l.ran = l.first(in), 0
	main := l.now.main
	for _, o := range l.edges() {
		s.takeUnits(o)
	}
	if !main.Plan.Algorithm.Dense && (in != main.onDevice || in == nil) {
		if err := s.start(main, in); err != nil {
			return err
		}
		main.onDevice = in
	}
	r := l.main().run
	d := driver{
		run: r, shape: r.Shape(), begins: l.base, bytes: l.driverBytes(), members: l.members(), programs: l.compiled,
		body: l, earlier: l.placed, barrierID: l.barrier,
	}
	d.limit = rounds
	if err := l.begin(&d); err != nil {
		return err
	}
	if q := l.Buckets; q != nil {
		s.Write(q.Least, 0, q.Greatest)
		s.Write(q.Least, 1, 0)
	}
	if err := d.layOut(); err != nil {
		return err
	}
	f := &fused{run: r, driver: d}
	var err error
	if f.program, err = f.driver.link(); err != nil {
		return err
	}
	for _, r := range f.driver.runs() {
		r.zero()
		if at, ok := r.addresses[rowsSize]; ok {
			r.WriteWords(at, []uint32{0})
		}
		if err := r.setUpGather(); err != nil {
			return err
		}
		f.attach(r)
	}
	s.mode, l.fused = l, f
	return nil
}

// End runs the device to the end of the loop, where the host's loop has ended.
func (s *Session) End() error {
	l := s.mode.(*FusedLoop)
	err := l.fused.finish()
	l.between(s, s.Steps)
	if n := len(s.Launched); n > 0 { // the last part stands for the launch
		s.Launched[n-1].Part = false
	}
	l.leave(s)
	return err
}

// Close aborts a loop that has not been awaited. It may be called at any time.
func (s *Session) Close() { s.mode.abort(s) }

func (l *FusedLoop) abort(s *Session) {
	l.fused.end()
	l.leave(s)
}

func (l *FusedLoop) leave(s *Session) {
	for _, r := range l.fused.driver.runs() {
		detach(r)
	}
	s.mode = byLaunch{}
}

func (l *FusedLoop) start(*Session, *EdgeOperator, *Frontier) error {
	return errors.New("BUG: compose: the set that an operator in a fused loop reads")
}

func (l *FusedLoop) exchanges(o *EdgeOperator) bool { return l.madeBy(o) }
func (l *FusedLoop) parts() bool                    { return true }

// write does nothing: the device writes the word.
func (l *FusedLoop) write(*Session, string, int, uint32) {}

// between records the device's parts between kernels.
func (l *FusedLoop) between(s *Session, step int) {
	r := l.fused.run
	for i := range r.Loops {
		s.Launched = append(s.Launched, Launched{Step: step, Kernel: l.Name + "/" + loopPart,
			Result: r.Loops[i].Result, Part: true})
	}
	r.Loops = nil
	s.bookTimes(r)
}

// runVertices awaits a vertex operator. The vertices that it keeps form the set of the next round.
func (l *FusedLoop) runVertices(ctx context.Context, s *Session, o *VertexOperator, _ *Frontier) (*Frontier, error) {
	q := l.Buckets
	queues := q != nil && (o == q.Takes || o == q.Finds)
	here := l.sides[0]
	if !queues {
		if err := l.enter(ctx, s); err != nil {
			return nil, err
		}
		here = l.now
	}
	m := l.membersOf(&LoopOperator{Vertices: o}, here)[0]
	if err := l.awaited(ctx, s, o.Name, m); err != nil {
		return nil, err
	}
	if err := l.sameBucket(s, o); err != nil {
		return nil, err
	}
	var out *Frontier
	if o.Keeps {
		var err error
		if out, err = s.exchange(here.main); err != nil {
			return nil, err
		}
	}
	switch {
	case !queues:
		return out, l.after(ctx, s)
	case o == q.Takes && here.count != nil:
		return out, l.awaited(ctx, s, here.count.Name, here.counts())
	}
	return out, nil
}

// awaited awaits a kernel, and lists it as a part of the launch.
func (l *FusedLoop) awaited(ctx context.Context, s *Session, name string, m member) error {
	res, err := m.run.launch(ctx, m.kernel)
	l.between(s, s.Steps)
	if err == nil {
		s.Launched = append(s.Launched, Launched{Step: s.Steps, Kernel: name, Result: res, Part: true})
	}
	return err
}

// sameBucket fails unless the device takes the same bucket out of a queue as the host.
func (l *FusedLoop) sameBucket(s *Session, o *VertexOperator) error {
	q := l.Buckets
	if q == nil || o != q.Takes {
		return nil
	}
	d, words := &l.fused.driver, s.words()
	for _, name := range []string{q.Priority, q.Below} {
		for _, at := range d.banks[0].changes[name] {
			word := []uint32{0}
			if s.device.ReadWords(d.banks[0].blocks+at, word); word[0] != words[name] {
				return fmt.Errorf("%w: the device's bucket has %s = %d where the host's has %d",
					reference.ErrWrong, name, int32(word[0]), int32(words[name]))
			}
		}
	}
	return nil
}

func (l *FusedLoop) title(*driver) string     { return l.Name }
func (l *FusedLoop) array(name string) string { return l.Name + " " + name }
func (l *FusedLoop) takes() bool              { return l.Buckets != nil }
func (l *FusedLoop) counts() bool             { return l.Counted }

// emit writes a round, with the decision whether there is another one.
func (l *FusedLoop) emit(d *driver) {
	d.line("superstep:")
	for i := range l.Body {
		l.bySide(d, func(s *side) []member { return l.membersOf(&l.Body[i], s) })
	}
	takes, finds := []member(nil), []member(nil)
	if q := l.Buckets; q != nil {
		takes = l.membersOf(&LoopOperator{Vertices: q.Takes}, l.sides[0])
		finds = l.membersOf(&LoopOperator{Vertices: q.Finds}, l.sides[0])
		d.line("take:")
		d.runAll(takes)
	}
	l.emitCount(d)
	d.singleLane("advanced")
	l.settleLists(d)
	if len(l.sides) > 1 {
		l.advance(d)
	} else {
		d.advance()
	}
	if l.takes() {
		d.line("sift:")
		d.runAll(finds)
		d.singleLane("advanced")
		d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
		d.bucket(l.Buckets)
	}
	l.emitEnters(d)
}

// untilCounted ends a loop after the known number of rounds.
func (d *driver) untilCounted() {
	d.line(" li t0, %d\n bne s5, t0, 1f", d.limit)
	d.decide(toEnd)
	d.line("1:")
	d.decide(toSuperStep)
}

// refill looks for the next bucket when the current one is empty.
func (l *FusedLoop) refill(d *driver) {
	if l.takes() {
		d.decide(toSift)
	}
}

// bucket makes the bucket of the least waiting priority the current one, or ends the loop if no vertex waits.
func (d *driver) bucket(q *Buckets) {
	rem, bge := "remu", "bgeu"
	if q.Signed {
		rem, bge = "rem", "bge"
	}
	d.line(" li t0, 0x%x\n lw t1, 0(t0)\n lw t2, 4(t0)\n bnez t2, 1f\n j over\n1:", d.addresses[q.Least])
	d.line(" li t2, 0x%x\n sw t2, 0(t0)\n sw zero, 4(t0)", q.Greatest)
	d.line(" li t3, %d\n %s t4, t1, t3", q.Delta, rem)
	if q.Signed { // rounds down: a bucket begins at a multiple of delta
		d.line(" bgez t4, 1f\n add t4, t4, t3\n1:")
	}
	// The end of the last bucket saturates at the greatest priority.
	d.line(" sub t5, t1, t4\n sub t3, t3, t4\n add t3, t1, t3\n %s t3, t1, 1f\n mv t3, t2\n1:", bge)
	d.setAlways(q.Priority, "t5")
	d.setAlways(q.Below, "t3")
	d.decide(toTake)
}
