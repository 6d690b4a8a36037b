package eval

import (
	"fmt"

	"heddle/graphit"
	"heddle/graphit/graphir"
)

// A filter of edges may read a vector that its operator's function changes. GraphIt asks it edge by edge, some
// schedules once for a vertex: which edges still pass then depends on their order. The reference asks once for a
// vertex. Programs that come to the same result in every order are right, such as one that claims vertices by
// assignment, or one that goes on until nothing changes; results of others cannot be judged.

// racy is a filter whose answer for a vertex has changed within an operator.
type racy struct {
	filter *graphit.Func
	vertex uint32
	reads  *graphit.Var
}

// watch returns a function that, when an operator is through, notes whether a filter's answers have changed: those of a
// filter of destinations by more than assignments, of which any may win.
func (r *Reference) watch(op *graphir.EdgeSetIterator, f *graphit.Func, ofSources bool) func() {
	var shared *graphit.Var
	if f != nil && r.racy == nil {
		shared = changedBy(op, f, ofSources)
	}
	if shared == nil {
		return func() {}
	}
	ask := func(v int) (answer int64) {
		defer func() {
			switch x := recover().(type) {
			case nil:
			case failure: // only vertices that the operator asks for must have an answer
				answer = -1
			default:
				panic(x)
			}
		}()
		r.at, r.rounds = edge{uint32(v), uint32(v)}, 0
		return r.function(f)([]Value{Int(int64(v))}, nil).I
	}
	answers := func() (list []int64) {
		for v := range r.graph.Vertices() {
			list = append(list, ask(v))
		}
		return list
	}
	before := answers()
	return func() {
		for v, now := range answers() {
			if now != before[v] {
				r.racy = &racy{f, uint32(v), shared}
				return
			}
		}
	}
}

// changedBy returns a vector that a filter reads and its operator's function changes; nil: none.
func changedBy(op *graphir.EdgeSetIterator, f *graphit.Func, ofSources bool) (shared *graphit.Var) {
	combines := ofSources
	for _, a := range graphir.AccessesOf(op.Apply) {
		combines = combines || a.Op != "" && a.Op != "="
		for _, b := range graphir.AccessesOf(f) {
			if a.Op != "" && b.Vector != nil && a.Vector == b.Vector {
				shared = b.Vector
			}
		}
	}
	if !combines {
		return nil
	}
	return shared
}

// wrong returns the error of an element that another backend has computed otherwise: if a filter's answers have
// depended on the order of edges, no result is known to be right.
func (r *Reference) wrong(format string, args ...any) error {
	says := fmt.Sprintf(format, args...)
	if x := r.racy; x != nil {
		return &graphit.Error{File: r.host.program.File.Name, Pos: x.filter.Pos, Msg: fmt.Sprintf(
			"%s(%d) reads %s, which its operator changes meanwhile: which edges pass depends on their order, and so does "+
				"the result, which cannot be checked (%s)", x.filter.Name, x.vertex, x.reads.Name, says)}
	}
	return fmt.Errorf("%w: %s", ErrCheck, says)
}
