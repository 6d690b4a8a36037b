package experiment

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"heddle/configs/schema"
	"heddle/experiment/config"
)

// dimension is a set of keys that vary together: the variants of compare, an axis of a sweep or several that go
// together, the seeds.
type dimension struct {
	name    string
	values  [][]Setting
	variant int  // whose own it is; anyVariant: all have it
	units   bool // some key of it is in a section that may be absent, and the dimension is then for none of its points
}

const anyVariant = -1

// layout has the dimensions of an experiment: compare, those of the sweep, those of the variants' own sweeps, the
// seeds.
type layout struct {
	loaded *schema.Loaded[config.Experiment]
	set    []string
	dims   []dimension
	// by key, variant and place in the axes of whole sections: whether the sections around are there
	there map[string]bool
}

func newLayout(l *schema.Loaded[config.Experiment], set []string) (*layout, error) {
	d := &layout{loaded: l, set: set, dims: dimensions(&l.Value), there: map[string]bool{}}
	for i := range d.dims {
		if err := d.refuseAbsent(i); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func dimensions(e *config.Experiment) (all []dimension) {
	compare := dimension{name: "compare", variant: anyVariant, values: [][]Setting{nil}}
	for i, v := range e.Compare {
		compare.values = append(compare.values[:i], v.Tells())
	}
	all = append(all, compare)
	all = append(all, sweepDimensions(e.Sweep, anyVariant)...)
	for i, v := range e.Compare {
		all = append(all, sweepDimensions(v.Sweep, i)...)
	}
	seeds := dimension{name: "seeds", variant: anyVariant, values: [][]Setting{nil}}
	for i, s := range e.Seeds {
		seeds.values = append(seeds.values[:i], []Setting{{Key: SeedKey, Value: strconv.FormatUint(s, 10)}})
	}
	return append(all, seeds)
}

func sweepDimensions(axes schema.Axes, variant int) (all []dimension) {
	for i := 0; i < len(axes); {
		n := i + 1
		for n < len(axes) && axes[n].With {
			n++
		}
		d := dimension{variant: variant, values: zip(axes[i:n])}
		var keys []string
		for _, a := range axes[i:n] {
			keys = append(keys, a.Key)
			d.units = d.units || variant == anyVariant && config.Schema.Conditional(a.Key)
		}
		d.name = strings.Join(keys, ", ")
		all = append(all, d)
		i = n
	}
	return all
}

// zip returns the values of axes that go together.
func zip(axes schema.Axes) [][]Setting {
	out := make([][]Setting, len(axes[0].Values))
	for _, a := range axes {
		for i, v := range a.Values {
			out[i] = append(out[i], Setting{Key: a.Key, Value: v})
		}
	}
	return out
}

func (d *layout) seeds() *dimension { return &d.dims[len(d.dims)-1] }

// refuseAbsent refuses an axis of the sweep that is about a unit which no variant has. Without variants it makes the
// unit, as a key in the file does.
func (d *layout) refuseAbsent(i int) error {
	dim := &d.dims[i]
	if !dim.units {
		return nil
	}
	some := false
	d.places0(func(place []int) bool {
		some = len(d.projected(i, place)) > 0
		return !some
	})
	if some {
		return nil
	}
	if len(d.dims[0].values) < 2 {
		dim.units = false
		return nil
	}
	key := dim.values[0][0].Key
	at, _ := d.loaded.Origin("sweep")
	return fmt.Errorf("%s: sweep: %s: no variant of compare has %s: give it to those that are to have it", at, dim.name,
		key[:strings.LastIndexByte(key, '.')])
}

// places0 visits, for each variant, each place in the dimensions of whole sections, on which it depends what units
// there are; elsewhere places are 0. It ends when visit returns false.
func (d *layout) places0(visit func(place []int) bool) {
	place := make([]int, len(d.dims))
	for {
		if !visit(place) {
			return
		}
		k := 0
		for ; k < len(d.dims); k++ {
			if !d.decides(k) {
				continue
			}
			if place[k]++; place[k] < len(d.dims[k].values) {
				break
			}
			place[k] = 0
		}
		if k == len(d.dims) {
			return
		}
	}
}

// decides reports whether it depends on a dimension what sections there are.
func (d *layout) decides(i int) bool {
	if i == 0 {
		return true
	}
	return d.dims[i].variant == anyVariant && slices.ContainsFunc(d.dims[i].values[0], func(s Setting) bool {
		return config.Schema.IsSection(s.Key)
	})
}

// projected are the values of a dimension that are for a place in the others: those that differ in keys whose sections
// are there. Without any, the dimension is not for that place.
func (d *layout) projected(i int, place []int) (rows []int) {
	dim := &d.dims[i]
	switch {
	case dim.variant != anyVariant && dim.variant != place[0]:
		return nil
	case !dim.units:
		for k := range dim.values {
			rows = append(rows, k)
		}
		return rows
	}
	seen := map[string]bool{}
	for k, row := range dim.values {
		var parts []string
		for _, s := range row {
			if d.has(s.Key, place) {
				parts = append(parts, s.Value)
			}
		}
		if text := strings.Join(parts, "\x00"); len(parts) > 0 && !seen[text] {
			seen[text] = true
			rows = append(rows, k)
		}
	}
	return rows
}

// has reports whether the sections around a key are there at a place.
func (d *layout) has(key string, place []int) bool {
	if !config.Schema.Conditional(key) {
		return true
	}
	id := key
	var settings []Setting
	for i := range d.dims {
		own := d.dims[i].variant == place[0]
		if d.decides(i) {
			id += " " + strconv.Itoa(place[i])
		}
		switch {
		case i == 0:
			settings = append(settings, d.variantSet(place[0])...)
		case own:
			settings = append(settings, d.dims[i].values[0]...)
		case d.decides(i):
			settings = append(settings, d.dims[i].values[place[i]]...)
		}
	}
	there, known := d.there[id]
	if !known {
		there = d.loaded.Holds(key, arguments(settings, d.set)...)
		d.there[id] = there
	}
	return there
}

// variantSet returns the settings of a variant of compare.
func (d *layout) variantSet(i int) []Setting {
	if e := &d.loaded.Value; len(e.Compare) > 0 {
		return e.Compare[i].Set
	}
	return nil
}

// places are those of all points, in their order: the seed moves fastest, then axes that some points lack, the variant,
// then the last axis of the sweep.
func (d *layout) places() (all [][]int, err error) {
	for v := range d.dims[0].values {
		if all, err = d.extend(all, v); err != nil {
			return nil, err
		}
	}
	order := d.order(all)
	slices.SortFunc(all, func(a, b []int) int {
		for _, i := range order {
			if c := cmp.Compare(a[i], b[i]); c != 0 {
				return c
			}
		}
		return 0
	})
	return all, nil
}

// extend adds the points of a variant: the dimensions that are for some of them alone come last.
func (d *layout) extend(all [][]int, variant int) ([][]int, error) {
	start := make([]int, len(d.dims))
	start[0] = variant
	open := [][]int{start}
	for _, units := range []bool{false, true} {
		for i := 1; i < len(d.dims); i++ {
			if d.dims[i].units != units {
				continue
			}
			var next [][]int
			for _, place := range open {
				rows := d.projected(i, place)
				if rows == nil {
					rows = []int{-1}
				}
				if len(all)+len(next)+len(rows) > MaxPoints {
					return nil, fmt.Errorf("more than %d points: expected at most as many", MaxPoints)
				}
				for _, k := range rows {
					x := slices.Clone(place)
					x[i] = k
					next = append(next, x)
				}
			}
			open = next
		}
	}
	return append(all, open...), nil
}

// order are the dimensions in the order of how slowly they move.
func (d *layout) order(places [][]int) (order []int) {
	last := len(d.dims) - 1
	var own []int
	for i := 1; i < last; i++ {
		if slices.ContainsFunc(places, func(p []int) bool { return p[i] < 0 }) {
			own = append(own, i)
		} else {
			order = append(order, i)
		}
	}
	return append(append(append(order, 0), own...), last)
}

// point is that at a place, without a configuration.
func (d *layout) point(place []int) Point {
	p := Point{Place: place, Baseline: -1, Variant: d.dims[0].values[place[0]]}
	p.Axes = append(p.Axes, p.Variant...)
	p.Settings = append(p.Settings, d.variantSet(place[0])...)
	for i := 1; i < len(place); i++ {
		if place[i] < 0 {
			continue
		}
		for _, s := range d.dims[i].values[place[i]] {
			if !d.dims[i].units || d.has(s.Key, place) {
				p.Axes, p.Settings = append(p.Axes, s), append(p.Settings, s)
			}
		}
	}
	return p
}

// setBaselines finds for each point that of the first variant which agrees with it in all axes that both have. Where
// that is left out there is none, and none where there are several: where the baseline has an axis that the point
// lacks.
func setBaselines(points []Point) {
	baselines := map[string]map[string][]int{} // by their keys, then by their values of some keys
	keys := map[string][]string{}
	for i := range points {
		if points[i].Place[0] == 0 {
			k := points[i].keys()
			keys[strings.Join(k, " ")] = k
		}
	}
	for i := range points {
		p := &points[i]
		if p.Place[0] == 0 {
			p.Baseline = i
			continue
		}
		var found []int
		mine := p.keys()
		for text, of := range keys {
			both := slices.DeleteFunc(slices.Clone(of), func(k string) bool { return !slices.Contains(mine, k) })
			id := text + "\x00" + strings.Join(both, " ")
			if baselines[id] == nil {
				baselines[id] = map[string][]int{}
				for j := range points {
					if b := &points[j]; b.Place[0] == 0 && slices.Equal(b.keys(), of) {
						at := b.valuesOf(both)
						baselines[id][at] = append(baselines[id][at], j)
					}
				}
			}
			found = append(found, baselines[id][p.valuesOf(both)]...)
		}
		if len(found) == 1 {
			p.Baseline = found[0]
		}
	}
}

// keys are those of a point's axes, but for its variant's.
func (p *Point) keys() (keys []string) {
	for _, s := range p.Axes[len(p.Variant):] {
		keys = append(keys, s.Key)
	}
	return keys
}

// valuesOf names a point by its values of keys.
func (p *Point) valuesOf(keys []string) string {
	var b strings.Builder
	for _, s := range p.Axes[len(p.Variant):] {
		if slices.Contains(keys, s.Key) {
			fmt.Fprintf(&b, "%q ", s.Value)
		}
	}
	return b.String()
}

// NoEffect names the dimensions in which points that differ in nothing else are all the same.
func NoEffect(e *config.Experiment, points []Point, same func(i, j int) bool) (out []string) {
	for d, dim := range dimensions(e) {
		if len(dim.values) < 2 {
			continue
		}
		first, pairs, effect := map[string]int{}, 0, false
		for i := range points {
			if points[i].Place[d] < 0 {
				continue
			}
			key := points[i].without(d)
			j, ok := first[key]
			if !ok {
				first[key] = i
				continue
			}
			pairs++
			if effect = !same(i, j); effect {
				break
			}
		}
		if pairs > 0 && !effect {
			name := dim.name
			if dim.variant != anyVariant {
				name += " of " + e.Compare[dim.variant].Name
			}
			out = append(out, name)
		}
	}
	return out
}

// Notes are warnings about an experiment's points before they run: axes that change nothing, variants that are the
// same, variants of which points have no baseline because the baseline varies in what they lack, keys that some points
// have no use for, loops of GraphIt programs that are the host's though their schedule says otherwise, and programs of
// the user's own that lack a fence.
func Notes(e *config.Experiment, points []Point) (notes []string) {
	same := SameConfig(points)
	none := NoEffect(e, points, same)
	for _, name := range none {
		notes = append(notes, name+" changes nothing: points that differ in it alone have the same machine, graph and workload")
	}
	if !slices.Contains(none, "compare") {
		notes = append(notes, sameVariants(points, same)...)
	}
	return slices.Concat(notes, withoutBaseline(points), unusedKeys(points), workNotes(points))
}

// unusedKeys names the keys that are not applied at some points, and their variants, or points.
func unusedKeys(points []Point) (notes []string) {
	var keys []string
	at := map[string][]string{}
	for i := range points {
		p := &points[i]
		where := p.Axes
		if len(p.Variant) > 0 {
			where = p.Variant
		}
		for _, key := range p.Unused {
			if at[key] == nil {
				keys = append(keys, key)
			}
			if label := Label(where); !slices.Contains(at[key], label) {
				at[key] = append(at[key], label)
			}
		}
	}
	for _, key := range keys {
		all, have := at[key], "has"
		if n := len(all); n > 4 {
			all = append(all[:3:3], fmt.Sprintf("%d more", n-3))
		}
		if n := len(all); n > 1 {
			all, have = []string{strings.Join(all[:n-1], ", "), all[n-1]}, "have"
		}
		notes = append(notes, fmt.Sprintf("%s is not applied to %s, which %s no use for it", key,
			strings.Join(all, " and "), have))
	}
	return notes
}

// sameVariants names pairs of variants whose points all simulate the same.
func sameVariants(points []Point, same func(i, j int) bool) (notes []string) {
	of := map[int]map[string]int{} // by variant, and by place but for that
	var variants []int
	for i := range points {
		v := points[i].Place[0]
		if of[v] == nil {
			of[v] = map[string]int{}
			variants = append(variants, v)
		}
		of[v][points[i].without(0)] = i
	}
	for n, a := range variants {
		for _, b := range variants[:n] {
			if len(of[a]) != len(of[b]) {
				continue
			}
			differ := false
			for at, i := range of[a] {
				j, ok := of[b][at]
				if differ = !ok || !same(i, j); differ {
					break
				}
			}
			if !differ {
				notes = append(notes,
					fmt.Sprintf("variants %s and %s of compare are the same: machine, graph and workload at all points",
						variantLabel(points, of[b]), variantLabel(points, of[a])))
				break
			}
		}
	}
	return notes
}

// variantLabel names the variant of points.
func variantLabel(points []Point, of map[string]int) string {
	for _, i := range of {
		return VariantLabel(&points[i])
	}
	return ""
}

// VariantLabel names a point's variant: by its name, or by what it sets.
func VariantLabel(p *Point) string {
	if len(p.Variant) == 1 && p.Variant[0].Key == schema.VariantKey {
		return p.Variant[0].Value
	}
	return Label(p.Variant)
}

// withoutBaseline says of which variants points have none because several agree with them.
func withoutBaseline(points []Point) (notes []string) {
	base := slices.IndexFunc(points, func(p Point) bool { return p.Place[0] == 0 })
	if base < 0 || !compares(points) {
		return nil
	}
	varies := map[string][]string{} // by the keys of the first variant's points
	for i := range points {
		if keys := points[i].keys(); points[i].Place[0] == 0 {
			varies[strings.Join(keys, " ")] = keys
		}
	}
	for i := range points {
		p := &points[i]
		if p.Baseline >= 0 {
			continue
		}
		var lacks []string
		for _, text := range slices.Sorted(maps.Keys(varies)) {
			lacks = appendNew(lacks, varies[text], p.keys())
		}
		if note := fmt.Sprintf("%s has no speedups: the baseline, %s, varies in %s, which it lacks; expected a baseline without "+
			"axes that others lack", VariantLabel(p), VariantLabel(&points[base]),
			strings.Join(lacks, ", ")); len(lacks) > 0 && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// appendNew adds keys to those that are there, but for those that others have.
func appendNew(to, keys, others []string) []string {
	for _, k := range keys {
		if !slices.Contains(to, k) && !slices.Contains(others, k) {
			to = append(to, k)
		}
	}
	return to
}
