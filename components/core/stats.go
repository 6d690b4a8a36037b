package core

import (
	"fmt"
	"math/bits"
	"strings"

	"heddle/components/count"
	"heddle/isa"
)

// Stats are the counters of a core. Tags hold their names, units and descriptions.
type Stats struct {
	Cycles    uint64 `stat:"cycles" unit:"cycles" doc:"From the launch to the core's last work."`
	Scheduled uint64 `stat:"fetch.requests" unit:"instructions" doc:"Warps given to fetch."`
	Discarded uint64 `stat:"fetch.discarded" unit:"instructions" doc:"Fetched and never issued: no instruction, or behind one that had trapped."`
	Issued    uint64 `stat:"issue.instructions" unit:"warp instructions" doc:"Instructions issued."`
	Squashed  uint64 `stat:"issue.squashed" unit:"warp instructions" doc:"Of the issued instructions, those behind one that had trapped, which have no effect."`
	Committed uint64 `stat:"commit.instructions" unit:"warp instructions" doc:"Instructions that have ended."`

	Scheduler Causes `stat:"scheduler" unit:"scheduler-cycles" doc:"Every issue slot of every slice and cycle, under one cause; together slices × issue.dispatch_per_slice × cycles."`
	Warps     States `stat:"warps" unit:"warp-cycles" doc:"Every cycle of every resident warp, under one state; together warps.resident."`
	Resident  uint64 `stat:"warps.resident" unit:"warp-cycles" doc:"Warps that have started and not ended, summed over cycles."`
	Eligible  uint64 `stat:"warps.eligible" unit:"warp-cycles" doc:"Warps that could have issued, had the policy chosen them, summed over cycles."`

	Phases Phases `stat:"phase" doc:"By the phases of SparseWeaver (HPCA 2025), Fig. 17, that a program marks with symbols heddle.phase.NAME."`

	SchedIdle count.Span `stat:"vortex.sched_idle" unit:"cycles" doc:"Cycles without a warp that could be fetched for. Vortex: sched_idles."`
	IBufFull  count.Span `stat:"vortex.ibuf_stalls" unit:"cycles" doc:"Cycles decode stood still because a warp's instruction buffer was full. Vortex: ibuf_stalls."`
	Operands  uint64     `stat:"vortex.opds_stalls" unit:"cycles" doc:"Cycles a collector lost to two operands in one bank. Vortex: opds_stalls."`
	Board     Scoreboard `stat:"vortex" unit:"scheduler-cycles" doc:"Cycles of a slice in which a warp waited for a result of that unit. Vortex: scrb_…"`

	Coalesced      uint64 `stat:"lsu.requests" unit:"requests" doc:"Requests sent to the L1D, after merging."`
	LoadRequests   uint64 `stat:"lsu.load.requests" unit:"requests" doc:"Of these requests, loads."`
	LoadBytes      uint64 `stat:"lsu.load.bytes" unit:"bytes" doc:"That lanes' loads asked of memory, the scratchpad apart. nvprof: gld_requested_throughput, without the time."`
	AtomicRequests uint64 `stat:"lsu.atomic.requests" unit:"requests" doc:"Of these requests, those of atomics."`
	AtomicLanes    uint64 `stat:"lsu.atomic.lanes" unit:"lane accesses" doc:"Lanes' atomics on memory, the scratchpad apart."`
	Mixed          uint64 `stat:"lsu.mixed" unit:"warp instructions" doc:"Loads, stores and atomics some of whose lanes address the scratchpad and others memory: both are asked at once, and the instruction waits for both."`
	LaneLoads      uint64 `stat:"lsu.lanes" unit:"lane accesses" doc:"Addresses of loads, stores and atomics."`
	LocalWaits     uint64 `stat:"scratchpad.conflict_cycles" unit:"cycles" doc:"Cycles in which a lane waited for a bank of the scratchpad that took another lane's request."`
}

