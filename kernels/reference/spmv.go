package reference

import (
	"fmt"
	"math"

	"heddle/kernels/graph"
)

// CheckSpMV compares got with y[v] = Σ weight·x[u] over the edges u → v. Weights are
// taken as float32; the bound follows a product's rounding and those of a sum in any order.
func CheckSpMV(g *graph.Graph, x, got []float32) error {
	out, kind := g.CSR(), g.WeightKind()
	y, size, terms := make([]float64, len(x)), make([]float64, len(x)), make([]int, len(x))
	for u := range x {
		for e := out.Offsets[u]; e < out.Offsets[u+1]; e++ {
			w := float32(1)
			if kind != graph.NoWeights {
				w = float32(kind.Float(out.Weights[e]))
			}
			v, p := out.IDs[e], float64(w)*float64(x[u])
			y[v] += p
			size[v] += math.Abs(p)
			terms[v]++
		}
	}
	bound := make([]float64, len(x))
	for v := range bound {
		bound[v] = gamma(terms[v])*size[v] + float64(terms[v])*tiny
	}
	return compare("product", fmt.Sprintf("rounding of products and of their sum in any order, u = 2^-24, up to %d terms", maxOf(terms)), got, y, bound)
}

func maxOf(x []int) (most int) {
	for _, n := range x {
		most = max(most, n)
	}
	return most
}
