package algorithm

import (
	"math"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/layout"
	"heddle/kernels/reference"
)

// pageRank performs the same operations as the hand-written kernels, in the same order.
var pageRank = &Algorithm{
	Name: "pagerank",
	Doc: "rank[v] = (1-d)/n + d·Σ rank[u]/outdegree[u] over u → v; what a vertex without out-edges holds is not " +
		"passed on, as in GAP and GraphIt",
	Dense: true,
	Arrays: []Array{
		{"out_degree", outDegrees}, {"inverse", nil}, {"contribution", nil}, {"sum", nil}, {"rank", nil},
	},
	Result: "rank",
	Sum:    emit.AddF32,
	Into:   "sum",
	Init: func(k *emit.Kernel, v ir.Value) {
		degree := word(k, "out_degree", v)
		set(k, "rank", v, k.Float("first_rank")) // overlaps with the latency of the division
		set(k, "sum", v, k.F32(0))
		inverse := k.Select(k.Eq(degree, k.U32(0)), k.F32(0), k.Div(k.F32(1), k.ToF32(degree)))
		set(k, "inverse", v, inverse)
		set(k, "contribution", v, k.Mul(k.Float("first_rank"), inverse))
	},
	Gather: func(k *emit.Kernel, e *layout.Edge) ir.Value { return float(k, "contribution", e.Src) },
	Apply: func(k *emit.Kernel, v ir.Value, residual func(ir.Value)) {
		rank := k.FMA(float(k, "sum", v), k.Float("damping"), k.Float("base"))
		if residual != nil {
			residual(k.Abs(k.Sub(rank, float(k, "rank", v))))
		}
		set(k, "contribution", v, k.Mul(rank, float(k, "inverse", v)))
		set(k, "rank", v, rank)
		set(k, "sum", v, k.F32(0))
	},
	Words: func(p *Problem) map[string]uint32 {
		n := float64(p.Graph.Vertices())
		return map[string]uint32{
			"first_rank": math.Float32bits(float32(1 / n)),
			"base":       math.Float32bits(float32((1 - p.Damping) / n)),
			"damping":    math.Float32bits(float32(p.Damping)),
		}
	},
	Range: func(p *Problem, steps int) (want, bound []float64) {
		c := reference.NewPageRankCheck(p.Graph.CSR(), p.Damping)
		for range steps {
			c.Step()
		}
		return c.Rank, c.Bound
	},
	Check: checkRanks,
}

func outDegrees(p *Problem) []uint32 {
	d := make([]uint32, p.Graph.Vertices())
	for v := range d {
		d[v] = uint32(p.Graph.CSR().Degree(v))
	}
	return d
}

func checkRanks(p *Problem, o *Outcome) error {
	c := reference.NewPageRankCheck(p.Graph.CSR(), p.Damping)
	for i := range o.Steps {
		c.Step()
		if p.Tolerance == 0 {
			continue
		}
		if err := c.CompareResidual(o.Residuals[i]); err != nil {
			return err
		}
	}
	return c.Compare(floats(o.Result))
}

func floats(words []uint32) []float32 {
	f := make([]float32, len(words))
	for i, w := range words {
		f[i] = math.Float32frombits(w)
	}
	return f
}
