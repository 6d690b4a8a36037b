package compose

import (
	"context"
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

// FusedLoop is a loop of a program that is one launch (UGF, §5.2.1): its operators are parts of a driver's program, and
// one lane decides whether there is another round. At most one of them reads a set, which is its active set, and what
// makes the set of the next round adds to that one's. The host's loop goes along, as in a fused run.
type FusedLoop struct {
	Name string
	Body []LoopOperator // what a round does, in order
	// Counted says that there are as many rounds as the host has counted before; otherwise there is another one if the
	// round has made a set that is not empty, or a queue has a bucket that is not.
	Counted bool
	Buckets *Buckets // of a queue that a round takes its set from; nil: Body makes it, or there is none

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
	// the vertices are those of the set that the round has made; otherwise, if they are a set's, of the active one
	Filled bool
}

// Buckets are how a loop takes a set out of a queue: Takes adds the vertices of the current bucket, and if there are
// none Finds looks for the least priority that waits.
type Buckets struct {
	Takes, Finds *VertexOperator
	// Least is an array of two words that Finds changes: the least priority, from Greatest on, and whether there is
	// one.
	Least    string
	Greatest uint32
	Signed   bool
	Delta    uint32 // priorities of a bucket
	// Priority and Below are the parameters that say where the current bucket begins, and where it ends.
	Priority, Below string
}

// mostInLoop is how many operators a loop may have: their parameters are within a store's reach of each other.
const mostInLoop = 16

// main is the operator whose active set is the loop's: the one that reads a set, or else the first.
func (l *FusedLoop) main() (o *EdgeOperator) {
	for _, x := range l.Body {
		if x.Edges != nil && (o == nil || !x.Edges.Plan.Algorithm.Dense) {
			o = x.Edges
		}
	}
	return o
}

// madeBy reports whether an operator over edges makes the set of the next round.
func (l *FusedLoop) madeBy(o *EdgeOperator) bool {
	return o == l.main() && !o.Plan.Algorithm.Dense && !o.Plan.Algorithm.Silent
}

// edges are the operators over edges.
func (l *FusedLoop) edges() (list []*EdgeOperator) {
	for _, x := range l.Body {
		if x.Edges != nil {
			list = append(list, x.Edges)
		}
	}
	return list
}

// vertices are the operators over vertices, with those of the queue.
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

// Refused says why a loop cannot be fused on a machine; nil: it can.
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
		if p.Schedule.Reads {
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

// once refuses an active set that cannot be walked apart from edges, or that a vertex may be in several times.
func (p *Plan) once() error {
	switch {
	case p.Set.OfUnit || p.Set.Sized:
		return fmt.Errorf("an operator over its vertices cannot walk active_set %s", p.Set.Name)
	case p.Set.Lists && !p.Dedup.Exact() && p.Algorithm.Sum.Often():
		return fmt.Errorf("a vertex may be in the %s several times, and an operator over its vertices would have it as often: "+
			"give configDeduplication", p.Set.Name)
	}
	return nil
}

// compile makes the parts of the loop's program, which lie from base on.
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
		c, err := codegen.Compile(m.kernel, o)
		if err != nil {
			return graph.Region{}, err
		}
		l.compiled[m.kernel], before = c, c
	}
	return graph.Region{Name: "program " + l.Name, Addr: base, Size: end(before.Program) - uint64(base)}, nil
}

