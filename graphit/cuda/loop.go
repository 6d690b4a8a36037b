package cuda

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/graphit/lower"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/ir"
)

// A fused loop is one cooperative launch, as a fused run of kernels/cuda: all blocks go from kernel to kernel over
// barriers of the grid, and every thread takes the host's decisions by itself, from words that it reads behind a
// barrier. Such a word has three places, used in turn: one that kernels add to, one that threads may still be reading,
// and one that is being zeroed. So every block passes the same number of barriers, one behind each kernel.

// loop is a fused loop.
type loop struct {
	*lower.LoopOutline
	stmt           graphir.Stmt
	name, function string
	calls          []call
	takes, finds   *call
	changes        map[string]bool // arrays that its kernels write, by the kernels' names
	main           *edges          // whose set is the loop's
}

// call is the call of an operator's kernels.
type call struct {
	edges    *edges
	kernel   *ir.Kernel // of an operator over vertices
	function string
	doc      string
}

// whole reports whether a loop can be one launch of an exported program, and notes why not.
func (w *writer) whole(s graphir.Stmt, l *lower.LoopOutline) bool {
	inside := declaredIn(bodyOf(s))
	for _, v := range l.Active {
		if !inside[v] {
			path, f := graphir.FusionOf(s)
			text := fmt.Sprintf("configKernelFusion: %s stays the host's loop, and every operator a launch: %s, of before "+
				"the loop, has the set that its last round walks", path, v.Name)
			w.Program.Notes = append(w.Program.Notes, graphir.Note{Pos: f.Fused, Text: text})
			return false
		}
	}
	return true
}

// bodyOf returns the statements of a loop.
func bodyOf(s graphir.Stmt) []graphir.Stmt {
	switch s := s.(type) {
	case *graphir.While:
		return s.Body
	case *graphir.For:
		return s.Body
	}
	return nil
}

// declaredIn returns the variables that statements declare.
func declaredIn(list []graphir.Stmt) map[*graphit.Var]bool {
	set := map[*graphit.Var]bool{}
	for _, s := range list {
		switch s := s.(type) {
		case *graphir.Host:
			if v, ok := s.Stmt.(*graphit.VarStmt); ok {
				set[v.Var] = true
			}
		case *graphir.EdgeSetIterator:
			set[s.Declares] = true
		case *graphir.VertexSetIterator:
			set[s.Declares] = true
		}
	}
	return set
}

func (w *writer) newLoop(s graphir.Stmt, l *lower.LoopOutline) *loop {
	path, _ := graphir.FusionOf(s)
	name := w.unique(path[strings.LastIndex(path, ":")+1:])
	return &loop{LoopOutline: l, stmt: s, name: name, function: w.unique(name + "_kernel"), changes: map[string]bool{}}
}

// loopAt returns the fused loop that a statement is; nil: it is none.
func (w *writer) loopAt(s graphir.Stmt) *loop {
	for _, l := range w.loops {
		if l.stmt == s {
			return l
		}
	}
	return nil
}

// loopOf returns the fused loop that an operator is in; nil: the host launches it.
func (w *writer) loopOf(op graphir.Stmt) *loop {
	for _, l := range w.loops {
		if slices.Contains(bodyOf(l.stmt), op) {
			return l
		}
	}
	return nil
}

// planLoop makes the calls of a round.
func (w *writer) planLoop(l *loop) {
	find := func(o *compose.EdgeOperator) *edges {
		return w.edges[slices.IndexFunc(w.edges, func(x *edges) bool { return x.laid.EdgeOperator == o })]
	}
	l.main = find(l.Main())
	for _, x := range l.Body {
		if x.Edges != nil {
			e := find(x.Edges)
			l.calls = append(l.calls, call{edges: e, doc: w.describe(e)})
			continue
		}
		l.calls = append(l.calls, w.vertexCall(l, x))
	}
	if q := l.Buckets; q != nil {
		takes := w.vertexCall(l, compose.LoopOperator{Vertices: q.Takes})
		finds := w.vertexCall(l, compose.LoopOperator{Vertices: q.Finds})
		l.takes, l.finds = &takes, &finds
		takes.doc, finds.doc = "Takes the vertices of the current bucket", "Finds the least priority"
	}
	l.each(func(_ *call, p cuda.Parameter) {
		if strings.HasSuffix(p.Type, "*") {
			l.changes[p.Name] = true
		}
	})
	for _, r := range l.main.laid.Outline.Frontier {
		for _, role := range r.Roles {
			l.changes[role] = true
		}
	}
}

