package lower

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Options configure a run of a program.
type Options struct {
	Args     []string // argv, starting with the program's name
	Output   io.Writer
	Float    bool              // double is computed as float
	Workload workload.Workload // for operators without a schedule; launch overhead, sizes
	Schedule *graphit.Schedule // in place of the program's own
	HostOnly bool              // a program without operators runs, on the host
	MaxSteps int               // maximum number of edge traversals; 0: unlimited

	tasks        bool                                      // on Swarm tiles
	anyArguments bool                                      // of schedules: Check
	rehearse     bool                                      // nothing is launched: Rehearse
	mutate       func(op *graphir.EdgeSetIterator)         // for tests: modifies the passes' results
	fused        func(l *compose.FusedLoop, rounds *int64) // for tests: modifies a fused loop when it begins
}

// Result is the result of a run.
type Result struct {
	Program  *graphir.Program
	Launched []compose.Launched
	Steps    int // traversals of edges
	Times    host.Times
	Vectors  []Vector
	Layout   []graph.Region
	Verified bool
	Plans    []string // of the operators over edges
}

// Vector is a vector's contents at the end of the program, reals as their bits.
type Vector struct {
	Var   *graphit.Var
	Words []uint32
	High  []uint32 // the upper words of numbers that have two; nil: they have one
}

// Build returns the representation of a checked program for a machine, with doubles as floats or in software.
func Build(f *graphit.File, s *graphit.Schedule, float bool) (p *graphir.Program, err error) {
	if p, err = BuildAny(f, s, float); err != nil {
		return nil, err
	}
	if isIdle(p) {
		return nil, &graphit.Error{File: f.Name, Pos: f.Main().Pos,
			Msg: "the program has no operator: there is nothing to run on a machine"}
	}
	return p, nil
}

// BuildAny is Build for programs that may have no operator, and run on the host alone.
func BuildAny(f *graphit.File, s *graphit.Schedule, float bool) (p *graphir.Program, err error) {
	defer catch(f.Name, &err)
	if p, err = graphir.Build(f); err != nil {
		return nil, err
	}
	p.Float = float
	if at, found := hasDouble(f); found && !float {
		p.Notes = append(p.Notes, graphir.Note{Pos: at, Text: slowDoubles, Program: true})
	}
	return p, p.Run(s, nil)
}

// isIdle reports whether a program has no operator.
func isIdle(p *graphir.Program) bool { return len(p.Edges)+len(p.Vertices) == 0 }

// build returns the representation of a program that is to run with options.
func (o *Options) build(f *graphit.File) (*graphir.Program, error) {
	make := Build
	if o.HostOnly {
		make = BuildAny
	}
	p, err := make(f, o.Schedule, o.Float)
	if err == nil && o.tasks {
		p.ForTasks()
	}
	return p, err
}

// slowDoubles is the note on a program with doubles.
const slowDoubles = "double is computed in software, in about twenty times the instructions: --float computes it as " +
	"float"

// hasDouble returns the first double that a program declares for a machine; false: it declares none.
func hasDouble(f *graphit.File) (at graphit.Pos, found bool) {
	check := func(v *graphit.Var) {
		if t := v.Type; !found && (t.Kind == graphit.Double || t.Of != nil && t.Of.Kind == graphit.Double ||
			t.Weight != nil && t.Weight.Kind == graphit.Double) {
			at, found = t.Pos, true
		}
	}
	for _, v := range f.Globals {
		check(v)
	}
	for _, fn := range f.Funcs {
		if fn.Name != "main" {
			graphit.Declared(fn, check)
		}
	}
	return at, found
}

// refuseDouble refuses doubles where they are not computed in software.
func refuseDouble(f *graphit.File) {
	if at, found := hasDouble(f); found {
		refuse(at, "double, and the machine's numbers have 32 bits: expected float, or --float, which computes "+
			"double as float")
	}
}

