package core

import (
	"math/bits"

	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// estimate is how long instructions take that are executed without time. It has the core's stages where they decide
// what is next, and how fast: warps are fetched for one by one, and decoded in that order; a slice begins with one
// instruction a cycle, warps wait for their registers, and for where control leads; units with few slots, or few
// lanes, hold up what comes to them, and what waits for them holds up its slice; memory accesses go through the
// load-store unit in order, and what memory takes is the caches' estimate. Left out are the arbiters behind execution,
// and buffers between stages but by the number of their slots. Cycles by it are no measurement.
type estimate struct {
	front   estimatedFront
	slices  []estimatedSlice
	memory  estimatedLSU
	busy    [64]uint64     // by warp: registers that may not be there
	regs    [64][64]uint64 // by warp and register: when it is
	ops     [64]*emu.Op    // by warp: its next instruction, if that has its registers
	pending [64]uint8      // by warp: memory accesses that have not begun

	latency [isa.NumClasses]uint64 // with the registers around units that take a warp in packets
	lanes   [isa.NumUnits]int      // of units that take a warp in packets; 0: whole
	sfu     mem.Server             // which all slices share
	between gaps
}

// gaps are the cycles between stages without contention.
type gaps struct {
	executeToRead uint64 // from issue to the issue of what reads the result, less the latency
	sharedToRead  uint64 // the same of the SFU
	branchToFetch uint64 // from issue to the warp's next fetch, less the latency
	sharedToFetch uint64 // from the issue of warp control to the warp's next fetch
	issueToMemory uint64 // to the switch between memory and scratchpad
	memoryToIssue uint64 // from the L1D's answer to the issue of what reads it
	memoryToFree  uint64 // to the next load at the switch, when as many as can be are under way
	localToFree   uint64 // the same of the scratchpad's answer
	local         uint64 // the scratchpad's latency without conflicts
}

// What does not depend on the core's shape.
const (
	fetchToL1I    = 1 // the schedule buffer
	fetchToDecode = 5 // that, the request, the L1I's two stages, and the answer
	decodeToIssue = 2 // the instruction buffer, and the scoreboard
	answerToFetch = 3 // from a graph unit's answer: the commit arbiter, write-back, and the scheduler
	switchToL1D   = 2 // the switch, and the coalescer's first state
	cyclesABatch  = 2 // of the coalescer's machine of two states
	freeInUnit    = 1 // from an FPU's result to its slot being free: commit
)

// newGaps adds the stages up. The scoreboard's arbiter has one level or two, there is another behind several
// collectors, and one from several slices to the LSU and the SFU; the scratchpad's crossbars have one level or two,
// each way.
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
	e.latency, e.lanes, e.between = c.latency, c.lanes, newGaps(s)
	for k := range e.latency {
		if u := isa.Class(k).Unit(); (u == isa.ALU || u == isa.FPU) && c.lanes[u] > 0 {
			e.latency[k] += 2
		}
	}
	e.slices = make([]estimatedSlice, s.Issue.Slices)
	for i := range e.slices {
		e.slices[i].build(c, i)
	}
	e.memory.build(c)
	e.front.build(c)
}

// begin forgets what was under way before.
func (e *estimate) begin() {
	e.front.begin()
	for i := range e.slices {
		e.slices[i].begin()
	}
	e.memory.due = never
	e.pending = [64]uint8{}
}

// restart has a warp be fetched for from a cycle on, with nothing under way.
func (e *estimate) restart(i int, pc uint32, at uint64) {
	e.busy[i] = 0
	e.front.restart(i, pc, at)
}

// slice returns a warp's.
func (e *estimate) slice(i int) *estimatedSlice { return &e.slices[i%len(e.slices)] }

// ready returns the cycle from which a warp's instruction has its registers; never: it waits for a memory access that
// has not begun.
func (e *estimate) ready(i int, op *emu.Op, at uint64) uint64 {
	regs := &e.regs[i]
	for m := op.Reads() & e.busy[i]; m != 0; m &= m - 1 {
		at = max(at, regs[bits.TrailingZeros64(m)&63])
	}
	return at
}

// writes notes when an instruction's result is there.
func (e *estimate) writes(i int, op *emu.Op, at uint64) {
	if r := op.Writes(); r != 0 {
		e.busy[i] |= r
		e.regs[i][bits.TrailingZeros64(r)&63] = at
	}
}

// execute returns when a warp's instruction that issues in a cycle would have issued if its unit made none wait. Those
// that wait hold up their slice when they fill what is before the unit.
func (e *estimate) execute(i int, op *emu.Op, mask uint32, at uint64) uint64 {
	s, unit, class := e.slice(i), op.Unit(), op.LatencyClass()
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
			begin = max(at, s.fpu.First())
			s.fpu.Take(begin + e.latency[class] + freeInUnit)
		}
	case unit == isa.SFU:
		begin = e.sfu.Take(at, turns) + turns - 1
	case class == isa.ClassDiv && s.serial:
		begin = s.divider.Take(at, e.latency[class]+turns-1)
	case turns > 1 || s.alu > mem.Server(at):
		begin = s.alu.Take(at, turns) + turns - 1
	}
	if begin > at {
		s.wait(begin)
	}
	return begin
}
