package cuda

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/compose"
	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// mainReset writes the preparation of a run, which is not timed.
func (w *writer) mainReset() {
	w.line("")
	w.line("// State that a run changes, besides what init sets.")
	w.line("const auto reset = [&] {")
	for _, a := range w.filled() {
		if a.Data != nil && a.Name != "residual" {
			w.line("device.write(%s, %s);", identifier(a.Name), w.contents(a))
		} else {
			w.line("device.zero(%s);", identifier(a.Name))
		}
	}
	for _, r := range append(slices.Clone(w.Frontier), w.pileRoles()...) {
		for _, role := range r.Roles {
			w.line("device.zero(%s);", identifier(role))
		}
	}
	w.line("};")
}

// launchText returns the statement that launches a kernel.
func (w *writer) launchText(k *ir.Kernel) string {
	args := []string{fmt.Sprintf("%q", k.Name), identifier(k.Name), fmt.Sprint(k.SharedBytes()),
		fmt.Sprint(isCooperative(k))}
	for _, p := range Parameters(k) {
		if p.Aligned {
			args = append(args, identifier(p.Name))
		} else {
			args = append(args, w.number(p.Param))
		}
	}
	return "device.launch(" + wrap(args, strings.Repeat("    ", w.depth+1), 100) + ");"
}

func (w *writer) launch(k *ir.Kernel) {
	if k != nil {
		w.line("%s", w.launchText(k))
	}
}

// mainRun writes the loop over super-steps.
func (w *writer) mainRun() {
	a := w.Plan.Algorithm
	w.line("")
	w.line("// A run: init, and super-steps until no vertex is active.")
	w.line("const auto run = [&] {")
	w.line("heddle::Outcome outcome;")
	w.line("uint32_t step = 1, launch = 0, active_size = 0, round = 0, bound = 0, depth = 0;")
	w.line("(void)step, (void)launch, (void)active_size, (void)round, (void)bound, (void)depth;")
	if w.Plan.Set.Outputs {
		w.line("uint32_t outputs_size = 0;")
	}
	if w.has("stack.top") {
		w.line("uint32_t stack_first = 0, stack_size = 0;")
		w.line("heddle::Words stack_ends; // where each super-step's vertices end")
	}
	if len(w.Plan.Direction.Uses) > 1 {
		w.line("heddle::Directions directions(graph, %v, %v, %v, %v);", w.Workload.Alpha, w.Workload.Beta,
			w.Plan.Rule == direction.SEPGraph, a.Once)
	}
	if w.Plan.Order.Buckets {
		w.line("heddle::Buckets buckets(%d, %d);", w.Waits().Delta(), w.Plan.Buckets)
	} else if w.Waits() != nil {
		w.line("uint32_t far_threshold = %du, far_before = 0, far_size = 0, far_period = 1;", w.Waits().Delta())
	}
	w.launch(w.Kernels.Init)
	w.start()
	w.line("for (;;) {")
	w.gatherSteps()
	if w.Kernels.Apply != nil {
		if w.Plan.Residual {
			w.line("device.zero(residual);")
		}
		w.launch(w.Kernels.Apply)
	}
	w.line("outcome.steps++;")
	w.settled()
	if !a.Dense {
		w.next()
	}
	w.line("if (outcome.steps == MAX_STEPS) break;")
	w.line("}")
	w.goBack()
	w.line("return outcome;")
	w.line("};")
}

// settled writes the test whether ranks have converged.
func (w *writer) settled() {
	if !w.Plan.Residual {
		return
	}
	w.line("const uint32_t change = device.take(residual);")
	w.line("float changed;")
	w.line("memcpy(&changed, &change, sizeof changed);")
	w.line("outcome.residuals.push_back(changed);")
	if w.Plan.Algorithm.Dense {
		w.line("if (double(changed) <= TOLERANCE) break;")
	}
}

// gatherSteps writes the launches that handle the edges of a super-step.
func (w *writer) gatherSteps() {
	if w.Plan.Algorithm.Seed != nil {
		w.line("uint32_t visited = %s;", w.activeVertices())
		if w.Plan.Algorithm.CountsFirst {
			w.line("if (outcome.steps == 0) visited = 0;")
		}
	}
	w.lookUp()
	w.zeroArrays()
	if uses := w.Plan.Direction.Uses; len(uses) == 1 {
		w.gatherIn(uses[0])
		return
	}
	w.line("if (directions.pulls(members.size(), heddle::edges_of(graph, members))) {")
	w.gatherIn(direction.Pull)
	w.line("} else {")
	w.gatherIn(direction.Push)
	w.line("}")
}

