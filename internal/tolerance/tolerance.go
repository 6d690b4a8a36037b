// Package tolerance decides whether a number is as near to another as is asked. Every check that accepts an error goes
// through it, since a comparison written out, |got - want| <= bound, holds for anything once both sides are infinite,
// and its negation, > bound, for whatever is not a number. It knows nothing of where numbers and bounds come from.
package tolerance

import "math"

// Within reports whether got is want, or differs from it by no more than bound.
//
// An infinity equals itself alone, whatever the bound, and NaN equals NaN. A bound that is infinite or no number
// accepts nothing but want itself: it says that the error is unknown, and what is unknown has not been verified.
func Within(got, want, bound float64) bool {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return true
	}
	return Small(got-want, bound)
}

// Small reports whether a difference is no more than bound. Both have to be finite.
func Small(difference, bound float64) bool {
	return math.Abs(difference) <= bound && !math.IsInf(bound, 1)
}

// LeavesFloat32 reports whether a float32 result is an infinity or NaN since what it was added up of may have been too
// large on the way: partial sums whose magnitudes come to most, a finite number.
func LeavesFloat32(got, most float64) bool {
	return (math.IsInf(got, 0) || math.IsNaN(got)) && most > math.MaxFloat32 && !math.IsInf(most, 1)
}
