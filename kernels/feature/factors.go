package feature

import (
	"math"
	"slices"

	"heddle/kernels/ir"
)

// factors is collaborative filtering by alternating least squares (ONYX, Fig. 2.1b and 4.2): the weight of an edge is a
// rating, and a vertex's factors are those by which its in-neighbours' give its ratings best.
var factors = &Algorithm{
	Name: "als",
	Doc:  "alternating least squares: a vertex's k factors solve (Σ x·xᵀ + lambda·I)·f = Σ weight·x over its in-neighbours' factors x; 10 super-steps unless max_iterations says otherwise",
	Properties: []Property{
		{Name: "ratings", Words: whole, Sum: true}, {Name: "gram", Words: square, Sum: true},
		{Name: "matrix", Words: square}, {Name: "right", Words: whole},
	},
	First:  uniform,
	Steps:  10,
	Leaves: 2,
	Edges: []EdgeFunc{
		{Name: "rate", Into: "ratings", Emit: func(g *Group, e *Edge) ir.Value {
			now := g.Let(e.Value) // read once for both functions (§6.2.1)
			e.Leave("now", now)
			sent := now.At
			if e.Changes() {
				old := g.Let(e.Old)
				e.Leave("old", old)
				sent = func(i Index) ir.Value { return g.Sub(now.At(i), old.At(i)) }
			}
			g.Each(func(i Index) { g.AddTo("ratings", e.Dst, i, g.Mul(e.Weight, sent(i))) })
			return nil
		}},
		{Name: "multiply", Into: "gram", Emit: func(g *Group, e *Edge) ir.Value {
			now := g.Let(e.Left("now", e.Value).At)
			var old Feature
			if e.Changes() {
				old = g.Let(e.Left("old", e.Old).At)
			}
			g.Rows(func(row ir.Value) {
				at, x := g.Row(e.Dst, row), g.Element(Now, e.Src, row)
				var y ir.Value
				if e.Changes() {
					y = g.Element(Before, e.Src, row)
				}
				g.Each(func(i Index) {
					product := g.Mul(x, now.At(i))
					if y != nil {
						product = g.Sub(product, g.Mul(y, old.At(i)))
					}
					g.AddTo("gram", at, i, product)
				})
			})
			return nil
		}},
	},
	Vertices: []VertexFunc{{Name: "solve", Emit: func(g *Group, v Place, _ func(string) Feature) (Feature, ir.Value) {
		lambda := g.Float(WordLambda)
		g.Rows(func(row ir.Value) {
			at := g.Row(v, row)
			g.Each(func(i Index) {
				g.Store("matrix", at, i, g.Kernel.Add(g.Load("gram", at, i), g.Select(g.Eq(i.F, row), lambda, g.F32(0))))
			})
		})
		g.Each(func(i Index) { g.Store("right", v, i, g.Load("ratings", v, i)) })
		return g.Solve("matrix", "right", v), nil
	}}},
	Check: Reference{
		Terms: func(p *Problem, f *EdgeFunc, e *HostEdge, value, terms []float64) {
			if f.Into == "ratings" {
				scaled(p, f, e, value, terms)
				return
			}
			for r, x := range value {
				for c, y := range value {
					terms[r*p.K+c] = x * y
				}
			}
		},
		Next: nextFactors,
	},
}

// nextFactors puts a vertex's factors into its equations: they solve a system that differs from it by no more than
// γ·|L||U| (N. Higham, Accuracy and Stability of Numerical Algorithms, Theorem 9.4), whatever its condition.
func nextFactors(p *Problem, v int, of func(string, int) float64, _, got, off, bound []float64) {
	k := p.K
	a, lu := make([][]float64, k), make([][]float64, k) // the matrix; eliminated: U, and L's factors below the diagonal
	for r := range a {
		a[r] = make([]float64, k)
		for c := range a[r] {
			a[r][c] = of("gram", (v*k+r)*k+c)
		}
		a[r][r] += float64(p.Lambda)
		lu[r] = slices.Clone(a[r])
		off[r] = -of("ratings", v*k+r)
	}
	for n := range k {
		for r := n + 1; r < k; r++ {
			lu[r][n] /= lu[n][n]
			for c := n + 1; c < k; c++ {
				lu[r][c] -= lu[r][n] * lu[n][c]
			}
		}
	}
	for r := range k {
		bound[r] = math.Abs(a[r][r] * got[r]) // of the rounding of λ's addition
		for c := range k {
			off[r] += a[r][c] * got[c]
			product := 0.0
			for n := 0; n <= min(r, c); n++ {
				if l := math.Abs(lu[r][n]); n < r {
					product += l * math.Abs(lu[n][c])
				} else {
					product += math.Abs(lu[n][c])
				}
			}
			bound[r] += product * math.Abs(got[c])
		}
		n := float64(3*k+4) * unit
		bound[r] *= 1.1 * n / (1 - n) // |L||U| is the float64's
	}
}
