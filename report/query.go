package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
)

// Query describes a figure of a result.
type Query struct {
	Value string // the statistic; "": the speedup if there is one, else cycles
	// the axis below, or MachineArea, UnitArea; "": the first with several values that is neither Colour nor Panel
	X      string
	Colour string            // the axis of the series; "": the variants
	Panel  string            // the axis of the panels; "": there is one
	Kind   Kind              // bars, lines or scatter; "": lines over numbers, else bars
	Where  map[string]string // points that are shown, by axis
	Mean   bool              // a column with the mean of each series' bars
	From   float64           // where the values begin; 0: at 0
	Title  string            // "": generated
	Labels map[string]string // labels of keys, values, variants and statistics
}

// mostPanels is the largest number of panels side by side.
const mostPanels = 24

// VariantAxis is the axis of the compared variants, in queries.
const VariantAxis = "variant"

// Query returns the figures of a query, one per panel.
func (r *Result) Query(q Query) ([]*Figure, error) {
	if err := r.resolve(&q); err != nil {
		return nil, err
	}
	points := slices.DeleteFunc(slices.Clone(r.Points), func(p *Point) bool {
		for k, v := range q.Where {
			if at, ok := r.at(p, k); ok && at != v {
				return true
			}
		}
		_, ok := p.value(q.Value)
		return !ok
	})
	if len(points) == 0 {
		return nil, fmt.Errorf("no point with a result has %s and is where --where says", q.Value)
	}
	names := r.valuesOf(q.Panel, points)
	if len(names) > mostPanels {
		return nil, fmt.Errorf("%d panels, one for each value of %s: expected %d at most: show fewer points with "+
			"--where", len(names), q.Panel, mostPanels)
	}
	var panels []*Figure
	for _, name := range names {
		in := slices.DeleteFunc(slices.Clone(points), func(p *Point) bool {
			at, ok := r.at(p, q.Panel)
			return q.Panel != "" && ok && at != name
		})
		f, err := r.panelOf(&q, in)
		if err != nil {
			return nil, err
		}
		f.Choice = q.label(name)
		if q.Panel == "" {
			f.Choice = ""
		}
		panels = append(panels, f)
	}
	return panels, q.begins(panels)
}

// panelOf is one panel.
func (r *Result) panelOf(q *Query, points []*Point) (*Figure, error) {
	if IsArea(q.X) {
		return r.overArea(q, points)
	}
	f, over := r.queried(q, points)
	return f, q.overDesigns(f, over)
}

// overDesigns refuses a geometric mean over points that differ in a design: it is the speed of none of them.
func (q *Query) overDesigns(f *Figure, over []string) error {
	if metricOf(q.Value).Mean {
		return nil
	}
	for _, key := range over {
		if !experiment.OverInputs([]string{key}) {
			return fmt.Errorf("%s would be a mean over %s, which is no input: choose points by --where %s=VALUE, or "+
				"show them by --x, --colour or --panel %s", q.Value, key, key, key)
		}
	}
	if q.Mean && f.Kind == Bars && len(f.Columns) > 1 && !experiment.OverInputs([]string{q.X}) {
		return fmt.Errorf("--mean: would be over %s, which is no input: expected --x of an input, as graph.file", q.X)
	}
	return nil
}

// begins refuses a start of the values' axis that would cut off a value or its interval.
func (q *Query) begins(panels []*Figure) error {
	least := math.Inf(1)
	for _, f := range panels {
		for i := range f.Series {
			s := &f.Series[i]
			for at, half := range s.Errors {
				v := s.at(at)
				if !v.ok() {
					continue
				}
				if half.ok() {
					v -= half
				}
				least = min(least, float64(v))
			}
		}
	}
	if q.From != 0 && !(q.From > math.Inf(-1) && q.From <= least) {
		return fmt.Errorf("--from %v: expected a number of at most %v, the least value shown", q.From, least)
	}
	return nil
}

// at is a point's value of an axis; false: it lacks the axis.
func (r *Result) at(p *Point, key string) (string, bool) {
	switch key {
	case "":
		return "", true
	case VariantAxis:
		return r.Variants[p.Variant], true
	}
	v, ok := p.Axes[key]
	return v, ok
}

