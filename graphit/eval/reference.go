package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/internal/tolerance"
)

// Reference runs operators one edge after the other, on the host.
type Reference struct {
	host    *Host
	graph   *graph.Graph
	vectors map[*graphit.Var]*data
	funcs   map[*graphit.Func]func(args []Value, tells func()) Value
	tracked *graphit.Var
	waiting map[*Queue]*waiting
	update  func(x *graphit.Method, args []Value)
	epoch   uint32
	racing  bool // an edge's function runs
	at      edge // that it runs for; of functions of vertices src is the vertex
	rounds  int  // of loops within that call
	lost    map[element]loss
	falls   *falling // of the operator that runs; nil: nothing can fall for ever
	falling map[*graphit.Var]*falling
	signs   signs
	racy    *racy // the first filter that depends on the order of edges; nil: none does

	// Decide is called where rounding determines whether a filter keeps a vertex, with the operator's number, from 0,
	// and the vertex. nil: the reference decides.
	Decide  func(n int, v uint32) (bool, error)
	filters int
	// Filtered is called with the output of each filter, whose Undecided are the vertices for which rounding determines
	// whether it keeps them; nil: nobody asks.
	Filtered func(out *Set)
}

// NewReference returns the reference backend of a host's run.
func NewReference(h *Host) *Reference {
	return &Reference{
		host: h, graph: h.graph, vectors: map[*graphit.Var]*data{}, waiting: map[*Queue]*waiting{},
		funcs: map[*graphit.Func]func([]Value, func()) Value{}, epoch: 1,
	}
}

// Declare creates a vector.
func (r *Reference) Declare(v *graphit.Var, initial Value, degrees []uint32) error {
	d := newData(v.Type.Of, r.host.length(v), r.host.program.Wide(v.Type.Of))
	d.epoch = r.epoch
	for n := range d.len() {
		if degrees != nil {
			initial.I = int64(degrees[n])
		}
		d.set(n, initial)
	}
	r.vectors[v] = d
	return nil
}

// Element and SetElement are the host's accesses.
func (r *Reference) Element(v *graphit.Var, n int) Value       { return r.vectors[v].get(n) }
func (r *Reference) SetElement(v *graphit.Var, n int, x Value) { r.vectors[v].set(n, x) }

// Seconds is no time: nothing depends on it.
func (r *Reference) Seconds() float64 { return 0 }

// functionNames resolves the names visible to operators' functions.
type functionNames struct{ *Reference }

func (r functionNames) round(pos graphit.Pos) {
	r.rounds++
	r.host.limit(r.rounds, pos)
}

func (r functionNames) common(a, b, last int64) int64 { return common(r.graph, a, b, last) }

func (r functionNames) scalar(v *graphit.Var) *Value { return r.host.scalar(v) }

func (r functionNames) element(v *graphit.Var, n int64, pos graphit.Pos) Value {
	r.bound(v, n, pos)
	return r.vectors[v].get(int(n))
}

func (r functionNames) setElement(v *graphit.Var, n int64, x Value, pos graphit.Pos) {
	r.reduce(v, n, "=", x, pos)
}

func (r *Reference) bound(v *graphit.Var, n int64, pos graphit.Pos) {
	if d := r.vectors[v]; n < 0 || n >= int64(d.len()) {
		fail(pos, "%s[%d]: the vector has elements 0 to %d", v.Name, n, d.len()-1)
	}
}

// reduce applies a reduction to an element, and reports whether that counts as a change.
func (r functionNames) reduce(v *graphit.Var, n int64, op string, x Value, pos graphit.Pos) bool {
	r.bound(v, n, pos)
	d := r.vectors[v]
	switch op {
	case "=":
		if r.racing {
			if !d.race(int(n), x) {
				fail(pos, "%s[%d]: edges race to assign real numbers: it cannot be checked", v.Name, n)
			}
		} else {
			d.set(int(n), x)
		}
		return true
	case "+=":
		return d.add(int(n), x, pos)
	case "min=":
		return r.lower(v, int(n), x, pos)
	}
	return d.least(int(n), x, true)
}

// lower is min=, and a queue's updatePriorityMin.
func (r *Reference) lower(v *graphit.Var, n int, x Value, pos graphit.Pos) bool {
	d := r.vectors[v]
	if d.least(n, x, false) {
		if r.falls != nil {
			r.falls.lowered(v, n, r.at, pos)
		}
		return true
	}
	if x.I == d.most && !x.Unreached && d.f == nil && d.i[n] == d.most {
		r.lose(element{v, n}, pos)
	}
	return false
}

func (r functionNames) tracks(v *graphit.Var) bool { return v == r.tracked }

