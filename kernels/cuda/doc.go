// Package cuda writes a composed graph program as CUDA C++: the kernels of a plan, printed from their structured
// representation (package ir), and the host's loop over super-steps.
//
// A core is a thread block, and a warp has 32 lanes. Values that are used once become expressions; names come from the
// arrays that a value is loaded from. Control flow is the representation's own.
//
// This package knows no machine code, no time and no graph unit.
package cuda
