package cuda

import (
	"fmt"
	"strings"

	"heddle/kernels/direction"
	"heddle/kernels/ir"
)

// What an operator's function is made of. Sets that operators pass to each other are heddle::Set (graphit.h), and
// NAME_frontier is the heddle::Frontier with those that the operator's arrays hold.

// dense reports whether the operator is over all edges, and has no sets.
func (x *Operator) dense() bool { return x.w.Plan.Algorithm.Dense }

// queued reports whether the operator's arrays hold a set as a list.
func (x *Operator) queued() bool { return x.w.has("next.queue") }

// form returns "bits" or "bytes", of a set that is a map.
func (x *Operator) form() string {
	return choose(strings.Contains(x.w.Plan.Set.Name, "bitmap"), "bits", "bytes")
}

// turns reports whether the operator chooses between push and pull whenever it runs.
func (x *Operator) turns() bool { return len(x.w.Plan.Direction.Uses) > 1 }

// Variables writes the declarations of the variables that a traversal leaves to the next one.
func (x *Operator) Variables(t *Text) {
	if !x.dense() {
		t.line("heddle::Frontier %s;", x.Own("frontier"))
	}
	for _, p := range x.numbers() {
		t.line("uint32_t %s = %d;", x.Own(p), map[string]int{"step": 1}[p])
	}
	if x.turns() {
		t.line("std::optional<heddle::Directions> %s;", x.Own("directions"))
	}
}

// numbers returns the names of the numbers that change from one traversal to the next.
func (x *Operator) numbers() (list []string) {
	for _, name := range []string{"step", "active.size"} {
		used := false
		for _, k := range x.w.Kernels.All() {
			for _, p := range Parameters(k) {
				used = used || p.Name == name
			}
		}
		if used || name == "active.size" && x.queued() {
			list = append(list, name)
		}
	}
	return list
}

// HasNumber reports whether the operator counts its traversals, for instance.
func (x *Operator) HasNumber(name string) bool {
	for _, n := range x.numbers() {
		if n == name {
			return true
		}
	}
	return false
}

// Reset writes the preparation of a run.
func (x *Operator) Reset(t *Text) {
	list, rotating := x.Arrays()
	filled := x.Filled()
	for _, a := range filled {
		t.line("device.write(%s, %s);", a.Variable, a.Value)
	}
	for _, a := range append(list, rotating...) {
		written := false
		for _, f := range filled {
			written = written || f.Variable == a.Variable
		}
		if !written {
			t.line("device.zero(%s);", a.Variable)
		}
	}
	if x.HasNumber("step") {
		t.line("%s = 1;", x.Own("step"))
	}
	if x.turns() {
		x.directions(t)
	}
}

func (x *Operator) directions(t *Text) {
	w := &x.w
	t.line("%s.emplace(graph, %v, %v, %v, %v);", x.Own("directions"), w.Workload.Alpha, w.Workload.Beta,
		w.Plan.Rule == direction.SEPGraph, w.Plan.Algorithm.Once)
}

// Traversal writes the function of a traversal.
func (x *Operator) Traversal(t *Text) {
	from := choose(x.dense(), "", "(const heddle::Set& from)")
	t.line("const auto %s = [&]%s {", x.name, from)
	x.Enter(t)
	x.zeroArrays(t)
	if uses := x.w.Plan.Direction.Uses; len(uses) == 1 {
		x.gather(t, uses[0])
	} else {
		x.chooses(t)
	}
	t.line("traversals++;")
	x.leave(t)
	t.line("};")
}

// Enter writes the placing of the set that is walked, unless the arrays hold it.
func (x *Operator) Enter(t *Text) {
	if x.dense() {
		return
	}
	t.line("if (!%s.holds(from)) {", x.Own("frontier"))
	x.place(t)
	if x.turns() {
		x.directions(t)
	}
	t.line("}")
}

func (x *Operator) place(t *Text) {
	switch {
	case x.queued():
		t.line("%s = from.copy_to(device, %s);", x.Own("active.size"), x.Own("active.queue"))
	case x.w.has("active.map"):
		t.line("device.write(%s, heddle::%s_of(from.list(), vertices));", x.Own("active.map"), x.form())
	}
}

