package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
)

// mostAnswered bounds the variants that the first sentence names.
const mostAnswered = 4

// Answer is the first sentence of the page: how much faster the variants are than the baseline, or which point is the
// fastest.
func (r *Result) Answer() string {
	if s := r.faster(); s != "" {
		return s
	}
	var of []*Point
	for _, p := range r.Points {
		if _, ok := p.value("cycles"); ok {
			of = append(of, p)
		}
	}
	if len(of) == 0 {
		return "No point has a result."
	}
	slices.SortStableFunc(of, func(a, b *Point) int { return cmp.Compare(a.Cycles, b.Cycles) })
	least, most := of[0], of[len(of)-1]
	if len(of) == 1 {
		return fmt.Sprintf("%s takes %s%s cycles.", least.Label, experiment.Thousands(least.Cycles),
			experiment.Within(least.CyclesCI95, float64(least.Cycles)))
	}
	return fmt.Sprintf("Of %d points the fastest is %s with %s cycles; the slowest, %s, takes %.2f times as long.",
		len(of), least.Label, experiment.Thousands(least.Cycles), most.Label,
		float64(most.Cycles)/float64(least.Cycles))
}

// faster compares variants with the baseline; "": there is nothing to compare.
func (r *Result) faster() string {
	type answer struct {
		name        string
		mean        float64
		least, most *Point
		points      []*Point
	}
	var all []answer
	for v := 1; v < len(r.Variants); v++ {
		a := answer{name: r.name(r.Variants[v])}
		sum := 0.0
		for _, p := range r.Points {
			x, ok := p.value("speedup")
			if p.Variant != v || !ok || x <= 0 {
				continue
			}
			sum += math.Log(x)
			a.points = append(a.points, p)
			if a.least == nil || x < *a.least.Speedup {
				a.least = p
			}
			if a.most == nil || x > *a.most.Speedup {
				a.most = p
			}
		}
		if len(a.points) > 0 {
			a.mean = math.Exp(sum / float64(len(a.points)))
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b answer) int { return cmp.Compare(b.mean, a.mean) })
	var parts []string
	for _, a := range all[:min(len(all), mostAnswered)] {
		s := fmt.Sprintf("%s is %.2f times as fast", a.name, a.mean)
		if len(parts) > 0 {
			s = fmt.Sprintf("%s %.2f times", a.name, a.mean)
		} else {
			s += " as " + r.name(r.Variants[0])
		}
		switch n := len(a.points); {
		case n == 1:
			s += experiment.Within(a.points[0].SpeedupCI95, a.mean)
		case len(differing(a.points)) == 0:
			s += fmt.Sprintf(" (geometric mean of %d seeds)", n)
		default:
			s += fmt.Sprintf(" (geometric mean of %d points, from %.2f at %s to %.2f at %s)", n,
				*a.least.Speedup, r.where(a.least), *a.most.Speedup, r.where(a.most))
		}
		parts = append(parts, s)
	}
	text := strings.Join(parts, "; ")
	if more := len(all) - mostAnswered; more > 0 {
		text += fmt.Sprintf("; %d more variants are slower than these", more)
	}
	return text + "."
}

// where names a point by its axes but for the variant.
func (r *Result) where(p *Point) string {
	var parts []string
	for _, a := range r.Sweep {
		if len(a.Values) > 1 && p.has(a.Key) {
			parts = append(parts, r.name(a.Key)+" "+r.name(p.Axes[a.Key]))
		}
	}
	return cmp.Or(strings.Join(parts, ", "), p.Label)
}

// name returns the label of a key, value or variant; without one, it drops the directory of a file or the sections of a
// key.
func (r *Result) name(of string) string {
	if l, ok := r.Labels[of]; ok {
		return l
	}
	if r.isKey(of) {
		return cmp.Or(r.Labels[experiment.Short(of)], readable(of))
	}
	if strings.Contains(of, "=") {
		return of
	}
	return of[strings.LastIndexByte(of, '/')+1:]
}

// readable is a key without the sections that nearly all keys are in, and without dots: l1d bytes, weaver st entries.
func readable(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) > 1 && slices.Contains([]string{"machine", "workload", "graph"}, parts[0]) {
		parts = parts[1:]
		if len(parts) > 1 && parts[0] == "core" {
			parts = parts[1:]
		}
	}
	return strings.ReplaceAll(strings.Join(parts, " "), "_", " ")
}

// namesOf joins names of keys or variants.
func (r *Result) namesOf(list []string) string {
	var out []string
	for _, x := range list {
		out = append(out, r.name(x))
	}
	return strings.Join(out, ", ")
}

func (r *Result) isKey(name string) bool {
	return slices.Contains(r.Compare, name) || slices.Contains(r.sweepKeys(), name)
}

// quantity is the name of an axis with the unit of its key, as the axis of a figure has it.
func (r *Result) quantity(key string) string {
	if r.Labels[key] != "" || r.Labels[experiment.Short(key)] != "" {
		return r.name(key)
	}
	name := readable(key)
	f, ok := config.Schema.Lookup(key)
	if !ok || f.Unit == "" || strings.Contains(strings.ToLower(name), strings.ToLower(f.Unit)) {
		return name
	}
	return name + " (" + f.Unit + ")"
}