// lookUp writes the host's look at the frontier before a super-step: its size, for the choice of a direction,
// or the least value that it can bring.
func (w *writer) lookUp() {
	hybrid := len(w.Plan.Direction.Uses) > 1
	if !hybrid && !w.Plan.Settled {
		return
	}
	w.line("const heddle::Words members = %s;", w.members())
	if w.Plan.Settled {
		w.line("bound = heddle::least_distance(graph, members, device.read(%s));", identifier(w.Plan.Algorithm.Into))
	}
}

// members returns the expression of the list of active vertices.
func (w *writer) members() string {
	switch {
	case w.has("stack.top"):
		return "device.read(heddle::Array{stack.at + stack_first, stack_size})"
	case w.has("next.queue"), w.Plan.Set.Outputs:
		return "device.read(active_queue, active_size)"
	case w.has("active.map"):
		form := choose(strings.Contains(w.Plan.Set.Name, "bitmap"), "bits", "bytes")
		return "heddle::members_of_" + form + "(device.read(active_map), vertices)"
	}
	return "heddle::all_vertices(vertices)"
}

// gatherIn writes the launches that handle the edges of a super-step in a direction.
func (w *writer) gatherIn(d direction.Direction) {
	if k := w.Kernels.Compact[d]; k != nil && !w.Plan.Set.Outputs {
		w.launch(k)
		w.line("active_size = device.take(compact_size);")
	}
	w.line("device.gather_begins();")
	w.gatherBy(w.Kernels.Topology[d], w.Kernels.Lists[d], w.Kernels.Gather[d])
	w.line("device.gather_ends();")
}

// listOutputs writes the launch of the kernel that lists the outputs of a super-step, or of the first frontier, behind
// it rather than before the next: the host then reads how many there are, and none of them.
func (w *writer) listOutputs() {
	w.launch(w.Kernels.Compact[direction.Push])
	if w.has("stack.top") {
		w.line("stack_first = stack_ends.empty() ? 0 : stack_ends.back();")
		w.line("stack_ends.push_back(device.peek(stack_top));")
		w.line("stack_size = stack_ends.back() - stack_first;")
		return
	}
	w.line("active_size = device.take(compact_size);")
}

// gatherBy writes the launches of the layout's and the schedule's own kernels, if there are any, and of a gather.
func (w *writer) gatherBy(topology, register, gather *ir.Kernel) {
	w.launch(topology)
	w.launch(register)
	if gather != w.Kernels.Back && w.Plan.Set.Outputs {
		w.line("if (device.peek(heddle::Array{strict_upto.at + %s - 1, 1}) > next_outputs.words)",
			choose(w.has("stack.top"), "stack_size", "active_size"))
		w.line("    heddle::fail(\"vertices are listed so often that outputs have no room for the edges: give " +
			"workload.frontier.dedup bitmap or monotonic\");")
	}
	if launches := w.Plan.Schedule.Launches; len(launches) > 0 {
		w.line("for (launch = 0; launch < %d; launch++) { // %s", len(launches), strings.Join(launches, ", "))
		w.depth++
		w.launch(gather)
		w.line("}")
		w.line("launch = 0;")
	} else {
		w.launch(gather)
	}
}

// goBack writes the way back through the super-steps, from the last but one to the second.
func (w *writer) goBack() {
	if w.Kernels.Back == nil {
		return
	}
	w.line("// The way back: the edges of each super-step's vertices once more.")
	w.line("for (depth = outcome.steps < 2 ? 0 : outcome.steps - 2; depth > 0; depth--) {")
	if w.has("stack.top") {
		w.line("stack_first = stack_ends[depth - 1];")
		w.line("stack_size = stack_ends[depth] - stack_first;")
	}
	w.zeroArrays()
	w.gatherBy(w.Kernels.TopologyBack, w.Kernels.Again, w.Kernels.Back)
	w.line("}")
}

