package graphit

// Substituted returns copies of checked statements, with other variables in place of some.
func Substituted(list []Stmt, vars map[*Var]*Var) (out []Stmt) {
	for _, s := range list {
		out = append(out, substituted(s, vars))
	}
	return out
}

func substituted(s Stmt, vars map[*Var]*Var) Stmt {
	expr := func(x Expr) Expr { return substitutedIn(x, vars) }
	switch s := s.(type) {
	case *VarStmt:
		if s.Var.Init == nil {
			return s
		}
		v := *s.Var
		v.Init = expr(v.Init)
		vars[s.Var] = &v
		return &VarStmt{s.stmt, &v}
	case *Assign:
		return &Assign{s.stmt, expr(s.X), s.Op, expr(s.Value)}
	case *ExprStmt:
		return &ExprStmt{s.stmt, expr(s.X)}
	case *If:
		return &If{s.stmt, expr(s.Cond), Substituted(s.Then, vars), Substituted(s.Else, vars), s.IsElif}
	case *While:
		return &While{s.stmt, expr(s.Cond), Substituted(s.Body, vars)}
	case *For:
		return &For{s.stmt, s.Var, expr(s.From), expr(s.To), Substituted(s.Body, vars), s.Parallel}
	case *Print:
		p := &Print{stmt: s.stmt}
		for _, x := range s.Args {
			p.Args = append(p.Args, expr(x))
		}
		return p
	case *Delete:
		return &Delete{s.stmt, expr(s.X)}
	}
	return s
}

// substitutedIn copies an expression that names one of the variables.
func substitutedIn(x Expr, vars map[*Var]*Var) Expr {
	expr := func(y Expr) Expr {
		if y == nil {
			return nil
		}
		return substitutedIn(y, vars)
	}
	all := func(list []Expr) (out []Expr) {
		for _, y := range list {
			out = append(out, expr(y))
		}
		return out
	}
	switch x := x.(type) {
	case *Name:
		if v := vars[x.Var]; x.Var != nil && v != nil {
			return &Name{node: x.node, Name: v.Name, Var: v}
		}
	case *Unary:
		return &Unary{x.node, x.Op, expr(x.X)}
	case *Binary:
		return &Binary{x.node, x.Op, expr(x.X), expr(x.Y)}
	case *Index:
		return &Index{x.node, expr(x.X), expr(x.I), expr(x.J)}
	case *Call:
		return &Call{node: x.node, Name: x.Name, Args: all(x.Args), Func: x.Func}
	case *Method:
		return &Method{x.node, expr(x.X), x.Name, all(x.Args)}
	}
	return x
}

// fusions are the scheduling functions that make one statement of two.
var fusions = map[string]bool{"fuseForLoop": true, "fuseApplyFunctions": true}

// Unfused returns a schedule without its fusions of loops and functions, and without what it says of the statements
// that these make; nil: there is no schedule.
func (s *Schedule) Unfused() *Schedule {
	if s == nil {
		return nil
	}
	var made []string
	for _, o := range s.CPU {
		if o.Name == "fuseForLoop" && len(o.Args) == 3 {
			made = append(made, o.Args[2].Text)
		}
	}
	of := func(label string) bool {
		for _, m := range made {
			if label == m || len(label) > len(m) && label[:len(m)+1] == m+":" {
				return true
			}
		}
		return false
	}
	out := &Schedule{File: s.File, Pos: s.Pos}
	for _, o := range s.CPU {
		if !fusions[o.Name] && !of(o.Args[0].Text) {
			out.CPU = append(out.CPU, o)
		}
	}
	for _, a := range s.Swarm {
		if !of(a.Label) {
			out.Swarm = append(out.Swarm, a)
		}
	}
	for _, g := range s.GPU {
		if !of(g.Label) {
			out.GPU = append(out.GPU, g)
		}
	}
	return out
}
