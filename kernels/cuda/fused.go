package cuda

import (
	"fmt"
	"slices"
	"strings"

	"heddle/kernels/compose"
	"heddle/kernels/ir"
)

// A fused run is one cooperative launch: all blocks go from kernel to kernel over barriers of the grid, and every
// thread takes the host's decisions by itself, from words that it reads behind a barrier. Such a word has three places,
// used in turn: one that kernels add to, one that threads may still be reading, and one that is being zeroed for the
// next super-step. So every block passes the same number of barriers, one behind each kernel.

// changes reports whether an array is written within the loop, by itself or in another role.
func (w *writer) changes(array string) bool {
	for _, r := range append(slices.Clone(w.Frontier), w.pileRoles()...) {
		if slices.Contains(r.Roles, array) {
			return true
		}
	}
	_, written := w.role(array)
	return written
}

// sharedBytes returns the scratchpad that the loop needs.
func (w *writer) sharedBytes() (n int) {
	for _, k := range w.Kernels.All() {
		n = max(n, k.SharedBytes())
	}
	return n
}

// counters are the words that the host would read after a kernel, and zero.
var counters = []string{"next.size", "next.some", "next.count", "residual", "far.count"}

// loopParameters returns the loop's parameters: those of its kernels, except those that it computes itself.
func (w *writer) loopParameters() (list []Parameter) {
	seen := map[string]bool{}
	own := []string{"step", "launch", "active.size", "round", "depth", "stack.first", "stack.size", "far.size",
		"far.before", "far.threshold", "far.period"}
	if w.Plan.Algorithm.Seed != nil {
		seen["vertices"], seen["edges"] = true, true
		for _, name := range []string{"vertices", "edges"} {
			list = append(list, Parameter{ir.Param{Name: name, Type: ir.U32}, "uint32_t"})
		}
	}
	for _, k := range w.Kernels.All() {
		for _, x := range Parameters(k) {
			if seen[x.Name] || slices.Contains(own, x.Name) {
				continue
			}
			seen[x.Name] = true
			if x.Aligned {
				x.Type = w.elementOf(x.Name) + "*"
				if !w.changes(x.Name) {
					x.Type = "const " + x.Type + " __restrict__"
				}
			}
			list = append(list, x)
		}
	}
	for _, r := range append(slices.Clone(w.Frontier), w.pileRoles()...) { // roles that no kernel names
		for _, role := range r.Roles {
			if !seen[role] {
				seen[role] = true
				list = append(list, Parameter{ir.Param{Name: role, Type: ir.U32, Aligned: true}, "uint32_t*"})
			}
		}
	}
	return list
}

// elementOf returns the type of an array's elements in the loop. Arrays that exchange roles have words.
func (w *writer) elementOf(array string) string {
	types := map[string]bool{}
	for _, k := range w.Kernels.All() {
		for _, x := range Parameters(k) {
			if x.Name == array {
				types[strings.Trim(strings.NewReplacer("const ", "", "*", "", "__restrict__", "").Replace(x.Type), " ")] = true
			}
		}
	}
	rotates := slices.ContainsFunc(append(slices.Clone(w.Frontier), w.pileRoles()...),
		func(r compose.Rotation) bool { return slices.Contains(r.Roles, array) })
	if len(types) == 1 && !rotates {
		for t := range types {
			return t
		}
	}
	return "uint32_t"
}

// loopKernel writes the kernel that loops over super-steps.
func (w *writer) loopKernel() {
	var list []string
	for _, x := range w.loopParameters() {
		list = append(list, x.Type+" "+identifier(x.Name))
	}
	list = append(list, "uint32_t active_size", "uint32_t* outcome")
	if w.has("stack.top") {
		list = append(list, "uint32_t* stack_ends")
	}
	w.line("// Loops over super-steps on the device: a barrier of all blocks behind every kernel.")
	w.line("__global__ void __launch_bounds__(THREADS, MIN_BLOCKS) loop(%s)", wrap(list, "        ", 100))
	w.line("{")
	w.line("const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;")
	w.line("uint32_t step = 1, launch = 0, round = 0, depth = 0, steps = 0, ended = 0;")
	w.line("(void)thread, (void)threads, (void)step, (void)launch, (void)active_size, (void)round, (void)depth;")
	if w.has("stack.top") {
		w.line("uint32_t stack_first = 0, stack_size = active_size;")
		w.line("if (thread == 0) stack_ends[0] = active_size;")
	}
	if w.Waits() != nil {
		w.line("uint32_t far_threshold = %du, far_before = 0, far_size = 0, far_period = 1, far_turn = 0;", w.Waits().Delta())
	}
	w.line("uint32_t turn = 0; // which of its three places a counter uses")
	w.call(w.Kernels.Init)
	w.loopRounds()
	w.line("for (;;) {")
	if w.Plan.Algorithm.Seed != nil {
		w.line("const uint32_t visited = %s;", choose(w.Plan.Algorithm.CountsFirst, "steps == 0 ? 0 : active_size",
			"active_size"))
	}
	w.loopGather()
	w.loopEnd()
	w.line("if (steps == MAX_STEPS) break;")
	w.line("}")
	w.loopBack()
	w.line("if (thread == 0) {")
	w.line("outcome[0] = steps;")
	w.line("outcome[1] = ended;")
	w.line("}")
	w.line("}")
	w.line("")
}

