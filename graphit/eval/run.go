package eval

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
)

// Set is a set of vertices, ascending, each once.
type Set struct {
	Vertices []uint32
	// Undecided are the vertices of a filter's output that depend on rounding; nil: none.
	Undecided map[uint32]bool
}

// Queue is a priority queue.
type Queue struct {
	Var    *graphit.Var
	Vector *graphit.Var // the vertices' priorities
	All    bool         // every vertex waits at first; otherwise Source
	Source uint32
	// Descending is set if the bucket of the highest priorities comes first. Vertices whose priority is the greatest
	// number do not wait then.
	Descending bool
	// Delta is the number of priorities per bucket.
	Delta int64
	// Current is the bucket's that was dequeued last.
	Current int64
	// Next is the least priority of the first bucket in which a vertex waits, when the backend has been asked whether
	// any does.
	Next int64
	// Asked is set until an operator runs after a bucket has been dequeued: the queue is finished then if that was
	// empty, Empty.
	Asked, Empty bool
}

// Waits reports whether a vertex of a priority waits at first.
func (q *Queue) Waits(v int, priority int64) bool {
	if q.Descending && priority == greatest(q.Vector.Type.Of) {
		return false
	}
	return q.All || uint32(v) == q.Source
}

// Backend executes a host program's operations.
type Backend interface {
	// Declare creates a vector. All of its elements are initial, or those of degrees.
	Declare(v *graphit.Var, initial Value, degrees []uint32) error
	Element(v *graphit.Var, n int) Value
	SetElement(v *graphit.Var, n int, x Value)
	// Edges and Vertices run an operator. in is nil if that is over all; an operator without output returns nil.
	Edges(ctx context.Context, op *graphir.EdgeSetIterator, in *Set) (*Set, error)
	Vertices(ctx context.Context, op *graphir.VertexSetIterator, in *Set) (*Set, error)
	// Queue creates a queue, Ready dequeues the vertices of its first bucket, and Waiting reports whether any vertex
	// waits, and sets Next.
	Queue(ctx context.Context, q *Queue) error
	Ready(ctx context.Context, q *Queue) (*Set, error)
	Waiting(ctx context.Context, q *Queue) (bool, error)
	// Seconds is the time, for timers.
	Seconds() float64
}

// Looper is a backend that may run a loop as a whole, for which the host goes along.
type Looper interface {
	// BeginLoop is called before a loop's first round, if it has any; rounds is the number of rounds of a counting
	// loop.
	BeginLoop(ctx context.Context, loop graphir.Stmt, rounds int64) error
	// EndLoop is called after its last round, if there was a first.
	EndLoop(ctx context.Context, loop graphir.Stmt) error
}

// Lister is a backend that may keep lists of sets, of a loop that it runs as a whole.
type Lister interface {
	// Append is called when a set is appended to a list, and Pop when one has been popped off. Pop returns the set as
	// the backend knows it.
	Append(ctx context.Context, list *graphit.Var, s *Set) error
	Pop(ctx context.Context, list *graphit.Var, s *Set) (*Set, error)
}

// Settler is a backend whose operators may return sets before their vertices are known.
type Settler interface {
	// Settle is called before the host looks into a set.
	Settle(ctx context.Context, s *Set) error
}

// Options are a program's inputs besides its graph.
type Options struct {
	Args   []string // argv: the program's name, the graph's, and further arguments
	Output io.Writer
	// MaxSteps is the maximum number of operators over edges; 0: more than any terminating program needs.
	MaxSteps int
	// AnyArguments is of programs that are checked, and do not run: arguments of schedules are there, and right.
	AnyArguments bool
}

// Without MaxSteps there may be that many operators, and a number for each vertex: algorithms in rounds take one a
// vertex at most, and those that begin again at each vertex do so on small graphs.
const leastSteps, stepsPerVertex = 1_000_000, 64

// maxRounds are the rounds of loops within one call of a function, or of main between two operators: seconds.
var maxRounds = 1 << 24

// limitedRounds is the least limit of rounds where operators have one: a function may go round more often than a
// program has operators.
const limitedRounds = 1 << 18

