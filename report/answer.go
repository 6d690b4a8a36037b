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

// Answer is the first sentence of the page, with one number: how much faster the best variant is than the baseline, or
// which point is the fastest.
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

// design is a variant at one place of the axes that are not inputs.
type design struct {
	variant int
	points  []*Point
	mean    float64 // geometric mean of the speedups, over inputs and seeds
}

// faster compares the best design with the baseline; "": there is nothing to compare. A mean is taken over inputs and
// seeds alone: over designs it would be the speed of none.
func (r *Result) faster() string {
	all := r.designs()
	if len(all) == 0 {
		return ""
	}
	best := slices.MaxFunc(all, func(a, b *design) int { return cmp.Compare(a.mean, b.mean) })
	name := r.name(r.Variants[best.variant])
	var others []*design
	for _, d := range all {
		if d.variant == best.variant {
			others = append(others, d)
		}
	}
	var axes []string
	if len(others) > 1 {
		axes = r.designKeys()
		name += " at " + r.where(best.points[0], axes)
	}
	text := fmt.Sprintf("%s is %.2f times as fast as %s", name, best.mean, r.name(r.Variants[0]))
	if best.mean < 1 {
		text = fmt.Sprintf("No variant is faster than %s; the next, %s, takes %.2f times as long", r.name(r.Variants[0]),
			name, 1/best.mean)
	}
	var notes []string
	if over := differing(best.points); len(over) > 0 {
		notes = append(notes, fmt.Sprintf("the geometric mean over %d inputs, %s", len(best.points)/max(1, r.Seeds),
			r.spread(best.points)))
	} else if n := len(best.points); n > 1 {
		notes = append(notes, fmt.Sprintf("the mean of %d seeds", n))
	} else {
		text += experiment.Within(best.points[0].SpeedupCI95, best.mean)
	}
	if len(others) > 1 {
		least := slices.MinFunc(others, func(a, b *design) int { return cmp.Compare(a.mean, b.mean) })
		notes = append(notes, fmt.Sprintf("the best of %d designs, of which the worst, at %s, is %.2f times as fast",
			len(others), r.where(least.points[0], axes), least.mean))
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text + "."
}

// designs lists the variants but for the baseline at each place of the axes that are not inputs, with their speedups.
func (r *Result) designs() (all []*design) {
	keys := r.designKeys()
	at := map[string]*design{}
	for _, p := range r.Points {
		x, ok := p.value("speedup")
		if p.Variant == 0 || !ok || x <= 0 {
			continue
		}
		key := fmt.Sprint(p.Variant, " ", tuple(p, keys))
		d := at[key]
		if d == nil {
			d = &design{variant: p.Variant}
			at[key], all = d, append(all, d)
		}
		d.points, d.mean = append(d.points, p), d.mean+math.Log(x)
	}
	for _, d := range all {
		d.mean = math.Exp(d.mean / float64(len(d.points)))
	}
	return all
}

// designKeys are the keys of the sweep that vary and are no inputs.
func (r *Result) designKeys() (keys []string) {
	for _, a := range r.Sweep {
		if len(a.Values) > 1 && !experiment.OverInputs([]string{a.Key}) {
			keys = append(keys, a.Key)
		}
	}
	return keys
}

// spread gives the least and the largest speedup of points, with their places.
func (r *Result) spread(points []*Point) string {
	by := func(a, b *Point) int { return cmp.Compare(*a.Speedup, *b.Speedup) }
	least, most := slices.MinFunc(points, by), slices.MaxFunc(points, by)
	return fmt.Sprintf("from %.2f at %s to %.2f at %s", *least.Speedup, r.where(least, nil), *most.Speedup,
		r.where(most, nil))
}

// where names a point by its values of keys; nil: of all axes that vary, but for the variant.
func (r *Result) where(p *Point, keys []string) string {
	var parts []string
	for _, a := range r.Sweep {
		if len(a.Values) > 1 && p.has(a.Key) && (keys == nil || slices.Contains(keys, a.Key)) {
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
	for _, values := range r.short {
		if s, ok := values[of]; ok {
			return s
		}
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