// Run runs a program on a device, and compares all of its vectors with the reference's. After an error the result
// covers the run up to it.
func Run(ctx context.Context, d host.Device, g *graph.Graph, f *graphit.File, o Options) (r Result, err error) {
	defer catch(f.Name, &err)
	o.tasks = d.Shape().Tasks
	p, err := o.build(f)
	if err != nil {
		return r, err
	}
	r.Program = p
	if err := accepts(p, g); err != nil {
		return r, err
	}
	if o.Args, err = eval.ArgumentsOn(g, f, o.Schedule, o.Args); err != nil {
		return r, err
	}
	if o.tasks && !isIdle(p) {
		return runTasks(ctx, d, g, p, o)
	}
	h, b := newBackend(d, g, p, o)
	err = h.Run(ctx, b)
	if s := b.session; s != nil {
		s.Close()
		r.Launched, r.Steps, r.Times, r.Layout = s.Launched, s.Steps, s.Times, s.Layout()
		for _, v := range p.Vectors {
			x := Vector{Var: v, Words: contents(p, v, s.Array)}
			if p.Wide(v.Type.Of) {
				x.High = s.Array(highName(v))
			}
			r.Vectors = append(r.Vectors, x)
		}
	}
	for _, op := range p.Edges {
		for _, x := range b.edges[op] {
			r.Plans = append(r.Plans, x.Plan.Name())
		}
	}
	if err != nil {
		return r, err
	}
	if b.session == nil && !o.HostOnly {
		return r, errors.New("no operator has run: there is nothing that a machine did")
	}
	if b.session == nil {
		for _, v := range p.Vectors {
			r.Vectors = append(r.Vectors, Vector{v, b.initial[v], b.high[v]})
		}
	}
	err = b.check(ctx, &r)
	r.Verified = err == nil
	return r, err
}

func newBackend(d host.Device, g *graph.Graph, p *graphir.Program, o Options) (*eval.Host, *backend) {
	h := eval.NewHost(p, g, eval.Options{Args: o.Args, Output: o.Output, MaxSteps: o.MaxSteps,
		AnyArguments: o.anyArguments})
	return h, &backend{
		host: h, program: p, graph: g, device: d, options: o,
		initial: map[*graphit.Var][]uint32{}, high: map[*graphit.Var][]uint32{}, frontiers: map[*eval.Set]*compose.Frontier{},
		ready: map[*eval.Queue]*eval.Set{},
	}
}

// Rehearse does everything that precedes Run's first launch, and refuses what Run would. It returns the memory of the
// program's arrays and of its reference. If the graph stands in for another one, main is not run, since its vertices
// may be the other's.
func Rehearse(ctx context.Context, d *host.Rehearsal, g *graph.Graph, f *graphit.File, o Options,
	standIn bool) (m compose.Memory, err error) {
	defer catch(f.Name, &err)
	o.tasks, o.HostOnly = d.Shape().Tasks, false
	p, err := o.build(f)
	if err != nil {
		return m, err
	}
	if err := accepts(p, g); err != nil {
		return m, err
	}
	if !standIn {
		if o.Args, err = eval.ArgumentsOn(g, f, o.Schedule, o.Args); err != nil {
			return m, err
		}
	}
	o.rehearse, o.Output = true, nil
	if o.tasks {
		return rehearseTasks(ctx, d, g, p, o, standIn)
	}
	h, b := newBackend(d, g, p, o)
	if standIn {
		err = h.Declare(ctx, b)
	} else {
		err = h.Run(ctx, b)
	}
	if err == nil {
		err = b.open()
	}
	if err != nil && !errors.Is(err, errRehearsed) {
		return m, err
	}
	m = b.session.Memory()
	for _, v := range p.Vectors {
		n := eval.Length(v, g)
		m.Own += uint64(n) * uint64(eval.ElementBytes(v.Type.Of)+2*wordBytes)
	}
	return m, nil
}

