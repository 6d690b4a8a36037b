package graphir

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/graphit"
)

// split carries out splitForLoop(LOOP, FIRST, SECOND, ROUNDS, …): the loop becomes two with labels of their own, so
// that the statements within may have two schedules. The second has all rounds that the first leaves, whatever number
// of them the schedule expects: a schedule changes no result.
func (b *builder) split(s *graphit.Schedule, o *graphit.CPUOption) {
	if len(o.Args) != 5 {
		scheduleError(s, o.Pos, "%s takes 5 arguments: a loop, two labels and two numbers of rounds, found %d", o.Name,
			len(o.Args))
	}
	rounds, err := strconv.ParseInt(o.Args[3].Text, 10, 31)
	if err != nil || rounds < 0 {
		scheduleError(s, o.Pos, "%s: expected a number of rounds, found %s", o.Name, o.Args[3].Text)
	}
	label := o.Args[0].Text
	if !b.splitIn(&b.p.Main, label, [2]string{o.Args[1].Text, o.Args[2].Text}, rounds) {
		scheduleError(s, o.Pos, "%s: there is no loop %s that counts", o.Name, label)
	}
}

// splitIn looks for the loop in a block.
func (b *builder) splitIn(list *[]Stmt, label string, names [2]string, rounds int64) bool {
	for i, s := range *list {
		switch s := s.(type) {
		case *If:
			if b.splitIn(&s.Then, label, names, rounds) || b.splitIn(&s.Else, label, names, rounds) {
				return true
			}
		case *While:
			if b.splitIn(&s.Body, label, names, rounds) {
				return true
			}
		case *For:
			if s.Path != label || label == "" {
				if b.splitIn(&s.Body, label, names, rounds) {
					return true
				}
				continue
			}
			outer := strings.TrimSuffix(label, lastLabel(label))
			second := b.again(s, label, outer+names[1]).(*For)
			first := b.renamed(s, label, outer+names[0])
			end := graphit.Rounds(s.From, s.To, rounds)
			first.To, second.From = end, end
			*list = append((*list)[:i:i], append([]Stmt{first, second}, (*list)[i+1:]...)...)
			return true
		}
	}
	return false
}

func lastLabel(path string) string { return path[strings.LastIndexByte(path, ':')+1:] }

// moved is a path below one label, below another.
func moved(path, from, to string) string {
	if rest, ok := strings.CutPrefix(path, from); ok && (rest == "" || rest[0] == ':') {
		return to + rest
	}
	return path
}

// renamed gives a loop and the statements within another label.
func (b *builder) renamed(loop *For, from, to string) *For {
	visit([]Stmt{loop}, func(s Stmt) {
		switch s := s.(type) {
		case *Host:
			s.Path = moved(s.Path, from, to)
		case *If:
			s.Path = moved(s.Path, from, to)
		case *While:
			s.Path = moved(s.Path, from, to)
		case *For:
			s.Path = moved(s.Path, from, to)
		case *EdgeSetIterator:
			s.Path, s.Name = moved(s.Path, from, to), moved(s.Name, from, to)
		case *VertexSetIterator:
			s.Path, s.Name = moved(s.Path, from, to), moved(s.Name, from, to)
		}
	})
	return loop
}

// again copies a statement, with operators of their own.
func (b *builder) again(s Stmt, from, to string) Stmt {
	all := func(list []Stmt) (out []Stmt) {
		for _, x := range list {
			out = append(out, b.again(x, from, to))
		}
		return out
	}
	at := func(a At) At { return At{a.Pos, moved(a.Path, from, to)} }
	switch s := s.(type) {
	case *Host:
		return &Host{at(s.At), s.Stmt}
	case *If:
		return &If{at(s.At), s.Cond, all(s.Then), all(s.Else)}
	case *While:
		return &While{At: at(s.At), Cond: s.Cond, Body: all(s.Body)}
	case *For:
		return &For{At: at(s.At), Var: s.Var, From: s.From, To: s.To, Body: all(s.Body)}
	case *EdgeSetIterator:
		op := *s
		op.At, op.Name = at(s.At), moved(s.Name, from, to)
		op.Given, op.Accesses = map[string]bool{}, append([]Access(nil), s.Accesses...)
		b.p.Edges = append(b.p.Edges, &op)
		return &op
	case *VertexSetIterator:
		op := *s
		op.At, op.Name = at(s.At), moved(s.Name, from, to)
		op.Accesses = append([]Access(nil), s.Accesses...)
		b.p.Vertices = append(b.p.Vertices, &op)
		return &op
	}
	panic(fmt.Sprintf("BUG: graphir: a statement %T", s))
}