func (r functionNames) method(x *graphit.Method, args []Value) Value {
	switch x.Name {
	case "updatePriorityMin", "updatePrioritySum":
		if r.update == nil {
			fail(x.Pos, "%s: expected it in a function that applyUpdatePriority applies", x.Name)
		}
		r.update(x, args)
		return Value{}
	case graphit.Enqueue:
		q := r.host.queue(x.X)
		v := args[0].I
		r.bound(q.Vector, v, x.Pos)
		r.waiting[q].set(uint32(v), r.vectors[q.Vector].i[v] != greatest(q.Vector.Type.Of))
		return Value{}
	case "sum", "max", "pop", "finishedNode":
		fail(x.Pos, "%s: expected it in main", x.Name)
	}
	return r.host.method(x, args)
}

func (r functionNames) call(x *graphit.Call, args []Value) Value {
	fail(x.Pos, "%s: expected it in main", x.Name)
	return Value{}
}

func (r functionNames) argument(n int64, pos graphit.Pos) string { return r.host.argument(n, pos) }

// function compiles a function, once.
func (r *Reference) function(f *graphit.Func) func(args []Value, tells func()) Value {
	c := r.funcs[f]
	if c == nil {
		c = (&scope{names: functionNames{r}, program: r.host.program}).function(f)
		r.funcs[f] = c
	}
	return c
}

// settle ends an operator.
func (r *Reference) settle() {
	r.racing, r.update, r.falls, r.host.where = false, nil, nil, nil
	r.epoch++
	for v, d := range r.vectors {
		if n, pos, found := d.tooLarge(); found {
			tooLarge(pos, fmt.Sprintf("%s[%d], when all has been added,", v.Name, n), d.i[n], d.of)
		}
		d.settle()
		d.epoch = r.epoch
	}
}

// Edges applies a function to edges, source by source. A filter is evaluated once per vertex.
func (r *Reference) Edges(_ context.Context, op *graphir.EdgeSetIterator, in *Set) (*Set, error) {
	apply, n := r.function(op.Apply), r.graph.Vertices()
	rows := r.graph.CSR()
	if op.Transposed {
		rows = r.graph.CSC()
	}
	src, dst := r.filter(op.SrcFilter), r.filter(op.DstFilter)
	out := outputOf(op, n)
	args := make([]Value, len(op.Apply.Params))
	var to uint32
	tells := func() { out.mark(to) }
	changed := []func(){r.watch(op, op.SrcFilter, true), r.watch(op, op.DstFilter, false)}
	r.tracked, r.racing = op.Tracked, true
	if op.Output == graphir.Priority {
		r.update = r.updates(op)
	}
	r.falls = r.mayFall(op, rows)
	r.host.where = r.edgeText
	weights := rows.Weights
	double := len(op.Apply.Params) == 3 && r.host.program.Wide(op.Apply.Params[2].Type)
	visit := func(v uint32) {
		if !src(v) {
			return
		}
		first := int(rows.Offsets[v])
		for i, w := range rows.Row(int(v)) {
			if !dst(w) {
				continue
			}
			to = w
			r.at, r.rounds = edge{v, w}, 0
			args[0], args[1] = Int(int64(v)), Int(int64(w))
			if len(args) == 3 {
				args[2] = weight(weights, first+i, r.graph.WeightKind(), op.Apply.Params[2].Type, double)
			}
			apply(args, tells)
		}
	}
	if in == nil {
		for v := range uint32(n) {
			visit(v)
		}
	} else {
		for _, v := range in.Vertices {
			visit(v)
		}
	}
	r.racing = false
	for _, note := range changed {
		note()
	}
	r.settle()
	if op.Output != graphir.Modified {
		return nil, nil
	}
	return setOf(out), nil
}

// weight is an edge's; 1 without weights.
func weight(words []uint32, i int, k graph.WeightKind, t *graphit.Type, double bool) Value {
	switch {
	case k == graph.NoWeights && t.IsReal():
		return Value{F: 1}
	case k == graph.NoWeights:
		return Int(1)
	case k == graph.FloatWeights && t.IsReal():
		return Value{F: float64(math.Float32frombits(words[i]))}
	case k == graph.FloatWeights:
		return convert(Int(int64(math.Float32frombits(words[i]))), &graphit.Type{Kind: graphit.Int}, t, double)
	}
	return convert(Int(int64(int32(words[i]))), &graphit.Type{Kind: graphit.Int}, t, double)
}

// marks are the vertices of an operator's output; nil: it has none.
type marks []bool

func outputOf(op *graphir.EdgeSetIterator, n int) marks {
	if op.Output != graphir.Modified {
		return nil
	}
	return make(marks, n)
}