// Check refuses those programs and schedules that Run refuses whatever the graph, the arguments and the computed
// values. A graph of any kind stands in for the real one.
func Check(d *host.Rehearsal, g *graph.Graph, f *graphit.File, o Options) (err error) {
	defer catch(f.Name, &err)
	o.tasks = d.Shape().Tasks
	p, err := o.build(f)
	if err != nil || isIdle(p) {
		return err
	}
	o.anyArguments = true
	if o.tasks {
		b := newTaskBackend(d, g, p, o)
		if err := b.host.Constants(); err != nil {
			return err
		}
		return b.ready()
	}
	h, b := newBackend(d, g, p, o)
	if err := h.Constants(); err != nil {
		return err
	}
	for _, v := range p.Vectors {
		if err := b.Declare(v, eval.Value{}, nil); err != nil {
			return err
		}
	}
	return b.open()
}

// Schedules returns the schedules of a program's operators over edges.
func Schedules(p *graphir.Program, base workload.Schedule) (list []workload.Schedule) {
	add := func(m *graphir.Metadata) {
		s := base
		if m.Given["load_balance"] {
			s = schedules[m.LoadBalance]
		}
		list = append(list, s)
	}
	for _, op := range p.Edges {
		add(&op.Metadata)
		if op.Hybrid != nil {
			add(&op.Hybrid.Above)
		}
	}
	return list
}

// wordBytes is the size of a machine word. The first and the last contents of each vector are kept in words.
const wordBytes = 4

// accepts refuses graphs whose weights do not match the program's.
func accepts(p *graphir.Program, g *graph.Graph) error {
	if err := eval.Accepts(p, g); err != nil {
		return err
	}
	for _, v := range p.File.Globals {
		if w := v.Type.Weight; v.Type.Kind == graphit.EdgeSet && w != nil && !w.IsReal() &&
			g.WeightKind() == graph.FloatWeights {
			return &graphit.Error{File: p.File.Name, Pos: w.Pos,
				Msg: "the program's weights are int, and the graph's are floats: give weights that are, as by --weights random"}
		}
	}
	return nil
}

// backend runs operators on a device.
type backend struct {
	host    *eval.Host
	program *graphir.Program
	graph   *graph.Graph
	device  host.Device
	options Options

	operators
	session   *journal
	reference *eval.Reference           // nil: not run yet
	initial   map[*graphit.Var][]uint32 // initial contents of vectors, until there is a session
	high      map[*graphit.Var][]uint32 // and upper words
	loops     map[graphir.Stmt]*fusedLoop
	now       *fusedLoop // the loop that the device is running; nil: none
	placed    bool       // the device has the functions in C

	// frontiers maps sets to the session's frontiers, to recognise those still on the device.
	frontiers map[*eval.Set]*compose.Frontier
	kept      []map[uint32]bool         // results of the filters, in order
	ready     map[*eval.Queue]*eval.Set // dequeued, and not requested yet
	current   uint32                    // priority of the queue that an operator may change
	bound     uint32
}

// Declare sets a vector's initial contents, which are loaded with the graph.
func (b *backend) Declare(v *graphit.Var, initial eval.Value, degrees []uint32) error {
	n := eval.Length(v, b.graph)
	words := degrees
	if words == nil {
		words = slices.Repeat([]uint32{word(initial, v.Type.Of)}, n)
	}
	b.initial[v] = slices.Clone(words)
	if b.program.Wide(v.Type.Of) {
		lo, hi := wideWords(initial, v.Type.Of)
		if degrees == nil {
			b.initial[v] = slices.Repeat([]uint32{lo}, n)
		}
		b.high[v] = slices.Repeat([]uint32{hi}, n)
	}
	return nil
}

// wideWords are the words of a number that has two.
func wideWords(v eval.Value, t *graphit.Type) (lo, hi uint32) {
	bits := uint64(v.I)
	if t.IsReal() {
		bits = math.Float64bits(v.F)
	}
	return uint32(bits), uint32(bits >> 32)
}

