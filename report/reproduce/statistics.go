package reproduce

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// pair is a published number and ours.
type pair struct{ published, ours float64 }

// ratio is ours over published.
func (p pair) ratio() float64 { return p.ours / p.published }

// agreement is how far numbers are from published ones.
type agreement struct {
	n            int
	mean         float64 // geometric, of ours over published
	median, most float64 // of |log ratio|, and its 90th percentile, as factors
	rho, p       float64 // Spearman's, and the share of permutations that have as much; NaN for fewer than three
}

// agree compares numbers. Those of which one is not above 0 have no ratio, and are left out of all but the ranks.
func agree(list []pair) (a agreement) {
	var logs, sizes []float64
	for _, p := range list {
		if r := p.ratio(); r > 0 && !math.IsInf(r, 0) {
			logs, sizes = append(logs, math.Log(r)), append(sizes, math.Abs(math.Log(r)))
		}
	}
	a.n = len(list)
	a.mean, a.median, a.most = math.NaN(), math.Exp(quantile(sizes, 0.5)), math.Exp(quantile(sizes, 0.9))
	if len(logs) > 0 {
		a.mean = math.Exp(stat.Mean(logs, nil))
	}
	a.rho, a.p = correlated(list)
	return a
}

// quantile interpolates between order statistics, the first at 0 and the last at 1; NaN of nothing.
func quantile(list []float64, q float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i == len(sorted)-1 {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// ranks are the places of values when they are sorted, from 1 on; equal ones share the mean of theirs.
func ranks(list []float64) []float64 {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a], list[b]) })
	out := make([]float64, len(list))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && list[order[j]] == list[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			out[k] = float64(i+1+j) / 2
		}
		i = j
	}
	return out
}

// permutations is how many are drawn, from the same seed each time.
const permutations = 20_000

func dice() *rand.Rand { return rand.New(rand.NewPCG(42, 1)) }

// permuted is the share of permutations, the identity among them, whose value is at least that of the identity. value
// gets the places that were drawn.
func permuted(n int, value func(places []int) float64) float64 {
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	const rounding = 1e-12
	reached, draw := 1, dice()
	least := value(places) - rounding
	for range permutations {
		draw.Shuffle(n, func(i, j int) { places[i], places[j] = places[j], places[i] })
		if value(places) >= least {
			reached++
		}
	}
	return float64(reached) / (permutations + 1)
}

// correlated is Spearman's rank correlation, and how often permuting the published numbers gives as much.
func correlated(list []pair) (rho, p float64) {
	if len(list) < 3 {
		return math.NaN(), math.NaN()
	}
	var published, ours []float64
	for _, p := range list {
		published, ours = append(published, p.published), append(ours, p.ours)
	}
	published, ours = ranks(published), ranks(ours)
	drawn := make([]float64, len(list))
	of := func(places []int) float64 {
		for i, k := range places {
			drawn[i] = published[k]
		}
		return stat.Correlation(drawn, ours, nil)
	}
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	if rho = of(places); math.IsNaN(rho) {
		return rho, rho
	}
	return rho, permuted(len(list), of)
}

// nearShuffled is how many of our numbers are near published ones that are drawn without replacement from all, on
// average over all permutations, and how often as many are as are near their own.
func nearShuffled(list []pair) (expected, p float64) {
	if len(list) == 0 {
		return 0, math.NaN()
	}
	hits := make([][]float64, len(list)) // of ours with each published number
	for i := range list {
		hits[i] = make([]float64, len(list))
		for k := range list {
			if within(list[i].ours, list[k].published) {
				hits[i][k] = 1
				expected += 1 / float64(len(list))
			}
		}
	}
	return expected, permuted(len(list), func(places []int) float64 {
		sum := 0.0
		for i, k := range places {
			sum += hits[i][k]
		}
		return sum
	})
}
