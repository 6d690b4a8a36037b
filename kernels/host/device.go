// Package host is the host side of a graph program: it writes a device's memory, launches programs on it, and reads the
// results.
//
// A Device is a timed or functional machine. Launches on one device follow each other: memory and cache contents
// persist, and time advances.
package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Device is a machine as seen by a host program.
type Device interface {
	// Shape returns the machine's parameters, for programs that depend on them.
	Shape() Shape
	// WriteWords and ReadWords copy between the host and the device's memory.
	// They take no simulated time.
	WriteWords(addr uint32, words []uint32)
	ReadWords(addr uint32, words []uint32)
	// ShareWords is WriteWords for words that are not modified during the device's lifetime, so that the device need
	// not copy them.
	ShareWords(addr uint32, words []uint32)
	// Launch runs a program to its end, with arg in mscratch. The counts are the launch's own; a functional machine
	// reports no cycles. A program that does not store exit code 0 has failed. After an error the device must not be
	// used again.
	Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error)
	// Hand returns the host-side interface to the cores' graph units; nil: the units have none.
	Hand() accel.Hand
	// LaneEdges returns the number of edges that each lane has handled in all launches, core by core and warp by warp,
	// in n's place if they have room there.
	LaneEdges(n []uint64) []uint64
}

// Parted is a device that reports the parts of a program (emu.PartPrefix) while it runs.
type Parted interface {
	// LaunchParts is Launch that calls ended at the end of each part with its counts and cycles, measured from the end
	// of the previous part. ended may read memory and counts; an error from it ends the run. rest covers the time after
	// the last part.
	LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (rest sim.Result,
		err error)
}

// Stepper is a device that is notified of super-steps.
type Stepper interface {
	// BeginStep is called before the first launch of super-step n, from 1; a repeated call with the same n has no
	// effect. An error ends the run.
	BeginStep(n int) error
}

// BeginStep notifies a device of a super-step if it is a Stepper.
func BeginStep(d Device, n int) error {
	if s, ok := d.(Stepper); ok {
		return s.BeginStep(n)
	}
	return nil
}

// CoreUser is a device that can be made to use fewer cores than it has.
type CoreUser interface {
	// UseCores makes coming launches use the first cores only.
	UseCores(n int) error
}

// Frontiers is a device that is notified of each super-step's active set.
type Frontiers interface {
	// Frontier is called before the launches that work on the active set, with the number of active vertices and of
	// edges that leave them.
	Frontier(step int, vertices, edges uint64)
}

// Frontier notifies a device of the active set if it implements Frontiers.
func Frontier(d Device, step int, vertices, edges uint64) {
	if s, ok := d.(Frontiers); ok {
		s.Frontier(step, vertices, edges)
	}
}

// Keeper is a device that checkpoints runs, so that a killed one can be resumed.
type Keeper interface {
	// Resume is called before the first launch, once everything is placed. program points to all of the host program's
	// own state from then on. If a checkpoint exists, the device's state and program are restored from it, to the
	// beginning of a super-step.
	Resume(program any) (resumed bool, err error)
	// Keep is called at the beginning of each super-step, before BeginStep: the device may write a checkpoint of its
	// own state and program's.
	Keep(step int)
}

// Keeps reports whether a device writes checkpoints, or resumes from one. A Keeper may have a method Keeping that says
// whether this run does.
func Keeps(d Device) bool {
	if k, ok := d.(interface{ Keeping() bool }); ok {
		return k.Keeping()
	}
	_, ok := d.(Keeper)
	return ok
}

// Resume restores a device from a checkpoint if it is a Keeper.
func Resume(d Device, program any) (resumed bool, err error) {
	if k, ok := d.(Keeper); ok {
		return k.Resume(program)
	}
	return false, nil
}

// Keep lets a device write a checkpoint if it is a Keeper.
func Keep(d Device, step int) {
	if k, ok := d.(Keeper); ok {
		k.Keep(step)
	}
}

// Unkept tells a device why no checkpoint can be written where one might be due.
func Unkept(d Device, why string) {
	if k, ok := d.(interface{ Unkept(why string) }); ok {
		k.Unkept(why)
	}
}

// Shape holds a machine's parameters as programs see them.
type Shape struct {
	Cores, Warps, Threads int
	ScratchpadBytes       int    // per core, available to programs
	LineBytes             int    // of the caches
	Unit                  string // name of the cores' graph unit in isa; empty: none
	MaskByUnit            bool   // the unit sets the thread mask
	BarriersSignal        bool   // barriers across cores do not order memory (core.device_barrier: signal)
	ArgumentRegisters     int    // words of the argument block in registers at a launch
	SilentExit            bool   // a program need not store an exit code
	Zba                   bool   // the extension
	Tasks                 bool   // it is one of Swarm tiles, whose programs are of tasks
}

// plug adds the cores' graph unit.
func (s *Shape) plug(unit accel.Spec, at accel.Shape) {
	s.Unit = accel.KindOf(unit).Name
	if u, ok := unit.(accel.ScratchpadSpec); ok {
		s.ScratchpadBytes -= u.ScratchpadBytes(at)
	}
	if u, ok := unit.(accel.MaskSpec); ok {
		s.MaskByUnit = u.SetsMask()
	}
}

// Lanes returns how many lanes the device has.
func (s Shape) Lanes() int { return s.Cores * s.Warps * s.Threads }

// Times accumulates the cost of launches.
type Times struct {
	Launches uint64
	Cycles   uint64 // within launches
	Overhead uint64 // around launches and super-steps
	// Half is half the width of the 95 % confidence interval of estimated cycles, with the errors of launches taken as
	// fully correlated.
	Half float64
}

// Add adds one launch.
func (t *Times) Add(r sim.Result, overhead uint64) {
	t.Launches++
	t.Cycles += r.Cycles
	t.Half += r.Half
	t.Overhead += overhead
}

// Total returns the time of a run, host and device.
func (t Times) Total() uint64 { return t.Cycles + t.Overhead }

// Session is one host program's use of a device. It accumulates the cost of its launches.
type Session struct {
	Device
	Overhead uint64 // host cycles per launch
	Times    Times
}

// Launch runs a program and adds its cost.
func (s *Session) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := s.Device.Launch(ctx, p, arg)
	s.Times.Add(r, s.Overhead)
	return r, err
}

// Floats reads n floats.
func (s *Session) Floats(addr uint32, n int) []float32 {
	words, out := make([]uint32, n), make([]float32, n)
	s.ReadWords(addr, words)
	for i, w := range words {
		out[i] = math.Float32frombits(w)
	}
	return out
}

// chunk is the number of words copied at once.
const chunk = 1 << 14

func readWords(m *emu.Memory, addr uint32, words []uint32) {
	b := make([]byte, 4*min(len(words), chunk))
	for len(words) > 0 {
		n := min(len(words), chunk)
		m.Read(addr, b[:4*n])
		for i := range n {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		words, addr = words[n:], addr+uint32(4*n)
	}
}

// exit returns the error that a program's exit code stands for.
func exit(m *emu.Machine, p *isa.Program) error {
	switch code, ok := m.ExitCode(); {
	case !ok:
		return fmt.Errorf("%s: %w", p.Name, errNoExitCode)
	case code != 0:
		return fmt.Errorf("%s: the program returned %d", p.Name, code)
	}
	return nil
}

var errNoExitCode = errors.New("the program ended without storing an exit code at 0x88")