func (m marks) mark(v uint32) {
	if m != nil {
		m[v] = true
	}
}

func setOf(in []bool) *Set {
	s := &Set{}
	for v, yes := range in {
		if yes {
			s.Vertices = append(s.Vertices, uint32(v))
		}
	}
	return s
}

// filter asks a filter once for a vertex; nil: all pass.
func (r *Reference) filter(f *graphit.Func) func(v uint32) bool {
	if f == nil {
		return func(uint32) bool { return true }
	}
	c, known := r.function(f), make([]int8, r.graph.Vertices())
	args := make([]Value, 1)
	return func(v uint32) bool {
		if known[v] == 0 {
			args[0] = Int(int64(v))
			r.at, r.rounds = edge{v, v}, 0
			x := c(args, nil)
			if x.E > 0 {
				fail(f.Pos, "%s(%d) depends on roundings, or on which of several racing assignments came last: it cannot be "+
					"checked", f.Name, v)
			}
			known[v] = int8(1 + x.I)
		}
		return known[v] == 2
	}
}

// Vertices applies a function to vertices.
func (r *Reference) Vertices(_ context.Context, op *graphir.VertexSetIterator, in *Set) (*Set, error) {
	apply := r.function(op.Apply)
	if in == nil {
		in = r.host.everything()
	}
	r.host.where = r.vertexText
	out := &Set{}
	args := make([]Value, 1)
	for _, v := range in.Vertices {
		args[0] = Int(int64(v))
		r.at, r.rounds = edge{v, v}, 0
		x := apply(args, nil)
		if !op.Filters {
			continue
		}
		yes := x.I == 1
		if x.E > 0 && r.Filtered != nil {
			if out.Undecided == nil {
				out.Undecided = map[uint32]bool{}
			}
			out.Undecided[v] = true
		}
		if x.E > 0 && r.Decide != nil {
			var err error
			if yes, err = r.Decide(r.filters, v); err != nil {
				return nil, err
			}
		}
		if yes {
			out.Vertices = append(out.Vertices, v)
		}
	}
	r.settle()
	if !op.Filters {
		return nil, nil
	}
	r.filters++
	if r.Filtered != nil {
		r.Filtered(out)
	}
	return out, nil
}

// waiting is the set of vertices in a queue, of which a step costs as much as wait: a road network has tens of
// thousands of steps, with few vertices each.
type waiting struct {
	yes    []bool
	listed []uint32 // once or more, those that wait and some that no longer do
}

func (w *waiting) set(v uint32, yes bool) {
	if yes && !w.yes[v] {
		w.listed = append(w.listed, v)
	}
	w.yes[v] = yes
}

// vertices returns those that wait, once each, in no order; valid until the next call.
func (w *waiting) vertices() []uint32 {
	kept := w.listed[:0]
	for _, v := range w.listed {
		if w.yes[v] {
			w.yes[v] = false // so that it is kept once
			kept = append(kept, v)
		}
	}
	for _, v := range kept {
		w.yes[v] = true
	}
	w.listed = kept
	return kept
}

// Queue creates a priority queue.
func (r *Reference) Queue(_ context.Context, q *Queue) error {
	waits := &waiting{yes: make([]bool, r.graph.Vertices())}
	for v := range waits.yes {
		waits.set(uint32(v), q.Waits(v, r.vectors[q.Vector].i[v]))
	}
	r.waiting[q] = waits
	return nil
}

// Waiting reports whether a vertex waits.
func (r *Reference) Waiting(_ context.Context, q *Queue) (bool, error) {
	first, any := r.first(q)
	if any {
		q.Next = first * q.Delta
	}
	return any, nil
}

// first is the first bucket in which a vertex waits; false: none does.
func (r *Reference) first(q *Queue) (bucket int64, any bool) {
	d := r.vectors[q.Vector]
	for _, v := range r.waiting[q].vertices() {
		if b := Bucket(d.i[v], q.Delta); !any || (b < bucket) != q.Descending {
			bucket, any = b, true
		}
	}
	return bucket, any
}

// Ready takes the vertices of the first bucket that is not empty.
func (r *Reference) Ready(_ context.Context, q *Queue) (*Set, error) {
	waits, d := r.waiting[q], r.vectors[q.Vector]
	first, _ := r.first(q)
	out := &Set{}
	for _, v := range waits.vertices() {
		if Bucket(d.i[v], q.Delta) == first {
			out.Vertices = append(out.Vertices, v)
			waits.set(v, false)
		}
	}
	slices.Sort(out.Vertices)
	if len(out.Vertices) > 0 {
		q.Current = first * q.Delta
	}
	return out, nil
}

