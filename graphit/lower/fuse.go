package lower

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/compose"
	"heddle/kernels/host"
)

// fusedLoop is a loop that runs as a single launch.
type fusedLoop struct {
	*compose.FusedLoop
	carried *graphit.Var // the set that is active when the loop begins; nil: none, or a queue's
	queue   *graphit.Var // the queue whose ready set each round dequeues; nil: none

	decides []graphir.Stmt // a round's statements, if one of the host's may end the loop after a number of rounds
	until   graphit.Expr   // the condition of numbers that decides whether there is another round; nil: none does

	edges  map[*graphir.EdgeSetIterator]*compose.EdgeOperator // that the loop runs, of a hybrid that of small sets
	hybrid *graphir.EdgeSetIterator                           // with two schedules, by the size of its set; nil: none

	lists map[*graphit.Var]*compose.List // of sets, that a round appends to or pops off

	given []*graphit.Var         // the variables that a round assigns sets to, in order
	sets  map[*graphit.Var]which // what they hold when it has ended
}

// which identifies a variable's set within a round.
type which uint8

const (
	noSet  which = iota
	active       // the round's input set
	filled       // the set that the round has produced, for the next one
)

// fuser analyses the statements of a round in order.
type fuser struct {
	operators
	program  *graphir.Program
	host     *eval.Host
	loop     fusedLoop
	sets     map[*graphit.Var]which // sets assigned to variables in this round
	order    []*graphit.Var         // these variables, in order
	reads    bool                   // an operator over edges has read the active set
	made     bool
	dequeued bool
	numbers  map[*graphit.Var]bool // of main, that operators of the loop read
	breaks   graphit.Pos           // of a statement that may end the loop; the zero Pos: none so far
}

// notFused is the panic value with the reason why a loop stays on the host.
type notFused struct{ error }

func (f *fuser) no(format string, args ...any) { panic(notFused{fmt.Errorf(format, args...)}) }

// fuse lowers a loop of a program to the device, or returns the reason why it stays on the host.
func fuse(p *graphir.Program, h *eval.Host, o operators, shape host.Shape, s graphir.Stmt) (l *fusedLoop, err error) {
	f := &fuser{operators: o, program: p, host: h, sets: map[*graphit.Var]which{}}
	path, _ := graphir.FusionOf(s)
	f.loop.FusedLoop, f.loop.edges = &compose.FusedLoop{Name: path}, map[*graphir.EdgeSetIterator]*compose.EdgeOperator{}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case notFused:
			err = x.error
		default:
			panic(x)
		}
	}()
	switch s := s.(type) {
	case *graphir.While:
		f.while(s)
	case *graphir.For:
		f.loop.Counted = true
		f.rounds(s.Body)
	}
	if !f.reads && (f.made || f.dequeued) {
		f.no("no operator over edges reads the set that a round makes")
	}
	for _, v := range f.order {
		if !slices.Contains(f.loop.given, v) {
			f.loop.given = append(f.loop.given, v)
		}
	}
	f.loop.sets = f.sets
	err = f.loop.Refused(shape)
	if refused := (*compose.Refused)(nil); errors.As(err, &refused) {
		err = errors.New(refused.Why)
	}
	return &f.loop, err
}

// rounds accepts the body of a loop with a number of rounds.
func (f *fuser) rounds(list []graphir.Stmt) {
	f.body(list)
	if f.reads && f.sets[f.loop.carried] != filled {
		f.no("the next round reads another set than the one that a round makes")
	}
}

func (f *fuser) while(s *graphir.While) {
	if q := graphir.Finishes(s.Cond); q != nil {
		f.buckets(q)
		f.body(s.Body)
		if !f.dequeued {
			f.no("a round takes no bucket out of %s", q.Name)
		}
		return
	}
	v := notEmpty(s.Cond)
	if v == nil && !f.program.Narrow && f.follows(s.Cond) {
		f.loop.Counted, f.loop.until, f.loop.decides = true, s.Cond, s.Body
		f.rounds(s.Body)
		return
	}
	if v == nil {
		f.no("its condition is the host's: expected that a set is not empty, or that a queue is not finished")
	}
	f.body(s.Body)
	if f.loop.carried != v || f.sets[v] != filled {
		f.no("%s, which its condition asks for, is not the set that a round reads and makes for the next one", v.Name)
	}
}

