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
		if s.What == alwt {
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
		u, err := weaverOf(m, spec)
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

// MapWeaver maps the Weaver of one of a machine's cores.
func MapWeaver(ctx context.Context, m *configs.Machine, spec *weaver.Spec, liberty string) (*Mapping, error) {
	u, err := weaverOf(m, spec)
	if err != nil {
		return nil, err
	}
	return Map(ctx, u, liberty)
}

func weaverOf(m *configs.Machine, spec *weaver.Spec) (rtl.Unit, error) {
	shape := m.UnitShape(0)
	return rtl.Weaver(spec.Derived(shape.Warps, shape.Threads, shape.ScratchpadLatency), shape.Warps, shape.Threads)
}
