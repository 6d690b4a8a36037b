package sim

import (
	"context"
	"errors"

	"heddle/isa"
	"heddle/isa/emu"
)

// Emulate executes a program to its end as Launch does, but its instructions alone, at about a fiftieth of the host
// time. Only memory shows it: caches, open DRAM rows and the clock stay as the last launch has left them, statistics
// are unchanged, and the result has counts without cycles. Warps take turns of a fixed number of instructions. by is
// the machine that has executed it, for the exit code.
func (m *Machine) Emulate(ctx context.Context, p *isa.Program, arg uint32) (r Result, by *emu.Machine, err error) {
	if m.spent {
		return Result{}, nil, errSpent
	}
	if by, err = m.emulator(); err != nil {
		return Result{}, nil, err
	}
	before := by.Stats()
	by.SetArg(arg)
	by.Load(p)
	err = by.Run(ctx)
	m.spent = err != nil
	return Result{Stats: by.Stats().Since(before)}, by, err
}

// Emulates returns why launches of the machine cannot be emulated; nil: they can.
func (m *Machine) Emulates() error {
	switch {
	case m.tasks != nil:
		return errTiles("no launch is emulated")
	case m.Hand() != nil:
		return errors.New("the graph units keep lists from launch to launch")
	}
	return nil
}

// emulator returns the functional machine that shares the machine's memory. Its graph units are functional ones, which
// begin every launch empty, as the machine's do.
func (m *Machine) emulator() (*emu.Machine, error) {
	if m.emulated != nil {
		return m.emulated, nil
	}
	cfg := m.Arch.Config()
	cfg.Memory, cfg.Units = m.Arch.Mem, nil
	if spec := m.cfg.Core.Unit.Spec; spec != nil {
		var units []emu.Unit
		for n := range cfg.Cores {
			u, err := spec.NewFunctional(m.cfg.UnitShape(n))
			if err != nil {
				return nil, err
			}
			units = append(units, u)
		}
		cfg.Units = func(n int) []emu.Unit { return units[n : n+1] }
	}
	var err error
	m.emulated, err = emu.New(cfg)
	return m.emulated, err
}

// LaneEdges returns the number of edges that each lane has handled in all launches, emulated ones too.
func (m *Machine) LaneEdges() []uint64 {
	n := m.Arch.LaneEdges()
	if m.emulated != nil {
		for i, more := range m.emulated.LaneEdges() {
			n[i] += more
		}
	}
	return n
}
