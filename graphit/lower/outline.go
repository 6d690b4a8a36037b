package lower

import (
	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/compose"
	"heddle/kernels/host"
)

// Outline describes a program for a host other than heddle's own, on a graph and machines of a shape: the kernels of
// its operators as they are composed, and what they are given by name.
type Outline struct {
	Program  *graphir.Program
	Host     *eval.Host // of the schedule's arguments
	Edges    map[*graphir.EdgeSetIterator][]EdgeOutline
	Vertices map[*graphir.VertexSetIterator]*compose.VertexOperator
	Queues   map[*graphit.Var]Queue
	Loops    map[graphir.Stmt]*LoopOutline // those that are fused
}

// EdgeOutline is an operator over edges under one schedule.
type EdgeOutline struct {
	*compose.EdgeOperator
	*compose.Outline
	Transposed bool
}

// Queue describes a priority queue.
type Queue struct {
	Vector       *graphit.Var // the priorities
	Takes, Finds *compose.VertexOperator
	// Greatest is the largest priority, as a word, and Signed is set if priorities are.
	Greatest uint32
	Signed   bool
}

// LoopOutline is a fused loop.
type LoopOutline struct {
	*compose.FusedLoop
	Carried *graphit.Var // the set that is active when the loop begins; nil: none, or a queue's
	Queue   *graphit.Var // the queue whose ready set each round dequeues; nil: none
	// Filled and Active are the variables that, when a round has ended, hold the set that it has made, and the one that
	// it has walked.
	Filled, Active []*graphit.Var
}

// Names of kernels' parameters.
const (
	LeastName    = least        // an array of two words: the least waiting priority, and whether there is one
	PriorityName = priorityName // the beginning of a queue's current bucket
	BelowName    = below        // and its end
)

// VectorName and ScalarName are the names by which kernels know vectors and scalars, and WaitsName that of the flags of
// vertices that wait in a queue.
func VectorName(v *graphit.Var) string { return vectorName(v) }
func ScalarName(v *graphit.Var) string { return scalarName(v) }
func WaitsName(q *graphit.Var) string  { return waits(q) }

// NewOutline plans a checked program's operators and loops.
func NewOutline(s host.Shape, g *graph.Graph, f *graphit.File, o Options) (x *Outline, err error) {
	defer catch(f.Name, &err)
	if !o.Float {
		refuseDouble(f)
	}
	p, err := Build(f, o.Schedule, o.Float)
	if err != nil {
		return nil, err
	}
	p.Narrow, p.Structs = true, nil
	if err := accepts(p, g); err != nil {
		return nil, err
	}
	h := eval.NewHost(p, g, eval.Options{Args: o.Args})
	l := &lowering{p, h, g.WeightKind(), o.Workload, queueVectors(p)}
	ops, err := l.operators(o.mutate)
	if err != nil {
		return nil, err
	}
	x = &Outline{Program: p, Host: h, Edges: map[*graphir.EdgeSetIterator][]EdgeOutline{}, Vertices: ops.vertices,
		Queues: map[*graphit.Var]Queue{}, Loops: map[graphir.Stmt]*LoopOutline{}}
	for q, v := range ops.queues {
		if ops.takes[q] == nil {
			refuse(q.Pos, "%s: expected queues to be constants of the program", q.Name)
		}
		t := v.Type.Of
		x.Queues[q] = Queue{v, ops.takes[q], ops.finds[q], uint32(greatest(t)), t.Kind != graphit.Uint}
	}
	if err := x.edges(s, g, ops, o); err != nil {
		return nil, err
	}
	return x, x.loops(s, ops)
}

// edges lays out the operators over edges.
func (x *Outline) edges(s host.Shape, g *graph.Graph, ops operators, o Options) error {
	arrays, words := x.names()
	reverse := g
	for _, op := range x.Program.Edges {
		of := g
		if op.Transposed {
			if reverse == g {
				reverse = g.Transpose()
			}
			of = reverse
		}
		for _, e := range ops.edges[op] {
			laid, err := compose.NewOperatorOutline(s, e, of, o.Workload, arrays, words)
			if err != nil {
				return &graphit.Error{File: x.Program.File.Name, Pos: op.Pos, Msg: op.Name + ": " + err.Error()}
			}
			x.Edges[op] = append(x.Edges[op], EdgeOutline{e, laid, op.Transposed})
		}
	}
	return nil
}

// names returns the arrays and numbers of the program as kernels know them.
func (x *Outline) names() (arrays []string, words map[string]uint32) {
	words = map[string]uint32{priorityName: 0, below: 0}
	for _, v := range x.Program.Vectors {
		arrays = append(arrays, vectorName(v))
	}
	for _, v := range x.Program.Scalars {
		if v.Type.Kind == graphit.PriorityQueue {
			arrays = append(arrays, waits(v))
		} else {
			words[scalarName(v)] = 0
		}
	}
	return append(arrays, least), words
}

// loops fuses the loops whose schedule wants it. Those that cannot be are noted.
func (x *Outline) loops(s host.Shape, ops operators) error {
	fused, notes := fuseLoops(x.Program, x.Host, ops, s)
	x.Program.Notes = append(x.Program.Notes, notes...)
	for at, l := range fused {
		out := &LoopOutline{FusedLoop: l.FusedLoop, Carried: l.carried, Queue: l.queue}
		for _, v := range l.given {
			switch l.sets[v] {
			case active:
				out.Active = append(out.Active, v)
			case filled:
				out.Filled = append(out.Filled, v)
			}
		}
		x.Loops[at] = out
	}
	return nil
}
