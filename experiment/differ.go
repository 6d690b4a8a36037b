package experiment

import "slices"

// Differing returns the keys in which points differ, sorted, given their values by key; an absent key counts as a value
// of its own. The seed is left out: points that differ in it alone are repetitions.
//
// Every aggregate over points either names these keys or refuses the points.
func Differing(points []map[string]string) (keys []string) {
	differs := map[string]bool{}
	note := func(key, a, b string, both bool) {
		if key != SeedKey && (!both || a != b) {
			differs[key] = true
		}
	}
	for _, p := range points[min(1, len(points)):] {
		for k, v := range p {
			first, both := points[0][k]
			note(k, v, first, both)
		}
		for k, v := range points[0] {
			other, both := p[k]
			note(k, v, other, both)
		}
	}
	for k := range differs {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
