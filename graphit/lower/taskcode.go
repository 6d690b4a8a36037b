package lower

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/codegen"
	"heddle/kernels/emit"
	"heddle/kernels/ir"
)

// Tasks of Swarm machines (UGF, §5.3). T4's transformation turns the iterations of a loop into tasks with increasing
// timestamps; here a loop is an operator's, over the vertices of its input, over the edges of each, and the write of
// each edge. An operator's iterations may come in any order, so that some share a timestamp: as many as have so many
// tasks that the task queues hold them. With less order there are fewer aborts, but tasks of early vertices' edges
// would be queued behind all vertices, and spilled. Operators follow each other.
//
// Arguments of the tasks that divide a range of vertices: a0 and a1 are its bounds, a2 the code of the tasks for the
// parts, a3 the number of vertices of a part. All pass on a4, the flags of the input's vertices (0: all vertices), and
// a5, those of the output's.

// Sizes of tasks.
const (
	taskSlot    = 64 << 10 // bytes between the functions' addresses
	splitEdges  = 64       // a task with more edges gives them to two
	blockOfSet  = 64       // vertices for which a set has a summary
	coarseTasks = 8        // vertices of a coarse task

	maxOperatorBits = 10
	tasksPerCore    = 48
)

// taskCode holds a program's tasks.
type taskCode struct {
	*lowering
	arrays  map[string]uint32 // addresses
	bits    int               // of timestamps of an operator
	shift   uint32            // of a vertex's number to its timestamp within an operator
	padded  uint32            // words of a set's flags, after which its summary is
	words   map[string]int    // of the argument block, by name
	slots   map[string]int
	names   []string // of functions, by slot
	program *isa.Program
}

// swarmChoice is a schedule of an operator for tasks.
type swarmChoice struct {
	edges  bool // an edge is a task
	splits bool // its write is one
	once   bool // a vertex enters a round's set once
	grain  uint32
	delta  int64
}

// taskKernel is a task that is being written.
type taskKernel struct {
	*emit.Kernel
	*taskCode
	now ir.Value
}

// arg returns an argument.
func (k *taskKernel) arg(n int) ir.Value {
	return k.ParamAt(fmt.Sprintf("task.%d", n), ir.U32, ir.TaskWord(n))
}

// spawn enqueues a task of a function.
func (k *taskKernel) spawn(function string, at ir.Value, args ...ir.Value) {
	k.Task(k.U32(k.address(function)), at, args...)
}

// address returns the address of a function, whether it has been compiled yet or not.
func (t *taskCode) address(name string) uint32 {
	n, ok := t.slots[name]
	if !ok {
		n = len(t.names) + 1 // the first is the start's
		t.slots[name] = n
		t.names = append(t.names, name)
	}
	return emu.CodeBase + uint32(n)*taskSlot
}

// errTaskSize is the error of functions that are too large.
var errTaskSize = errors.New("the function is too large for a task")

// compile adds a function to the program.
func (t *taskCode) compile(name string, base uint32, body func(k *taskKernel)) (*isa.Program, error) {
	k := &taskKernel{Kernel: emit.New(name), taskCode: t}
	k.Scalar()
	k.now = k.ParamAt("task.time", ir.U32, ir.TaskWord(isa.SwarmArgs))
	k.ParamAt("task.none", ir.U32, ir.TaskWords-1) // later ones follow it
	body(k)
	built, err := k.Build()
	if err == nil {
		err = t.bind(built)
	}
	if err != nil {
		return nil, err
	}
	c, err := codegen.Compile(built, codegen.Options{Base: base, Task: true})
	if err != nil {
		return nil, err
	}
	if c.Program.Segments[0].Size > taskSlot {
		return nil, fmt.Errorf("%s: %w", name, errTaskSize)
	}
	for i := range c.Program.Symbols {
		if s := &c.Program.Symbols[i]; s.Name == "_start" {
			s.Name = name
		}
	}
	return c.Program, nil
}

