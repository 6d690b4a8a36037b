// Package tolerance decides whether two numbers agree within a bound. Every check that accepts an error uses it, since
// the direct comparison |got - want| <= bound holds for anything once both sides are infinite, and its negation, >
// bound, is false for NaN. It does not know the origin of numbers and bounds.
package tolerance

import "math"

// Within reports whether got is want, or differs from it by no more than bound.
//
// An infinity equals only itself, whatever the bound, and NaN equals NaN. A bound that is infinite or NaN accepts
// nothing but want itself: it means that the error is unknown, and an unknown error has not been verified.
func Within(got, want, bound float64) bool {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return true
	}
	return Small(got-want, bound)
}

// Small reports whether a difference is at most bound. Both must be finite.
func Small(difference, bound float64) bool {
	return math.Abs(difference) <= bound && !math.IsInf(bound, 1)
}

// LeavesFloat32 reports whether a float32 result may be an infinity or NaN because a partial sum exceeded the range on
// the way; most, a finite number, bounds the partial sums' magnitudes.
func LeavesFloat32(got, most float64) bool {
	return (math.IsInf(got, 0) || math.IsNaN(got)) && most > math.MaxFloat32 && !math.IsInf(most, 1)
}
