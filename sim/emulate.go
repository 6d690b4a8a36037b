package sim

import (
	"context"
	"math/bits"
	"slices"

	"heddle/components/accel"
	"heddle/components/cache"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// Emulate executes a program to its end as Launch does, but its instructions alone, at about a sixtieth of the host
// time. Only memory shows it, and with warm the caches' lines and DRAM's open rows, at two or three times that cost:
// they are then as functional execution (Execute) leaves them, but for instructions and the units' own accesses. The
// clock and all statistics stay, and the result has counts without cycles. Warps take turns of a fixed number of
// instructions. by is the machine that has executed it, for the exit code.
func (m *Machine) Emulate(ctx context.Context, p *isa.Program, arg uint32, warm bool) (r Result, by *emu.Machine,
	err error) {
	if m.spent {
		return Result{}, nil, errSpent
	}
	if by, err = m.emulator(); err != nil {
		return Result{}, nil, err
	}
	before := by.Stats()
	by.SetArg(arg)
	by.Load(p)
	by.SetTrace(nil)
	if warm {
		m.assembleFunctional()
		by.SetTrace(newToucher(m).touch)
	}
	err = by.Run(ctx)
	m.spent = err != nil
	return Result{Stats: by.Stats().Since(before)}, by, err
}

// toucher passes the accesses of emulated instructions to the L1Ds, line by line.
type toucher struct {
	data   []*cache.Cache // by core
	at     uint64         // an estimate of time that only goes on: an instruction a cycle and core
	instrs uint64
	line   uint32 // size in bytes
	lines  [emu.MaxThreads]uint32
}

func newToucher(m *Machine) *toucher {
	t := &toucher{at: m.domain.After(), line: uint32(m.cfg.L1D.LineBytes)}
	for n := range m.Cores {
		t.data = append(t.data, m.Caches[2*(n/m.cfg.CoresPerSocket)+1])
	}
	for s := range m.cfg.Sockets { // as at every launch
		t.data[s*m.cfg.CoresPerSocket].Warm(mem.Access{Op: mem.Invalidate}, t.at)
	}
	return t
}

// touch is called after each emulated instruction.
func (t *toucher) touch(s *emu.Step) {
	if t.instrs++; t.instrs%uint64(len(t.data)) == 0 {
		t.at++
	}
	if s.Addrs == nil {
		return
	}
	a := mem.Access{Op: mem.Read, Operations: 1}
	switch s.Inst.Class {
	case isa.ClassStore:
		a.Op, a.Wrote = mem.Write, true
	case isa.ClassAtomic:
		a.Op, a.Wrote = mem.Atomic, true
	}
	n := 0
	for lanes := s.Mask; lanes != 0; lanes &= lanes - 1 {
		addr := s.Addrs[bits.TrailingZeros32(lanes)]
		line := addr &^ (t.line - 1)
		if addr < emu.UncachedEnd || addr >= emu.ScratchpadBase || slices.Contains(t.lines[:n], line) {
			continue
		}
		t.lines[n%len(t.lines)] = line
		n++
		a.Addr = line
		t.data[s.Core].Warm(a, t.at)
	}
}

// Emulates reports whether launches of the machine can be emulated, and whether so that they warm the caches: graph
// units may keep lists from launch to launch, and access memory by themselves.
func (m *Machine) Emulates() (can, warms bool) {
	if m.tasks != nil || m.Hand() != nil {
		return false, false
	}
	for _, u := range m.Units {
		if _, own := u.(accel.MemoryUser); own {
			return true, false
		}
	}
	return true, true
}

// emulatedTurn is the number of instructions that a warp executes before the next. Where a super-step reads what it has
// written itself, its work depends on it: connected components of a grid take 2 % more instructions than in time with
// 8, 5 % with 1 and 4 % with 128.
const emulatedTurn = 8

// emulator returns the functional machine that shares the machine's memory. Its graph units are functional ones, which
// begin every launch empty, as the machine's do.
func (m *Machine) emulator() (*emu.Machine, error) {
	if m.emulated != nil {
		return m.emulated, nil
	}
	cfg := m.Arch.Config()
	cfg.Memory, cfg.Units, cfg.Quantum = m.Arch.Mem, nil, emulatedTurn
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