// bind replaces the parameters that are addresses by these: a program of tasks is linked where its data are.
func (t *taskCode) bind(k *ir.Kernel) error {
	for _, r := range k.Roots {
		if r.Op != ir.OpParam || k.Params[r.Imm].Word < ir.TaskWords {
			continue
		}
		p := &k.Params[r.Imm]
		if at, ok := t.arrays[p.Name]; ok {
			r.Op, r.Imm = ir.OpConst, at
			continue
		}
		word, ok := t.words[p.Name]
		if !ok {
			return fmt.Errorf("a function needs %s, which no task has", p.Name)
		}
		p.Word = word
	}
	return nil
}

// define compiles a function into the program.
func (t *taskCode) define(name string, body func(k *taskKernel)) error {
	p, err := t.compile(name, t.address(name), body)
	if err != nil {
		return err
	}
	t.program.Segments = append(t.program.Segments, p.Segments...)
	t.program.Symbols = append(t.program.Symbols, p.Symbols...)
	return nil
}

// Functions that all programs have.
const (
	taskRange  = "range"  // divides a range of vertices
	taskBlocks = "blocks" // divides a range of blocks of a set
)

// common defines the functions that divide ranges.
func (t *taskCode) common() error {
	err := t.define(taskRange, func(k *taskKernel) {
		lo, hi, f, grain, in, out := k.arg(0), k.arg(1), k.arg(2), k.arg(3), k.arg(4), k.arg(5)
		k.If(k.Gt(k.Sub(hi, lo), grain), func() {
			mid := k.Shr(k.Add(lo, hi), k.U32(1))
			k.spawn(taskRange, k.now, lo, mid, f, grain, in, out)
			k.spawn(taskRange, k.later(lo, mid), mid, hi, f, grain, in, out)
		}, func() {
			k.When(k.Lt(lo, hi), func() { k.Task(f, k.now, lo, hi, nil, nil, in, out) })
		})
	})
	if err != nil {
		return err
	}
	return t.define(taskBlocks, func(k *taskKernel) {
		lo, hi, f, grain, in, out := k.arg(0), k.arg(1), k.arg(2), k.arg(3), k.arg(4), k.arg(5)
		k.If(k.Gt(k.Sub(hi, lo), k.U32(4)), func() {
			mid := k.Shr(k.Add(lo, hi), k.U32(1))
			k.spawn(taskBlocks, k.now, lo, mid, f, grain, in, out)
			k.spawn(taskBlocks, k.later(k.firstOf(lo), k.firstOf(mid)), mid, hi, f, grain, in, out)
		}, func() {
			k.For(lo, hi, k.U32(1), func(b ir.Value) {
				k.When(k.Ne(k.Load(ir.U32, k.Add(in, k.U32(4*t.padded)), b), k.U32(0)), func() {
					first := k.firstOf(b)
					last := k.Min(k.Add(first, k.U32(blockOfSet)), k.Count("vertices"))
					k.spawn(taskRange, k.later(k.firstOf(lo), first), first, last, f, grain, in, out)
				})
			})
		})
	})
}

// times returns the number of timestamps of an operator.
func (t *taskCode) times() int { return 1 << t.bits }

// operatorBits returns how many bits that number has on a graph, for so many cores.
func operatorBits(g *graph.Graph, cores int) int {
	tasks := (g.Edges() + g.Vertices()) / (tasksPerCore * max(1, cores))
	n := min(max(0, bits.Len(uint(tasks))-1), maxOperatorBits)
	for n > 0 && g.Vertices()<<n > math.MaxInt32 { // a loop may have a round for each vertex
		n--
	}
	return n
}

// firstOf returns the first vertex of a block.
func (k *taskKernel) firstOf(block ir.Value) ir.Value {
	return k.Shl(block, k.U32(uint32(bits.TrailingZeros(blockOfSet))))
}

