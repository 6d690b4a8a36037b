package algorithm

import (
	"fmt"
	"math"

	"heddle/kernels/emit"
	"heddle/kernels/ir"
	"heddle/kernels/reference"
)

// pageRankDelta sends changes of ranks, and only large ones (Ligra, PPoPP 2013, PageRankDelta.C; GraphIt,
// pagerankdelta.gt). As in GraphIt every change counts for the vertex's own rank; changes that are too small are not
// sent, and are lost to the others.
//
// The first super-step sends the initial ranks, 1/n, so its change is their result, less 1/n.
var pageRankDelta = &Algorithm{
	Name: "pagerank-delta",
	Doc: "PageRank by changes: a vertex sends how far its rank has moved, and only if that is more than threshold " +
		"times its rank (Ligra, GraphIt)",
	Cut: true,
	Arrays: []Array{
		{"out_degree", outDegrees}, {"inverse", nil}, {"contribution", nil}, {"sum", nil}, {"rank", nil},
	},
	Result: "rank",
	Sum:    emit.AddF32,
	Into:   "sum",
	Init:   pageRank.Init,
	// A contribution that is not sent is 0.
	SrcFilter: func(k *emit.Kernel, v ir.Value) ir.Value { return k.Ne(word(k, "contribution", v), k.U32(0)) },
	Gather:    pageRank.Gather,
	Sends: func(k *emit.Kernel, v ir.Value, residual func(ir.Value)) (active ir.Value) {
		before := k.Select(k.Eq(k.Count("step"), k.U32(1)), k.Float("first_change"), k.F32(0))
		change := k.FMA(float(k, "sum", v), k.Float("damping"), before)
		size := k.Abs(change)
		if residual != nil {
			residual(size)
		}
		rank := k.Add(float(k, "rank", v), change)
		moved := k.Gt(size, k.Mul(rank, k.Float("threshold")))
		set(k, "rank", v, rank)
		set(k, "sum", v, k.F32(0))
		set(k, "contribution", v, k.Select(moved, k.Mul(change, float(k, "inverse", v)), k.F32(0)))
		return moved
	},
	Words: func(p *Problem) map[string]uint32 {
		n := float64(p.Graph.Vertices())
		return map[string]uint32{
			"first_rank":   math.Float32bits(float32(1 / n)),
			"first_change": math.Float32bits(float32(-p.Damping / n)),
			"damping":      math.Float32bits(float32(p.Damping)),
			"threshold":    math.Float32bits(float32(p.Threshold)),
		}
	},
	Range: func(p *Problem, steps int) (want, bound []float64) {
		c := reference.NewPageRankDeltaCheck(p.Graph.CSR(), p.Damping, p.Threshold)
		for range steps {
			c.Step()
		}
		return c.Rank, c.Bound
	},
	Check: checkDeltaRanks,
}

func checkDeltaRanks(p *Problem, o *Outcome) error {
	c := reference.NewPageRankDeltaCheck(p.Graph.CSR(), p.Damping, p.Threshold)
	for i := range o.Steps {
		c.Step()
		if p.Tolerance == 0 {
			continue
		}
		if err := c.CompareResidual(o.Residuals[i]); err != nil {
			return err
		}
	}
	if o.Ended && c.Active > 0 {
		return fmt.Errorf(
			"%w: the run ended after %d super-steps, when %d ranks had moved by more than threshold = %g of them",
			reference.ErrWrong, o.Steps, c.Active, p.Threshold)
	}
	return c.Compare(floats(o.Result))
}
