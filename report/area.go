package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"heddle/configs"
	"heddle/experiment"
	"heddle/rtl/area"
)

// The axes of areas, which a point's machine implies.
const (
	MachineArea = "area"      // storage and graph units
	UnitArea    = "unit_area" // graph units alone
)

// IsArea reports whether an axis is one of areas.
func IsArea(key string) bool { return key == MachineArea || key == UnitArea }

// Areas estimates the areas of points' machines, each distinct machine once.
type Areas struct{ known map[string]area.Machine }

// Of returns the area that is meant by an axis, of the machine in a point's configuration.
func (a *Areas) Of(ctx context.Context, axis, config string) (area.MM2, error) {
	m, err := a.machine(ctx, config)
	return areaBy(axis, &m), err
}

func areaBy(axis string, m *area.Machine) area.MM2 {
	if axis == UnitArea {
		return m.Units
	}
	return m.Total()
}

func (a *Areas) machine(ctx context.Context, config string) (m area.Machine, err error) {
	var y struct {
		Machine yaml.Node `yaml:"machine"`
	}
	if err := yaml.Unmarshal([]byte(config), &y); err != nil || y.Machine.Kind != yaml.MappingNode {
		return m, errors.New("the result of a point lacks its machine: expected a file written by heddle run")
	}
	text, err := yaml.Marshal(&y.Machine)
	if err != nil {
		return m, err
	}
	m, ok := a.known[string(text)]
	if !ok {
		l, err := configs.ParseMachine("machine of a point", text, nil)
		if err != nil {
			return m, err
		}
		if m, err = area.Of(ctx, &l.Value); err != nil {
			return m, err
		}
		if a.known == nil {
			a.known = map[string]area.Machine{}
		}
		a.known[string(text)] = m
	}
	return m, nil
}

// placed is a point of a figure over areas.
type placed struct {
	series string
	name   string // its values of the axes that vary
	area   area.MM2
	units  string // parts of graph units that are counted
	pool   pool
	value  Number
}

// overArea is a panel over the areas of machines, a point for each design. Where more or less of the value is better,
// it has the Pareto front.
func (r *Result) overArea(q *Query, points []*Point) (*Figure, error) {
	if q.Kind == Bars {
		return nil, fmt.Errorf("--kind bars: over %s expected scatter or lines", q.X)
	}
	designs, err := r.placedBy(q, points)
	if err != nil {
		return nil, err
	}
	m := metricOf(q.Value)
	f := &Figure{
		ID: slug(q.Value + "-by-" + q.X), Kind: cmp.Or(q.Kind, Scatter), X: Scale{Name: areaLabel(q, designs)},
		Y: Scale{Name: q.keyLabel(q.Value), Percent: m.Percent, From: q.From},
	}
	f.Title = cmp.Or(q.Title, capital(q.keyLabel(q.Value))+" by "+q.keyLabel(q.X))
	var over []string
	for _, name := range r.valuesOf(q.Colour, points) {
		s := Series{Name: cmp.Or(q.label(name), q.keyLabel(q.Value))}
		for _, d := range designs {
			if d.series != name {
				continue
			}
			mean, half, of := m.combined(&d.pool)
			if l := d.pool.points; len(l) == 1 {
				half = Number(l[0].half(m.Name))
			}
			d.value, over = mean, union(over, of)
			s.addTagged([2]Number{Number(d.area.Middle()), mean}, half, d.name)
		}
		f.Series = append(f.Series, s)
	}
	f.Note = r.noteOf(q, m, over, nil) + "Areas are the middles of estimates" + spread(designs) + ". "
	f.addFront(q.Value, designs)
	return f, nil
}

// addTagged adds a point; of points in the same place the first has all tags.
func (s *Series) addTagged(at [2]Number, half Number, tag string) {
	if i := slices.Index(s.Points, at); i >= 0 && tag != "" {
		s.Tags[i], tag = s.Tags[i]+", "+tag, ""
	}
	s.Points, s.Errors, s.Tags = append(s.Points, at), append(s.Errors, half), append(s.Tags, tag)
}

