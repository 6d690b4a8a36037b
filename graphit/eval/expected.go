package eval

import (
	"context"
	"maps"
	"slices"

	"heddle/graph"
	"heddle/graphit"
	"heddle/graphit/graphir"
)

// Expected is what a program's results may be, for a check by another program.
type Expected struct {
	Vectors []ExpectedVector
	Filters []ExpectedFilter // in the order in which filters run
}

// ExpectedVector is what a vector may hold at the program's end.
type ExpectedVector struct {
	Var           *graphit.Var
	Reals, Bounds []float64       // of reals: values, and how far off each may be
	Integers      []int64         // of others
	Any           map[int][]int64 // by element: the values for which edges race, if there are several
}

// ExpectedFilter is what a filter keeps.
type ExpectedFilter struct {
	Kept []uint32
	// Undecided are vertices for which rounding decides, in Kept by the exact value. If it decides otherwise for one of
	// them, nothing can be said of the results.
	Undecided []uint32
}

// Expect runs a program on the reference.
func Expect(ctx context.Context, p *graphir.Program, g *graph.Graph, opt Options) (x Expected, err error) {
	h := NewHost(p, g, opt)
	r := NewReference(h)
	r.Filtered = func(out *Set) {
		f := ExpectedFilter{Kept: slices.Clone(out.Vertices)}
		f.Undecided = slices.Sorted(maps.Keys(out.Undecided))
		x.Filters = append(x.Filters, f)
	}
	if err := h.Run(ctx, r); err != nil {
		return x, err
	}
	for _, v := range p.Vectors {
		d := r.vectors[v]
		x.Vectors = append(x.Vectors, ExpectedVector{v, d.f, d.e, d.i, d.raced})
	}
	return x, nil
}
