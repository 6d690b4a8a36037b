package core

import "heddle/isa/emu"

// Trace is one warp's instruction trace: what the warp executes, while the core
// decides when. The core asks for each instruction when it is decoded, and for its
// outcome (addresses, mask, where the warp goes on) when timing says that it acts.
//
// A warp of the functional machine is one: its trace comes into being by executing the
// program at that moment. A recorded trace is another.
type Trace interface {
	// Decode returns the instruction at pc. An error is one only if the warp gets there.
	Decode(pc uint32) (*emu.Op, error)
	// Execute gives an instruction that is no memory access its outcome. Instructions of a warp come in
	// program order, memory accesses with Issue.
	Execute(op *emu.Op) error
	// Issue fills a with the access's lanes and addresses.
	Issue(op *emu.Op, a *emu.Access) error
	// Ask fills u with the operands of a request to the graph unit, in program order as Issue does; Answer
	// gives the warp what the unit has written there.
	Ask(op *emu.Op, u *emu.UnitCall)
	Answer(u *emu.UnitCall)
	// Handles reports whether the program handles a trap, and Handle has the warp go on in its handler.
	Handles(t *emu.Trap) bool
	Handle(t *emu.Trap)
	// Mask is the set of lanes that the next instruction works on.
	Mask() uint32
	// PC is where the warp goes on after what was executed.
	PC() uint32
	// Waiting reports whether a barrier or wspawn holds the warp, and DescribeWait which.
	Waiting() bool
	DescribeWait() string
}

// Source has the instruction traces of a core's warps.
type Source interface {
	Trace(warp int) Trace
	// Active is the set of warps that have not ended.
	Active() uint64
	// SetClock tells what mcycle reads.
	SetClock(cycle func() uint64)
	// SetAllAtBarrier tells whom to call when all of the core's warps wait at one device-wide barrier.
	// For the others the core arrives there with Arrive.
	SetAllAtBarrier(f func())
	Arrive()
	// Declare has other cores know at which device-wide barriers warps wait since this cycle, and for how many cores.
	Declare() error
	// SetReleased tells whom to call when warps of this core go on because of another core.
	SetReleased(f func())
	// SetHalted tells whom to call when the program is over for all warps at once.
	SetHalted(f func())
}

// Program is the source that executes a program: c's architectural state.
func Program(c *emu.Core) Source { return program{c} }

type program struct{ *emu.Core }

func (p program) Trace(warp int) Trace { return p.Warp(warp) }
