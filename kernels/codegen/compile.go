package codegen

import (
	"fmt"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// Options configures a compilation.
type Options struct {
	Base       uint32 // load address; 0: emu.CodeBase
	MaskByUnit bool   // the machine's Weaver sets the thread mask (its mask_by_unit)
	// Return makes the kernel a part of a larger program, which enters it with all warps and lanes and continues at
	// this address; 0: the kernel is a complete program, which starts the warps and ends them.
	Return uint32
	// Task makes the kernel, which must be Scalar, a task of a Swarm machine.
	Task bool
	// FloatSpills spills integers to free float registers first, rather than to the stack.
	FloatSpills bool
	// Sink computes values that are needed only behind a kernel's first test behind it.
	Sink bool
	// ArgumentRegisters is the number of the kernel's first arguments that a launch leaves in registers, each in
	// emu.ArgumentRegister of its number. Without effect on a part of a larger program, which leaves none.
	ArgumentRegisters int
	// Zba uses the extension.
	Zba bool
	// SilentExit ends a program without an exit code.
	SilentExit bool
	// Size is that of the machine, if the program is for no other: then its numbers are constants.
	Size Size
	// Lean shortens the code of warps without work further than Sink does: a loop's first test is on its index, also if
	// the others are on an address, and unread values are not computed.
	Lean bool
	// Registers limits the integer registers and the float registers, at least 4; 0: no limit. For tests.
	Registers int
	// After is called after each pass with its name; may be nil.
	After func(pass string, k *ir.Kernel)
}

// Size is the size of a machine; zero: unknown.
type Size struct{ Cores, Warps, Lanes int }

// Phase is a range of addresses.
type Phase struct {
	isa.Phase
	From, To uint32 // To is exclusive
}

// Compiled is a program with information about it.
type Compiled struct {
	Program *isa.Program // with a listing of Kernel
	Kernel  *ir.Kernel   // after all passes
	Phases  []Phase      // sorted by address; a phase can have several ranges
	Stats   Stats
}

// Stats describe the code of a compilation.
type Stats struct {
	Instrs     int // instructions of the program
	XRegisters int // registers used
	FRegisters int
	Spills     int // virtual registers on the stack
	Moved      int // integers in float registers
	// PerEdge counts the instructions of one iteration of each innermost loop that contains an Edge, in the order of
	// the program.
	PerEdge   []int
	EdgeLoops []EdgeLoop // these loops
}

// EdgeLoop is an innermost loop with Edges.
type EdgeLoop struct {
	Edges  int // Edge operations in its code, of which an iteration executes those on its branches
	Instrs int // of an iteration, with all branches
	Loads  int // largest number of loads in flight before the first of them is used
}

// Compile translates a kernel. The kernel is not changed.
func Compile(k *ir.Kernel, o Options) (*Compiled, error) {
	if o.Base == 0 {
		o.Base = emu.CodeBase
	}
	k = k.Clone()
	for _, p := range passes {
		p.run(k)
		if o.After != nil {
			o.After(p.name, k)
		}
	}
	if o.Size.Lanes > 0 {
		o.Size.fix(k)
		if o.After != nil {
			o.After("size", k)
		}
	}
	l := newLowering(k, o)
	if err := l.kernel(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	c, err := l.code.finish(k, o)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	return c, nil
}
