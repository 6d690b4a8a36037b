package lower

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/sim"
)

// taskBackend runs operators as tasks of a Swarm machine. Operators are not launched one by one: they wait until main
// needs to know something of their results, and are one launch then, with a timestamp each. Loops over a frontier or a
// queue that taskLoops recognises are launches of their own.
type taskBackend struct {
	host    *eval.Host
	program *graphir.Program
	graph   *graph.Graph
	device  host.Device
	options Options
	ctx     context.Context

	code      *taskCode
	loops     map[graphir.Stmt]*taskLoop
	edges     map[*graphir.EdgeSetIterator]*edgeTasks
	rounds    map[*graphir.EdgeSetIterator]*edgeTasks // of the loops
	vertices  map[*graphir.VertexSetIterator]string
	image     *graph.Image
	block     graph.Array
	reference *eval.Reference
	initial   map[*graphit.Var][]uint32
	high      map[*graphit.Var][]uint32
	places    map[string]graph.Array

	pending  []taskStep
	scalars  []uint32 // the block, as the steps that wait read it
	sets     map[*eval.Set]*taskSet
	free     []graph.Array // of sets
	kept     []*eval.Set   // outputs of the filters, in order
	along    *taskLoop     // main goes along with a loop that has ended
	left     int           // its remaining rounds
	used     int           // cores that schedules name; 0: none does
	done     map[*eval.Queue]bool
	launched []compose.Launched
	times    host.Times
	steps    int
	begun    int   // super-step of the last launch
	failed   error // of Element, which cannot return it
}

// taskStep is an operator that waits for the launch.
type taskStep struct {
	name  string // of the function for a part of the input
	grain uint32
	in    *taskSet // nil: all vertices
	out   *taskSet
	edges bool
}

// taskSet is a set on the machine: a word for each vertex, and one for each block of them.
type taskSet struct {
	graph.Array
	set     *eval.Set
	unknown bool // main does not know its vertices yet
}

// maxTaskSteps is the number of operators of a launch.
const maxTaskSteps = 256