// vertexCall makes the call of an operator over vertices.
func (w *writer) vertexCall(l *loop, x compose.LoopOperator) call {
	k, err := l.FusedLoop.Kernel(x, w.warps)
	if err != nil {
		w.refuse(l.stmt.Position(), "%s: %v", x.Vertices.Name, err)
	}
	c := call{kernel: k, doc: x.Vertices.Name}
	for op, o := range w.Vertices {
		if o == x.Vertices {
			c.doc = fmt.Sprintf("Line %d: %s", op.Pos.Line, op.Apply.Name)
			c.function = w.unique(l.name + "_" + op.Apply.Name)
		}
	}
	if c.function == "" {
		c.function = w.unique(l.name + "_" + x.Vertices.Name)
	}
	return c
}

// all returns the calls, with those of the queue.
func (l *loop) all() []call {
	list := slices.Clone(l.calls)
	if l.takes != nil {
		list = append(list, *l.takes, *l.finds)
	}
	return list
}

// each calls f for the parameters of all kernels.
func (l *loop) each(f func(c *call, p cuda.Parameter)) {
	for _, c := range l.all() {
		for _, k := range c.kernels() {
			for _, p := range cuda.Parameters(k) {
				f(&c, p)
			}
		}
	}
}

// kernels returns the kernels of a call.
func (c *call) kernels() []*ir.Kernel {
	if c.edges != nil {
		return c.edges.laid.Outline.Kernels.All()
	}
	return []*ir.Kernel{c.kernel}
}

// sharedBytes returns the scratchpad that the loop needs.
func (l *loop) sharedBytes() (n int) {
	for _, c := range l.all() {
		for _, k := range c.kernels() {
			n = max(n, k.SharedBytes())
		}
	}
	return n
}

// dense reports whether a round walks no set.
func (l *loop) dense() bool { return l.main.laid.Outline.Plan.Algorithm.Dense }

// parameter is a parameter of the loop's kernel.
type parameter struct {
	kind, name string
	value      string // the host's argument
}

var isName = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// text returns the text of a kernel's parameter within the loop, and of the host's argument.
func (l *loop) text(c *call, p ir.Param) (within, value string) {
	o := l.main.Operator
	if c.edges != nil {
		o = c.edges.Operator
	}
	if p.Aligned {
		name := o.Variable(p.Name)
		return name, name
	}
	value = o.Number(p)
	if isName.MatchString(value) {
		return value, value
	}
	return strings.NewReplacer(".", "_", "-", "_").Replace("number_" + p.Name), value
}

// parameters returns the parameters of the loop's kernel.
func (l *loop) parameters(w *writer) (list []parameter) {
	seen := map[string]bool{"launch": true}
	add := func(kind, name, value string) {
		if !seen[name] {
			seen[name] = true
			list = append(list, parameter{kind, name, value})
		}
	}
	l.each(func(c *call, p cuda.Parameter) {
		name, value := l.text(c, p.Param)
		kind := p.Type
		if p.Aligned {
			kind = l.elementOf(name) + "*"
			if !l.changes[p.Name] {
				kind = "const " + kind + " __restrict__"
			}
		}
		if name == "current" || name == "below" {
			value = w.name(w.queue) + "." + name
		}
		add(kind, name, value)
	})
	if !l.dense() {
		for _, r := range l.main.laid.Outline.Frontier { // roles that the exchange names, and perhaps no kernel
			for _, role := range r.Roles {
				if len(r.Roles) > 1 || slices.Contains(counters, role) {
					add("uint32_t*", l.main.Own(role), l.main.Own(role))
				}
			}
		}
		for _, n := range []string{"step", "active.size"} {
			if l.main.HasNumber(n) {
				add("uint32_t", l.main.Own(n), l.main.Own(n))
			}
		}
	}
	if l.takes != nil {
		t := choose(w.Queues[l.Queue].Signed, "int32_t", "uint32_t")
		for _, name := range []string{"current", "below"} {
			add(t, name, w.name(w.queue)+"."+name)
		}
	}
	return list
}

