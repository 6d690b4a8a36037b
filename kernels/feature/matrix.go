package feature

import "heddle/kernels/ir"

// square returns the words of a matrix of k rows, row by row.
func square(k int) int { return k * k }

// Rows executes body for each row of a matrix, in all lanes.
func (g *Group) Rows(body func(row ir.Value)) {
	if g.sums == nil {
		g.From(g.U32(0), body)
		return
	}
	for n := range g.K { // registers have no index
		body(g.U32(uint32(n)))
	}
}

// From executes body for each row starting from one.
func (g *Group) From(first ir.Value, body func(row ir.Value)) {
	g.For(first, g.U32(uint32(g.K)), g.U32(1), body)
}

// Row returns a row of the matrix of the vertex at a place.
func (g *Group) Row(at Place, row ir.Value) Place {
	k := uint32(g.K)
	p := Place{Bytes: g.Kernel.Add(g.Mul(at.Bytes, g.U32(k)), g.Mul(row, g.U32(4*k))), row: -1}
	if row.Op == ir.OpConst {
		p.row = int(row.Imm)
	}
	return p
}

// Element loads element n of a vector, in all lanes.
func (g *Group) Element(array string, at Place, n ir.Value) ir.Value {
	return g.Kernel.Load(ir.F32, g.Kernel.Add(g.Addr(array), at.Bytes), n)
}

// seen makes the words that the group's lanes have stored into a matrix visible to all of them. Within a warp they
// already are, since a warp's memory instructions take effect in order.
func (g *Group) seen(matrix string, v Place) {
	if g.together() {
		g.meet(g.AsU32(g.Load(matrix, g.Row(v, g.U32(0)), g.at(0))))
	}
}

// Solve solves a vertex's system matrix·x = right by elimination without pivoting, for symmetric positive definite
// matrices; each lane has columns. matrix and right are overwritten.
func (g *Group) Solve(matrix, right string, v Place) Feature {
	load := func(row, column ir.Value) ir.Value { return g.Element(matrix, g.Row(v, row), column) }
	known := func(n ir.Value) ir.Value { return g.Element(right, v, n) }
	g.Rows(func(n ir.Value) {
		g.seen(matrix, v)
		pivot, mine := load(n, n), known(n)
		g.From(g.Kernel.Add(n, g.U32(1)), func(row ir.Value) {
			factor, before := g.Div(load(row, n), pivot), known(row)
			g.Each(func(i Index) {
				g.When(g.Gt(i.F, n), func() {
					at := g.Row(v, row)
					g.Store(matrix, at, i, g.Sub(g.Load(matrix, at, i), g.Mul(factor, g.Load(matrix, g.Row(v, n), i))))
				})
			})
			g.Once(func() {
				g.Kernel.Store(g.Kernel.Add(g.Addr(right), v.Bytes), row, g.Sub(before, g.Mul(factor, mine)))
			})
		})
	})
	g.Rows(func(done ir.Value) {
		g.seen(matrix, v)
		n := g.Sub(g.U32(uint32(g.K-1)), done)
		x := g.Div(known(n), load(n, n))
		g.Each(func(i Index) {
			g.When(g.Lt(i.F, n), func() { g.Store(right, v, i, g.Sub(g.Load(right, v, i), g.Mul(load(i.F, n), x))) })
		})
	})
	return g.Let(func(i Index) ir.Value { return g.Div(g.Load(right, v, i), load(i.F, i.F)) })
}

// Inverse replaces a vertex's matrix by its inverse, by Gauss-Jordan elimination without pivoting, for symmetric
// positive definite matrices; each lane has columns, and column is an array of k words for each vertex.
func (g *Group) Inverse(matrix, column string, v Place) {
	g.Rows(func(n ir.Value) {
		g.seen(matrix, v)
		g.Each(func(i Index) { g.Store(column, v, i, g.Element(matrix, g.Row(v, i.F), n)) })
		if g.together() {
			g.meet(g.AsU32(g.Load(column, v, g.at(0))))
		}
		by, row := g.Div(g.F32(1), g.Element(column, v, n)), g.Row(v, n)
		pivots := g.Let(func(i Index) ir.Value {
			return g.Mul(by, g.Select(g.Eq(i.F, n), g.F32(1), g.Load(matrix, row, i)))
		})
		g.Rows(func(r ir.Value) {
			g.When(g.Ne(r, n), func() {
				factor, at := g.Element(column, v, r), g.Row(v, r)
				g.Each(func(i Index) {
					before := g.Select(g.Eq(i.F, n), g.F32(0), g.Load(matrix, at, i))
					g.Store(matrix, at, i, g.Sub(before, g.Mul(factor, pivots.At(i))))
				})
			})
		})
		g.Each(func(i Index) { g.Store(matrix, row, i, pivots.At(i)) })
	})
}

// Product returns a feature of a vector times a matrix: Σ x(r)·matrix(r, i).
func (g *Group) Product(x Feature, matrix string, at Place, i Index) ir.Value {
	sum := g.Var(g.F32(0))
	g.Rows(func(row ir.Value) {
		sum.Set(g.FMA(g.Pick(x, row), g.Load(matrix, g.Row(at, row), i), sum.Get()))
	})
	return sum.Get()
}
