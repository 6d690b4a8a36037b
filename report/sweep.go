package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/experiment"
)

// maxBars bounds the columns of a figure; more are indistinguishable.
const maxBars = 120

// overview has bars for each point, a figure for each metric.
func overview(r *Result) (figures []Figure) {
	if len(r.Points) < 2 || r.oneLine() {
		return nil
	}
	for _, m := range r.plotted() {
		f := r.bars(m)
		f.ID, f.Group, f.Choice, f.Kind = "points-"+m.Name, "points", m.Title, Bars
		f.Title = capital(m.Title) + " of the points"
		f.Y = Scale{Name: m.Title, Percent: m.Percent}
		if m.Name == "speedup" {
			f.Title, f.Line = "Speedup over "+r.name(r.Variants[0]), 1
		}
		figures = append(figures, f)
	}
	return figures
}

// oneLine reports whether the sweep has a single numeric axis: its lines show each point.
func (r *Result) oneLine() bool {
	var swept []Axis
	for _, a := range r.Sweep {
		if len(a.Values) > 1 {
			swept = append(swept, a)
		}
	}
	return len(swept) == 1 && len(swept[0].Numbers) > 1 && len(newPlaces(r).names) == len(swept[0].Values)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r *Result) bars(m metric) Figure {
	all := newPlaces(r)
	g := r.grid(m, all)
	f := Figure{Note: r.meansNote(m, g.over, 0)}
	if len(all.names) == 1 {
		s := Series{Name: m.Title}
		for v := range r.Variants {
			s.Values = append(s.Values, g.means[v][0])
			s.Errors = r.errors(s.Errors, g.halves[v][:1])
		}
		for _, v := range r.Variants {
			f.Columns = append(f.Columns, r.name(v))
		}
		f.Series = []Series{s}
		return f
	}
	n := min(len(all.names), maxBars)
	f.Columns = all.names[:n]
	if len(all.names) > maxBars {
		f.Note += fmt.Sprintf("The first %d of %d combinations of the sweep. ", maxBars, len(all.names))
	}
	for v, name := range r.Variants {
		f.Series = append(f.Series, Series{
			Name: cmp.Or(r.name(name), m.Title), Level: r.level(all, v), Values: g.means[v][:n:n],
			Errors: r.errors(nil, g.halves[v][:n]),
		})
	}
	if m.Name == "speedup" {
		r.addGeomean(&f, &g)
		if len(f.Series) > 1 && f.Series[0].flat(1) {
			f.Series, f.Skip = f.Series[1:], 1 // where the figure has a line
		}
	}
	return f
}

// sampled reports whether some point's cycles are estimates.
func (r *Result) sampled() bool {
	return slices.ContainsFunc(r.Points, func(p *Point) bool { return p.CyclesCI95 > 0 })
}

// errors appends half-widths, if there are seeds to have some from, or points are sampled.
func (r *Result) errors(to, halves []Number) []Number {
	if r.Seeds < 2 && !r.sampled() {
		return nil
	}
	return append(to, halves...)
}

// grid is a metric by variant and combination of the sweep's values.
type grid struct {
	pools         [][]pool
	means, halves [][]Number
	over          []string // keys in which the points of some place differ
}

func (r *Result) grid(m metric, all *places) (g grid) {
	for range r.Variants {
		g.pools = append(g.pools, make([]pool, len(all.names)))
	}
	for _, p := range r.Points {
		if v, ok := p.value(m.Name); ok {
			for _, c := range all.of[p.place] {
				g.pools[p.Variant][c].add(p, v)
			}
		}
	}
	g.means, g.halves = make([][]Number, len(r.Variants)), make([][]Number, len(r.Variants))
	for v := range g.pools {
		for c := range g.pools[v] {
			mean, half, over := m.combined(&g.pools[v][c])
			if of := g.pools[v][c].points; len(of) == 1 {
				half = Number(of[0].half(m.Name))
			}
			g.means[v], g.halves[v] = append(g.means[v], mean), append(g.halves[v], half)
			g.over = union(g.over, over)
		}
	}
	return g
}