// kernel writes an operator over vertices, with the loop's set in place of lists of its own.
func (l *FusedLoop) kernel(x LoopOperator, warps int) (*ir.Kernel, error) {
	o, p := x.Vertices, l.main().Plan
	k := emit.New(o.Name)
	k.Launch(warps, 0)
	alone, err := activeset.DedupByName("none") // a vertex is asked once
	if err != nil {
		return nil, err
	}
	set := p.Set.In(k, alone)
	// several may come one behind the other, without a gather between them
	if l.Buckets != nil && o == l.Buckets.Takes {
		k.Phase(isa.PhaseInit, set.Clear)
	}
	k.Phase(isa.PhaseApply, func() {
		handle := func(v ir.Value) {
			if keep := o.Emit(k, v); o.Keeps {
				k.When(keep, func() { set.Add(v) })
			}
		}
		if !o.Listed {
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

// members are the kernels of a round, and what finds the next bucket. Operators over vertices are handed what the main
// operator's kernels are.
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

// members are an operator's kernels, in their order.
func (o *EdgeOperator) members() (list []member) {
	d := o.Plan.Direction.Uses[0]
	for _, k := range []*ir.Kernel{o.kernels.Topology[d], o.kernels.Lists[d], o.kernels.Gather[d]} {
		if k != nil {
			list = append(list, member{o.run, k})
		}
	}
	return list
}

// changes reports whether a parameter is one that the loop's driver writes.
func (l *FusedLoop) changes(parameter string) bool {
	return l != nil && l.Buckets != nil && (parameter == l.Buckets.Priority || parameter == l.Buckets.Below)
}

// Begin has the device begin a loop with a set, and with a number of rounds if it counts them: at least one. Operators
// that follow are the loop's, up to End.
func (s *Session) Begin(l *FusedLoop, in *Frontier, rounds int) error {
	main := l.main()
	for _, o := range l.edges() {
		s.own(o)
	}
	if !main.Plan.Algorithm.Dense && (in != main.holds || in == nil) {
		if err := s.start(main, in); err != nil {
			return err
		}
		main.holds = in
	}
	r := main.run
	d := driver{
		run: r, shape: r.Shape(), base: l.base, bytes: driverBytes, members: l.members(), programs: l.compiled,
		loop: l, placed: l.placed, barrierID: l.barrier,
	}
	if l.Counted {
		d.limit = rounds
	}
	if q := l.Buckets; q != nil {
		s.Write(q.Least, 0, q.Greatest)
		s.Write(q.Least, 1, 0)
	}
	if err := d.lay(); err != nil {
		return err
	}
	f := &fused{run: r, driver: d}
	var err error
	if f.program, err = f.driver.link(); err != nil {
		return err
	}
	f.device = r.machine.(host.Parted)
	for _, r := range f.driver.runs() {
		r.zero()
		if at, ok := r.places[rowsSize]; ok {
			r.WriteWords(at, []uint32{0})
		}
		if err := r.setUpGather(); err != nil {
			return err
		}
		r.fused, r.machine = f, onlooker{r.machine}
	}
	s.loop, l.fused = l, f
	return nil
}

// End has the device end the loop that it is in, where the host's has.
func (s *Session) End() error {
	err := s.loop.fused.finish()
	s.bookLoop(s.Steps)
	if n := len(s.Launched); n > 0 { // the last of its parts stands for the launch
		s.Launched[n-1].Part = false
	}
	s.leave()
	return err
}

// Close ends a loop that has not been waited for.
func (s *Session) Close() {
	if s.loop != nil {
		s.loop.fused.end()
		s.leave()
	}
}

func (s *Session) leave() {
	f := s.loop.fused
	for _, r := range f.driver.runs() {
		r.fused, r.machine = nil, r.machine.(onlooker).machine
	}
	s.loop = nil
}

// bookLoop books what the device has done between kernels.
func (s *Session) bookLoop(step int) {
	if s.loop == nil {
		return
	}
	r := s.loop.fused.run
	for i := range r.Loops {
		s.Launched = append(s.Launched, Launched{Step: step, Kernel: s.loop.Name + "/" + loopPart,
			Result: r.Loops[i].Result, Part: true})
	}
	r.Loops = nil
	s.bookTimes(r)
}

// verticesInLoop waits for an operator over vertices. What it keeps is the next round's set.
func (s *Session) verticesInLoop(ctx context.Context, o *VertexOperator) (*Frontier, error) {
	main := s.loop.main()
	res, err := main.run.launch(ctx, s.loop.kernels[o])
	s.bookLoop(s.Steps)
	if err != nil {
		return nil, err
	}
	s.Launched = append(s.Launched, Launched{Step: s.Steps, Kernel: o.Name, Result: res, Part: true})
	if err := s.sameBucket(o); err != nil {
		return nil, err
	}
	if !o.Keeps {
		return nil, nil
	}
	return s.exchange(main)
}

// sameBucket holds the device to the bucket that the host takes out of a queue.
func (s *Session) sameBucket(o *VertexOperator) error {
	q := s.loop.Buckets
	if q == nil || o != q.Takes {
		return nil
	}
	d, words := &s.loop.fused.driver, s.words()
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

// round runs a loop's operators, and decides whether there is another round.
func (d *driver) round() {
	d.line("superstep:")
	for _, m := range d.members {
		switch q := d.loop.Buckets; {
		case q != nil && m.kernel == d.loop.kernels[q.Finds]:
			continue
		case q != nil && m.kernel == d.loop.kernels[q.Takes]:
			d.line("take:")
		}
		d.run1(m.kernel)
	}
	d.lead("advanced")
	d.advance()
	if d.takes() {
		d.line("sift:")
		d.run1(d.loop.kernels[d.loop.Buckets.Finds])
		d.lead("advanced")
		d.line(" li s0, 0x%x\n lw s4, %d(s0)", d.control, baseWord)
		d.bucket()
	}
}

// takes reports whether it takes buckets out of a queue.
func (d *driver) takes() bool { return d.loop != nil && d.loop.Buckets != nil }

// counts reports whether it counts rounds.
func (d *driver) counts() bool { return d.loop != nil && d.loop.Counted }

// untilCounted ends a loop whose rounds have been counted.
func (d *driver) untilCounted() {
	d.line(" li t0, %d\n bne s5, t0, 1f", d.limit)
	d.goOn(toEnd)
	d.line("1:")
	d.goOn(toSuperStep)
}

// nextBucket looks for the next bucket, when there is nobody in the current one.
func (d *driver) nextBucket() {
	if d.takes() {
		d.goOn(toSift)
	}
}

// bucket makes the one with the least priority that waits the current one, or ends the loop if nobody waits.
func (d *driver) bucket() {
	q := d.loop.Buckets
	rem, bge := "remu", "bgeu"
	if q.Signed {
		rem, bge = "rem", "bge"
	}
	d.line(" li t0, 0x%x\n lw t1, 0(t0)\n lw t2, 4(t0)\n bnez t2, 1f\n j over\n1:", d.places[q.Least])
	d.line(" li t2, 0x%x\n sw t2, 0(t0)\n sw zero, 4(t0)", q.Greatest)
	d.line(" li t3, %d\n %s t4, t1, t3", q.Delta, rem)
	if q.Signed { // a bucket begins at a multiple of delta that is not above its priorities
		d.line(" bgez t4, 1f\n add t4, t4, t3\n1:")
	}
	// beyond the greatest there is none
	d.line(" sub t5, t1, t4\n sub t3, t3, t4\n add t3, t1, t3\n %s t3, t1, 1f\n mv t3, t2\n1:", bge)
	d.setAlways(q.Priority, "t5")
	d.setAlways(q.Below, "t3")
	d.goOn(toTake)
}
