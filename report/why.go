package report

import (
	"cmp"
	"math"
	"slices"

	"heddle/experiment"
	"heddle/experiment/explain"
)

// maxReasons bounds the steps of the waterfall; smaller ones are put together.
const maxReasons = 8

// why is a waterfall from the cycles of the baseline to those of the fastest point that is compared with it: each step
// is a reason of heddle explain. There is none without a comparison, or without the statistics that it takes.
func why(r *Result) []Figure {
	a, b := r.bestPair()
	if b == nil {
		return nil
	}
	e, err := explain.Explain(r.run(a), r.run(b))
	if err != nil || e.A.Cycles == e.B.Cycles {
		return nil
	}
	f := Figure{ID: "why", Group: "why", Choice: "cycles", Kind: Stack, X: Scale{Name: "cycles"},
		Title: "From " + r.name(r.Variants[a.Variant]) + " to " + r.name(r.Variants[b.Variant]) + ": where the cycles go",
		Note:  e.Sentence() + " " + e.Note()}
	if b.Cell != "" {
		f.Note = "Of " + b.Cell + ". " + f.Note
	}
	gap, whole := Series{Gap: true}, Series{Name: "all cycles"}
	fewer, more := Series{Name: "fewer"}, Series{Name: "more"}
	bar := func(name string, from, all, less, plus float64) {
		f.Columns = append(f.Columns, name)
		gap.Values, whole.Values = append(gap.Values, Number(from)), append(whole.Values, Number(all))
		fewer.Values, more.Values = append(fewer.Values, Number(less)), append(more.Values, Number(plus))
	}
	at := float64(a.Cycles)
	bar("A  "+r.name(r.Variants[a.Variant]), 0, at, 0, 0)
	for _, step := range reasons(e.Findings, float64(b.Cycles)-at, 0.005*max(at, float64(b.Cycles))) {
		bar(step.Name, math.Max(0, min(at, at+step.Cycles)), 0, max(0, -step.Cycles), max(0, step.Cycles))
		at += step.Cycles
	}
	bar("B  "+r.name(r.Variants[b.Variant]), 0, float64(b.Cycles), 0, 0)
	f.Series = []Series{gap, whole, fewer, more}
	return []Figure{f}
}

// reasons are the largest findings, of least cycles or more, and the rest as one; those that make B slower come first,
// so that no step goes below 0.
func reasons(findings []explain.Finding, difference, least float64) []explain.Finding {
	list := slices.Clone(findings)
	slices.SortStableFunc(list, func(a, b explain.Finding) int {
		return cmp.Compare(math.Abs(b.Cycles), math.Abs(a.Cycles))
	})
	list = list[:min(len(list), maxReasons)]
	list = slices.DeleteFunc(list, func(f explain.Finding) bool { return math.Abs(f.Cycles) < least })
	rest := difference
	for _, f := range list {
		rest -= f.Cycles
	}
	if math.Abs(rest) >= 0.5 {
		list = append(list, explain.Finding{Key: "others", Name: "others", Cycles: rest})
	}
	slices.SortStableFunc(list, func(a, b explain.Finding) int { return cmp.Compare(b.Cycles, a.Cycles) })
	return list
}

// bestPair returns the point with the highest speedup and the baseline's at its place; nil: there is none.
func (r *Result) bestPair() (a, b *Point) {
	for _, p := range r.Points {
		if x, ok := p.value("speedup"); ok && p.Variant != 0 && (b == nil || x > *b.Speedup) {
			base := slices.IndexFunc(r.Points, func(q *Point) bool {
				return q.Variant == 0 && q.place == p.place && q.counts() &&
					q.Axes[experiment.SeedKey] == p.Axes[experiment.SeedKey]
			})
			if base >= 0 {
				a, b = r.Points[base], p
			}
		}
	}
	return a, b
}

// run is a point as heddle explain takes it.
func (r *Result) run(p *Point) *explain.Run {
	x := &explain.Run{Name: p.Label, Point: slices.Index(r.Points, p) + 1, Cycles: p.Cycles, Half: p.CyclesCI95,
		Stats: map[string]float64{}}
	for name, v := range p.Stats {
		if value, err := v.Float64(); err == nil {
			x.Stats[name] = value
		}
	}
	for _, s := range p.SuperSteps {
		x.Steps = append(x.Steps, explain.Launch{Step: s.Step, Kernel: s.Kernel, Cycles: s.Cycles})
	}
	return x
}
