package feature

import (
	"math"
	"slices"

	"heddle/kernels/ir"
)

// factors is collaborative filtering by alternating least squares (ONYX, Fig. 2.1b and 4.2): the weight of an edge is a
// rating, and a vertex's factors are those that, with its in-neighbours' factors, fit its ratings best.
var factors = &Algorithm{
	Name: "als",
	Doc: "alternating least squares: a vertex's k factors solve (Σ x·xᵀ + lambda·I)·f = Σ weight·x over its " +
		"in-neighbours' factors x; 10 super-steps unless max_iterations says otherwise",
	Properties: []Property{
		{Name: "ratings", Words: whole, Sum: true}, {Name: "gram", Words: square, Sum: true},
		{Name: "matrix", Words: square}, {Name: "right", Words: whole},
	},
	First:  uniform,
	Steps:  10,
	Leaves: 2,
	Edges: []EdgeFunc{
		{Name: "rate", Into: "ratings", Emit: func(g *Group, e *Edge) ir.Value {
			now := g.Let(e.Value) // loaded once for both functions (§6.2.1)
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
				g.Store("matrix", at, i, g.Kernel.Add(g.Load("gram", at, i),
					g.Select(g.Eq(i.F, row), lambda, g.F32(0))))
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
	s := &system{make([][]float64, k), nil, nil, make([]float64, k)}
	for r := range k {
		s.gram[r] = make([]float64, k)
		for c := range k {
			s.gram[r][c] = of("gram", (v*k+r)*k+c)
		}
		s.right[r] = of("ratings", v*k+r)
	}
	if p.plan.Inverts {
		p.checkInverse(v, s, got, off, bound)
		return
	}
	s.eliminate(float64(p.Lambda))
	if s.most() > math.MaxFloat32 {
		p.refuseElimination(v, s.most())
	}
	s.checkSolution(got, off, bound)
}

// system is a vertex's system of equations in float64.
type system struct {
	gram  [][]float64
	a, lu [][]float64 // the matrix, with λ; eliminated: U, and L's factors below the diagonal
	right []float64
}

func (s *system) eliminate(lambda float64) {
	k := len(s.gram)
	for r, row := range s.gram {
		s.a, s.lu = append(s.a, slices.Clone(row)), append(s.lu, slices.Clone(row))
		s.a[r][r] += lambda
		s.lu[r][r] += lambda
	}
	for n := range k {
		for r := n + 1; r < k; r++ {
			s.lu[r][n] /= s.lu[n][n]
			for c := n + 1; c < k; c++ {
				s.lu[r][c] -= s.lu[r][n] * s.lu[n][c]
			}
		}
	}
}

// product returns an element of |L||U|.
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

// checkSolution substitutes factors into the equations: they solve a system that differs from it by no more than
// γ·|L||U| (N. Higham, Accuracy and Stability of Numerical Algorithms, Theorem 9.4), whatever its condition.
func (s *system) checkSolution(got, off, bound []float64) {
	k := len(got)
	for r := range k {
		off[r] = -s.right[r]
		bound[r] = math.Abs(s.a[r][r] * got[r]) // from the rounding of λ's addition
		for c := range k {
			off[r] += s.a[r][c] * got[c]
			bound[r] += s.product(r, c) * math.Abs(got[c])
		}
		n := float64(3*k+4) * unit
		bound[r] = 1.1 * (n/(1-n)*bound[r] + s.underflows(r, got)) // |L||U| is the float64's
	}
}

// underflows is how far products and quotients that underflow take the right side of row r: in the elimination of the
// matrix, where a factor is a quotient that pivots' rows are multiplied by, and of the right side; and in what each
// unknown is solved from, which L has part in the row.
func (s *system) underflows(r int, got []float64) float64 {
	k, sum := len(got), float64(r)
	for c, x := range got {
		each := float64(min(r, c))
		if c < r {
			each += math.Abs(s.lu[c][c])
		}
		sum += each * math.Abs(x)
	}
	for n := 0; n <= r; n++ {
		l := 1.0
		if n < r {
			l = math.Abs(s.lu[r][n])
		}
		sum += l * (float64(k) + math.Abs(s.lu[n][n]))
	}
	return sum * underflow
}

// checkInverse checks a vertex's inverse, operation by operation, and its product with the ratings. For an
// ill-conditioned matrix, elimination in f32 may end far from the inverse, and condition-based bounds are useless: so
// the inverse is recomputed as on the device, in f32 and in the same order.
func (p *Problem) checkInverse(v int, s *system, got, off, bound []float64) {
	k := len(got)
	m := make([][]float32, k)
	for r := range m {
		m[r] = make([]float32, k)
		for c := range m[r] {
			if m[r][c] = float32(s.gram[r][c]); r == c {
				m[r][c] += p.Lambda
			}
		}
	}
	if most := invert(m); !(most <= math.MaxFloat32) {
		p.refuseElimination(v, most)
	}
	for f := range off {
		off[f], bound[f] = got[f], 0
		for r, b := range s.right {
			x := p.after("matrix", (v*k+r)*k+f)
			if x != float64(m[r][f]) {
				off[f], bound[f] = x-float64(m[r][f]), 0
				break
			}
			off[f] -= b * x
			bound[f] += float64(k+2)*unit*math.Abs(b*x) + underflow
		}
	}
}

// refuseElimination refuses a vertex if a number became too large while its system was solved.
func (p *Problem) refuseElimination(v int, most float64) {
	p.Refuse("vertex %d: its elimination comes to %.4g on the way, and a float32 holds up to %.4g: a number was too "+
		"large for f32, or a system singular: expected a greater workload.features.lambda, or smaller weights", v, most,
		math.MaxFloat32)
}

// most returns the largest number of an eliminated matrix.
func (s *system) most() (most float64) {
	for _, row := range s.lu {
		for _, x := range row {
			most = max(most, math.Abs(x))
		}
	}
	return most
}

// invert computes the same as Group.Inverse. It returns the greatest magnitude that occurred, an infinity or NaN if any
// did.
func invert(m [][]float32) (most float64) {
	column, pivots := make([]float32, len(m)), make([]float32, len(m))
	for n := range m {
		for r := range m {
			column[r] = m[r][n]
		}
		by := 1 / column[n]
		for c := range pivots {
			if pivots[c] = by; c != n {
				pivots[c] = by * m[n][c]
			}
		}
		for r := range m {
			if r == n {
				continue
			}
			m[r][n] = 0
			for c := range m[r] {
				m[r][c] -= float32(column[r] * pivots[c])
				most = max(most, math.Abs(float64(m[r][c])))
			}
		}
		for _, x := range pivots {
			most = max(most, math.Abs(float64(x)))
		}
		copy(m[n], pivots)
	}
	return most
}
