package graphir

import (
	"slices"
	"strings"

	"heddle/graphit"
)

// merge carries out fuseForLoop(FIRST, SECOND, FUSED): of two loops that follow each other and count alike, one
// remains, whose rounds have the first one's statements and then the second one's, with the labels FUSED:FIRST:… and
// FUSED:SECOND:…. Whether that changes a result is not looked at: the reference runs the loops one after the other.
func (b *builder) merge(s *graphit.Schedule, o *graphit.CPUOption) {
	if len(o.Args) != 3 {
		scheduleError(s, o.Pos, "%s takes 3 arguments: two loops and a label, found %d", o.Name, len(o.Args))
	}
	first, second, label := o.Args[0].Text, o.Args[1].Text, o.Args[2].Text
	list, i := block(&b.p.Main, first)
	if list == nil {
		scheduleError(s, o.Pos, "%s: there is no loop %s that counts", o.Name, first)
	}
	one := (*list)[i].(*For)
	var two *For
	if i+1 < len(*list) {
		two, _ = (*list)[i+1].(*For)
	}
	if two == nil || two.Path != second {
		scheduleError(s, o.Pos, "%s: expected a loop %s that counts right behind %s", o.Name, second, first)
	}
	if graphit.Source(one.From) != graphit.Source(two.From) || graphit.Source(one.To) != graphit.Source(two.To) {
		scheduleError(s, o.Pos, "%s: %s counts from %s to %s, and %s from %s to %s: expected the same", o.Name, first,
			graphit.Source(one.From), graphit.Source(one.To), second, graphit.Source(two.From), graphit.Source(two.To))
	}
	for _, loop := range []*For{one, two} {
		visit(loop.Body, func(x Stmt) {
			h, isHost := x.(*Host)
			if isHost {
				_, isHost = h.Stmt.(*graphit.Break)
			}
			if v, ok := x.(*VertexSetIterator); isHost || ok && v.Filters {
				scheduleError(s, o.Pos, "%s: expected loops without break, where and filter", o.Name)
			}
		})
	}
	outer := strings.TrimSuffix(first, lastLabel(first))
	fused := &For{At: At{one.Pos, outer + label}, Var: one.Var, From: one.From, To: one.To}
	for _, loop := range []*For{one, two} {
		b.renamed(loop, loop.Path, fused.Path+":"+lastLabel(loop.Path))
		if loop == two && namesIn(two.Body, two.Var) {
			fused.Body = append(fused.Body, &Host{At{two.Pos, ""}, graphit.Copied(two.Var, one.Var)})
		}
		fused.Body = append(fused.Body, loop.Body...)
	}
	*list = slices.Replace(*list, i, i+2, Stmt(fused))
}

// block returns the block that has a counting loop, and its place there; nil: there is no such loop.
func block(list *[]Stmt, path string) (*[]Stmt, int) {
	for i, s := range *list {
		var within []*[]Stmt
		switch s := s.(type) {
		case *If:
			within = []*[]Stmt{&s.Then, &s.Else}
		case *While:
			within = []*[]Stmt{&s.Body}
		case *For:
			if s.Path == path && path != "" {
				return list, i
			}
			within = []*[]Stmt{&s.Body}
		}
		for _, in := range within {
			if found, at := block(in, path); found != nil {
				return found, at
			}
		}
	}
	return nil, 0
}

// mergeFunctions carries out fuseApplyFunctions(FIRST, SECOND, NAME): the first of two operators over all edges applies
// a function that does what both did, and the second is gone.
func (b *builder) mergeFunctions(s *graphit.Schedule, o *graphit.CPUOption) {
	if len(o.Args) != 3 {
		scheduleError(s, o.Pos, "%s takes 3 arguments: two operators and a name, found %d", o.Name, len(o.Args))
	}
	var ops [2]*EdgeSetIterator
	for i := range ops {
		op, _ := b.labelled(s, o.Args[i].Text, o.Pos)
		if op == nil || op.Input != nil || op.SrcFilter != nil || op.DstFilter != nil || op.Output != NoOutput {
			scheduleError(s, o.Pos, "%s: expected operators over all edges that make no set: %s is not", o.Name, o.Args[i].Text)
		}
		ops[i] = op
	}
	one, two := ops[0], ops[1]
	list := holder(&b.p.Main, one)
	i, j := slices.Index(*list, Stmt(one)), slices.Index(*list, Stmt(two))
	if j <= i || one.Transposed != two.Transposed || len(one.Apply.Params) != len(two.Apply.Params) {
		scheduleError(s, o.Pos, "%s: expected %s behind %s in one block, over the same edges, with or without weights as it",
			o.Name, o.Args[1].Text, o.Args[0].Text)
	}
	as := map[*graphit.Var]*graphit.Var{}
	for n, p := range two.Apply.Params {
		as[p] = one.Apply.Params[n]
	}
	fused := *one.Apply
	fused.Name = o.Args[2].Text
	fused.Body = append(slices.Clip(one.Apply.Body), graphit.Substituted(two.Apply.Body, as)...)
	one.Apply, one.Accesses = &fused, AccessesOf(&fused)
	*list = slices.Delete(*list, j, j+1)
	b.p.Edges = slices.DeleteFunc(b.p.Edges, func(x *EdgeSetIterator) bool { return x == two })
}

// holder returns the block of a statement.
func holder(list *[]Stmt, of Stmt) *[]Stmt {
	for _, s := range *list {
		var within []*[]Stmt
		switch s := s.(type) {
		case *If:
			within = []*[]Stmt{&s.Then, &s.Else}
		case *While:
			within = []*[]Stmt{&s.Body}
		case *For:
			within = []*[]Stmt{&s.Body}
		default:
			if s == of {
				return list
			}
		}
		for _, in := range within {
			if found := holder(in, of); found != nil {
				return found
			}
		}
	}
	return nil
}

// namesIn reports whether statements of the host's use a variable.
func namesIn(list []Stmt, v *graphit.Var) (found bool) {
	look := func(x graphit.Expr) {
		n, ok := x.(*graphit.Name)
		found = found || ok && n.Var == v
	}
	visit(list, func(s Stmt) {
		switch s := s.(type) {
		case *Host:
			graphit.WalkStmt(s.Stmt, look)
		case *If:
			graphit.WalkExpr(s.Cond, look)
		case *While:
			graphit.WalkExpr(s.Cond, look)
		case *For:
			graphit.WalkExpr(s.From, look)
			graphit.WalkExpr(s.To, look)
		}
	})
	return found
}
