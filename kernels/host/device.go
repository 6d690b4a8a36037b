// Package host is the host's side of a graph program: it writes a device's memory,
// launches programs on it, and reads what they left.
//
// A Device is a machine with or without time. Launches follow each other on one
// device: memory stays, caches stay warm, time goes on.
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

// Device is a machine that a host program uses.
type Device interface {
	// Shape says what the machine is, for programs that depend on it.
	Shape() Shape
	// WriteWords and ReadWords copy between the host and the device's memory.
	// They take no simulated time.
	WriteWords(addr uint32, words []uint32)
	ReadWords(addr uint32, words []uint32)
	// ShareWords is WriteWords for words that nobody changes as long as there is the device, which need not copy them.
	ShareWords(addr uint32, words []uint32)
	// Launch runs a program to its end, with arg in mscratch. The counts are the
	// launch's own; a functional machine has no cycles. A program that does not
	// store exit code 0 has failed. After an error the device is spent.
	Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error)
	// Hand is the host's hand on the cores' graph units; nil: there are none that it has one on.
	Hand() accel.Hand
	// LaneEdges returns how many edges each lane has handled in all launches, core by core
	// and warp by warp.
	LaneEdges() []uint64
}

// Parted is a device that tells of the parts of a program (emu.PartPrefix) while it runs.
type Parted interface {
	// LaunchParts is Launch, and ended is given each part when it is over, with what it came to: from the end of the
	// one before. It may read memory and counts then, and an error of its ends the run. What is returned is of what
	// comes behind the last part.
	LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (rest sim.Result, err error)
}

// Stepper is a device that wants to know which launches are of which super-step.
type Stepper interface {
	// BeginStep comes before the first launch of super-step n, from 1; again with the same n means
	// nothing. An error ends the run.
	BeginStep(n int) error
}

// BeginStep tells a device that a super-step begins, if it wants to know.
func BeginStep(d Device, n int) error {
	if s, ok := d.(Stepper); ok {
		return s.BeginStep(n)
	}
	return nil
}

// Frontiers is a device that wants to know the active set of each super-step.
type Frontiers interface {
	// Frontier comes before the launches that work on it: active vertices, and the edges that leave them.
	Frontier(step int, vertices, edges uint64)
}

// Frontier tells a device the active set, if it wants to know.
func Frontier(d Device, step int, vertices, edges uint64) {
	if s, ok := d.(Frontiers); ok {
		s.Frontier(step, vertices, edges)
	}
}

// Keeper is a device that keeps the state of runs, so that one that was killed can go on.
type Keeper interface {
	// Resume comes before the first launch, when everything is placed. program points to all that the host program has
	// of its own from then on. If there is the state of an earlier run, it is the device's and the program's from now
	// on: the beginning of a super-step.
	Resume(program any) (resumed bool, err error)
	// Keep comes at the beginning of each super-step, before BeginStep: the device may write down its state and
	// program's.
	Keep(step int)
}

// Resume has a device go on with an earlier run's state, if it keeps any.
func Resume(d Device, program any) (resumed bool, err error) {
	if k, ok := d.(Keeper); ok {
		return k.Resume(program)
	}
	return false, nil
}

// Keep lets a device keep its state, if it does that.
func Keep(d Device, step int) {
	if k, ok := d.(Keeper); ok {
		k.Keep(step)
	}
}

// Shape is a machine as programs see it.
type Shape struct {
	Cores, Warps, Threads int
	ScratchpadBytes       int    // of a core, for programs
	LineBytes             int    // of the caches
	Unit                  string // the cores' graph unit, by isa's name; empty: none
	MaskByUnit            bool   // the unit sets the thread mask
	BarriersSignal        bool   // barriers of several cores do nothing to memory (core.device_barrier: signal)
}

// plug gives the cores a graph unit.
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

// Times adds up what launches cost.
type Times struct {
	Launches uint64
	Cycles   uint64 // in launches
	Overhead uint64 // around them: launches × launch overhead
	// Half is half the 95 % confidence interval of cycles that are estimated, as if launches' errors went together.
	Half float64
}

// Add books one launch.
func (t *Times) Add(r sim.Result, overhead uint64) {
	t.Launches++
	t.Cycles += r.Cycles
	t.Half += r.Half
	t.Overhead += overhead
}

// Total is the time of a run, host and device.
func (t Times) Total() uint64 { return t.Cycles + t.Overhead }

// Session is one host program's use of a device. It adds up what launches cost.
type Session struct {
	Device
	Overhead uint64 // cycles of the host for each launch
	Times    Times
}

// Launch runs a program, and books it.
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

// chunk is how many words are copied at once.
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
