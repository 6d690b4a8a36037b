// Package weaver is the Weaver unit of SparseWeaver (HPCA 2025, §III): kernels
// register (vertex, first edge, degree) triples and decode (vertex, edge)
// pairs, one per lane, until no work is left.
//
// State is the unit's pure logic: tables and what each FSM state does to them,
// without time. Untimed drives it for isa/emu. This package knows no core.
package weaver

import "fmt"

// Spec is what a user may choose of a Weaver.
type Spec struct {
	// STEntries is the number of slots of the Sparse Workload Information
	// Table, and so how far work is shared. 1..65536. Paper: 512 (§V-A).
	STEntries int
	// DTEntries is the number of words of the Dense Work ID Table; it must hold
	// a row per warp. The paper says 512, which cannot hold 32 rows of 32; ours
	// is 1024.
	DTEntries int
	// MaskByUnit makes weaver.dec.id also set the warp's mask to the lanes that
	// got an edge (paper §III-C). Default false: the kernel tests for -1.
	MaskByUnit bool
}

// DefaultSpec is the paper's machine.
func DefaultSpec() Spec { return Spec{STEntries: 512, DTEntries: 1024} }

// Validate checks the spec for a core of that shape.
func (s Spec) Validate(warps, threads int) error {
	if s.STEntries < 1 || s.STEntries > 1<<16 {
		return fmt.Errorf("weaver st_entries = %d: expected 1..65536", s.STEntries)
	}
	if need := warps * threads; s.DTEntries < need {
		return fmt.Errorf("weaver dt_entries = %d: expected at least warps × threads = %d, one row a warp", s.DTEntries, need)
	}
	return nil
}