func wideValue(lo, hi uint32, t *graphit.Type) eval.Value {
	bits := uint64(hi)<<32 | uint64(lo)
	if t.IsReal() {
		return eval.Value{F: math.Float64frombits(bits)}
	}
	return eval.Int(int64(bits))
}

// word converts a value to the machine's representation.
func word(v eval.Value, t *graphit.Type) uint32 {
	if t.IsReal() {
		return math.Float32bits(float32(v.F))
	}
	return uint32(v.I)
}

func value(w uint32, t *graphit.Type) eval.Value {
	switch {
	case t.IsReal():
		return eval.Value{F: float64(math.Float32frombits(w))}
	case t.Kind == graphit.Uint:
		return eval.Int(int64(w))
	}
	return eval.Int(int64(int32(w)))
}

// Element returns an element for the host.
func (b *backend) Element(v *graphit.Var, n int) eval.Value {
	if t := v.Type.Of; b.program.Wide(t) {
		if b.session == nil {
			return wideValue(b.initial[v][n], b.high[v][n], t)
		}
		return wideValue(b.session.Read(vectorName(v), n), b.session.Read(highName(v), n), t)
	}
	if b.session == nil {
		return value(b.initial[v][n], v.Type.Of)
	}
	x := placeOf(b.program, v)
	return value(b.session.Read(x.array, x.at(n)), v.Type.Of)
}

// SetElement writes an element for the host.
func (b *backend) SetElement(v *graphit.Var, n int, x eval.Value) {
	if t := v.Type.Of; b.program.Wide(t) {
		lo, hi := wideWords(x, t)
		if b.session == nil {
			b.initial[v][n], b.high[v][n] = lo, hi
			return
		}
		b.session.Write(vectorName(v), n, lo)
		b.session.Write(highName(v), n, hi)
		return
	}
	if b.session == nil {
		b.initial[v][n] = word(x, v.Type.Of)
		return
	}
	at := placeOf(b.program, v)
	b.session.Write(at.array, at.at(n), word(x, v.Type.Of))
}

// clock is the number of cycles per second, for timers.
const clock = 1e9

// Seconds returns the time of the launches so far, including overhead, at 1 GHz.
func (b *backend) Seconds() float64 {
	if b.session == nil {
		return 0
	}
	return b.session.Seconds(clock)
}

// operators are a program's operators in compose's form.
type operators struct {
	// one, or two: below and above the hybrid's threshold
	edges      map[*graphir.EdgeSetIterator][]*compose.EdgeOperator
	vertices   map[*graphir.VertexSetIterator]*compose.VertexOperator
	takes      map[*graphit.Var]*compose.VertexOperator // per queue: dequeues the current bucket
	finds      map[*graphit.Var]*compose.VertexOperator // per queue: finds the least priority
	queues     map[*graphit.Var]*graphit.Var            // the queues' priority vectors
	transposed map[*compose.EdgeOperator]bool
	parts      compose.Parts // all parts, in order
}

