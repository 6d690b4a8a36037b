package feature

import "heddle/kernels/ir"

// square is the words of a matrix of k rows, row by row.
func square(k int) int { return k * k }

// Rows runs body for each row of a matrix, in all lanes.
func (g *Group) Rows(body func(row ir.Value)) { g.From(g.U32(0), body) }

// From runs body for each row from one on.
func (g *Group) From(first ir.Value, body func(row ir.Value)) {
	g.For(first, g.U32(uint32(g.K)), g.U32(1), body)
}

// Row is where a row of a vertex's matrix begins.
func (g *Group) Row(v, row ir.Value) ir.Value {
	k := g.U32(uint32(g.K))
	return g.Mul(g.Kernel.Add(g.Mul(v, k), row), k)
}

// Element reads element n of a vector of a vertex's or an edge's, in all lanes.
func (g *Group) Element(array string, of, n ir.Value) ir.Value {
	return g.Kernel.Load(ir.F32, g.Addr(array), g.Kernel.Add(g.Mul(of, g.U32(uint32(g.K))), n))
}

// Solve solves a vertex's system matrix·x = right by elimination without pivots, for matrices that are symmetric and
// positive definite; lanes have columns, and the matrix and right do not survive it. Lanes see what others of their
// warp have stored, since a warp's memory instructions take effect in their order.
func (g *Group) Solve(matrix, right string, v ir.Value) Feature {
	at := func(row, column ir.Value) ir.Value { return g.Kernel.Add(g.Row(v, row), column) }
	load := func(row, column ir.Value) ir.Value { return g.Kernel.Load(ir.F32, g.Addr(matrix), at(row, column)) }
	known := func(n ir.Value) ir.Value { return g.Element(right, v, n) }
	word := func(n ir.Value) ir.Value { return g.Kernel.Add(g.Mul(v, g.U32(uint32(g.K))), n) }
	g.Rows(func(n ir.Value) {
		pivot, mine := load(n, n), known(n)
		g.From(g.Kernel.Add(n, g.U32(1)), func(row ir.Value) {
			factor, before := g.Div(load(row, n), pivot), known(row)
			g.Each(func(i Index) {
				g.When(g.Gt(i.F, n), func() {
					g.Kernel.Store(g.Addr(matrix), at(row, i.F), g.Sub(load(row, i.F), g.Mul(factor, load(n, i.F))))
				})
			})
			g.Once(func() { g.Kernel.Store(g.Addr(right), word(row), g.Sub(before, g.Mul(factor, mine))) })
		})
	})
	g.Rows(func(done ir.Value) {
		n := g.Sub(g.U32(uint32(g.K-1)), done)
		x := g.Div(known(n), load(n, n))
		g.Each(func(i Index) {
			g.When(g.Lt(i.F, n), func() { g.Store(right, v, i, g.Sub(g.Load(right, v, i), g.Mul(load(i.F, n), x))) })
		})
	})
	return g.Let(func(i Index) ir.Value { return g.Div(g.Load(right, v, i), load(i.F, i.F)) })
}
