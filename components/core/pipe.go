package core

import (
	"math/bits"

	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/count"
	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// pipe is the state that the stages of a core share: its warps, the instructions in flight, and the counts.
//
// Most of a warp's state is its membership in sets, a bit each. They satisfy, between stages:
//
//   - stalled: set by scheduleOne, cleared by unlock (or resume) when the warp may be fetched for again; begin sets it
//     with active.
//   - fetchBlocked ⊆ stalled: set by decode when the instruction buffer of the warp is too full to be fetched for;
//     cleared in advance, when the scoreboard takes the buffer's head.
//   - atIssue: exactly the warps with an issueHead, from stage to issueWarp. ready and the sets of hazard are disjoint
//     and partition atIssue; updateHazard moves a warp between them.
//   - branching: from decode of a control instruction (or a squash by a trap) until resolve, or the end of the warp.
//   - awaitingUnit ⊆ branching: control that a graph unit resolves; cleared by its answer (reply), or when a trap
//     cancels the request.
//   - atBarrier ⊆ stalled: from control, when the warp's trace waits, or its barrier waits for accesses (opening),
//     until resumeHeld.
//   - fenced: from dispatch of a fence until endFence; independent of the others, as later instructions may issue.
//
// A change of any set that unstaged reads must be followed by refreshState, so that the warp's cycles are booked under
// its new state.
type pipe struct {
	Stats
	counted count.Cycles // of Stats
	flights
	self    queue.Owner
	spec    Spec
	latency [isa.NumClasses]uint64
	lanes   [isa.NumUnits]int // of units with registers before and behind them; 0: whole warps, and no registers
	blocks  [isa.NumUnits]int // units of a kind that slices share: slice s uses that of slice s mod blocks; 0: its own
	warps   []warp

	due     uint64 // the next cycle in which the pipeline can change something
	backDue uint64 // the next cycle in which write-back can change something
	last    uint64 // the last cycle that was ticked, or slept through and booked
	err     error  // a program error

	active, stalled uint64             // RTL: active_warps and stalled_warps
	buffered        uint64             // non-empty instruction buffer
	fetchBlocked    uint64             // not fetched for until the instruction buffer has room
	atIssue         uint64             // an instruction is at the scoreboard
	ready           uint64             // at the scoreboard with all registers
	hazard          [numHazards]uint64 // at the scoreboard, by the cause of the wait
	branching       uint64             // a fetched control instruction is unresolved
	awaitingUnit    uint64             // a fetched control instruction awaits the graph unit's answer
	atBarrier       uint64             // held by a barrier or wspawn
	opening         []opening          // with ordered_barrier: barriers that all warps have reached
	fenced          uint64             // a fence has not ended
	inFlight        int                // instructions between decode and commit
	resolving       warpTimers         // warps whose branch is in the switch behind the integer unit

	profile  *Profile // nil: no counts by instruction
	observed bool     // there is a profile, or SharedStalls are counted

	moved bool // something moved in this cycle, so the next one can differ
	units unitGate
	hooks func(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) // nil: no hooks
}

// unitGate admits requests to the graph unit: the core's accelerator socket.
type unitGate interface {
	CanIssue(warp int, op *emu.Op) bool
	Issue(warp int, op *emu.Op)
}

// warp is the pipeline's view of one warp.
type warp struct {
	slice, collector uint8 // indices of the warp's slice, and of its collector in that slice
	trace            Trace
	fetchPC          uint32
	fetching         uint32               // address of the fetch in flight
	ibuffer          queue.Queue[*emu.Op] // decoded
	issueHead        *emu.Op              // the instruction at the scoreboard; nil: none
	board            scoreboard
	state            state     // state of the cycles since stateSince
	stateSince       uint64    //
	resident         uint64    // value of Cycles at the launch
	since            uint64    // value of Cycles up to which phases are booked
	phase            isa.Phase // of the instruction issued last
	waited           isa.Phase // phase that the interval before since was booked under
	pending          int       // instructions decoded and not done
	unsent           int       // with ordered_barrier: accesses issued that the load-store unit's queue does not have yet
	ended            uint64    // cycle in which the last instruction was done
	fault            error     // met when all earlier instructions have ended: a trap, or a word that is no instruction
	own              Trace     // the trace, also while trace is replaced
	squashing        bool      // trace is replaced: the instructions in flight follow one that has trapped
	stopped          bool      // not fetched for, as the last fetch was a fault or follows one
}

// hook calls the hooks, if there are any. It must stay small enough to be inlined.
func (p *pipe) hook(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) {
	if p.hooks != nil {
		p.hooks(pos, now, warp, op)
	}
}

// updateHazard moves warp i, which has an instruction at the scoreboard, to the set of the cause that it waits for.
func (p *pipe) updateHazard(sl *slice, i int) {
	w := &p.warps[i]
	k := w.board.hazard()
	if k == issued && p.units != nil && !p.units.CanIssue(i, w.issueHead) {
		k = waitsUnit // awaits the answer to an earlier request
	}
	old := w.board.waits
	if k == old {
		return
	}
	bit := uint64(1) << i
	if old != issued {
		p.hazard[old-waitsMemory] &^= bit
		sl.awaitNoMore(old)
	} else {
		p.ready &^= bit
	}
	if w.board.waits = k; k == issued {
		p.ready |= bit
		p.enter(w, eligible)
		return
	}
	p.hazard[k-waitsMemory] |= bit
	sl.await(k)
	p.enter(w, stateOf[k])
}

// stage moves the head of each instruction buffer to the scoreboard, and returns the set of warps moved.
func (p *pipe) stage(slices []slice, now uint64) (staged uint64) {
	staged = p.buffered &^ p.atIssue
	for m := staged; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		w := &p.warps[i]
		p.moved = true
		w.issueHead = w.ibuffer.Take(now)
		w.board.wanted = w.issueHead.Reads()
		p.atIssue |= 1 << i
		p.ready |= 1 << i
		p.enter(w, eligible)
		p.updateHazard(&slices[w.slice], i)
		p.hook(HookPosStage, now, uint8(i), w.issueHead)
	}
	return staged
}

