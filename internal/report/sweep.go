package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/experiment"
)

// maxBars bounds the columns of a figure; more cannot be told apart.
const maxBars = 120

// cells are the places of the sweep, in order.
func (r *Result) cells() (out []string) {
	seen := map[string]bool{}
	for _, p := range r.Points {
		if !seen[p.Cell] {
			seen[p.Cell] = true
			out = append(out, p.Cell)
		}
	}
	return out
}

// overview has bars for each point, a figure for each metric.
func overview(r *Result) (figures []Figure) {
	if len(r.Points) < 2 {
		return nil
	}
	for _, m := range r.plotted() {
		f := r.bars(m)
		f.ID, f.Group, f.Choice, f.Kind = "points-"+m.Name, "points", m.Title, Bars
		f.Title = capital(m.Title) + " of the points"
		f.Y = Scale{Name: m.Title, Percent: m.Percent}
		if m.Name == "speedup" {
			f.Title, f.Line = "Speedup over "+r.Variants[0], 1
		}
		figures = append(figures, f)
	}
	return figures
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r *Result) bars(m metric) Figure {
	cells := r.cells()
	grid, halves := r.grid(m, cells)
	if len(cells) == 1 {
		s := Series{Name: m.Title}
		for v := range r.Variants {
			s.Values = append(s.Values, grid[v][0])
			s.Errors = r.errors(s.Errors, halves[v][:1])
		}
		return Figure{Columns: r.Variants, Series: []Series{s}, Note: r.meansNote(m, nil, 0)}
	}
	f := Figure{Columns: cells[:min(len(cells), maxBars)], Note: r.meansNote(m, nil, 0)}
	if len(cells) > maxBars {
		f.Note += fmt.Sprintf("The first %d of %d places of the sweep. ", maxBars, len(cells))
	}
	for v, name := range r.Variants {
		f.Series = append(f.Series, Series{
			Name: cmp.Or(name, m.Title), Values: grid[v][:len(f.Columns):len(f.Columns)], Errors: r.errors(nil, halves[v][:len(f.Columns)]),
		})
	}
	if m.Name == "speedup" {
		f.addGeomean(grid)
	}
	return f
}

// errors appends half-widths, if there are seeds to have some from.
func (r *Result) errors(to, halves []Number) []Number {
	if r.Seeds < 2 {
		return nil
	}
	return append(to, halves...)
}

// grid is a metric by variant and cell, with the half-widths of the confidence intervals; of several seeds it
// is their mean.
func (r *Result) grid(m metric, cells []string) (grid, halves [][]Number) {
	at := map[string]int{}
	for i, c := range cells {
		at[c] = i
	}
	values := make([][][]float64, len(r.Variants))
	for v := range values {
		values[v] = make([][]float64, len(cells))
	}
	for _, p := range r.Points {
		if v, ok := p.value(m.Name); ok {
			of := &values[p.Variant][at[p.Cell]]
			*of = append(*of, v)
		}
	}
	grid, halves = make([][]Number, len(r.Variants)), make([][]Number, len(r.Variants))
	for v := range grid {
		for _, of := range values[v] {
			mean, half := m.overSeeds(of)
			grid[v], halves[v] = append(grid[v], mean), append(halves[v], half)
		}
	}
	return grid, halves
}

// addGeomean adds a column with each variant's geometric mean, over the cells that all variants have.
func (f *Figure) addGeomean(grid [][]Number) {
	of := make([][]float64, len(grid))
	for c := range grid[0] {
		if slices.ContainsFunc(grid, func(row []Number) bool { return !row[c].ok() }) {
			continue
		}
		for v := range grid {
			of[v] = append(of[v], float64(grid[v][c]))
		}
	}
	if len(of[0]) == 0 {
		return
	}
	f.Columns = append(slices.Clone(f.Columns), "geomean")
	for v := range f.Series {
		f.Series[v].Values = append(f.Series[v].Values, geomean(of[v]))
	}
	if n := len(grid[0]); len(of[0]) < n {
		f.Note += fmt.Sprintf("The geomean is over the %d of %d places where every variant has a verified result.", len(of[0]), n)
	}
}

// numeric are the axes that can be an axis of a plot.
func (r *Result) numeric() (out []Axis) {
	for _, a := range r.Sweep {
		if len(a.Numbers) > 1 {
			out = append(out, a)
		}
	}
	return out
}

// maxLines bounds the lines of a plot: there are not more colours.
const maxLines = 8

// sweepLines are plots over one axis.
func sweepLines(r *Result) (figures []Figure) {
	for _, a := range r.numeric() {
		for _, m := range r.plotted() {
			f := Figure{
				ID: "over-" + a.Key + "-" + m.Name, Group: "over-" + a.Key, Choice: m.Title, Kind: Lines,
				Title: capital(m.Title) + " over " + a.Key, X: a.scale(), Y: Scale{Name: m.Title, Percent: m.Percent},
			}
			if m.Name == "speedup" {
				f.Line = 1
			}
			f.Series, f.Note = r.lines(a, m)
			figures = append(figures, f)
		}
	}
	return figures
}

// scale has a mark at each value; it is logarithmic where values grow by factors.
func (a Axis) scale() Scale {
	ticks := slices.Sorted(slices.Values(a.Numbers))
	n := len(ticks)
	return Scale{Name: a.Key, Log: ticks[0] > 0 && ticks[n-1] >= 8*ticks[0], Ticks: ticks, Names: a.sorted()}
}