// operators plans a program's operators. mutate, for tests, may be nil.
func (l *lowering) operators(mutate func(op *graphir.EdgeSetIterator)) (o operators, err error) {
	o = operators{
		map[*graphir.EdgeSetIterator][]*compose.EdgeOperator{},
		map[*graphir.VertexSetIterator]*compose.VertexOperator{},
		map[*graphit.Var]*compose.VertexOperator{}, map[*graphit.Var]*compose.VertexOperator{}, l.queues,
		map[*compose.EdgeOperator]bool{}, compose.Parts{},
	}
	if mutate == nil {
		mutate = func(*graphir.EdgeSetIterator) {}
	}
	names := map[string]bool{}
	unique := func(name string) string {
		for names[name] {
			name += "'"
		}
		names[name] = true
		return name
	}
	for _, op := range l.program.Edges {
		mutate(op)
		list := []*graphir.Metadata{&op.Metadata}
		if op.Hybrid != nil {
			list = append(list, &op.Hybrid.Above)
		}
		for _, m := range list {
			made, err := l.edges(op, m, unique(op.Name))
			if err != nil {
				return o, err
			}
			o.transposed[made] = op.Transposed
			o.edges[op] = append(o.edges[op], made)
			o.parts.Edges = append(o.parts.Edges, made)
		}
		op.Depend() // by the chosen directions
		mutate(op)
	}
	for _, op := range l.program.Vertices {
		o.vertices[op] = l.vertices(op, unique(op.Name+"."+op.Apply.Name))
		o.parts.Vertices = append(o.parts.Vertices, o.vertices[op])
	}
	for _, q := range l.program.Scalars {
		if v := l.queues[q]; v != nil {
			down := l.program.Descends(q)
			o.takes[q], o.finds[q] = ready(q, v, down), first(q, v, down)
			o.parts.Vertices = append(o.parts.Vertices, o.takes[q], o.finds[q])
		}
	}
	return o, nil
}

// open compiles and places everything when the first operator runs: the host's actions before that are part of the
// input, like the graph.
func (b *backend) open() (err error) {
	if b.session != nil {
		return nil
	}
	defer catch(b.program.File.Name, &err)
	l := &lowering{b.program, b.host, b.graph.WeightKind(), b.options.Workload, queueVectors(b.program)}
	if b.operators, err = l.operators(b.options.mutate); err != nil {
		return err
	}
	var notes []graphir.Note
	b.loops, notes = fuseLoops(b.program, b.host, b.operators, b.device.Shape())
	b.program.Notes = append(b.program.Notes, notes...)
	parts := b.parts
	for _, v := range b.program.Vectors {
		if a, own := b.array(v); own {
			parts.Arrays = append(parts.Arrays, a)
		}
		if high := b.high[v]; high != nil {
			parts.Arrays = append(parts.Arrays, graph.Array{Name: highName(v), Data: high})
			if l.locked(v) {
				parts.Arrays = append(parts.Arrays, graph.Array{Name: lockName(v), Data: make([]uint32, len(high))})
			}
		}
	}
	for _, q := range b.program.Scalars {
		if b.queues[q] != nil {
			parts.Arrays = append(parts.Arrays, graph.Array{Name: waits(q), Data: make([]uint32, b.graph.Vertices())})
		}
	}
	if len(b.queues) > 0 {
		parts.Arrays = append(parts.Arrays, graph.Array{Name: least, Data: []uint32{0, 0}})
	}
	b.program.Visit(func(s graphir.Stmt) {
		if fused := b.loops[s]; fused != nil {
			parts.Loops = append(parts.Loops, fused.FusedLoop)
		}
	})
	parts.Words, parts.Transposed = b.words, func(o *compose.EdgeOperator) bool { return b.transposed[o] }
	s, err := compose.NewSession(b.device, b.graph, b.options.Workload, parts)
	if err == nil {
		b.session = newJournal(s, b.device, b.fusedPath())
	}
	return err
}

// errRehearsed ends a rehearsal: everything is placed, and the first launch would follow.
var errRehearsed = errors.New("rehearsed")

// start is called before a launch. Before the first one the reference runs, as a program that it refuses is not
// simulated, and then the run resumes if there is a checkpoint.
func (b *backend) start(ctx context.Context) error {
	if b.session != nil {
		b.placeC()
		return nil
	}
	if err := b.open(); err != nil {
		return err
	}
	if b.options.rehearse {
		return errRehearsed
	}
	b.placeC()
	p, opt, err := b.checked()
	if err == nil {
		b.reference, err = eval.Ahead(ctx, p, b.graph, opt)
	}
	if err == nil {
		err = b.session.resume()
	}
	return err
}

