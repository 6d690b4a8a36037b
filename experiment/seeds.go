package experiment

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"heddle/sim/stats"
)

// Estimate is a mean over seeds with the half-width of its 95 % confidence interval.
type Estimate struct {
	Mean float64 `json:"mean"`
	CI95 float64 `json:"ci95"` // 0 with a single value, whose precision is unknown
	N    int     `json:"n"`
}

// Estimated returns the mean of values and its confidence interval. The order matters to the last bit of the sum.
func Estimated(values []float64) (e Estimate) {
	e.N = len(values)
	if e.N == 0 {
		return e
	}
	if e.N == 1 {
		e.Mean = values[0]
		return e
	}
	mean, deviation := stat.MeanStdDev(values, nil)
	e.Mean, e.CI95 = mean, stats.Student95(e.N-1)*stat.StdErr(deviation, float64(e.N))
	return e
}

// Group lists points that differ in their seed alone, in the order of the seeds.
type Group []int

// Groups groups the points; without seeds each is a group of its own.
func Groups(points []Point) (groups []Group) {
	at := map[string]int{}
	for i := range points {
		key := points[i].without(len(points[i].Coordinates) - 1)
		g, ok := at[key]
		if !ok {
			g = len(groups)
			at[key] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// seeded reports whether points have seeds, so that results are means over them.
func seeded(points []Point) bool {
	axes := points[0].Axes
	return len(axes) > 0 && axes[len(axes)-1].Key == SeedKey
}

// cycles returns the mean over the points with a result.
func (g Group) cycles(outcomes []Outcome) Estimate {
	var values []float64
	for _, i := range g {
		if outcomes[i].Counts() {
			values = append(values, float64(outcomes[i].Cycles))
		}
	}
	return Estimated(values)
}

// speedup returns the mean of the speedups, each over the baseline with the same seed.
func (g Group) speedup(points []Point, outcomes []Outcome) Estimate {
	var values []float64
	for _, i := range g {
		if s, ok := Speedup(points, outcomes, i); ok {
			values = append(values, s)
		}
	}
	return Estimated(values)
}

// stats returns the means of all statistics over the points with a result.
func (g Group) stats(outcomes []Outcome) (mean stats.Tree) {
	n, sums := 0.0, map[string]float64{}
	for _, i := range g {
		if o := &outcomes[i]; o.Counts() {
			n++
			all := o.Stats.Tree()
			if mean == nil {
				mean = append(mean, all...)
			}
			for _, s := range all {
				sums[s.Name] += s.Float()
			}
		}
	}
	for k, s := range mean {
		mean[k] = stats.Ratio(s.Name, s.Unit, s.Doc, sums[s.Name], n)
	}
	return mean
}

// alikeMark marks speedups that may be none.
const (
	alikeMark = "≈"
	alikeNote = alikeMark + ": may be no difference: the 95 % interval of speedups, paired by seed, contains 1."
)

// alike reports whether a mean speedup over seeds, each over the baseline with the same seed, is not significant.
func (e Estimate) alike() bool { return e.N > 1 && e.CI95 > 0 && math.Abs(e.Mean-1) <= e.CI95 }

// text formats a mean and its interval, if there is one.
func (e Estimate) text(number func(float64) string) string {
	switch e.N {
	case 0:
		return "–"
	case 1:
		return number(e.Mean)
	}
	return number(e.Mean) + " ± " + number(e.CI95)
}

func countText(x float64) string { return Thousands(uint64(math.Round(x))) }

func speedupText(x float64) string { return fmt.Sprintf("%.2f×", x) }