// cause is the activity of a scheduler (an issue slice) in a cycle: issue, or the reason for none, which is that of the
// instruction furthest along.
type cause uint8

const (
	issued cause = iota
	operandsFull
	aluBusy
	fpuBusy
	sfuBusy
	lsuFull
	waitsMemory // from here on: the cause of the lowest warp that waits for a register
	waitsScratchpad
	waitsALU
	waitsFPU
	waitsSFU
	waitsUnit
	ibufferEmpty
	inactive
	barrier
	drained
	numCauses
)

const numHazards = waitsUnit - waitsMemory + 1

// Causes counts scheduler-cycles by cause.
type Causes [numCauses]uint64

var causeDocs = [numCauses][2]string{
	issued:       {"issued", "An instruction was issued."},
	operandsFull: {"stall.operands", "Nothing could be issued: the operand collectors hold it up (bank conflict, or all in use)."},
	aluBusy:      {"stall.alu_busy", "Nothing could be issued: the ALU takes no more."},
	fpuBusy:      {"stall.fpu_busy", "Nothing could be issued: the FPU takes no more (fpu_queue)."},
	sfuBusy:      {"stall.sfu_busy", "Nothing could be issued: the SFU takes no more."},
	lsuFull:      {"stall.lsu_queue", "Nothing could be issued: the load-store unit takes no more (lsu_queue, coalescer, fence)."},
	waitsMemory: {"stall.scoreboard.memory",
		"No warp had its registers; the lowest waits for a load from memory or an atomic."},
	waitsScratchpad: {"stall.scoreboard.scratchpad", "No warp had its registers; the lowest waits for the scratchpad."},
	waitsALU: {"stall.scoreboard.alu",
		"No warp had its registers; the lowest waits for the ALU, multiplier or divider."},
	waitsFPU: {"stall.scoreboard.fpu", "No warp had its registers; the lowest waits for the FPU."},
	waitsSFU: {"stall.scoreboard.sfu",
		"No warp had its registers; the lowest waits for the SFU: a CSR or warp control."},
	waitsUnit:    {"stall.scoreboard.unit", "No warp had its registers; the lowest waits for the graph unit."},
	ibufferEmpty: {"stall.ibuffer", "No warp had an instruction: fetch, or control that is not resolved."},
	inactive:     {"stall.inactive", "Warps had their registers, but issue.policy keeps them out of its active set."},
	barrier:      {"stall.barrier", "All warps are held by a barrier or a wspawn."},
	drained:      {"drained", "All warps of the slice have ended."},
}

// Registers returns the number of scheduler-cycles in which no warp had its registers.
func (c *Causes) Registers() (n uint64) {
	for k := waitsMemory; k <= waitsUnit; k++ {
		n += c[k]
	}
	return n
}

// Add adds the counts of another core.
func (c *Causes) Add(o *Causes) {
	for i := range c {
		c[i] += o[i]
	}
}

// Since returns the counts since an earlier copy.
func (c Causes) Since(before *Causes) Causes {
	for i := range c {
		c[i] -= before[i]
	}
	return c
}

// Describe returns the name and the description of a cause's statistic.
func (*Causes) Describe(i int) (name, doc string) { return causeDocs[i][0], causeDocs[i][1] }

// state is the state of a resident warp in a cycle, in the terms of NVIDIA's Nsight Compute.
type state uint8

const (
	selected state = iota
	notSelected
	noInstruction
	longScoreboard
	shortScoreboard
	lgThrottle
	mioThrottle
	mathPipeThrottle
	fixedWait
	dispatchStall
	branchResolving
	atBarrier
	membar
	unitWait
	eligible  // has its registers: booked by its slice
	numStates = eligible
)

// States counts warp-cycles by state.
type States [numStates]uint64