// checked returns the program for the reference, built afresh so that it does not depend on the operators' lowering,
// nor on fusions of loops and functions, whose results it judges.
func (b *backend) checked() (*graphir.Program, eval.Options, error) {
	o, f := b.options, b.program.File
	if o.Schedule == nil {
		o.Schedule = f.Schedule
	}
	o.Schedule = o.Schedule.Unfused()
	p, err := o.build(f)
	return p, eval.Options{Args: b.options.Args, MaxSteps: b.options.MaxSteps}, err
}

// words returns the program's scalars.
func (b *backend) words() map[string]uint32 {
	words := map[string]uint32{priorityName: b.current, below: b.bound}
	for _, v := range b.program.Scalars {
		switch {
		case v.Type.Kind == graphit.PriorityQueue:
		case b.program.Wide(v.Type):
			words[scalarName(v)], words[scalarHigh(v)] = wideWords(b.host.Scalar(v), v.Type)
		default:
			words[scalarName(v)] = word(b.host.Scalar(v), v.Type)
		}
	}
	return words
}

// frontier returns the session's frontier of a set.
func (b *backend) frontier(s *eval.Set) *compose.Frontier {
	if s == nil {
		return nil
	}
	f := b.frontiers[s]
	if f == nil {
		f = &compose.Frontier{Vertices: s.Vertices}
		b.frontiers[s] = f
	}
	return f
}

// made returns the set of a frontier that the session has produced.
func (b *backend) made(f *compose.Frontier) *eval.Set {
	s := &eval.Set{Vertices: f.Vertices}
	clear(b.frontiers) // older frontiers are no longer on the device, or have been reallocated
	b.frontiers[s] = f
	return s
}

// Edges runs an operator; if it has two schedules, under the one for its input's size.
func (b *backend) Edges(ctx context.Context, op *graphir.EdgeSetIterator, in *eval.Set) (*eval.Set, error) {
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	if op.Output == graphir.Priority {
		for q, waiting := range b.ready {
			if waiting != nil {
				return nil, fmt.Errorf("%s: the queue %s has been asked whether it is finished, and its vertices have not been "+
					"taken out", op.Name, q.Var.Name)
			}
		}
	}
	o, err := b.scheduled(op, in)
	if err != nil {
		return nil, err
	}
	out, err := b.session.Edges(ctx, o, b.frontier(in))
	if err != nil || op.Output != graphir.Modified {
		return nil, err
	}
	return b.made(out), nil
}

// scheduled returns an operator under the schedule for its input. In a fused loop, the device decides.
func (b *backend) scheduled(op *graphir.EdgeSetIterator, in *eval.Set) (*compose.EdgeOperator, error) {
	if b.now != nil {
		return b.now.edges[op], nil
	}
	if op.Hybrid == nil {
		return b.edges[op][0], nil
	}
	size := b.graph.Vertices()
	if in != nil {
		size = len(in.Vertices)
	}
	least, err := b.leastAbove(op)
	if err == nil && float64(size) >= least {
		return b.edges[op][1], nil
	}
	return b.edges[op][0], err
}

// leastAbove returns the smallest number of vertices for which a hybrid's second schedule runs.
func (b *backend) leastAbove(op *graphir.EdgeSetIterator) (float64, error) {
	share, err := b.host.Argument(op.Hybrid.Threshold, graphit.Thresholds)
	return math.Ceil(share * float64(b.graph.Vertices())), err
}

// Vertices runs an operator.
func (b *backend) Vertices(ctx context.Context, op *graphir.VertexSetIterator, in *eval.Set) (*eval.Set, error) {
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	out, err := b.session.Vertices(ctx, b.vertices[op], b.frontier(in))
	if err != nil || !op.Filters {
		return nil, err
	}
	kept := map[uint32]bool{}
	for _, v := range out.Vertices {
		kept[v] = true
	}
	b.kept = append(b.kept, kept)
	if b.now != nil {
		return b.made(out), nil
	}
	return &eval.Set{Vertices: out.Vertices}, nil
}

