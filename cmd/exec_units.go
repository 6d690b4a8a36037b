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

// unitFlags choose the graph unit of a functional machine's cores: a flag for each kind, named as its section in
// machine.core.
type unitFlags []*unitFlag

// unitFlag chooses one, and its knobs.
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

// names are those of all flags.
func (f unitFlags) names() (names []string) {
	for _, x := range f {
		names = append(names, x.unit.Key)
		for _, knob := range x.unit.Flags {
			names = append(names, knob.Name)
		}
	}
	return names
}

// list names the flags that plug a unit in: --weaver, --graphpeg.
func (f unitFlags) list() string {
	var names []string
	for _, x := range f {
		names = append(names, "--"+x.unit.Key)
	}
	return strings.Join(names, ", ")
}

// plug makes the chosen unit of every core; none: nil.
func (f unitFlags) plug(cfg *emu.Config) (twins []emu.Unit, err error) {
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
		twins = append(twins, u)
	}
	cfg.Units = func(n int) []emu.Unit { return twins[n : n+1] }
	return twins, nil
}
