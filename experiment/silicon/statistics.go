package silicon

import (
	"cmp"
	"math"
)

// Apart is by how much two times must differ for their order to count in Order.
const Apart = 1.10

// Tau is Kendall's tau-b of two rankings of the same things: 1 for the same order, -1 for the reverse, with things that
// tie in one of them taken out of its pairs. NaN if one ranking has only ties, or fewer than two things.
func Tau(a, b []float64) float64 {
	sum, ofA, ofB := 0, 0, 0 // pairs in the same order less those in another; pairs that do not tie
	for i := range a {
		for j := range i {
			x, y := cmp.Compare(a[i], a[j]), cmp.Compare(b[i], b[j])
			sum, ofA, ofB = sum+x*y, ofA+x*x, ofB+y*y
		}
	}
	return float64(sum) / math.Sqrt(float64(ofA)*float64(ofB))
}

// Pairs counts pairs of schedules whose order matters.
type Pairs struct {
	Same int `json:"same"` // in the same order
	Of   int `json:"of"`
}

// Share is the part that is in the same order; NaN of no pairs.
func (p Pairs) Share() float64 { return float64(p.Same) / float64(p.Of) }

func (p Pairs) plus(q Pairs) Pairs { return Pairs{p.Same + q.Same, p.Of + q.Of} }

// Order counts the pairs whose true times differ by Apart or more, and of them those that two rankings have in the same
// order. A pair that one of them lets tie is not.
func Order(truth, a, b []float64) (p Pairs) {
	for i := range truth {
		for j := range i {
			if max(truth[i], truth[j]) < Apart*min(truth[i], truth[j])*(1-1e-9) { // exactly 10 % count, however rounded
				continue
			}
			p.Of++
			if x := cmp.Compare(a[i], a[j]); x != 0 && x == cmp.Compare(b[i], b[j]) {
				p.Same++
			}
		}
	}
	return p
}

// Regret is the true time of a ranking's first entry, over the least true time. Of several that share the first place,
// the slowest counts, since the ranking does not distinguish them. pick is its index; -1 of nothing.
func Regret(truth, ranking []float64) (regret float64, pick int) {
	pick = -1
	best := math.Inf(1)
	for i := range truth {
		best = min(best, truth[i])
		if pick < 0 || ranking[i] < ranking[pick] || ranking[i] == ranking[pick] && truth[i] > truth[pick] {
			pick = i
		}
	}
	if pick < 0 {
		return math.NaN(), pick
	}
	return truth[pick] / best, pick
}

// Scale is the factor that turns cycles into time: the one under which ratios of the two have the geometric mean 1.
func Scale(truth, cycles []float64) float64 {
	sum := 0.0
	for i := range truth {
		sum += math.Log(truth[i]) - math.Log(cycles[i])
	}
	return math.Exp(sum / float64(len(truth)))
}

// Errors measures the error of scaled cycles.
type Errors struct {
	Pearson Number `json:"pearson"` // correlation of the logarithms, which no factor changes
	MAPE    Number `json:"mape"`    // mean of |error| / time
	WMAPE   Number `json:"wmape"`   // sum of |error| over the sum of times
}

// ErrorsOf compares times with cycles under a scale.
func ErrorsOf(truth, cycles []float64, scale float64) Errors {
	var sum, relative, all float64
	x, y := make([]float64, len(truth)), make([]float64, len(truth))
	for i, t := range truth {
		off := math.Abs(scale*cycles[i] - t)
		sum, relative, all = sum+off, relative+off/t, all+t
		x[i], y[i] = math.Log(t), math.Log(cycles[i])
	}
	return Errors{Number(pearson(x, y)), Number(relative / float64(len(truth))), Number(sum / all)}
}

// pearson is the correlation of two lists; NaN if one is constant.
func pearson(x, y []float64) float64 {
	n := float64(len(x))
	var mx, my float64
	for i := range x {
		mx, my = mx+x[i]/n, my+y[i]/n
	}
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx, yy, xy = xx+dx*dx, yy+dy*dy, xy+dx*dy
	}
	return xy / math.Sqrt(xx*yy)
}

// mean and geomean leave out NaNs; NaN of nothing.
func mean(values []float64) float64 {
	sum, n := 0.0, 0
	for _, v := range values {
		if !math.IsNaN(v) {
			sum, n = sum+v, n+1
		}
	}
	return sum / float64(n)
}

func geomean(values []float64) float64 {
	logs := make([]float64, len(values))
	for i, v := range values {
		logs[i] = math.Log(v)
	}
	return math.Exp(mean(logs))
}