// Host runs a program's host side.
type Host struct {
	program *graphir.Program
	graph   *graph.Graph
	back    Backend
	opt     Options
	scope   *scope

	numbers map[*graphit.Var]*Value
	sets    map[*graphit.Var]*Set
	lists   map[*graphit.Var][]*Set
	ints    map[*graphit.Var][]Value // lists of numbers
	queues  map[*graphit.Var]*Queue
	timer   float64
	leave   bool
	steps   int
	rounds  int
	between int             // operators over vertices since the last over edges
	whiles  int             // number of enclosing loops without a fixed number of rounds
	where   func() string   // of an operator's function that runs: its edge or vertex; nil: main runs
	ctx     context.Context // of the run
	cache   map[graphit.Expr]code
	state   any // of Go functions
	inC     any // of those in C
}

// InC returns what Instance of the functions in C has returned; nil: none has been called.
func (h *Host) InC() any { return h.inC }

// NewHost returns the host side of a run. Options' Args[0] and [1] stand for the program and the graph.
func NewHost(p *graphir.Program, g *graph.Graph, opt Options) *Host {
	h := &Host{
		program: p, graph: g, opt: opt, numbers: map[*graphit.Var]*Value{}, sets: map[*graphit.Var]*Set{},
		lists: map[*graphit.Var][]*Set{}, ints: map[*graphit.Var][]Value{}, queues: map[*graphit.Var]*Queue{}, cache: map[graphit.Expr]code{},
	}
	if opt.Output == nil {
		h.opt.Output = io.Discard
	}
	h.scope = &scope{locals: map[*graphit.Var]int{}, names: h, program: p}
	return h
}

// Scalar is a number of the host's, as operators' functions see it now.
func (h *Host) Scalar(v *graphit.Var) Value { return *h.scalar(v) }

// SetOf is the set that a variable holds; nil: none.
func (h *Host) SetOf(v *graphit.Var) *Set { return h.sets[v] }

// ListOf are the sets of a list, the last one last.
func (h *Host) ListOf(v *graphit.Var) []*Set { return h.lists[v] }

// QueueOf is the queue that a variable holds; nil: none.
func (h *Host) QueueOf(v *graphit.Var) *Queue { return h.queues[v] }

// Argument is an argument of a schedule: a number, or one of the command line.
func (h *Host) Argument(a graphit.Arg, r graphit.Range) (float64, error) {
	text := a.Text
	if n, ok := a.Argv(); ok {
		if h.opt.AnyArguments {
			return 1, nil
		}
		if n >= len(h.opt.Args) {
			return 0, fmt.Errorf("the schedule asks for argv[%d], and there are arguments up to argv[%d]", n,
				len(h.opt.Args)-1)
		}
		text = h.opt.Args[n]
	}
	x, wrong := r.Number(text)
	if wrong != "" {
		return 0, fmt.Errorf("the schedule's %s: %s", a.Text, wrong)
	}
	return x, nil
}

// Run runs the program on a backend. An error is a *graphit.Error, the backend's or ctx's.
func (h *Host) Run(ctx context.Context, b Backend) error {
	return h.guarded(ctx, b, func() {
		h.globals()
		h.block(h.program.Main)
		if r, ok := b.(*Reference); ok {
			r.ended()
		}
	})
}

// Declare creates the program's constants on a backend, without running main.
func (h *Host) Declare(ctx context.Context, b Backend) error {
	return h.guarded(ctx, b, h.globals)
}

// Constants refuses initial values that do not fit their types, of the program's constants that are numbers as written.
func (h *Host) Constants() error {
	return h.guarded(context.Background(), nil, func() {
		for _, v := range h.program.File.Globals {
			t := v.Type
			if t.Kind == graphit.Vector {
				t = t.Of
			}
			if _, number := graphit.Constant(v.Init); number {
				h.initial(v, t)
			}
		}
	})
}

func (h *Host) guarded(ctx context.Context, b Backend, f func()) (err error) {
	h.back, h.ctx = b, ctx
	defer func() {
		switch x := recover().(type) {
		case nil:
		case failure:
			err = &graphit.Error{File: h.program.File.Name, Pos: x.pos, Msg: x.msg, Kind: x.kind}
			if h.where != nil {
				err.(*graphit.Error).Msg += h.where()
			}
		case stopped:
			err = x.err
		default:
			panic(x)
		}
	}()
	f()
	return nil
}

