// Package reference computes on the host the expected results of kernels, in straightforward code, and compares. It
// knows no kernel and no machine, and reads the graph by source, an array that no pull kernel receives.
package reference

import (
	"errors"
	"fmt"
	"math"

	"heddle/internal/tolerance"
)

// ErrWrong is wrapped by the error of every wrong result.
var ErrWrong = errors.New("wrong result")

// Mismatch is the first vertex with a wrong value.
type Mismatch struct {
	Quantity  string
	Vertex    int
	Got, Want float64
	Bound     float64 // maximum difference between Got and Want
	Why       string  // the reason for the bound
	Others    int     // number of later vertices that are wrong too
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("%v: %s of vertex %d is %.9g, and should be %.9g ± %.3g (%s); off by %.3g; %d vertices after "+
		"it are wrong too",
		ErrWrong, m.Quantity, m.Vertex, m.Got, m.Want, m.Bound, m.Why, m.Got-m.Want, m.Others)
}

// Unwrap returns ErrWrong.
func (m *Mismatch) Unwrap() error { return ErrWrong }

// RangeError is a result that is no number, since partial sums may not fit a float32: the machine
// has computed as IEEE 754 has it, so that it is not wrong, and there is nothing to verify.
type RangeError struct {
	Quantity string
	Vertex   int
	Got      float64 // an infinity, or NaN
	Most     float64 // the magnitude that a partial sum may have
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("%s of vertex %d is %g: what is added up comes to %.4g on the way, and a float32 holds up to "+
		"%.4g: expected smaller weights (graph.weights)", e.Quantity, e.Vertex, e.Got, e.Most, math.MaxFloat32)
}

// inRange returns a *RangeError if a value is no number where partial sums may have left float32. Those of a vertex are
// at most most in magnitude, which is no number either where a weight is none.
func inRange(quantity string, got []float32, most []float64) error {
	for v := range min(len(got), len(most)) {
		if g := float64(got[v]); tolerance.LeavesFloat32(g, most[v]) {
			return &RangeError{quantity, v, g, most[v]}
		}
	}
	return nil
}

// compare returns a *Mismatch unless every value is within its bound.
func compare(quantity, why string, got []float32, want, bound []float64) error {
	if len(got) != len(want) {
		return fmt.Errorf("%w: %s of %d vertices, expected %d", ErrWrong, quantity, len(got), len(want))
	}
	var m *Mismatch
	for v := range got {
		switch g := float64(got[v]); {
		case tolerance.Within(g, want[v], bound[v]):
		case m != nil:
			m.Others++
		default:
			m = &Mismatch{Quantity: quantity, Vertex: v, Got: g, Want: want[v], Bound: bound[v], Why: why}
		}
	}
	if m != nil {
		return m
	}
	return nil
}
