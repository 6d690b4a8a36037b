package schedule

import (
	"errors"
	"fmt"
	"slices"

	"heddle/components/accel"
)

// All returns all schedules: software schedules, then those of each registered unit.
func All() []*Schedule {
	list := Software()
	for _, u := range accel.Registered() {
		list = append(list, OfUnit(u.Name)...)
	}
	return list
}

// OfUnit returns the schedules of a graph unit.
func OfUnit(name string) (list []*Schedule) {
	for _, s := range ofUnits {
		if s.UnitName() == name {
			list = append(list, s)
		}
	}
	return list
}

// ByName returns the schedule with a name.
func ByName(name string) (*Schedule, error) {
	list := All()
	if i := slices.IndexFunc(list, func(s *Schedule) bool { return s.Name == name }); i >= 0 {
		return list[i], nil
	}
	return nil, fmt.Errorf("no schedule %q", name)
}

// Add registers a schedule when the program starts, as a software schedule or for the unit that it names. It returns an
// error for a missing field, an unknown unit, or a name that is taken.
func Add(s *Schedule) error {
	if s == nil {
		return errors.New("it is nil")
	}
	var names []string
	for _, x := range All() {
		names = append(names, x.Name)
	}
	if err := s.Check(names); err != nil {
		return err
	}
	switch {
	case s.Unit == nil:
		software = append(software, s)
	case accel.KindNamed(s.Unit.Name) == nil:
		return fmt.Errorf("there is no unit %q", s.Unit.Name)
	default:
		ofUnits = append(ofUnits, s)
	}
	return nil
}