// runTasks is Run on a machine of Swarm tiles.
func runTasks(ctx context.Context, d host.Device, g *graph.Graph, p *graphir.Program, o Options) (r Result, err error) {
	defer catch(p.File.Name, &err)
	r.Program = p
	b := newTaskBackend(d, g, p, o)
	if err := b.refused(); err != nil {
		return r, err
	}
	err = b.host.Run(ctx, b)
	if err == nil {
		err = b.flush()
	}
	r.Launched, r.Steps, r.Times = b.launched, b.steps, b.times
	if b.code == nil {
		if err == nil {
			err = errors.New("no operator has run: there is nothing that a machine did")
		}
		return r, err
	}
	for _, a := range b.image.Arrays() {
		r.Layout = append(r.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	}
	for _, v := range p.Vectors {
		x := Vector{Var: v, Words: b.words(vectorName(v))}
		if p.Wide(v.Type.Of) {
			x.High = b.words(highName(v))
		}
		r.Vectors = append(r.Vectors, x)
	}
	for _, op := range p.Edges {
		r.Plans = append(r.Plans, b.plan(op))
	}
	if err != nil {
		return r, err
	}
	err = b.check(ctx, &r)
	r.Verified = err == nil
	return r, err
}

func newTaskBackend(d host.Device, g *graph.Graph, p *graphir.Program, o Options) *taskBackend {
	p.Structs = nil
	return &taskBackend{
		host: eval.NewHost(p, g, eval.Options{Args: o.Args, Output: o.Output, MaxSteps: o.MaxSteps,
			AnyArguments: o.anyArguments}),
		program: p, graph: g, device: d, options: o, initial: map[*graphit.Var][]uint32{},
		high: map[*graphit.Var][]uint32{}, sets: map[*eval.Set]*taskSet{}, done: map[*eval.Queue]bool{},
		places: map[string]graph.Array{},
	}
}

// plan describes how an operator runs.
func (b *taskBackend) plan(op *graphir.EdgeSetIterator) string {
	e := b.edges[op]
	name := op.Name + ": tasks of vertices"
	if e.swarmChoice.edges || e.splits && !e.writes() {
		name += ", of edges"
	}
	if e.writes() {
		name += ", of the edges' writes"
	}
	for _, l := range b.loops {
		switch {
		case l.op != op:
		case l.queue != nil:
			name += fmt.Sprintf("; timestamps are priorities / %d", max(1, l.delta))
		default:
			name += "; timestamps are rounds"
		}
	}
	return name
}

// refused refuses programs that no tasks are made of, by the statement.
func (b *taskBackend) refused() error {
	l := &lowering{program: b.program, host: b.host, weights: b.graph.WeightKind()}
	loops := l.taskLoops()
	wrong := func(at graphit.Pos, format string, args ...any) error {
		return &graphit.Error{File: b.program.File.Name, Pos: at, Msg: fmt.Sprintf(format, args...)}
	}
	for _, op := range b.program.Edges {
		found := false
		for _, l := range loops {
			found = found || l.op == op && l.queue != nil
		}
		if op.Output == graphir.Priority && !found {
			return wrong(op.Pos, "%s: on tasks, applyUpdatePriority is for loops as while (q.finished() == false) "+
				"var f = q.dequeue_ready_set(); edges.from(f).applyUpdatePriority(…); delete f; end", op.Name)
		}
	}
	for _, op := range b.program.Vertices {
		if l.waiting(op.Apply) != nil {
			return wrong(op.Pos, "%s: on tasks, vertices enter a queue by applyUpdatePriority only", op.Name)
		}
		var at graphit.Pos
		found := false
		graphit.Walk(op.Apply.Body, func(x graphit.Expr) {
			if m, ok := x.(*graphit.Method); ok && m.Name == graphit.Enqueue {
				at, found = m.Pos, true
			}
		})
		if found {
			return wrong(at, "%s: on tasks, vertices enter a queue by applyUpdatePriority only", op.Name)
		}
	}
	return nil
}

// Declare sets a vector's initial contents, which are loaded with the graph.
func (b *taskBackend) Declare(v *graphit.Var, initial eval.Value, degrees []uint32) error {
	x := backend{program: b.program, graph: b.graph, initial: b.initial, high: b.high}
	return x.Declare(v, initial, degrees)
}

// Element returns an element for the host, when the operators that wait have run.
func (b *taskBackend) Element(v *graphit.Var, n int) eval.Value {
	b.must(b.flush())
	t := v.Type.Of
	lo, hi := uint32(0), uint32(0)
	if b.code == nil {
		if lo = b.initial[v][n]; b.high[v] != nil {
			hi = b.high[v][n]
		}
	} else {
		if lo = b.read(vectorName(v), n); b.program.Wide(t) {
			hi = b.read(highName(v), n)
		}
	}
	if b.program.Wide(t) {
		return wideValue(lo, hi, t)
	}
	return value(lo, t)
}

// SetElement writes an element for the host.
func (b *taskBackend) SetElement(v *graphit.Var, n int, x eval.Value) {
	b.must(b.flush())
	t := v.Type.Of
	lo, hi := word(x, t), uint32(0)
	if b.program.Wide(t) {
		lo, hi = wideWords(x, t)
	}
	if b.code == nil {
		if b.initial[v][n] = lo; b.high[v] != nil {
			b.high[v][n] = hi
		}
		return
	}
	b.device.WriteWords(b.places[vectorName(v)].Addr+uint32(4*n), []uint32{lo})
	if b.program.Wide(t) {
		b.device.WriteWords(b.places[highName(v)].Addr+uint32(4*n), []uint32{hi})
	}
}

// must keeps the first error of a launch that Element or SetElement needs; the next operator, or the end, returns it.
func (b *taskBackend) must(err error) {
	if b.failed == nil {
		b.failed = err
	}
}

func (b *taskBackend) read(array string, n int) uint32 {
	w := []uint32{0}
	b.device.ReadWords(b.places[array].Addr+uint32(4*n), w)
	return w[0]
}

func (b *taskBackend) words(array string) []uint32 {
	a := b.places[array]
	out := make([]uint32, a.Words)
	b.device.ReadWords(a.Addr, out)
	return out
}

// Seconds returns the time of the launches so far, at 1 GHz.
func (b *taskBackend) Seconds() float64 {
	b.must(b.flush())
	return float64(b.times.Total()) / clock
}

// start opens the session before the first operator, when the reference has run.
func (b *taskBackend) start(ctx context.Context) (err error) {
	b.ctx = ctx
	if b.failed != nil {
		return b.failed
	}
	if b.code != nil {
		return nil
	}
	if err := b.open(); err != nil {
		return err
	}
	if b.options.rehearse {
		return errRehearsed
	}
	x := backend{program: b.program, options: b.options}
	p, opt, err := x.checked()
	if err == nil {
		b.reference, err = eval.Ahead(ctx, p, b.graph, opt)
	}
	return err
}

// open places the program's data, and compiles its tasks.
func (b *taskBackend) open() (err error) {
	defer catch(b.program.File.Name, &err)
	l := &lowering{b.program, b.host, b.graph.WeightKind(), b.options.Workload, queueVectors(b.program)}
	n := b.graph.Vertices()
	b.image = graph.NewImage(graph.ArrayBase, b.device.Shape().LineBytes,
		graph.Reserved(b.device.Shape().Lanes(), nil)...)
	b.loops = l.taskLoops()
	t := &taskCode{
		lowering: l, arrays: map[string]uint32{}, words: map[string]int{}, slots: map[string]int{},
		program: &isa.Program{Name: b.program.File.Name, Entry: emu.CodeBase},
		padded:  uint32(n+blockOfSet-1) &^ (blockOfSet - 1),
	}
	t.bits = operatorBits(b.graph, b.device.Shape().Cores)
	t.shift = uint32(max(0, bits.Len(uint(max(0, n-1)))-t.bits))
	if err := b.place(t); err != nil {
		return err
	}
	if err := t.common(); err != nil {
		return err
	}
	b.edges, b.rounds = map[*graphir.EdgeSetIterator]*edgeTasks{}, map[*graphir.EdgeSetIterator]*edgeTasks{}
	b.vertices = map[*graphir.VertexSetIterator]string{}
	if err := b.define(t); err != nil {
		return err
	}
	b.image.Write(b.device)
	b.scalars = make([]uint32, ir.TaskWords+len(t.words))
	b.code = t
	return nil
}

// place places the arrays, and numbers the words of the block.
func (b *taskBackend) place(t *taskCode) error {
	var err error
	add := func(name string, a graph.Array, wrong error) {
		if err == nil {
			err = wrong
		}
		b.places[name], t.arrays[name] = a, a.Addr
	}
	share := func(name string, words []uint32) {
		a, wrong := b.image.Share(name, words)
		add(name, a, wrong)
	}
	rows := func(name string, a *graph.Adjacency) {
		share(name+".offsets", a.Offsets)
		share(name+".ids", a.IDs)
		if a.Weights != nil {
			share(name+".weights", a.Weights)
		}
	}
	rows("csr", b.graph.CSR())
	if slices.ContainsFunc(b.program.Edges, func(op *graphir.EdgeSetIterator) bool { return op.Transposed }) {
		rows("csc", b.graph.CSC())
	}
	own := func(name string, words []uint32) {
		a, wrong := b.image.Place(name, words)
		add(name, a, wrong)
	}
	for _, v := range b.program.Vectors {
		own(vectorName(v), b.initial[v])
		if high := b.high[v]; high != nil {
			own(highName(v), high)
		}
	}
	if len(b.loops) > 0 {
		a, wrong := b.image.Reserve(stampsOf, b.graph.Vertices())
		add(stampsOf, a, wrong)
	}
	t.arrays["vertices"] = uint32(b.graph.Vertices()) // a constant, as addresses are
	words := []string{queueBase}
	for _, v := range b.program.Scalars {
		if v.Type.Kind != graphit.PriorityQueue {
			words = append(words, scalarName(v))
			if b.program.Wide(v.Type) {
				words = append(words, scalarHigh(v))
			}
		}
	}
	for i, name := range words {
		t.words[name] = ir.TaskWords + i
	}
	block, wrong := b.image.Reserve("block", ir.TaskWords+len(words))
	if err == nil {
		err = wrong
	}
	b.block = block
	return err
}

// define compiles the operators.
func (b *taskBackend) define(t *taskCode) error {
	names := map[string]bool{}
	unique := func(name string) string {
		for names[name] {
			name += "'"
		}
		names[name] = true
		return name
	}
	for _, op := range b.program.Edges {
		choice, err := t.choose(op)
		if err == nil {
			err = b.cores(op)
		}
		if err != nil {
			return err
		}
		e := &edgeTasks{taskCode: t, op: op, name: unique(op.Name), swarmChoice: choice}
		if g, ok := op.Gathers(); ok && choice.splits && op.Output != graphir.Priority &&
			(op.Output != graphir.Modified || g.Into == op.Tracked) && g.Into.Type.Of.Kind != graphit.Bool &&
			!b.program.Wide(g.Into.Type.Of) {
			e.gathered = &g
		}
		b.edges[op] = e
		if op.Output != graphir.Priority {
			if err := e.define(); err != nil {
				return b.at(op.Pos, err)
			}
		}
		for _, l := range b.loops {
			if l.op != op {
				continue
			}
			l.delta = choice.delta
			x := *e
			x.loop, x.name = l, unique(op.Name+".round")
			if l.queue != nil && choice.splits {
				x.queued = queueWriteOf(op, l.vector)
				e.queued = x.queued
			}
			b.rounds[op] = &x
			if err := x.define(); err != nil {
				return b.at(op.Pos, err)
			}
		}
	}
	for _, op := range b.program.Vertices {
		b.vertices[op] = unique(op.Name + "." + op.Apply.Name)
		if err := t.vertexTasks(op, b.vertices[op]); err != nil {
			return b.at(op.Pos, err)
		}
	}
	return nil
}

// cores sets a schedule's number of cores, which is the whole program's.
func (b *taskBackend) cores(op *graphir.EdgeSetIterator) error {
	if op.Swarm == nil || op.Swarm.NumCores == nil {
		return nil
	}
	n, err := b.host.Argument(op.Swarm.NumCores.Args[0], graphit.Counts)
	if err != nil {
		return err
	}
	most := b.device.Shape().Cores
	if int(n) > most {
		return b.at(op.Pos, fmt.Errorf("configNumCores(%.0f): the machine has %d", n, most))
	}
	if b.used != 0 && b.used != int(n) {
		return b.at(op.Pos, fmt.Errorf("configNumCores(%.0f): another operator has %d, and all use the same: expected that "+
			"of one of them", n, b.used))
	}
	b.used = int(n)
	if d, ok := b.device.(host.CoreUser); ok {
		return d.UseCores(b.used)
	}
	return nil
}

// at adds the position of a statement to an error of its tasks.
func (b *taskBackend) at(pos graphit.Pos, err error) error {
	return &graphit.Error{File: b.program.File.Name, Pos: pos, Msg: err.Error()}
}

// block is what the scalars of the program are now.
func (b *taskBackend) current(base uint32) []uint32 {
	words := make([]uint32, len(b.scalars))
	x := backend{program: b.program, host: b.host}
	all := x.words()
	all[queueBase] = base
	for name, n := range b.code.words {
		words[n] = all[name]
	}
	return words
}

// Edges lets an operator wait for the launch.
func (b *taskBackend) Edges(ctx context.Context, op *graphir.EdgeSetIterator, in *eval.Set) (*eval.Set, error) {
	if b.along != nil {
		return b.round(op), nil
	}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	b.steps++
	e := b.edges[op]
	out, err := b.step(taskStep{name: e.name, grain: e.grain, edges: true}, in, op.Output == graphir.Modified)
	if out == nil || err != nil {
		return nil, err
	}
	return out.set, nil
}

// Vertices lets an operator wait for the launch.
func (b *taskBackend) Vertices(ctx context.Context, op *graphir.VertexSetIterator, in *eval.Set) (*eval.Set, error) {
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	out, err := b.step(taskStep{name: b.vertices[op], grain: coarseTasks}, in, op.Filters)
	if out == nil || err != nil {
		return nil, err
	}
	b.kept = append(b.kept, out.set)
	return out.set, nil
}

// step appends an operator to those that wait. Operators that read scalars otherwise than those before are another
// launch.
func (b *taskBackend) step(s taskStep, in *eval.Set, makes bool) (out *taskSet, err error) {
	now := b.current(0)
	if len(b.pending) >= maxTaskSteps || len(b.pending) > 0 && !slices.Equal(now, b.scalars) {
		if err := b.flush(); err != nil {
			return nil, err
		}
	}
	b.scalars = now
	if s.in, err = b.input(in); err != nil {
		return nil, err
	}
	if makes {
		if s.out, err = b.newSet(&eval.Set{}); err != nil {
			return nil, err
		}
		s.out.unknown = true
	}
	b.pending = append(b.pending, s)
	return s.out, nil
}

// input returns an operator's input on the machine; nil: all vertices.
func (b *taskBackend) input(s *eval.Set) (*taskSet, error) {
	if s == nil {
		return nil, nil
	}
	if x := b.sets[s]; x != nil {
		return x, nil
	}
	if len(s.Vertices) == b.graph.Vertices() {
		return nil, nil
	}
	x, err := b.newSet(s)
	if err == nil {
		for _, v := range s.Vertices {
			b.mark(x, v, 1)
		}
	}
	return x, err
}

// mark writes a vertex's flag, and its block's.
func (b *taskBackend) mark(x *taskSet, v, word uint32) {
	b.device.WriteWords(x.Addr+4*v, []uint32{word})
	b.device.WriteWords(x.Addr+4*(b.code.padded+v/blockOfSet), []uint32{word})
}

// newSet returns an empty set on the machine, which the host has zeroed.
func (b *taskBackend) newSet(s *eval.Set) (*taskSet, error) {
	x := &taskSet{set: s}
	if n := len(b.free); n > 0 {
		x.Array, b.free = b.free[n-1], b.free[:n-1]
	} else {
		a, err := b.image.Reserve(fmt.Sprintf("set %d", len(b.sets)), int(b.code.padded+b.code.padded/blockOfSet))
		if err != nil {
			return nil, err
		}
		x.Array = a
	}
	b.sets[s] = x
	return x, nil
}

// Settle tells main a set's vertices.
func (b *taskBackend) Settle(_ context.Context, s *eval.Set) error {
	if x := b.sets[s]; x == nil || !x.unknown {
		return b.failed
	}
	return b.flush()
}

// settle reads the sets that a launch has made, and gives their memory back, and that of the others.
func (b *taskBackend) settle() {
	for s, x := range b.sets {
		if x.unknown {
			blocks := make([]uint32, b.code.padded/blockOfSet)
			b.device.ReadWords(x.Addr+4*b.code.padded, blocks)
			flags := make([]uint32, blockOfSet)
			for n, any := range blocks {
				if any == 0 {
					continue
				}
				b.device.ReadWords(x.Addr+uint32(4*n*blockOfSet), flags)
				for i, f := range flags {
					if f != 0 {
						s.Vertices = append(s.Vertices, uint32(n*blockOfSet+i))
					}
				}
			}
		}
		for _, v := range s.Vertices {
			b.mark(x, v, 0)
		}
		b.free = append(b.free, x.Array)
	}
	slices.SortFunc(b.free, func(x, y graph.Array) int { return int(int64(y.Addr) - int64(x.Addr)) })
	clear(b.sets)
}

// flush launches the operators that wait.
func (b *taskBackend) flush() error {
	if b.failed != nil || len(b.pending) == 0 {
		return b.failed
	}
	steps := b.pending
	b.pending = nil
	name := "tasks"
	for _, s := range steps {
		if s.edges {
			name = "tasks/" + compose.KernelGather
		}
	}
	_, err := b.launch(name, b.scalars, func(k *taskKernel) {
		for i, s := range steps {
			k.root(s, k.U32(uint32(i*k.times()+firstTime)))
		}
	})
	if err == nil {
		b.settle()
	}
	return err
}

// root enqueues the first task of an operator.
func (k *taskKernel) root(s taskStep, at ir.Value) {
	address := func(x *taskSet) ir.Value {
		if x == nil {
			return k.U32(0)
		}
		return k.U32(x.Addr)
	}
	f, grain := k.U32(k.address(s.name)), k.U32(s.grain)
	if s.in == nil {
		k.spawn(taskRange, at, k.U32(0), k.Count("vertices"), f, grain, k.U32(0), address(s.out))
		return
	}
	k.spawn(taskBlocks, at, k.U32(0), k.U32(k.padded/blockOfSet), f, grain, address(s.in), address(s.out))
}

// launch runs the program from a first task.
func (b *taskBackend) launch(name string, block []uint32, start func(k *taskKernel)) (r sim.Result, err error) {
	defer func() { b.must(err) }()
	step := max(1, b.steps)
	if err := host.BeginStep(b.device, step); err != nil {
		return r, err
	}
	if step != b.begun {
		b.begun, b.times.Overhead = step, b.times.Overhead+uint64(b.options.Workload.StepOverhead)
	}
	first, err := b.code.compile("start", emu.CodeBase, start)
	if err != nil {
		return r, err
	}
	p := *b.code.program
	p.Segments = append(slices.Clone(first.Segments), p.Segments...)
	p.Symbols = append(slices.Clone(first.Symbols), p.Symbols...)
	b.device.WriteWords(b.block.Addr, block)
	r, err = b.device.Launch(b.ctx, &p, b.block.Addr)
	b.times.Add(r, uint64(b.options.Workload.LaunchOverhead))
	b.launched = append(b.launched, compose.Launched{Step: b.steps, Kernel: name, Result: r})
	return r, err
}

// BeginLoop runs a loop that is a launch. Main then goes along with its rounds.
func (b *taskBackend) BeginLoop(ctx context.Context, s graphir.Stmt, _ int64) error {
	if err := b.start(ctx); err != nil {
		return err
	}
	l := b.loops[s]
	if l == nil {
		return nil
	}
	if err := b.flush(); err != nil {
		return err
	}
	e, in, base, err := b.rounds[l.op], (*taskSet)(nil), uint32(0), error(nil)
	from := &eval.Set{}
	if l.queue != nil {
		base, err = b.waiting(l, from)
	} else if from = b.host.SetOf(l.set); from == nil {
		return b.at(s.Position(), fmt.Errorf("%s has been deleted, or was never given a set", l.set.Name))
	}
	if err == nil {
		in, err = b.input(from)
	}
	if err != nil {
		return err
	}
	b.device.WriteWords(b.places[stampsOf].Addr, make([]uint32, b.graph.Vertices()))
	path, _ := graphir.FusionOf(s)
	b.steps++
	r, err := b.launch(cmp.Or(path, "loop")+"/"+compose.KernelGather, b.current(base), func(k *taskKernel) {
		k.root(taskStep{name: e.name + ".begin", grain: coarseTasks, in: in}, k.U32(firstTime))
	})
	if err != nil {
		return err
	}
	b.settle()
	b.along, b.left = l, 1
	if l.queue == nil {
		b.left = (int(r.LastTime)-firstTime)/b.code.times() + 1
		b.steps += b.left - 1
	}
	return nil
}

// waiting returns the base of the queue's timestamps, and adds the vertices that wait in it.
func (b *taskBackend) waiting(l *taskLoop, to *eval.Set) (base uint32, err error) {
	q := b.host.QueueOf(l.queue)
	b.done[q] = true
	if q.Delta != l.delta {
		panic(fmt.Sprintf("BUG: lower: a queue's delta is %d, and its tasks count in %d", q.Delta, l.delta))
	}
	if l.delta > math.MaxInt32 {
		return 0, fmt.Errorf("configDelta: %d: expected at most %d", l.delta, math.MaxInt32)
	}
	words, first, any := b.words(vectorName(l.vector)), int64(0), false
	for v, w := range words {
		p := value(w, l.vector.Type.Of).I
		if !q.Waits(v, p) {
			continue
		}
		to.Vertices = append(to.Vertices, uint32(v))
		if !any || !l.descend && p < first || l.descend && p > first {
			first, any = p, true
		}
	}
	return l.base(first), nil
}

// EndLoop ends going along.
func (b *taskBackend) EndLoop(context.Context, graphir.Stmt) error {
	b.along = nil
	return nil
}

// round returns the set that a round of the loop has made: with a vertex, which nobody asks for, unless it is the last.
func (b *taskBackend) round(op *graphir.EdgeSetIterator) *eval.Set {
	b.left--
	switch {
	case op.Output != graphir.Modified:
		return nil
	case b.left > 0:
		return &eval.Set{Vertices: []uint32{0}}
	}
	return &eval.Set{}
}

// Queue creates a queue: nothing waits in memory for it.
func (b *taskBackend) Queue(ctx context.Context, q *eval.Queue) error {
	q.Current = math.MinInt64
	return b.start(ctx)
}

// Ready returns a bucket of a loop that has ended, in which main finds no vertices.
func (b *taskBackend) Ready(context.Context, *eval.Queue) (*eval.Set, error) {
	if b.along == nil {
		return nil, errTaskQueue
	}
	return &eval.Set{Vertices: []uint32{0}}, nil
}

// errTaskQueue is the error of main's other uses of a queue.
var errTaskQueue = errors.New("on tasks, a queue is for a loop while (q.finished() == false) alone, and main " +
	"does not know its buckets")

// Waiting reports whether a vertex waits: before the loop, and not after it.
func (b *taskBackend) Waiting(_ context.Context, q *eval.Queue) (bool, error) {
	if b.along != nil {
		return b.left > 0, nil
	}
	for _, s := range b.loops {
		if s.queue == q.Var {
			return !b.done[q], nil
		}
	}
	return false, errTaskQueue
}

// check compares all vectors with the reference's.
func (b *taskBackend) check(ctx context.Context, r *Result) error {
	x := backend{program: b.program, graph: b.graph, options: b.options, reference: b.reference}
	for _, s := range b.kept {
		kept := map[uint32]bool{}
		for _, v := range s.Vertices {
			kept[v] = true
		}
		x.kept = append(x.kept, kept)
	}
	return x.check(ctx, r)
}

// ready does everything that precedes the first launch and does not depend on main.
func (b *taskBackend) ready() error {
	if err := b.refused(); err != nil {
		return err
	}
	for _, v := range b.program.Vectors {
		if b.initial[v] == nil {
			if err := b.Declare(v, eval.Value{}, nil); err != nil {
				return err
			}
		}
	}
	if b.code != nil {
		return nil
	}
	return b.open()
}

// rehearseTasks is Rehearse on a machine of Swarm tiles.
func rehearseTasks(ctx context.Context, d *host.Rehearsal, g *graph.Graph, p *graphir.Program, o Options,
	standIn bool) (m compose.Memory, err error) {
	b := newTaskBackend(d, g, p, o)
	if err := b.refused(); err != nil {
		return m, err
	}
	if standIn {
		err = b.host.Declare(ctx, b)
	} else {
		err = b.host.Run(ctx, b)
	}
	if err == nil || errors.Is(err, errRehearsed) {
		err = b.ready()
	}
	if err != nil {
		return m, err
	}
	m.Own = b.image.Bytes()
	for name, bytes := range b.image.SharedBytes() {
		if m.Own -= bytes; strings.HasPrefix(name, "csc.") {
			m.Derived += bytes
		}
	}
	for _, v := range p.Vectors {
		m.Own += uint64(eval.Length(v, g)) * uint64(eval.ElementBytes(v.Type.Of)+2*wordBytes)
	}
	return m, nil
}