// zeroArrays writes the zeroing of arrays before a gather.
func (w *writer) zeroArrays() {
	for _, x := range w.Arrays {
		if _, written := w.role(x.Name); x.Zero && written {
			w.line("device.zero(%s);", identifier(x.Name))
		}
	}
}

// activeVertices returns the expression of the number of active vertices.
func (w *writer) activeVertices() string {
	switch {
	case w.has("next.queue"), w.Plan.Set.Outputs:
		return "active_size"
	case w.has("active.map"):
		form := choose(strings.Contains(w.Plan.Set.Name, "bitmap"), "bits", "bytes")
		return "heddle::count_" + form + "(device.read(active_map))"
	}
	return "vertices"
}

// has reports whether the frontier has an array with a role.
func (w *writer) has(role string) bool {
	return slices.ContainsFunc(w.Frontier, func(r compose.Rotation) bool { return slices.Contains(r.Roles, role) })
}

// start writes the first frontier.
func (w *writer) start() {
	a := w.Plan.Algorithm
	if a.Dense {
		return
	}
	if a.Seed != nil {
		w.rounds()
		if !a.CountsFirst {
			return
		}
	}
	w.first()
	if a.CountsFirst {
		w.line("round--;")
	}
}

// first writes the vertices of the first frontier into it.
func (w *writer) first() {
	a := w.Plan.Algorithm
	if a.Dense {
		return
	}
	switch {
	case a.Target:
		w.line("const heddle::Words first{source, %s};", w.number(ir.Param{Name: "target", Type: ir.U32}))
	case a.FromSource:
		w.line("const heddle::Words first{source};")
	default:
		w.line("const heddle::Words first = heddle::all_vertices(vertices);")
	}
	switch {
	case w.Plan.Set.Outputs:
		w.line("device.write(next_outputs, first);")
		w.line("outputs_size = uint32_t(first.size());")
		w.listOutputs()
	case w.has("stack.top"):
		w.line("device.write(stack, first);")
		w.line("stack_size = uint32_t(first.size());")
		w.line("stack_ends = {stack_size};")
		w.line("device.write(stack_top, stack_ends);")
	case w.has("next.queue"):
		w.line("device.write(active_queue, first);")
		w.line("active_size = uint32_t(first.size());")
	case w.has("active.map"):
		form := choose(strings.Contains(w.Plan.Set.Name, "bitmap"), "bits", "bytes")
		w.line("device.write(active_map, heddle::%s_of(first, vertices));", form)
	}
}

// exchange writes the exchange of the frontiers, after which active is the number of active vertices, or not 0 if there
// are any.
func (w *writer) exchange() {
	for _, r := range w.Frontier {
		if len(r.Roles) > 1 {
			roles := make([]string, len(r.Roles))
			for i, role := range r.Roles {
				roles[i] = identifier(role)
			}
			w.line("heddle::rotate(%s);", strings.Join(roles, ", "))
		}
	}
	w.line("step++;")
	switch {
	case w.Plan.Set.Outputs:
		w.line("outputs_size = device.take(next_outputs_size);")
		w.listOutputs()
		w.line("active = %s;", choose(w.has("stack.top"), "stack_size", "active_size"))
	case w.has("stack.top"):
		w.line("stack_first = stack_ends.back();")
		w.line("stack_ends.push_back(device.peek(stack_top));")
		w.line("active = stack_size = stack_ends.back() - stack_first;")
	case w.has("next.size"):
		w.line("active = active_size = device.take(next_size);")
		if !w.Plan.Dedup.Exact() {
			w.line("if (active_size > active_queue.words) heddle::fail(\"a super-step has added more vertices than the queue " +
				"has room for: give workload.frontier.dedup\");")
		}
	case w.has("next.some"):
		w.line("active = device.take(next_some);")
	case w.has("next.count"):
		w.line("active = device.take(next_count);")
	}
}

// next writes the choice of the next active set.
func (w *writer) next() {
	w.line("uint32_t active;")
	w.exchange()
	w.refill()
	if stop := w.Plan.Algorithm.Stop; stop != "" {
		w.line("if (device.read(%s, 1)[0] != 0) break;", identifier(stop))
	}
	w.line("if (active == 0) {")
	w.line("outcome.ended = true;")
	w.line("break;")
	w.line("}")
	if w.Plan.Residual {
		w.line("if (double(changed) <= TOLERANCE) break;")
	}
}

