package sim

import (
	"context"
	"fmt"

	"heddle/components/clock"
	"heddle/isa"
)

// Part is a part of a launch, from the end of the one before.
type Part struct {
	Name string // suffix of the symbol of the barrier that ended it: emu.PartPrefix
	Result
}

// partWatch calls an observer at the ends of a program's parts. It only observes: cycles do not depend on it.
type partWatch struct {
	m      *Machine
	handle clock.Handle
	ended  func(Part) error `checkpoint:"assembled"`
	name   string           // of the part that has ended, reported at the end of the next instant
	before Result           // of the launch, where the part began; cycles are the machine's
}

// LaunchParts is Launch for a program with parts: ended is called after each part and may read the machine and its
// memory; its error ends the run. The result is that of the rest after the last part.
func (m *Machine) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(Part) error) (rest Result,
	err error) {
	if m.partWatch == nil {
		d, err := m.System.AddObserver("parts", corePeriod)
		if err != nil {
			return Result{}, err
		}
		m.partWatch = &partWatch{m: m}
		m.partWatch.handle = d.Add(m.partWatch)
	}
	t := m.partWatch
	t.ended, t.name, t.before = ended, "", t.now(m.domain.After()-1)
	m.Arch.ObserveParts(t.note)
	_, err = m.Launch(ctx, p, arg)
	m.Arch.ObserveParts(nil)
	last := t.now(max(m.lastCycle(), t.before.Cycles)) // a run can end at an instant that the cores slept through
	return last.since(&t.before), err
}

// note schedules the report of a part's end for the end of the next instant: everything in the instant of the barrier
// has then been done, and warps that it held have executed at most one instruction.
func (t *partWatch) note(name string) {
	if t.name != "" {
		panic(fmt.Sprintf("BUG: sim @%d: part %s has ended before the end of %s was told", t.m.domain.Cycle(), name,
			t.name))
	}
	t.name = name
	t.handle.Wake()
}

// now returns the counts of the machine.
func (t *partWatch) now(cycle clock.Cycle) Result {
	return Result{Cycles: cycle, Stats: t.m.Arch.Stats(), Attributed: t.m.attributed()}
}

func (r Result) since(before *Result) Result {
	return Result{Cycles: r.Cycles - before.Cycles, Stats: r.Stats.Since(before.Stats),
		Attributed: r.Attributed.since(&before.Attributed)}
}

// Tick reports a part's end.
func (t *partWatch) Tick(now clock.Cycle) bool {
	if t.name == "" {
		return false
	}
	t.m.settle()
	at := t.now(now)
	part := Part{t.name, at.since(&t.before)}
	t.name, t.before = "", at
	if err := t.ended(part); err != nil {
		t.m.Interrupt(err)
	}
	return false
}
