package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// flightID names an instruction in flight: an index into flights.
type flightID uint16

// What instructions wait in: buffer, whose entries can be taken as soon as they are there, as stages run back to front
// and what a consumer finds came in an earlier cycle; and line, in which they stay for a time of their own: a unit's
// pipeline, or several buffers in a row that nothing else enters.
type (
	buffer = queue.Queue[flightID]
	line   = queue.Timed[flightID]
)

// never is the cycle of a timer that is not set.
const never = queue.Never

// inflight is an instruction between issue and write-back. What the stages ask of it is worked out once.
type inflight struct {
	op          *emu.Op // nil: a packet or a part of one, which takes a turn at commit and releases nothing
	access      int16   // memory instructions: index into Core.accesses; graph units': the call
	warp        uint8
	packetsLeft uint8 // packets that follow the first, in a unit with fewer lanes than the warp
	unit        isa.Unit
	class       isa.Class
	next        flightID // released in the same cycle; noFlight: none
}

// flights are a core's instructions in flight, and the free slots among them. As many slots are
// made as have been needed at once, which the buffers of the pipeline bound.
type flights struct {
	all   []inflight
	spare []flightID
}

// noFlight is no instruction.
const noFlight = ^flightID(0)

// start takes a slot for an instruction.
func (f *flights) start(op *emu.Op, warp uint8) flightID {
	id := f.slot()
	f.all[id] = inflight{op: op, warp: warp, access: -1, class: op.LatencyClass(), unit: op.Unit()}
	return id
}

// newPacket takes a slot for a packet or a part of an instruction.
func (f *flights) newPacket(warp uint8) flightID {
	id := f.slot()
	f.all[id] = inflight{warp: warp, access: -1}
	return id
}

func (f *flights) slot() flightID {
	if n := len(f.spare) - 1; n >= 0 {
		id := f.spare[n]
		f.spare = f.spare[:n]
		return id
	}
	f.all = append(f.all, inflight{})
	return flightID(len(f.all) - 1)
}

// end frees a slot.
func (f *flights) end(id flightID) { f.spare = append(f.spare, id) }

// scoreboardReleases are instructions by the cycle, less than 64 ahead, in which the scoreboard forgets them.
type scoreboardReleases struct {
	cycles uint64       // those with some, a bit each
	first  [64]flightID // by cycle
}

func (r *scoreboardReleases) put(f *flights, id flightID, at uint64) {
	slot := at % 64
	f.all[id].next = noFlight
	if r.cycles>>slot&1 == 0 {
		r.cycles |= 1 << slot
		r.first[slot] = id
		return
	}
	last := r.first[slot]
	for f.all[last].next != noFlight {
		last = f.all[last].next
	}
	f.all[last].next = id
}

func (r *scoreboardReleases) due(now uint64) bool { return r.cycles>>(now%64)&1 != 0 }

// take returns the first of those that are due, with the others behind it.
func (r *scoreboardReleases) take(now uint64) flightID {
	r.cycles &^= 1 << (now % 64)
	return r.first[now%64]
}

// next returns the first cycle after now with some, or never.
func (r *scoreboardReleases) next(now uint64) uint64 {
	if r.cycles == 0 {
		return never
	}
	return now + 1 + uint64(bits.TrailingZeros64(bits.RotateLeft64(r.cycles, -int((now+1)%64))))
}

// warpTimerCycles is the width of warpTimers: a timer is less than that many cycles ahead, or it fires a turn early.
const warpTimerCycles = 32

// maxALULatency is the most that latency.alu may be: a branch that bypasses the stages of the integer unit is a timer
// that many cycles ahead, with one to spare.
const maxALULatency = warpTimerCycles - 2

// warpTimers are warps by the cycle, less than warpTimerCycles ahead, in which something becomes of them.
type warpTimers struct {
	cycles uint32                  // those with some, a bit each
	warps  [warpTimerCycles]uint64 // by cycle
}

func (a *warpTimers) put(at, warps uint64) {
	a.warps[at%warpTimerCycles] |= warps
	a.cycles |= 1 << (at % warpTimerCycles)
}

// take returns the warps whose cycle this is, and forgets them.
func (a *warpTimers) take(now uint64) (warps uint64) {
	if a.cycles>>(now%warpTimerCycles)&1 != 0 {
		warps = a.warps[now%warpTimerCycles]
		a.warps[now%warpTimerCycles] = 0
		a.cycles &^= 1 << (now % warpTimerCycles)
	}
	return warps
}

// next returns the first cycle after now with warps, or never.
func (a *warpTimers) next(now uint64) uint64 {
	if a.cycles == 0 {
		return never
	}
	return now + 1 + uint64(bits.TrailingZeros32(bits.RotateLeft32(a.cycles, -int((now+1)%warpTimerCycles))))
}
