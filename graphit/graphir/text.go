package graphir

import (
	"fmt"
	"strings"

	"heddle/graphit"
)

// Text returns the program as text: arguments in parentheses, metadata in angle brackets (UGF, Fig. 4-1).
func (p *Program) Text() string {
	w := &writer{}
	for _, f := range p.functions() {
		w.function(f)
	}
	w.line(0, "Function main {")
	w.block(p.Main, 1)
	w.line(0, "}")
	return w.b.String()
}

// functions returns the functions that operators apply, each once.
func (p *Program) functions() (list []applied) {
	seen := map[*graphit.Func]bool{}
	add := func(f *graphit.Func, list2 []Access, tracked *graphit.Var) {
		if f != nil && !seen[f] {
			seen[f] = true
			list = append(list, applied{f, list2, tracked})
		}
	}
	p.Visit(func(s Stmt) {
		switch s := s.(type) {
		case *EdgeSetIterator:
			add(s.SrcFilter, nil, nil)
			add(s.DstFilter, nil, nil)
			add(s.Apply, s.Accesses, s.Tracked)
		case *VertexSetIterator:
			add(s.Apply, s.Accesses, nil)
		}
	})
	return list
}

// applied is a function with its accesses in the first operator that applies it.
type applied struct {
	f        *graphit.Func
	accesses []Access
	tracked  *graphit.Var
}

type writer struct{ b strings.Builder }

func (w *writer) line(depth int, format string, args ...any) {
	w.b.WriteString(strings.Repeat("    ", depth))
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) function(f applied) {
	var params []string
	for _, v := range f.f.Params {
		params = append(params, v.Type.String()+" "+v.Name)
	}
	result := ""
	if f.f.Result != nil {
		result = " -> " + f.f.Result.Type.String() + " " + f.f.Result.Name
	}
	w.line(0, "Function %s(%s)%s {", f.f.Name, strings.Join(params, ", "), result)
	w.statements(f.f.Body, 1, f)
	w.line(0, "}")
}

// statements writes a function's statements. Accesses that must be atomic are marked, and changes that put a vertex
// into the output.
func (w *writer) statements(list []graphit.Stmt, depth int, f applied) {
	for _, s := range list {
		switch s := s.(type) {
		case *graphit.If:
			w.line(depth, "If (%s) {", graphit.Source(s.Cond))
			w.statements(s.Then, depth+1, f)
			if len(s.Else) > 0 {
				w.line(depth, "} Else {")
				w.statements(s.Else, depth+1, f)
			}
			w.line(depth, "}")
		case *graphit.While:
			w.line(depth, "While (%s) {", graphit.Source(s.Cond))
			w.statements(s.Body, depth+1, f)
			w.line(depth, "}")
		case *graphit.For:
			w.line(depth, "For (%s, %s, %s) {", s.Var.Name, graphit.Source(s.From), graphit.Source(s.To))
			w.statements(s.Body, depth+1, f)
			w.line(depth, "}")
		default:
			w.line(depth, "%s%s", graphit.SourceOf(s), f.meta(s))
		}
	}
}

func (f *applied) meta(s graphit.Stmt) string {
	at := s.Position()
	if x, ok := s.(*graphit.Assign); ok {
		at = x.X.Position()
	}
	if x, ok := s.(*graphit.ExprStmt); ok {
		at = x.X.Position()
	}
	for _, a := range f.accesses {
		if a.Pos != at || a.Op == "" {
			continue
		}
		meta := []string{fmt.Sprintf("at=%s", a.Index)}
		if a.Atomic {
			meta = append(meta, "is_atomic=true")
		}
		if f.tracked != nil && a.Vector == f.tracked {
			meta = append(meta, "tracked=true")
		}
		return " <" + strings.Join(meta, ", ") + ">"
	}
	return ""
}

