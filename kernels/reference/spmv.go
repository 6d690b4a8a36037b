package reference

import (
	"fmt"
	"math"

	"heddle/graph"
)

// CheckSpMV compares got with y[v] = Σ weight·x[u] over the edges u → v. Weights are taken as float32; the bound covers
// a product's rounding and those of a sum in any order.
func CheckSpMV(g *graph.Graph, x, got []float32) error {
	return product{name: "product", g: g, width: 1, factor: weight(g)}.check(x, got)
}

// SpMM returns Y[v] = Σ weight·X[u] over the edges u → v, where X and Y have rows of width numbers, and the error bound
// of a float32 computation.
func SpMM(g *graph.Graph, width int, x []float32) (y, bound []float64) {
	s := product{g: g, width: width, factor: weight(g)}.compute(x)
	return s.y, s.bound
}

// CheckSpMM is CheckSpMV for rows of width numbers.
func CheckSpMM(g *graph.Graph, width int, x, got []float32) error {
	return product{name: "product", g: g, width: width, factor: weight(g)}.check(x, got)
}

// graphSumRoundings is the number of roundings in a coefficient: half of two conversions' and a product's, a root's, a
// quotient's.
const graphSumRoundings = 4

// CheckGraphSum compares got with Y[v] = Σ X[u]/√(outdegree[u]·indegree[v]) over the edges u → v. inDouble:
// coefficients were computed in float64 and then rounded, so that they are known to the last bit.
func CheckGraphSum(g *graph.Graph, width int, inDouble bool, x, got []float32) error {
	return graphSum(g, width, inDouble).check(x, got)
}

// GraphSum returns the reference of CheckGraphSum, and the error bound of a float32 computation.
func GraphSum(g *graph.Graph, width int, inDouble bool, x []float32) (y, bound []float64) {
	s := graphSum(g, width, inDouble).compute(x)
	return s.y, s.bound
}

func graphSum(g *graph.Graph, width int, inDouble bool) product {
	out, in := g.CSR(), InDegrees(g.CSR())
	coefficient := func(u int, e uint32) float64 {
		return 1 / math.Sqrt(float64(out.Degree(u))*float64(in[out.IDs[e]]))
	}
	p := product{name: "sum", g: g, width: width, factor: coefficient, roundings: graphSumRoundings}
	if inDouble {
		p.factor = func(u int, e uint32) float64 { return float64(float32(coefficient(u, e))) }
		p.roundings = 0
	}
	return p
}

// weight returns an edge's weight as float32.
func weight(g *graph.Graph) func(u int, e uint32) float64 {
	out, kind := g.CSR(), g.WeightKind()
	if kind == graph.NoWeights {
		return func(int, uint32) float64 { return 1 }
	}
	return func(_ int, e uint32) float64 { return float64(float32(kind.Float(out.Weights[e]))) }
}

// product is the product of a sparse matrix and one with rows of width numbers.
type product struct {
	name      string
	g         *graph.Graph
	width     int
	factor    func(u int, e uint32) float64 // factor of edge e, which leaves u
	roundings int                           // roundings in a factor
}

func (p product) check(x, got []float32) error {
	s := p.compute(x)
	if err := inRange(p.name, got, s.most); err != nil {
		return inRows(err, p.width)
	}
	why := fmt.Sprintf("rounding of products and of their sum in any order, u = 2^-24, up to %d terms", s.terms)
	return inRows(compare(p.name, why, got, s.y, s.bound), p.width)
}

// sums are a product's: in float64, how far one in float32 may be from each, and the greatest magnitude of a partial
// sum of its terms, in whatever order they are added; and the most terms of a sum.
type sums struct {
	y, bound, most []float64
	terms          int
}

// compute computes the product.
func (p product) compute(x []float32) (s sums) {
	out, w := p.g.CSR(), p.width
	s.y, s.most = make([]float64, len(x)), make([]float64, len(x))
	size, terms := make([]float64, len(x)), make([]int, len(x)/w)
	for u := range terms {
		for e := out.Offsets[u]; e < out.Offsets[u+1]; e++ {
			v, f := int(out.IDs[e]), p.factor(u, e)
			for c := range w {
				term := f * float64(x[u*w+c])
				s.y[v*w+c] += term
				size[v*w+c] += math.Abs(term)
			}
			terms[v]++
		}
	}
	s.bound, s.terms = make([]float64, len(x)), maxOf(terms)
	for i := range s.bound {
		n := terms[i/w]
		s.bound[i] = gamma(n+p.roundings)*size[i] + float64(n)*tiny
		// Terms above 0 add up to (size+y)/2, and those below to (size-y)/2.
		s.most[i] = (size[i]+math.Abs(s.y[i]))/2 + s.bound[i]
	}
	return s
}

// inRows adds the vertex of a wrong number to an error.
func inRows(err error, width int) error {
	if width == 1 {
		return err
	}
	switch e := err.(type) {
	case *Mismatch:
		e.Quantity, e.Vertex = fmt.Sprintf("%s %d", e.Quantity, e.Vertex%width), e.Vertex/width
	case *RangeError:
		e.Quantity, e.Vertex = fmt.Sprintf("%s %d", e.Quantity, e.Vertex%width), e.Vertex/width
	}
	return err
}

func maxOf(x []int) (most int) {
	for _, n := range x {
		most = max(most, n)
	}
	return most
}
