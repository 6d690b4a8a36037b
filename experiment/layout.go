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

// dimension is a list of settings of keys that vary together: the variants of compare, an axis of a sweep or several
// joined by "with", the seeds.
type dimension struct {
	name        string
	values      [][]Setting
	variant     int  // index of the variant whose own sweep has it; anyVariant: the common sweep
	conditional bool // some key is in a section that points may lack; the dimension does not apply to those points
}

const anyVariant = -1

// pointGrid lists the points of an experiment as coordinates: an index into the values of each dimension, -1 where the
// dimension does not apply. Dimensions are in a fixed order: compare (always present, so that coordinate 0 is the
// variant), the axes of the sweep, those of the variants' own sweeps, and the seeds, always last.
type pointGrid struct {
	loaded *schema.Loaded[config.Experiment]
	set    []string
	dims   []dimension
	// sectionCache holds results of hasSection by key, variant and the coordinates that decide which sections exist.
	sectionCache map[string]bool
}

func newPointGrid(l *schema.Loaded[config.Experiment], set []string) (*pointGrid, error) {
	d := &pointGrid{loaded: l, set: set, dims: dimensions(&l.Value), sectionCache: map[string]bool{}}
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
		compare.values = append(compare.values[:i], v.Identity())
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
			d.conditional = d.conditional || variant == anyVariant && config.Schema.Conditional(a.Key)
		}
		d.name = strings.Join(keys, ", ")
		all = append(all, d)
		i = n
	}
	return all
}

// zip returns the settings of axes that vary together, one list for each value.
func zip(axes schema.Axes) [][]Setting {
	out := make([][]Setting, len(axes[0].Values))
	for _, a := range axes {
		for i, v := range a.Values {
			out[i] = append(out[i], Setting{Key: a.Key, Value: v})
		}
	}
	return out
}

func (d *pointGrid) seeds() *dimension { return &d.dims[len(d.dims)-1] }

// refuseAbsent returns an error for an axis about a unit that no variant has. Without variants the axis creates the
// unit, as a key in the file would.
func (d *pointGrid) refuseAbsent(i int) error {
	dim := &d.dims[i]
	if !dim.conditional {
		return nil
	}
	some := false
	d.eachSectionChoice(func(coords []int) bool {
		some = len(d.applicable(i, coords)) > 0
		return !some
	})
	if some {
		return nil
	}
	if len(d.dims[0].values) < 2 {
		dim.conditional = false
		return nil
	}
	key := dim.values[0][0].Key
	at, _ := d.loaded.Origin("sweep")
	return fmt.Errorf("%s: sweep: %s: no variant of compare has %s: give it to those that are to have it", at, dim.name,
		key[:strings.LastIndexByte(key, '.')])
}

// eachSectionChoice visits all coordinates in the dimensions that decide which sections exist; other coordinates are 0.
// It stops when visit returns false. The slice is reused.
func (d *pointGrid) eachSectionChoice(visit func(coords []int) bool) {
	coords := make([]int, len(d.dims))
	for {
		if !visit(coords) {
			return
		}
		k := 0
		for ; k < len(d.dims); k++ {
			if !d.decidesSections(k) {
				continue
			}
			if coords[k]++; coords[k] < len(d.dims[k].values) {
				break
			}
			coords[k] = 0
		}
		if k == len(d.dims) {
			return
		}
	}
}

// decidesSections reports whether the sections of a point depend on a dimension: on the variant, and on axes whose
// values are whole sections.
func (d *pointGrid) decidesSections(i int) bool {
	if i == 0 {
		return true
	}
	return d.dims[i].variant == anyVariant && slices.ContainsFunc(d.dims[i].values[0], func(s Setting) bool {
		return config.Schema.IsSection(s.Key)
	})
}