// notEmpty returns the variable of a condition that tests whether a set has vertices; nil: some other condition.
func notEmpty(x graphit.Expr) *graphit.Var {
	cond, ok := x.(*graphit.Binary)
	if !ok || cond.Op != "!=" && cond.Op != ">" {
		return nil
	}
	zero, isNumber := cond.Y.(*graphit.Number)
	size, isMethod := cond.X.(*graphit.Method)
	if !isNumber || !isMethod || zero.Int != 0 || zero.TypeOf().IsReal() || size.X.TypeOf().Kind != graphit.VertexSet {
		return nil
	}
	if n, ok := size.X.(*graphit.Name); ok && (size.Name == "size" || size.Name == "getVertexSetSize") {
		return n.Var
	}
	return nil
}

// buckets makes the loop dequeue its sets from a queue.
func (f *fuser) buckets(q *graphit.Var) {
	if f.program.Descends(q) {
		f.no("%s has higher priorities first", q.Name)
	}
	vector := f.queues[q]
	if f.takes[q] == nil || vector == nil {
		f.no("%s is not made", q.Name)
	}
	for _, op := range f.program.Edges {
		if op.Output != graphir.Priority || op.Delta == nil {
			continue
		}
		if _, err := f.host.Argument(*op.Delta, graphit.Deltas); err != nil {
			f.no("configDelta: buckets are too wide for a word of the machine")
		}
	}
	t := vector.Type.Of
	f.loop.queue = q
	f.loop.Buckets = &compose.Buckets{
		Takes: f.takes[q], Finds: f.finds[q],
		Least: least, Greatest: uint32(greatest(t)), Signed: t.Kind != graphit.Uint,
		Priority: priorityName, Below: below,
	}
}

func (f *fuser) body(list []graphir.Stmt) {
	f.numbers = numbersOf(list)
	for _, s := range list {
		switch s := s.(type) {
		case *graphir.Host:
			f.hosts(s.Stmt)
		case *graphir.EdgeSetIterator:
			f.last(s.Name)
			f.edge(s)
		case *graphir.VertexSetIterator:
			f.last(s.Name)
			f.vertex(s)
		case *graphir.If:
			if f.branches(s); f.breaks != (graphit.Pos{}) {
				f.loop.decides = list
			}
		default:
			f.no("there is a loop in it, in line %d", s.Position().Line)
		}
	}
}

// branches accepts an if that follows from the number of rounds: on numbers of main, of statements that the host defers
// and of break.
func (f *fuser) branches(s *graphir.If) {
	if f.program.Narrow || !f.follows(s.Cond) {
		f.no("the host decides the if in line %d: expected numbers of main, and none that an operator of the loop reads",
			s.Pos.Line)
	}
	for _, list := range [][]graphir.Stmt{s.Then, s.Else} {
		for _, x := range list {
			switch x := x.(type) {
			case *graphir.If:
				f.branches(x)
				continue
			case *graphir.Host:
				if b, ok := x.Stmt.(*graphit.Break); ok {
					f.ends(b.Pos)
					continue
				}
				if f.deferred(x.Stmt) {
					continue
				}
			}
			f.no("the host decides the if in line %d, and there is more in it than numbers, prints and break", s.Pos.Line)
		}
	}
}

// ends notes a break, behind so many rounds.
func (f *fuser) ends(at graphit.Pos) {
	if f.loop.Counted || f.loop.queue != nil {
		f.no("the break in line %d is of a loop over a queue or of a for: expected while a set is not empty", at.Line)
	}
	f.breaks = at
}

// last refuses what a round does behind a break.
func (f *fuser) last(what string) {
	if f.breaks != (graphit.Pos{}) {
		f.no("%s follows the break in line %d", what, f.breaks.Line)
	}
}