// union adds to keys those that they lack.
func union(keys, more []string) []string {
	for _, k := range more {
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// addGeomean adds a column with each variant's geometric mean over inputs, of the places that all variants have, and
// notes the keys in which these differ.
func (r *Result) addGeomean(f *Figure, g *grid) {
	of := make([][]float64, len(g.means))
	var points []*Point
	for c := range g.means[0] {
		if slices.ContainsFunc(g.means, func(row []Number) bool { return !row[c].ok() }) {
			continue
		}
		points = append(points, g.pools[0][c].points...)
		for v := range g.means {
			of[v] = append(of[v], float64(g.means[v][c]))
		}
	}
	if len(of[0]) == 0 || !experiment.OverInputs(differing(points)) {
		return // a mean over designs is the speedup of none
	}
	f.Columns = append(slices.Clone(f.Columns), "geomean")
	for v := range f.Series {
		f.Series[v].Values = append(f.Series[v].Values, geomean(of[v]))
	}
	if over := differing(points); len(over) > 0 {
		f.Note += "The geomean is over " + r.namesOf(over) + ". "
	}
	if n := len(g.means[0]); len(of[0]) < n {
		f.Note += fmt.Sprintf("It has the %d of %d places where every variant has a verified result.", len(of[0]), n)
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
		if r.confounded(a) {
			continue
		}
		for _, m := range r.plotted() {
			f := Figure{
				ID: "over-" + a.Key + "-" + m.Name, Group: "over-" + a.Key, Choice: m.Title, Kind: Lines,
				Title: capital(m.Title) + " by " + r.name(a.Key), X: r.scale(a),
				Y: Scale{Name: m.Title, Percent: m.Percent},
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
func (r *Result) scale(a Axis) Scale {
	ticks := slices.Sorted(slices.Values(a.Numbers))
	n := len(ticks)
	return Scale{Name: r.quantity(a.Key), Log: ticks[0] > 0 && ticks[n-1] >= 8*ticks[0], Ticks: ticks,
		Names: r.tickNames(a)}
}

// lines are a line for each variant and each setting of the other axes; if that makes
// too many, one for each variant, with means over the others.
func (r *Result) lines(a Axis, m metric) ([]Series, string) {
	others := r.others(a)
	of, over, without := r.lineSeries(a, m, others)
	note := ""
	if len(without) > 0 {
		note = fmt.Sprintf(" Without %s, whose points have other axes.", r.namesOf(without))
	}
	if len(of) <= maxLines {
		return of, strings.TrimLeft(r.meansNote(m, over, 0)+note, " ")
	}
	of, over, _ = r.lineSeries(a, m, nil)
	return of[:min(len(of), maxLines)], strings.TrimLeft(r.meansNote(m, over, len(of))+note, " ")
}

// others are the keys of the sweep that vary, but for those that follow from the values of some axes.
func (r *Result) others(axes ...Axis) (keys []string) {
	var given []string
	for _, a := range axes {
		given = append(given, a.Key)
	}
	for _, o := range r.Sweep {
		if len(o.Values) > 1 && !r.follows(o.Key, given) {
			keys = append(keys, o.Key)
		}
	}
	return keys
}

// confounded reports whether another axis changes whenever an axis does, so that a line over it would show the effect
// of both. Numbers that go together as one axis of the experiment are not meant: they have a line over the first.
func (r *Result) confounded(a Axis) bool {
	first := true
	for _, o := range r.Sweep {
		if o.Key == a.Key {
			first = false
			continue
		}
		if len(o.Values) < 2 || !r.follows(o.Key, []string{a.Key}) {
			continue
		}
		if o.Group != a.Group || len(o.Numbers) == 0 || first {
			return true
		}
	}
	return false
}

// follows reports whether points that agree in given keys agree in key.
func (r *Result) follows(key string, given []string) bool {
	value := map[string]string{}
	for _, p := range r.Points {
		at := tuple(p, given)
		if v, ok := value[at]; ok && v != p.Axes[key] {
			return false
		}
		value[at] = p.Axes[key]
	}
	return true
}

func (r *Result) meansNote(m metric, others []string, variants int) (note string) {
	if r.Seeds > 1 && len(others) > 0 {
		others = append(slices.Clone(others), "seeds")
	}
	if r.Seeds > 1 && len(others) == 0 {
		note = fmt.Sprintf("Arithmetic means over %d seeds, and 95 %% confidence intervals. ", r.Seeds)
	}
	if len(others) > 0 {
		note = m.meanName() + " over " + r.namesOf(others) + ". "
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

// lineSeries are lines over an axis, one for each variant and setting of keys; over are the keys in which points
// differ that share a place on a line. A variant that lacks the axis is a line across, unless it has axes that others
// lack: without are the names of such variants.
func (r *Result) lineSeries(a Axis, m metric, keys []string) (out []Series, over, without []string) {
	index := map[string]int{}
	var pools []map[float64]*pool
	var names []string
	var levels []bool
	beside := r.beside(a.Key)
	for _, p := range r.Points {
		if m.Name == "speedup" && p.Variant == 0 {
			continue // 1 everywhere
		}
		if !p.has(a.Key) && !p.only(beside) {
			without = union(without, []string{r.Variants[p.Variant]})
			continue
		}
		line := fmt.Sprint(p.Variant, " ", p.has(a.Key), " ", tuple(p, keys))
		if _, ok := index[line]; !ok {
			index[line] = len(names)
			names = append(names, cmp.Or(strings.TrimSpace(r.name(r.Variants[p.Variant])+"  "+settings(p, keys)),
				m.Title))
			pools, levels = append(pools, map[float64]*pool{}), append(levels, !p.has(a.Key))
		}
		of := a.Numbers
		if p.has(a.Key) {
			x, _ := ParseNumber(p.Axes[a.Key])
			of = []float64{x}
		}
		at := pools[index[line]]
		for _, x := range of {
			if at[x] == nil {
				at[x] = &pool{}
			}
			if v, ok := p.value(m.Name); ok {
				at[x].add(p, v)
			}
		}
	}
	distinct(names)
	for i, name := range names {
		s := Series{Name: name, Level: levels[i]}
		for _, x := range slices.Sorted(maps.Keys(pools[i])) {
			mean, half, differ := m.combined(pools[i][x])
			s.Points = append(s.Points, [2]Number{Number(x), mean})
			s.Errors = r.errors(s.Errors, []Number{half})
			over = union(over, differ)
		}
		out = append(out, s)
	}
	out = slices.DeleteFunc(out, func(s Series) bool {
		return !slices.ContainsFunc(s.Points, func(p [2]Number) bool { return p[1].ok() })
	})
	return out, over, without
}

// beside are the keys of the axes that points with an axis have.
func (r *Result) beside(key string) map[string]bool {
	keys := map[string]bool{experiment.SeedKey: true}
	for _, k := range r.Compare {
		keys[k] = true
	}
	for _, p := range r.Points {
		if p.has(key) {
			for k := range p.Axes {
				keys[k] = true
			}
		}
	}
	return keys
}

// only reports whether a point has no axes other than keys.
func (p *Point) only(keys map[string]bool) bool {
	for k := range p.Axes {
		if !keys[k] {
			return false
		}
	}
	return true
}

// maxMaps bounds the variants that get heat maps.
const maxMaps = 8

// sweepMaps are plots over two axes, one for each variant.
func sweepMaps(r *Result) (figures []Figure) {
	axes := r.numeric()
	for i := range axes {
		for j := i + 1; j < len(axes); j++ {
			if axes[i].Group == axes[j].Group || r.confounded(axes[i]) || r.confounded(axes[j]) {
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
		ID: "map-" + x.Key + "-" + y.Key + "-" + m.Name, Group: "map-" + x.Key + "-" + y.Key, Choice: m.Title,
		Kind:  Heat,
		Title: capital(m.Title) + " by " + r.name(x.Key) + " and " + r.name(y.Key),
		X:     Scale{Name: r.quantity(x.Key)}, Y: Scale{Name: r.quantity(y.Key), Percent: m.Percent},
		Columns: r.tickNames(x), Rows: r.tickNames(y),
	}
	if name := r.Variants[variant]; name != "" {
		f.ID, f.Choice, f.Title = f.ID+"-"+name, f.Choice+": "+name, f.Title+": "+r.name(name)
	}
	at := r.poolsAt(x.Key, y.Key, m, variant)
	var over []string
	for _, row := range y.sorted() {
		cells := make([]Number, len(f.Columns))
		for c, column := range x.sorted() {
			cells[c] = missing
			if of := at[[2]string{column, row}]; of != nil {
				var differ []string
				cells[c], _, differ = m.combined(of)
				over = union(over, differ)
			}
		}
		f.Cells = append(f.Cells, cells)
	}
	f.Note = r.meansNote(m, over, 0)
	return f
}

// poolsAt are the values of a variant's points by their places on two axes.
func (r *Result) poolsAt(x, y string, m metric, variant int) map[[2]string]*pool {
	at := map[[2]string]*pool{}
	for _, p := range r.Points {
		if v, ok := p.value(m.Name); ok && p.Variant == variant {
			place := [2]string{p.Axes[x], p.Axes[y]}
			if at[place] == nil {
				at[place] = &pool{}
			}
			at[place].add(p, v)
		}
	}
	return at
}

// tickNames are the labels of an axis's values in the order of their numbers.
func (r *Result) tickNames(a Axis) (names []string) {
	for _, v := range a.sorted() {
		names = append(names, r.name(v))
	}
	return names
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
