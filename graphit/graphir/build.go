package graphir

import (
	"fmt"

	"heddle/graphit"
)

// Build returns the representation of a checked program. An error is a *graphit.Error.
func Build(f *graphit.File) (p *Program, err error) {
	b := &builder{p: &Program{File: f, Isolated: -1}, transposed: map[*graphit.Var]bool{}, all: map[*graphit.Var]bool{}}
	defer b.catch(&err)
	for _, n := range f.Notes {
		b.p.Notes = append(b.p.Notes, Note{Pos: n.Pos, Text: n.Text, Program: true})
	}
	b.globals()
	for _, fn := range f.Funcs {
		if fn.Name == "main" {
			b.assigned = assigned(fn)
			b.p.Main = b.block(fn.Body, "")
		}
	}
	return b.p, nil
}

// builder panics with the errors that Build returns.
type builder struct {
	p          *Program
	graphs     int
	transposed map[*graphit.Var]bool // declared edgesets: set for the transposed ones
	all        map[*graphit.Var]bool // vertexsets of all vertices
	assigned   map[*graphit.Var]bool // variables that main assigns
}

func (b *builder) catch(err *error) {
	switch x := recover().(type) {
	case nil:
	case *graphit.Error:
		*err = x
	default:
		panic(x)
	}
}

func (b *builder) errorf(at graphit.Pos, format string, args ...any) {
	panic(&graphit.Error{File: b.p.File.Name, Pos: at, Msg: fmt.Sprintf(format, args...)})
}

// assigned returns the variables that a function assigns after their declaration.
func assigned(fn *graphit.Func) map[*graphit.Var]bool {
	set := map[*graphit.Var]bool{}
	var visit func(list []graphit.Stmt)
	visit = func(list []graphit.Stmt) {
		for _, s := range list {
			switch s := s.(type) {
			case *graphit.Assign:
				if n, ok := s.X.(*graphit.Name); ok {
					set[n.Var] = true
				}
			case *graphit.If:
				visit(s.Then)
				visit(s.Else)
			case *graphit.While:
				visit(s.Body)
			case *graphit.For:
				visit(s.Body)
			}
		}
	}
	visit(fn.Body)
	return set
}

func (b *builder) globals() {
	for _, v := range b.p.File.Globals {
		switch v.Type.Kind {
		case graphit.EdgeSet:
			b.graph(v)
		case graphit.VertexSet:
			if n := v.Isolated(); n >= 0 {
				if b.p.Isolated >= 0 && b.p.Isolated != n {
					b.errorf(v.Pos, "%s: expected %d vertices, as another set of all vertices has", v.Name, b.p.Isolated)
				}
				b.p.Isolated = n
			} else if !b.isAll(v.Init) {
				b.errorf(v.Pos, "%s: expected the vertices of the graph, as edges.getVertices()", v.Name)
			}
			b.all[v] = true
		case graphit.Vector:
			if m, ok := v.Init.(*graphit.Method); ok && m.TypeOf().Kind == graphit.Vector {
				if n, ok := m.X.(*graphit.Name); !ok || b.transposed[n.Var] {
					b.errorf(v.Pos, "%s: expected the out-degrees of the graph that is loaded", v.Name)
				}
			}
			b.p.Vectors = append(b.p.Vectors, v)
		case graphit.List:
			b.errorf(v.Pos, "%s: expected lists to be variables of main", v.Name)
		default:
			b.p.Scalars = append(b.p.Scalars, v)
		}
	}
	if b.graphs == 0 && b.p.Isolated < 0 {
		b.p.Isolated = 0
	}
	if b.graphs > 0 {
		b.p.Isolated = -1
	}
}

// graph checks an edgeset's origin: there is one graph, and its transpose.
func (b *builder) graph(v *graphit.Var) {
	switch x := v.Init.(type) {
	case *graphit.Load:
		if b.graphs++; b.graphs > 1 {
			b.errorf(v.Pos, "%s: a second graph is not supported", v.Name)
		}
		b.p.Weighted = v.Type.Weight != nil
		b.transposed[v] = false
	case *graphit.Method:
		n, ok := x.X.(*graphit.Name)
		_, known := b.transposed[n.Var]
		if !ok || x.Name != "transpose" || !known {
			b.errorf(v.Pos, "%s: expected load or transpose", v.Name)
		}
		b.transposed[v] = !b.transposed[n.Var]
	default:
		b.errorf(v.Pos, "%s: expected load(argv[1])", v.Name)
	}
}

