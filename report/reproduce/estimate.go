package reproduce

import (
	"math"

	"heddle/kernels/workload"
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

// half is half the width of the interval of what samples are reduced to. What is said of series has none.
func half(how workload.Choice, list []sample, reduced float64) float64 {
	sum := 0.0
	switch how {
	case "geomean":
		for _, s := range list {
			sum += s.relative() * s.relative()
		}
		return math.Abs(reduced) * math.Sqrt(sum) / float64(len(list))
	case "mean":
		for _, s := range list {
			sum += s.half * s.half
		}
		return math.Sqrt(sum) / float64(len(list))
	case "min", "max":
		for _, s := range list {
			if s.value == reduced {
				return s.half
			}
		}
	}
	return 0
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
