package lower

import (
	"context"
	"fmt"
	"slices"

	"heddle/graphit"
	"heddle/graphit/eval"
	"heddle/graphit/graphir"
	"heddle/kernels/compose"
	"heddle/kernels/reference"
)

// list returns the list of a loop that a variable holds, which a round uses once.
func (f *fuser) list(v *graphit.Var, pops bool, s graphit.Stmt) *compose.List {
	switch {
	case f.program.Narrow:
		f.no("%s, in line %d, is the host's: lists of sets are for machines of heddle's", graphit.SourceOf(s),
			s.Position().Line)
	case f.loop.lists[v] != nil:
		f.no("%s, in line %d, is the second use of %s in a round", graphit.SourceOf(s), s.Position().Line, v.Name)
	}
	l := compose.NewList(v.Name, pops)
	if f.loop.lists == nil {
		f.loop.lists = map[*graphit.Var]*compose.List{}
	}
	f.loop.lists[v] = l
	f.loop.Lists = append(f.loop.Lists, l)
	return l
}

// listed accepts a set that is appended to a list, or retrieved from one; false: the method does neither.
func (f *fuser) listed(m *graphit.Method, s graphit.Stmt) bool {
	n, ok := m.X.(*graphit.Name)
	if !ok || n.TypeOf().Kind != graphit.List || n.TypeOf().Of.Kind != graphit.VertexSet || len(m.Args) != 1 {
		return false
	}
	set, ok := m.Args[0].(*graphit.Name)
	if !ok {
		return false
	}
	switch m.Name {
	case "append", "insert":
		f.last(graphit.SourceOf(s))
		made := f.read(set) == filled
		l := f.list(n.Var, false, s)
		f.loop.Body = append(f.loop.Body, compose.LoopOperator{Vertices: l.Append, Filled: made})
		return true
	case "retrieve":
		f.last(graphit.SourceOf(s))
		f.order = append(f.order, set.Var)
		f.pops(n.Var, set.Var, s)
		return true
	}
	return false
}

// pops makes the last set of a list the next round's.
func (f *fuser) pops(list, to *graphit.Var, s graphit.Stmt) {
	what := graphit.SourceOf(s)
	switch {
	case f.made:
		f.no("%s, in line %d, makes a second set in a round", what, s.Position().Line)
	case f.loop.queue != nil:
		f.no("%s, in line %d, makes a set, and the next one comes out of %s", what, s.Position().Line, f.loop.queue.Name)
	}
	l := f.list(list, true, s)
	f.loop.Body = append(f.loop.Body, compose.LoopOperator{Vertices: l.Pop})
	f.sets[to], f.made = filled, true
}

// setsOf returns the vertices of the host's list.
func (b *backend) setsOf(list *graphit.Var) (sets [][]uint32) {
	for _, s := range b.host.ListOf(list) {
		sets = append(sets, s.Vertices)
	}
	return sets
}

// beginLists lays the lists of a loop out on the device.
func (b *backend) beginLists(l *fusedLoop, s graphir.Stmt) error {
	for v, list := range l.lists {
		if err := b.session.WriteList(list, b.setsOf(v)); err != nil {
			return b.ofList(v, s, err)
		}
	}
	return nil
}

// ofList attributes an error to a list.
func (b *backend) ofList(v *graphit.Var, s graphir.Stmt, err error) error {
	at := v.Pos
	if s != nil {
		at = s.Position()
	}
	return &graphit.Error{File: b.program.File.Name, Pos: at, Msg: fmt.Sprintf("%s: %v", v.Name, err), Kind: err}
}

// endLists compares the device's lists with the host's.
func (b *backend) endLists(l *fusedLoop) error {
	for v, list := range l.lists {
		if err := b.session.SameList(list, b.setsOf(v)); err != nil {
			return fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	return nil
}

// Append awaits the device's kernel that appends a set to a list.
func (b *backend) Append(ctx context.Context, v *graphit.Var, s *eval.Set) error {
	if b.now == nil {
		return nil
	}
	list, sets, n := b.now.lists[v], b.setsOf(v), 0
	for _, set := range sets {
		n += len(set)
	}
	if err := list.Room(len(sets), n); err != nil {
		return b.ofList(v, nil, err)
	}
	_, err := b.session.Vertices(ctx, list.Append, b.frontier(s))
	return err
}

// Pop awaits the device's kernel that pops a set off a list, and compares the set with the host's.
func (b *backend) Pop(ctx context.Context, v *graphit.Var, s *eval.Set) (*eval.Set, error) {
	if b.now == nil {
		return s, nil
	}
	out, err := b.session.Vertices(ctx, b.now.lists[v].Pop, nil)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(out.Vertices, s.Vertices) {
		return nil, fmt.Errorf("%w: the device pops %d vertices off %s, which are not the %d of the host's",
			reference.ErrWrong, len(out.Vertices), v.Name, len(s.Vertices))
	}
	return b.made(out), nil
}