// hosts tracks the sets that the host's statements assign. These statements do nothing else on the device.
func (f *fuser) hosts(s graphit.Stmt) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		if s.Var.Type.Kind == graphit.VertexSet {
			f.give(s.Var, s.Var.Init, s)
			return
		}
	case *graphit.Assign:
		if n, ok := s.X.(*graphit.Name); ok && n.TypeOf().Kind == graphit.VertexSet {
			f.give(n.Var, s.Value, s)
			return
		}
	case *graphit.ExprStmt:
		if m, ok := s.X.(*graphit.Method); ok && f.listed(m, s) {
			return
		}
	case *graphit.Delete:
		if s.X.TypeOf().Kind == graphit.VertexSet {
			return
		}
	}
	if !f.program.Narrow && f.deferred(s) { // another host than heddle's has no rounds to go along with
		return
	}
	f.no("%s, in line %d, is the host's", graphit.SourceOf(s), s.Position().Line)
}

// give assigns a set to a variable.
func (f *fuser) give(v *graphit.Var, x graphit.Expr, s graphit.Stmt) {
	f.last(v.Name + " = …")
	f.order = append(f.order, v)
	switch x := x.(type) {
	case nil:
		f.sets[v] = noSet
		return
	case *graphit.Name:
		f.sets[v] = f.read(x)
		return
	case *graphit.Method:
		n, ok := x.X.(*graphit.Name)
		if ok && x.Name == "pop" {
			f.pops(n.Var, v, s)
			return
		}
		if ok && x.Name == "dequeue_ready_set" && n.Var == f.loop.queue && !f.dequeued {
			f.sets[v], f.dequeued = active, true
			return
		}
	}
	f.no("%s, in line %d, is the host's", graphit.SourceOf(s), s.Position().Line)
}

// read returns a variable's set: a variable not assigned in this round still has its set from the start of the round.
func (f *fuser) read(x graphit.Expr) which {
	v := x.(*graphit.Name).Var
	if w, given := f.sets[v]; given {
		if w == noSet {
			f.no("%s, in line %d, is a set that the host makes", v.Name, x.Position().Line)
		}
		return w
	}
	if f.loop.queue != nil || f.loop.carried != nil && f.loop.carried != v {
		f.no("%s, in line %d, is a set from before the round, and not the one that the round begins with", v.Name,
			x.Position().Line)
	}
	f.loop.carried = v
	return active
}

func (f *fuser) edge(op *graphir.EdgeSetIterator) {
	x := compose.LoopOperator{Edges: f.edges[op][0]}
	switch {
	case op.Hybrid == nil:
	case f.program.Narrow:
		f.no("%s has two schedules, and the host looks which its input takes", op.Name)
	case isDense(op):
		x.Edges = f.ofAll(op)
	default:
		x.Above, f.loop.hybrid = f.edges[op][1], op
	}
	if f.program.Narrow && len(x.Edges.Plan.Direction.Uses) > 1 {
		f.no("%s changes its direction, and the host counts the edges of active vertices", op.Name)
	}
	f.loop.edges[op] = x.Edges
	f.loop.Body = append(f.loop.Body, x)
	switch {
	case isDense(op):
		return
	case op.Input == nil:
		f.no("%s makes a set out of all edges in each round", op.Name)
	case f.read(op.Input) != active:
		f.no("%s reads a set that the round has made", op.Name)
	case f.reads:
		f.no("%s is the second operator over edges that reads a set", op.Name)
	case f.made:
		f.no("%s reads a set when the next one has been made", op.Name)
	}
	f.reads = true
	if op.Output == graphir.Modified {
		f.make(op.Name, op.To, op.Declares)
	}
}

// ofAll returns the schedule of a hybrid whose input is always all vertices.
func (f *fuser) ofAll(op *graphir.EdgeSetIterator) *compose.EdgeOperator {
	share, err := f.host.Argument(op.Hybrid.Threshold, graphit.Thresholds)
	if err != nil {
		f.no("%s: %v", op.Name, err)
	}
	if share <= 1 {
		return f.operators.edges[op][1]
	}
	return f.operators.edges[op][0]
}