// stopped is thrown with an error of the backend's.
type stopped struct{ err error }

func (h *Host) must(err error) {
	if err != nil {
		panic(stopped{err})
	}
}

func (h *Host) globals() {
	for _, v := range h.program.File.Globals { // in their order: they may use each other
		switch v.Type.Kind {
		case graphit.Vector:
			h.vector(v)
		case graphit.EdgeSet, graphit.VertexSet, graphit.PriorityQueue:
		default:
			if v.Type.Kind == graphit.String {
				fail(v.Pos, "%s: strings cannot be kept", v.Name)
			}
			*h.scalar(v) = h.initial(v, v.Type)
		}
	}
}

// initial is a variable's first value.
func (h *Host) initial(v *graphit.Var, t *graphit.Type) Value {
	if v.Init == nil {
		return Value{}
	}
	return h.scope.as(v.Init, t)(nil)
}

func (h *Host) vector(v *graphit.Var) {
	m, ok := v.Init.(*graphit.Method)
	if !ok || m.TypeOf().Kind != graphit.Vector {
		h.must(h.back.Declare(v, h.initial(v, v.Type.Of), nil))
		return
	}
	switch m.Name {
	case graphit.RowBits, graphit.RowHashes, graphit.HashStarts, graphit.HashMasks:
		distinct(v, h.graph)
		h.must(h.back.Declare(v, Value{}, intersectionNumbers(m.Name, h.graph)))
	default:
		h.must(h.back.Declare(v, Value{}, rows(h.graph, m.Name)))
	}
}

// rows are numbers of the graph's rows, by the method of edges that returns them.
func rows(g *graph.Graph, method string) []uint32 {
	csr := g.CSR()
	switch method {
	case graphit.RowTargets:
		return csr.IDs
	case graphit.RowStarts:
		return csr.Offsets[:g.Vertices()]
	}
	degrees := make([]uint32, g.Vertices())
	for n := range degrees {
		degrees[n] = uint32(csr.Degree(n))
	}
	return degrees
}

// Length is the number of a vector's numbers, on a graph.
func Length(v *graphit.Var, g *graph.Graph) int {
	switch t := v.Type; {
	case rowMethod(v) != "":
		return intersectionLength(rowMethod(v), g)
	case t.PerEdge:
		return g.Edges()
	case t.Element != "":
		return g.Vertices() * max(1, t.Width)
	default:
		return t.Size * max(1, t.Width)
	}
}

// maxNumbers is the largest number of numbers of a vector: beyond it no machine of 32 bits has room.
const maxNumbers = 1 << 30

// Accepts refuses graphs that a program cannot run on: of another size than the one that the program gives, or so large
// that a vector has too many numbers.
func Accepts(p *graphir.Program, g *graph.Graph) error {
	wrong := func(at graphit.Pos, format string, args ...any) error {
		return &graphit.Error{File: p.File.Name, Pos: at, Msg: fmt.Sprintf(format, args...)}
	}
	if n := p.Isolated; n > 0 && n != g.Vertices() {
		return wrong(graphit.Pos{Line: 1, Column: 1},
			"the program loads no graph, and has %d vertices: expected a graph with as many, found %d", n, g.Vertices())
	}
	for _, v := range p.Vectors {
		if n := Length(v, g); n > maxNumbers {
			return wrong(v.Pos, "%s has %d numbers on this graph: expected at most %d", v.Name, n, maxNumbers)
		}
	}
	return nil
}

func (h *Host) block(list []graphir.Stmt) {
	for _, s := range list {
		if h.statement(s); h.leave {
			return
		}
	}
}

