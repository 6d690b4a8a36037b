package core

import "heddle/isa/emu"

// Trace is the instruction trace of one warp: it determines the instructions that the warp executes, and the core
// determines when. The core asks for each instruction at decode, and for its outcome (addresses, mask, next address) in
// the cycle in which it takes effect.
//
// A warp of the functional machine is a Trace: it executes the program when asked. A recorded trace is another.
type Trace interface {
	// Decode returns the instruction at pc. An error matters only if the warp reaches pc, as the core fetches ahead.
	Decode(pc uint32) (*emu.Op, error)
	// Execute performs an instruction that is not a memory access. Execute, Issue and Ask are called in the warp's
	// program order.
	Execute(op *emu.Op) error
	// Issue fills a with the lanes and addresses of a memory access.
	Issue(op *emu.Op, a *emu.Access) error
	// Ask fills u with the operands of a request to the graph unit; Answer gives the warp the results that the unit has
	// stored in u.
	Ask(op *emu.Op, u *emu.UnitCall)
	Answer(u *emu.UnitCall)
	// Handles reports whether the program handles a trap; Handle continues the warp in its handler.
	Handles(t *emu.Trap) bool
	Handle(t *emu.Trap)
	// Mask returns the active lanes of the next instruction.
	Mask() uint32
	// PC returns the address of the next instruction.
	PC() uint32
	// Waiting reports whether a barrier or wspawn holds the warp; DescribeWait describes which.
	Waiting() bool
	DescribeWait() string
}

// Source provides the instruction traces of a core's warps.
type Source interface {
	Trace(warp int) Trace
	// Active returns the set of warps that have not ended.
	Active() uint64
	// SetClock sets the source of mcycle.
	SetClock(cycle func() uint64)
	// SetAllAtBarrier sets the callback for the moment when all of the core's warps wait at one device-wide barrier.
	// The core answers with Arrive, possibly cycles later, when it arrives there as seen by other cores.
	SetAllAtBarrier(f func())
	Arrive()
	// Declare publishes the device-wide barriers at which warps have begun to wait in this cycle, and the number of
	// cores of each.
	Declare() error
	// SetReleased sets the callback for the release of warps of this core by another core.
	SetReleased(f func())
	// SetHalted sets the callback for the end of the program for all warps at once.
	SetHalted(f func())
}

// Program returns the source that executes a program on c's architectural state.
func Program(c *emu.Core) Source { return program{c} }

type program struct{ *emu.Core }

func (p program) Trace(warp int) Trace { return p.Warp(warp) }
