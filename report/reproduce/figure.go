package reproduce

import (
	"math"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/report"
)

// grid collects values by column and series, in the order in which they come.
type grid struct {
	columns, series []string
	xs              []float64 // of columns, where they are numbers
	cells           map[[2]int][]sample
	over            []string // keys in which samples of a cell differ

	nameColumn, nameSeries func(*Point) string
}

func place(list *[]string, name string) int {
	i := slices.Index(*list, name)
	if i < 0 {
		i = len(*list)
		*list = append(*list, name)
	}
	return i
}

func newFigure(p *config.Pack, f *config.PackFigure, points []Point) (o FigureOutcome, err error) {
	g := grid{cells: map[[2]int][]sample{}}
	metrics := f.Metrics
	if len(metrics) == 0 {
		metrics = []string{f.Metric}
	}
	names := shortened(metrics)
	for k, m := range metrics {
		list, err := samples(&f.Quantity, m, points)
		if err == nil {
			err = together(figureNames(f), list)
		}
		if err != nil {
			return o, err
		}
		g.nameColumn, g.nameSeries = namer(f.Columns, list), namer(f.Series, list)
		for i := range list {
			g.add(f, names[k], len(metrics) > 1, &list[i])
		}
	}
	o = FigureOutcome{Name: f.Name, Title: f.Title, Metric: axisName(f), Columns: g.columns, Series: g.series}
	o.Values = g.values(f)
	if o.Over = g.over; o.Over != nil {
		o.Mean = string(f.Reduce)
	}
	if f.Geomean {
		o.addGeomean()
	}
	if f.Kind != "table" && len(g.columns) > 0 {
		o.figure = o.draw(p, f, g.xs)
	}
	return o, nil
}

func (g *grid) add(f *config.PackFigure, metric string, several bool, s *sample) {
	name := g.nameSeries(s.point)
	if several || name == "" {
		name = strings.TrimSpace(name + " " + metric)
	}
	columns := len(g.columns)
	at := [2]int{place(&g.columns, g.nameColumn(s.point)), place(&g.series, name)}
	if len(g.columns) > columns {
		x, ok := report.ParseNumber(s.point.value(f.Columns[0]))
		if !ok {
			x = math.NaN()
		}
		g.xs = append(g.xs, x)
	}
	g.cells[at] = append(g.cells[at], *s)
}

// namer names points by their values of keys: for all but the first, only those that distinguish points that the keys
// before do not.
func namer(keys []string, list []sample) func(*Point) string {
	values := map[string]map[string]bool{} // name so far and key → values
	for i := range list {
		walk(list[i].point, keys, func(before, key, value string) {
			at := before + "\x00" + key
			if values[at] == nil {
				values[at] = map[string]bool{}
			}
			values[at][value] = true
		})
	}
	return func(p *Point) string {
		var parts []string
		walk(p, keys, func(before, key, value string) {
			switch {
			case before == "" && value != "":
				parts = append(parts, value)
			case len(values[before+"\x00"+key]) > 1 && value != "":
				parts = append(parts, experiment.Short(key)+"="+value)
			}
		})
		return strings.Join(parts, " ")
	}
}

// walk visits a point's values of keys, with the name before each.
func walk(p *Point, keys []string, visit func(before, key, value string)) {
	before := ""
	for _, k := range keys {
		v := p.value(k)
		visit(before, k, v)
		before += k + "=" + v + "\x00"
	}
}

func (g *grid) values(f *config.PackFigure) [][]*float64 {
	rows := make([][]*float64, len(g.columns))
	for c := range rows {
		rows[c] = make([]*float64, len(g.series))
		for s := range g.series {
			if list := g.cells[[2]int{c, s}]; list != nil {
				g.note(list)
				rows[c][s] = finite(reduceAll[f.Reduce](values(list)))
			}
		}
	}
	return rows
}