// Bucket is the number of a priority's bucket.
func Bucket(priority, delta int64) int64 {
	return int64(math.Floor(float64(priority) / float64(delta)))
}

// updates returns the effects of functions on a queue.
func (r *Reference) updates(op *graphir.EdgeSetIterator) func(x *graphit.Method, args []Value) {
	return func(x *graphit.Method, args []Value) {
		q := r.host.queue(x.X)
		d, v := r.vectors[q.Vector], int(args[0].I)
		r.bound(q.Vector, int64(v), x.Pos)
		if x.Name == "updatePriorityMin" {
			if r.lower(q.Vector, v, args[len(args)-1], x.Pos) {
				r.waiting[q].set(uint32(v), true)
			}
			return
		}
		least := int64(math.MinInt32)
		if len(args) == 3 {
			least = args[2].I
		}
		if d.i[v] > least { // others have been taken out, or will be with this bucket
			sum := d.i[v] + args[1].I
			if !holdsInteger(d.of, sum) && sum > least {
				tooLarge(x.Pos, fmt.Sprintf("%s[%d] + %d", q.Vector.Name, v, args[1].I), sum, d.of)
			}
			d.set(v, Int(max(sum, least)))
		}
	}
}

// reach formats the error bound of a real.
func reach(e float64) string {
	if math.IsInf(e, 1) || math.IsNaN(e) {
		return "from which roundings may lead anywhere, as they may make a divisor 0 or a number too large for float: " +
			"nothing can be verified"
	}
	return fmt.Sprintf("and at most %.3g more or less", e)
}

// Evaluate runs a program on the reference.
func Evaluate(ctx context.Context, p *graphir.Program, g *graph.Graph, opt Options,
	decide func(n int, v uint32) (bool, error)) (*Reference, error) {
	h := NewHost(p, g, opt)
	r := NewReference(h)
	r.Decide = decide
	return r, h.Run(ctx, r)
}

var errUndecided = errors.New("roundings decide about a filter")

// Ahead runs a program on the reference before another backend does, which need not begin then if the program is
// refused. nil: roundings decide about a filter, so the other one's answer is needed.
func Ahead(ctx context.Context, p *graphir.Program, g *graph.Graph, opt Options) (*Reference, error) {
	r, err := Evaluate(ctx, p, g, opt, func(int, uint32) (bool, error) { return false, errUndecided })
	if errors.Is(err, errUndecided) {
		return nil, nil
	}
	return r, err
}

// Kept answers as another backend has, which kept these vertices in its filters.
func Kept(kept []map[uint32]bool) func(n int, v uint32) (bool, error) {
	return func(n int, v uint32) (bool, error) { return n < len(kept) && kept[n][v], nil }
}

// Compare compares a vector of another backend with the reference's: integers must be the same, or one of those that a
// race may leave; reals may be as far off as their roundings make possible.
//
// high are the upper words of numbers that have two; nil: they have one.
func (r *Reference) Compare(v *graphit.Var, words, high []uint32) error {
	d := r.vectors[v]
	if d.wide != (high != nil) || d.wide && len(high) != len(words) {
		panic(fmt.Sprintf("BUG: eval: %d and %d words of %s", len(words), len(high), v.Name))
	}
	if v.Marks {
		return nil
	}
	if len(words) != d.len() {
		return r.wrong("%s has %d elements: expected %d", v.Name, len(words), d.len())
	}
	for n, w := range words {
		if d.f != nil {
			got := float64(math.Float32frombits(w))
			if d.wide {
				got = math.Float64frombits(uint64(high[n])<<32 | uint64(w))
			}
			switch want := d.f[n]; {
			case tolerance.Within(got, want, d.e[n]):
			case !d.wide && math.IsInf(got, 0) && math.Abs(want) > math.MaxFloat32:
				return r.wrong("%s[%d] = %v: expected %v, and a float holds up to 3.4e+38: make it a double, or give "+
					"another graph", v.Name, n, got, want)
			default:
				return r.wrong("%s[%d] = %v: expected %v, %s", v.Name, n, got, want, reach(d.e[n]))
			}
			continue
		}
		got := int64(int32(w))
		switch {
		case d.wide:
			got = int64(uint64(high[n])<<32 | uint64(w))
		case d.of.Kind == graphit.Uint:
			got = int64(w)
		}
		if any := all(d.get(n)); !slices.Contains(any, got) {
			if len(any) > 1 {
				return r.wrong("%s[%d] = %d: expected one of %v, which edges race for", v.Name, n, got,
					any)
			}
			return r.wrong("%s[%d] = %d: expected %d", v.Name, n, got, any[0])
		}
	}
	return nil
}