func (h *Host) statement(s graphir.Stmt) {
	h.must(h.ctx.Err())
	switch s := s.(type) {
	case *graphir.Host:
		h.simple(s.Stmt)
	case *graphir.If:
		if h.truth(s.Cond) {
			h.block(s.Then)
		} else {
			h.block(s.Else)
		}
	case *graphir.While:
		rounds := h.looping(s)
		h.whiles++
		for !h.leave && h.truth(s.Cond) {
			h.round(s.Pos)
			rounds.next(0)
			h.block(s.Body)
		}
		h.whiles--
		rounds.end()
	case *graphir.For:
		from, to := h.value(s.From), h.as(s.To, s.Var.Type)
		at, rounds := h.scalar(s.Var), h.looping(s)
		for i := from.I; i < to.I && !h.leave; i++ {
			h.round(s.Pos)
			*at = Int(i)
			rounds.next(to.I - from.I)
			h.block(s.Body)
		}
		rounds.end()
	case *graphir.EdgeSetIterator:
		h.step(s.Pos)
		h.operator()
		out, err := h.back.Edges(h.ctx, s, h.input(s.Input))
		h.must(err)
		h.keep(s.To, s.Declares, out)
	case *graphir.VertexSetIterator:
		h.vertices(s.Pos)
		h.operator()
		out, err := h.back.Vertices(h.ctx, s, h.input(s.Input))
		h.must(err)
		h.keep(s.To, s.Declares, out)
	}
}

// operator precedes one: queues are then as it leaves them.
func (h *Host) operator() {
	for _, q := range h.queues {
		q.Asked = false
	}
}

// step counts the operators over edges.
func (h *Host) step(pos graphit.Pos) {
	most := h.opt.MaxSteps
	if most == 0 {
		most = leastSteps + stepsPerVertex*h.graph.Vertices()
	}
	if h.steps++; h.steps > most {
		endless(pos, "more than %d operators over edges have run: the program does not end, or it takes a higher limit",
			most)
	}
	h.rounds, h.between = 0, 0
}

// vertices counts the operators over vertices between two over edges.
func (h *Host) vertices(pos graphit.Pos) {
	most := leastSteps + stepsPerVertex*h.graph.Vertices()
	if h.opt.MaxSteps > 0 {
		most = min(most, max(h.opt.MaxSteps, limitedRounds))
	}
	if h.between++; h.between > most {
		endless(pos, "more than %d operators over vertices have run without one over edges: the program does not end", most)
	}
	h.rounds = 0
}

// round counts the rounds of main's loops between two operators.
func (h *Host) round(pos graphit.Pos) {
	h.rounds++
	h.limit(h.rounds, pos)
}

// limit ends loops that have gone round too often, or whose run has been interrupted.
func (h *Host) limit(rounds int, pos graphit.Pos) {
	if rounds%1024 == 0 {
		h.must(h.ctx.Err())
	}
	most := maxRounds
	if h.opt.MaxSteps > 0 {
		most = min(most, max(h.opt.MaxSteps, limitedRounds))
	}
	if rounds > most {
		endless(pos, "the loop has gone round %d times without an operator: it does not end", most)
	}
}

// mostForeseen bounds the rounds that RoundsUntilBreak looks ahead.
const mostForeseen = 1 << 20

// RoundsUntilBreak returns the number of rounds after which a loop's break is reached, if its condition depends on
// numbers of main that the host's own statements change; 0: it is not. Nothing has changed behind it.
func (h *Host) RoundsUntilBreak(body []graphir.Stmt) int {
	return h.foreseen(body, func() bool { return h.leave })
}

// RoundsWhile returns the number of rounds after which a loop's condition no longer holds, likewise.
func (h *Host) RoundsWhile(cond graphit.Expr, body []graphir.Stmt) int {
	return h.foreseen(body, func() bool { return !h.truth(cond) })
}

// foreseen returns the number of rounds behind which a loop ends; 0: it does not within mostForeseen.
func (h *Host) foreseen(body []graphir.Stmt, ended func() bool) (rounds int) {
	was := map[*graphit.Var]Value{}
	for v, x := range h.numbers {
		was[v] = *x
	}
	defer func() {
		for v, x := range h.numbers {
			*x = was[v]
		}
		h.leave = false
		switch x := recover().(type) {
		case nil:
		case failure: // it would fail, if it came so far
			rounds = 0
		default:
			panic(x)
		}
	}()
	for rounds = 1; rounds <= mostForeseen; rounds++ {
		if h.foresee(body); ended() {
			return rounds
		}
	}
	return 0
}