// issueWarp issues the instruction of warp i at the scoreboard.
func (p *pipe) issueWarp(sl *slice, i int, now uint64) flightID {
	w := &p.warps[i]
	op := w.issueHead
	id := p.start(op, uint8(i))
	w.board.reserve(causeOf[op.LatencyClass()], op.Writes())
	if p.spec.Forwarding > 0 && op.Writes() != 0 {
		if after, ok := p.forwards(op.LatencyClass()); ok {
			p.all[id].access = forwards
			sl.forward.put(op, uint8(i), now+after)
		}
	}
	if p.units != nil {
		p.units.Issue(i, op)
	}
	if p.spec.OrderedBarrier && accesses(op) {
		w.unsent++
	}
	p.issuedPhase(sl, w)
	if p.profile != nil {
		p.profile.issued(op.PC(), w.trace.Mask())
	}
	p.moved = true
	w.issueHead = nil
	p.atIssue &^= 1 << i
	p.ready &^= 1 << i
	w.state, w.stateSince = p.unstaged(i), p.Cycles+1 // the current cycle is booked by the slice
	p.Issued++
	p.hook(HookPosIssue, now, uint8(i), op)
	return id
}

// accesses reports whether an instruction accesses memory or the scratchpad.
func accesses(op *emu.Op) bool {
	k := op.LatencyClass()
	return k == isa.ClassLoad || k == isa.ClassStore || k == isa.ClassAtomic
}

// away returns the warps that will not be ready soon.
func (p *pipe) away() uint64 {
	return ^p.active | p.atBarrier | p.waiting(waitsMemory) | p.waiting(waitsUnit)
}

// waiting returns the warps whose instruction at the scoreboard waits for cause k.
func (p *pipe) waiting(k cause) uint64 { return p.hazard[k-waitsMemory] }

// settle books the cycles slept through before cycle now.
func (p *pipe) settle(now uint64) {
	if now > p.last+1 {
		p.Cycles += now - p.last - 1
		p.last = now - 1
	}
}

// fail stops the core with a program error, at the end of this cycle.
func (p *pipe) fail(err error) {
	if p.err == nil {
		p.err = err
		p.due = min(p.due, p.self.Now)
	}
}

// touch must precede a change by the load-store unit to state that the pipeline's cycles are booked by.
func (p *pipe) touch(now uint64) {
	p.settle(now)
	p.due = min(p.due, now)
}