// note adds the keys in which samples of one cell differ.
func (g *grid) note(list []sample) {
	keys := keysOf(list)
	var all []map[string]string
	for _, s := range list {
		all = append(all, s.point.all(keys))
	}
	for _, k := range experiment.Differing(all) {
		addOnce(&g.over, k)
	}
}

// finite is a value that JSON has.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// addGeomean adds a column over those in which a series has a value.
func (o *FigureOutcome) addGeomean() {
	row := make([]*float64, len(o.Series))
	for s := range o.Series {
		var list []float64
		for _, c := range o.Values {
			if c[s] != nil {
				list = append(list, *c[s])
			}
		}
		if list != nil {
			row[s] = finite(geomean(list))
		}
	}
	o.Columns, o.Values = append(o.Columns, "geomean"), append(o.Values, row)
}

// shortened drops the parts at the begin and the end of dotted names that all have.
func shortened(names []string) []string {
	parts := make([][]string, len(names))
	for i, n := range names {
		parts[i] = strings.Split(n, ".")
	}
	if len(names) < 2 {
		return names
	}
	same := func(part func(p []string) string) bool {
		return !slices.ContainsFunc(parts, func(p []string) bool { return len(p) < 2 || part(p) != part(parts[0]) })
	}
	for same(func(p []string) string { return p[0] }) {
		for i := range parts {
			parts[i] = parts[i][1:]
		}
	}
	for same(func(p []string) string { return p[len(p)-1] }) {
		for i := range parts {
			parts[i] = parts[i][:len(parts[i])-1]
		}
	}
	var out []string
	for _, p := range parts {
		out = append(out, strings.Join(p, "."))
	}
	return out
}

func axisName(f *config.PackFigure) string {
	name := f.Metric
	switch {
	case f.Axis != "":
		return f.Axis
	case len(f.Metrics) > 0:
		name = "several statistics"
	case f.Measure == "speedup" && name == "cycles":
		name = "speedup"
	case f.Measure != "value":
		name = string(f.Measure) + " of " + name
	}
	if f.Per != "" {
		name += " per " + f.Per
	}
	return name
}

// draw returns the figure of the table's contents.
func (o *FigureOutcome) draw(p *config.Pack, f *config.PackFigure, xs []float64) *report.Figure {
	d := &report.Figure{ID: f.Name, Title: p.Figure + ": " + f.Title, Kind: report.Kind(f.Kind),
		Y: report.Scale{Name: o.Metric}}
	if f.Measure != "value" {
		d.Line = 1
	}
	switch d.Kind {
	case report.Lines:
		d.X = report.Scale{Name: f.Columns[0], Log: f.Log}
		d.X.Ticks, d.X.Names = slices.Clone(xs), o.Columns
	case report.Stack:
		d.Columns, d.X, d.Y = o.Columns, d.Y, report.Scale{}
	default:
		d.Columns = o.Columns
	}
	for s, name := range o.Series {
		d.Series = append(d.Series, o.seriesOf(s, name, d.Kind, xs))
	}
	return d
}

func (o *FigureOutcome) seriesOf(s int, name string, kind report.Kind, xs []float64) report.Series {
	one := report.Series{Name: name}
	for c := range o.Columns {
		v := report.Number(math.NaN())
		if x := o.Values[c][s]; x != nil {
			v = report.Number(*x)
		}
		switch kind {
		case report.Lines:
			one.Points = append(one.Points, [2]report.Number{report.Number(xs[c]), v})
			one.Labels = append(one.Labels, o.Columns[c])
		case report.Stack:
			if o.Values[c][s] == nil {
				v = 0
			}
			fallthrough
		default:
			one.Values = append(one.Values, v)
		}
	}
	return one
}

// SVG draws the figure; nil if it is a table alone, or empty.
func (o *FigureOutcome) SVG() []byte {
	if o.figure == nil {
		return nil
	}
	return o.figure.SVG()
}
