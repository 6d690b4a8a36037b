package reference

import (
	"fmt"
	"math"

	"heddle/graph"
	"heddle/internal/tolerance"
)

// PageRankDeltaCheck follows a run of PageRank by changes, super-step by super-step:
//
//	change[v] = d·Σ change[u]/outdegree[u] over the edges u → v with u active; rank[v] += change[v]
//
// from rank[v] = change[v] = 1/n with all vertices active; 1/n is subtracted from the first change. A vertex is active
// in the next super-step if |change| > threshold·rank.
//
// It keeps the ranks in float64 and bounds the error of a float32 computation, as PageRankCheck does. A vertex whose
// change is within rounding error of the threshold may or may not send it: that amount is part of its neighbours'
// bounds.
type PageRankDeltaCheck struct {
	Rank, Bound             []float64
	Residual, ResidualBound float64 // Σ|change| of the last step

	Active    int // vertices that are active whatever the roundings
	Undecided int // vertices that may be active

	out                *graph.Adjacency
	in                 []int // in-degrees
	damping, threshold float64
	steps, maxTerms    int
	undecided          int       // in all steps so far
	send, off          []float64 // the value that each vertex sends along each edge, and its error bound
}

// NewPageRankDeltaCheck starts before the first super-step.
func NewPageRankDeltaCheck(out *graph.Adjacency, damping, threshold float64) *PageRankDeltaCheck {
	n := out.Vertices()
	c := &PageRankDeltaCheck{
		out: out, damping: damping, threshold: threshold, in: make([]int, n), send: make([]float64, n),
		off:  make([]float64, n),
		Rank: make([]float64, n), Bound: make([]float64, n), Active: n,
	}
	for _, v := range out.IDs {
		c.in[v]++
		c.maxTerms = max(c.maxTerms, c.in[v])
	}
	first := 1 / float64(n)
	for v := range n {
		c.Rank[v], c.Bound[v] = first, first*unit
		c.send[v], c.off[v] = c.share(v, first, first*unit)
	}
	return c
}

// share returns the value that v sends along each of its edges for a change with an error of at most e, and its error
// bound: the reciprocal of the degree and the product are rounded.
func (c *PageRankDeltaCheck) share(v int, change, e float64) (send, off float64) {
	degree := float64(c.out.Degree(v))
	if degree == 0 {
		return 0, 0
	}
	send = change / degree
	return send, e/degree*(1+unit)*(1+unit) + math.Abs(send)*(2*unit+unit*unit) + tiny
}

// Step follows one super-step.
func (c *PageRankDeltaCheck) Step() {
	sum, bound := c.gather()
	before := 0.0
	if c.steps == 0 {
		before = -c.damping / float64(len(sum))
	}
	c.Residual, c.ResidualBound, c.Active, c.Undecided = 0, 0, 0, 0
	for v, s := range sum {
		change := before + c.damping*s
		// before and damping are rounded, and then their combination once.
		e := math.Abs(before)*unit + c.damping*((1+unit)*bound[v]+unit*math.Abs(s))
		e = e*(1+unit) + unit*math.Abs(change) + tiny
		c.Residual += math.Abs(change)
		c.ResidualBound += e
		c.Rank[v] += change
		c.Bound[v] = (c.Bound[v]+e)*(1+unit) + unit*math.Abs(c.Rank[v])
		c.decide(v, change, e)
	}
	c.ResidualBound += gamma(len(sum)-1) * (c.Residual + c.ResidualBound)
	c.undecided += c.Undecided
	c.steps++
}

// gather returns each vertex's sum and its error bound.
func (c *PageRankDeltaCheck) gather() (sum, off []float64) {
	n := len(c.Rank)
	sum, off = make([]float64, n), make([]float64, n)
	size := make([]float64, n) // upper bound of Σ|terms|
	for u := range n {
		for _, v := range c.out.Row(u) {
			sum[v] += c.send[u]
			off[v] += c.off[u]
			size[v] += math.Abs(c.send[u]) + c.off[u]
		}
	}
	for v := range off {
		off[v] += gamma(max(0, c.in[v]-1)) * size[v]
	}
	return sum, off
}

// decide determines whether v sends its change, whose error is at most e.
func (c *PageRankDeltaCheck) decide(v int, change, e float64) {
	least := c.threshold * c.Rank[v]
	// The threshold and the product are rounded.
	reach := e + c.threshold*c.Bound[v]*(1+unit)*(1+unit) + math.Abs(least)*(2*unit+unit*unit) + tiny
	over := math.Abs(change) - least
	send, off := c.share(v, change, e)
	switch {
	case over > reach:
		c.Active++
	case over >= -reach: // it may send the value or not
		c.Undecided++
		if over > 0 {
			off = max(off, math.Abs(send))
		} else {
			send, off = 0, math.Abs(send)+off
		}
	default:
		send, off = 0, 0
	}
	c.send[v], c.off[v] = send, off
}

// Compare returns a *Mismatch unless all ranks are within their bounds.
func (c *PageRankDeltaCheck) Compare(got []float32) error {
	why := fmt.Sprintf(
		"rounding of %d super-steps, u = 2^-24, sums of up to %d terms in any order, %d changes too near to the "+
			"threshold to determine whether they are sent",
		c.steps, c.maxTerms, c.undecided)
	return compare("rank", why, got, c.Rank, c.Bound)
}

// CompareResidual checks Σ|change| of the last step.
func (c *PageRankDeltaCheck) CompareResidual(got float32) error {
	if tolerance.Within(float64(got), c.Residual, c.ResidualBound) {
		return nil
	}
	return fmt.Errorf("%w: the ranks' changes in super-step %d add up to %.9g, and should to %.9g ± %.3g (rounding, "+
		"u = 2^-24)",
		ErrWrong, c.steps, got, c.Residual, c.ResidualBound)
}