var stateDocs = [numStates][2]string{
	selected:         {"selected", "It issued."},
	notSelected:      {"not_selected", "It could have issued; another warp did."},
	noInstruction:    {"no_instruction", "Its instruction buffer is empty, or its head on the way to the scoreboard."},
	longScoreboard:   {"long_scoreboard", "It waits for a load from memory or an atomic."},
	shortScoreboard:  {"short_scoreboard", "It waits for the scratchpad or the SFU."},
	lgThrottle:       {"lg_throttle", "It could issue, but the load-store unit holds up its slice."},
	mioThrottle:      {"mio_throttle", "It could issue, but the SFU holds up its slice."},
	mathPipeThrottle: {"math_pipe_throttle", "It could issue, but the ALU or FPU holds up its slice."},
	fixedWait:        {"wait", "It waits for a result of the ALU or FPU."},
	dispatchStall:    {"dispatch", "It could issue, but the operand collectors hold up its slice."},
	branchResolving:  {"branch_resolving", "Its control instruction is not resolved."},
	atBarrier:        {"barrier", "A barrier or a wspawn holds it."},
	membar:           {"membar", "It has nothing to issue and its fence has not ended."},
	unitWait:         {"unit_wait", "It waits for the graph unit."},
}

// Describe returns the name and the description of a state's statistic.
func (*States) Describe(i int) (name, doc string) { return stateDocs[i][0], stateDocs[i][1] }

// stateOf maps a cause to the state of a warp that could issue or waits for a register.
var stateOf = [numCauses]state{
	issued: notSelected, operandsFull: dispatchStall, aluBusy: mathPipeThrottle, fpuBusy: mathPipeThrottle,
	sfuBusy: mioThrottle, lsuFull: lgThrottle,
	waitsMemory: longScoreboard, waitsScratchpad: shortScoreboard, waitsALU: fixedWait, waitsFPU: fixedWait,
	waitsSFU: shortScoreboard, waitsUnit: unitWait, inactive: notSelected,
}

// Scoreboard counts slice-cycles with a warp that waits for a unit, in the order of Vortex's counters; the last is not
// in Vortex.
type Scoreboard [len(boardUnits)]count.Level

var boardUnits = [...]struct {
	name   string
	causes [2]cause
}{
	{"alu", [2]cause{waitsALU, waitsALU}}, {"fpu", [2]cause{waitsFPU, waitsFPU}}, {"lsu", [2]cause{waitsMemory, waitsScratchpad}},
	{"sfu", [2]cause{waitsSFU, waitsSFU}}, {"unit", [2]cause{waitsUnit, waitsUnit}},
}

// Of returns the count for a functional unit.
func (s *Scoreboard) Of(u isa.Unit) uint64 {
	name := strings.ToLower(u.String())
	for i := range boardUnits {
		if boardUnits[i].name == name {
			return s[i].Count()
		}
	}
	panic("BUG: core: the scoreboard has no unit " + name)
}

// boardOf maps each hazard to an index of boardUnits.
var boardOf = func() (of [numHazards]uint8) {
	for u := range boardUnits {
		for _, k := range boardUnits[u].causes {
			of[k-waitsMemory] = uint8(u)
		}
	}
	return of
}()

// Describe returns the name and the description of a unit's statistic.
func (*Scoreboard) Describe(i int) (name, doc string) {
	u := boardUnits[i].name
	return "scrb_" + u, "A warp of the slice waited for a result of the " + strings.ToUpper(u) + "."
}

// cycle records the activity of a scheduler in one cycle.
type cycle struct {
	cause  cause // why it issued no more; issued: it could not have issued more
	ready  uint8 // warps that could have issued
	issued uint8
	// selected equals issued, except in slices with groups of warps.
	selected uint8
}

// Cycles are booked by interval: every warp with its state, every slice with its scheduler's activity, and the front
// end record the value of Cycles at which the current activity began, and book the interval when it ends. A cycle that
// repeats the one before therefore costs nothing, whether it is ticked or slept through.