func (w *writer) block(list []Stmt, depth int) {
	for _, s := range list {
		switch s := s.(type) {
		case *Host:
			w.line(depth, "%s", graphit.SourceOf(s.Stmt))
		case *If:
			w.line(depth, "If (%s) {", graphit.Source(s.Cond))
			w.block(s.Then, depth+1)
			if len(s.Else) > 0 {
				w.line(depth, "} Else {")
				w.block(s.Else, depth+1)
			}
			w.line(depth, "}")
		case *While:
			w.line(depth, "%sWhile%s(%s) {", labelText(s.Path), s.meta(s.Ordered), graphit.Source(s.Cond))
			w.block(s.Body, depth+1)
			w.line(depth, "}")
		case *For:
			w.line(depth, "%sFor%s (%s, %s, %s) {", labelText(s.Path), s.meta(nil), s.Var.Name, graphit.Source(s.From),
				graphit.Source(s.To))
			w.block(s.Body, depth+1)
			w.line(depth, "}")
		case *EdgeSetIterator:
			w.edges(s, depth)
		case *VertexSetIterator:
			w.line(depth, "%s%s<is_all_vertices=%t, is_parallel=%t>(%s, %s)%s", labelText(s.Path), s.instruction(),
				s.IsAllVertices, s.IsParallel,
				orAll(s.Input), s.Apply.Name, toText(s.To, s.Declares))
		}
	}
}

// meta writes the metadata of a loop.
func (f *Fusion) meta(o *Ordered) string {
	var list []string
	if f.NeedsFusion {
		list = append(list, "needs_fusion=true")
	}
	if o != nil {
		list = append(list, "is_ordered=true", "bucket_fusion=true")
	}
	if len(list) == 0 {
		return ""
	}
	return "<" + strings.Join(list, ", ") + ">"
}

func (op *VertexSetIterator) instruction() string {
	if op.Filters {
		return "VertexSetWhere"
	}
	return "VertexSetIterator"
}

func labelText(path string) string {
	if path == "" {
		return ""
	}
	return "#" + path + "# "
}

func orAll(x graphit.Expr) string {
	if x == nil {
		return "all"
	}
	return graphit.Source(x)
}

func toText(to graphit.Expr, declares *graphit.Var) string {
	switch {
	case declares != nil:
		return " -> " + declares.Name
	case to != nil:
		return " -> " + graphit.Source(to)
	}
	return ""
}

func (w *writer) edges(op *EdgeSetIterator, depth int) {
	graph := "edges"
	if op.Transposed {
		graph = "transposed edges"
	}
	args := []string{graph, orAll(op.Input), op.Apply.Name}
	for _, f := range []struct {
		name string
		f    *graphit.Func
	}{{"srcFilter", op.SrcFilter}, {"dstFilter", op.DstFilter}} {
		if f.f != nil {
			args = append(args, f.name+"="+f.f.Name)
		}
	}
	name := "EdgeSetIterator"
	switch op.Output {
	case Modified:
		args = append(args, "tracked="+op.Tracked.Name)
	case Priority:
		name = "UpdatePriorityEdgeSetIterator"
	}
	w.line(depth, "%s%s<%s>(%s)%s", labelText(op.Path), name, op.Metadata.text(), strings.Join(args, ", "),
		toText(op.To, op.Declares))
	if h := op.Hybrid; h != nil {
		w.line(depth+1, "or, if the input has at least %s of all vertices, <%s>", h.Threshold.Text, h.Above.text())
	}
}

// text lists the metadata.
func (m *Metadata) text() string {
	list := []string{fmt.Sprintf("direction=%s", m.Direction)}
	if m.Hybrid {
		list[0] = "direction=PUSH or PULL"
	}
	add := func(show bool, format string, args ...any) {
		if show {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	add(m.LoadBalance != "", "load_balance=%s", m.LoadBalance)
	add(m.Blocking != nil, "blocking=%s", argText(m.Blocking))
	add(true, "is_edge_parallel=%t", m.IsEdgeParallel)
	add(m.IsAllEdges, "is_all_edges=true")
	add(m.Direction == Pull || m.Hybrid, "pull_input_frontier=%s", m.PullInputFrontier)
	add(m.RequiresOutput, "requires_output=true, output_representation=%s, apply_deduplication=%t, can_reuse_frontier=%t",
		m.OutputRepresentation, m.ApplyDeduplication, m.CanReuseFrontier)
	add(m.Delta != nil, "delta=%s", argText(m.Delta))
	return strings.Join(list, ", ")
}

func argText(a *graphit.Arg) string {
	if a == nil {
		return ""
	}
	return a.Text
}