// timeOf returns a vertex's timestamp within an operator.
func (k *taskKernel) timeOf(v ir.Value) ir.Value {
	if k.shift == 0 {
		return v
	}
	return k.Shr(v, k.U32(k.shift))
}

// later returns the timestamp of a vertex in the operator, where that of another one is the task's.
func (k *taskKernel) later(from, v ir.Value) ir.Value {
	return k.Add(k.now, k.Sub(k.timeOf(v), k.timeOf(from)))
}

// members executes body for the vertices of a part of the input.
func (k *taskKernel) members(body func(v ir.Value)) {
	in := k.arg(4)
	k.For(k.arg(0), k.arg(1), k.U32(1), func(v ir.Value) {
		there := k.Var(k.U32(1))
		k.When(k.Ne(in, k.U32(0)), func() { there.Set(k.Load(ir.U32, in, v)) })
		k.When(k.Ne(there.Get(), k.U32(0)), func() { body(v) })
	})
}

// join adds a vertex to the output.
func (k *taskKernel) join(v ir.Value) {
	out := k.arg(5)
	k.When(k.Eq(k.Load(ir.U32, out, v), k.U32(0)), func() {
		k.Store(out, v, k.U32(1))
		summary := k.Add(out, k.U32(4*k.padded))
		block := k.Shr(v, k.U32(uint32(bits.TrailingZeros(blockOfSet))))
		k.When(k.Eq(k.Load(ir.U32, summary, block), k.U32(0)), func() { k.Store(summary, block, k.U32(1)) })
	})
}

// function returns a writer of functions, whose accesses are never atomic: tasks are.
func (k *taskKernel) function() *writer {
	w := k.writer(k.Kernel, nil)
	w.atomic = func(graphit.Pos) bool { return false }
	return w
}

// vertexTasks defines an operator over vertices.
func (t *taskCode) vertexTasks(op *graphir.VertexSetIterator, name string) error {
	return t.define(name, func(k *taskKernel) {
		k.members(func(v ir.Value) {
			w := k.function()
			kept := w.call(op.Apply, []ir.Value{w.convert(v, typeOf(op.Apply.Params[0].Type))})
			if op.Filters {
				k.When(kept, func() { k.join(v) })
			}
		})
	})
}

// edgeTasks are the functions of an operator over edges.
type edgeTasks struct {
	*taskCode
	op   *graphir.EdgeSetIterator
	name string
	swarmChoice
	gathered *graphir.Gathered // its single reduction, as a task; nil: none
	queued   *queueWrite       // its single update of a priority, as a task; nil: none
	loop     *taskLoop         // that the operator is the round of; nil: none
}