// foresee executes the statements on numbers alone.
func (h *Host) foresee(list []graphir.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *graphir.If:
			if h.truth(s.Cond) {
				h.foresee(s.Then)
			} else {
				h.foresee(s.Else)
			}
		case *graphir.Host:
			switch x := s.Stmt.(type) {
			case *graphit.Break:
				h.leave = true
			case *graphit.VarStmt:
				if x.Var.Type.Kind != graphit.VertexSet {
					h.simple(x)
				}
			case *graphit.Assign:
				if x.X.TypeOf().Kind != graphit.VertexSet {
					h.simple(x)
				}
			}
		}
		if h.leave {
			return
		}
	}
}

// looping notifies the backend of a loop's rounds.
type looping struct {
	*Host
	loop  graphir.Stmt
	tells Looper // nil: the backend is no Looper
	begun bool
}

func (h *Host) looping(s graphir.Stmt) *looping {
	l := &looping{Host: h, loop: s}
	l.tells, _ = h.back.(Looper)
	return l
}

// next comes before a round.
func (l *looping) next(rounds int64) {
	if l.tells != nil && !l.begun {
		l.must(l.tells.BeginLoop(l.ctx, l.loop, rounds))
	}
	l.begun = true
}

func (l *looping) end() {
	l.leave = false
	if l.tells != nil && l.begun {
		l.must(l.tells.EndLoop(l.ctx, l.loop))
	}
}

// input is an operator's input; nil: all vertices or edges.
func (h *Host) input(x graphit.Expr) *Set {
	if x == nil {
		return nil
	}
	return h.set(x)
}

// keep assigns an operator's output.
func (h *Host) keep(to graphit.Expr, declares *graphit.Var, out *Set) {
	switch n, ok := to.(*graphit.Name); {
	case declares != nil:
		h.sets[declares] = out
	case ok:
		h.sets[n.Var] = out
	}
}

// set is the value of an expression that is a set.
func (h *Host) set(x graphit.Expr) *Set {
	switch x := x.(type) {
	case *graphit.Name:
		if s := h.sets[x.Var]; s != nil {
			return s
		}
		if x.Var.Global {
			return h.everything()
		}
		fail(x.Pos, "%s has been deleted, or was never given a set", x.Name)
	case *graphit.Call:
		if x.Func != nil && x.Func.Native != nil {
			args := make([]Value, len(x.Args))
			for i, a := range x.Args {
				if k := x.Func.Params[i].Type.Kind; k != graphit.VertexSet && k != graphit.String {
					args[i] = h.as(a, x.Func.Params[i].Type)
				}
			}
			if _, set := h.external(x, args); set != nil {
				return set
			}
		}
	case *graphit.New:
		n := h.value(x.Args[0]).I
		switch {
		case n == 0:
			return &Set{}
		case n == int64(h.graph.Vertices()):
			return h.everything()
		}
		fail(x.Pos, "new vertexset(%d): expected 0, or the number of vertices, %d", n, h.graph.Vertices())
	case *graphit.Method:
		switch x.Name {
		case "pop":
			return h.pop(x)
		case "dequeue_ready_set":
			q := h.queue(x.X)
			s, err := h.back.Ready(h.ctx, q)
			h.must(err)
			q.Asked, q.Empty = true, len(s.Vertices) == 0
			return s
		case "getVertices":
			return h.everything()
		}
	}
	fail(x.Position(), "expected a set")
	return nil
}

// settled is the value of an expression that is a set whose vertices the host needs to know.
func (h *Host) settled(x graphit.Expr) *Set {
	s := h.set(x)
	if b, ok := h.back.(Settler); ok {
		h.must(b.Settle(h.ctx, s))
	}
	return s
}

// everything is the set of all vertices.
func (h *Host) everything() *Set {
	s := &Set{Vertices: make([]uint32, h.graph.Vertices())}
	for v := range s.Vertices {
		s.Vertices[v] = uint32(v)
	}
	return s
}

