package feature

import "heddle/kernels/ir"

// aggregate is a graph convolution's product. spmm of package algorithm computes the same with a lane or a warp per
// row; here groups do, under schedules that spmm does not support.
var aggregate = &Algorithm{
	Name:       "aggregate",
	Doc:        "a graph convolution's product, as spmm: the sum of the in-neighbours' features by weight, once",
	Properties: []Property{{Name: "sum", Words: whole, Sum: true}},
	First:      uniform,
	Steps:      1,
	Edges:      []EdgeFunc{{Name: "gather", Into: "sum", Emit: addWeighted}},
	Vertices: []VertexFunc{{Name: "take", Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
		return g.Let(func(i Index) ir.Value { return g.Load("sum", v, i) }), nil
	}}},
	Check: Reference{
		Terms: scaled,
		Next: func(_ *Problem, v int, of func(string, int) float64, _, got, off, bound []float64) {
			for f := range off {
				off[f], bound[f] = got[f]-of("sum", v*len(got)+f), 0
			}
		},
	},
}
