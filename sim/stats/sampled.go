package stats

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Parts are the simulated parts of a run, from which the rest is extrapolated.
type Parts struct {
	Cycles, Instrs []float64 // of each part: its cycles and its warp instructions
	Weights        []float64 // of each part: factor by which its counts stand for the rest
	Rest           float64   // estimated cycles of the rest
	Simulated      float64   // simulated cycles
	Relative       float64   // half the 95 % confidence interval of Rest, relative to it
	Groups         []Group   // of parts that are alike; nil: all parts are
}

// Extrapolate adds to a statistic its estimate for the rest, from its values in each part. Half the confidence interval
// covers the variation that cycles and warp instructions do not explain, and the uncertainty of the rest's cycles.
func (p *Parts) Extrapolate(s Stat, in func(part int) Stat) Stat {
	n := len(p.Weights)
	over, under := make([]float64, n), make([]float64, n)
	for i := range n {
		if x := in(i); s.isF {
			over[i], under[i] = x.over, x.under
		} else {
			over[i] = float64(x.count)
		}
	}
	if !s.isF {
		more := p.sum(over)
		s.Half += max(p.half(over, p.Instrs), p.unseen(over, float64(s.count)))
		s.count += uint64(math.Round(max(0, more)))
		return s
	}
	under0, under1 := s.under, p.sum(under)
	if under0+under1 <= 0 {
		return s
	}
	half := s.Half * under0
	s = s.of(s.over+p.sum(over), under0+under1)
	if p.Groups != nil {
		half += p.halfByGroup(over, under)
	} else {
		for i := range over {
			over[i] -= s.ratio * under[i]
		}
		half += p.half(over, p.Instrs)
	}
	s.Half = max(half, ruleOfThree) / s.under
	return s
}

// ruleOfThree is the 95 % upper bound on the number of events in n trials if n other trials had none.
const ruleOfThree = 3

// unseen returns half the confidence interval of a count that is 0 in all parts: by the rule of three the event may
// occur in some parts of the rest, once each or as often as where it was seen. It is 0 for a count that was seen.
func (p *Parts) unseen(y []float64, seen float64) float64 {
	weights, n := 0.0, 0.0
	for i, w := range p.Weights {
		if w <= 0 { // it tells nothing of the rest
			continue
		}
		if y[i] != 0 {
			return 0
		}
		weights, n = weights+w, n+1
	}
	return ruleOfThree / max(n, 1) * max(weights, seen/max(p.Simulated, 1)*p.Rest)
}

// sum estimates the total of the rest.
func (p *Parts) sum(y []float64) (total float64) {
	for i, w := range p.Weights {
		total += w * y[i]
	}
	return total
}

// half returns half the 95 % confidence interval of sum, of which each part has some for its size.
func (p *Parts) half(y, size []float64) float64 {
	if p.Groups != nil {
		return math.Hypot(p.Relative*p.sum(y), p.halfByGroup(y, size))
	}
	perCycle, perInstr := p.fit(y)
	squares, n := 0.0, float64(len(y))
	for i, w := range p.Weights {
		d := w * (y[i] - perCycle*p.Cycles[i] - perInstr*p.Instrs[i])
		squares += d * d
	}
	known := p.Relative * perCycle * p.Rest
	if n < 3 { // with so few parts, the scatter is taken to be as large as the value
		return math.Hypot(known, math.Abs(p.sum(y)))
	}
	return math.Hypot(known, Student95(len(y)-2)*math.Sqrt(squares*n/(n-2)))
}

// fit returns a part's count per cycle and per warp instruction, by least squares.
func (p *Parts) fit(y []float64) (perCycle, perInstr float64) {
	var cc, cn, nn, cy, ny float64
	for i := range y {
		c, n := p.Cycles[i], p.Instrs[i]
		cc, cn, nn, cy, ny = cc+c*c, cn+c*n, nn+n*n, cy+c*y[i], ny+n*y[i]
	}
	if d := cc*nn - cn*cn; d > 1e-9*cc*nn {
		return (cy*nn - ny*cn) / d, (ny*cc - cy*cn) / d
	}
	if cc == 0 {
		return 0, 0
	}
	return cy / cc, 0
}

// Exact returns the statistic with a known value.
func (s Stat) Exact(n uint64) Stat {
	s.count, s.Half = n, 0
	return s
}

// Parts returns the numerator and the denominator of a ratio.
func (s Stat) Parts() (over, under float64) { return s.over, s.under }

// Of returns the ratio of known parts.
func (s Stat) Of(over, under float64) Stat {
	s.Half = 0
	return s.of(over, under)
}

// Over returns the ratio with a known dividend; relative is half the confidence interval of its divisor, relative to
// it.
func (s Stat) Over(over, relative float64) Stat {
	s = s.of(over, s.under)
	s.Half = s.ratio * relative
	return s
}

// Student95 returns the two-sided 95 % quantile of Student's t distribution, of at least one degree of freedom.
func Student95(freedom int) float64 {
	if t, ok := students.Load(freedom); ok {
		return t.(float64)
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(freedom)}.Quantile(0.975)
	students.Store(freedom, t)
	return t
}

// students are the quantiles by degrees of freedom: each takes a tenth of a millisecond, and every statistic of every
// sampled launch asks.
var students sync.Map