// elementOf returns the type of an array's elements in the loop. Arrays that exchange roles have words.
func (l *loop) elementOf(variable string) string {
	types := map[string]bool{}
	l.each(func(c *call, p cuda.Parameter) {
		if name, _ := l.text(c, p.Param); p.Aligned && name == variable {
			types[bare(p.Type)] = true
		}
	})
	_, rotating := l.main.Arrays()
	rotates := slices.ContainsFunc(rotating, func(a cuda.Array) bool { return a.Variable == variable })
	if len(types) == 1 && !rotates {
		for t := range types {
			return t
		}
	}
	return "uint32_t"
}

// bare returns the type of a pointer's elements.
func bare(pointer string) string {
	return strings.TrimSpace(strings.NewReplacer("const ", "", "*", "", "__restrict__", "").Replace(pointer))
}

// counters are the words of sets that kernels add to, and that the host would read.
var counters = []string{"next.size", "next.some", "next.count"}

// call writes a call and the barrier behind it.
func (w *writer) callKernel(l *loop, c *call, k *ir.Kernel, function string) {
	if k == nil {
		return
	}
	var args []string
	for _, p := range cuda.Parameters(k) {
		name, _ := l.text(c, p.Param)
		switch {
		case p.Aligned && slices.Contains(counters, p.Name):
			name = "&" + name + "[turn]"
		case p.Aligned:
			t := strings.TrimSuffix(p.Type, " __restrict__")
			if l.elementOf(name) != bare(t) {
				name = "(" + t + ")" + name
			}
		}
		args = append(args, name)
	}
	w.text.Call(function, args)
	w.line("grid_barrier();")
}

// loopKernel writes the functions of a loop's kernels, and the kernel that calls them.
func (w *writer) loopKernel(l *loop) {
	for _, c := range l.all() {
		if c.edges != nil {
			continue // written with the others
		}
		w.line("// %s.", c.doc)
		text, err := cuda.KernelAs(c.kernel, c.function, w.changesOf(l))
		w.refuseKernel(l.stmt.Position(), err)
		w.text.Raw(text + "\n")
	}
	var list []string
	for _, p := range l.parameters(w) {
		list = append(list, p.kind+" "+p.name)
	}
	if l.takes != nil {
		list = append(list, "uint32_t delta")
	}
	if l.Counted {
		list = append(list, "uint32_t rounds")
	}
	w.line("// %s, line %d, as one launch: a barrier of all blocks behind every kernel.", l.name, l.stmt.Position().Line)
	w.text.Declare("__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) "+l.function,
		append(list, "uint32_t* outcome"))
	w.line("{")
	w.line("const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;")
	w.line("uint32_t traversals = 0, exchanges = 0, active = 0;")
	w.line("uint32_t turn = 0; // which of its three places a counter uses")
	w.line("(void)thread, (void)threads, (void)turn;")
	w.line("%s", choose(l.Counted, "for (uint32_t round = 0; round < rounds; round++) {", "for (;;) {"))
	for _, c := range l.calls {
		w.line("// %s.", c.doc)
		if c.edges != nil {
			w.loopEdges(l, &c)
		} else {
			w.callKernel(l, &c, c.kernel, c.function)
		}
	}
	w.loopEnd(l)
	w.line("}")
	w.loopOutcome(l)
	w.line("}")
	w.line("")
}