// pop takes the last set off a list.
func (h *Host) pop(x *graphit.Method) *Set {
	n, ok := x.X.(*graphit.Name)
	if !ok {
		fail(x.Pos, "expected a variable that is a list")
	}
	list := h.lists[n.Var]
	if len(list) == 0 {
		fail(x.Pos, "the list %s is empty", n.Name)
	}
	h.lists[n.Var] = list[:len(list)-1]
	s := list[len(list)-1]
	if b, ok := h.back.(Lister); ok {
		var err error
		s, err = b.Pop(h.ctx, n.Var, s)
		h.must(err)
	}
	return s
}

// popNumber takes the last number off a list.
func (h *Host) popNumber(x *graphit.Method) Value {
	n, ok := x.X.(*graphit.Name)
	if !ok || n.TypeOf().Of.Kind != graphit.Int {
		fail(x.Pos, "%s: expected a list of int", graphit.Source(x))
	}
	list := h.ints[n.Var]
	if len(list) == 0 {
		fail(x.Pos, "the list %s is empty", n.Name)
	}
	h.ints[n.Var] = list[:len(list)-1]
	return list[len(list)-1]
}

func (h *Host) queue(x graphit.Expr) *Queue {
	n, ok := x.(*graphit.Name)
	if !ok || h.queues[n.Var] == nil {
		fail(x.Position(), "there is no queue yet: expected new priority_queue before")
	}
	return h.queues[n.Var]
}

// simple runs a statement of the host's own.
func (h *Host) simple(s graphit.Stmt) {
	switch s := s.(type) {
	case *graphit.VarStmt:
		h.variable(s.Var)
	case *graphit.Assign:
		h.assign(s)
	case *graphit.ExprStmt:
		h.do(s.X)
	case *graphit.Print:
		for i, x := range s.Args {
			if i > 0 {
				fmt.Fprint(h.opt.Output, " ")
			}
			fmt.Fprint(h.opt.Output, h.text(x))
		}
		fmt.Fprintln(h.opt.Output)
	case *graphit.Delete:
		if n, ok := s.X.(*graphit.Name); ok {
			delete(h.sets, n.Var)
			delete(h.lists, n.Var)
			delete(h.ints, n.Var)
			delete(h.queues, n.Var)
		}
	case *graphit.Break:
		h.leave = true
	}
}

func (h *Host) variable(v *graphit.Var) {
	switch v.Type.Kind {
	case graphit.VertexSet:
		h.sets[v] = &Set{}
		if v.Init != nil {
			h.sets[v] = h.set(v.Init)
		}
	case graphit.List:
		h.lists[v], h.ints[v] = nil, nil
	case graphit.PriorityQueue:
		if v.Init != nil {
			h.newQueue(v, v.Init)
		}
	case graphit.String:
		fail(v.Pos, "%s: strings cannot be kept", v.Name)
	default:
		*h.scalar(v) = h.initial(v, v.Type)
	}
}

func (h *Host) assign(s *graphit.Assign) {
	n, ok := s.X.(*graphit.Name)
	switch t := s.X.TypeOf(); {
	case ok && t.Kind == graphit.VertexSet:
		h.sets[n.Var] = h.set(s.Value)
	case ok && t.Kind == graphit.PriorityQueue:
		h.newQueue(n.Var, s.Value)
	case ok && t.Kind == graphit.List:
		h.lists[n.Var], h.ints[n.Var] = nil, nil
	default:
		h.scope.assign(s)(nil)
	}
}

// newQueue is new priority_queue(…, vector, order of buckets, order of priorities, all at first, source).
func (h *Host) newQueue(v *graphit.Var, x graphit.Expr) {
	made, ok := x.(*graphit.New)
	if !ok {
		fail(x.Position(), "expected new priority_queue")
	}
	source := h.value(made.Args[6]).I
	q := &Queue{Var: v, Vector: made.Args[2].(*graphit.Name).Var, All: source < 0, Delta: 1,
		Descending: graphit.Descending(made)}
	if source >= int64(h.graph.Vertices()) {
		fail(made.Pos, "new priority_queue: there is no vertex %d: the graph has vertices 0 to %d", source,
			h.graph.Vertices()-1)
	}
	q.Source = uint32(max(0, source))
	for _, op := range h.program.Edges {
		if op.Output == graphir.Priority && op.Delta != nil {
			d, err := h.Argument(*op.Delta, graphit.Deltas)
			h.must(err)
			q.Delta = int64(d)
		}
	}
	h.queues[v] = q
	h.must(h.back.Queue(h.ctx, q))
}

