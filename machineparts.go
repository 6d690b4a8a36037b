package heddle

import (
	"errors"
	"fmt"
	"strings"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/configs/schema"
	"heddle/internal/registry"
	"heddle/isa/emu"
	"heddle/kernels/schedule"
	"heddle/sim/stats"
)

// Unit describes a kind of graph unit: its instructions, the section of machine.core that configures it, and its
// parameters (a Spec, which builds the unit and its functional model).
type Unit = accel.Kind

// Derived describes a statistic computed from a machine's counts.
type Derived = stats.Derived

// WithUnit returns the entry that adds a graph unit and its schedules, for cmd.Main or Register. The unit then has its
// section machine.core.KEY, its instructions in assembly, in disassembly and in heddle isa, its statistics, its flag of
// heddle exec --functional, and its schedules. Its Spec, and the unit that it builds for a core of 4 warps of 4 lanes,
// are tried: an error names the offending tag, name or bit.
func WithUnit(u *Unit, schedules ...*Schedule) Entry {
	if u == nil || u.Instructions == nil {
		return registry.New("graph unit", "",
			func() error { return errors.New("the unit is nil, or has no Instructions") })
	}
	return registry.New("graph unit", u.Instructions.Name, func() error {
		if err := accel.Add(*u); err != nil {
			return err
		}
		if err := tryUnit(u); err != nil {
			return err
		}
		for _, s := range schedules {
			if s == nil {
				return errors.New("one of its schedules is nil")
			}
			if s.Unit == nil {
				s.Unit = new(UnitUse)
			}
			s.Unit.Name = u.Instructions.Name
			if err := schedule.Add(s); err != nil {
				return fmt.Errorf("schedule %q: %w", s.Name, err)
			}
		}
		return nil
	})
}

// WithStatistic returns the entry that adds a statistic, for cmd.Main or Register. It exists on every machine that has
// the counts it is computed from: in heddle stats describe, summaries, stores, tables of --json, samples and reports. A
// name that a machine's statistic already has, or an input that is no count, is an error when the machine is built.
func WithStatistic(d Derived) Entry {
	return registry.New("statistic", d.Name, func() error { return stats.Derive(d) })
}

// trialCore is the core on which a unit is tried.
var trialCore = accel.Shape{Cores: 1, Warps: 4, Threads: 4, LineBytes: 64, ScratchpadBytes: 64 << 10,
	ScratchpadLatency: core.ScratchpadLatency}

// tryUnit tests the unit that a Kind builds, as the tests of heddle's own units do.
func tryUnit(u *Unit) error {
	if f, taken := schema.New[core.Spec]("").Lookup(u.Key); taken || u.Key == "extends" {
		return fmt.Errorf("its Key is %s, which machine.core has already: %s", u.Key, f.Doc)
	}
	spec := u.New()
	if err := schema.Fill(spec); err != nil {
		return fmt.Errorf("its Spec: %w", err)
	}
	if s, ok := spec.(accel.SizedSpec); ok {
		s.Enlarge(trialCore)
	}
	if key, msg, ok := spec.FitsCore(trialCore); !ok {
		return fmt.Errorf("its defaults do not fit a core of 4 warps of 4 lanes with a scratchpad of 64 KiB: %s: %s",
			key, msg)
	}
	timed, err := spec.NewUnit("Core0."+u.Part, trialCore)
	if err != nil {
		return fmt.Errorf("its Spec.NewUnit: %w", err)
	}
	twin, err := spec.NewFunctional(trialCore)
	if err != nil {
		return fmt.Errorf("its Spec.NewTwin: %w", err)
	}
	for _, x := range []emu.Unit{timed.Architecture(), twin} {
		if x.Name() != u.Instructions.Name || x.Presence() != u.Instructions.Presence {
			return fmt.Errorf("%T says that it is %s with bit %#x, and the instructions are of %s with bit %#x",
				x, x.Name(), x.Presence(), u.Instructions.Name, u.Instructions.Presence)
		}
	}
	_, uses := timed.(accel.MemoryUser)
	if _, says := spec.(accel.MemorySpec); says != uses {
		return fmt.Errorf("%T is an accel.MemorySpec: %t, and %T an accel.MemoryUser: %t: expected both or neither",
			spec, says, timed, uses)
	}
	return checkStatistics(timed)
}

// checkStatistics returns an error for statistics that lack required tags.
func checkStatistics(u accel.Unit) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its statistics: %s", strings.TrimPrefix(fmt.Sprint(p), "BUG: stats: "))
		}
	}()
	for _, s := range stats.Walk("", u.Statistics(0)) {
		if s.Name == "" || s.Doc == "" {
			return fmt.Errorf("its statistics: %q: expected tags stat, unit and doc", s.Name)
		}
	}
	return nil
}
