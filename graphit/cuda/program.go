package cuda

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/host"
	"heddle/kernels/ir"
)

// writer writes a program.
type writer struct {
	*lower.Outline
	file    *graphit.File
	shape   host.Shape
	threads int // of a block
	warps   int // of kernels; 0: all
	args    []string
	text    cuda.Text
	extra   map[string][]uint32

	names map[*graphit.Var]string
	taken map[string]bool
	queue *graphit.Var // the priority queue; nil: there is none

	edges    []*edges
	chosen   map[*graphir.EdgeSetIterator]string // the functions of operators
	vertices []*vertices
	ran      map[*graphir.VertexSetIterator]*vertices
	loops    []*loop
	declared map[string]bool // arrays that operators share
}

// edges is an operator over edges under one schedule.
type edges struct {
	*cuda.Operator
	op   *graphir.EdgeSetIterator
	laid lower.EdgeOutline
	name string
	loop *loop // the loop that it is in; nil: it is launched by the host
}

func newWriter(x *lower.Outline, s host.Shape, threads, warps int, args []string) *writer {
	return &writer{Outline: x, shape: s, threads: threads, warps: warps, args: args, extra: map[string][]uint32{},
		names: map[*graphit.Var]string{}, taken: map[string]bool{}, chosen: map[*graphir.EdgeSetIterator]string{},
		ran: map[*graphir.VertexSetIterator]*vertices{}, declared: map[string]bool{}}
}

// refusal is the panic value for a construct that has no CUDA.
type refusal struct{ *graphit.Error }

func (w *writer) refuse(at graphit.Pos, format string, args ...any) {
	panic(refusal{&graphit.Error{File: w.Program.File.Name, Pos: at, Msg: fmt.Sprintf(format, args...)}})
}

// refuseKernel panics with an error of a kernel that has no CUDA.
func (w *writer) refuseKernel(at graphit.Pos, err error) {
	if err != nil {
		w.refuse(at, "%v", err)
	}
}

func (w *writer) line(format string, args ...any) { w.text.Line(format, args...) }

// at returns a position as a C++ string.
func (w *writer) at(p graphit.Pos) string {
	return fmt.Sprintf("%q", fmt.Sprintf("%s:%d:%d", w.Program.File.Name, p.Line, p.Column))
}

// unique returns a name that nothing else has.
func (w *writer) unique(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if strings.Trim(clean[:1], "0123456789") == "" {
		clean = "_" + clean
	}
	unique := clean
	for n := 2; w.taken[unique] || reserved[unique] || cuda.Reserved(unique); n++ {
		unique = fmt.Sprintf("%s_%d", clean, n)
	}
	w.taken[unique] = true
	return unique
}

// reserved are names of the program's own.
var reserved = func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`options graph vertices edges device program run reset traversals kept checking
		expected launch from of members extra list size set least threads thread turn active outcome ended round rounds
		current below timer queue_least results arguments argc argv words passed_on exchanges waits delta rest`) {
		set[word] = true
	}
	return set
}()

// name returns a variable's name.
func (w *writer) name(v *graphit.Var) string {
	if w.names[v] == "" {
		w.names[v] = w.unique(v.Name)
	}
	return w.names[v]
}

// program writes the whole text.
func (w *writer) program(f *graphit.File, g *graph.Graph) (err error) {
	defer func() {
		switch x := recover().(type) {
		case nil:
		case refusal:
			err = x.Error
		default:
			panic(x)
		}
	}()
	w.file = f
	w.plan()
	w.head()
	for _, x := range w.edges {
		w.line("// %s", w.describe(x))
		w.refuseKernel(x.op.Pos, x.Kernels(&w.text, w.changesOf(x.loop)))
	}
	for _, x := range w.vertices {
		w.vertexKernel(x)
	}
	for _, l := range w.loops {
		w.loopKernel(l)
	}
	w.main(g)
	return nil
}

