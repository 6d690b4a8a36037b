package core

import (
	"math/bits"

	"github.com/sarchlab/akita/v3/sim"

	"heddle/components/count"
	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// pipe is the state that the stages of a core share: its warps, in sets, the instructions in flight, and the counts.
type pipe struct {
	Stats
	counted count.Cycles // of them
	flights
	self    queue.Owner
	spec    Spec
	latency [isa.NumClasses]uint64
	lanes   [isa.NumUnits]int // of units that take a warp in packets; 0: whole
	warps   []warp

	due     uint64 // the cycle from which the pipeline has to look
	backDue uint64 // the cycle from which its write-back has to look
	last    uint64 // the last cycle that was ticked, or slept through and booked
	err     error  // of the program

	active, stalled uint64             // warps; RTL's active_warps and stalled_warps
	buffered        uint64             // warps with something in the instruction buffer
	fetchBlocked    uint64             // of them, those that are not fetched for before their full buffer has a slot
	atIssue         uint64             // warps with something before the scoreboard
	ready           uint64             // of them, those that have their registers
	hazard          [numHazards]uint64 // the others, by what they wait for
	branching       uint64             // warps that fetched control, until it is resolved
	awaitingUnit    uint64             // of them, those whose control is a request to the graph unit, until its answer
	atBarrier       uint64             // warps whose barrier or wspawn has not let them go
	fenced          uint64             // warps whose fence has not ended
	inFlight        int                // instructions between decode and commit
	resolving       warpTimers         // warps whose branch passes the switch behind the integer unit

	profile *Profile // nil: nobody asks for counts by instruction

	moved bool // something moved in this cycle, so the next can differ
	units unitGate
	hooks func(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) // nil: nobody looks
}

// unitGate says which requests to the graph unit a warp may issue: the core's accelerator socket.
type unitGate interface {
	CanIssue(warp int, op *emu.Op) bool
	Issue(warp int, op *emu.Op)
}

// warp is the pipeline's view of one warp.
type warp struct {
	slice, collector uint8 // of the slice
	trace            Trace
	fetchPC          uint32
	fetching         uint32               // the address of what is under way
	ibuffer          queue.Queue[*emu.Op] // decoded
	issueHead        *emu.Op              // the head, whose registers the scoreboard watches
	board            scoreboard
	state            state     // what its cycles are booked under from stateSince on
	stateSince       uint64    //
	resident         uint64    // cycles booked when it started
	since            uint64    // cycles booked when the time began that belongs to no phase yet
	phase            isa.Phase // of what it issued last
	waited           isa.Phase // whose the time before since was
	pending          int       // instructions decoded and not done
	ended            uint64    // the cycle in which the last one was done
	fault            error     // a trap, when all before it has ended: what was fetched is no instruction, or an instruction's
	own              Trace     // trace, unless it is exchanged
	squashing        bool      // it is: what is in flight is behind an instruction that has trapped
	stopped          bool      // nothing is fetched for the warp, as what was is a fault or behind one
}

// hook calls the hooks, if there are any. It is small enough to be inlined.
func (p *pipe) hook(pos *sim.HookPos, now uint64, warp uint8, op *emu.Op) {
	if p.hooks != nil {
		p.hooks(pos, now, warp, op)
	}
}

// updateHazard sorts warp i, which has an instruction before the scoreboard, by what that waits for.
func (p *pipe) updateHazard(sl *slice, i int) {
	w := &p.warps[i]
	k := w.board.hazard()
	if k == issued && p.units != nil && !p.units.CanIssue(i, w.issueHead) {
		k = waitsUnit // for the answer to an earlier request
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

// stage moves the head of each buffer to where the scoreboard looks, and returns whose.
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

// issueWarp takes the head of warp i past the scoreboard.
func (p *pipe) issueWarp(sl *slice, i int, now uint64) flightID {
	w := &p.warps[i]
	op := w.issueHead
	id := p.start(op, uint8(i))
	w.board.reserve(causeOf[op.LatencyClass()], op.Writes())
	if p.units != nil {
		p.units.Issue(i, op)
	}
	p.issuedPhase(sl, w)
	if p.profile != nil {
		p.profile.issued(op.PC(), w.trace.Mask())
	}
	p.moved = true
	w.issueHead = nil
	p.atIssue &^= 1 << i
	p.ready &^= 1 << i
	w.state, w.stateSince = p.unstaged(i), p.Cycles+1 // this cycle is its slice's to book
	p.Issued++
	p.hook(HookPosIssue, now, uint8(i), op)
	return id
}

// away are the warps that will not be ready soon.
func (p *pipe) away() uint64 {
	return ^p.active | p.atBarrier | p.waiting(waitsMemory) | p.waiting(waitsUnit)
}

// waiting are the warps whose head waits for a register, by what writes it.
func (p *pipe) waiting(k cause) uint64 { return p.hazard[k-waitsMemory] }

// settle counts the cycles slept through before cycle now.
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

// touch comes before the load-store unit changes what the pipeline's cycles are booked by.
func (p *pipe) touch(now uint64) {
	p.settle(now)
	p.due = min(p.due, now)
}
