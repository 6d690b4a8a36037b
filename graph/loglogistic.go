package graph

import (
	"fmt"

	"heddle/graph/graphspec"
)

// cut is the largest degree that a stand-in of n vertices draws.
func cut(o *graphspec.Original, n int) float64 {
	if o.MaxDegree > 0 {
		return min(float64(n)/4, float64(o.MaxDegree))
	}
	return float64(n) / 4
}

// logLogistic returns weights by rank: quantiles of the log-logistic distribution of that shape (in units of 2^-steps;
// its Gini coefficient until it is cut), cut at the one that has most where the mean is mean. Real graphs' medians
// follow from their Gini coefficients by it: 25.6, 14.9 and 3.3 of facebook_combined, ego-twitter and email-Enron,
// which have 25, 15 and 3, where a power of the rank has 0.7 times the mean (31, 23 and 7) and no vertex below half of
// it.
func logLogistic(shape uint, n int, mean, most float64) []float64 {
	w, sum := make([]float64, n), 0.0
	for i := range w {
		low := float64(i) + 0.5
		w[i] = rank(shape, low/(float64(n)-low))
		sum += w[i]
	}
	for i, rest := 0, float64(float64(n)*mean); i < n-1; i++ { // the first i have most
		if rest <= 0 { // nothing is left for the others
			for k := range w {
				w[k] = 0
				if k < i {
					w[k] = 1
				}
			}
			return w
		}
		if top := float64(most*sum) / rest; w[i] <= top {
			for k := range i {
				w[k] = top
			}
			break
		}
		sum, rest = sum-w[i], rest-most
	}
	for i := n - 1; i >= 0; i-- {
		w[i] = float64(w[i] / w[0])
	}
	return w
}

// quantiles is the number of weights of which a coefficient is taken.
const quantiles = 1 << 16

// steepestShape bounds shapes, in units of 2^-steps. From 1 on, where the uncut distribution has no mean, the cut one
// still has; at 2 most vertices have the largest degree or hardly any.
const steepestShape = 2 << steps

// shapeOf returns the largest shape of which the coefficient that the cut leaves is not above gini, and that
// coefficient.
func shapeOf(gini float64, n int, mean, most float64) (shape uint, left float64) {
	for bit := uint(steepestShape / 2); bit > 0; bit >>= 1 {
		if g := coefficient(logLogistic(shape|bit, min(n, quantiles), mean, most)); g <= gini {
			shape, left = shape|bit, g
		}
	}
	return shape, left
}

// coefficient returns the Gini coefficient of weights that fall.
func coefficient(w []float64) float64 {
	sum, ranked := 0.0, 0.0
	for i, x := range w {
		sum += x
		ranked += float64(float64(len(w)-1-2*i) * x)
	}
	return ranked / float64(sum*float64(len(w)))
}

// logLogisticLaw names the distribution that a stand-in's degrees are drawn from.
func logLogisticLaw(s *graphspec.Like) string {
	o, _ := s.Original()
	n, _ := s.Size()
	most := cut(&o, n)
	_, left := shapeOf(s.Gini, n, float64(o.Edges)/float64(o.Vertices), most)
	law := fmt.Sprintf("Chung–Lu, log-logistic degrees cut at %.0f, Gini coefficient ", most)
	if left < s.Gini-0.01 {
		return law + fmt.Sprintf("%.2f for %g, the most that the cut leaves", left, s.Gini)
	}
	return law + fmt.Sprint(s.Gini)
}
