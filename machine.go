package heddle

import (
	"context"
	"errors"
	"fmt"

	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/sim"
	"heddle/sim/stats"
)

// MachineOptions configure a machine. None of them changes a cycle.
type MachineOptions struct {
	// MaxCycles ends a launch that takes more cycles with an error; 0: unlimited. Functional machines have MaxInstrs.
	MaxCycles uint64
	// MaxInstrs ends a run on a functional machine that executes more warp instructions with an error; 0: unlimited.
	MaxInstrs uint64
	// Check verifies on every message between units the invariants of CheckInvariants; it costs host time.
	Check bool
	// Threads is the number of host threads that simulate, at most one per socket; 0: 1.
	Threads int
	// Console is called with each line that the program prints, including its newline; nil: not called. Machine.Console
	// returns the whole output.
	Console func(line []byte)
}

// LaunchResult is the result of a launch: its cycles (0 on a functional machine), and counts of executed events.
type LaunchResult = sim.Result

// Stat is a statistic: a count or a quotient, with its name, unit and meaning. Float returns its value; for a count, so
// does Uint.
type Stat = stats.Stat

// Statistics are those of a machine or of a point, in a fixed order; heddle stats describe lists them. Get returns one
// by its name.
type Statistics = stats.Tree

// Machine is a GPU with its memory. It is not safe for concurrent use.
type Machine struct {
	device host.Device
	timed  *host.Timed // nil: functional
	arch   *emu.Machine
}

// NewMachine builds the timed machine that a configuration describes. An error names the conflicting keys.
func NewMachine(c MachineConfig, o MachineOptions) (*Machine, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("option Threads: %d: expected 0 or more", o.Threads)
	}
	if o.MaxInstrs != 0 {
		return nil, errors.New("option MaxInstrs is for functional machines: expected MaxCycles")
	}
	d, err := host.NewTimed(c, sim.Options{MaxCycles: o.MaxCycles, Check: o.Check, Threads: o.Threads, Out: o.Console})
	if err != nil {
		return nil, err
	}
	return &Machine{device: d, timed: d, arch: d.Machine.Arch}, nil
}

// NewFunctionalMachine returns a functional machine with the configuration's cores, warps, lanes and graph unit: it
// executes programs without timing, some hundred times faster, and reports no cycles. Of the options it uses MaxInstrs
// and Console.
func NewFunctionalMachine(c MachineConfig, o MachineOptions) (*Machine, error) {
	if o.MaxCycles != 0 || o.Check || o.Threads != 0 {
		return nil, errors.New("MaxCycles, Check and Threads are for timed machines: expected MaxInstrs and Console alone")
	}
	if c.Swarm != nil {
		return nil, errors.New("a machine of Swarm tiles: expected NewMachine, which is timed")
	}
	d, err := host.NewFunctional(emu.Config{
		Cores: c.Sockets * c.CoresPerSocket, Warps: c.Core.Warps, Threads: c.Core.Threads,
		ScratchpadBytes: c.Core.ScratchpadBytes,
		MaxInstrs:       o.MaxInstrs, Out: o.Console,
		ArgumentRegisters: c.Core.ArgumentRegisters, SilentExit: c.Core.SilentExit, Zba: c.Core.Zba,
	}, c.Core.Unit.Spec)
	if err != nil {
		return nil, err
	}
	return &Machine{device: d, arch: d.Machine}, nil
}

// Timed reports whether the machine is timed.
func (m *Machine) Timed() bool { return m.timed != nil }

// Lanes returns the number of lanes: cores × warps × threads.
func (m *Machine) Lanes() int { return m.device.Shape().Lanes() }

// WriteWords copies words to memory starting at an address, a multiple of 4. It takes no simulated time. An invalid
// address, or words beyond the end of memory, are errors.
func (m *Machine) WriteWords(addr uint32, words []uint32) error {
	if err := checkWords(addr, len(words)); err != nil {
		return err
	}
	m.device.WriteWords(addr, words)
	return nil
}

// ReadWords returns n words of memory starting at an address, a multiple of 4. It takes no simulated time. Memory never
// written reads as 0.
func (m *Machine) ReadWords(addr uint32, n int) ([]uint32, error) {
	if err := checkWords(addr, n); err != nil {
		return nil, err
	}
	words := make([]uint32, n)
	m.device.ReadWords(addr, words)
	return words, nil
}

func checkWords(addr uint32, n int) error {
	switch {
	case addr%4 != 0:
		return fmt.Errorf("address %#x: expected a multiple of 4", addr)
	case n < 0 || uint64(n) > (1<<32-uint64(addr))/4:
		return fmt.Errorf("%d words from address %#x: expected no more than there are up to 0xffffffff", n, addr)
	}
	return nil
}

// Launch runs a program to its end, with arg in the CSR mscratch: by convention the address of its arguments. Launches
// on one machine follow each other: memory, L2 contents and open DRAM rows persist, L1s are invalidated, and Statistics
// accumulate. Errors are a trap, a program that makes no progress or reaches a limit, one that stores a non-zero exit
// code or none at all, and ctx's; after an error the machine accepts no further launch.
func (m *Machine) Launch(ctx context.Context, p *Program, arg uint32) (LaunchResult, error) {
	if p == nil {
		return LaunchResult{}, errors.New("there is no program to launch")
	}
	return m.device.Launch(ctx, p, arg)
}

// ExitCode returns the word that the program of the last launch stored at 0x88; ok is false if it stored nothing.
func (m *Machine) ExitCode() (code uint32, ok bool) { return m.arch.ExitCode() }

// Console returns the output of programs, up to 16 MiB of it.
func (m *Machine) Console() string { return string(m.arch.Console()) }

// Statistics returns the statistics over all launches; heddle stats describe lists them. On a functional machine they
// count executed instructions.
func (m *Machine) Statistics() Statistics {
	if m.timed == nil {
		return m.executed()
	}
	return m.timed.Machine.Statistics()
}

// executed returns the counts of a functional machine.
func (m *Machine) executed() (list Statistics) {
	r := LaunchResult{Stats: m.arch.Stats()}
	list = r.Executed()
	for _, s := range sim.Instructions(r.Stats) {
		if _, there := list.Get(s.Name); !there {
			list = append(list, s)
		}
	}
	return list
}

// CheckInvariants returns an error if the counts violate a conservation invariant: each request was answered, no byte
// was lost between levels, every cycle of a scheduler has one cause. Functional machines have none.
func (m *Machine) CheckInvariants() error {
	if m.timed == nil {
		return nil
	}
	return m.timed.Machine.CheckInvariants()
}

// Device returns the host's view of the machine, for packages that run kernels on it.
func (m *Machine) Device() host.Device { return m.device }