// valuesOf are the values of an axis, in the order in which they come; one without a name if there is no axis.
func (r *Result) valuesOf(key string, points []*Point) (out []string) {
	for _, p := range points {
		if v, ok := r.at(p, key); ok && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// resolve finds the axes that are meant, and chooses those that are not given.
func (r *Result) resolve(q *Query) error {
	where := map[string]string{}
	for k, v := range q.Where {
		key, err := r.axis(k)
		if err != nil {
			return err
		}
		if !slices.Contains(r.valuesOf(key, r.Points), v) {
			return fmt.Errorf("%s=%s: no point has it: expected one of %s", k, v,
				strings.Join(r.valuesOf(key, r.Points), ", "))
		}
		where[key] = v
	}
	q.Where = where
	labels := maps.Clone(r.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, q.Labels)
	q.Labels = labels
	for _, key := range []*string{&q.X, &q.Colour, &q.Panel} {
		if key == &q.X && IsArea(q.X) {
			continue
		}
		found, err := r.axis(*key)
		if err != nil {
			return err
		}
		*key = found
	}
	if q.Value == "" {
		q.Value = "cycles"
		if slices.ContainsFunc(r.Points, func(p *Point) bool { return p.Speedup != nil }) {
			q.Value = "speedup"
		}
	}
	if q.Kind != "" && q.Kind != Bars && q.Kind != Lines && q.Kind != Scatter {
		return fmt.Errorf("kind %s: expected bars, lines or scatter", q.Kind)
	}
	r.choose(q)
	return nil
}

// choose fills in the axes that a query leaves open. A design that has no place yet makes panels, rather than a mean.
func (r *Result) choose(q *Query) {
	if q.Colour == "" && len(r.Variants) > 1 && q.X != VariantAxis && q.Panel != VariantAxis {
		q.Colour = VariantAxis
	}
	open := func(key string) bool {
		_, fixed := q.Where[key]
		return !fixed && key != q.Colour && key != q.Panel && key != q.X && len(r.valuesOf(key, r.Points)) > 1
	}
	if at := slices.IndexFunc(r.Sweep, func(a Axis) bool { return open(a.Key) }); q.X == "" && at >= 0 {
		q.X = r.Sweep[at].Key
	} else if q.X == "" {
		if q.Colour == VariantAxis {
			q.Colour = ""
		}
		q.X = VariantAxis
	}
	for _, a := range r.Sweep {
		if !IsArea(q.X) && q.Panel == "" && open(a.Key) && !experiment.OverInputs([]string{a.Key}) &&
			len(a.Values) <= mostPanels {
			q.Panel = a.Key
		}
	}
}

// axis finds the axis that a name means: all of its key, or the last parts of it.
func (r *Result) axis(name string) (string, error) {
	all := append([]string{VariantAxis}, slices.Concat(r.Compare, r.sweepKeys())...)
	if name == "" || slices.Contains(all, name) {
		return name, nil
	}
	var found []string
	for _, k := range all {
		if strings.HasSuffix(k, "."+name) {
			found = append(found, k)
		}
	}
	if key := config.KeyOf(name); len(found) == 0 && slices.Contains(all, key) {
		return key, nil
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return "", fmt.Errorf("%s: no axis of %s, or several: expected one of %s", name, r.Name, strings.Join(all, ", "))
}

// label names a value: its own label, or a file without its directory.
func (q *Query) label(name string) string {
	return cmp.Or(q.Labels[name], name[strings.LastIndexByte(name, '/')+1:])
}

// keyLabel names an axis or a statistic.
func (q *Query) keyLabel(key string) string {
	return cmp.Or(q.Labels[key], q.Labels[experiment.Short(key)], metricOf(key).Title, readable(key))
}

// metricOf is a statistic as points are compared by it.
func metricOf(name string) metric {
	if i := slices.IndexFunc(metrics, func(m metric) bool { return m.Name == name }); i >= 0 {
		return metrics[i]
	}
	return metric{Name: name}
}

// queried is a panel over an axis.
func (r *Result) queried(q *Query, points []*Point) (f *Figure, over []string) {
	m := metricOf(q.Value)
	f = &Figure{ID: slug(q.Value + "-by-" + q.X), Kind: q.Kind,
		Y: Scale{Name: q.keyLabel(q.Value), Percent: m.Percent, From: q.From}}
	f.Title = cmp.Or(q.Title, capital(q.keyLabel(q.Value))+" by "+q.keyLabel(q.X))
	columns := r.valuesOf(q.X, points)
	xs := newAxis(q.X, points).Numbers
	if xs == nil || f.Kind == Bars || len(columns) < 2 {
		f.Kind = cmp.Or(f.Kind, Bars)
		if f.Kind != Bars { // names have no place on an axis of numbers but their order
			xs = nil
			for i := range columns {
				xs = append(xs, float64(i))
			}
		}
	}
	f.Kind = cmp.Or(f.Kind, Lines)
	if q.X != VariantAxis {
		f.X.Name = q.keyLabel(q.X)
	}
	if q.Colour != "" && newAxis(q.Colour, points).Numbers != nil {
		f.Legend = q.keyLabel(q.Colour)
	}
	if q.Value == "speedup" {
		f.Line = 1
	}
	var without []string
	shared := r.axesBeside(q.X, points)
	for _, name := range r.valuesOf(q.Colour, points) {
		s, of := r.seriesOf(q, m, name, points, columns)
		if s.Level && slices.ContainsFunc(of, func(k string) bool { return !slices.Contains(shared, k) }) {
			without = append(without, q.label(name)) // no horizontal line: it has axes of its own
			continue
		}
		over = union(over, of)
		if q.Value == "speedup" && q.Colour == VariantAxis && name == r.Variants[0] && s.flat(1) {
			f.Skip = 1
			continue // 1 everywhere, where the figure has a line
		}
		f.Series = append(f.Series, s)
	}
	for _, c := range columns {
		f.Columns = append(f.Columns, q.label(c))
	}
	f.Note = r.noteOf(q, m, over, without)
	if f.Kind == Bars {
		if q.Mean && len(columns) > 1 {
			f.addMean(m)
		}
		return f, over
	}
	f.onNumbers(q, columns, xs)
	return f, over
}

// noteOf describes the keys over which a panel's values are means, and the series it lacks.
func (r *Result) noteOf(q *Query, m metric, over, without []string) (note string) {
	if len(over) > 0 {
		note = m.meanName() + " over " + r.namesOf(over) + ". "
	}
	if len(without) > 0 {
		note += fmt.Sprintf("Without %s, whose points have other axes. ", strings.Join(without, ", "))
	}
	if q.Value == "speedup" {
		note += "Speedup over " + q.label(r.Variants[0]) + ". "
	}
	if r.Seeds > 1 && len(over) == 0 {
		note += fmt.Sprintf("Means over %d seeds, and 95 %% confidence intervals. ", r.Seeds)
	}
	return note
}

// axesBeside are the axes of the points that have one.
func (r *Result) axesBeside(key string, points []*Point) []string {
	return axesOf(slices.DeleteFunc(slices.Clone(points), func(p *Point) bool { _, ok := r.at(p, key); return !ok }))
}

// seriesOf are a series' values by column, of points that may lack the axis of the columns: then it is level.
func (r *Result) seriesOf(q *Query, m metric, name string, points []*Point, columns []string) (s Series,
	over []string) {
	pools := make([]pool, len(columns))
	s = Series{Name: cmp.Or(q.label(name), q.keyLabel(q.Value)), Level: len(columns) > 1}
	for _, p := range points {
		if at, ok := r.at(p, q.Colour); !ok || at != name {
			continue
		}
		v, _ := p.value(q.Value)
		at, has := r.at(p, q.X)
		s.Level = s.Level && !has
		for c, column := range columns {
			if !has || at == column {
				pools[c].add(p, v)
			}
		}
	}
	for c := range pools {
		mean, half, of := m.combined(&pools[c])
		if l := pools[c].points; len(l) == 1 {
			half = Number(l[0].half(m.Name))
		}
		s.Values, s.Errors = append(s.Values, mean), append(s.Errors, half)
		over = union(over, of)
	}
	return s, over
}

// at is a series' value at a column or point.
func (s *Series) at(i int) Number {
	if len(s.Points) > 0 {
		return s.Points[i][1]
	}
	return s.Values[i]
}

// flat reports whether a series has one value everywhere.
func (s *Series) flat(v Number) bool {
	return !slices.ContainsFunc(s.Values, func(x Number) bool { return x.ok() && x != v })
}

// addMean adds a column with the mean of each series: the geometric mean, or the arithmetic mean of shares.
func (f *Figure) addMean(m metric) {
	name := "geomean"
	if m.Mean {
		name = "mean"
	}
	f.Columns = append(f.Columns, name)
	for i := range f.Series {
		s := &f.Series[i]
		var values []float64
		for _, v := range s.Values {
			if v.ok() {
				values = append(values, float64(v))
			}
		}
		mean := missing
		if len(values) > 0 {
			mean = m.over(values)
		}
		s.Values, s.Errors = append(s.Values, mean), append(s.Errors, missing)
	}
}

// onNumbers makes points of the values by column.
func (f *Figure) onNumbers(q *Query, columns []string, xs []float64) {
	f.X = Scale{Name: q.keyLabel(q.X), Ticks: slices.Sorted(slices.Values(xs))}
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(xs[a], xs[b]) })
	for _, i := range order {
		f.X.Names = append(f.X.Names, f.Columns[i])
	}
	low, high := f.X.Ticks[0], f.X.Ticks[len(xs)-1]
	f.X.Log = low > 0 && high >= 8*low
	for i := range f.Series {
		s := &f.Series[i]
		values, errors := s.Values, s.Errors
		s.Values, s.Errors = nil, nil
		for _, c := range order {
			s.Points = append(s.Points, [2]Number{Number(xs[c]), values[c]})
			s.Errors = append(s.Errors, errors[c])
		}
	}
	f.Columns = nil
}
