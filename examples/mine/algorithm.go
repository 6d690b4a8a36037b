package main

import "heddle/kernel"

// widest finds for each vertex the widest path from the source: one whose narrowest edge is as wide as can be.
var widest = &kernel.Algorithm{
	Name:       "widest",
	Doc:        "widest paths from the source: the most that the narrowest edge of a path can have; integer weights, 1 without",
	FromSource: true, // one vertex is active at first
	Weighted:   true, // edges have weights, integers that are not negative
	Arrays:     []kernel.Array{{Name: "width"}},
	Result:     "width",
	Sum:        maxU32, // what reaches a vertex goes through it into
	Into:       "width",
	Init: func(k *kernel.Kernel, v kernel.Value) {
		k.Store(k.Addr("width"), v, k.Select(k.Eq(v, k.Count("source")), k.U32(1<<32-1), k.U32(0)))
	},
	SrcFilter: func(k *kernel.Kernel, v kernel.Value) kernel.Value { // what has no path takes none on
		return k.Gt(k.Load(kernel.U32, k.Addr("width"), v), k.U32(0))
	},
	Gather: func(k *kernel.Kernel, e *kernel.Edge) kernel.Value {
		return k.Min(k.Load(kernel.U32, k.Addr("width"), e.Src), e.Weight(kernel.U32))
	},
	Exact: true, // the same words however the work is dealt out
	Check: func(p *kernel.Problem, o *kernel.Outcome) error { return kernel.Equal("width", o.Result, widths(p)) },
}

// maxU32 keeps the greatest of what comes; a vertex that gets more is active in the next super-step.
var maxU32 = &kernel.Reduction{
	Name: "max.u32", Type: kernel.U32,
	Combine:  func(k *kernel.Kernel, old, new kernel.Value) kernel.Value { return k.Max(old, new) },
	Swap:     func(k *kernel.Kernel, base, index, v kernel.Value) kernel.Value { return k.AtomicMax(base, index, v) },
	Improves: func(k *kernel.Kernel, old, new kernel.Value) kernel.Value { return k.Gt(new, old) },
	Repeats:  true, // a vertex may get more several times in a super-step
}

// widths is the reference: every edge is looked at until nothing changes.
func widths(p *kernel.Problem) []uint32 {
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
