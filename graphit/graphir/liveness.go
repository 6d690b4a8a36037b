package graphir

import (
	"slices"

	"heddle/graphit"
)

// liveness: an output may reuse the memory of its operator's input if the input is dead after the operator: deleted, or
// overwritten, before it is read again, and in no list. Variables are tracked as one set if one is assigned to the
// other.
func liveness(b *builder, _ *graphit.Schedule) {
	b.p.liveness(b.p.Main, nil)
}

// liveness analyses each operator with the statements that follow it: the rest of its block, and then the enclosing
// blocks, a loop's body once more.
func (p *Program) liveness(list []Stmt, behind [][]Stmt) {
	for i, s := range list {
		rest := append([][]Stmt{list[i+1:]}, behind...)
		switch s := s.(type) {
		case *EdgeSetIterator:
			n, ok := s.Input.(*graphit.Name)
			reuse := s.RequiresOutput && ok && s.output() != n.Var && p.forgotten(n.Var, s.output(), rest) &&
				!p.listed(n.Var)
			each(s, func(m *Metadata) { m.CanReuseFrontier = reuse })
		case *If:
			p.liveness(s.Then, rest)
			p.liveness(s.Else, rest)
		case *While:
			again := append([][]Stmt{{&Host{At: s.At, Stmt: &graphit.ExprStmt{X: s.Cond}}}, s.Body}, rest...)
			p.liveness(s.Body, again)
		case *For:
			p.liveness(s.Body, append([][]Stmt{s.Body}, rest...))
		}
	}
}

// output returns the variable that is assigned the output; nil: none.
func (op *EdgeSetIterator) output() *graphit.Var {
	if op.Declares != nil {
		return op.Declares
	}
	if n, ok := op.To.(*graphit.Name); ok {
		return n.Var
	}
	return nil
}

// fate is the first event in the future of a variable's value.
type fate uint8

const (
	untouched fate = iota
	killed
	read
)

// dead reports whether a variable's value is overwritten or deleted before it is read, on all paths.
func dead(v *graphit.Var, blocks [][]Stmt) bool {
	for _, list := range blocks {
		switch first(v, list) {
		case killed:
			return true
		case read:
			return false
		}
	}
	return true // the program ends
}

func first(v *graphit.Var, list []Stmt) fate {
	for _, s := range list {
		if f := firstOf(v, s); f != untouched {
			return f
		}
	}
	return untouched
}

// firstOf returns the first event of a statement. A branch kills if both sides do; a loop, which may not run, never
// does.
func firstOf(v *graphit.Var, s Stmt) fate {
	switch s := s.(type) {
	case *Host:
		return firstOfHost(v, s.Stmt)
	case *If:
		if uses(v, s.Cond) {
			return read
		}
		a, b := first(v, s.Then), first(v, s.Else)
		switch {
		case a == read || b == read:
			return read
		case a == killed && b == killed:
			return killed
		}
	case *While:
		if uses(v, s.Cond) || first(v, s.Body) == read {
			return read
		}
	case *For:
		if uses(v, s.From) || uses(v, s.To) || first(v, s.Body) == read {
			return read
		}
	case *EdgeSetIterator:
		return operated(v, s.Input, s.To)
	case *VertexSetIterator:
		return operated(v, s.Input, s.To)
	}
	return untouched
}

func operated(v *graphit.Var, input, to graphit.Expr) fate {
	switch {
	case uses(v, input):
		return read
	case is(v, to):
		return killed
	}
	return untouched
}

func firstOfHost(v *graphit.Var, s graphit.Stmt) fate {
	switch s := s.(type) {
	case *graphit.Delete:
		if is(v, s.X) {
			return killed
		}
	case *graphit.VarStmt:
		if s.Var == v {
			return killed
		}
	case *graphit.Assign:
		switch {
		case uses(v, s.Value):
			return read
		case is(v, s.X):
			return killed
		}
	}
	found := false
	graphit.WalkStmt(s, func(x graphit.Expr) { found = found || is(v, x) })
	if found {
		return read
	}
	return untouched
}

func is(v *graphit.Var, x graphit.Expr) bool {
	n, ok := x.(*graphit.Name)
	return ok && n.Var == v
}

func uses(v *graphit.Var, x graphit.Expr) (found bool) {
	graphit.WalkExpr(x, func(x graphit.Expr) { found = found || is(v, x) })
	return found
}

// forgotten reports whether a variable's set is never read again under any name but the output's, which is assigned the
// new set.
func (p *Program) forgotten(v, output *graphit.Var, rest [][]Stmt) bool {
	for alias := range p.aliases(v) {
		if alias != output && !dead(alias, rest) {
			return false
		}
	}
	return true
}

// aliases returns the variables that may hold the same set: sets are assigned from one to the other.
func (p *Program) aliases(v *graphit.Var) map[*graphit.Var]bool {
	same := map[*graphit.Var]bool{v: true}
	for grown := true; grown; {
		grown = false
		both := func(a *graphit.Var, x graphit.Expr) {
			if b := variable(x); a != nil && b != nil && same[a] != same[b] {
				same[a], same[b], grown = true, true, true
			}
		}
		p.Visit(func(s Stmt) {
			h, ok := s.(*Host)
			if !ok {
				return
			}
			switch s := h.Stmt.(type) {
			case *graphit.Assign:
				both(variable(s.X), s.Value)
			case *graphit.VarStmt:
				both(s.Var, s.Var.Init)
			}
		})
	}
	return same
}

// listed reports whether a variable's set is in a list, where it lives on, or comes from one, where it may still be.
func (p *Program) listed(v *graphit.Var) (found bool) {
	same := p.aliases(v)
	p.Visit(func(s Stmt) {
		h, ok := s.(*Host)
		if !ok {
			return
		}
		switch s := h.Stmt.(type) {
		case *graphit.Assign:
			found = found || same[variable(s.X)] && calls(s.Value, "pop")
		case *graphit.VarStmt:
			found = found || same[s.Var] && calls(s.Var.Init, "pop")
		case *graphit.ExprStmt:
			if calls(s.X, "append", "insert", "retrieve") {
				x := variable(s.X.(*graphit.Method).Args[0])
				found = found || x == nil || same[x]
			}
		}
	})
	return found
}

func calls(x graphit.Expr, names ...string) bool {
	m, ok := x.(*graphit.Method)
	return ok && slices.Contains(names, m.Name)
}
