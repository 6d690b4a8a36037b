package reproduce

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/experiment"
	"heddle/experiment/config"
)

// together refuses values that would be reduced to one number although their points differ in a key that is not named:
// either one of named distinguishes them, or the statement declares the number to be over it. A key that follows from
// named ones, as zipped keys mostly do, needs no mention.
func together(named []string, list []sample) error {
	keys := keysOf(list)
	first := map[string]*Point{}
	for _, s := range list {
		at := s.point.values(named)
		a, b := first[at], s.point
		if a == nil {
			first[at] = b
			continue
		}
		if differ := experiment.Differing([]map[string]string{a.all(keys), b.all(keys)}); len(differ) > 0 {
			return fmt.Errorf(
				"%s (%s) and %s (%s) would become one number, but differ in %s, which nothing here names: "+
					"distinguish them, or name a key in across",
				a.Experiment, a.Label, b.Experiment, b.Label, strings.Join(differ, ", "))
		}
	}
	return nil
}

// keysOf are the keys in which points may differ: experiments, and all that is an axis of one.
func keysOf(list []sample) []string {
	keys := map[string]bool{config.ExperimentKey: true}
	for _, s := range list {
		for k := range s.point.Axes {
			keys[k] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// all are a point's values of keys.
func (p *Point) all(keys []string) map[string]string {
	out := map[string]string{}
	for _, k := range keys {
		out[k] = p.value(k)
	}
	return out
}

// values names a point by its values of keys.
func (p *Point) values(keys []string) string {
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "%q ", p.value(k))
	}
	return b.String()
}

// checkNames are the keys that a check names: by which it chooses and orders points, and those that it is over.
func checkNames(c *config.Check) []string {
	of, err := config.ParseConditions(c.Of)
	if err != nil {
		panic(fmt.Sprintf("BUG: reproduce: conditions that were checked: %v", err))
	}
	keys := slices.Concat(config.Keys(of), c.Across, c.Among)
	if c.Along != "" {
		keys = append(keys, c.Along)
	}
	return keys
}

// figureNames are the keys that a figure shows, and those that its values are over.
func figureNames(f *config.PackFigure) []string {
	return slices.Concat(f.Columns, f.Series, f.Across)
}
