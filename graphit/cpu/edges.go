package cpu

import (
	"slices"
	"strings"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// edges generates the functions of an operator over edges.
type edges struct {
	*generator
	op       *graphir.EdgeSetIterator
	name     string
	gathered graphir.Gathered
	gathers  bool
	claims   bool
	queue    *graphit.Var // whose priorities it changes; nil: none
	vector   *graphit.Var // these
	accesses []graphir.Access
	// Filters that are evaluated before the operator begins, since it changes the vectors that they read.
	before map[*graphit.Func]bool
}

func newEdges(g *generator, op *graphir.EdgeSetIterator, name string) *edges {
	e := &edges{generator: g, op: op, name: name, before: map[*graphit.Func]bool{}}
	e.gathered, e.gathers = op.Gathers()
	if e.gathers && e.gathered.Op == "=" {
		e.claims, e.gathers = op.Claims(e.gathered), false
	}
	if op.Output == graphir.Priority {
		e.queued()
	}
	e.accesses = slices.Clone(op.Accesses)
	for _, f := range []struct {
		f  *graphit.Func
		at graphir.Place
	}{{op.SrcFilter, graphir.AtSource}, {op.DstFilter, graphir.AtDestination}} {
		for _, a := range graphir.AccessesOf(f.f) {
			if a.Index == graphir.AtVertex {
				a.Index = f.at
			}
			if e.writes(a.Vector) && !e.claims {
				e.before[f.f] = true
			} else {
				e.accesses = append(e.accesses, a)
			}
		}
	}
	return e
}

// queued finds the queue that the function changes.
func (e *edges) queued() {
	graphit.Walk(e.op.Apply.Body, func(x graphit.Expr) {
		m, ok := x.(*graphit.Method)
		if !ok || m.Name != "updatePriorityMin" && m.Name != "updatePrioritySum" {
			return
		}
		n, ok := m.X.(*graphit.Name)
		if !ok || e.queue != nil && n.Var != e.queue {
			e.refuse(m.Pos, "%s: expected one queue in a function", m.Name)
		}
		e.queue = n.Var
	})
	if e.queue == nil {
		e.refuse(e.op.Pos, "applyUpdatePriority: %s changes no priorities: expected updatePriorityMin or updatePrioritySum",
			e.op.Apply.Name)
	}
	if e.vector = e.p.QueueVector(e.queue); e.vector == nil {
		e.refuse(e.op.Pos, "%s: expected a queue that main makes, with one vector of priorities", e.queue.Name)
	}
}

// writes reports whether the function changes a vector.
func (e *edges) writes(v *graphit.Var) bool {
	return slices.ContainsFunc(e.op.Accesses, func(a graphir.Access) bool {
		return a.Op != "" && (a.Vector == v || a.Vector == nil && v == e.vector)
	})
}

// variant is an operator under one of its schedules.
type variant struct {
	*edges
	m    *graphir.Metadata
	name string
	// Several workers alone pull: the edges that enter vertices are needed by them only.
	together bool
}

// operator generates the operator's function, which chooses the schedule and the direction.
func (e *edges) operator() {
	e.line("// %s is %s, of %s.", e.name, e.op.Apply.Name, from(e.op.Input))
	variants := []variant{{edges: e, m: &e.op.Metadata, name: e.name + "Below"}}
	if e.op.Hybrid != nil {
		variants = append(variants, variant{edges: e, m: &e.op.Hybrid.Above, name: e.name + "Above"})
	}
	for _, v := range variants {
		v.run()
	}
	for _, f := range []*graphit.Func{e.op.SrcFilter, e.op.DstFilter} {
		if e.before[f] {
			e.asked(f)
		}
	}
	head, args := e.signature()
	e.line("func %s%s {\nm.step(%s)", e.name, head, e.at(e.op.Pos))
	call := func(v variant) {
		if e.op.Output == graphir.Modified {
			e.line("return %s(%s)", v.name, args)
		} else {
			e.line("%s(%s)", v.name, args)
		}
	}
	if h := e.op.Hybrid; h != nil {
		size := "m.n"
		if e.op.Input != nil {
			size = "in.count"
		}
		share := (&writer{g: e.generator}).argument(h.Threshold, graphit.Thresholds, e.at(e.op.Pos))
		e.line("if float64(%s) >= %s*float64(m.n) {", size, share)
		call(variants[1])
		if e.op.Output != graphir.Modified {
			e.line("return")
		}
		e.line("}")
	}
	call(variants[0])
	e.line("}\n")
}

func (e *edges) signature() (head, args string) {
	head = "()"
	if e.op.Input != nil {
		head, args = "(in *set)", "in"
	}
	if e.op.Output == graphir.Modified {
		head += " *set"
	}
	return head, args
}

// sides returns the vertices that edges leave, and those that they enter.
func (e *edges) sides() (leaves, enters string) {
	if e.op.Transposed {
		return "m.in", "m.out"
	}
	return "m.out", "m.in"
}

// directed reports whether a schedule runs in push, in pull, or in both.
func (v variant) directed() (push, pull bool) {
	switch {
	case v.m.Hybrid && v.op.Input != nil:
		return true, true
	case v.m.Direction == graphir.Pull:
		return false, true
	case !v.m.Given["direction"] && v.op.Input == nil && v.gathers && v.op.Output == graphir.NoOutput:
		return false, true // one thread has all edges of a sum
	}
	return true, false
}

// suits reports whether no schedule determines the direction of an operator for which a pull by several workers is
// better if its input is large: one worker has all edges of a vertex, and needs no atomics.
func (v variant) suits() bool {
	return !v.m.Given["direction"] && v.op.Input != nil && v.op.Output == graphir.Modified && (v.gathers || v.claims) &&
		v.op.Parallelization != "serial"
}

// run generates a schedule's function.
func (v variant) run() {
	push, pull := v.directed()
	head, args := v.signature()
	if push && pull || v.suits() {
		leaves, enters := v.sides()
		when := "m.dense(" + leaves + ", in)"
		if !pull {
			v.together = true
			when = "m.workers > 1 && " + enters + " != nil && " + when
		}
		v.drive("Push", false)
		v.drive("Pull", true)
		v.line("func %s%s {", v.name, head)
		if v.op.Output == graphir.Modified {
			v.line("if %s {\nreturn %sPull(%s)\n}\nreturn %sPush(%s)\n}\n", when, v.name, args, v.name, args)
		} else {
			v.line("if %s {\n%sPull(%s)\n} else {\n%sPush(%s)\n}\n}\n", when, v.name, args, v.name, args)
		}
		return
	}
	v.drive("", pull)
}

// output describes how a loop outputs the vertices that it has changed.
type output struct {
	params, args  string // of the loop
	told          string // code executed where the vertex at has changed
	open, close   string // of the loop
	before, after string // of the operator
}

// outputOf chooses it. at is the vertex as an uint32.
func (v variant) outputOf(pull, alone bool, at string) (o output) {
	sub := ""
	if alone {
		sub = "Alone"
	}
	once := map[bool]string{true: "stampAlone", false: "stamp"}[alone]
	list := func(test string) {
		o.open, o.close = "list := k.list", "k.list = list"
		if o.told = "list = append(list, " + at + ")"; test != "" {
			o.told = "if " + test + " {\n" + o.told + "\n}"
		}
	}
	stamps := once + "(stamps, " + at + ", round)"
	switch {
	case v.op.Output == graphir.NoOutput:
	case v.op.Output == graphir.Priority:
		list(stamps)
		o.open += "\nstamps, round := m.stamps, m.round\n_, _ = stamps, round"
		o.after = "list := m.gathered()\n" + v.generator.name(v.queue) +
			".insert(list)\nm.spare.lists = append(m.spare.lists, list)"
	case pull && v.m.OutputRepresentation == graphir.Boolmap:
		o = mapOutput("words", "uint32", "words["+at+"] = 1\nn++")
	case pull:
		o = mapOutput("bits", "uint64", "bits["+at+"/wordBits] |= 1 << ("+at+" % wordBits)\nn++")
	case v.m.OutputRepresentation == graphir.Bitmap:
		o = mapOutput("bits", "uint64", "if mark"+sub+"(bits, "+at+") {\nn++\n}")
	case v.m.OutputRepresentation == graphir.Boolmap:
		flag := map[bool]string{true: "flagAlone", false: "flagOnce"}[alone]
		o = mapOutput("words", "uint32", "if "+flag+"(words, "+at+") {\nn++\n}")
	default:
		o.after = "out := m.listSet(m.gathered())"
		switch {
		case v.claims:
			list("")
		case v.m.DedupType == "BITMAP":
			list("mark" + sub + "(marks, " + at + ")")
			o.open += "\nmarks := m.marks\n_ = marks"
			o.before = "m.dedupBits()"
			o.after += "\nm.unmark(out.list)"
		case v.m.DedupType == "BOOLMAP":
			list(map[bool]string{true: "flagAlone", false: "flagOnce"}[alone] + "(flags, " + at + ")")
			o.open += "\nflags := m.flags\n_ = flags"
			o.before = "m.dedupFlags()"
			o.after += "\nm.unflag(out.list)"
		default:
			list(stamps)
			o.open += "\nstamps, round := m.stamps, m.round\n_, _ = stamps, round"
		}
	}
	return o
}

// mapOutput is an output into a map of the vertices, bits or words by name, which told marks and counts.
func mapOutput(name, word, told string) output {
	return output{
		open: "n := 0", close: "k.n += n", params: ", " + name + " []" + word, args: ", " + name, told: told,
		before: name + " := m.spare" + strings.ToUpper(name[:1]) + name[1:] + "()",
		after:  "out := &set{m: m, " + name + ": " + name + ", count: m.counted()}",
	}
}

// drive generates the function of one direction, and its loops.
func (v variant) drive(suffix1 string, pull bool) {
	name := v.name + suffix1
	var o output
	for _, alone := range []bool{true, false} {
		o = v.loop(name, pull, alone)
	}
	leaves, enters := v.sides()
	head, _ := v.signature()
	v.line("func %s%s {\nm.open()", name, head)
	if o.before != "" {
		v.line("%s", o.before)
	}
	extra := o.args
	for _, f := range []*graphit.Func{v.op.SrcFilter, v.op.DstFilter} {
		if f != nil && v.before[f] {
			v.line("ask_%s := %s()", f.Name, v.edges.name+"_"+f.Name)
			extra += ", ask_" + f.Name
		}
	}
	if pull && v.op.Input != nil {
		input := "in.boolmap()"
		if v.m.PullInputFrontier != graphir.Boolmap {
			input = "in.bitmap()"
		}
		v.line("input := %s", input)
		extra += ", input"
	}
	side := leaves
	if pull {
		side = enters
	}
	switch {
	case side != "m.in":
	case pull && v.together:
		v.need.inTogether = true
	default:
		v.need.in = true
	}
	v.line("a := %s", side)
	balanced := "a"
	if v.m.LoadBalance == "VERTEX_BASED" || strings.HasSuffix(v.op.Parallelization, "-vertex-parallel") &&
		!strings.HasPrefix(v.op.Parallelization, "edge-aware") {
		balanced = "nil"
	}
	v.calls(name, extra, balanced, pull)
	v.results(&o)
	v.line("}\n")
}

// calls has the loops called, by one thread or by all.
func (v variant) calls(name, extra, balanced string, pull bool) {
	at, serial := v.at(v.op.Pos), v.op.Parallelization == "serial"
	if pull || v.op.Input == nil {
		if pull && v.op.Segmented() {
			n := (&writer{g: v.generator}).argument(*v.op.Segments, graphit.Counts, at)
			v.line("for _, a := range m.segments(%s, a, int(%s)) {", at, n)
			defer v.line("}")
		}
		v.line("alone := func(int, int) { %sAlone(a, 0, uint32(m.n), &m.sinks[0]%s) }", name, extra)
		v.line("together := func(lo, hi uint32, k *sink) { %sTogether(a, lo, hi, k%s) }", name, extra)
		v.line("if m.workers == 1 || %t || m.n+len(a.ids) <= few {\nm.each(%s, 1, alone)\n} else {\nm.ranges(%s, %s, "+
			"together)\n}", serial, at, at, balanced)
		return
	}
	v.line("list := in.vertices()")
	v.line("alone := func(int, int) { %sAlone(a, list, &m.sinks[0]%s) }", name, extra)
	v.line("together := func(part []uint32, k *sink) { %sTogether(a, part, k%s) }", name, extra)
	v.line("if %t || m.alone(a, list) {\nm.each(%s, 1, alone)\n} else {\nm.lists(%s, list, together)\n}", serial, at,
		at)
}

// results makes the function return its output.
func (v variant) results(o *output) {
	switch v.op.Output {
	case graphir.NoOutput:
	case graphir.Priority:
		v.line("{\n%s\n}", o.after)
	default:
		v.line("%s", o.after)
		if v.m.CanReuseFrontier && v.op.Input != nil {
			v.line("m.reuse(in)")
		}
		v.line("return out")
	}
}

// loop generates the loop over edges of one direction.
func (v variant) loop(name string, pull, alone bool) output {
	src, dst := v.op.Apply.Params[0], v.op.Apply.Params[1]
	o := v.outputOf(pull, alone, map[bool]string{true: "uint32(at)", false: "d"}[v.op.Output == graphir.Priority])
	w := v.writer(pull, alone)
	w.names[src], w.names[dst] = v.goType(src.Type)+"(s)", v.goType(dst.Type)+"(d)"
	outer, row := src, "d"
	if pull {
		outer, row = dst, "s"
	}
	w.outer = outer
	w.unwritten = func(x *graphit.Var) bool { return !v.writes(x) }
	if w.told = o.told; pull && v.op.Output == graphir.Modified {
		w.told = "changed = true"
	}
	w.direct = v.op.Output == graphir.Priority || v.toldOnce()
	if pull && v.gathers {
		w.sum, w.register = v.gathered.Into, "sum"
	}
	// The function, of one edge.
	if v.op.Output == graphir.Modified && !w.direct {
		w.line("told := false")
	}
	if len(v.op.Apply.Params) == 3 {
		v.weight(w)
	}
	w.block(v.op.Apply.Body)
	switch {
	case v.op.Output == graphir.Modified && !w.direct && pull:
		w.line("changed = changed || told")
	case v.op.Output == graphir.Modified && !w.direct:
		w.line("if told {\n%s\n}", o.told)
	}
	if pull && v.claims {
		w.line("break")
	}
	text := w.b.String()
	w.b.Reset()
	v.around(w, o, pull, row, text)
	params := "a *adjacency, lo, hi uint32, k *sink"
	if !pull && v.op.Input != nil {
		params = "a *adjacency, part []uint32, k *sink"
	}
	params += o.params
	for _, f := range []*graphit.Func{v.op.SrcFilter, v.op.DstFilter} {
		if f != nil && v.before[f] {
			params += ", ask_" + f.Name + " []uint64"
		}
	}
	if pull && v.op.Input != nil {
		params += map[bool]string{true: ", input []uint64",
			false: ", input []uint32"}[v.m.PullInputFrontier != graphir.Boolmap]
	}
	v.kernel(w, name+suffix(alone), params, o.open, o.close)
	return o
}

// writer begins a loop.
func (v variant) writer(pull, alone bool) *writer {
	w := &writer{g: v.generator, kernel: true, alone: alone, names: map[*graphit.Var]string{}, tracked: v.op.Tracked,
		queues: v.queue, claims: v.claims}
	if !alone {
		owner := graphir.AtSource
		if pull {
			owner = graphir.AtDestination
		}
		w.access = accesses(v.accesses, v.vector, owner)
	}
	return w
}

// toldOnce reports whether the function changes the tracked vector in a single statement outside any loop.
func (e *edges) toldOnce() bool {
	n := 0
	var visit func(list []graphit.Stmt, weight int)
	visit = func(list []graphit.Stmt, weight int) {
		for _, s := range list {
			switch s := s.(type) {
			case *graphit.Assign:
				if x, ok := s.X.(*graphit.Index); ok && x.X.(*graphit.Name).Var == e.op.Tracked {
					n += weight
				}
			case *graphit.If:
				visit(s.Then, weight)
				visit(s.Else, weight)
			case *graphit.While:
				visit(s.Body, 2)
			case *graphit.For:
				visit(s.Body, 2)
			}
			graphit.WalkStmt(s, func(x graphit.Expr) {
				if c, ok := x.(*graphit.Call); ok && c.Func != nil {
					n += 2 // it may be there
				}
			})
		}
	}
	visit(e.op.Apply.Body, 1)
	return n <= 1
}

// weight is the edge's.
func (e *edges) weight(w *writer) {
	p := e.op.Apply.Params[2]
	t := e.goType(p.Type)
	switch t {
	case "float32", "float64":
		e.need.floats = true
		w.names[p] = "weight[e]"
		if t == "float64" {
			w.names[p] = "float64(weight[e])"
		}
	default:
		e.need.ints = true
		w.names[p] = "weight[e]"
		if t != "int32" {
			w.names[p] = t + "(weight[e])"
		}
	}
}

// around writes the loops over vertices and their edges around a function.
func (v variant) around(w *writer, o output, pull bool, row, text string) {
	outerFilter, innerFilter := v.op.SrcFilter, v.op.DstFilter
	outerAt, owner := "s", v.op.Apply.Params[0]
	if pull {
		outerFilter, innerFilter = innerFilter, outerFilter
		outerAt, owner = "d", v.op.Apply.Params[1]
	}
	switch {
	case pull:
		w.line("for d := lo; d < hi; d++ {")
	case v.op.Input == nil:
		w.line("for s := lo; s < hi; s++ {")
	default:
		w.line("for _, s := range part {")
	}
	v.skip(w, outerFilter, outerAt)
	w.line("row := a.ids[a.offsets[%s]:a.offsets[%s+1]]", outerAt, outerAt)
	weighted := len(v.op.Apply.Params) == 3
	if weighted {
		field := "ints"
		if v.op.Apply.Params[2].Type.IsReal() {
			field = "floats"
		}
		w.line("weight := a.%s[a.offsets[%s]:a.offsets[%s+1]]\n_ = weight", field, outerAt, outerAt)
	}
	w.line("if len(row) == 0 {\ncontinue\n}")
	for _, b := range w.before {
		w.line("%s", b)
	}
	sums := pull && v.gathers
	if sums {
		w.line("sum := %s", w.load(v.gathered.Into, w.vector(v.gathered.Into)+"["+v.goType(owner.Type)+"(d)]"))
	}
	if pull && v.op.Output == graphir.Modified {
		w.line("changed := false")
	}
	index := "_"
	if weighted {
		index = "e"
	}
	w.line("for %s, %s := range row {", index, row)
	if weighted {
		w.line("_ = e")
	}
	w.line("_ = %s", row)
	if pull && v.op.Input != nil {
		v.skipIdle(w)
	}
	v.skip(w, innerFilter, row)
	w.b.WriteString(text)
	w.line("}")
	if sums {
		v.keepSum(w, v.goType(owner.Type))
	}
	if pull && v.op.Output == graphir.Modified {
		w.line("if changed {\n%s\n}", o.told)
	}
	w.line("}")
}

// skipIdle continues with the next edge of a pull if its source is not active.
func (v variant) skipIdle(w *writer) {
	if v.m.PullInputFrontier != graphir.Boolmap {
		w.line("if input[s/wordBits]&(1<<(s%%wordBits)) == 0 {\ncontinue\n}")
		return
	}
	w.line("if input[s] == 0 {\ncontinue\n}")
}

// keepSum stores the result of a pull's row.
func (v variant) keepSum(w *writer, number string) {
	at := w.vector(v.gathered.Into) + "[" + number + "(d)]"
	if w.access[v.gathered.Into] == plain {
		w.line("%s = sum", at)
		return
	}
	w.line("store%s(&%s, sum)", suffixes[v.elementType(v.gathered.Into)], at)
}

// skip continues with the next vertex if a filter does not hold.
func (v variant) skip(w *writer, f *graphit.Func, at string) {
	if f == nil {
		return
	}
	if v.before[f] {
		w.line("if ask_%s[%s/wordBits]&(1<<(%s%%wordBits)) == 0 {\ncontinue\n}", f.Name, at, at)
		return
	}
	w.line("if !(%s) {\ncontinue\n}", v.holds(w, f, at))
}

// holds is a filter's answer for a vertex.
func (g *generator) holds(w *writer, f *graphit.Func, at string) string {
	p := f.Params[0]
	arg := g.goType(p.Type) + "(" + at + ")"
	if x := f.Single(); x != nil {
		was, outer := w.names[p], w.outer
		w.names[p], w.outer = arg, nil
		s := w.expr(x)
		w.names[p], w.outer = was, outer
		return s
	}
	return w.closure(f) + "(" + arg + ")"
}

// asked generates the function that evaluates a filter for all vertices, before the operator begins.
func (e *edges) asked(f *graphit.Func) {
	w := &writer{g: e.generator, kernel: true, alone: true, names: map[*graphit.Var]string{}}
	w.line("if %s {\nbits[s/wordBits] |= 1 << (s %% wordBits)\n}", e.holds(w, f, "s"))
	name := e.name + "_" + f.Name
	e.kernel(w, name+"Ask", "lo, hi uint32, bits []uint64", "for s := lo; s < hi; s++ {", "}")
	e.line("func %s() []uint64 {\nbits := make([]uint64, (m.n+wordBits-1)/wordBits)", name)
	e.line("m.ranges(%s, nil, func(lo, hi uint32, _ *sink) { %sAsk(lo, hi, bits) })\nreturn bits\n}\n", e.at(f.Pos),
		name)
}

// ordered generates the function of a loop over a queue's buckets.
func (e *edges) ordered(o *graphir.Ordered, name string) {
	v := variant{edges: e, m: &e.op.Metadata, name: name}
	src, dst := e.op.Apply.Params[0], e.op.Apply.Params[1]
	t := e.goType(o.Vector.Type.Of)
	e.line("// %s is the loop over the buckets of %s.", name, o.Queue.Name)
	for _, alone := range []bool{true, false} {
		w := v.writer(false, alone)
		w.names[src], w.names[dst] = e.goType(src.Type)+"(s)", e.goType(dst.Type)+"(d)"
		w.outer, w.unwritten = src, func(x *graphit.Var) bool { return !e.writes(x) }
		w.told = "b.put(uint32(at), q.bucket(x))"
		weighted := len(e.op.Apply.Params) == 3
		if weighted {
			e.weight(w)
		}
		w.block(e.op.Apply.Body)
		text := w.b.String()
		w.b.Reset()
		w.hoist("waits")
		taken := "take"
		if alone {
			taken = "takeAlone"
		}
		w.line("for _, s := range part {\nif !%s(waits, s) {\ncontinue\n}", taken)
		w.line("row := a.ids[a.offsets[s]:a.offsets[s+1]]\nb.taken++\nb.walked += len(row)")
		index := "_"
		if weighted {
			field := "ints"
			if e.op.Apply.Params[2].Type.IsReal() {
				field = "floats"
			}
			index = "e"
			w.line("weight := a.%s[a.offsets[s]:a.offsets[s+1]]\n_ = weight", field)
		}
		for _, b := range w.before {
			w.line("%s", b)
		}
		w.line("for %s, d := range row {\n_ = d", index)
		if weighted {
			w.line("_ = e")
		}
		w.b.WriteString(text)
		w.line("}\n}")
		leaves, _ := e.sides()
		if leaves == "m.in" {
			e.need.in = true
		}
		e.kernel(w, name+suffix(alone), "q *queue["+t+"], part []uint32, b *buckets", "a := "+leaves, "")
	}
	q := e.generator.name(o.Queue)
	e.line("func %s() {\nmade(%s, %s).ordered(%s, %sAlone, %sTogether)", name, e.at(e.op.Pos), q, e.at(e.op.Pos), name,
		name)
	e.line("}\n")
}
