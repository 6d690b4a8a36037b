package reference

import (
	"fmt"
	"math"

	"heddle/graph"
	"heddle/internal/tolerance"
)

// PageRank returns the ranks after some super-steps of
//
//	rank'[v] = (1-d)/n + d·Σ rank[u]/outdegree[u] over the edges u → v
//
// from rank[v] = 1/n. out is the graph by source (CSR). As in GAP and GraphIt, the rank of a vertex without out-edges
// is not redistributed, so that ranks add up to less than 1.
func PageRank[F float32 | float64](out *graph.Adjacency, damping float64, steps int) []F {
	n := out.Vertices()
	rank := make([]F, n)
	for v := range rank {
		rank[v] = F(1 / float64(n))
	}
	for range steps {
		rank = superStep(out, damping, rank)
	}
	return rank
}

func superStep[F float32 | float64](out *graph.Adjacency, damping float64, rank []F) []F {
	sum := make([]F, len(rank))
	for u := range rank {
		for _, v := range out.Row(u) {
			sum[v] += rank[u] / F(out.Degree(u))
		}
	}
	base := F((1 - damping) / float64(len(rank)))
	for v := range sum {
		sum[v] = base + F(F(damping)*sum[v])
	}
	return sum
}

// unit is the relative error of one float32 operation, and of the float64 operation of
// the reference that it is compared with.
const unit = 0x1p-24 + 0x1p-53

// tiny is the absolute error of a float32 product that is too small to be normal.
const tiny = 0x1p-150

// gamma bounds the relative error of k roundings in a row (Higham, Accuracy and
// Stability of Numerical Algorithms, lemma 3.1). A sum of k+1 terms, in whatever order
// they are added, is off by at most gamma(k)·Σ|terms| (§4.2).
func gamma(k int) float64 { return float64(k) * unit / (1 - float64(k)*unit) }

// PageRankCheck follows a run, super-step by super-step: the ranks in float64, and for each vertex a bound on the error
// of a float32 computation. The bound follows the roundings of a pull kernel (contributions = rank·(1/outdegree), their
// sum in any order, one fused multiply-add), and carries the errors of one step into the next; it has no constant but
// the unit roundoff.
type PageRankCheck struct {
	Rank, Bound             []float64
	Residual, ResidualBound float64 // Σ|change| of the last step

	out      *graph.Adjacency
	in       []int // in-degrees
	damping  float64
	steps    int
	maxTerms int
}

// NewPageRankCheck starts before the first super-step.
func NewPageRankCheck(out *graph.Adjacency, damping float64) *PageRankCheck {
	c := &PageRankCheck{out: out, damping: damping, Rank: PageRank[float64](out, damping, 0)}
	c.in = make([]int, len(c.Rank))
	for _, v := range out.IDs {
		c.in[v]++
		c.maxTerms = max(c.maxTerms, c.in[v])
	}
	c.Bound = make([]float64, len(c.Rank))
	for v, r := range c.Rank {
		c.Bound[v] = r * unit
	}
	return c
}

// Step follows one super-step.
func (c *PageRankCheck) Step() {
	sum, bound := c.gather()
	base := (1 - c.damping) / float64(len(sum))
	c.Residual, c.ResidualBound = 0, 0
	for v, s := range sum {
		rank := base + c.damping*s
		// base and damping are rounded, and then their combination once.
		e := base*unit + c.damping*((1+unit)*bound[v]+unit*s)
		e = e*(1+unit) + unit*rank + tiny
		c.Residual += math.Abs(rank - c.Rank[v])
		c.ResidualBound += e + c.Bound[v]
		c.Rank[v], c.Bound[v] = rank, e
	}
	g := gamma(len(sum)) // a vertex's difference, and n-1 additions
	c.ResidualBound += g * (c.Residual + c.ResidualBound)
	c.steps++
}

// gather returns each vertex's sum and its error bound.
func (c *PageRankCheck) gather() (sum, off []float64) {
	sum, off = make([]float64, len(c.Rank)), make([]float64, len(c.Rank))
	for u, r := range c.Rank {
		degree := float64(c.out.Degree(u))
		term := r / degree
		// The reciprocal and the product are rounded.
		e := c.Bound[u]/degree*(1+unit)*(1+unit) + term*(2*unit+unit*unit) + tiny
		for _, v := range c.out.Row(u) {
			sum[v] += term
			off[v] += e
		}
	}
	for v := range off {
		off[v] += gamma(max(0, c.in[v]-1)) * (sum[v] + off[v])
	}
	return sum, off
}

// Compare returns a *Mismatch unless all ranks are within their bounds.
func (c *PageRankCheck) Compare(got []float32) error {
	why := fmt.Sprintf("rounding of %d super-steps, u = 2^-24, sums of up to %d terms in any order", c.steps,
		c.maxTerms)
	return compare("rank", why, got, c.Rank, c.Bound)
}

// CompareResidual checks Σ|change| of the last step.
func (c *PageRankCheck) CompareResidual(got float32) error {
	if tolerance.Within(float64(got), c.Residual, c.ResidualBound) {
		return nil
	}
	return fmt.Errorf("%w: the ranks' changes in super-step %d add up to %.9g, and should to %.9g ± %.3g (rounding, "+
		"u = 2^-24)",
		ErrWrong, c.steps, got, c.Residual, c.ResidualBound)
}