// enter books a warp's time in its state, and begins another.
func (p *pipe) enter(w *warp, s state) {
	if w.state < numStates {
		p.Warps[w.state] += p.Cycles - w.stateSince
	}
	w.state, w.stateSince = s, p.Cycles
}

// refreshState recomputes the state of an active warp that is not at the scoreboard from the sets that it belongs to.
func (p *pipe) refreshState(i int) {
	if w := &p.warps[i]; p.active&^p.atIssue>>i&1 != 0 {
		p.enter(w, p.unstaged(i))
	}
}

// unstaged returns the state of a warp without an instruction at the scoreboard.
func (p *pipe) unstaged(i int) state {
	switch bit := uint64(1) << i; {
	case p.atBarrier&bit != 0:
		return atBarrier
	case (p.fenced|p.awaitingUnit|p.branching)&bit == 0:
		return noInstruction
	case p.fenced&bit != 0:
		return membar
	case p.awaitingUnit&bit != 0:
		return unitWait
	}
	return branchResolving
}

// begin launches warp i; leave ends it.
func (p *pipe) begin(i int) {
	w := &p.warps[i]
	p.active |= 1 << i
	p.stalled |= 1 << i
	w.since, w.phase, w.waited = p.Cycles, isa.PhaseOther, isa.PhaseOther
	w.resident, w.state, w.stateSince = p.Cycles, noInstruction, p.Cycles
}

func (p *pipe) leave(i int) {
	w := &p.warps[i]
	p.bookPhase(w, w.phase, p.Cycles)
	p.enter(w, noInstruction)
	p.Resident += p.Cycles - w.resident
	p.active &^= 1 << i
	p.branching &^= 1 << i
}

// settleWarps books the time of all warps up to now.
func (p *pipe) settleWarps() {
	for m := p.active; m != 0; m &= m - 1 {
		w := &p.warps[bits.TrailingZeros64(m)]
		p.enter(w, w.state)
		p.Resident += p.Cycles - w.resident
		w.resident = p.Cycles
	}
}

// bookIssue records the activity of the slice's scheduler from this cycle on.
func (sl *slice) bookIssue(b cycle, now uint64) {
	if b != sl.booked {
		sl.settle()
		sl.booked = b
	}
	if sl.observed {
		sl.observe(now)
	}
}

// observe books the cycle for the profile and SharedStalls.
func (sl *slice) observe(now uint64) {
	if sl.profile != nil {
		sl.blame(now)
	}
	if sl.sharing != nil {
		sl.share()
	}
}

// settle books the slice's time up to now.
func (sl *slice) settle() {
	n := sl.Cycles - sl.bookedSince
	sl.bookedSince = sl.Cycles
	b := &sl.booked
	done, could := n*uint64(b.issued), n*uint64(b.ready)
	sl.Scheduler[issued] += done
	idle := n*uint64(sl.spec.Issue.Dispatch) - done
	sl.Scheduler[b.cause] += idle
	if sl.observed {
		sl.bookObserved(idle)
	}
	if could == 0 {
		return
	}
	if chosen := n * uint64(b.selected); chosen > 0 || b.cause == inactive {
		sl.Warps[selected] += chosen
		sl.Warps[notSelected] += could - chosen
		sl.Eligible += could
	} else {
		sl.Warps[stateOf[b.cause]] += could
	}
}

// bookObserved counts empty slots for the profile and SharedStalls.
func (sl *slice) bookObserved(idle uint64) {
	if sl.profile != nil {
		sl.profile.rows[sl.blamed].Stalls[sl.booked.cause] += idle
	}
	if sl.sharing != nil {
		sl.sharing.add(idle)
	}
}

// await records that one more warp of the slice waits for the unit of hazard k.
func (sl *slice) await(k cause) {
	u := boardOf[k-waitsMemory]
	if sl.waits[u]++; sl.waits[u] == 1 {
		sl.Board[u].Add(1, sl.Cycles)
	}
}