// refill writes the search for waiting vertices, or the beginning of a round, when none is active.
func (w *writer) refill() {
	switch {
	case w.Plan.Order.Buckets:
		w.line("// The bucket is empty: the next one with vertices, or the end.")
		w.line("while (active == 0 && buckets.rise(device, bucket_counts, bucket_least)) {")
		w.launch(w.Kernels.Split)
		w.exchange()
		w.line("}")
	case w.Waits() != nil:
		w.line("// No vertex is near: the threshold rises until one is, or none waits.")
		w.line("while (active == 0 && (far_size = device.take(far_count)) > 0) {")
		w.line("far_before = far_threshold;")
		w.line("far_threshold += %du;", w.Waits().Delta())
		w.line("if (far_threshold < far_before) far_threshold = UINT32_MAX;")
		w.line("far_period++;")
		w.line("heddle::rotate(far_next, far_queue);")
		w.launch(w.Kernels.Split)
		w.exchange()
		w.line("}")
	case w.Plan.Algorithm.Seed != nil:
		w.line("unvisited -= std::min(unvisited, visited);")
		w.line("begin_rounds(active);")
	}
}

// rounds writes the function that begins rounds until one has vertices.
func (w *writer) rounds() {
	w.line("uint32_t unvisited = vertices;")
	w.line("const auto begin_rounds = [&](uint32_t& active) {")
	w.line("while (active == 0 && unvisited > 0 && int32_t(round) < int32_t(edges)) {")
	w.line("round++;")
	w.launch(w.Kernels.Seed)
	w.exchange()
	w.line("}")
	w.line("};")
	if !w.Plan.Algorithm.CountsFirst {
		w.line("round--;")
		w.line("uint32_t first_round = 0;")
		w.line("begin_rounds(first_round);")
	}
}

// expect notes the expected result where the program has no reference of its own.
func (w *writer) expect() {
	a := w.Plan.Algorithm
	switch {
	case w.native != nil || w.expected == nil || a.Target:
	case a.Range != nil:
		w.extra["least"], w.extra["greatest"] = floats(a.Range(w.Problem(), len(w.expected.Steps)))
	case unique[a.Name] || a.Exact:
		w.extra["expected"] = w.expected.Values
	}
}

// unique are algorithms whose result is one whatever the order of edges, although not marked as exact.
var unique = map[string]bool{"k-core": true, "k-core-counted": true, "colouring": true}

// mainMeasure writes the end of main.
func (w *writer) mainMeasure() {
	w.line("")
	w.line("heddle::Program program;")
	w.line("program.point = %q;", w.Plan.Name())
	p := w.Plan
	w.line("program.algorithm = %q;", p.Algorithm.Name)
	w.line("program.schedule = %q;", p.Schedule.Name)
	w.line("program.layout = %q;", p.Layout.Name)
	w.line("program.direction = %q;", p.Direction.Name)
	w.line("program.dense = %v;", p.Algorithm.Dense)
	w.line("program.reset = reset;")
	w.line("program.run = run;")
	w.line("program.result = [&] { return device.read(%s); };", identifier(w.Plan.Algorithm.Result))
	w.line("program.verify = [&](const heddle::Words& values, const heddle::Outcome& outcome) {")
	w.line("(void)outcome;")
	switch {
	case w.native != nil:
		w.line("return %s;", w.native.verify)
	case p.Algorithm.Target:
		w.line("return heddle::sides(graph, source, %s, device.read(%s, 1)[0] != 0, values);",
			w.number(ir.Param{Name: "target", Type: ir.U32}), identifier(p.Algorithm.Stop))
	case w.extra["least"] != nil:
		w.line("return heddle::within(extra.array(\"least\"), extra.array(\"greatest\"), values);")
	case w.extra["expected"] != nil:
		w.line("return heddle::same(\"%s\", values, extra.array(\"expected\"), \"exported from heddle\");",
			w.Plan.Algorithm.Result)
	default:
		w.line("return heddle::unchecked(values);")
	}
	w.line("};")
	w.line("return heddle::measure(options, device, graph, program);")
}