// chooses writes the gather in the direction that suits the set.
func (x *Operator) chooses(t *Text) {
	members := choose(x.dense(), "heddle::all_vertices(vertices)", "from.list()")
	rows := choose(x.w.reversed, "graph.in()", "graph.out")
	t.line("const heddle::Words members = %s;", members)
	t.line("if (%s->pulls(members.size(), heddle::edges_of(%s, members))) {", x.Own("directions"), rows)
	x.gather(t, direction.Pull)
	t.line("} else {")
	x.gather(t, direction.Push)
	t.line("}")
}

// gather writes the launches that handle the edges in a direction.
func (x *Operator) gather(t *Text, d direction.Direction) {
	ks := &x.w.Kernels
	if k := ks.Compact[d]; k != nil {
		x.launch(t, k)
		t.line("%s = device.take(%s);", x.Own("active.size"), x.Own("compact.size"))
	}
	t.line("device.gather_begins();")
	x.launch(t, ks.Topology[d])
	x.launch(t, ks.Lists[d])
	if launches := x.w.Plan.Schedule.Launches; len(launches) > 0 {
		t.line("for (uint32_t launch = 0; launch < %d; launch++) { // %s", len(launches), strings.Join(launches, ", "))
		t.depth++
		x.launch(t, ks.Gather[d])
		t.line("}")
	} else {
		if x.launches(ks.Gather[d]) {
			t.line("const uint32_t launch = 0;")
		}
		x.launch(t, ks.Gather[d])
	}
	t.line("device.gather_ends();")
}

func (x *Operator) launches(k *ir.Kernel) bool {
	for _, p := range Parameters(k) {
		if p.Name == "launch" {
			return true
		}
	}
	return false
}

// zeroArrays writes the zeroing of arrays before a gather.
func (x *Operator) zeroArrays(t *Text) {
	for _, a := range x.w.Arrays {
		if a.Zero && x.written(a.Name) {
			t.line("device.zero(%s);", x.Variable(a.Name))
		}
	}
}

// Rotate writes the exchange of the arrays that hold sets.
func (x *Operator) Rotate(t *Text) {
	for _, r := range x.w.Frontier {
		if len(r.Roles) > 1 {
			roles := make([]string, len(r.Roles))
			for i, role := range r.Roles {
				roles[i] = x.Own(role)
			}
			t.line("heddle::rotate(%s);", strings.Join(roles, ", "))
		}
	}
}

// leave writes the exchange of the sets, and returns the new one.
func (x *Operator) leave(t *Text) {
	if x.dense() {
		return
	}
	x.Rotate(t)
	if x.HasNumber("step") {
		t.line("%s++;", x.Own("step"))
	}
	switch {
	case x.w.Plan.Algorithm.Silent:
		t.line("%s.left();", x.Own("frontier"))
	case x.queued():
		t.line("%s = device.take(%s);", x.Own("active.size"), x.Own("next.size"))
		if !x.w.Plan.Dedup.Exact() {
			t.line("if (%s > %s.words) heddle::fail(\"%s has added more vertices than its queue has room for: give "+
				"configDeduplication\");", x.Own("active.size"), x.Own("active.queue"), x.name)
		}
		t.line("return %s;", x.Made(x.Own("active.size")))
	default:
		t.line("return %s;", x.Made("device.take("+x.Own("next.some")+")"))
	}
}

// Made returns the expression of the set that the operator's arrays hold when roles have been exchanged; size is its
// size, or of a map whether there are any vertices.
func (x *Operator) Made(size string) string {
	if x.queued() {
		return fmt.Sprintf("%s.made_list(device, %s, %s, %v)", x.Own("frontier"), x.Own("active.queue"), size,
			x.once())
	}
	return fmt.Sprintf("%s.made_map(%s != 0, [&device, vertices, map = %s] { return "+
		"heddle::members_of_%s(device.read(map), vertices); })", x.Own("frontier"), size, x.Own("active.map"), x.form())
}

// once reports whether no vertex is in a list twice.
func (x *Operator) once() bool {
	return x.w.Plan.Dedup.Exact() || !x.w.Plan.Algorithm.Sum.Often()
}