// plan names everything, and makes the operators.
func (w *writer) plan() {
	for q := range w.Queues {
		if w.queue != nil {
			w.refuse(later(q.Pos, w.queue.Pos), "a second priority queue: a program exported as CUDA has one")
		}
		w.queue = q
	}
	labels := map[*graphir.EdgeSetIterator]string{}
	for _, op := range w.Program.Edges {
		_, label, found := strings.Cut(op.Name, ":")
		for found {
			op := label
			if _, label, found = strings.Cut(op, ":"); !found {
				label = op
			}
		}
		if label == "" {
			label = op.Name
		}
		labels[op] = w.unique(label)
	}
	for _, v := range w.Program.File.Globals {
		w.name(v)
	}
	w.Program.Visit(func(s graphir.Stmt) {
		if l := w.Loops[s]; l != nil && w.whole(s, l) {
			w.loops = append(w.loops, w.newLoop(s, l))
		}
	})
	for _, op := range w.Program.Edges {
		w.planEdges(op, labels[op])
	}
	for _, op := range w.Program.Vertices {
		w.planVertices(op)
	}
	w.planQueue()
	for _, l := range w.loops {
		w.planLoop(l)
	}
}

func later(a, b graphit.Pos) graphit.Pos {
	if a.Line > b.Line || a.Line == b.Line && a.Column > b.Column {
		return a
	}
	return b
}

// planEdges makes an operator over edges; two, if the host chooses between schedules.
func (w *writer) planEdges(op *graphir.EdgeSetIterator, label string) {
	w.chosen[op] = label
	l := w.loopOf(op)
	for i, laid := range w.Edges[op] {
		name := label
		if len(w.Edges[op]) > 1 {
			name = w.unique(label + []string{"_below", "_above"}[i])
		}
		for _, v := range w.Program.File.Globals { // its arrays have its name in front
			if strings.HasPrefix(w.names[v], name+"_") {
				w.names[v] = w.unique("the_" + w.names[v])
			}
		}
		x := &edges{op: op, laid: laid, name: name, loop: l}
		x.Operator = cuda.NewOperator(laid.Outline, name, laid.Transposed, l != nil, w.parameters(l), w.extra)
		w.edges = append(w.edges, x)
	}
}

// parameters returns the texts of what kernels are given of the program's own; l is the loop that they are in.
func (w *writer) parameters(l *loop) cuda.Names {
	return func(parameter string) (string, bool) {
		switch parameter {
		case lower.LeastName:
			return "queue_least", true
		case lower.PriorityName, lower.BelowName:
			member := map[string]string{lower.PriorityName: "current", lower.BelowName: "below"}[parameter]
			if l != nil && l.Buckets != nil || w.queue == nil {
				return member, true
			}
			return w.name(w.queue) + "." + member, true
		case "vertices", "edges":
			return parameter, true
		}
		for _, v := range w.Program.File.Globals {
			switch {
			case v.Type.Kind == graphit.Vector && lower.VectorName(v) == parameter:
				return w.name(v), true
			case v.Type.Kind == graphit.PriorityQueue && lower.WaitsName(v) == parameter:
				return w.name(v) + "_waits", true
			case lower.ScalarName(v) == parameter:
				return w.name(v), true
			}
		}
		return "", false
	}
}

// describe returns the comment of an operator over edges.
func (w *writer) describe(x *edges) string {
	filters := ""
	if f := x.op.DstFilter; f != nil {
		filters = ", to vertices of which " + f.Name + " holds"
	}
	return fmt.Sprintf("%s, line %d: %s%s: %s", x.name, x.op.Pos.Line, x.op.Apply.Name, filters,
		x.laid.Outline.Plan.Name())
}

// plans returns the plans of the operators over edges.
func (w *writer) plans() (list []string) {
	for _, x := range w.edges {
		list = append(list, x.laid.Outline.Plan.Name())
	}
	return list
}

func (w *writer) head() {
	w.line("// %s, exported by heddle gt build --cuda.", w.file.Name)
	w.line("//")
	w.line("// A core of the simulated machine is a thread block, of %d warps of 32.", w.threads/cuda.Lanes)
	w.line("// make builds it with nvcc for the GPU of this machine, make host with g++ alone; ./program --help.")
	w.line("#include \"graphit.h\"")
	w.line("")
	w.line("constexpr unsigned THREADS = %d; // of a block", w.threads)
	w.line("constexpr unsigned CORES = %d;   // of the machine: blocks on the host", w.shape.Cores)
	w.line("")
}

