package graphir

import (
	"slices"

	"heddle/graphit"
)

// AccessesOf returns the accesses of a function to vectors, in order, including those of the functions that it calls.
func AccessesOf(f *graphit.Func) []Access {
	if f == nil {
		return nil
	}
	a := &accessing{}
	a.function(f, places(f))
	return a.list
}

// places returns what each parameter of a function stands for: an end of an edge, or a vertex.
func places(f *graphit.Func) map[*graphit.Var]Place {
	if len(f.Params) == 1 {
		return map[*graphit.Var]Place{f.Params[0]: AtVertex}
	}
	return map[*graphit.Var]Place{f.Params[0]: AtSource, f.Params[1]: AtDestination}
}

type accessing struct {
	list []Access
	at   map[*graphit.Var]Place // variables that hold vertices
}

func (a *accessing) function(f *graphit.Func, at map[*graphit.Var]Place) {
	outer := a.at
	a.at = at
	a.block(f.Body)
	a.at = outer
}

func (a *accessing) block(list []graphit.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *graphit.Assign:
			a.reads(s.Value)
			if x, ok := s.X.(*graphit.Index); ok {
				a.reads(x.I)
				a.add(x, s.Op)
			}
		case *graphit.If:
			a.reads(s.Cond)
			a.block(s.Then)
			a.block(s.Else)
		case *graphit.While:
			a.reads(s.Cond)
			a.block(s.Body)
		case *graphit.For:
			a.reads(s.From)
			a.reads(s.To)
			a.block(s.Body)
		default:
			graphit.WalkStmt(s, a.read)
		}
	}
}

func (a *accessing) reads(x graphit.Expr) { graphit.WalkExpr(x, a.read) }

// read adds the accesses of one expression; nested expressions are visited separately.
func (a *accessing) read(x graphit.Expr) {
	switch x := x.(type) {
	case *graphit.Index:
		a.add(x, "")
	case *graphit.Call:
		if op := graphit.Writes(x); op != "" {
			a.list = append(a.list, Access{Vector: x.Args[0].(*graphit.Name).Var, Index: a.place(x.Args[1]), Op: op,
				Pos: x.Pos})
		}
		if x.Func == nil {
			return
		}
		at := map[*graphit.Var]Place{}
		for i, arg := range x.Args {
			at[x.Func.Params[i]] = a.place(arg)
		}
		a.function(x.Func, at)
	case *graphit.Method:
		a.priority(x)
	}
}

// priority adds the accesses of a priority update to the queue's vector, which is known where the queue is created.
func (a *accessing) priority(x *graphit.Method) {
	op := map[string]string{"updatePriorityMin": "min=", "updatePrioritySum": "+="}[x.Name]
	if op != "" {
		a.list = append(a.list, Access{Index: a.place(x.Args[0]), Op: op, Pos: x.Pos})
	}
}

func (a *accessing) place(x graphit.Expr) Place {
	if n, ok := x.(*graphit.Name); ok {
		if p, ok := a.at[n.Var]; ok {
			return p
		}
	}
	return Elsewhere
}

func (a *accessing) add(x *graphit.Index, op string) {
	n, ok := x.X.(*graphit.Name)
	if !ok || n.Var == nil || n.Var.Type.Kind != graphit.Vector {
		return
	}
	now := Access{Vector: n.Var, Index: a.place(x.I), Op: op, Pos: x.Pos}
	if !slices.ContainsFunc(a.list, func(b Access) bool { b.Pos = now.Pos; return b == now }) {
		a.list = append(a.list, now)
	}
}
