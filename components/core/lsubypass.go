package core

import (
	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// lsuBypass carries the load-store unit's results to their slices while nothing holds them up: from the arrival of a
// partial answer, the last answer of a load, or the acceptance of a store. The cycle in which such a result reaches its
// slice is known then, so one timed queue replaces the moves from register to register, and the unit need not run.
//
// A result of cycle f is in loaded or stored from f on, in done from f+1 on, and goes to its slice in f+2 (a partial
// answer arrives in the cycle before f, and is in the switch's register until f). slots has the cycles f+1, in each of
// which one result moves to done: another that would move in such a cycle waits, as loads go before stores, and the
// cycles of two loads differ. A result takes the way only while none before it is held up. If its slice, or that of a
// result before it, has no slot in time, inStages puts the results into the registers where they are.
type lsuBypass struct {
	way      queue.Timed[passing] // by the cycle in which they go to their slices
	slots    uint64               // a bit for each cycle, modulo 64, in which one of them moves to done
	answered uint64               // the last cycle in which the switch's register took an answer on the way
	loads    bool                 // answers may take it
	partial  bool                 // partial answers may take it when they arrive, one a cycle through the switch
	stores   bool                 // stores may take it: nothing but accept ends them
}

// passing is a result on the bypass path.
type passing struct {
	id    flightID
	store bool
}

// lsuBypassDelay is the time from a result's cycle to its slice.
const lsuBypassDelay = 2 * resultDelay

func newLSUBypass(s *Spec, of *queue.Owner) lsuBypass {
	return lsuBypass{
		way: queue.NewTimed[passing](6, of, "LSU results under way"), answered: never,
		loads: s.Scratchpad, partial: s.Scratchpad && !s.Gather,
		stores: s.Scratchpad && s.Atomics.Mode != AtomicsSimX25,
	}
}

// next returns the first cycle in which write-back has to look at the results on the way; never: there are none.
func (x *lsuBypass) next() uint64 {
	if x.way.Empty() {
		return never
	}
	return x.way.First() + 1
}

// moves reports whether a result on the way moves to done in cycle now.
func (x *lsuBypass) moves(now uint64) bool { return x.slots>>(now%64)&1 != 0 }

// clear reports whether a result of cycle f, now or in the next, can take the way.
func (l *lsu) clear(now, f uint64) bool {
	return l.loaded.Empty() && l.done.First() > now && !l.bypass.moves(f+1)
}

// onWay puts a result of cycle f on the way.
func (l *lsu) onWay(p passing, f uint64) {
	l.bypass.way.Insert(p, f+lsuBypassDelay)
	l.bypass.slots |= 1 << ((f + 1) % 64)
	l.backDue = min(l.backDue, f+lsuBypassDelay+1)
}

// load passes the result of an answer on.
func (l *lsu) load(id flightID, now uint64) {
	if l.bypass.loads && l.clear(now, now) {
		l.onWay(passing{id: id}, now)
		return
	}
	l.loaded.Push(id, now+resultDelay)
}

// store passes the result of an accepted store on.
func (l *lsu) store(id flightID, now uint64) {
	if l.bypass.stores && l.stored.Empty() && l.clear(now, now) {
		l.onWay(passing{id: id, store: true}, now)
		return
	}
	l.stored.Push(id, now+resultDelay)
}

// passAnswer lets an answer that leaves lanes of its load missing take the way, and reports whether it does.
func (l *lsu) passAnswer(a *answer, now uint64) bool {
	f := now + answerDelay
	if l.pendingLanes[a.access] <= a.lanes || !l.clear(now, f) {
		return false
	}
	l.pendingLanes[a.access] -= a.lanes
	l.bypass.answered = now
	l.onWay(passing{id: l.flights.newPacket(a.warp)}, f)
	return true
}

// awaitsAnswer reports whether something may go on in the next cycle because an instruction was answered in part.
func (l *lsu) awaitsAnswer(op *emu.Op) bool {
	return op.LatencyClass() != isa.ClassLoad || l.fence || !l.coalescer.sending && !l.switched.Empty()
}

// deliver passes results to their slices that reach them by cycle upTo, after the commits of that cycle.
func (l *lsu) deliver(upTo uint64) {
	x := &l.bypass
	for x.way.First() <= upTo {
		at := x.way.First()
		id := x.way.Front().id
		out := l.results(id)
		if out.Closed(at) {
			l.inStages(at)
			l.due = min(l.due, upTo+1)
			return
		}
		x.way.Pop()
		x.slots &^= 1 << ((at - 1) % 64)
		out.Push(id, at+resultDelay)
		l.backDue = min(l.backDue, at+resultDelay)
	}
}

// inStages ends the way: it puts the results into the registers where they are in cycle now, in which one at the end of
// done is held up.
func (l *lsu) inStages(now uint64) {
	x := &l.bypass
	for !x.way.Empty() {
		at := x.way.First()
		p := x.way.Pop()
		switch f := at - lsuBypassDelay; {
		case f < now:
			l.done.Push(p.id, at)
		case p.store:
			l.stored.Push(p.id, f+resultDelay)
		default:
			l.loaded.Push(p.id, f+resultDelay)
		}
	}
	x.slots = 0
}

// lsuBypassOccupancy is the number of results on the bypass path that each register would hold.
type lsuBypassOccupancy struct{ back, loaded, stored, done int }

// lsuBypassOccupancy returns the occupancy of the load-store unit's registers by results on the way after cycle now.
func (l *lsu) lsuBypassOccupancy(now uint64) (u lsuBypassOccupancy) {
	way := &l.bypass.way
	for i := range way.Len() {
		switch f := way.Due(i) - lsuBypassDelay; {
		case f > now:
			u.back++
		case f < now:
			if !l.delivers(i, now) {
				u.done++
			}
		case way.At(i).store:
			u.stored++
		default:
			u.loaded++
		}
	}
	return u
}

// delivers reports whether the i-th result on the way has reached its slice after cycle now.
func (l *lsu) delivers(i int, now uint64) bool {
	way := &l.bypass.way
	return way.Due(i) <= now && !l.results(way.At(i).id).Closed(now)
}

// delivered returns the number of results on the way that have reached a slice after cycle now.
func (l *lsu) delivered(slice int, now uint64) (n int) {
	way := &l.bypass.way
	for i := range way.Len() {
		if int(l.warps[l.all[way.At(i).id].warp].slice) == slice && l.delivers(i, now) {
			n++
		}
	}
	return n
}
