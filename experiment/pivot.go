package experiment

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"heddle/experiment/config"
)

// Pivot is a matrix of one value of the points: a row and a column for each combination of the values of some axes.
type Pivot struct {
	Value      string     // name of the value
	RowKeys    []string   // full keys of the axes in rows
	ColumnKeys []string   // and in columns
	Rows       [][]string // values of the axes by row, in the order of the experiment
	Columns    [][]string // and by column
	Cells      [][]Cell   // by row and column
	Mean       []Cell     // geometric means of the columns, where rows are inputs and values speedups; nil: none
	Paired     bool       // values are differences to those of the first column with the same seed
	settings   [][]Setting
}

// Cell is a value of a matrix: of one point, or the mean over seeds.
type Cell struct {
	Value float64 // NaN: no point has a result
	Half  float64 // half the 95 % confidence interval of a mean over seeds, or of an estimate; 0: none
	N     int     // number of points with a result
}

// Valued is a point with the value that a matrix shows; NaN: it has none.
type Valued struct {
	Axes  []Setting
	Value float64
	Half  float64
}

// NewPivot puts points into a matrix. Keys may be given by their last parts; none stand for the keys that vary: the
// first such axis in columns, the others in rows. Axes that follow from others need no place. It returns an error if
// points of one cell differ in anything but their seeds.
func NewPivot(points []Valued, value string, rows, columns []string) (*Pivot, error) {
	var axes [][]Setting
	for i := range points {
		axes = append(axes, points[i].Axes)
	}
	if len(axes) == 0 {
		return nil, fmt.Errorf("no point: there is nothing to put into a table")
	}
	varying := slices.DeleteFunc(varyingKeys(axes), func(key string) bool { return key == SeedKey })
	p := &Pivot{Value: value, settings: axes}
	for _, of := range []struct {
		flag string
		from []string
		to   *[]string
	}{{"rows", rows, &p.RowKeys}, {"columns", columns, &p.ColumnKeys}} {
		for _, name := range of.from {
			key, err := keyNamed(name, axes)
			if err != nil {
				return nil, fmt.Errorf("--%s %s: %w", of.flag, name, err)
			}
			if slices.Contains(p.RowKeys, key) || slices.Contains(p.ColumnKeys, key) {
				return nil, fmt.Errorf("--%s %s: %s has a place already", of.flag, name, key)
			}
			*of.to = append(*of.to, key)
		}
	}
	p.placeRest(varying, len(rows) == 0, len(columns) == 0)
	return p, p.fill(points)
}

// Pair makes the values of a matrix differences to the first column: each of two points with the same seed, so that
// the variation between seeds does not widen the intervals.
func (p *Pivot) Pair(points []Valued) error {
	if len(p.Columns) < 2 {
		return fmt.Errorf("paired differences: expected at least two columns")
	}
	at := func(keys []string, of []Setting) string {
		var values []string
		for _, key := range append(slices.Clone(keys), SeedKey) {
			v, _ := settingOf(of, key)
			values = append(values, v)
		}
		return fmt.Sprintf("%q", values)
	}
	base := map[string]float64{}
	for i := range points {
		if slices.EqualFunc(p.ColumnKeys, p.Columns[0], func(key, value string) bool {
			v, ok := settingOf(points[i].Axes, key)
			return v == value || !ok && value == missing
		}) {
			base[at(p.RowKeys, points[i].Axes)] = points[i].Value
		}
	}
	differences := slices.Clone(points)
	for i := range differences {
		first, ok := base[at(p.RowKeys, points[i].Axes)]
		if differences[i].Half = 0; !ok {
			first = math.NaN()
		}
		differences[i].Value -= first
	}
	p.Cells, p.Mean, p.Paired = nil, nil, true
	return p.fill(differences)
}

// placeRest gives places to axes that no flag names.
func (p *Pivot) placeRest(varying []string, rows, columns bool) {
	a := newAxes(varying, p.settings)
	var rest []string
	for k, key := range varying {
		if !slices.Contains(a.implied, k) && !slices.Contains(p.RowKeys, key) && !slices.Contains(p.ColumnKeys, key) {
			rest = append(rest, key)
		}
	}
	if columns && len(rest) > 0 {
		p.ColumnKeys, rest = rest[:1], rest[1:]
	}
	if rows {
		p.RowKeys = rest
	}
}

