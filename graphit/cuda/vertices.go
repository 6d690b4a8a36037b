package cuda

import (
	"fmt"

	"heddle/graphit"
	"heddle/graphit/graphir"
	"heddle/kernels/compose"
	"heddle/kernels/cuda"
	"heddle/kernels/ir"
)

// vertices is an operator over vertices that the host launches, or one of a queue's.
type vertices struct {
	operator *compose.VertexOperator
	kernel   *ir.Kernel
	name     string // of the function that launches it
	function string // of the kernel
	doc      string
	filter   bool // of the program's: the check compares what it keeps
	apply    *graphit.Func
}

// planVertices makes an operator over vertices, or takes an equal one.
func (w *writer) planVertices(op *graphir.VertexSetIterator) {
	if w.loopOf(op) != nil {
		return
	}
	o := w.Vertices[op]
	for _, x := range w.vertices {
		if x.apply == op.Apply && x.operator.Listed == o.Listed && x.operator.Keeps == o.Keeps {
			w.ran[op] = x
			return
		}
	}
	x := w.newVertices(op.Pos, o, op.Apply.Name)
	x.apply, x.filter = op.Apply, op.Filters
	x.doc = fmt.Sprintf("%s, of %s", op.Apply.Name, choose(o.Listed, "a set's vertices", "all vertices"))
	if op.Filters {
		x.doc += ": those of which it holds"
	}
	w.ran[op] = x
}

func (w *writer) newVertices(at graphit.Pos, o *compose.VertexOperator, name string) *vertices {
	x := &vertices{operator: o, kernel: w.kernelOf(at, o), name: w.unique(name)}
	x.function = w.unique(x.name + "_kernel")
	w.vertices = append(w.vertices, x)
	return x
}

func choose(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// planQueue makes the operators that take vertices out of the queue.
func (w *writer) planQueue() {
	if w.queue == nil {
		return
	}
	q, name := w.Queues[w.queue], w.name(w.queue)
	w.newVertices(w.queue.Pos, q.Takes, name+"_take").doc = "The queue's vertices that wait in the current bucket"
	w.newVertices(w.queue.Pos, q.Finds, name+"_find").doc = "The least priority of a vertex that waits in the queue"
}

// vertexKernel writes an operator's kernel.
func (w *writer) vertexKernel(x *vertices) {
	w.line("// %s.", x.doc)
	text, err := cuda.KernelAs(x.kernel, x.function, nil)
	w.refuseKernel(graphit.Pos{Line: 1, Column: 1}, err)
	w.text.Raw(text + "\n")
}

// vertexArrays declares an operator's arrays.
func (w *writer) vertexArrays(x *vertices) {
	if x.operator.Listed || x.operator.Keeps {
		w.line("// Of %s.", x.name)
	}
	if x.operator.Listed {
		w.line("const heddle::Array %s_list = device.reserve(vertices);", x.name)
	}
	if x.operator.Keeps {
		w.line("heddle::Array %s_kept = device.reserve(vertices), %s_next = device.reserve(vertices);", x.name, x.name)
		w.line("const heddle::Array %s_size = device.reserve(1);", x.name)
		w.line("heddle::Frontier %s_frontier;", x.name)
	}
}

// argument returns the text of a kernel's argument.
func (w *writer) argument(x *vertices) func(p ir.Param) string {
	names := w.parameters(nil)
	return func(p ir.Param) string {
		if text, ok := names(p.Name); ok {
			return text
		}
		switch p.Name {
		case compose.ListName:
			return "list"
		case compose.ListSize:
			return "size"
		case compose.KeptName:
			return x.name + "_next"
		case compose.KeptSize:
			return x.name + "_size"
		}
		panic(fmt.Sprintf("BUG: cuda: parameter %s of %s", p.Name, x.name))
	}
}

// vertexFunction writes the function that launches an operator.
func (w *writer) vertexFunction(x *vertices) {
	w.line("")
	w.line("// %s.", x.doc)
	if q := w.queue; q != nil && x.operator == w.Queues[q].Finds {
		w.findFunction(x)
		return
	}
	if q := w.queue; q != nil && x.operator == w.Queues[q].Takes {
		w.line("%s.take = [&] {", w.name(q))
	} else {
		w.line("const auto %s = [&]%s {", x.name, choose(x.operator.Listed, "(const heddle::Set& of)", ""))
	}
	if x.operator.Keeps {
		w.line("%s_frontier.run();", x.name)
	}
	if x.operator.Listed {
		w.line("const auto [list, size] = of.place(device, %s_list);", x.name)
	}
	cuda.LaunchKernel(&w.text, x.kernel, x.name, x.function, w.argument(x))
	if x.operator.Keeps {
		w.line("heddle::rotate(%s_kept, %s_next);", x.name, x.name)
		w.line("heddle::Set set = %s_frontier.made_list(device, %s_kept, device.take(%s_size), true);", x.name, x.name,
			x.name)
		if x.filter {
			w.line("if (checking) kept.push_back(set.list());")
		}
		w.line("return set;")
	}
	w.line("};")
}

// findFunction writes the function that finds the queue's least priority.
func (w *writer) findFunction(x *vertices) {
	q := w.Queues[w.queue]
	w.line("%s.find = [&]() -> std::optional<int64_t> {", w.name(w.queue))
	w.line("device.write(queue_least, {%d, 0}); // no vertex waits", q.Greatest)
	cuda.LaunchKernel(&w.text, x.kernel, x.name, x.function, w.argument(x))
	w.line("const heddle::Words least = device.read(queue_least);")
	w.line("device.reads++;")
	w.line("if (least[1] == 0) return std::nullopt;")
	w.line("return int64_t(%s(least[0]));", choose(q.Signed, "int32_t", "uint32_t"))
	w.line("};")
}