// call writes the call of a kernel's function and the barrier behind it.
func (w *writer) call(k *ir.Kernel) {
	if k == nil {
		return
	}
	var args []string
	for _, p := range Parameters(k) {
		switch name := identifier(p.Name); {
		case !p.Aligned:
			args = append(args, w.loopNumber(p.Param))
		case slices.Contains(counters, p.Name):
			args = append(args, "&"+name+choose(p.Name == "far.count", "[far_turn]", "[turn]"))
		default:
			t := strings.TrimSuffix(p.Type, " __restrict__")
			if w.elementOf(p.Name)+"*" != strings.TrimPrefix(t, "const ") {
				name = "(" + t + ")" + name
			}
			args = append(args, name)
		}
	}
	w.line("%s(%s);", identifier(k.Name), wrap(args, strings.Repeat("    ", w.depth+1), 100))
	w.line("grid_barrier();")
}

// loopNumber returns the expression of a scalar parameter within the loop.
func (w *writer) loopNumber(p ir.Param) string { return identifier(p.Name) }

// loopGather writes the kernels that handle the edges of a super-step.
func (w *writer) loopGather() {
	d := w.Plan.Direction.Uses[0]
	w.loopZero()
	w.loopGatherBy(w.Kernels.Topology[d], w.Kernels.Lists[d], w.Kernels.Gather[d])
}

// loopZero writes the zeroing of arrays before a gather.
func (w *writer) loopZero() {
	zeroed := false
	for _, x := range w.Arrays {
		if _, written := w.role(x.Name); x.Zero && written {
			w.line("for (uint32_t i = thread; i < %d; i += threads) %s[i] = 0;", x.Words, identifier(x.Name))
			zeroed = true
		}
	}
	if zeroed {
		w.line("grid_barrier();")
	}
}

// loopGatherBy writes the layout's and the schedule's own kernels, if there are any, and a gather.
func (w *writer) loopGatherBy(topology, register, gather *ir.Kernel) {
	w.call(topology)
	w.call(register)
	if n := len(w.Plan.Schedule.Launches); n > 0 {
		w.line("for (launch = 0; launch < %d; launch++) { // %s", n, strings.Join(w.Plan.Schedule.Launches, ", "))
		w.depth++
		w.call(gather)
		w.line("}")
		w.line("launch = 0;")
		return
	}
	w.call(gather)
}

// loopRounds writes the beginning of the first round.
func (w *writer) loopRounds() {
	a := w.Plan.Algorithm
	if a.Seed == nil {
		return
	}
	w.line("uint32_t unvisited = vertices;")
	w.line("round--;")
	if !a.CountsFirst {
		w.line("{")
		w.line("uint32_t active = 0;")
		w.loopBegin()
		w.line("}")
	}
}

// loopBegin writes the beginning of rounds until one has vertices.
func (w *writer) loopBegin() {
	w.line("while (active == 0 && unvisited > 0 && int32_t(round) < int32_t(edges)) {")
	w.line("round++;")
	w.call(w.Kernels.Seed)
	w.loopExchange()
	w.line("}")
}

// loopBack writes the way back through the super-steps.
func (w *writer) loopBack() {
	if w.Kernels.Back == nil {
		return
	}
	w.line("// The way back: the edges of each super-step's vertices once more.")
	w.line("grid_barrier();")
	w.line("for (depth = steps < 2 ? 0 : steps - 2; depth > 0; depth--) {")
	if w.has("stack.top") {
		w.line("stack_first = stack_ends[depth - 1];")
		w.line("stack_size = stack_ends[depth] - stack_first;")
	}
	w.loopZero()
	w.loopGatherBy(w.Kernels.TopologyBack, w.Kernels.Again, w.Kernels.Back)
	w.line("}")
}

// loopEnd writes the end of a super-step, in the host's place.
func (w *writer) loopEnd() {
	w.call(w.Kernels.Apply)
	w.line("steps++;")
	if w.Plan.Residual {
		w.line("const float changed = residual[turn];")
	}
	if w.Plan.Algorithm.Dense {
		w.nextTurn()
		if w.Plan.Residual {
			w.line("if (double(changed) <= TOLERANCE) break;")
		}
		return
	}
	w.line("uint32_t active;")
	w.loopExchange()
	w.loopRefill()
	if stop := w.Plan.Algorithm.Stop; stop != "" {
		w.line("const bool stopped = %s[0] != 0;", identifier(stop))
		w.line("grid_barrier(); // before a kernel can change it")
		w.line("if (stopped) break;")
	}
	w.line("if (active == 0) {")
	w.line("ended = 1;")
	w.line("break;")
	w.line("}")
	if w.Plan.Residual {
		w.line("if (double(changed) <= TOLERANCE) break;")
	}
}