// isAll reports whether an expression is the set of all vertices.
func (b *builder) isAll(x graphit.Expr) bool {
	switch x := x.(type) {
	case *graphit.Method:
		return x.Name == "getVertices"
	case *graphit.Name:
		return b.all[x.Var]
	}
	return false
}

func (b *builder) block(list []graphit.Stmt, path string) (out []Stmt) {
	for _, s := range list {
		if made := b.statement(s, path); made != nil {
			out = append(out, made)
		}
	}
	return out
}

// under returns a statement's path.
func under(path, label string) string {
	switch {
	case label == "":
		return path
	case path == "":
		return label
	}
	return path + ":" + label
}

func (b *builder) statement(s graphit.Stmt, path string) Stmt {
	at := At{Pos: s.Position()}
	inner := under(path, s.LabelOf())
	if s.LabelOf() != "" {
		at.Path = inner
	}
	switch s := s.(type) {
	case *graphit.If:
		return &If{at, s.Cond, b.block(s.Then, path), b.block(s.Else, path)}
	case *graphit.While:
		return &While{At: at, Cond: s.Cond, Body: b.block(s.Body, inner)}
	case *graphit.For:
		return &For{At: at, Var: s.Var, From: s.From, To: s.To, Body: b.block(s.Body, inner)}
	case *graphit.VarStmt:
		return b.variable(at, s)
	case *graphit.Assign:
		if s.X.TypeOf().Kind == graphit.EdgeSet {
			b.errorf(s.Pos, "an edgeset is given its graph where it is declared")
		}
		if n, ok := s.X.(*graphit.Name); ok && b.all[n.Var] {
			b.errorf(s.Pos, "%s is the set of all vertices: expected a variable of main", n.Name)
		}
		if op := b.operator(at, s.Value, s.X, nil); op != nil {
			return op
		}
	case *graphit.ExprStmt:
		if op := b.operator(at, s.X, nil, nil); op != nil {
			return op
		}
	}
	b.noOperator(s)
	return &Host{at, s}
}

func (b *builder) variable(at At, s *graphit.VarStmt) Stmt {
	switch v := s.Var; {
	case v.Type.Kind == graphit.EdgeSet:
		b.graph(v)
		return nil
	case v.Type.Kind == graphit.Vector:
		b.errorf(s.Pos, "%s: expected vectors to be constants of the program", v.Name)
	case v.Init != nil:
		if op := b.operator(at, v.Init, nil, v); op != nil {
			return op
		}
	}
	b.noOperator(s)
	return &Host{at, s}
}

// noOperator refuses operators within expressions, and in functions that the host calls.
func (b *builder) noOperator(s graphit.Stmt) {
	graphit.WalkStmt(s, func(x graphit.Expr) {
		switch x := x.(type) {
		case *graphit.Method:
			if n, ok := x.X.(*graphit.Name); ok && x.Name == "addVertex" && b.all[n.Var] {
				b.errorf(x.Pos, "%s has all vertices already", n.Name)
			}
			if isOperator(x) {
				b.errorf(x.Pos, "%s within an expression: expected a statement of its own, or VARIABLE = …", x.Name)
			}
		case *graphit.Call:
			if x.Func != nil && x.Func.Native == nil {
				b.errorf(x.Pos, "%s: functions are called for edges and vertices; main calls none", x.Name)
			}
		}
	})
}

func isOperator(x *graphit.Method) bool {
	switch x.Name {
	case "apply", "applyModified", "applyUpdatePriority", "where", "filter":
		return true
	}
	return false
}