// applicable returns the values of a dimension at given coordinates in the others; none if it does not apply there.
// Values that differ only in keys of absent sections count once.
func (d *pointGrid) applicable(i int, coords []int) (rows []int) {
	dim := &d.dims[i]
	switch {
	case dim.variant != anyVariant && dim.variant != coords[0]:
		return nil
	case !dim.conditional:
		for k := range dim.values {
			rows = append(rows, k)
		}
		return rows
	}
	seen := map[string]bool{}
	for k, row := range dim.values {
		var parts []string
		for _, s := range row {
			if d.hasSection(s.Key, coords) {
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

// hasSection reports whether the sections that enclose a key exist at the coordinates.
func (d *pointGrid) hasSection(key string, coords []int) bool {
	if !config.Schema.Conditional(key) {
		return true
	}
	id := key
	var settings []Setting
	for i := range d.dims {
		own := d.dims[i].variant == coords[0]
		if d.decidesSections(i) {
			id += " " + strconv.Itoa(coords[i])
		}
		switch {
		case i == 0:
			settings = append(settings, d.variantSet(coords[0])...)
		case own:
			settings = append(settings, d.dims[i].values[0]...)
		case d.decidesSections(i):
			settings = append(settings, d.dims[i].values[coords[i]]...)
		}
	}
	there, known := d.sectionCache[id]
	if !known {
		there = d.loaded.Holds(key, arguments(settings, d.set)...)
		d.sectionCache[id] = there
	}
	return there
}

// variantSet returns the settings of a variant of compare.
func (d *pointGrid) variantSet(i int) []Setting {
	if e := &d.loaded.Value; len(e.Compare) > 0 {
		return e.Compare[i].Set
	}
	return nil
}

// coordinates returns those of all points in order: the seed varies fastest, then axes that some points lack, the
// variant, and the axes of the sweep from last to first.
func (d *pointGrid) coordinates() (all [][]int, err error) {
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

// extend appends the points of a variant. Conditional dimensions come last, since whether they apply depends on the
// coordinates in the others.
func (d *pointGrid) extend(all [][]int, variant int) ([][]int, error) {
	start := make([]int, len(d.dims))
	start[0] = variant
	open := [][]int{start}
	for _, units := range []bool{false, true} {
		for i := 1; i < len(d.dims); i++ {
			if d.dims[i].conditional != units {
				continue
			}
			var next [][]int
			for _, coords := range open {
				rows := d.applicable(i, coords)
				if rows == nil {
					rows = []int{-1}
				}
				if len(all)+len(next)+len(rows) > MaxPoints {
					return nil, fmt.Errorf("more than %d points: expected at most as many", MaxPoints)
				}
				for _, k := range rows {
					x := slices.Clone(coords)
					x[i] = k
					next = append(next, x)
				}
			}
			open = next
		}
	}
	return append(all, open...), nil
}

// order returns the dimensions from the slowest to the fastest varying.
func (d *pointGrid) order(points [][]int) (order []int) {
	last := len(d.dims) - 1
	var own []int
	for i := 1; i < last; i++ {
		if slices.ContainsFunc(points, func(p []int) bool { return p[i] < 0 }) {
			own = append(own, i)
		} else {
			order = append(order, i)
		}
	}
	return append(append(append(order, 0), own...), last)
}

// point returns the point at the coordinates, without a configuration.
func (d *pointGrid) point(coords []int) Point {
	p := Point{Coordinates: coords, Baseline: -1, Variant: d.dims[0].values[coords[0]]}
	p.Axes = append(p.Axes, p.Variant...)
	p.Settings = append(p.Settings, d.variantSet(coords[0])...)
	for i := 1; i < len(coords); i++ {
		if coords[i] < 0 {
			continue
		}
		for _, s := range d.dims[i].values[coords[i]] {
			if !d.dims[i].conditional || d.hasSection(s.Key, coords) {
				p.Axes, p.Settings = append(p.Axes, s), append(p.Settings, s)
			}
		}
	}
	return p
}

// setBaselines sets the baseline of each point to the point of a variant, given by its index in compare, with equal
// values in the axes that both have. A point has no baseline if that point was excluded, or if there are several
// because the variant has an axis that the point lacks.
func setBaselines(points []Point, variant int) {
	baselines := map[string]map[string][]int{} // by the keys to compare, then by their values
	keys := map[string][]string{}
	for i := range points {
		if points[i].Coordinates[0] == variant {
			k := points[i].keys()
			keys[strings.Join(k, " ")] = k
		}
	}
	for i := range points {
		p := &points[i]
		p.Baseline = -1
		if p.Coordinates[0] == variant {
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
					if b := &points[j]; b.Coordinates[0] == variant && slices.Equal(b.keys(), of) {
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

// keys returns the keys of a point's axes without those of its variant.
func (p *Point) keys() (keys []string) {
	for _, s := range p.Axes[len(p.Variant):] {
		keys = append(keys, s.Key)
	}
	return keys
}

// valuesOf returns a text that is equal for points with equal values of keys.
func (p *Point) valuesOf(keys []string) string {
	var b strings.Builder
	for _, s := range p.Axes[len(p.Variant):] {
		if slices.Contains(keys, s.Key) {
			fmt.Fprintf(&b, "%q ", s.Value)
		}
	}
	return b.String()
}

// NoEffect names the dimensions that change nothing: all points that differ in that dimension alone are the same.
func NoEffect(e *config.Experiment, points []Point, same func(i, j int) bool) (out []string) {
	for d, dim := range dimensions(e) {
		if len(dim.values) < 2 {
			continue
		}
		first, pairs, effect := map[string]int{}, 0, false
		for i := range points {
			if points[i].Coordinates[d] < 0 {
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

// Notes returns warnings about points before they run: axes without effect, equal variants, variants whose points have
// no unique baseline, and notices of their work (work.notes).
func Notes(e *config.Experiment, points []Point) (notes []string) {
	same := SameConfig(points)
	none := NoEffect(e, points, same)
	for _, name := range none {
		notes = append(notes, name+" changes nothing: points that differ in it alone have the same machine, graph "+
			"and workload")
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

// sameVariants names pairs of variants with equal configurations at all points.
func sameVariants(points []Point, same func(i, j int) bool) (notes []string) {
	of := map[int]map[string]int{} // point by variant and by its other coordinates
	var variants []int
	for i := range points {
		v := points[i].Coordinates[0]
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
					fmt.Sprintf("variants %s and %s of compare are the same: machine, graph, workload and sample at all points",
						variantLabel(points, of[b]), variantLabel(points, of[a])))
				break
			}
		}
	}
	return notes
}

// variantLabel names the variant that points have in common.
func variantLabel(points []Point, of map[string]int) string {
	for _, i := range of {
		return VariantLabel(&points[i])
	}
	return ""
}

// VariantLabel names a point's variant by its name, or by its settings.
func VariantLabel(p *Point) string {
	if len(p.Variant) == 1 && p.Variant[0].Key == schema.VariantKey {
		return p.Variant[0].Value
	}
	return Label(p.Variant)
}

// withoutBaseline names the variants that have no speedups because several points of the baseline agree with theirs.
func withoutBaseline(points []Point) (notes []string) {
	base := slices.IndexFunc(points, func(p Point) bool { return p.Coordinates[0] == 0 })
	if base < 0 || !compares(points) {
		return nil
	}
	varies := map[string][]string{} // by the keys of the first variant's points
	for i := range points {
		if keys := points[i].keys(); points[i].Coordinates[0] == 0 {
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
		if note := fmt.Sprintf("%s has no speedups: the baseline, %s, varies in %s, which it lacks; expected a "+
			"baseline without axes that others lack", VariantLabel(p), VariantLabel(&points[base]),
			strings.Join(lacks, ", ")); len(lacks) > 0 && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// appendNew appends the keys that are neither in to nor in others.
func appendNew(to, keys, others []string) []string {
	for _, k := range keys {
		if !slices.Contains(to, k) && !slices.Contains(others, k) {
			to = append(to, k)
		}
	}
	return to
}