// nextTurn writes the zeroing of the counters' places after the next one, and the step to the next.
func (w *writer) nextTurn() {
	for _, name := range counters {
		if name != "far.count" && (w.has(name) || name == "residual" && w.Plan.Residual) {
			w.line("if (thread == 0) %s[(turn + 2) %% 3] = 0;", identifier(name))
		}
	}
	w.line("%s", "turn = (turn + 1) % 3;")
}

// loopExchange writes the exchange of the frontiers.
func (w *writer) loopExchange() {
	for _, r := range w.Frontier {
		if len(r.Roles) > 1 {
			w.rotateInLoop(r.Roles)
		}
	}
	w.line("step++;")
	switch {
	case w.has("stack.top"):
		w.line("const uint32_t top = stack_top[0];")
		w.line("grid_barrier(); // before a kernel adds to it")
		w.line("stack_first += stack_size;")
		w.line("active = stack_size = top - stack_first;")
		w.line("if (thread == 0) stack_ends[steps] = top;")
	case w.has("next.size"):
		w.line("active = active_size = next_size[turn];")
	case w.has("next.some"):
		w.line("active = next_some[turn];")
	case w.has("next.count"):
		w.line("active = next_count[turn];")
	}
	w.nextTurn()
}

// rotateInLoop writes the exchange of roles: each array takes the role of the next one.
func (w *writer) rotateInLoop(roles []string) {
	last := identifier(roles[len(roles)-1])
	w.line("{")
	w.line("uint32_t* const passed_on = %s;", last)
	for i := len(roles) - 1; i > 0; i-- {
		w.line("%s = %s;", identifier(roles[i]), identifier(roles[i-1]))
	}
	w.line("%s = passed_on;", identifier(roles[0]))
	w.line("}")
}

// loopRefill writes the search for waiting vertices, or the beginning of rounds.
func (w *writer) loopRefill() {
	if w.Plan.Algorithm.Seed != nil {
		w.line("unvisited -= min(unvisited, visited);")
		w.loopBegin()
	}
	if w.Waits() == nil {
		return
	}
	w.line("// No vertex is near: the threshold rises until one is, or none waits.")
	w.line("while (active == 0 && (far_size = far_count[far_turn]) > 0) {")
	w.line("%s", "if (thread == 0) far_count[(far_turn + 2) % 3] = 0;")
	w.line("%s", "far_turn = (far_turn + 1) % 3;")
	w.line("far_before = far_threshold;")
	w.line("far_threshold += %du;", w.Waits().Delta())
	w.line("if (far_threshold < far_before) far_threshold = UINT32_MAX;")
	w.line("far_period++;")
	w.rotateInLoop([]string{"far.next", "far.queue"})
	w.call(w.Kernels.Split)
	w.loopExchange()
	w.line("}")
}

// mainLoopArrays writes the array of the loop's outcome.
func (w *writer) mainLoopArrays() {
	w.line("const heddle::Array loop_outcome = device.reserve(2);")
	if w.has("stack.top") {
		w.line("const heddle::Array loop_ends = device.reserve(size_t(vertices) + 2);")
	}
}

// mainLoop writes the run of a fused program.
func (w *writer) mainLoop() {
	w.line("")
	w.line("// A run is one cooperative launch.")
	w.line("const auto run = [&] {")
	w.line("heddle::Outcome outcome;")
	w.line("uint32_t active_size = 0, step = 1, launch = 0, round = 0;")
	w.line("(void)active_size, (void)step, (void)launch, (void)round;")
	if w.has("stack.top") {
		w.line("uint32_t stack_size = 0;")
		w.line("heddle::Words stack_ends;")
	}
	if a := w.Plan.Algorithm; a.Seed == nil || a.CountsFirst {
		w.first()
	}
	args := []string{"\"loop\"", "loop", fmt.Sprint(w.sharedBytes()), "true"}
	for _, x := range w.loopParameters() {
		if x.Aligned {
			args = append(args, identifier(x.Name))
		} else {
			args = append(args, w.number(x.Param))
		}
	}
	if w.has("stack.top") {
		args = append(args, "stack_size", "loop_outcome", "loop_ends")
	} else {
		args = append(args, "active_size", "loop_outcome")
	}
	w.line("device.gather_begins();")
	w.line("device.launch(%s);", wrap(args, strings.Repeat("    ", w.depth+1), 100))
	w.line("device.gather_ends();")
	w.line("const heddle::Words ended = device.read(loop_outcome);")
	w.line("outcome.steps = ended[0];")
	w.line("outcome.ended = ended[1] != 0;")
	w.line("return outcome;")
	w.line("};")
}