// main writes the host's program.
func (w *writer) main(g *graph.Graph) {
	w.line("int main(int argc, char** argv)\n{")
	w.mainGraph(g)
	w.mainArrays()
	w.mainScalars()
	w.mainReset()
	for _, x := range w.vertices {
		w.vertexFunction(x)
	}
	for _, x := range w.edges {
		if x.loop == nil {
			w.line("")
			w.line("// %s", w.describe(x))
			x.Traversal(&w.text)
		}
	}
	w.choosers()
	for _, l := range w.loops {
		w.loopFunction(l)
	}
	w.line("")
	w.line("// The program of %s.", w.file.Name)
	w.line("const auto run = [&] {")
	w.line("traversals = 0;")
	w.block(w.Program.Main)
	w.line("heddle::Outcome outcome;")
	w.line("outcome.steps = traversals;")
	w.line("outcome.ended = true;")
	w.line("return outcome;")
	w.line("};")
	w.mainMeasure()
	w.line("}")
}

// mainGraph writes the reading of the command line and of the graph.
func (w *writer) mainGraph(g *graph.Graph) {
	var args []string
	for _, a := range w.args[min(2, len(w.args)):] {
		args = append(args, fmt.Sprintf("%q", a))
	}
	w.line("const std::vector<std::string> arguments{%s}; // argv[2] and following", strings.Join(args, ", "))
	w.line("const heddle::Options options = heddle::parse(argc, argv, &arguments);")
	w.line("const heddle::Graph graph(options.graph);")
	w.line("const uint32_t vertices = graph.vertices, edges = graph.edges;")
	w.line("(void)edges;")
	if w.Program.Weighted {
		w.line("if (graph.kind != %d) heddle::fail(options.graph + \": expected a graph with weights of the kind: %s\");",
			g.WeightKind(), g.WeightKind())
	}
	w.line("heddle::Device device(options, CORES, THREADS);")
	cooperative := len(w.loops) > 0
	for _, x := range w.edges {
		if x.laid.Outline.Plan.Layout.Strided {
			w.line("device.behind = 64 + std::max(vertices, edges); // a thread reads its next edge ahead, a step away")
			break
		}
	}
	for _, x := range w.edges {
		if x.loop == nil {
			x.Admit(&w.text)
			cooperative = cooperative || x.Cooperative()
		}
	}
	for _, x := range w.vertices {
		w.line("device.admit(%s, 0);", x.function)
	}
	for _, l := range w.loops {
		w.line("device.admit(%s, %d);", l.function, l.sharedBytes())
	}
	w.line("device.settle(%v);", cooperative)
	if len(w.extra) > 0 || w.needsExtra() {
		w.line("const heddle::Extra extra(options.extra, graph);")
	}
	w.line("const heddle::Expected expected(options, graph);")
}

// needsExtra reports whether the program reads arrays of one graph. Only their expressions tell.
func (w *writer) needsExtra() bool {
	for _, x := range w.edges {
		x.Constants()
		x.Arrays()
		for _, k := range x.laid.Outline.Kernels.All() {
			for _, p := range cuda.Parameters(k) {
				if !p.Aligned {
					x.Number(p.Param)
				}
			}
		}
	}
	return len(w.extra) > 0
}

// mainArrays declares the arrays.
func (w *writer) mainArrays() {
	w.line("")
	w.line("// Vectors.")
	for _, v := range w.Program.Vectors {
		w.line("const heddle::Array %s = device.reserve(%s);", w.name(v), w.length(v))
	}
	if q := w.queue; q != nil {
		w.line("const heddle::Array %s_waits = device.reserve(vertices); // vertices that are in the queue", w.name(q))
		w.line("const heddle::Array queue_least = device.reserve(2);")
	}
	for _, x := range w.edges {
		for _, a := range x.Constants() {
			if !w.declared[a.Variable] {
				w.declared[a.Variable] = true
				w.line("const heddle::Array %s = device.place(%s);", a.Variable, a.Value)
			}
		}
	}
	for _, x := range w.edges {
		list, rotating := x.Arrays()
		if len(list)+len(rotating) > 0 {
			w.line("// Of %s.", x.name)
		}
		for _, a := range list {
			w.line("const heddle::Array %s = device.reserve(%s);", a.Variable, a.Value)
		}
		for _, a := range rotating {
			w.line("heddle::Array %s = device.reserve(%s);", a.Variable, a.Value)
		}
		x.Variables(&w.text)
	}
	for _, x := range w.vertices {
		w.vertexArrays(x)
	}
	for _, l := range w.loops {
		w.line("const heddle::Array %s_outcome = device.reserve(5);", l.name)
	}
}

