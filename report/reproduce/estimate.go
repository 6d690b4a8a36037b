package reproduce

import (
	"math"
	"slices"

	"heddle/experiment/config"
)

// estimate is a number with half the width of its 95 % interval, which is 0 where nothing was sampled. Estimates of
// different points err independently of each other; those of one point are taken to do so too, which they mostly do
// not: the interval of a ratio of two of its statistics is too wide rather than too narrow.
type estimate struct{ value, half float64 }

func (e estimate) plus(o estimate) estimate {
	return estimate{e.value + o.value, math.Hypot(e.half, o.half)}
}

func (e estimate) over(o estimate) estimate {
	r := e.value / o.value
	return estimate{r, math.Abs(r) * math.Hypot(e.relative(), o.relative())}
}

func (e estimate) relative() float64 {
	if e.half == 0 {
		return 0
	}
	return e.half / math.Abs(e.value)
}

// half returns half the width of the interval of the reduced samples.
func half(c *config.Check, list []sample, reduced float64) float64 {
	sum := 0.0
	switch {
	case c.Along != "" || len(c.Among) > 0:
		return moved(c, list, reduced)
	case c.Reduce == "geomean":
		for _, s := range list {
			sum += s.relative() * s.relative()
		}
		return math.Abs(reduced) * math.Sqrt(sum) / float64(len(list))
	case c.Reduce == "mean":
		for _, s := range list {
			sum += s.half * s.half
		}
		return math.Sqrt(sum) / float64(len(list))
	}
	for _, s := range list {
		if s.value == reduced {
			return s.half
		}
	}
	return 0
}

// moved is half the width for reductions without a formula: how far the result moves when one sample goes to an end of
// its interval, as the root of the sum of squares over samples.
func moved(c *config.Check, list []sample, reduced float64) float64 {
	sum := 0.0
	for i := range list {
		most := 0.0
		for _, end := range []float64{-list[i].half, list[i].half} {
			if end == 0 {
				continue
			}
			shifted := slices.Clone(list)
			shifted[i].value += end
			if x, ok := reduce(c, shifted); ok {
				most = max(most, math.Abs(x-reduced))
			}
		}
		sum += most * most
	}
	return math.Sqrt(sum)
}

// unchanged reports whether a reading leaves all points of a group, and their partners, as described.
func unchanged(group []sample) bool {
	for _, s := range group {
		if !s.point.Same || s.partner != nil && !s.partner.Same {
			return false
		}
	}
	return true
}

// same reports whether all samples are unchanged.
func same(list []sample) bool {
	for _, s := range list {
		if !s.same {
			return false
		}
	}
	return len(list) > 0
}
