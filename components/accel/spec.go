package accel

import "heddle/isa/emu"

// Shape describes the core that a unit is in, and the machine around it.
type Shape struct {
	Core, Cores       int // which, of how many
	Warps, Threads    int
	LineBytes         int // of the caches
	ScratchpadBytes   int // of the core; 0: as many as cores have if nobody says otherwise
	ScratchpadLatency int // in cycles; 0: of a functional machine
}

// Spec holds the user-configurable parameters of a kind of unit: a pointer to a structure for package schema. Machines
// make units by it, and know none by name. What only some kinds have is an interface of its own, below.
type Spec interface {
	// FitsCore checks it for a core of that shape; key names the key that is wrong.
	FitsCore(s Shape) (key, msg string, ok bool)
	// NewUnit makes the unit of a core.
	NewUnit(name string, s Shape) (Unit, error)
	// NewTwin makes its functional model without time.
	NewFunctional(s Shape) (emu.Unit, error)
}

// MemorySpec is of units that are MemoryUsers.
type MemorySpec interface {
	// BypassesL1 reports whether their port leads past the L1D.
	BypassesL1() bool
}

// ScratchpadSpec is of units that have their tables in a core's scratchpad.
type ScratchpadSpec interface {
	// ScratchpadBytes returns how much of it they use.
	ScratchpadBytes(s Shape) int
}

// MaskSpec is of units that may set a warp's thread mask.
type MaskSpec interface {
	// SetsMask reports whether they do, so that kernels are compiled for it.
	SetsMask() bool
}

// SizedSpec is of units that must be as large as the core asks, on machines that nobody has configured.
type SizedSpec interface {
	// Enlarge raises what is too small for a core of that shape.
	Enlarge(s Shape)
}

// Described is a unit with figures that follow from its Spec, for statistics: a structure for package stats, and a name
// before theirs. nil: it has none.
type Described interface {
	Constants() (name string, figures any)
}
