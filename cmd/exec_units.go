package cmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa/emu"
	"heddle/kernels/host"
)

// unitFlags holds the flags that select the graph unit of a functional machine's cores, one for each kind, named like
// its section in machine.core.
type unitFlags []*unitFlag

// unitFlag selects a unit and sets its knobs.
type unitFlag struct {
	unit *accel.Kind
	spec accel.Spec
	on   bool
}

func newUnitFlags() (f unitFlags) {
	for _, u := range accel.Registered() {
		f = append(f, &unitFlag{unit: u, spec: configs.DefaultUnit(u)})
	}
	return f
}

func (f unitFlags) add(c *cobra.Command) {
	fl := c.Flags()
	for _, x := range f {
		fl.BoolVar(&x.on, x.unit.Key, false, x.unit.Exec)
		for _, alias := range x.unit.Aliases() {
			fl.BoolVar(&x.on, alias, false, "see --"+x.unit.Key)
			fl.MarkHidden(alias) //nolint:errcheck // the flag exists
		}
		for _, knob := range x.unit.Flags {
			switch v := knob.Value(x.spec).(type) {
			case *int:
				fl.IntVar(v, knob.Name, *v, knob.Doc)
			case *bool:
				fl.BoolVar(v, knob.Name, *v, knob.Doc)
			default:
				panic(fmt.Sprintf("BUG: exec: --%s sets a %T", knob.Name, v))
			}
		}
	}
}

// names returns the names of all flags.
func (f unitFlags) names() (names []string) {
	for _, x := range f {
		names = append(names, x.unit.Key)
		for _, knob := range x.unit.Flags {
			names = append(names, knob.Name)
		}
	}
	return names
}

// list returns the flags that select a unit, such as --weaver, --graphpeg.
func (f unitFlags) list() string {
	var names []string
	for _, x := range f {
		names = append(names, "--"+x.unit.Key)
	}
	return strings.Join(names, ", ")
}

// plug creates the selected unit for every core; nil without a selection.
func (f unitFlags) plug(cfg *emu.Config) (models []emu.Unit, err error) {
	var chosen *unitFlag
	for _, x := range f {
		switch {
		case x.on && chosen != nil:
			return nil, fmt.Errorf("choose one: %s", f.list())
		case x.on:
			chosen = x
		}
	}
	if chosen == nil {
		return nil, nil
	}
	if s, ok := chosen.spec.(accel.SizedSpec); ok {
		s.Enlarge(host.UnitShape(cfg, 0))
	}
	for n := range cfg.Cores {
		u, err := chosen.spec.NewFunctional(host.UnitShape(cfg, n))
		if err != nil {
			return nil, err
		}
		models = append(models, u)
	}
	cfg.Units = func(n int) []emu.Unit { return models[n : n+1] }
	return models, nil
}
