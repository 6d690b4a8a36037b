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

	kernels  map[*VertexOperator]*ir.Kernel
	compiled map[*ir.Kernel]*codegen.Compiled
	base     uint32
	barrier  int
	placed   map[string]uint32
	fused    *fused
}

// LoopOperator is an operator of a loop: over edges or over vertices.
type LoopOperator struct {
	Edges    *EdgeOperator
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
func (l *FusedLoop) Kernel(x LoopOperator, warps int) (*ir.Kernel, error) { return l.kernel(x, warps) }

// madeBy reports whether an edge operator makes the set of the next round.
func (l *FusedLoop) madeBy(o *EdgeOperator) bool {
	return o == l.main() && !o.Plan.Algorithm.Dense && !o.Plan.Algorithm.Silent
}

// edges returns the edge operators.
func (l *FusedLoop) edges() (list []*EdgeOperator) {
	for _, x := range l.Body {
		if x.Edges != nil {
			list = append(list, x.Edges)
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
		p.Fused = true
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
	case slices.ContainsFunc(l.Body, func(x LoopOperator) bool { return x.Vertices != nil && x.Vertices.Listed }):
		return main.Plan.once()
	}
	return nil
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
	l.base, l.placed = base, map[string]uint32{}
	l.kernels, l.compiled = map[*VertexOperator]*ir.Kernel{}, map[*ir.Kernel]*codegen.Compiled{}
	for _, x := range l.vertices() {
		k, err := l.kernel(x, warps)
		if err != nil {
			return graph.Region{}, err
		}
		l.kernels[x.Vertices] = k
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
	options := partOptions(base, driverBytes, s)
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

// kernel builds the kernel of a vertex operator, with the loop's set in place of lists of its own.
func (l *FusedLoop) kernel(x LoopOperator, warps int) (*ir.Kernel, error) {
	o, p := x.Vertices, l.main().Plan
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

// members returns the kernels of a round, and those that take a bucket and find the next. Vertex operators receive the
// arguments of the main operator's run.
func (l *FusedLoop) members() (list []member) {
	main := l.main().run
	for _, x := range l.Body {
		if x.Edges != nil {
			list = append(list, x.Edges.members()...)
			continue
		}
		list = append(list, member{main, l.kernels[x.Vertices]})
	}
	if q := l.Buckets; q != nil {
		list = append(list, member{main, l.kernels[q.Takes]}, member{main, l.kernels[q.Finds]})
	}
	return list
}

// members returns an operator's kernels in order.
func (o *EdgeOperator) members() (list []member) {
	d := o.Plan.Direction.Uses[0]
	for _, k := range []*ir.Kernel{o.kernels.Topology[d], o.kernels.Lists[d], o.kernels.Gather[d]} {
		if k != nil {
			list = append(list, member{o.run, k})
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
	main := l.main()
	for _, o := range l.edges() {
		s.takeUnits(o)
	}
	if !main.Plan.Algorithm.Dense && (in != main.onDevice || in == nil) {
		if err := s.start(main, in); err != nil {
			return err
		}
		main.onDevice = in
	}
	r := main.run
	d := driver{
		run: r, shape: r.Shape(), base: l.base, bytes: driverBytes, members: l.members(), programs: l.compiled,
		body: l, earlier: l.placed, barrierID: l.barrier,
	}
	d.limit = rounds
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
	main := l.main()
	res, err := main.run.launch(ctx, l.kernels[o])
	l.between(s, s.Steps)
	if err != nil {
		return nil, err
	}
	s.Launched = append(s.Launched, Launched{Step: s.Steps, Kernel: o.Name, Result: res, Part: true})
	if err := l.sameBucket(s, o); err != nil {
		return nil, err
	}
	if !o.Keeps {
		return nil, nil
	}
	return s.exchange(main)
}

// sameBucket fails unless the device takes the same bucket out of a queue as the host.
func (l *FusedLoop) sameBucket(s *Session, o *VertexOperator) error {
	q := l.Buckets
	if q == nil || o != q.Takes {
		return nil
	}
	d, words := &l.fused.driver, s.words()
	for _, name := range []string{q.Priority, q.Below} {
		for _, at := range d.changes[name] {
			word := []uint32{0}
			if s.device.ReadWords(d.blocks+at, word); word[0] != words[name] {
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
	for _, m := range d.members {
		switch q := l.Buckets; {
		case q != nil && m.kernel == l.kernels[q.Finds]:
			continue
		case q != nil && m.kernel == l.kernels[q.Takes]:
			d.line("take:")
		}
		d.runKernel(m.kernel)
	}
	d.singleLane("advanced")
	l.settleLists(d)
	d.advance()
	if l.takes() {
		d.line("sift:")
		d.runKernel(l.kernels[l.Buckets.Finds])
		d.singleLane("advanced")
		d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
		d.bucket(l.Buckets)
	}
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
