package core

import (
	"math/bits"

	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// estimate models the time of functionally executed instructions. It has the core's stages where they determine order
// and rate: fetch and decode of one warp after the other; issue of one instruction per slice and cycle; waits for
// registers and for control flow; units with few slots or few lanes, which hold up later instructions and with them
// their slice; and the load-store unit, in order, with the caches' estimate of memory. It omits the arbiters behind
// execution, and models the buffers between stages only by their number of slots. Cycles by the estimate are no
// measurement.
type estimate struct {
	front   estimatedFront
	slices  []estimatedSlice
	in      [64]uint8 // by warp: its slice
	memory  estimatedLSU
	busy    [64]uint64     // by warp: registers that may not have been written
	regs    [64][64]uint64 // by warp and register: cycle in which it is written
	ops     [64]*emu.Op    // by warp: its next instruction, if its registers are available
	pending [64]uint8      // by warp: memory accesses that have not begun

	latency [isa.NumClasses]uint64 // including the registers around units that take a warp in packets
	lanes   [isa.NumUnits]int      // of units that take a warp in packets; 0: whole warps
	blocks  [isa.NumUnits]int      // as pipe.blocks
	sfu     mem.Server             // shared by all slices
	between gaps
}

// gaps are the cycles between stages without contention.
type gaps struct {
	executeToRead uint64 // from issue to the issue of an instruction that reads the result, less the latency
	sharedToRead  uint64 // the same of the SFU
	branchToFetch uint64 // from issue to the warp's next fetch, less the latency
	sharedToFetch uint64 // from the issue of warp control to the warp's next fetch
	issueToMemory uint64 // from issue to the switch between memory and scratchpad
	memoryToIssue uint64 // from the L1D's answer to the issue of an instruction that reads it
	memoryToFree  uint64 // from the L1D's answer to the next load at the switch, when all load slots are in use
	localToFree   uint64 // the same of the scratchpad's answer
	local         uint64 // the scratchpad's latency without conflicts
}

// Cycles that do not depend on the core's parameters.
const (
	fetchToL1I    = 1 // the schedule buffer
	fetchToDecode = 5 // the schedule buffer, the request, the L1I's two stages, and the answer
	decodeToIssue = 2 // the instruction buffer, and the scoreboard
	answerToFetch = 3 // from a graph unit's answer: the commit arbiter, write-back, and the scheduler
	switchToL1D   = 2 // the switch, and the coalescer's first state
	freeInUnit    = 1 // from an FPU result to the release of its slot: commit
)

// newGaps adds up the stages. The scoreboard's arbiter has one level or two; another follows several collectors, and
// one joins several slices before the LSU and the SFU; the scratchpad's crossbars have one level or two in each
// direction.
func newGaps(s *Spec) gaps {
	issue := levels(s.Warps / s.Issue.Slices)
	if s.Collectors > 1 {
		issue++
	}
	shared := issue
	if s.Issue.Slices > 1 {
		shared++
	}
	return gaps{
		executeToRead: 7 + issue, // arbiter, two stages of a collector, its output, dispatch; commit, the scoreboard
		sharedToRead:  8 + shared,
		branchToFetch: 6 + issue, // the same to dispatch; the switch, and the scheduler
		sharedToFetch: 8 + shared,
		issueToMemory: 4 + shared,
		memoryToIssue: 8, // the switch, response, arbiter and gather buffer; commit, the scoreboard
		memoryToFree:  3,
		localToFree:   2,
		local:         ScratchpadLatency + 2*levels(s.LSULanes),
	}
}

func (e *estimate) build(c *Core) {
	s := &c.spec
	e.latency, e.lanes, e.blocks, e.between = c.latency, c.lanes, c.blocks, newGaps(s)
	for k := range e.latency {
		if u := isa.Class(k).Unit(); (u == isa.ALU || u == isa.FPU) && c.lanes[u] > 0 {
			e.latency[k] += 2
		}
	}
	e.slices = make([]estimatedSlice, s.Issue.Slices)
	for i := range e.slices {
		e.slices[i].build(c, i)
	}
	for i := range e.in {
		e.in[i] = uint8(i % len(e.slices))
	}
	e.memory.build(c)
	e.front.build(c)
}

// begin discards all state of an earlier launch.
func (e *estimate) begin() {
	e.front.begin()
	for i := range e.slices {
		e.slices[i].begin()
	}
	e.memory.due = never
	e.pending = [64]uint8{}
}

// restart makes a warp fetchable from cycle at on, with nothing in flight.
func (e *estimate) restart(i int, pc uint32, at uint64) {
	e.busy[i] = 0
	e.front.restart(i, pc, at)
}

// slice returns a warp's issue slice.
func (e *estimate) slice(i int) *estimatedSlice { return &e.slices[e.in[i&63]] }

// ready returns the first cycle in which the registers of a warp's instruction are available; never: one depends on a
// memory access that has not begun.
func (e *estimate) ready(i int, op *emu.Op, at uint64) uint64 {
	regs := &e.regs[i]
	for m := op.Reads() & e.busy[i]; m != 0; m &= m - 1 {
		at = max(at, regs[bits.TrailingZeros64(m)&63])
	}
	return at
}

// writes records the cycle in which an instruction's result is written.
func (e *estimate) writes(i int, op *emu.Op, at uint64) {
	if r := op.Writes(); r != 0 {
		e.busy[i] |= r
		e.regs[i][bits.TrailingZeros64(r)&63] = at
	}
}

// execute returns the cycle in which a warp's instruction that issues at cycle at would have issued had it not waited
// for its unit. Waiting instructions hold up their slice when they fill the buffers before the unit.
func (e *estimate) execute(i int, op *emu.Op, mask uint32, at uint64) uint64 {
	s, unit, class := e.slice(i), op.Unit(), op.LatencyClass()
	own := s // the slice with the unit
	if n := e.blocks[unit]; n > 0 {
		own = &e.slices[i%len(e.slices)%n]
	}
	turns := uint64(1)
	if n := e.lanes[unit]; n > 0 {
		turns = uint64(packets(mask, n))
	}
	if n := op.BankConflicts(); n > 0 {
		at += uint64(n)
		s.hold(at + 1)
	}
	begin := at
	switch {
	case unit == isa.FPU:
		for range turns {
			begin = max(at, own.fpu.First())
			own.fpu.Take(begin + e.latency[class] + freeInUnit)
		}
	case unit == isa.SFU:
		begin = e.sfu.Take(at, turns) + turns - 1
	case class == isa.ClassDiv && s.serial:
		begin = own.divider.Take(at, e.latency[class]+turns-1)
	case turns > 1 || e.blocks[unit] > 0 || own.alu > mem.Server(at):
		begin = own.alu.Take(at, turns) + turns - 1
	}
	if begin > at {
		s.wait(begin)
	}
	return begin
}