func (f *fuser) vertex(op *graphir.VertexSetIterator) {
	x := compose.LoopOperator{Vertices: f.vertices[op]}
	if op.Input != nil {
		x.Filled = f.read(op.Input) == filled
	}
	f.loop.Body = append(f.loop.Body, x)
	if op.Filters {
		f.make(op.Name, op.To, op.Declares)
	}
}

// make makes an operator's output the next round's set.
func (f *fuser) make(name string, to graphit.Expr, declares *graphit.Var) {
	switch n, ok := to.(*graphit.Name); {
	case f.made:
		f.no("%s makes a second set in a round", name)
	case f.loop.queue != nil:
		f.no("%s makes a set, and the next one comes out of %s", name, f.loop.queue.Name)
	case declares != nil:
		f.sets[declares], f.order = filled, append(f.order, declares)
	case ok:
		f.sets[n.Var], f.order = filled, append(f.order, n.Var)
	}
	f.made = true
}

// fuseLoops lowers each loop that the schedule fuses to one launch. Loops that cannot be fused are noted.
func fuseLoops(p *graphir.Program, h *eval.Host, o operators, shape host.Shape) (loops map[graphir.Stmt]*fusedLoop,
	notes []graphir.Note) {
	loops = map[graphir.Stmt]*fusedLoop{}
	p.Visit(func(s graphir.Stmt) {
		path, f := graphir.FusionOf(s)
		if f == nil || !f.NeedsFusion {
			return
		}
		l, err := fuse(p, h, o, shape, s)
		if err != nil {
			text := fmt.Sprintf("configKernelFusion: %s stays the host's loop, and every operator a launch: %v", path,
				err)
			notes = append(notes, graphir.Note{Pos: f.Fused, Text: text})
			return
		}
		loops[s] = l
	})
	return loops, notes
}

// fusedPath names a loop that is one launch; "": there is none.
func (b *backend) fusedPath() (path string) {
	b.program.Visit(func(s graphir.Stmt) {
		if l := b.loops[s]; l != nil && path == "" {
			path = l.Name
		}
	})
	return path
}