// loopEdges writes a traversal.
func (w *writer) loopEdges(l *loop, c *call) {
	o := c.edges.laid.Outline
	zeroed := false
	for _, a := range o.Arrays {
		if a.Zero && l.changes[a.Name] {
			w.line("for (uint32_t i = thread; i < %d; i += threads) %s[i] = 0;", a.Words, c.edges.Variable(a.Name))
			zeroed = true
		}
	}
	if zeroed {
		w.line("grid_barrier();")
	}
	d := o.Plan.Direction.Uses[0]
	for _, k := range []*ir.Kernel{o.Kernels.Topology[d], o.Kernels.Lists[d]} {
		if k != nil {
			w.callKernel(l, c, k, c.edges.Function(k))
		}
	}
	gather := o.Kernels.Gather[d]
	launches := o.Plan.Schedule.Launches
	if len(launches) > 0 {
		w.line("for (uint32_t launch = 0; launch < %d; launch++) { // %s", len(launches), strings.Join(launches, ", "))
		w.text.Indent()
		w.callKernel(l, c, gather, c.edges.Function(gather))
		w.line("}")
	} else {
		w.callKernel(l, c, gather, c.edges.Function(gather))
	}
	w.line("traversals++;")
}

// loopEnd writes the end of a round: what the host would do.
func (w *writer) loopEnd(l *loop) {
	switch {
	case l.dense():
		return
	case l.takes != nil:
		w.line("// The current bucket again: vertices that have entered it. If there are none, the next one.")
		w.callKernel(l, l.takes, l.takes.kernel, l.takes.function)
		w.loopExchange(l)
		w.line("bool waits = true;")
		w.line("while (active == 0 && waits) {")
		w.nextBucket(l)
		w.line("}")
		w.line("if (active == 0) break;")
		return
	}
	w.loopExchange(l)
	if !l.Counted {
		w.line("if (active == 0) break;")
	}
}

// nextBucket writes the search for the bucket of the least priority that waits, and its taking.
func (w *writer) nextBucket(l *loop) {
	q := w.Queues[l.Queue]
	t := choose(q.Signed, "int32_t", "uint32_t")
	w.callKernel(l, l.finds, l.finds.kernel, l.finds.function)
	w.line("const %s least = %s(queue_least[0]);", t, t)
	w.line("waits = queue_least[1] != 0;")
	w.line("grid_barrier(); // before it is set for the next search")
	w.line("if (thread == 0) {")
	w.line("queue_least[0] = %d;", q.Greatest)
	w.line("queue_least[1] = 0;")
	w.line("}")
	w.line("if (waits) {")
	w.line("const %s rest = least %% %s(delta);", t, t)
	first := "least - rest"
	if q.Signed {
		first = "least - rest - (rest < 0 ? int32_t(delta) : 0)"
	}
	w.line("current = %s;", first)
	w.line("below = current > %s(%du - delta) ? %s(%du) : %s(current + delta);", t, q.Greatest, t, q.Greatest, t)
	w.callKernel(l, l.takes, l.takes.kernel, l.takes.function)
	w.loopExchange(l)
	w.line("}")
}

// loopExchange writes the exchange of the loop's sets.
func (w *writer) loopExchange(l *loop) {
	o := l.main.laid.Outline
	for _, r := range o.Frontier {
		if len(r.Roles) > 1 {
			w.rotate(l, r.Roles)
		}
	}
	if l.main.HasNumber("step") {
		w.line("%s++;", l.main.Own("step"))
	}
	w.line("exchanges++;")
	for _, r := range o.Frontier {
		if !slices.Contains(counters, r.Roles[0]) {
			continue
		}
		name := l.main.Own(r.Roles[0])
		w.line("active = %s[turn];", name)
		w.line("if (thread == 0) %s[(turn + 2) %% 3] = 0;", name)
	}
	if l.main.HasNumber("active.size") {
		w.line("%s = active;", l.main.Own("active.size"))
	}
	w.line("%s", "turn = (turn + 1) % 3;")
}

// rotate writes the exchange of roles: each array becomes what the next one was.
func (w *writer) rotate(l *loop, roles []string) {
	w.line("{")
	w.line("uint32_t* const passed_on = %s;", l.main.Own(roles[len(roles)-1]))
	for i := len(roles) - 1; i > 0; i-- {
		w.line("%s = %s;", l.main.Own(roles[i]), l.main.Own(roles[i-1]))
	}
	w.line("%s = passed_on;", l.main.Own(roles[0]))
	w.line("}")
}

