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

// MachineOptions of a machine. None changes a cycle.
type MachineOptions struct {
	// MaxCycles ends a launch that takes more with an error; 0: there is no limit. Functional machines have MaxInstrs.
	MaxCycles uint64
	// MaxInstrs ends a run on a functional machine that executes more warp instructions with an error; 0: there is no
	// limit.
	MaxInstrs uint64
	// Check has every message between units held to the invariants that CheckInvariants looks at; it costs host time.
	Check bool
	// Threads is how many of the host's processors simulate, at most one for each socket; 0: 1.
	Threads int
	// Console is given each line that the program prints, with its end; nil: nobody. Machine.Console has all of it.
	Console func(line []byte)
}

// LaunchResult is the result of a launch: its cycles (0 without time), and counts of what was executed.
type LaunchResult = sim.Result

// Stat is a statistic: a count or a quotient, with its name, unit and meaning. Its value is Float's, a count's Uint's
// too.
type Stat = stats.Stat

// Statistics are those of a machine or of a point, in a fixed order; heddle stats describe lists them. Get finds one by
// its name.
type Statistics = stats.Tree

// Machine is a GPU with its memory. It is one goroutine's.
type Machine struct {
	device host.Device
	timed  *host.Timed // nil: without time
	arch   *emu.Machine
}

// NewMachine assembles the timed machine that a configuration describes. An error says which key does not fit which.
func NewMachine(c MachineConfig, o MachineOptions) (*Machine, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("option Threads: %d: expected 0 or more", o.Threads)
	}
	if o.MaxInstrs != 0 {
		return nil, errors.New("option MaxInstrs is for untimed machines: expected MaxCycles")
	}
	d, err := host.NewTimed(c, sim.Options{MaxCycles: o.MaxCycles, Check: o.Check, Threads: o.Threads, Out: o.Console})
	if err != nil {
		return nil, err
	}
	return &Machine{device: d, timed: d, arch: d.Machine.Arch}, nil
}

// NewFunctionalMachine makes a machine of as many cores, warps and lanes as the configuration has, with its graph unit,
// that says what happens and not when: some hundred times faster, and with no cycles. Of options it has MaxInstrs and
// Console.
func NewFunctionalMachine(c MachineConfig, o MachineOptions) (*Machine, error) {
	if o.MaxCycles != 0 || o.Check || o.Threads != 0 {
		return nil, errors.New("MaxCycles, Check and Threads are for timed machines: expected MaxInstrs and Console alone")
	}
	d, err := host.NewFunctional(emu.Config{
		Cores: c.Sockets * c.CoresPerSocket, Warps: c.Core.Warps, Threads: c.Core.Threads, ScratchpadBytes: c.Core.ScratchpadBytes,
		MaxInstrs: o.MaxInstrs, Out: o.Console,
	}, c.Core.Unit.Spec)
	if err != nil {
		return nil, err
	}
	return &Machine{device: d, arch: d.Machine}, nil
}

// Timed reports whether the machine has time.
func (m *Machine) Timed() bool { return m.timed != nil }

// Lanes returns how many lanes the machine has: cores × warps × threads.
func (m *Machine) Lanes() int { return m.device.Shape().Lanes() }

// WriteWords copies words to memory from an address on, a multiple of 4. It takes no simulated time. An error is an
// address that is none, or words beyond the last.
func (m *Machine) WriteWords(addr uint32, words []uint32) error {
	if err := checkWords(addr, len(words)); err != nil {
		return err
	}
	m.device.WriteWords(addr, words)
	return nil
}

// ReadWords returns n words of memory from an address on, a multiple of 4. It takes no simulated time. What nobody has
// written is 0.
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
// on one machine follow each other: memory, what is in the L2 and open rows of the DRAM stay as they are, L1s forget,
// and Statistics count on. An error is a trap, a program that makes no progress or reaches a limit, one that stores
// another exit code than 0 or none at all, or ctx's; after one, the machine launches nothing more.
func (m *Machine) Launch(ctx context.Context, p *Program, arg uint32) (LaunchResult, error) {
	if p == nil {
		return LaunchResult{}, errors.New("there is no program to launch")
	}
	return m.device.Launch(ctx, p, arg)
}

// ExitCode is the word that the program of the last launch has stored at 0x88; ok is false if it has stored nothing.
func (m *Machine) ExitCode() (code uint32, ok bool) { return m.arch.ExitCode() }

// Console is the output of programs, up to 16 MiB of it.
func (m *Machine) Console() string { return string(m.arch.Console()) }

// Statistics lists all that has been counted in all launches: heddle stats describe says what there is. Without time
// the counts are of executed instructions.
func (m *Machine) Statistics() Statistics {
	if m.timed == nil {
		return m.executed()
	}
	return m.timed.Machine.Statistics()
}

// executed are the counts of a functional machine.
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

// CheckInvariants reports whether counts break an invariant of conservation: each request was answered, no byte was
// lost between levels, every cycle of a scheduler has one cause. Machines without time have none.
func (m *Machine) CheckInvariants() error {
	if m.timed == nil {
		return nil
	}
	return m.timed.Machine.CheckInvariants()
}

// Device is the host's view of the machine, for packages that run kernels on it.
func (m *Machine) Device() host.Device { return m.device }
