package core

import (
	"math/bits"

	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// flightID names an instruction in flight: an index into flights.
type flightID uint16

// Queues of instructions: a buffer's entries are available in the next cycle, which follows from running the stages
// back to front; a line's entries stay for a time of their own, as in a unit's pipeline or in consecutive buffers that
// nothing else enters.
type (
	buffer = queue.Queue[flightID]
	line   = queue.Timed[flightID]
)

// never is the cycle of a timer that is not set.
const never = queue.Never

// inflight is an instruction between issue and write-back, with the properties that stages read decoded once.
type inflight struct {
	op          *emu.Op // nil: a packet or partial result, which takes a turn at commit and releases nothing
	access      int16   // memory instructions: index into lsu.accesses; graph unit requests: the call's tag; or forwards
	warp        uint8
	packetsLeft uint8 // packets that follow the first, in a unit with fewer lanes than the warp
	unit        isa.Unit
	class       isa.Class
	next        flightID // next instruction released in the same cycle; noFlight: none
}

// forwards is the access of an instruction of which the scoreboard releases the registers before it is written back: a
// field of its own would make inflight larger than 16 bytes.
const forwards = -2

// flights is the pool of a core's instructions in flight. It grows to the largest number in flight at once, which the
// pipeline's buffers bound.
type flights struct {
	all   []inflight
	spare []flightID
}

// noFlight is the nil flightID.
const noFlight = ^flightID(0)

// start allocates a slot for an instruction.
func (f *flights) start(op *emu.Op, warp uint8) flightID {
	id := f.slot()
	f.all[id] = inflight{op: op, warp: warp, access: -1, class: op.LatencyClass(), unit: op.Unit()}
	return id
}

// newPacket allocates a slot for a packet or a partial result.
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

// scoreboardReleases holds instructions by the cycle in which their registers leave the scoreboard, fewer than 64
// cycles ahead. Instructions of one cycle form a list through inflight.next, in the order in which they were put.
type scoreboardReleases struct {
	cycles uint64       // a bit for each cycle, modulo 64, with instructions
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

// take removes the list of the instructions that are due, and returns its first.
func (r *scoreboardReleases) take(now uint64) flightID {
	r.cycles &^= 1 << (now % 64)
	return r.first[now%64]
}

// nextOf returns the first cycle after now of a set of cycles within 64, a bit each modulo 64, which must not be empty.
func nextOf(cycles, now uint64) uint64 {
	return now + 1 + uint64(bits.TrailingZeros64(bits.RotateLeft64(cycles, -int((now+1)%64))))
}

// maxForwarding is the maximum of forwarding. With it a result is forwarded before it is written back, which takes at
// least that long after issue beside the operation's latency (gaps), so nothing is left to forward when the last
// instruction has been written back.
const maxForwarding = 7

// forwards returns how many cycles after its issue an instruction of a class forwards its result: no fewer than its
// latency, which is fixed. ok is false if it forwards none. Votes and shuffles cross the lanes, and are not forwarded.
func (p *pipe) forwards(class isa.Class) (after uint64, ok bool) {
	switch class {
	case isa.ClassALU, isa.ClassMul, isa.ClassFMA, isa.ClassFNCP, isa.ClassFCvt:
		return max(uint64(p.spec.Forwarding), p.latency[class]), p.spec.Forwarding > 0
	}
	return 0, false
}

// forwardClasses is the number of classes that forward, and so of cycles whose instructions can be due in one.
const forwardClasses = 5

// forwarding holds the instructions of a slice that forward their results, by the cycle in which their registers leave
// the scoreboard, fewer than 64 cycles ahead. Their effects are those of program order, as an instruction that issues
// later is dispatched later: only the time of its issue depends on the scoreboard.
type forwarding struct {
	cycles uint64 // a bit for each cycle, modulo 64, with instructions
	count  [64]uint8
	list   [64][forwardClasses * maxDispatch]forward
}

// forward is an instruction of a warp.
type forward struct {
	op   *emu.Op
	warp uint8
}

func (r *forwarding) put(op *emu.Op, warp uint8, at uint64) {
	slot := at % 64
	r.list[slot][r.count[slot]] = forward{op, warp}
	r.count[slot]++
	r.cycles |= 1 << slot
}

func (r *forwarding) due(now uint64) bool { return r.cycles>>(now%64)&1 != 0 }

// take removes and returns the instructions that are due. They stay valid until the next put.
func (r *forwarding) take(now uint64) []forward {
	slot := now % 64
	n := r.count[slot]
	r.cycles &^= 1 << slot
	r.count[slot] = 0
	return r.list[slot][:n]
}

// warpTimerCycles is the width of warpTimers: a timer is set fewer than that many cycles ahead. put does not check it;
// a timer farther ahead would fire one turn early.
const warpTimerCycles = 32

// maxALULatency is the maximum of latency.alu: the longest timer is that of a branch through the integer unit, with one
// cycle to spare.
const maxALULatency = warpTimerCycles - 2

// warpTimers holds warps by the cycle in which an event of theirs is due.
type warpTimers struct {
	cycles uint32                  // a bit for each cycle, modulo warpTimerCycles, with warps
	warps  [warpTimerCycles]uint64 // by cycle
}

func (a *warpTimers) put(at, warps uint64) {
	a.warps[at%warpTimerCycles] |= warps
	a.cycles |= 1 << (at % warpTimerCycles)
}

// take removes and returns the warps that are due.
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
