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
		ratings := Feature{of: func(i Index) ir.Value { return g.Load("ratings", v, i) }}
		if g.plan.Inverts {
			g.Inverse("matrix", "right", v)
			return g.Let(func(i Index) ir.Value { return g.Product(ratings, "matrix", v, i) }), nil
		}
		g.Each(func(i Index) { g.Store("right", v, i, ratings.At(i)) })
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

// nextFactors checks a vertex's factors.
func nextFactors(p *Problem, v int, of func(string, int) float64, _, got, off, bound []float64) {
	k := p.K
	s := system{make([][]float64, k), make([][]float64, k), make([]float64, k)}
	for r := range k {
		s.a[r] = make([]float64, k)
		for c := range k {
			s.a[r][c] = of("gram", (v*k+r)*k+c)
		}
		s.a[r][r] += float64(p.Lambda)
		s.lu[r] = slices.Clone(s.a[r])
		s.right[r] = of("ratings", v*k+r)
	}
	s.eliminate()
	if p.plan.Inverts {
		s.checkInverse(got, off, bound)
	} else {
		s.checkSolution(got, off, bound)
	}
}

// system is a vertex's equations in float64.
type system struct {
	a, lu [][]float64 // the matrix; eliminated: U, and L's factors below the diagonal
	right []float64
}

func (s *system) eliminate() {
	k := len(s.a)
	for n := range k {
		for r := n + 1; r < k; r++ {
			s.lu[r][n] /= s.lu[n][n]
			for c := n + 1; c < k; c++ {
				s.lu[r][c] -= s.lu[r][n] * s.lu[n][c]
			}
		}
	}
}

// product is an element of |L||U|.
func (s *system) product(r, c int) (sum float64) {
	for n := 0; n <= min(r, c); n++ {
		if l := math.Abs(s.lu[r][n]); n < r {
			sum += l * math.Abs(s.lu[n][c])
		} else {
			sum += math.Abs(s.lu[n][c])
		}
	}
	return sum
}

// checkSolution puts factors into the equations: they solve a system that differs from it by no more than γ·|L||U|
// (N. Higham, Accuracy and Stability of Numerical Algorithms, Theorem 9.4), whatever its condition.
func (s *system) checkSolution(got, off, bound []float64) {
	k := len(got)
	for r := range k {
		off[r] = -s.right[r]
		bound[r] = math.Abs(s.a[r][r] * got[r]) // of the rounding of λ's addition
		for c := range k {
			off[r] += s.a[r][c] * got[c]
			bound[r] += s.product(r, c) * math.Abs(got[c])
		}
		n := float64(3*k+4) * unit
		bound[r] *= 1.1 * n / (1 - n) // |L||U| is the float64's
	}
}

// checkInverse compares factors with the solution x: an inverse X by Gauss-Jordan elimination leaves |AX - I| at no more
// than E = 8k·u·|L||U||U⁻¹||U||X| (Higham, Theorem 14.5, of each column), and what multiplies the ratings by it is off
// by Eᵀ|x| and the product's own roundings. That grows with the matrix's condition: where E is not small, the
// inverse has nothing to do with the system's, and there is no bound.
func (s *system) checkInverse(got, off, bound []float64) {
	k := len(got)
	upper, inverse := s.invert()
	x := make([]float64, k)
	for f := range x {
		for r, b := range s.right {
			x[f] += b * inverse[r][f]
		}
	}
	e := times(absolute(k, s.product), times(upper, times(absolute(k, s.upper), absolute(k, func(r, c int) float64 { return inverse[r][c] }))))
	gamma := float64(k+2) * unit
	for f := range off {
		off[f], bound[f] = got[f]-x[f], 0
		whole := 0.0
		for r := range k {
			part := 1.2 * unit * (8*float64(k)*e[r][f] + math.Abs(s.a[r][r]*inverse[r][f])) // the last of λ's addition
			whole += part
			bound[f] += part*math.Abs(x[r]) + 1.5*gamma*math.Abs(s.right[r]*inverse[r][f])
		}
		if whole > 0.1 {
			bound[f] = math.Inf(1)
		}
	}
}

// upper is an element of U.
func (s *system) upper(r, c int) float64 {
	if r > c {
		return 0
	}
	return s.lu[r][c]
}

// invert returns |U⁻¹| and the matrix's inverse.
func (s *system) invert() (upper, inverse [][]float64) {
	k := len(s.a)
	upper, inverse = absolute(k, func(int, int) float64 { return 0 }), absolute(k, func(int, int) float64 { return 0 })
	column := make([]float64, k)
	for n := range k {
		s.back(unitVector(column, n))
		for r, x := range column {
			upper[r][n] = math.Abs(x)
		}
		unitVector(column, n)
		for r := range k {
			for c := range r {
				column[r] -= s.lu[r][c] * column[c]
			}
		}
		s.back(column)
		for r, x := range column {
			inverse[r][n] = x
		}
	}
	return upper, inverse
}

func unitVector(x []float64, n int) []float64 {
	clear(x)
	x[n] = 1
	return x
}

// back solves U·y = x in place.
func (s *system) back(x []float64) {
	for r := len(x) - 1; r >= 0; r-- {
		for c := r + 1; c < len(x); c++ {
			x[r] -= s.lu[r][c] * x[c]
		}
		x[r] /= s.lu[r][r]
	}
}

// absolute is a matrix of absolute values.
func absolute(k int, of func(r, c int) float64) [][]float64 {
	m := make([][]float64, k)
	for r := range m {
		m[r] = make([]float64, k)
		for c := range m[r] {
			m[r][c] = math.Abs(of(r, c))
		}
	}
	return m
}

func times(a, b [][]float64) [][]float64 {
	return absolute(len(a), func(r, c int) (sum float64) {
		for n, x := range a[r] {
			sum += x * b[n][c]
		}
		return sum
	})
}
