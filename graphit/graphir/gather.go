package graphir

import "heddle/graphit"

// Gathered is a function that does one reduction at the destination, after declarations of local variables.
type Gathered struct {
	Before []graphit.Stmt
	Into   *graphit.Var
	Op     string
	Value  graphit.Expr
	Pos    graphit.Pos
}

// Gathers returns the single reduction of an operator's function; false: the function does something else.
func (op *EdgeSetIterator) Gathers() (g Gathered, ok bool) {
	f := op.Apply
	n := len(f.Body) - 1
	if n < 0 {
		return g, false
	}
	for _, s := range f.Body[:n] {
		if _, ok := s.(*graphit.VarStmt); !ok {
			return g, false
		}
	}
	a, ok := f.Body[n].(*graphit.Assign)
	if !ok {
		return g, false
	}
	x, ok := a.X.(*graphit.Index)
	if !ok || x.J != nil {
		return g, false
	}
	at, ok := x.I.(*graphit.Name)
	if !ok || at.Var != f.Params[1] {
		return g, false
	}
	g = Gathered{f.Body[:n], x.X.(*graphit.Name).Var, a.Op, a.Value, a.Pos}
	reads := false // the function reads the vector elsewhere than at the source, or calls another function
	graphit.Walk(f.Body, func(y graphit.Expr) {
		if i, ok := y.(*graphit.Index); ok && i != x {
			v, isName := i.I.(*graphit.Name)
			reads = reads || i.X.(*graphit.Name).Var == g.Into && !(isName && v.Var == f.Params[0])
		}
		if c, ok := y.(*graphit.Call); ok && (c.Func != nil || graphit.Writes(c) != "") {
			reads = true
		}
	})
	return g, !reads
}

// Claims reports whether the function's assignment keeps only the first value, marked by -1: to(A[v] == -1) and A[dst]
// = src.
func (op *EdgeSetIterator) Claims(g Gathered) bool {
	n, ok := g.Value.(*graphit.Name)
	if !ok || g.Op != "=" || n.Var != op.Apply.Params[0] && n.Var != op.Apply.Params[1] ||
		n.TypeOf().Kind != graphit.Vertex || len(g.Before) > 0 || op.DstFilter == nil {
		return false
	}
	x, ok := op.DstFilter.Single().(*graphit.Binary)
	if !ok || x.Op != "==" {
		return false
	}
	element, constant := x.X, x.Y
	if _, ok := element.(*graphit.Index); !ok {
		element, constant = constant, element
	}
	i, ok := element.(*graphit.Index)
	if !ok || i.J != nil || i.X.(*graphit.Name).Var != g.Into || g.Into.Type.Of.Kind != graphit.Int {
		return false
	}
	at, ok := i.I.(*graphit.Name)
	minus, isMinus := constant.(*graphit.Unary)
	if !ok || at.Var != op.DstFilter.Params[0] || !isMinus || minus.Op != "-" {
		return false
	}
	one, ok := minus.X.(*graphit.Number)
	return ok && !one.Real && one.Int == 1
}
