// Package units is the register of graph units: a row for each kind, with what the rest of heddle asks of it. Machines,
// the host's side of programs and the command line go through the rows, and know no unit by name.
//
// A unit's row is in the folder of its component, in a package unit, which registers it; units/all lists these packages,
// and is the only other place that a new unit touches.
package units

import (
	"cmp"
	"fmt"
	"math/bits"
	"reflect"
	"slices"

	"heddle/components/accel"
	"heddle/isa"
	"heddle/kernels/schedule"
)

// Unit is a kind of graph unit.
type Unit struct {
	// Instructions are its own. They make out its name (isa.UnitOp), by which statistics and schedules call it, and its bit
	// of the CSR units.
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

// Register adds a unit, when the program starts.
func Register(u Unit) {
	u.Name = u.Instructions.Name
	if bits.OnesCount32(u.Instructions.Presence) != 1 {
		panic(fmt.Sprintf("BUG: units: %s has %#x as its bit of the CSR units: expected one bit", u.Name, u.Instructions.Presence))
	}
	for _, v := range all {
		if u.Name == v.Name || u.Key == v.Key || reflect.TypeOf(u.New()) == reflect.TypeOf(v.New()) {
			panic(fmt.Sprintf("BUG: units: %s has the name, the key or the Spec of %s", u.Name, v.Name))
		}
	}
	isa.Extend(u.Instructions)
	for _, s := range u.Schedules {
		s.Unit = u.Name
	}
	all = append(all, &u)
	slices.SortFunc(all, func(a, b *Unit) int {
		return cmp.Or(cmp.Compare(uint(a.Rank-1), uint(b.Rank-1)), cmp.Compare(a.Name, b.Name))
	})
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
