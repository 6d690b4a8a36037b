// Package reproduce checks published statements against results: it computes the numbers that a pack requires from the
// points of its experiments, and determines which statements hold.
//
// Statements are data (configs.Check); nothing here knows a paper, a schedule or a statistic.
package reproduce

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle/configs/schema"
	"heddle/experiment"
	"heddle/experiment/config"
	"heddle/kernels/workload"
	"heddle/report"
)

// Point is a simulated point of one of a pack's experiments.
type Point struct {
	Reading    string // of the paper
	Same       bool   // it simulates the same as the point as described
	Experiment string
	Axes       map[string]string
	Together   [][]string        // keys of axes that go together: compare's first
	Config     map[string]string // the resolved configuration's leaves
	Label      string
	Counts     bool   // verified, or of a part
	Part       string // of a run that was asked for, by stop.max_edges or a region; such a result is not verified
	Failure    string
	Cycles     uint64
	Seconds    float64
	Stats      map[string]float64
	Sampled    bool               // cycles and statistics are estimates
	Halves     map[string]float64 // half the widths of their intervals, where they have any

	cost cost
}

// NewPoints makes points of an experiment's under a reading. Without outcomes they have no results, but can be chosen
// from.
func NewPoints(reading string, e *config.Experiment, points []experiment.Point, outcomes []experiment.Outcome) []Point {
	together := [][]string{e.Compare.Keys()}
	if e.Compare.Named() {
		together[0] = append(together[0], schema.VariantKey)
	}
	together = append(together, groupsOf(e.Sweep)...)
	for _, v := range e.Compare {
		together = append(together, groupsOf(v.Sweep)...)
	}
	var list []Point
	for i := range points {
		p := Point{
			Reading: reading, Experiment: e.Name, Axes: map[string]string{}, Together: together,
			Config: report.Flatten(points[i].YAML()), Label: experiment.Label(points[i].Axes),
		}
		for _, a := range points[i].Axes {
			p.Axes[a.Key] = a.Value
		}
		if outcomes != nil {
			p.add(&outcomes[i])
			p.cost = cost{&points[i].Config.Machine, outcomes[i].Stats.Tree()}
		}
		list = append(list, p)
	}
	return list
}

// groupsOf are the keys of axes, those that go together in one.
func groupsOf(axes schema.Axes) (groups [][]string) {
	for _, a := range axes {
		if !a.With {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, a.Key)
	}
	return groups
}

func (p *Point) add(o *experiment.Outcome) {
	p.Counts, p.Cycles, p.Seconds = o.Counts(), o.Cycles, o.Seconds
	if !o.Verified {
		p.Part = o.Partial
	}
	if o.Err != nil {
		p.Failure = experiment.Class(o.Err) + ": " + o.Err.Error()
	}
	p.Stats, p.Halves, p.Sampled = map[string]float64{}, map[string]float64{"cycles": o.Half}, o.Half > 0
	for _, s := range o.Stats.Tree() {
		p.Stats[s.Name], p.Halves[s.Name] = s.Float(), s.Half
	}
}

// value returns a key's value; "" if the point has none.
func (p *Point) value(key string) string {
	if key == config.ExperimentKey {
		return p.Experiment
	}
	if v, ok := p.Axes[key]; ok {
		return v
	}
	return p.Config[key]
}

func (p *Point) meets(conditions []config.Condition) bool {
	for _, c := range conditions {
		if !slices.Contains(c.Values, p.value(c.Key)) {
			return false
		}
	}
	return true
}

// place names where a point is, but for some keys.
func (p *Point) place(without map[string]bool) string {
	var parts []string
	if !without[config.ExperimentKey] {
		parts = append(parts, p.Experiment)
	}
	for _, key := range slices.Sorted(maps.Keys(p.Axes)) {
		if !without[key] {
			parts = append(parts, key+"="+p.Axes[key])
		}
	}
	return strings.Join(parts, "\x00")
}

// agrees reports whether points have the same values except for some keys: within one experiment, or on the axes that
// both have.
func (p *Point) agrees(other *Point, without map[string]bool) bool {
	if p.Experiment != other.Experiment {
		return without[config.ExperimentKey] && p.place(without) == other.place(without)
	}
	for key, v := range p.Axes {
		if w, both := other.Axes[key]; both && v != w && !without[key] {
			return false
		}
	}
	return true
}

// metric is a point's statistic, or a sum of several; false if it lacks one.
func (p *Point) metric(names string) (sum estimate, ok bool) {
	for _, name := range strings.Split(names, "+") {
		name = strings.TrimSpace(name)
		v, ok := p.statistic(name)
		if !ok {
			return estimate{}, false
		}
		sum = sum.plus(estimate{v, p.Halves[name]})
	}
	return sum, true
}

func (p *Point) statistic(name string) (float64, bool) {
	if name == "cycles" {
		return float64(p.Cycles), p.Cycles > 0
	}
	if v, err := strconv.ParseFloat(name, 64); err == nil {
		return v, true
	}
	v, ok := p.Stats[name]
	return v, ok
}

