package experiment

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"
)

// Geomean is the geometric mean of a variant's speedups over the points of the sweep.
type Geomean struct {
	Variant []Setting // settings of the variant of compare
	Speedup float64
	Least   float64 // of these speedups; 0 without any
	Most    float64
	Points  int      // number of points with a speedup
	Of      int      // number of points of the variant
	Over    []string // keys in which the points with a speedup differ
}

// Geomeans returns the mean for each variant of compare; none without a comparison, or if points differ in their seeds
// alone.
func Geomeans(points []Point, outcomes []Outcome) (means []Geomean) {
	if !compares(points) || !slices.ContainsFunc(points,
		func(p Point) bool { return !slices.Equal(p.swept(), points[0].swept()) }) {
		return nil
	}
	at, over, speedups := map[int]int{}, [][]map[string]string{}, [][]float64{}
	for i := range points {
		variant := points[i].Coordinates[0]
		if _, ok := at[variant]; !ok {
			at[variant] = len(means)
			means, over = append(means, Geomean{Variant: points[i].Variant}), append(over, nil)
			speedups = append(speedups, nil)
		}
		m := &means[at[variant]]
		m.Of++
		if s, ok := Speedup(points, outcomes, i); ok {
			m.Points++
			speedups[at[variant]] = append(speedups[at[variant]], s)
			over[at[variant]] = append(over[at[variant]], axesMap(&points[i], SeedKey))
		}
	}
	for i := range means {
		means[i].Speedup = 1
		if means[i].Points > 0 {
			means[i].Speedup = stat.GeometricMean(speedups[i], nil)
			means[i].Least, means[i].Most = slices.Min(speedups[i]), slices.Max(speedups[i])
		}
		means[i].Over = Differing(over[i])
	}
	return means
}

// swept returns the coordinates of a point in the axes of the sweep.
func (p *Point) swept() []int { return p.Coordinates[1 : len(p.Coordinates)-1] }

// geomeanRow returns the row of a variant's mean, below the rows of the points.
func geomeanRow(shown *axes, points []Point, m *Geomean) (r table.Row) {
	for i, value := range shown.row(m.Variant) {
		if _, ok := settingOf(m.Variant, shown.keys[i]); !ok {
			value = ""
		}
		r = append(r, value)
	}
	if seeded(points) {
		r = append(r, "")
	}
	over, speedup := fmt.Sprintf("%s of %d", m.kind(), m.Points), "–"
	if m.Points < m.Of {
		over += fmt.Sprintf(" of %d", m.Of)
	}
	switch {
	case m.Points == 0:
	case OverInputs(m.Over):
		speedup = speedupText(m.Speedup)
	default:
		if speedup = speedupText(m.Most); speedupText(m.Least) != speedup {
			speedup = fmt.Sprintf("%.2f–", m.Least) + speedup
		}
	}
	return append(r, over, speedup)
}

// kind names a row's summary of the speedups: their mean over inputs, else their range.
func (m *Geomean) kind() string {
	if OverInputs(m.Over) {
		return "geomean"
	}
	return "range"
}

// OverInputs reports whether points that differ in these keys differ in their inputs alone: graph, algorithm, source. A
// mean over inputs measures a design; a mean over designs measures none of them.
func OverInputs(keys []string) bool {
	for _, key := range keys {
		section, _, _ := strings.Cut(key, ".")
		if section != "graph" && key != "workload.algorithm" && key != "workload.algorithm.source" && key != SeedKey {
			return false
		}
	}
	return true
}
