package codegen

import (
	"fmt"

	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/ir"
)

// Options of a compilation.
type Options struct {
	Base       uint32 // where the program is loaded; 0: emu.CodeBase
	MaskByUnit bool   // the machine's Weaver sets the thread mask (its mask_by_unit)
	// Return makes the kernel a part of a larger program, which enters it with all warps and lanes, and goes on at that
	// address; 0: the kernel is a program, which starts the warps and ends them.
	Return uint32
	// FloatSpills keeps integers that no register is left for in float registers that are free, rather than on the
	// stack.
	FloatSpills bool
	// Registers limits how many integer and how many float registers are used, at least 4; 0: all. For tests.
	Registers int
	// After is called after each pass with its name; nil: not.
	After func(pass string, k *ir.Kernel)
}

// Phase is a range of addresses.
type Phase struct {
	isa.Phase
	From, To uint32 // To is the address behind
}

// Compiled is a program with what is known about it.
type Compiled struct {
	Program *isa.Program
	Kernel  *ir.Kernel // after all passes
	Phases  []Phase    // by address; a phase may have several ranges
	Stats   Stats
}

// Stats describe the code of a compilation.
type Stats struct {
	Instrs     int // instructions of the program
	XRegisters int // registers used
	FRegisters int
	Spills     int // virtual registers that live on the stack
	Moved      int // integer virtual registers that live in float registers
	// PerEdge is the instructions of one step of the innermost loops that contain an
	// Edge, in the order of the program.
	PerEdge   []int
	EdgeLoops []EdgeLoop // these loops
}

// EdgeLoop is an innermost loop with Edges.
type EdgeLoop struct {
	Edges  int // in its code: handled in a step, or some of them, each on its branch
	Instrs int // of a step, all branches together
	Loads  int // under way at once at most, before the first of them is used
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
	l := newLowering(k, o)
	if err := l.kernel(); err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	c, err := l.code.finish(k.Name, o)
	if err != nil {
		return nil, fmt.Errorf("kernel %s: %w", k.Name, err)
	}
	c.Kernel = k
	return c, nil
}
