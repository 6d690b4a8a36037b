package experiment

import (
	"fmt"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"gonum.org/v1/gonum/stat"
)

// Geomean is the geometric mean of a variant's speedups over the points of the sweep.
type Geomean struct {
	Variant []Setting // settings of the variant of compare
	Speedup float64
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
		}
		means[i].Over = Differing(over[i])
	}
	return means
}

// swept returns the coordinates of a point in the axes of the sweep.
func (p *Point) swept() []int { return p.Coordinates[1 : len(p.Coordinates)-1] }

// geomeanRow returns the row of a variant's mean, below the rows of the points.
func geomeanRow(keys []string, points []Point, m *Geomean) (r table.Row) {
	for _, key := range keys {
		value := ""
		for _, s := range m.Variant {
			if s.Key == key {
				value = s.Value
			}
		}
		r = append(r, value)
	}
	if seeded(points) {
		r = append(r, "")
	}
	over, speedup := fmt.Sprintf("geomean of %d", m.Points), "–"
	if m.Points < m.Of {
		over += fmt.Sprintf(" of %d", m.Of)
	}
	if m.Points > 0 {
		speedup = fmt.Sprintf("%.2f×", m.Speedup)
	}
	return append(r, over, speedup)
}