func (w *writer) length(v *graphit.Var) string {
	length := fmt.Sprint(v.Type.Size)
	switch {
	case v.Type.PerEdge:
		return "edges"
	case v.Type.Element != "":
		length = "vertices"
	}
	if v.Type.Width > 0 {
		length += fmt.Sprintf(" * %d", v.Type.Width)
	}
	return length
}

// mainScalars declares the program's numbers, and what the host counts.
func (w *writer) mainScalars() {
	w.line("")
	w.line("uint32_t traversals = 0; // of edges")
	w.line("bool checking = options.check; // in the first run")
	w.line("std::vector<heddle::Words> kept; // by filters, in that run")
	w.line("(void)checking;")
	if w.calls("startTimer", "stopTimer") {
		w.line("std::chrono::steady_clock::time_point timer;")
	}
	for _, v := range w.Program.File.Globals {
		switch v.Type.Kind {
		case graphit.Vector, graphit.EdgeSet, graphit.VertexSet:
		case graphit.PriorityQueue:
			q := w.Queues[v]
			if q.Vector == nil {
				w.line("heddle::Queue %s(0);", w.name(v))
				continue
			}
			greatest := fmt.Sprint(q.Greatest)
			if q.Greatest == math.MaxUint32 {
				greatest = "UINT32_MAX"
			}
			w.line("heddle::Queue %s(%s);", w.name(v), greatest)
		default:
			w.line("%s %s = %s;", w.typeOf(v.Type, v.Pos), w.name(v), w.initial(v, v.Type))
			w.line("(void)%s;", w.name(v))
		}
	}
}

// initial returns a variable's first value.
func (w *writer) initial(v *graphit.Var, t *graphit.Type) string {
	if v.Init == nil {
		return w.typeOf(t, v.Pos) + "()"
	}
	return strip(w.as(v.Init, t))
}

// calls reports whether main calls one of the language's functions.
func (w *writer) calls(names ...string) (found bool) {
	graphit.Walk(w.Program.File.Main().Body, func(x graphit.Expr) {
		c, ok := x.(*graphit.Call)
		found = found || ok && c.Func == nil && slices.Contains(names, c.Name)
	})
	return found
}

// mainReset writes what precedes a run.
func (w *writer) mainReset() {
	w.line("")
	for _, v := range w.Program.Vectors {
		if text, given := w.contents(v); given {
			w.line("const heddle::Words %s_first = %s;", w.name(v), text)
		}
	}
	w.line("// Before a run, which is not timed: first values.")
	w.line("const auto reset = [&] {")
	for _, v := range w.Program.Vectors {
		if _, given := w.contents(v); given {
			w.line("device.write(%s, %s_first);", w.name(v), w.name(v))
		} else {
			w.line("device.zero(%s);", w.name(v))
		}
	}
	assigned := w.assigned()
	for _, v := range w.Program.File.Globals {
		if assigned[v] {
			w.line("%s = %s;", w.name(v), w.initial(v, v.Type))
		}
	}
	for _, x := range w.edges {
		x.Reset(&w.text)
	}
	w.line("};")
}

// contents returns the first contents of a vector; false: zeros.
func (w *writer) contents(v *graphit.Var) (text string, given bool) {
	if m, ok := v.Init.(*graphit.Method); ok && m.TypeOf().Kind == graphit.Vector {
		switch m.Name {
		case graphit.RowStarts:
			return "heddle::row_starts(graph)", true
		case graphit.RowTargets:
			return "heddle::row_targets(graph)", true
		}
		switch m.Name {
		case graphit.RowBits, graphit.RowHashes, graphit.HashStarts, graphit.HashMasks:
			w.refuse(v.Pos, "configIntersection by bits or a hash table is for simulated machines: expected HiroshiIntersection")
		}
		return "heddle::out_degrees(graph)", true
	}
	if v.Init == nil {
		return "", false
	}
	if n, ok := v.Init.(*graphit.Number); ok && n.Int == 0 && n.Val == 0 {
		return "", false
	}
	if t, ok := v.Init.(*graphit.Truth); ok && !t.Value {
		return "", false
	}
	value := w.as(v.Init, v.Type.Of)
	t := w.typeOf(v.Type.Of, v.Pos)
	if v.Type.Of.Kind == graphit.Bool {
		t, value = "uint32_t", "uint32_t("+value+")"
	}
	return fmt.Sprintf("heddle::filled<%s>(%s, %s)", t, w.length(v), value), true
}