// Queue creates a queue; its initial vertices are part of the input.
func (b *backend) Queue(ctx context.Context, q *eval.Queue) error {
	if err := b.start(ctx); err != nil {
		return err
	}
	name := waits(q.Var)
	for v := range b.graph.Vertices() {
		w := uint32(0)
		if q.Waits(v, b.Element(q.Vector, v).I) {
			w = 1
		}
		b.session.Write(name, v, w)
	}
	q.Current = math.MinInt64                                                                     // no bucket yet
	maps.DeleteFunc(b.ready, func(old *eval.Queue, _ *eval.Set) bool { return old.Var == q.Var }) // it is gone
	return nil
}

// Waiting reports whether a vertex waits, and dequeues the next bucket.
func (b *backend) Waiting(ctx context.Context, q *eval.Queue) (bool, error) {
	if b.ready[q] != nil {
		q.Next = q.Current
		return true, nil
	}
	s, err := b.take(ctx, q)
	if err != nil || len(s.Vertices) == 0 {
		return false, err
	}
	b.ready[q], q.Next = s, q.Current
	return true, nil
}

// Ready dequeues the current bucket or, if it is empty, the next one.
func (b *backend) Ready(ctx context.Context, q *eval.Queue) (*eval.Set, error) {
	if s := b.ready[q]; s != nil {
		delete(b.ready, q)
		return s, nil
	}
	return b.take(ctx, q)
}

func (b *backend) take(ctx context.Context, q *eval.Queue) (*eval.Set, error) {
	for _, again := range []bool{false, true} {
		if q.Current != math.MinInt64 {
			b.current, b.bound = uint32(q.Current), uint32(q.Current+q.Delta)
			if t := q.Vector.Type.Of; q.Current+q.Delta > greatest(t) {
				b.bound = uint32(greatest(t))
			}
			out, err := b.session.Vertices(ctx, b.takes[q.Var], nil)
			if err != nil {
				return nil, err
			}
			if len(out.Vertices) > 0 {
				if b.now != nil {
					return b.made(out), nil
				}
				return &eval.Set{Vertices: out.Vertices}, nil
			}
		}
		if again {
			break
		}
		priority, any, err := b.least(ctx, q)
		if err != nil || !any {
			return &eval.Set{}, err
		}
		q.Current = eval.Bucket(priority, q.Delta) * q.Delta
	}
	return &eval.Set{}, nil
}

// greatest returns the maximum of a type.
func greatest(t *graphit.Type) int64 {
	if t.Kind == graphit.Uint {
		return math.MaxUint32
	}
	return math.MaxInt32
}

// least finds the least waiting priority.
func (b *backend) least(ctx context.Context, q *eval.Queue) (priority int64, any bool, err error) {
	start := greatest(q.Vector.Type.Of)
	if q.Descending {
		start = -1 - start // of an int the least
		if q.Vector.Type.Of.Kind == graphit.Uint {
			start = 0
		}
	}
	b.session.Write(least, 0, uint32(start))
	b.session.Write(least, 1, 0)
	if _, err := b.session.Vertices(ctx, b.finds[q.Var], nil); err != nil {
		return 0, false, err
	}
	return value(b.session.Read(least, 0), q.Vector.Type.Of).I, b.session.Read(least, 1) != 0, nil
}

// check compares all vectors with the reference's, which may have run ahead. Where rounding determines whether a filter
// keeps a vertex, the machine's result is taken.
func (b *backend) check(ctx context.Context, r *Result) error {
	ref := b.reference
	if ref == nil {
		p, opt, err := b.checked()
		if err != nil {
			return err
		}
		if ref, err = eval.Evaluate(ctx, p, b.graph, opt, eval.Kept(b.kept)); err != nil {
			return err
		}
	}
	for _, v := range r.Vectors {
		if err := ref.Compare(v.Var, v.Words, v.High); err != nil {
			return err
		}
	}
	return nil
}
