package main

import "heddle"

// widest finds for each vertex the widest path from the source: one whose narrowest edge is as wide as can be.
var widest = &heddle.Algorithm{
	Name:       "widest",
	Doc:        "widest paths from the source: the most that the narrowest edge of a path can have; integer weights, 1 without",
	FromSource: true, // one vertex is active at first
	Weighted:   true, // edges have weights, integers that are not negative
	Arrays:     []heddle.Array{{Name: "width"}},
	Result:     "width",
	Sum:        maxU32, // values that reach a vertex go through it into
	Into:       "width",
	Init: func(k *heddle.Kernel, v heddle.Value) {
		k.Store(k.Addr("width"), v, k.Select(k.Eq(v, k.Count("source")), k.U32(1<<32-1), k.U32(0)))
	},
	SrcFilter: func(k *heddle.Kernel, v heddle.Value) heddle.Value { // a vertex without a path passes none on
		return k.Gt(k.Load(heddle.U32, k.Addr("width"), v), k.U32(0))
	},
	Gather: func(k *heddle.Kernel, e *heddle.Edge) heddle.Value {
		return k.Min(k.Load(heddle.U32, k.Addr("width"), e.Src), e.Weight(heddle.U32))
	},
	Exact: true, // the same words however the work is dealt out
	Check: func(p *heddle.Problem, o *heddle.Outcome) error { return heddle.Equal("width", o.Result, widths(p)) },
}

// maxU32 keeps the greatest contribution; a vertex that gets more is active in the next super-step.
var maxU32 = &heddle.Reduction{
	Name: "max.u32", Type: heddle.U32,
	Combine:  func(k *heddle.Kernel, old, new heddle.Value) heddle.Value { return k.Max(old, new) },
	Swap:     func(k *heddle.Kernel, base, index, v heddle.Value) heddle.Value { return k.AtomicMax(base, index, v) },
	Improves: func(k *heddle.Kernel, old, new heddle.Value) heddle.Value { return k.Gt(new, old) },
	Repeats:  true, // a vertex may get more several times in a super-step
}

// widths is the reference: every edge is looked at until nothing changes.
func widths(p *heddle.Problem) []uint32 {
	rows, width := p.Graph.CSR(), make([]uint32, p.Graph.Vertices())
	width[p.Source] = 1<<32 - 1
	for changed := true; changed; {
		changed = false
		for v := range width {
			for e := rows.Offsets[v]; e < rows.Offsets[v+1]; e++ {
				weight := uint32(1)
				if rows.Weights != nil {
					weight = rows.Weights[e]
				}
				if to, w := rows.IDs[e], min(width[v], weight); w > width[to] {
					width[to], changed = w, true
				}
			}
		}
	}
	return width
}
