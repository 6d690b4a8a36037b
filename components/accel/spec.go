package accel

import "heddle/isa/emu"

// Shape describes the core that contains a unit, and the machine around it.
type Shape struct {
	Core, Cores       int // index of the core, and number of cores
	Warps, Threads    int
	LineBytes         int // of the caches
	ScratchpadBytes   int // of the core; 0: the default
	ScratchpadLatency int // in cycles; 0: in a functional machine
}

// Spec holds the parameters of a kind of unit: a pointer to a structure for package schema. Machines create units
// through it, and know none by name. Properties of only some kinds have interfaces of their own, below.
type Spec interface {
	// FitsCore checks the spec for a core of that shape; key is the key with the wrong value.
	FitsCore(s Shape) (key, msg string, ok bool)
	// NewUnit returns the unit of a core.
	NewUnit(name string, s Shape) (Unit, error)
	// NewFunctional returns the unit's functional model.
	NewFunctional(s Shape) (emu.Unit, error)
}

// MemorySpec is the Spec of units that are MemoryUsers.
type MemorySpec interface {
	// BypassesL1 reports whether their port bypasses the L1D.
	BypassesL1() bool
}

// ScratchpadSpec is the Spec of units with tables in a core's scratchpad.
type ScratchpadSpec interface {
	// ScratchpadBytes returns the number of bytes that they use.
	ScratchpadBytes(s Shape) int
}

// MaskSpec is the Spec of units that may set a warp's thread mask.
type MaskSpec interface {
	// SetsMask reports whether they do: kernels are compiled for it.
	SetsMask() bool
}

// SizedSpec is the Spec of units with tables whose size must fit the core, on machines with default configuration.
type SizedSpec interface {
	// Enlarge raises sizes that are too small for a core of that shape.
	Enlarge(s Shape)
}

// Described is a unit with constants that follow from its Spec, for statistics: a structure for package stats, and a
// prefix for names; nil: none.
type Described interface {
	Constants() (name string, figures any)
}

// BalancedSpec is the Spec of units that the control processor may balance by some policies only.
type BalancedSpec interface {
	// FitsPolicy checks a policy of the control processor; key is the unit's key with the value that it does not fit.
	FitsPolicy(policy string) (key, msg string, ok bool)
}
