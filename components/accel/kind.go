package accel

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"heddle/isa"
)

// Kind describes a kind of graph unit: everything that machines, the host side of programs and the command line use of
// a unit, none of which knows a unit by name. The file kind.go of a component registers its kind, and components/all
// imports the components; kernels/schedule has the schedules that use it. Units of other modules are added by cmd.Main
// (heddle.WithUnit).
type Kind struct {
	// Instructions are the unit's own. They determine its name (isa.UnitOp), which statistics and schedules use, and
	// its bit of the units CSR.
	Instructions *isa.Extension
	Key          string      // key of its section in machine.core
	Part         string      // name of its instances among the parts of a machine: Core0.GraphPEG
	Title        string      // name in messages, after "a"
	Doc          string      // documentation of the section
	Rank         int         // position in documentation and files; 0: after the ranked ones, by name
	New          func() Spec // an empty Spec
	Exec         string      // help of the flag --KEY of heddle exec --functional
	Flags        []Flag      // further flags of heddle exec

	Name string // name of Instructions; set by Register
}

// Flag is a flag of heddle exec that sets a field of a Spec.
type Flag struct {
	Name, Doc string
	Value     func(s Spec) any // pointer to the field: *int or *bool
}

// kinds holds the registered kinds, by rank and name.
var kinds []*Kind

// Register adds one of heddle's own kinds. It is called from init functions.
func Register(u Kind) {
	if err := Add(u); err != nil {
		panic("BUG: accel: " + err.Error())
	}
}

// Add adds a kind. It must be called at program start. An error names the missing field or the duplicate name.
func Add(u Kind) error {
	if u.Instructions == nil {
		return errors.New("the unit has no Instructions")
	}
	u.Name = u.Instructions.Name
	if err := u.check(); err != nil {
		return err
	}
	if err := isa.Extend(u.Instructions); err != nil {
		return err
	}
	kinds = append(kinds, &u)
	slices.SortFunc(kinds, func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(uint(a.Rank-1), uint(b.Rank-1)), cmp.Compare(a.Name, b.Name))
	})
	return nil
}

// sectionKeys matches the keys of a configuration's sections.
var sectionKeys = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// check returns an error for a kind with a missing field, or with the name, key, Spec or bit of another.
func (u *Kind) check() error {
	for _, x := range []struct {
		lacks bool
		what  string
	}{
		{u.Name == "", "a name (isa.UnitExtension's)"}, {!sectionKeys.MatchString(u.Key), "a Key such as my_unit"}, {u.Part == "", "a Part"},
		{u.Title == "", "a Title"}, {u.Doc == "", "a Doc"}, {u.Exec == "", "an Exec"}, {u.New == nil, "a New"},
	} {
		if x.lacks {
			return fmt.Errorf("the unit %q lacks %s", u.Name, x.what)
		}
	}
	if bits.OnesCount32(u.Instructions.Presence) != 1 {
		return fmt.Errorf("%s has %#x as its bit of the CSR units: expected one bit", u.Name, u.Instructions.Presence)
	}
	for _, v := range kinds {
		if u.Name == v.Name || u.Key == v.Key || reflect.TypeOf(u.New()) == reflect.TypeOf(v.New()) {
			return fmt.Errorf("%s has the name, the key or the Spec of %s", u.Name, v.Name)
		}
	}
	return nil
}

// Aliases returns the unit's name if it differs from its key, where either may be written.
func (u *Kind) Aliases() []string {
	if u.Name == u.Key || findKind(func(v *Kind) bool { return v.Key == u.Name }) != nil {
		return nil
	}
	return []string{u.Name}
}

// KeyOf returns the key of the unit that a name is an alias of, or the name itself.
func KeyOf(name string) string {
	if u := findKind(func(u *Kind) bool { return slices.Contains(u.Aliases(), name) }); u != nil {
		return u.Key
	}
	return name
}

// StatisticOf returns a statistic's name with the names of units for their keys: core0.peg.gets for
// core0.graphpeg.gets.
func StatisticOf(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		if u := findKind(func(u *Kind) bool { return u.Key == p }); u != nil {
			parts[i] = u.Name
		}
	}
	return strings.Join(parts, ".")
}

// Registered returns the registered kinds, by rank and name.
func Registered() []*Kind { return kinds }

// KindNamed returns the kind of that name, or nil.
func KindNamed(name string) *Kind { return findKind(func(u *Kind) bool { return u.Name == name }) }

// KindOf returns the kind that a Spec belongs to, or nil.
func KindOf(s Spec) *Kind {
	return findKind(func(u *Kind) bool { return reflect.TypeOf(u.New()) == reflect.TypeOf(s) })
}

func findKind(is func(*Kind) bool) *Kind {
	if i := slices.IndexFunc(kinds, is); i >= 0 {
		return kinds[i]
	}
	return nil
}
