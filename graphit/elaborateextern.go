package graphit

// updateExtern is set.applyUpdatePriorityExtern(f): f changes the priorities of vertices, and returns the set of those
// that then wait in the queue.
const updateExtern = "applyUpdatePriorityExtern"

// updated inlines the function that a set is given to, and has the vertices of its result wait.
func (h *host) updated(at stmt, x *Method) {
	h.count(x.Pos, x.Name, len(x.Args), 1, 1)
	fn := h.named(x.Args[0])
	if fn == nil || len(fn.Params) != 1 || fn.Params[0].Type.Kind != VertexSet || fn.Result == nil ||
		fn.Result.Type.Kind != VertexSet {
		h.errorf(x.Args[0].Position(), "%s: expected a function of a vertexset with a vertexset as its result", x.Name)
	}
	var queue *Var
	for _, v := range h.f.Globals {
		if v.Type.Kind == PriorityQueue && queue != nil {
			h.errorf(x.Pos, "%s: the program has two queues, %s and %s: expected one", x.Name, queue.Name, v.Name)
		} else if v.Type.Kind == PriorityQueue {
			queue = v
		}
	}
	if queue == nil {
		h.errorf(x.Pos, "%s: the program has no priority_queue", x.Name)
	}
	waits := h.made[updateExtern]
	if waits == nil {
		waits = h.parsed(x.Pos, "func %s(v : %s) %s.%s(v); end", h.unique(queue.Name+"_"+Enqueue), queue.Type.Element,
			queue.Name, Enqueue)
		h.made[updateExtern] = waits
	}
	set := h.inline(&Call{node: x.node, Name: fn.Name, Args: []Expr{x.X}}, fn, false)
	if _, ok := set.(*Name); !ok { // of a Go function
		made := &Var{Name: h.unique("updated"), Type: &Type{Kind: VertexSet, Element: queue.Type.Element, Pos: x.Pos},
			Pos: x.Pos, Init: set}
		h.emit(&VarStmt{stmt{Pos: x.Pos}, made})
		set = &Name{node: x.node, Name: made.Name}
	}
	h.launch = true
	h.emit(&ExprStmt{at, &Method{x.node, set, "apply", []Expr{&Name{node: x.node, Name: waits.Name}}}})
}