// BeginLoop begins a fused loop on the device.
func (b *backend) BeginLoop(ctx context.Context, s graphir.Stmt, rounds int64) error {
	if _, f := graphir.FusionOf(s); !f.NeedsFusion {
		return nil
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	l := b.loops[s]
	if l == nil || rounds > math.MaxInt32 {
		return nil
	}
	var in *eval.Set
	switch {
	case l.queue != nil:
		q := b.host.QueueOf(l.queue)
		in, l.Buckets.Delta = b.ready[q], uint32(q.Delta)
	case l.carried != nil:
		if in = b.host.SetOf(l.carried); in == nil {
			msg := fmt.Sprintf("%s has been deleted, or was never given a set", l.carried.Name)
			return &graphit.Error{File: b.program.File.Name, Pos: s.Position(), Msg: msg}
		}
	}
	switch {
	case l.until != nil:
		if rounds = int64(b.host.RoundsWhile(l.until, l.decides)); rounds == 0 {
			return nil // too many to foresee: the host's loop
		}
	case l.decides != nil:
		rounds = int64(b.host.RoundsUntilBreak(l.decides))
	}
	if err := b.beginLists(l, s); err != nil {
		return err
	}
	if l.hybrid != nil {
		n, err := b.leastAbove(l.hybrid)
		if err != nil {
			return err
		}
		l.AtLeast = uint32(min(n, math.MaxUint32))
	}
	if b.options.fused != nil {
		b.options.fused(l.FusedLoop, &rounds)
	}
	b.now = l
	return b.session.Begin(l.FusedLoop, b.frontier(in), int(rounds))
}

// EndLoop ends the current loop on the device.
func (b *backend) EndLoop(_ context.Context, s graphir.Stmt) error {
	l := b.now
	if l == nil || b.loops[s] != l {
		return nil
	}
	b.now = nil
	if err := b.session.End(); err != nil {
		return err
	}
	return b.endLists(l)
}

// Loop is a loop that a schedule may name.
type Loop struct {
	Path    string
	Fused   bool  // its schedule fuses it into one launch
	Refused error // why the machine cannot fuse it; nil: it can
}

// Loops returns a program's loops as Run would run them on a graph with such weights and a machine of a shape.
func Loops(f *graphit.File, o Options, weights graph.WeightKind, shape host.Shape) (loops []Loop, err error) {
	defer catch(f.Name, &err)
	if shape.Tasks {
		return nil, nil // fusion is GPUs'
	}
	p, err := Build(f, o.Schedule, o.Float)
	if err != nil {
		return nil, err
	}
	h := eval.NewHost(p, nil, eval.Options{Args: o.Args})
	l := &lowering{program: p, host: h, weights: weights, base: o.Workload, queues: queueVectors(p)}
	ops, err := l.operators(nil)
	if err != nil {
		return nil, err
	}
	p.Visit(func(s graphir.Stmt) {
		if path, asked := graphir.FusionOf(s); path != "" {
			_, err := fuse(p, h, ops, shape, s)
			loops = append(loops, Loop{path, asked.NeedsFusion, err})
		}
	})
	return loops, nil
}

// deferred reports whether the host can do a statement when the launch has ended, since it follows from the number of
// rounds: it computes or prints numbers of main, and no operator of the loop reads what it assigns.
func (f *fuser) deferred(s graphit.Stmt) bool {
	switch s := s.(type) {
	case *graphit.VarStmt:
		if !isNumber(s.Var.Type) || f.numbers[s.Var] {
			return false
		}
	case *graphit.Assign:
		n, ok := s.X.(*graphit.Name)
		if !ok || !isNumber(n.TypeOf()) || f.numbers[n.Var] {
			return false
		}
	case *graphit.Print:
	default:
		return false
	}
	ok := true
	graphit.WalkStmt(s, func(x graphit.Expr) { ok = ok && ofNumbers(x) })
	return ok
}

// follows reports whether a condition follows from numbers of main alone.
func (f *fuser) follows(cond graphit.Expr) bool {
	ok := true
	graphit.WalkStmt(&graphit.ExprStmt{X: cond}, func(x graphit.Expr) { ok = ok && ofNumbers(x) })
	return ok
}

// ofNumbers reports whether an expression, apart from its operands, is one of numbers.
func ofNumbers(x graphit.Expr) bool {
	switch x := x.(type) {
	case *graphit.Method, *graphit.Index, *graphit.New, *graphit.Load:
		return false
	case *graphit.Call:
		return x.Func == nil && (x.Name == "min" || x.Name == "max" || x.Name == "fabs" || x.Name == "to_double")
	case *graphit.Name:
		return isNumber(x.TypeOf())
	}
	return true
}

func isNumber(t *graphit.Type) bool {
	switch t.Kind {
	case graphit.Int, graphit.Uint, graphit.Float, graphit.Double, graphit.Bool, graphit.Vertex:
		return true
	}
	return false
}

// numbersOf are the numbers of main that operators' functions in a block read.
func numbersOf(list []graphir.Stmt) map[*graphit.Var]bool {
	read := map[*graphit.Var]bool{}
	var function func(fn *graphit.Func)
	function = func(fn *graphit.Func) {
		if fn == nil {
			return
		}
		graphit.Walk(fn.Body, func(x graphit.Expr) {
			switch x := x.(type) {
			case *graphit.Name:
				read[x.Var] = true
			case *graphit.Call:
				function(x.Func)
			}
		})
	}
	for _, s := range list {
		switch s := s.(type) {
		case *graphir.EdgeSetIterator:
			function(s.Apply)
			function(s.SrcFilter)
			function(s.DstFilter)
		case *graphir.VertexSetIterator:
			function(s.Apply)
		}
	}
	return read
}