// do runs a method that changes something.
func (h *Host) do(x graphit.Expr) {
	m, ok := x.(*graphit.Method)
	if !ok {
		h.value(x)
		return
	}
	switch m.Name {
	case "addVertex":
		h.addVertex(m)
	case "append", "insert":
		n, ok := m.X.(*graphit.Name)
		if !ok {
			fail(m.Pos, "expected a variable that is a list")
		}
		if n.TypeOf().Of.Kind == graphit.Int {
			h.ints[n.Var] = append(h.ints[n.Var], h.as(m.Args[0], n.TypeOf().Of))
			return
		}
		s := h.set(m.Args[0])
		h.lists[n.Var] = append(h.lists[n.Var], s)
		if b, ok := h.back.(Lister); ok {
			h.must(b.Append(h.ctx, n.Var, s))
		}
	case "retrieve":
		h.sets[m.Args[0].(*graphit.Name).Var] = h.pop(m)
	case "updatePriorityMin", "updatePrioritySum", graphit.Enqueue:
		fail(m.Pos, "%s: expected it in a function that applyUpdatePriority applies", m.Name)
	default:
		h.value(x)
	}
}

func (h *Host) addVertex(m *graphit.Method) {
	n, ok := m.X.(*graphit.Name)
	if !ok {
		fail(m.Pos, "expected a variable that is a vertexset")
	}
	if n.Var.Global {
		fail(m.Pos, "%s has all vertices already", n.Name)
	}
	v := h.value(m.Args[0]).I
	if v < 0 || v >= int64(h.graph.Vertices()) {
		fail(m.Pos, "addVertex(%d): the graph has vertices 0 to %d", v, h.graph.Vertices()-1)
	}
	list := h.settled(n).Vertices
	i, found := slices.BinarySearch(list, uint32(v))
	if !found {
		list = slices.Insert(slices.Clone(list), i, uint32(v))
	}
	h.sets[n.Var] = &Set{Vertices: list}
}

// value evaluates an expression.
func (h *Host) value(x graphit.Expr) Value {
	c := h.cache[x]
	if c == nil {
		c = h.scope.expr(x)
		h.cache[x] = c
	}
	return c(nil)
}

func (h *Host) as(x graphit.Expr, t *graphit.Type) Value { return h.scope.as(x, t)(nil) }

func (h *Host) truth(x graphit.Expr) bool {
	v := h.value(x)
	if v.E > 0 {
		fail(x.Position(), "the condition depends on roundings, or on which of several racing assignments came last: it "+
			"cannot be checked")
	}
	return v.I == 1
}

func (h *Host) text(x graphit.Expr) string {
	if s, ok := x.(*graphit.Text); ok {
		return s.Value
	}
	if i, ok := x.(*graphit.Index); ok && x.TypeOf().Kind == graphit.String { // argv
		return h.argument(i.I.(*graphit.Number).Int, i.Pos)
	}
	switch v, t := h.value(x), x.TypeOf(); {
	case t.Kind == graphit.Bool:
		return strconv.FormatBool(v.I == 1)
	case t.IsReal():
		return strconv.FormatFloat(v.F, 'g', 6, 64)
	default:
		return strconv.FormatInt(v.I, 10)
	}
}

// The methods below implement names for the host's own expressions.

func (h *Host) scalar(v *graphit.Var) *Value {
	at := h.numbers[v]
	if at == nil {
		at = &Value{}
		h.numbers[v] = at
	}
	return at
}

func (h *Host) length(v *graphit.Var) int {
	return Length(v, h.graph)
}

func (h *Host) common(a, b, last int64) int64 { return common(h.graph, a, b, last) }

// common counts the common neighbours of two vertices that are not beyond last: of parallel edges as many as both have.
func common(g *graph.Graph, a, b, last int64) (n int64) {
	of := map[uint32]int{}
	for _, w := range g.CSR().Row(int(a)) {
		of[w]++
	}
	for _, w := range g.CSR().Row(int(b)) {
		if of[w] > 0 && int64(w) <= last {
			of[w]--
			n++
		}
	}
	return n
}