// placedBy returns the points with their areas, by area; those that differ in inputs or seeds alone are one.
func (r *Result) placedBy(q *Query, points []*Point) (list []*placed, err error) {
	var keys, shown []string
	for _, k := range axesOf(points) {
		if !experiment.OverInputs([]string{k}) {
			keys = append(keys, k)
		}
	}
	for _, k := range r.sweepKeys() {
		if slices.Contains(keys, k) && k != q.Colour && k != q.Panel && len(values(k, points)) > 1 {
			shown = append(shown, k)
		}
	}
	of := map[string]*placed{}
	for _, p := range points {
		at := tuple(p, keys)
		if of[at] == nil {
			d := &placed{}
			d.series, _ = r.at(p, q.Colour)
			m, err := r.areas.machine(context.Background(), p.Config)
			if err != nil {
				return nil, fmt.Errorf("--x %s: %w", q.X, err)
			}
			d.area, d.units = areaBy(q.X, &m), m.Counted
			var names []string
			for _, k := range shown {
				if p.has(k) {
					names = append(names, q.label(p.Axes[k]))
				}
			}
			d.name = strings.Join(names, ", ")
			of[at], list = d, append(list, d)
		}
		v, _ := p.value(q.Value)
		of[at].pool.add(p, v)
	}
	slices.SortStableFunc(list, func(a, b *placed) int { return cmp.Compare(a.area.Middle(), b.area.Middle()) })
	return list, nil
}

// counted lists the parts of graph units that are counted.
func counted(designs []*placed) (list []string) {
	for _, d := range designs {
		if d.units != "" && !slices.Contains(list, d.units) {
			list = append(list, d.units)
		}
	}
	slices.Sort(list)
	return list
}

// areaLabel names the parts whose areas are shown.
func areaLabel(q *Query, designs []*placed) string {
	if l := q.Labels[q.X]; l != "" {
		return l
	}
	parts := counted(designs)
	if q.X == MachineArea {
		parts = append([]string{"storage"}, parts...)
	}
	return "mm² at 28 nm: " + cmp.Or(strings.Join(parts, ", "), "no graph unit")
}

// spread describes the range of the estimates.
func spread(designs []*placed) string {
	var least, most float64 = 1, 1
	for _, d := range designs {
		if m := d.area.Middle(); m > 0 {
			least, most = min(least, d.area.Low/m), max(most, d.area.High/m)
		}
	}
	return fmt.Sprintf(", which reach from %.2f to %.2f times them", least, most)
}

// addFront adds the Pareto front: the designs than which none is as small and better, or smaller and as good. Of units
// that are not counted alike, one whole and of another a table, there is none.
func (f *Figure) addFront(value string, designs []*placed) {
	sign := 0.0
	switch value {
	case "speedup", edgesPerCycle, "ipc":
		sign = 1
	case "cycles":
		sign = -1
	default:
		return
	}
	if parts := counted(designs); len(parts) > 1 {
		f.Note += "No Pareto front: " + strings.Join(parts, " and ") + " are not alike. "
		return
	}
	front := frontOf(designs, sign, area.MM2.Middle)
	s := Series{Name: "Pareto front", Bound: true}
	for i, d := range front {
		if i > 0 { // a step
			s.Points = append(s.Points, [2]Number{Number(d.area.Middle()), front[i-1].value})
		}
		s.Points = append(s.Points, [2]Number{Number(d.area.Middle()), d.value})
	}
	f.Series = append(f.Series, s)
	low := frontOf(designs, sign, func(a area.MM2) float64 { return a.Low })
	high := frontOf(designs, sign, func(a area.MM2) float64 { return a.High })
	points := "other points"
	if slices.Equal(front, low) && slices.Equal(front, high) {
		points = "the same points"
	}
	f.Note += "With all areas at their low end, or all at their high end, the Pareto front has " + points + ". "
}

// frontOf returns the Pareto front from small to large.
func frontOf(designs []*placed, sign float64, of func(area.MM2) float64) (front []*placed) {
	sorted := slices.DeleteFunc(slices.Clone(designs), func(d *placed) bool { return !d.value.ok() })
	slices.SortStableFunc(sorted, func(a, b *placed) int {
		return cmp.Or(cmp.Compare(of(a.area), of(b.area)), -cmp.Compare(sign*float64(a.value), sign*float64(b.value)))
	})
	for _, d := range sorted {
		if n := len(front); n == 0 || sign*float64(d.value) > sign*float64(front[n-1].value) {
			front = append(front, d)
		}
	}
	return front
}
