package graphit

import (
	"slices"
)

// Argument is an argument of the command line as a program uses it.
type Argument struct {
	N      int // of argv[N]
	Vertex Pos // where it names a vertex; the zero Pos: nowhere
	Number Pos // where it is a number: counted with, compared by size, or of a schedule
	// Computed is the position at which a value computed from it is used as a vertex.
	Computed Pos
}

// Arguments returns the arguments, of those that a checked program reads by atoi, that stand for a vertex: those that
// flow unchanged, through any variables, to a position that requires a vertex. Such positions are addVertex, the first
// vertex of a queue, a vertex whose priority is updated, an index of a vector of vertices, and a variable declared as a
// vertex or compared with one. s replaces the program's own schedule; nil: its own.
func (f *File) Arguments(s *Schedule) (list []Argument) {
	if s == nil {
		s = f.Schedule
	}
	w := f.uses()
	if s != nil {
		s.arguments(func(a Arg, at Pos) {
			if n, ok := a.Argv(); ok && w.found[n] != nil {
				w.number([]int{n}, at)
			}
		})
	}
	for n, a := range w.found {
		if n >= 0 {
			list = append(list, *a)
		}
	}
	slices.SortFunc(list, func(a, b Argument) int { return a.N - b.N })
	return list
}

// FirstVertex returns the first literal number that a checked program uses as a vertex and not as a number: it flows,
// as those of Arguments, to a position that requires a vertex. ok is false if there is none.
func (f *File) FirstVertex() (number int64, at Pos, ok bool) {
	w := f.uses()
	for x, n := range w.literals {
		a := w.found[n]
		if a == nil || a.Vertex == (Pos{}) || a.Number != (Pos{}) {
			continue
		}
		if !ok || x.Pos.Line < at.Line || x.Pos.Line == at.Line && x.Pos.Column < at.Column {
			number, at, ok = x.Int, x.Pos, true
		}
	}
	return number, at, ok
}

// uses returns the uses of a checked program's arguments and literal numbers.
func (f *File) uses() *argumentUses {
	w := &argumentUses{as: map[*Var][]int{}, from: map[*Var][]int{}, literals: map[*Number]int{}}
	for again := true; again; again = w.changed {
		w.changed = false
		w.found = map[int]*Argument{}
		for _, v := range f.Globals {
			w.variable(v)
		}
		for _, fn := range f.Funcs {
			w.block(fn.Body)
		}
	}
	return w
}

// vertices returns an expression's operands that are start vertices of the program.
func vertices(x Expr) []Expr {
	switch x := x.(type) {
	case *Method:
		if x.Name == "addVertex" {
			return x.Args[:1]
		}
	case *New:
		if x.Of.Kind == PriorityQueue {
			return x.Args[6:]
		}
	}
	return nil
}

// argumentUses follows arguments, and literal numbers, through variables until nothing changes.
type argumentUses struct {
	literals map[*Number]int // what stands for them in place of an argument's number: -1, -2, …
	as, from map[*Var][]int  // arguments that a variable has, and those from which it has been computed
	changed  bool
	found    map[int]*Argument
}

// flows are the arguments that an expression is, and those from which it has been computed.
type flows struct{ as, from []int }

func union(a, b []int) []int {
	for _, n := range b {
		if !slices.Contains(a, n) {
			a = append(slices.Clip(a), n)
		}
	}
	return a
}

func (f flows) or(g flows) flows { return flows{union(f.as, g.as), union(f.from, g.from)} }

func (w *argumentUses) at(n int) *Argument {
	if w.found[n] == nil {
		w.found[n] = &Argument{N: n}
	}
	return w.found[n]
}

func first(p *Pos, at Pos) {
	if *p == (Pos{}) {
		*p = at
	}
}

func (w *argumentUses) number(list []int, at Pos) {
	for _, n := range list {
		first(&w.at(n).Number, at)
	}
}

// vertex marks values that flow to a position that requires a vertex.
func (w *argumentUses) vertex(f flows, at Pos) {
	for _, n := range f.as {
		first(&w.at(n).Vertex, at)
	}
	for _, n := range f.from {
		first(&w.at(n).Computed, at)
	}
}

// to records the values assigned to a variable.
func (w *argumentUses) to(v *Var, f flows, at Pos) {
	if v.Type.Kind == Vertex {
		w.vertex(f, at)
	}
	as, from := union(w.as[v], f.as), union(w.from[v], f.from)
	w.changed = w.changed || len(as) > len(w.as[v]) || len(from) > len(w.from[v])
	w.as[v], w.from[v] = as, from
}

func (w *argumentUses) variable(v *Var) {
	if v.Init != nil {
		w.to(v, w.expr(v.Init), v.Init.Position())
	}
}

func (w *argumentUses) block(list []Stmt) {
	for _, s := range list {
		w.statement(s)
	}
}