func (h *Host) element(v *graphit.Var, n int64, pos graphit.Pos) Value {
	if n < 0 || n >= int64(h.length(v)) {
		fail(pos, "%s[%d]: the vector has elements 0 to %d", v.Name, n, h.length(v)-1)
	}
	return h.back.Element(v, int(n))
}

func (h *Host) setElement(v *graphit.Var, n int64, x Value, pos graphit.Pos) {
	h.element(v, n, pos)
	h.back.SetElement(v, int(n), x)
}

func (h *Host) method(x *graphit.Method, args []Value) Value {
	switch x.Name {
	case "max":
		return h.greatest(x)
	case "finishedNode":
		q := h.queue(x.X)
		if q.Descending {
			fail(x.Pos, "%s: expected a queue with lower priorities first", x.Name)
		}
		waits, err := h.back.Waiting(h.ctx, q)
		h.must(err)
		if !waits {
			return Truth(true)
		}
		return compare("<=", false, h.element(q.Vector, index(args[0], x.Pos), x.Pos), Int(q.Next))
	case "size", "getVertexSetSize", "getVertices":
		if n, ok := x.X.(*graphit.Name); ok && n.TypeOf().Kind == graphit.List {
			return Int(int64(len(h.lists[n.Var]) + len(h.ints[n.Var])))
		}
		if x.X.TypeOf().Kind == graphit.EdgeSet {
			return Int(int64(h.graph.Vertices()))
		}
		return Int(int64(len(h.settled(x.X).Vertices)))
	case "sum":
		return h.sum(x)
	case "pop":
		return h.popNumber(x)
	case "finished":
		q := h.queue(x.X)
		if q.Asked && !q.Empty {
			return Truth(false)
		}
		waits, err := h.back.Waiting(h.ctx, q)
		h.must(err)
		return Truth(!waits)
	case "get_current_priority", "getCurrentPriority":
		return Int(h.queue(x.X).Current)
	}
	fail(x.Pos, "%s has no value", x.Name)
	return Value{}
}

// greatest is a vector's greatest number.
func (h *Host) greatest(x *graphit.Method) Value {
	n, ok := x.X.(*graphit.Name)
	if !ok || h.length(n.Var) == 0 || n.Var.Type.Of.Kind == graphit.Bool {
		fail(x.Pos, "expected a variable that is a vector of numbers, and is not empty")
	}
	d := newData(x.TypeOf(), 1, h.program.Wide(x.TypeOf()))
	for i := range h.length(n.Var) {
		v := h.back.Element(n.Var, i)
		switch {
		case v.Any != nil:
			racing(x.Pos)
		case i == 0:
			d.set(0, v)
		default:
			d.least(0, v, true)
		}
	}
	return d.get(0)
}

// sum adds up a vector on the host.
func (h *Host) sum(x *graphit.Method) Value {
	n, ok := x.X.(*graphit.Name)
	if !ok {
		fail(x.Pos, "expected a variable that is a vector")
	}
	d := newData(x.TypeOf(), 1, h.program.Wide(x.TypeOf()))
	for i := range h.length(n.Var) {
		d.add(0, h.back.Element(n.Var, i), x.Pos)
	}
	if _, pos, found := d.tooLarge(); found {
		tooLarge(pos, graphit.Source(x), d.i[0], d.of)
	}
	d.settle()
	return d.get(0)
}

func (h *Host) call(x *graphit.Call, _ []Value) Value {
	switch x.Name {
	case "startTimer":
		h.timer = h.back.Seconds()
		return Value{}
	case "stopTimer":
		return rounded(h.back.Seconds()-h.timer, 0)
	}
	fail(x.Pos, "%s has no value", x.Name)
	return Value{}
}

func (h *Host) argument(n int64, pos graphit.Pos) string {
	if n >= int64(len(h.opt.Args)) {
		fail(pos, "the program asks for argv[%d], and there are arguments up to argv[%d]", n, len(h.opt.Args)-1)
	}
	return h.opt.Args[n]
}

// ErrCheck is the error of a result that differs from the reference's.
var ErrCheck = errors.New("the result is wrong")
