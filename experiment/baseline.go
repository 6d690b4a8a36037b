package experiment

import (
	"fmt"
	"slices"
	"strings"

	"heddle/experiment/store"
)

// SetBaseline makes speedups relative to the points of another variant of compare than the first. The variant is given
// by its name, or by one of its values, such as edge or workload.schedule=edge, that no other variant has.
func SetBaseline(points []Point, name string) error {
	var found, labels []string
	at := -1
	for i := range points {
		p := &points[i]
		label := Label(p.Variant)
		if len(p.Variant) == 0 || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		if label == name {
			found, at = []string{label}, p.Coordinates[0]
			break
		}
		if slices.ContainsFunc(p.Variant, func(s Setting) bool {
			return s.Value == name || s.Key+"="+s.Value == name || Short(s.Key)+"="+s.Value == name
		}) {
			found, at = append(found, label), p.Coordinates[0]
		}
	}
	switch {
	case len(labels) == 0:
		return fmt.Errorf("baseline %s: the experiment has no variants: expected one with compare", name)
	case len(found) == 0:
		return fmt.Errorf("baseline %s: there is no such variant: expected one of %s", name, quotedList(labels))
	case len(found) > 1:
		return fmt.Errorf("baseline %s: several variants have it: expected one of %s", name, quotedList(found))
	}
	setBaselines(points, at)
	return nil
}

// quotedList lists texts with blanks in quotes.
func quotedList(list []string) string {
	out := slices.Clone(list)
	for i, s := range out {
		if strings.Contains(s, " ") {
			out[i] = "'" + s + "'"
		}
	}
	return strings.Join(out, ", ")
}

// Rebase makes reads of a store have the points of another variant as baselines, as SetBaseline does.
func Rebase(s *store.Store, baseline string) error {
	e, ok, err := s.Experiment()
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", s.Path(), store.ErrEmpty)
	}
	if err != nil {
		return err
	}
	r, _, err := storedRunner(&e, s)
	if err != nil {
		return err
	}
	if err := SetBaseline(r.Points, baseline); err != nil {
		return err
	}
	of := map[int]int{}
	for i := range r.Points {
		of[i] = r.Points[i].Baseline
	}
	s.SetBaselines(of)
	return nil
}