// awaitNoMore records that one fewer does.
func (sl *slice) awaitNoMore(k cause) {
	u := boardOf[k-waitsMemory]
	if sl.waits[u]--; sl.waits[u] == 0 {
		sl.Board[u].Add(-1, sl.Cycles)
	}
}

// bookSchedule records the activity of the front end in this cycle, which Cycles already includes.
func (c *Core) bookSchedule(unscheduled, undecoded bool) {
	c.SchedIdle.Set(unscheduled, c.Cycles-1)
	c.IBufFull.Set(undecoded, c.Cycles-1)
}

// settleAll books everything up to now.
func (c *Core) settleAll() {
	c.settleWarps()
	for i := range c.slices {
		c.slices[i].settle()
	}
	c.counted.Settle(c.Cycles)
}

// Fetches returns the number of requests sent to the L1I; Requests, to the L1D. Fences and invalidations do not count.
func (c *Core) Fetches() uint64  { return c.Scheduled }
func (c *Core) Requests() uint64 { return c.Coalesced }

// ToL1D returns the number of requests sent to the L1D as reads, writes and atomics. ok is false if the counters cannot
// tell, as the mode times the atomics of one instruction partly as writes.
func (c *Core) ToL1D() (reads, writes, atomics uint64, ok bool) {
	stores := c.Coalesced - c.LoadRequests - c.AtomicRequests
	switch c.spec.Atomics.Mode {
	case AtomicsL2:
		return c.LoadRequests, stores, c.AtomicRequests, true
	case AtomicsSimX25:
		return 0, 0, 0, false
	}
	return c.LoadRequests + c.AtomicRequests, stores, 0, true
}

// CheckInvariants returns an error if the counts of a core that is done contradict each other: an instruction was lost,
// or a cycle booked twice or never.
func (c *Core) CheckInvariants() error {
	s := &c.Stats
	for _, l := range []struct {
		invariant string
		got, want uint64
	}{
		{"cycles booked = cycles that the clock made", s.Cycles, c.elapsed},
		{"instructions fetched = issued + discarded", s.Scheduled + c.front.brought, s.Issued + s.Discarded},
		{"instructions issued = committed", s.Issued, s.Committed},
		{"scheduler cycles that issued = instructions", s.Scheduler[issued], s.Issued},
		{"causes of scheduler cycles add up to slices × dispatch × cycles", sum(s.Scheduler[:]), uint64(len(c.slices)*c.spec.Issue.Dispatch) * s.Cycles},
		{"warps selected = instructions", s.Warps[selected], s.Issued},
		{"states of warps add up to resident warp-cycles", sum(s.Warps[:]), s.Resident},
		{"warp-cycles of phases add up to resident warp-cycles", sum(s.Phases.Cycles[:]), s.Resident},
		{"scheduler-cycles of phases add up to slices × cycles", sum(s.Phases.Time[:]), uint64(len(c.slices)) * s.Cycles},
		{"instructions of phases add up to instructions issued", sum(s.Phases.Instrs[:]), s.Issued},
		{"eligible = selected + not selected", s.Eligible, s.Warps[selected] + s.Warps[notSelected]},
	} {
		if l.got != l.want {
			return fmt.Errorf("%s: invariant violated: %s: %d, %d", c.Name(), l.invariant, l.got, l.want)
		}
	}
	if shared, ok := c.SharedStalls(); ok && sum(shared[:]) != sum(s.Scheduler[:])-s.Scheduler[issued] {
		return fmt.Errorf("%s: invariant violated: shared stalls add up to those by one cause: %d, %d", c.Name(),
			sum(shared[:]), sum(s.Scheduler[:])-s.Scheduler[issued])
	}
	return nil
}

func sum(v []uint64) (n uint64) {
	for _, x := range v {
		n += x
	}
	return n
}
