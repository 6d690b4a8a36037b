// Package core is one SIMT core, cycle by cycle: fetch, issue, execution, the
// load-store unit with its coalescer, and the scratchpad. Stages, buffers and
// names are those of Vortex's RTL (2025-10); a buffer of the RTL is a queue
// here, and each takes a cycle.
//
// What instructions do is emu's: the core decides when. The load-store unit and
// the scratchpad are part of the component, since nothing else talks to them.
//
// This package knows no cache: it sends requests into links.
package core

import (
	"fmt"

	"heddle/isa"
)

// Spec is what a user may choose of a core.
type Spec struct {
	// Warps of the core, 1..64, and lanes of a warp, 1..32.
	Warps, Threads int
	// IssueSlices is the number of issue slices; warp w belongs to slice w mod
	// IssueSlices. RTL: UP(warps/16).
	IssueSlices int
	// Collectors is the number of operand collectors of a slice. RTL:
	// UP(warps/(4·slices)).
	Collectors int
	// IBuffer is the number of decoded instructions a warp holds. RTL: 4.
	IBuffer int
	// FPUQueue is how many operations an FPU block holds, from execution to
	// commit. RTL: 2.
	FPUQueue int
	// LSUQueue is how many warp loads are outstanding. RTL: 2.
	LSUQueue int
	// CoalescerTags is how many batches of merged requests are outstanding. RTL
	// (LSUQ_OUT_SIZE): the words of a channel, at least the LSU queue.
	CoalescerTags int
	// ChannelBytes is what one request to the L1D carries: the lanes of one
	// channel are merged when they fall into one aligned block of that size.
	// RTL: min(threads·4, L1 line).
	ChannelBytes int
	// Latency is, by class, the cycles from execution to the commit arbiter.
	Latency [isa.NumClasses]int
}

// DefaultLatency is the RTL's, with its simulation models of FPU, multiplier
// and divider (`idiv: dpi`).
var DefaultLatency = [isa.NumClasses]int{
	isa.ClassALU: 2, isa.ClassBranch: 2, isa.ClassVote: 2, isa.ClassMul: 5, isa.ClassDiv: 5,
	isa.ClassFMA: 5, isa.ClassFNCP: 3, isa.ClassFCvt: 6, isa.ClassFDiv: 16, isa.ClassFSqrt: 11,
	isa.ClassCSR: 4, isa.ClassWarp: 4, isa.ClassUnit: 4,
}

// DefaultSpec is Vortex's core of that shape.
func DefaultSpec(warps, threads int) Spec {
	slices := max(1, warps/16)
	return Spec{
		Warps: warps, Threads: threads, IssueSlices: slices, Collectors: max(1, warps/(4*slices)),
		IBuffer: 4, FPUQueue: 2, LSUQueue: 2, CoalescerTags: max(2, min(threads, 16)),
		ChannelBytes: min(4*threads, 64), Latency: DefaultLatency,
	}
}

// Validate checks the spec.
func (s *Spec) Validate() error {
	for _, c := range []struct {
		name      string
		v, lo, hi int
	}{
		{"warps", s.Warps, 1, 64}, {"threads", s.Threads, 1, 32}, {"issue slices", s.IssueSlices, 1, s.Warps},
		{"collectors", s.Collectors, 1, 16}, {"ibuffer", s.IBuffer, 1, 64}, {"fpu queue", s.FPUQueue, 1, 64},
		{"lsu queue", s.LSUQueue, 1, 64}, {"coalescer tags", s.CoalescerTags, 1, 256}, {"channel bytes", s.ChannelBytes, 4, 128},
	} {
		if c.v < c.lo || c.v > c.hi {
			return fmt.Errorf("core %s = %d: expected %d..%d", c.name, c.v, c.lo, c.hi)
		}
	}
	if s.Warps%s.IssueSlices != 0 {
		return fmt.Errorf("core issue slices = %d: expected a divisor of %d warps", s.IssueSlices, s.Warps)
	}
	if s.ChannelBytes&(s.ChannelBytes-1) != 0 {
		return fmt.Errorf("core channel bytes = %d: expected a power of two", s.ChannelBytes)
	}
	return nil
}

// DataLatency is the latency of the links to the data cache: the adapter behind
// the coalescer and the cache's input buffer.
const DataLatency = 2

// Fixed parts of the RTL's pipeline, in cycles.
const (
	commitToRelease = 2  // commit arbiter → write-back → the scoreboard sees it
	executeToUnlock = 3  // execution of control → the warp can be scheduled
	spawnDelay      = 1  // more for warps that wspawn starts
	bigArbiter      = 12 // arbiters with more inputs have two levels, a cycle more
)