func (w *argumentUses) statement(s Stmt) {
	switch s := s.(type) {
	case *VarStmt:
		w.variable(s.Var)
	case *Assign:
		w.assign(s)
	case *ExprStmt:
		w.expr(s.X)
	case *If:
		w.expr(s.Cond)
		w.block(s.Then)
		w.block(s.Else)
	case *While:
		w.expr(s.Cond)
		w.block(s.Body)
	case *For:
		w.counted(s.From)
		w.counted(s.To)
		w.block(s.Body)
	case *Print:
		for _, x := range s.Args {
			w.expr(x)
		}
	}
}

// counted is an expression whose value is a number.
func (w *argumentUses) counted(x Expr) flows {
	f := w.expr(x)
	w.number(f.as, x.Position())
	return f
}

func (w *argumentUses) assign(s *Assign) {
	f, old := w.expr(s.Value), w.expr(s.X)
	if s.Op != "=" { // a sum, or the least of several
		f = f.or(old)
		w.number(f.as, s.Value.Position())
		f = flows{from: union(f.as, f.from)}
	}
	switch x := s.X.(type) {
	case *Name:
		w.to(x.Var, f, s.Value.Position())
	case *Index: // a vertex among the elements of a vector of vertices does not make the others vertices
		if v := x.X.(*Name).Var; v.Type.Element == "" {
			w.to(v, f, s.Value.Position())
		}
	}
}

// expr follows an expression's operands, and returns its sources.
func (w *argumentUses) expr(x Expr) (f flows) {
	switch x := x.(type) {
	case *Name:
		if x.Var != nil {
			return flows{w.as[x.Var], w.from[x.Var]}
		}
	case *Number:
		if !x.Real && x.Int >= 0 {
			f.as = []int{w.literal(x)}
		}
	case *Unary:
		f = w.counted(x.X)
		return flows{from: union(f.as, f.from)}
	case *Binary:
		return w.binary(x)
	case *Index:
		return w.index(x)
	case *Call:
		return w.call(x)
	case *Method:
		w.expr(x.X)
		args := w.operands(x, x.Args)
		if x.Name == "updatePriorityMin" || x.Name == "updatePrioritySum" {
			w.vertex(args[0], x.Args[0].Position())
			for i, a := range args[1:] {
				w.number(a.as, x.Args[i+1].Position())
			}
		}
	case *New:
		if x.Of.Kind == VertexSet {
			w.counted(x.Args[0])
			return f
		}
		w.operands(x, x.Args)
	}
	return f
}

func (w *argumentUses) literal(x *Number) int {
	if w.literals[x] == 0 {
		w.literals[x] = -1 - len(w.literals)
	}
	return w.literals[x]
}

// operands follows a list of operands, some of which are vertices.
func (w *argumentUses) operands(x Expr, list []Expr) (of []flows) {
	for _, a := range list {
		f := w.expr(a)
		if slices.Contains(vertices(x), a) {
			w.vertex(f, a.Position())
		}
		of = append(of, f)
	}
	return of
}

// binary: an equality comparison does not mark its operands as numbers; arithmetic and order do.
func (w *argumentUses) binary(x *Binary) flows {
	a, b := w.expr(x.X), w.expr(x.Y)
	switch x.Op {
	case "and", "or", "xor":
		return flows{}
	case "==", "!=":
		w.compared(a, x.X, x.Y)
		w.compared(b, x.Y, x.X)
		return flows{}
	}
	w.number(a.as, x.X.Position())
	w.number(b.as, x.Y.Position())
	both := a.or(b)
	return flows{from: union(both.as, both.from)}
}

// compared handles an operand compared with another expression: a vertex, a literal number, or a value that may be
// either.
func (w *argumentUses) compared(f flows, x, with Expr) {
	switch n, number := with.(*Number); {
	case with.TypeOf().Kind == Vertex:
		w.vertex(f, x.Position())
	case number && !n.Real:
		w.number(f.as, x.Position())
	}
}

func (w *argumentUses) index(x *Index) flows {
	n, ok := x.X.(*Name)
	if !ok || n.Var == nil { // argv
		return flows{}
	}
	f := w.expr(x.I)
	if n.Var.Type.Element != "" {
		w.vertex(f, x.I.Position())
		return flows{}
	}
	w.number(f.as, x.I.Position())
	return flows{w.as[n.Var], w.from[n.Var]}
}

func (w *argumentUses) call(x *Call) (f flows) {
	if x.Func == nil {
		if x.Name != "atoi" {
			for _, a := range x.Args {
				w.counted(a)
			}
			return f
		}
		if i, ok := x.Args[0].(*Index); ok {
			n := int(i.I.(*Number).Int)
			w.at(n)
			f.as = []int{n}
		}
		return f
	}
	for i, a := range x.Args {
		w.to(x.Func.Params[i], w.expr(a), a.Position())
	}
	if r := x.Func.Result; r != nil {
		return flows{w.as[r], w.from[r]}
	}
	return f
}
