// Package units is the register of graph units: a row for each kind, with what the rest of heddle asks of it. Machines,
// the host's side of programs and the command line go through the rows, and know no unit by name.
//
// A unit's row is in the folder of its component, in a package unit, which registers it; units/all lists these
// packages, and is the only other place that a new unit touches. A unit of another module is added by cmd.Main
// (machine.Unit).
package units

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"regexp"
	"slices"

	"heddle/components/accel"
	"heddle/isa"
	"heddle/kernels/schedule"
)

// Unit is a kind of graph unit.
type Unit struct {
	// Instructions are its own. They make out its name (isa.UnitOp), by which statistics and schedules call it, and its
	// bit of the CSR units.
	Instructions *isa.Extension
	Key          string            // of its section in machine.core
	Part         string            // what a core's is called among the parts of a machine: Core0.GraphPEG
	Title        string            // what messages call it, after "a"
	Doc          string            // of the section
	Rank         int               // its turn in documentation and files; 0: behind those that have one, by name
	New          func() accel.Spec // an empty Spec
	// Schedules have the unit hand out edges or vertices to kernels.
	Schedules []*schedule.Schedule
	Exec      string // what heddle exec --untimed --KEY does
	Flags     []Flag // more of heddle exec's flags

	Name string // that of Instructions; Register's
}

// Flag is one that sets a knob of a Spec.
type Flag struct {
	Name, Doc string
	Value     func(s accel.Spec) any // a pointer to its field, an int or a bool
}

// all are those that have been registered, in their order.
var all []*Unit

// Register adds one of heddle's own units, when the program starts.
func Register(u Unit) {
	if err := Add(u); err != nil {
		panic("BUG: units: " + err.Error())
	}
}

// Add adds a unit, when the program starts. An error says what its row lacks, or which of its names is taken.
func Add(u Unit) error {
	if u.Instructions == nil {
		return errors.New("the unit has no Instructions")
	}
	u.Name = u.Instructions.Name
	if err := u.check(); err != nil {
		return err
	}
	u.Schedules = slices.Clone(u.Schedules)
	for i, s := range u.Schedules {
		if s == nil {
			return fmt.Errorf("%s: Schedules has nil at %d", u.Name, i)
		}
		if s.Unit = u.Name; slices.Contains(u.Schedules[:i], s) {
			return fmt.Errorf("%s: schedule %s stands twice", u.Name, s.Name)
		}
		if err := s.Check(scheduleNames()); err != nil {
			return fmt.Errorf("schedule %q: %w", s.Name, err)
		}
	}
	if err := isa.Extend(u.Instructions); err != nil {
		return err
	}
	all = append(all, &u)
	slices.SortFunc(all, func(a, b *Unit) int {
		return cmp.Or(cmp.Compare(uint(a.Rank-1), uint(b.Rank-1)), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// keys are those that a section of a configuration may have.
var keys = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// check refuses a row that lacks something, or has what is another's.
func (u *Unit) check() error {
	for _, x := range []struct {
		lacks bool
		what  string
	}{
		{u.Name == "", "a name (isa.UnitExtension's)"}, {!keys.MatchString(u.Key), "a Key such as my_unit"}, {u.Part == "", "a Part"},
		{u.Title == "", "a Title"}, {u.Doc == "", "a Doc"}, {u.Exec == "", "an Exec"}, {u.New == nil, "a New"},
	} {
		if x.lacks {
			return fmt.Errorf("the unit %q lacks %s", u.Name, x.what)
		}
	}
	if bits.OnesCount32(u.Instructions.Presence) != 1 {
		return fmt.Errorf("%s has %#x as its bit of the CSR units: expected one bit", u.Name, u.Instructions.Presence)
	}
	for _, v := range all {
		if u.Name == v.Name || u.Key == v.Key || reflect.TypeOf(u.New()) == reflect.TypeOf(v.New()) {
			return fmt.Errorf("%s has the name, the key or the Spec of %s", u.Name, v.Name)
		}
	}
	return nil
}

// AddSchedule adds a schedule, when the program starts: in software, or of the unit that it names. An error says what
// it lacks, or that its name is taken.
func AddSchedule(s *schedule.Schedule) error {
	if s == nil {
		return errors.New("it is nil")
	}
	if err := s.Check(scheduleNames()); err != nil {
		return err
	}
	if s.Unit == "" {
		schedule.Add(s)
		return nil
	}
	u := ByName(s.Unit)
	if u == nil {
		return fmt.Errorf("there is no unit %q", s.Unit)
	}
	u.Schedules = append(u.Schedules, s)
	return nil
}

func scheduleNames() (names []string) {
	for _, s := range Schedules() {
		names = append(names, s.Name)
	}
	return names
}

// All lists them.
func All() []*Unit { return all }

// ByName finds one; nil: there is none.
func ByName(name string) *Unit { return find(func(u *Unit) bool { return u.Name == name }) }

// Of is the unit that a Spec is of; nil: of none.
func Of(s accel.Spec) *Unit {
	return find(func(u *Unit) bool { return reflect.TypeOf(u.New()) == reflect.TypeOf(s) })
}

// Schedules lists all there are: in software, and the units'.
func Schedules() []*schedule.Schedule {
	list := schedule.Software()
	for _, u := range all {
		list = append(list, u.Schedules...)
	}
	return list
}

// Schedule finds one.
func Schedule(name string) (*schedule.Schedule, error) {
	for _, s := range Schedules() {
		if s.Name == name {
			return s, nil
		}
	}
	return nil, fmt.Errorf("no schedule %q", name)
}

func find(is func(*Unit) bool) *Unit {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i]
	}
	return nil
}