// keyNamed returns the key of an axis by its whole name or its last parts.
func keyNamed(name string, points [][]Setting) (string, error) {
	var keys, found []string
	for _, p := range points {
		for _, s := range p {
			if !slices.Contains(keys, s.Key) {
				keys = append(keys, s.Key)
			}
		}
	}
	for _, key := range keys {
		if key == name {
			return key, nil
		}
		if strings.HasSuffix(key, "."+name) || strings.HasPrefix(key, name+".") {
			found = append(found, key)
		}
	}
	if key := config.KeyOf(name); len(found) == 0 && slices.Contains(keys, key) {
		return key, nil
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", fmt.Errorf("is no axis: expected some of %s", strings.Join(ShortKeys(keys), ", "))
	}
	return "", fmt.Errorf("is the end of several axes: expected one of %s", strings.Join(found, ", "))
}

// fill puts the points' values into cells.
func (p *Pivot) fill(points []Valued) error {
	type place struct{ row, column int }
	indexOf := func(list *[][]string, keys []string, of []Setting) int {
		var values []string
		for _, key := range keys {
			v, ok := settingOf(of, key)
			if !ok {
				v = missing
			}
			values = append(values, v)
		}
		at := slices.IndexFunc(*list, func(x []string) bool { return slices.Equal(x, values) })
		if at < 0 {
			at = len(*list)
			*list = append(*list, values)
		}
		return at
	}
	in := map[place][]int{}
	for i := range points {
		at := place{indexOf(&p.Rows, p.RowKeys, points[i].Axes), indexOf(&p.Columns, p.ColumnKeys, points[i].Axes)}
		in[at] = append(in[at], i)
	}
	for r := range p.Rows {
		row := make([]Cell, len(p.Columns))
		for c := range p.Columns {
			of := in[place{r, c}]
			if err := p.alike(points, of); err != nil {
				return err
			}
			row[c] = cellOf(points, of)
		}
		p.Cells = append(p.Cells, row)
	}
	p.addMean()
	return nil
}

// alike returns an error if points of one cell differ in an axis.
func (p *Pivot) alike(points []Valued, of []int) error {
	var axes [][]Setting
	for _, i := range of {
		axes = append(axes, points[i].Axes)
	}
	if len(axes) < 2 {
		return nil
	}
	differ := slices.DeleteFunc(varyingKeys(axes), func(key string) bool { return key == SeedKey })
	if len(differ) == 0 {
		return nil
	}
	value, _ := settingOf(axes[0], differ[0])
	return fmt.Errorf("a cell would have %d points, which differ in %s: give it a place in --rows or --columns, or "+
		"choose points, as by --where %s=%s", len(of), strings.Join(differ, " and "), differ[0], value)
}

// cellOf returns the value of a cell: the mean over the points that have one.
func cellOf(points []Valued, of []int) Cell {
	var values []float64
	half := 0.0
	for _, i := range of {
		if v := points[i].Value; !math.IsNaN(v) {
			values, half = append(values, v), points[i].Half
		}
	}
	if len(values) == 0 {
		return Cell{Value: math.NaN()}
	}
	e := Estimated(values)
	if e.N > 1 {
		half = e.CI95
	}
	return Cell{e.Mean, half, e.N}
}

// addMean adds geometric means of speedups over rows of inputs that all have values.
func (p *Pivot) addMean() {
	if p.Paired || p.Value != "speedup" || len(p.Rows) < 2 || !OverInputs(p.RowKeys) {
		return
	}
	for c := range p.Columns {
		var of []float64
		for r := range p.Rows {
			if v := p.Cells[r][c].Value; v > 0 {
				of = append(of, v)
			}
		}
		mean := Cell{Value: math.NaN()}
		if len(of) == len(p.Rows) {
			mean = Cell{Value: stat.GeometricMean(of, nil), N: len(of)}
		}
		p.Mean = append(p.Mean, mean)
	}
}

// decimals returns the number of digits behind the point of all values, so that the smallest has three digits in all.
func (p *Pivot) decimals() int {
	if p.Value == "speedup" {
		return 2
	}
	least, whole := math.Inf(1), true
	for _, row := range p.Cells {
		for _, c := range row {
			if v := math.Abs(c.Value); v > 0 {
				least = min(least, v)
				whole = whole && v == math.Trunc(v)
			}
		}
	}
	switch {
	case whole || least >= 100 || math.IsInf(least, 1):
		return 0
	case least >= 10:
		return 1
	case least >= 1:
		return 2
	}
	return min(6, 3-int(math.Ceil(math.Log10(least))))
}
