package area

import (
	"context"
	"errors"
	"fmt"

	"heddle/components/accel"
	"heddle/components/graphpeg"
	"heddle/components/weaver"
	"heddle/configs"
	"heddle/rtl"
)

// Machine is the area of a machine, as far as it is counted.
type Machine struct {
	Storage MM2    // of the machine, that of its graph units not included
	Units   MM2    // the graph units of all cores; zero if they have none
	Counted string // what of them, in words
	Cores   int
	Mapping *Mapping // of a core's graph unit; nil: there is no SystemVerilog of it
	Lines   int      // of that, without comments
}

// Total returns the sum.
func (m *Machine) Total() MM2 { return m.Storage.Plus(m.Units) }

// Of estimates the area of a machine: a Weaver is mapped, and of a GraphPEG the ALWT counts. It returns an error for a
// machine with another graph unit, of which nothing is known, and ErrNoYosys if a unit cannot be mapped.
func Of(ctx context.Context, m *configs.Machine) (a Machine, err error) {
	if err := Known(m); err != nil {
		return a, err
	}
	a.Cores = m.Sockets * m.CoresPerSocket
	for _, s := range StorageOf(m) {
		if s.OfUnit() {
			a.Units = a.Units.Plus(s.Silicon())
		} else {
			a.Storage = a.Storage.Plus(s.Silicon())
		}
	}
	switch spec := m.Core.Unit.Spec.(type) {
	case nil:
		return a, nil
	case *graphpeg.Spec:
		a.Counted = fmt.Sprintf("ALWTs alone (%d bits an entry)", alwtEntry)
		return a, nil
	case *weaver.Spec:
		a.Counted = "Weavers"
		u, err := UnitOf(m)
		if err == nil {
			err = a.add(ctx, u)
		}
		return a, err
	default:
		return a, fmt.Errorf("core.%s: there is no SystemVerilog of it, so its area is not known: expected a machine "+
			"with a Weaver, a GraphPEG or no graph unit", accel.KindOf(spec).Name)
	}
}

// add adds the graph unit of each core.
func (a *Machine) add(ctx context.Context, u rtl.Unit) (err error) {
	if a.Mapping, err = Map(ctx, u, ""); err == nil {
		a.Lines, err = u.Lines()
	}
	if err == nil {
		a.Units = a.Mapping.Silicon().Times(a.Cores)
	}
	return err
}

// Known returns an error for a machine of whose parts nothing is known.
func Known(m *configs.Machine) error {
	if m.Swarm != nil {
		return errors.New("swarm: the area of Swarm's task units is not known: expected a machine without them")
	}
	return nil
}

// Whole is Of, but that a GraphPEG is mapped as a whole as well: Yosys takes minutes.
func Whole(ctx context.Context, m *configs.Machine) (Machine, error) {
	a, err := Of(ctx, m)
	if _, ok := m.Core.Unit.Spec.(*graphpeg.Spec); !ok || err != nil {
		return a, err
	}
	u, err := UnitOf(m)
	if err == nil {
		err = a.add(ctx, u)
	}
	a.Counted = "GraphPEGs"
	return a, err
}

// ErrNoControl: no control processor balances the machine's graph units.
var ErrNoControl = errors.New("no control processor balances the graph units")

// ControlOf returns the SystemVerilog of the control processor's part that balances the GraphPEGs of a machine of
// several cores. It returns ErrNoControl if there is none, and one that wraps rtl.ErrNone for a policy
// without SystemVerilog.
func ControlOf(m *configs.Machine) (rtl.Unit, error) {
	cores := m.Sockets * m.CoresPerSocket
	if _, ok := m.Core.Unit.Spec.(*graphpeg.Spec); !ok || cores == 1 {
		return rtl.Unit{}, ErrNoControl
	}
	return rtl.ControlProcessor(m.CtrlProc, cores)
}

// UnitOf returns the SystemVerilog of the graph unit of one of a machine's cores; rtl.ErrNone: there is none.
func UnitOf(m *configs.Machine) (rtl.Unit, error) {
	shape := m.UnitShape(0)
	switch spec := m.Core.Unit.Spec.(type) {
	case *weaver.Spec:
		return rtl.Weaver(spec.Derived(shape.Warps, shape.Threads, shape.ScratchpadLatency), shape.Warps, shape.Threads)
	case *graphpeg.Spec:
		return rtl.GraphPEG(spec.Derived(shape.Warps, shape.ScratchpadLatency), graphpeg.Shape{
			Cores: shape.Cores, Warps: shape.Warps, Threads: shape.Threads, LineBytes: shape.LineBytes,
		})
	}
	return rtl.Unit{}, rtl.ErrNone
}