// operator returns the operator of an expression; nil: not an operator.
func (b *builder) operator(at At, x graphit.Expr, to graphit.Expr, declares *graphit.Var) Stmt {
	m, ok := x.(*graphit.Method)
	if !ok || !isOperator(m) {
		return nil
	}
	if m.X.TypeOf().Kind == graphit.EdgeSet {
		return b.edges(at, m, to, declares)
	}
	op := &VertexSetIterator{At: at, To: to, Declares: declares, IsParallel: true,
		Apply: m.Args[0].(*graphit.Name).Func, Filters: m.Name != "apply"}
	op.Name = at.Path
	if op.Name == "" {
		op.Name = fmt.Sprintf("vertices%d", len(b.p.Vertices))
	}
	if op.IsAllVertices = b.isAll(m.X); !op.IsAllVertices {
		op.Input = b.set(m.X)
	}
	op.Accesses = AccessesOf(op.Apply)
	b.updatesNothing(op.Apply)
	b.p.Vertices = append(b.p.Vertices, op)
	return op
}

// set returns the set that an operator is over: a variable.
func (b *builder) set(x graphit.Expr) graphit.Expr {
	if n, ok := x.(*graphit.Name); !ok || n.Var == nil {
		b.errorf(x.Position(), "expected a variable that is a vertexset")
	}
	return x
}

func (b *builder) edges(at At, m *graphit.Method, to graphit.Expr, declares *graphit.Var) Stmt {
	op := &EdgeSetIterator{At: at, To: to, Declares: declares, Apply: m.Args[0].(*graphit.Name).Func, Name: at.Path}
	if op.Name == "" {
		op.Name = fmt.Sprintf("edges%d", len(b.p.Edges))
	}
	switch m.Name {
	case "applyModified":
		op.Output, op.Tracked = Modified, m.Args[1].(*graphit.Name).Var
		op.Dedup = len(m.Args) == 3 && m.Args[2].(*graphit.Truth).Value
	case "applyUpdatePriority":
		op.Output = Priority
	}
	b.chain(op, m.X)
	op.IsAllEdges = op.Input == nil
	op.RequiresOutput = op.Output != NoOutput
	op.Accesses = AccessesOf(op.Apply)
	for _, f := range []*graphit.Func{op.SrcFilter, op.DstFilter} {
		for _, a := range AccessesOf(f) {
			if a.Op != "" {
				b.errorf(a.Pos, "%s: a filter changes nothing", f.Name)
			}
		}
	}
	if op.Output != Priority {
		b.updatesNothing(op.Apply)
	}
	b.p.Edges = append(b.p.Edges, op)
	return op
}

// updatesNothing refuses functions that change priorities of a queue, with those that they call.
func (b *builder) updatesNothing(f *graphit.Func) {
	graphit.Walk(f.Body, func(x graphit.Expr) {
		switch x := x.(type) {
		case *graphit.Method:
			if graphit.Updates(x) {
				b.errorf(x.Pos, "%s: expected it in a function that applyUpdatePriority applies", x.Name)
			}
		case *graphit.Call:
			if x.Func != nil && x.Func != f {
				b.updatesNothing(x.Func)
			}
		}
	})
}

// chain reads from, to and the filters, from the last to the first.
func (b *builder) chain(op *EdgeSetIterator, x graphit.Expr) {
	switch x := x.(type) {
	case *graphit.Name:
		transposed, known := b.transposed[x.Var]
		if !known {
			b.errorf(x.Pos, "expected the graph's edges, or its transposed ones")
		}
		op.Transposed = op.Transposed != transposed
		return
	case *graphit.Method:
		if x.Name == "transpose" {
			op.Transposed = !op.Transposed
		} else {
			b.selection(op, x)
		}
		b.chain(op, x.X)
		return
	}
	b.errorf(x.Position(), "expected edges")
}

func (b *builder) selection(op *EdgeSetIterator, x *graphit.Method) {
	once := func(to **graphit.Func) {
		if *to != nil {
			b.errorf(x.Pos, "%s: there is a filter already", x.Name)
		}
		*to = x.Args[0].(*graphit.Name).Func
	}
	isSet := x.Args[0].TypeOf().Kind == graphit.VertexSet
	switch {
	case isSet && x.Name == "to":
		b.errorf(x.Pos, "to with a set is not supported: expected a function")
	case isSet && b.isAll(x.Args[0]):
	case isSet && op.Input != nil:
		b.errorf(x.Pos, "from: there is a set already")
	case isSet:
		op.Input = b.set(x.Args[0])
	case x.Name == "from" || x.Name == "srcFilter":
		once(&op.SrcFilter)
	default:
		once(&op.DstFilter)
	}
}