// loopOutcome writes what the host is told.
func (w *writer) loopOutcome(l *loop) {
	w.line("if (thread == 0) {")
	w.line("outcome[0] = traversals;")
	w.line("outcome[1] = exchanges;")
	w.line("outcome[2] = active;")
	if l.takes != nil {
		w.line("outcome[3] = uint32_t(current);")
	}
	w.line("}")
}

// loopFunction writes the function that launches a loop. It returns the set that the last round has made.
func (w *writer) loopFunction(l *loop) {
	var list []string
	if !l.dense() {
		list = append(list, "const heddle::Set& from")
	}
	if l.Counted {
		list = append(list, "uint32_t rounds")
	}
	w.line("")
	w.line("// %s, line %d: one cooperative launch.", l.name, l.stmt.Position().Line)
	w.line("const auto %s = [&](%s) {", l.name, strings.Join(list, ", "))
	if !l.dense() {
		l.main.Enter(&w.text)
		w.line("%s.enter_loop(from);", l.main.Own("frontier"))
	}
	if l.takes != nil {
		w.line("device.write(queue_least, {%d, 0});", w.Queues[l.Queue].Greatest)
		w.line("const uint32_t delta = uint32_t(%s.delta);", w.name(w.queue))
	}
	w.launchLoop(l)
	w.line("const heddle::Words ended = device.read(%s_outcome);", l.name)
	w.line("device.reads++;")
	w.line("traversals += ended[0];")
	if !l.dense() {
		w.afterLoop(l)
	}
	w.line("};")
}

func (w *writer) launchLoop(l *loop) {
	args := []string{fmt.Sprintf("%q", l.name), l.function, fmt.Sprint(l.sharedBytes()), "true"}
	for _, p := range l.parameters(w) {
		args = append(args, p.value)
	}
	if l.takes != nil {
		args = append(args, "delta")
	}
	if l.Counted {
		args = append(args, "rounds")
	}
	w.line("device.gather_begins();")
	w.text.Call("device.launch", append(args, l.name+"_outcome"))
	w.line("device.gather_ends();")
}

// afterLoop writes what makes the host's variables those of the device.
func (w *writer) afterLoop(l *loop) {
	w.line("// Roles, of which there are two or three, are where the device has left them.")
	w.line("%s", "for (uint32_t i = ended[1] % 6; i > 0; i--) {")
	l.main.Rotate(&w.text)
	w.line("}")
	if l.main.HasNumber("step") {
		w.line("%s += ended[1];", l.main.Own("step"))
	}
	if l.main.HasNumber("active.size") {
		w.line("%s = ended[2];", l.main.Own("active.size"))
	}
	for _, r := range l.main.laid.Outline.Frontier {
		if slices.Contains(counters, r.Roles[0]) {
			w.line("device.zero(%s);", l.main.Own(r.Roles[0]))
		}
	}
	if l.takes != nil {
		q := w.name(w.queue)
		w.line("%s.enter(%s(ended[3]));", q, choose(w.Queues[l.Queue].Signed, "int32_t", "uint32_t"))
		return
	}
	w.line("return %s;", l.main.Made("ended[2]"))
}

// runLoop writes the statement that runs a fused loop, unless it has no round.
func (w *writer) runLoop(l *loop) {
	var args []string
	switch s := l.stmt.(type) {
	case *graphir.While:
		w.line("if (%s) { // at least one round", w.expr(s.Cond))
		w.text.Indent()
	case *graphir.For:
		w.line("if (const int64_t rounds = int64_t(%s) - int64_t(%s); rounds > 0) {", w.expr(s.To), w.expr(s.From))
	}
	switch {
	case l.Queue != nil:
		args = append(args, w.name(l.Queue)+".dequeue_ready_set()")
	case l.Carried != nil:
		args = append(args, w.name(l.Carried))
	}
	if l.Counted {
		args = append(args, "uint32_t(rounds)")
	}
	call := fmt.Sprintf("%s(%s)", l.name, strings.Join(args, ", "))
	inside := declaredIn(bodyOf(l.stmt))
	var outer []string
	for _, v := range l.Filled {
		if !inside[v] {
			outer = append(outer, w.name(v))
		}
	}
	if len(outer) > 0 {
		call = strings.Join(outer, " = ") + " = " + call
	}
	w.line("%s;", call)
	w.line("}")
}