// sample is the value of a quantity at one point.
type sample struct {
	point, partner *Point
	estimate
	same bool // it is made of points alone that a reading leaves as described
}

// selection is a quantity's conditions, read.
type selection struct {
	q        *config.Quantity
	of, over []config.Condition
	without  map[string]bool // keys in which partners may differ
}

func selects(q *config.Quantity, p *Point) (s selection) {
	s = selection{q: q}
	var err1, err2 error
	s.of, err1 = config.ParseConditions(q.Of)
	s.over, err2 = config.ParseConditions(q.Over)
	if err := cmp.Or(err1, err2); err != nil {
		panic(fmt.Sprintf("BUG: reproduce: conditions that were checked: %v", err))
	}
	keys := config.Keys(s.over)
	for _, c := range s.of {
		if len(p.Together) > 0 && slices.Contains(p.Together[0], c.Key) {
			keys = append(keys, c.Key)
		}
	}
	s.without = p.with(keys)
	return s
}

// with adds to keys those that go together with them.
func (p *Point) with(keys []string) map[string]bool {
	all := map[string]bool{}
	for _, key := range keys {
		all[key] = true
		for _, group := range p.Together {
			if !slices.Contains(group, key) {
				continue
			}
			for _, k := range group {
				all[k] = true
			}
		}
	}
	return all
}

// pairs returns the points of a quantity with their partners, which are nil with measure value. The error names the
// point that has none, or several.
func pairs(q *config.Quantity, points []Point) (out []sample, err error) {
	for i := range points {
		p := &points[i]
		s := selects(q, p)
		if !p.meets(s.of) {
			continue
		}
		if q.Measure == "value" {
			out = append(out, sample{point: p})
			continue
		}
		partner, err := s.partner(p, points)
		if err != nil {
			return nil, err
		}
		if partner != nil {
			out = append(out, sample{point: p, partner: partner})
		}
	}
	return out, nil
}

// partner returns the only point that meets over and agrees in all other keys; nil if there is none, for example
// because it was excluded. A baseline lacks the axes that belong to another variant, and is the partner at all of their
// values.
func (s *selection) partner(p *Point, points []Point) (found *Point, err error) {
	for i := range points {
		other := &points[i]
		if !other.meets(s.over) || !p.agrees(other, s.without) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("point %s %s has more than one partner that meets %v: name more keys in of and over",
				p.Experiment, p.Label, s.q.Over)
		}
		found = other
	}
	return found, nil
}

// samples are a quantity's values at verified points. Of points that are added up, the first stands for all.
func samples(q *config.Quantity, metric string, points []Point) (out []sample, err error) {
	all, err := pairs(q, points)
	if err != nil {
		return nil, err
	}
	for _, group := range groups(q, all) {
		if v, ok := added(q, metric, group); ok {
			s := group[0]
			s.estimate, s.same = v, unchanged(group)
			out = append(out, s)
		}
	}
	return out, nil
}

// groups puts together the points that are added up, in the order in which they come.
func groups(q *config.Quantity, all []sample) (out [][]sample) {
	at := map[string]int{}
	for k, s := range all {
		key := fmt.Sprint(k)
		if len(q.Sum) > 0 {
			key = s.point.place(s.point.with(q.Sum))
		}
		i, known := at[key]
		if !known {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// firsts returns the samples that stand for groups.
func firsts(groups [][]sample) (list []sample) {
	for _, g := range groups {
		list = append(list, g[0])
	}
	return list
}

// added compares the sum over a group of points with that over its partners; false if one of them has no value.
func added(q *config.Quantity, metric string, group []sample) (sum estimate, ok bool) {
	var partners estimate
	for _, s := range group {
		v, ok := one(q, metric, s.point)
		if !ok {
			return sum, false
		}
		sum = sum.plus(v)
		if s.partner == nil {
			continue
		}
		if v, ok = one(q, metric, s.partner); !ok || s.partner.Part != s.point.Part {
			return sum, false
		}
		partners = partners.plus(v)
	}
	if group[0].partner == nil {
		return sum, true
	}
	return measures[q.Measure](sum, partners)
}

// measures compare a point with its partner.
var measures = map[workload.Choice]func(v, with estimate) (estimate, bool){
	"ratio":      func(v, with estimate) (estimate, bool) { return v.over(with), with.value != 0 },
	"speedup":    func(v, with estimate) (estimate, bool) { return with.over(v), v.value != 0 },
	"difference": func(v, with estimate) (estimate, bool) { return v.plus(estimate{-with.value, with.half}), true },
}

// one returns the quantity of a single point.
func one(q *config.Quantity, metric string, p *Point) (estimate, bool) {
	v, ok := p.metric(metric)
	if q.Per != "" && ok {
		per, has := p.metric(q.Per)
		v, ok = v.over(per), has && per.value != 0
	}
	return v, ok && p.Counts
}
