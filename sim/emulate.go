package sim

import (
	"context"
	"math/bits"
	"slices"

	"heddle/components/accel"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// Emulate executes a program to its end as Launch does, but its instructions alone, at about a sixtieth of the host
// time. Only memory shows it, and with warm the caches' lines and DRAM's open rows, at half more cost: they are then as
// functional execution (Execute) leaves them, but for the units' own accesses; nothing is booked. The program counts as
// fetched, whole, by every core before its first instruction. The clock and all statistics stay, and the result has
// counts without cycles. Warps take turns of a fixed number of instructions. by is the machine that
// has executed it, for the exit code.
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
	by.SetAccessed(nil)
	if warm {
		m.assembleFunctional()
		t := newToucher(m)
		t.fetch(m, p)
		by.SetAccessed(t.touch)
	}
	err = by.Run(ctx)
	if m.spent = err != nil; m.watchdog.report != nil {
		m.watchdog.report(m.Progress())
	}
	return Result{Stats: by.Stats().Since(before)}, by, err
}

// toucher passes the accesses of emulated instructions to the L1Ds, line by line.
type toucher struct {
	data  []mem.Warmer // the L1D, by core
	mask  uint32       // of a line's address
	lines [emu.MaxThreads]uint32
}

func newToucher(m *Machine) *toucher {
	t := &toucher{mask: -uint32(m.cfg.L1D.LineBytes)}
	for n := range m.Cores {
		t.data = append(t.data, m.Caches[2*(n/m.cfg.CoresPerSocket)+1])
	}
	for s := range m.cfg.Sockets { // as at every launch
		t.data[s*m.cfg.CoresPerSocket].Touch(mem.Access{Op: mem.Invalidate})
	}
	return t
}

// fetch passes the program's instructions to the L1Is, line by line.
func (t *toucher) fetch(m *Machine, p *isa.Program) {
	for s := range m.cfg.Sockets {
		code := m.Caches[2*s]
		if !m.cfg.Core.KeepL1I { // as at every launch
			code.Touch(mem.Access{Op: mem.Invalidate})
		}
		size := uint64(m.cfg.L1I.LineBytes)
		for _, of := range p.Segments {
			if !of.Executable {
				continue
			}
			for at, end := uint64(of.Addr)&^(size-1), uint64(of.Addr)+uint64(len(of.Data)); at < end; at += size {
				code.Touch(mem.Access{Op: mem.Read, Addr: uint32(at), Operations: 1})
			}
		}
	}
}

// touch is called after each emulated instruction that accesses memory. Of lanes that access the same line, the first
// counts.
func (t *toucher) touch(core int, class isa.Class, addr *isa.Lanes, mask uint32) {
	a := mem.Access{Op: mem.Read, Operations: 1}
	switch class {
	case isa.ClassStore:
		a.Op, a.Wrote = mem.Write, true
	case isa.ClassAtomic:
		a.Op, a.Wrote = mem.Atomic, true
	}
	to, n := t.data[core], 0
	var seen uint64 // a bit for each line in lines, by a hash
	for ; mask != 0; mask &= mask - 1 {
		at := addr[bits.TrailingZeros32(mask)%isa.MaxLanes]
		line := at & t.mask
		if n > 0 && line == t.lines[(n-1)%len(t.lines)] || at < emu.UncachedEnd || at >= emu.ScratchpadBase {
			continue
		}
		bit := uint64(1) << (line * 0x9E3779B1 >> 26) // 2^32 / golden ratio, as in an MSHR's hash
		if seen&bit != 0 && slices.Contains(t.lines[:n], line) {
			continue
		}
		seen |= bit
		t.lines[n%len(t.lines)] = line
		n++
		a.Addr = line
		to.Touch(a)
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

// LaneEdges returns the number of edges that each lane has handled in all launches, emulated ones too, in n's place if
// they have room there.
func (m *Machine) LaneEdges(n []uint64) []uint64 {
	n = m.Arch.LaneEdges(n)
	if m.emulated != nil {
		m.emulated.AddLaneEdges(n)
	}
	return n
}