// lines are a line for each variant and each setting of the other axes; if that makes
// too many, one for each variant, with means over the others.
func (r *Result) lines(a Axis, m metric) ([]Series, string) {
	others := r.others(a, a)
	of := r.lineSeries(a, m, func(p *Point) string {
		return strings.TrimSpace(r.Variants[p.Variant] + "  " + settings(p, others))
	}, false)
	if len(of) <= maxLines {
		return of, r.meansNote(m, nil, 0)
	}
	of = r.lineSeries(a, m, func(p *Point) string { return r.Variants[p.Variant] }, true)
	return of[:min(len(of), maxLines)], r.meansNote(m, others, len(of))
}

// others are the keys of the sweep that vary, but for those of two groups of axes.
func (r *Result) others(a, b Axis) (keys []string) {
	for _, o := range r.Sweep {
		if o.Group != a.Group && o.Group != b.Group && len(o.Values) > 1 {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

func (r *Result) meansNote(m metric, others []string, variants int) (note string) {
	if r.Seeds > 1 && len(others) > 0 {
		others = append(slices.Clone(others), "seeds")
	}
	if r.Seeds > 1 && len(others) == 0 {
		note = fmt.Sprintf("Arithmetic means over %d seeds, and 95 %% confidence intervals. ", r.Seeds)
	}
	if len(others) > 0 {
		note = m.meanName() + " over " + strings.Join(shorts(others), ", ") + ". "
	}
	if variants > maxLines {
		note += fmt.Sprintf("The first %d of %d variants.", maxLines, variants)
	}
	return note
}

func (m metric) meanName() string {
	if m.Mean {
		return "Arithmetic means"
	}
	return "Geometric means"
}

func shorts(keys []string) (out []string) {
	for _, k := range keys {
		out = append(out, experiment.Short(k))
	}
	return out
}

// lineSeries are lines over an axis, each of the points of a name; means tells that those of a place differ in more than seeds.
func (r *Result) lineSeries(a Axis, m metric, name func(*Point) string, means bool) (out []Series) {
	index := map[string]int{}
	var sums []map[float64][]float64
	for _, p := range r.Points {
		if m.Name == "speedup" && p.Variant == 0 {
			continue // 1 everywhere
		}
		n := cmp.Or(name(p), m.Title)
		if _, ok := index[n]; !ok {
			index[n] = len(out)
			out = append(out, Series{Name: n})
			sums = append(sums, map[float64][]float64{})
		}
		x, _ := ParseNumber(p.Axes[a.Key])
		if v, ok := p.value(m.Name); ok {
			sums[index[n]][x] = append(sums[index[n]][x], v)
		}
	}
	for i := range out {
		for _, x := range slices.Sorted(slices.Values(a.Numbers)) {
			if means {
				out[i].Points = append(out[i].Points, [2]Number{Number(x), m.over(sums[i][x])})
				continue
			}
			mean, half := m.overSeeds(sums[i][x])
			out[i].Points = append(out[i].Points, [2]Number{Number(x), mean})
			out[i].Errors = r.errors(out[i].Errors, []Number{half})
		}
	}
	return slices.DeleteFunc(out, func(s Series) bool {
		return !slices.ContainsFunc(s.Points, func(p [2]Number) bool { return p[1].ok() })
	})
}

// maxMaps bounds the variants that get heat maps.
const maxMaps = 8

// sweepMaps are plots over two axes, one for each variant.
func sweepMaps(r *Result) (figures []Figure) {
	axes := r.numeric()
	for i := range axes {
		for j := i + 1; j < len(axes); j++ {
			if axes[i].Group == axes[j].Group {
				continue
			}
			for _, m := range r.plotted() {
				for v := range r.Variants[:min(len(r.Variants), maxMaps)] {
					if m.Name == "speedup" && v == 0 {
						continue // 1 everywhere
					}
					figures = append(figures, r.heatMap(axes[j], axes[i], m, v))
				}
			}
		}
	}
	return figures
}

func (r *Result) heatMap(x, y Axis, m metric, variant int) Figure {
	f := Figure{
		ID: "map-" + x.Key + "-" + y.Key + "-" + m.Name, Group: "map-" + x.Key + "-" + y.Key, Choice: m.Title, Kind: Heat,
		Title: capital(m.Title) + " over " + x.Key + " and " + y.Key, X: Scale{Name: x.Key}, Y: Scale{Name: y.Key, Percent: m.Percent},
		Columns: x.sorted(), Rows: y.sorted(),
	}
	if name := r.Variants[variant]; name != "" {
		f.ID, f.Choice, f.Title = f.ID+"-"+name, f.Choice+": "+name, f.Title+": "+name
	}
	others := r.others(x, y)
	f.Note = r.meansNote(m, others, 0)
	at := r.valuesAt(x.Key, y.Key, m, variant)
	for _, row := range f.Rows {
		cells := make([]Number, len(f.Columns))
		for c, column := range f.Columns {
			if of := at[[2]string{column, row}]; len(others) == 0 {
				cells[c], _ = m.overSeeds(of)
			} else {
				cells[c] = m.over(of)
			}
		}
		f.Cells = append(f.Cells, cells)
	}
	return f
}

// valuesAt are the values of a variant's points by their places on two axes.
func (r *Result) valuesAt(x, y string, m metric, variant int) map[[2]string][]float64 {
	at := map[[2]string][]float64{}
	for _, p := range r.Points {
		if v, ok := p.value(m.Name); ok && p.Variant == variant {
			place := [2]string{p.Axes[x], p.Axes[y]}
			at[place] = append(at[place], v)
		}
	}
	return at
}

// sorted are the values in the order of their numbers.
func (a Axis) sorted() []string {
	out := slices.Clone(a.Values)
	slices.SortStableFunc(out, func(s, t string) int {
		x, _ := ParseNumber(s)
		y, _ := ParseNumber(t)
		return cmp.Compare(x, y)
	})
	return out
}
