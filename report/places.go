package report

import (
	"slices"
	"strings"
)

// places are the combinations of a sweep's values, in their order, with their labels.
type places struct {
	names []string
	of    map[string][]int // by a point's place: where it is shown
}

// newPlaces lists the combinations of a sweep's values. Points that lack an axis, as a baseline does that has not the
// unit which the axis is about, are shown at all combinations with which they agree, and have none of their own.
func newPlaces(r *Result) *places {
	var all []*Point // one for each place
	seen := map[string]bool{}
	for _, p := range r.Points {
		if !seen[p.place] {
			seen[p.place] = true
			all = append(all, p)
		}
	}
	keys := r.sweepKeys()
	covered := map[string]bool{}
	visitCovered(all, keys, func(p, by *Point) { covered[p.place] = true })
	out := &places{of: map[string][]int{}}
	for _, p := range all {
		if !covered[p.place] {
			out.of[p.place] = []int{len(out.names)}
			out.names = append(out.names, p.Cell)
		}
	}
	distinct(out.names)
	visitCovered(all, keys, func(p, by *Point) {
		if !covered[by.place] {
			out.of[p.place] = append(out.of[p.place], out.of[by.place]...)
		}
	})
	return out
}

// visitCovered visits all pairs of points in which one has all axes of the other and more, and agrees with it in the
// shared ones.
func visitCovered(all []*Point, keys []string, visit func(p, by *Point)) {
	patterns := map[string][]string{}
	of := map[string][]*Point{}
	for _, p := range all {
		has := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !p.has(k) })
		name := strings.Join(has, " ")
		patterns[name], of[name] = has, append(of[name], p)
	}
	names := sortedKeys(patterns)
	for _, a := range names {
		for _, b := range names {
			if !properSubset(patterns[a], patterns[b]) {
				continue
			}
			at := map[string][]*Point{}
			for _, p := range of[b] {
				at[tuple(p, patterns[a])] = append(at[tuple(p, patterns[a])], p)
			}
			for _, p := range of[a] {
				for _, by := range at[tuple(p, patterns[a])] {
					visit(p, by)
				}
			}
		}
	}
}

func properSubset(a, b []string) bool {
	return len(a) < len(b) && !slices.ContainsFunc(a, func(k string) bool { return !slices.Contains(b, k) })
}

// level reports whether a variant has a single place, which is shown at all of several.
func (r *Result) level(all *places, variant int) bool {
	place, first := "", true
	for _, p := range r.Points {
		if p.Variant != variant {
			continue
		}
		if !first && p.place != place {
			return false
		}
		place, first = p.place, false
	}
	return len(all.names) > 1 && len(all.of[place]) == len(all.names)
}
