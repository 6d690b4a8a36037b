package graphir

import (
	"fmt"
	"slices"
	"strings"

	"heddle/graphit"
)

// fields carries out fuseFields: vectors of numbers of one word for each vertex become an array of structs. Others of
// the list stay arrays of their own.
func (b *builder) fields(s *graphit.Schedule, o *graphit.CPUOption) {
	var together []*graphit.Var
	for _, a := range o.Args {
		for _, name := range strings.Split(a.Text, ",") {
			i := slices.IndexFunc(b.p.Vectors, func(v *graphit.Var) bool { return v.Name == name })
			if i < 0 {
				scheduleError(s, o.Pos, "%s: there is no vector %s", o.Name, name)
			}
			v := b.p.Vectors[i]
			if why := b.apart(v, together); why != "" {
				text := fmt.Sprintf("%s: %s stays an array of its own: %s", o.Name, name, why)
				b.p.Notes = append(b.p.Notes, Note{Pos: o.Pos, Text: text})
				continue
			}
			together = append(together, v)
		}
	}
	if len(together) > 1 {
		b.p.Structs = append(b.p.Structs, together)
	}
}

// apart is the reason why a vector cannot be a field of a struct with others; "": it can.
func (b *builder) apart(v *graphit.Var, with []*graphit.Var) string {
	t := v.Type
	there := slices.Contains(with, v) || slices.ContainsFunc(b.p.Structs, func(list []*graphit.Var) bool {
		return slices.Contains(list, v)
	})
	queued := slices.ContainsFunc(b.p.Scalars, func(q *graphit.Var) bool {
		return q.Type.Kind == graphit.PriorityQueue && b.p.QueueVector(q) == v
	})
	switch {
	case there:
		return "it is a field already"
	case queued:
		return "it has a queue's priorities"
	case t.Element == "" || t.Width > 0 || t.PerEdge || b.p.Wide(t.Of):
		return "expected a number of 32 bits for each vertex"
	case len(with) > 0 && with[0].Type.Element != t.Element:
		return "it is of other vertices"
	}
	return ""
}

// Field returns the struct that a vector is a field of, and its place there; nil: it is an array of its own.
func (p *Program) Field(v *graphit.Var) (of []*graphit.Var, place int) {
	for _, list := range p.Structs {
		if i := slices.Index(list, v); i >= 0 {
			return list, i
		}
	}
	return nil, 0
}
