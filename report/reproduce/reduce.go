package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"heddle/experiment/config"
	"heddle/kernels/workload"
	"heddle/report"
)

// reduce reduces samples to one number. ok is false if there are none, or if the result is NaN.
func reduce(c *config.Check, list []sample) (x float64, ok bool) {
	if len(list) == 0 {
		return 0, false
	}
	switch {
	case c.Along != "":
		x, ok = reduceSeries(c.Reduce, series(c.Along, checkNames(c), list))
	case len(c.Among) > 0:
		x, ok = reduceOptions(c, list)
	default:
		x, ok = reduceAll[c.Reduce](values(list)), true
	}
	return x, ok && !math.IsNaN(x) && !math.IsInf(x, 0)
}

var reduceAll = map[workload.Choice]func([]float64) float64{
	"geomean": geomean, "mean": mean,
	"min": slices.Min[[]float64], "max": slices.Max[[]float64],
}

func values(list []sample) (out []float64) {
	for _, s := range list {
		out = append(out, s.value)
	}
	return out
}

func mean(values []float64) float64 { return stat.Mean(values, nil) }

// geomean is NaN if a value has no logarithm.
func geomean(values []float64) float64 { return stat.GeometricMean(values, nil) }

// xy is a value at its place on an axis.
type xy struct{ x, y float64 }

// series are samples that differ in one axis alone, and in unnamed keys that go together with it, each sorted by it.
func series(along string, named []string, list []sample) (out [][]xy) {
	at := map[string]int{}
	for _, s := range list {
		x, ok := report.ParseNumber(s.point.value(along))
		if !ok {
			continue
		}
		without := s.point.with([]string{along})
		for _, k := range named {
			delete(without, k)
		}
		without[along] = true
		key := s.point.place(without)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], xy{x, s.value})
	}
	for _, line := range out {
		slices.SortStableFunc(line, func(a, b xy) int { return cmp.Compare(a.x, b.x) })
	}
	return out
}

// seriesReductions reduce a series to one number; worst of two chooses between series.
var seriesReductions = map[workload.Choice]struct {
	of    func([]xy) float64
	worst func([]float64) float64
	least int // points that a series needs
}{
	"r2":     {r2, slices.Min[[]float64], 3},
	"tau":    {tau, slices.Min[[]float64], 2},
	"spread": {spread, slices.Max[[]float64], 2},
	"first":  {func(l []xy) float64 { return l[0].y }, geomean, 1},
	"last":   {func(l []xy) float64 { return l[len(l)-1].y }, geomean, 1},
}

func reduceSeries(how workload.Choice, lines [][]xy) (x float64, ok bool) {
	r := seriesReductions[how]
	var all []float64
	for _, l := range lines {
		if len(l) < r.least {
			return 0, false
		}
		all = append(all, r.of(l))
	}
	if len(all) == 0 {
		return 0, false
	}
	return r.worst(all), true
}

// r2 is the coefficient of determination of the line of least squares.
func r2(l []xy) float64 {
	var x, y []float64
	for _, p := range l {
		x, y = append(x, p.x), append(y, p.y)
	}
	if slices.Min(y) == slices.Max(y) {
		return 1
	}
	r := stat.Correlation(x, y, nil)
	return r * r
}

// tau is Kendall's: pairs that rise less pairs that fall, over all. A pair of equal values does neither; gonum's takes
// it to rise.
func tau(l []xy) float64 {
	sum, n := 0, 0
	for i := range l {
		for _, q := range l[i+1:] {
			sum += cmp.Compare(q.y, l[i].y)
			n++
		}
	}
	return float64(sum) / float64(n)
}

// spread is the largest over the smallest.
func spread(l []xy) float64 {
	low, high := l[0].y, l[0].y
	for _, p := range l {
		low, high = min(low, p.y), max(high, p.y)
	}
	return high / low
}

// problems are samples that are equal in the keys of across, each sorted by value.
func problems(across []string, list []sample) (out [][]sample) {
	at := map[string]int{}
	for _, s := range list {
		key := s.point.values(across)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	for _, of := range out {
		slices.SortStableFunc(of, func(a, b sample) int { return cmp.Compare(a.value, b.value) })
	}
	return out
}

// reduceOptions reduces the problems to one number, with as many options each as the check requires. ok is false if one
// has fewer.
func reduceOptions(c *config.Check, list []sample) (x float64, ok bool) {
	var all []float64
	within, err := config.ParseConditions(c.Within)
	if err != nil {
		panic(fmt.Sprintf("BUG: reproduce: conditions that were checked: %v", err))
	}
	for _, of := range problems(c.Across, list) {
		of = tuned(c, of)
		if len(of) < max(2, c.Options) {
			return 0, false
		}
		best, second := of[0], of[1]
		switch c.Reduce {
		case "slowest":
			all = append(all, of[len(of)-1].value/best.value)
		case "second", "most-second":
			all = append(all, second.value/best.value)
		case "restricted":
			i := slices.IndexFunc(of, func(s sample) bool { return s.point.meets(within) })
			if i < 0 {
				return 0, false
			}
			all = append(all, of[i].value/best.value)
		case "second-differs":
			all = append(all, differ(c, best.point.value(c.Differs), second.point.value(c.Differs)))
		}
	}
	switch c.Reduce {
	case "most-second":
		return slices.Max(all), true
	case "second-differs":
		return mean(all), true
	}
	return geomean(all), true
}

// tuned returns the options of a problem, fastest first, of those that differ in the keys of tuned alone the fastest.
func tuned(c *config.Check, sorted []sample) (out []sample) {
	if len(c.Tuned) == 0 {
		return sorted
	}
	for _, k := range c.Tuned {
		if !slices.Contains(c.Among, k) {
			panic(fmt.Sprintf("BUG: reproduce: tuned %q is not among %q", k, c.Among))
		}
	}
	named := slices.DeleteFunc(slices.Clone(c.Among), func(k string) bool { return slices.Contains(c.Tuned, k) })
	seen := map[string]bool{}
	for _, s := range sorted {
		if key := s.point.values(named); !seen[key] {
			seen[key], out = true, append(out, s)
		}
	}
	return out
}

// differ returns 1 if two values of the key that second-differs compares are others, and 0 if they count as one.
func differ(c *config.Check, a, b string) float64 {
	if a == b || slices.Contains(c.Alike, a) && slices.Contains(c.Alike, b) {
		return 0
	}
	return 1
}