// define compiles the functions.
func (e *edgeTasks) define() error {
	functions := map[string]func(k *taskKernel){
		"": func(k *taskKernel) { k.members(func(v ir.Value) { e.visit(k, v) }) },
		".edges": func(k *taskKernel) {
			v, lo, hi := k.arg(0), k.arg(1), k.arg(2)
			k.If(k.Gt(k.Sub(hi, lo), k.U32(splitEdges)), func() {
				mid := k.Shr(k.Add(lo, hi), k.U32(1))
				k.spawn(e.name+".edges", k.now, v, lo, mid, nil, nil, k.arg(5))
				k.spawn(e.name+".edges", k.now, v, mid, hi, nil, nil, k.arg(5))
			}, func() { e.row(k, v, lo, hi) })
		},
	}
	if e.writes() {
		functions[".write"] = func(k *taskKernel) { e.write(k, k.arg(0), k.arg(1)) }
	}
	if e.swarmChoice.edges || e.splits && !e.writes() {
		functions[".edge"] = func(k *taskKernel) { e.edge(k, k.arg(1), k.arg(0), k.arg(2)) }
	}
	if e.loop != nil {
		functions[".visit"] = func(k *taskKernel) { e.loop.visit(e, k) }
		functions[".begin"] = func(k *taskKernel) {
			k.members(func(v ir.Value) { e.loop.begin(e, k, v) })
		}
	}
	for _, part := range []string{"", ".edges", ".write", ".edge", ".visit", ".begin"} {
		if f := functions[part]; f != nil {
			if err := e.taskCode.define(e.name+part, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows are the names of the graph's arrays that an operator walks.
func rowsOf(op *graphir.EdgeSetIterator) (offsets, ids, weights string) {
	if op.Transposed {
		return "csc.offsets", "csc.ids", "csc.weights"
	}
	return "csr.offsets", "csr.ids", "csr.weights"
}

// visit processes the edges of a vertex, or has them processed.
func (e *edgeTasks) visit(k *taskKernel, v ir.Value) {
	edges := func() {
		offsets, _, _ := rowsOf(e.op)
		lo, hi := k.Load(ir.U32, k.Addr(offsets), v), k.Load(ir.U32, k.Addr(offsets), k.Add(v, k.U32(1)))
		k.If(k.Gt(k.Sub(hi, lo), k.U32(splitEdges)), func() {
			k.spawn(e.name+".edges", k.now, v, lo, hi, nil, nil, k.arg(5))
		}, func() { e.row(k, v, lo, hi) })
	}
	if f := e.op.SrcFilter; f != nil {
		k.When(k.function().call(f, []ir.Value{v}), edges)
		return
	}
	edges()
}

// row processes edges of a vertex.
func (e *edgeTasks) row(k *taskKernel, v, lo, hi ir.Value) {
	_, ids, weights := rowsOf(e.op)
	k.For(lo, hi, k.U32(1), func(n ir.Value) {
		k.Edge()
		dst, weight := k.Load(ir.U32, k.Addr(ids), n), ir.Value(nil)
		if len(e.op.Apply.Params) == 3 && e.weights != graph.NoWeights {
			weight = k.Load(ir.U32, k.Addr(weights), n)
		}
		if e.swarmChoice.edges || e.splits && !e.writes() {
			k.spawn(e.name+".edge", k.now, dst, v, weight, nil, nil, k.arg(5))
			return
		}
		e.edge(k, v, dst, weight)
	})
}

// writes reports whether the write of an edge is a task of its own.
func (e *edgeTasks) writes() bool { return e.splits && (e.gathered != nil || e.queued != nil) }

// edge processes an edge: all of it, or what precedes its write.
func (e *edgeTasks) edge(k *taskKernel, src, dst, weight ir.Value) {
	switch {
	case !e.writes():
		e.apply(k, src, dst, weight)
	case e.queued != nil:
		k.spawn(e.name+".write", k.now, dst, e.value(k, src, dst, weight, e.queued.before, e.queued.value,
			e.queued.vector.Type.Of))
	default:
		k.spawn(e.name+".write", k.now, dst, e.value(k, src, dst, weight, e.gathered.Before, e.gathered.Value,
			e.gathered.Into.Type.Of), nil, nil, nil, k.arg(5))
	}
}

// value computes what an edge's write writes, as a word.
func (e *edgeTasks) value(k *taskKernel, src, dst, weight ir.Value, before []graphit.Stmt, x graphit.Expr,
	t *graphit.Type) ir.Value {
	w := k.function()
	e.pass(w, src, dst, weight)
	e.prioritise(k, w)
	w.block(before, assignedIn(e.op.Apply.Body))
	return k.AsU32(w.as(x, t))
}

// pass passes an edge as the arguments of the operator's function.
func (e *edgeTasks) pass(w *writer, src, dst, weight ir.Value) {
	e.edgeOf(w, e.op.Apply, src, dst, func(t ir.Type) ir.Value {
		switch {
		case weight == nil && t == ir.F32:
			return w.F32(1)
		case weight == nil:
			return w.convert(w.U32(1), t)
		case t == ir.F32 && e.weights == graph.FloatWeights:
			return w.AsF32(weight)
		case t == ir.F32:
			return w.ToF32(weight)
		}
		return w.convert(weight, t)
	})
}

// filtered executes body if the operator takes edges to a vertex.
func (e *edgeTasks) filtered(k *taskKernel, dst ir.Value, body func()) {
	if f := e.op.DstFilter; f != nil {
		k.When(k.function().call(f, []ir.Value{dst}), body)
		return
	}
	body()
}

// apply applies the operator's function to an edge.
func (e *edgeTasks) apply(k *taskKernel, src, dst, weight ir.Value) {
	e.filtered(k, dst, func() {
		w := k.function()
		e.pass(w, src, dst, weight)
		if e.op.Output == graphir.Modified {
			w.tracked = e.op.Tracked
			w.changed = func(p ir.Value) { e.changed(k, dst, p) }
		}
		e.prioritise(k, w)
		w.block(e.op.Apply.Body, assignedIn(e.op.Apply.Body))
	})
}

// prioritise lets a function change priorities, in a loop over a queue.
func (e *edgeTasks) prioritise(k *taskKernel, w *writer) {
	if e.loop == nil || e.loop.queue == nil {
		return
	}
	w.update = func(x *graphit.Method) bool { return e.loop.update(e, k, w, x) }
	w.current = func() ir.Value { return e.loop.current(k) }
}

// changed adds a vertex to the output, where p holds; nil: always.
func (e *edgeTasks) changed(k *taskKernel, v, p ir.Value) {
	add := func() {
		if e.loop != nil {
			e.loop.next(e, k, v)
			return
		}
		k.join(v)
	}
	if p == nil {
		add()
		return
	}
	k.When(p, add)
}

// write carries out an edge's write.
func (e *edgeTasks) write(k *taskKernel, dst, word ir.Value) {
	e.filtered(k, dst, func() {
		w := k.function()
		if q := e.queued; q != nil {
			e.loop.lower(e, k, w, dst, w.typed(word, typeOf(q.vector.Type.Of)))
			return
		}
		g := e.gathered
		value := w.typed(word, typeOf(g.Into.Type.Of))
		array, at := w.slot(g.Into, dst)
		tells := func(p ir.Value) {
			if e.op.Output == graphir.Modified && g.Into == e.op.Tracked {
				e.changed(k, dst, p)
			}
		}
		switch g.Op {
		case "=":
			w.Store(array, at, value)
			tells(nil)
		case "+=":
			w.Store(array, at, w.Add(w.load(g.Into, dst), value))
			tells(w.Ne(value, w.Zero(value.Type)))
		default:
			w.When(w.better(g.Op, w.load(g.Into, dst), value), func() {
				w.Store(array, at, value)
				tells(nil)
			})
		}
	})
}

// typed returns a word as a value of a type.
func (w *writer) typed(word ir.Value, t ir.Type) ir.Value {
	switch t {
	case ir.I32:
		return w.AsI32(word)
	case ir.F32:
		return w.AsF32(word)
	}
	return word
}

// choose returns an operator's schedule for tasks.
func (t *taskCode) choose(op *graphir.EdgeSetIterator) (c swarmChoice, err error) {
	c = swarmChoice{splits: true, grain: 1, delta: 1, once: true}
	x := op.Swarm
	if x == nil {
		return c, nil
	}
	is := func(s *graphit.Setting, word string) bool { return s != nil && s.Args[0].Text == word }
	c.edges, c.splits = is(x.LoadBalance, "EDGE_BASED"), !is(x.TaskGranularity, "COARSE")
	c.once = !is(x.Deduplication, "DISABLED")
	if is(x.LoopCoarsening, "COARSEN_ENABLED") {
		c.grain = coarseTasks
	}
	if x.Delta != nil {
		d, err := t.host.Argument(x.Delta.Args[0], graphit.Deltas)
		if err != nil {
			return c, err
		}
		c.delta = int64(d)
	}
	return c, nil
}