// assigned returns the program's numbers that main assigns.
func (w *writer) assigned() map[*graphit.Var]bool {
	set := map[*graphit.Var]bool{}
	w.Program.Visit(func(s graphir.Stmt) {
		h, ok := s.(*graphir.Host)
		if !ok {
			return
		}
		if a, ok := h.Stmt.(*graphit.Assign); ok {
			if n, ok := a.X.(*graphit.Name); ok && n.Var != nil && n.Var.Global && n.TypeOf().Kind != graphit.PriorityQueue {
				set[n.Var] = true
			}
		}
	})
	return set
}

// choosers writes the functions that choose between two schedules by the size of the set.
func (w *writer) choosers() {
	for _, op := range w.Program.Edges {
		if op.Hybrid == nil {
			continue
		}
		share, err := w.Host.Argument(op.Hybrid.Threshold, graphit.Thresholds)
		if err != nil {
			w.refuse(op.Pos, "%v", err)
		}
		name, dense := w.chosen[op], op.IsAllEdges && op.Output != graphir.Modified
		w.line("")
		w.line("// %s: from %v of all vertices on, by another schedule.", name, share)
		if dense {
			w.line("const auto %s = [&] { return 1 >= %v ? %s_above() : %s_below(); };", name, share, name, name)
			continue
		}
		w.line("const auto %s = [&](const heddle::Set& from) {", name)
		w.line("return double(from.size()) >= %v * vertices ? %s_above(from) : %s_below(from);", share, name, name)
		w.line("};")
	}
}

// mainMeasure writes the end of main.
func (w *writer) mainMeasure() {
	w.line("")
	w.line("const auto results = [&] {")
	w.line("return std::vector<heddle::Result>{")
	for _, v := range w.Program.Vectors {
		w.line("{%q, device.read(%s)},", v.Name, w.name(v))
	}
	w.line("};")
	w.line("};")
	w.line("heddle::Program program;")
	name := strings.TrimSuffix(strings.ReplaceAll(filepath.Base(w.file.Name), ",", " "), ".gt")
	var plans, schedules, layouts, ways []string
	for _, x := range w.edges {
		p := x.laid.Outline.Plan
		plans = append(plans, x.name+" "+strings.TrimPrefix(p.Name(), p.Algorithm.Name+"/"))
		schedules, layouts = append(schedules, p.Schedule.Name), append(layouts, p.Layout.Name)
		ways = append(ways, p.Direction.Name)
	}
	w.line("program.point = %q;", name+": "+strings.Join(plans, "; "))
	w.line("program.algorithm = %q;", "gt-"+name)
	w.line("program.schedule = %q;", strings.Join(slices.Compact(schedules), "+"))
	w.line("program.layout = %q;", strings.Join(slices.Compact(layouts), "+"))
	w.line("program.direction = %q;", strings.Join(slices.Compact(ways), "+"))
	w.line("program.dense = false;")
	w.line("program.reset = reset;")
	w.line("program.run = run;")
	w.line("program.result = [&] {")
	w.line("heddle::Words words; // of all vectors, in their order")
	w.line("for (const auto& r : results()) words.insert(words.end(), r.words.begin(), r.words.end());")
	w.line("return words;")
	w.line("};")
	w.line("program.verify = [&](const heddle::Words&, const heddle::Outcome&) {")
	w.line("return expected.check(results(), kept);")
	w.line("};")
	w.line("program.checked = [&] { checking = false; };")
	w.line("return heddle::measure(options, device, graph, program);")
}

// changesOf reports the arrays that kernels of a loop write; nil: of none.
func (w *writer) changesOf(l *loop) func(array string) bool {
	if l == nil {
		return nil
	}
	return func(array string) bool { return l.changes[array] }
}

// kernelOf builds a vertex operator's kernel.
func (w *writer) kernelOf(at graphit.Pos, o *compose.VertexOperator) *ir.Kernel {
	k, err := o.Kernel(w.warps)
	if err != nil {
		w.refuse(at, "%s: %v", o.Name, err)
	}
	return k
}
