package core

import (
	"math/bits"

	"heddle/components/mem"
)

// estimatedFront estimates the front end: the policy chooses among the fetchable warps, and a full instruction buffer
// holds up all later fetches.
type estimatedFront struct {
	selector
	pc      [64]uint32 // by warp: address of the next fetch
	count   [64]uint8  // by warp: instructions decoded and not issued
	filled  uint64     // warps with such instructions
	room    uint8      // of a warp's buffer and the scoreboard's slot behind it
	free    [64]uint64 // by warp: first cycle in which it can be fetched for
	ready   uint64     // warps that can be fetched for, now or at their free cycle
	open    uint64     // of them, those whose free cycle had come by the last fetch; fetches come in order of time
	first   uint64     // first cycle in which one of them can be; never: none
	due     uint64     // cycle of the next fetch; never: none possible
	width   uint64     // fetches, and decodes, per cycle
	next    mem.Server // next fetch, in units of 1/width cycle
	decoded mem.Server // next decode, in units of 1/width cycle

	pipe        [maxFetches]fetched // a ring
	head, under uint8               // first fetch in flight, and their number
	most        uint8
	block       uint8 // instructions of a fetch, with fetch_room; else 0

	toL1I, fromL1I uint64 // latencies of the links
}

// fetched is an instruction between fetch and decode.
type fetched struct {
	at   uint64 // first cycle in which it can be decoded
	warp uint8
}

// fullToFetch is the number of cycles until a slot freed by decode is visible to the warp scheduler when all buffers
// are full: each buffer passes it on in the next cycle.
const fullToFetch = 4

// fetches is the number of fetches in flight per port: in two buffers, the L1I and its links. maxFetches is that of all
// ports.
const (
	fetches    = 8
	maxFetches = fetches * 8
)

func (f *estimatedFront) build(c *Core) {
	s := &c.spec
	f.selector = newSelector(policies[s.Schedule.Policy].schedule, s.Schedule.Active, 0, 1, s.Warps, &c.launchOrder)
	f.width, f.room, f.most = uint64(s.FetchWidth), uint8(s.IBuffer+1), uint8(fetches*s.FetchWidth)
	if s.FetchRoom {
		f.block = uint8(s.FetchBlock)
	}
	f.toL1I, f.fromL1I = c.front.out[0].Latency(), c.front.in[0].Latency()
}

func (f *estimatedFront) begin() {
	f.ready, f.open, f.filled, f.under, f.first, f.due = 0, 0, 0, 0, never, never
	f.count = [64]uint8{}
}

func (f *estimatedFront) restart(i int, pc uint32, at uint64) {
	f.count[i], f.filled = 0, f.filled&^(1<<i)
	f.unlock(i, pc, at)
}

// unlock makes a warp fetchable from cycle at on.
func (f *estimatedFront) unlock(i int, pc uint32, at uint64) {
	f.pc[i&63], f.free[i&63] = pc, at
	f.ready, f.open = f.ready|1<<i, f.open&^(1<<i)
	f.first = min(f.first, at)
	f.plan()
}

// plan computes the cycle of the next fetch.
func (f *estimatedFront) plan() {
	f.due = never
	if f.under < f.most && f.ready != 0 {
		f.due = max(f.first, f.cycle(f.next))
	}
}

// cycle converts a server's time, in units of 1/width cycle, to cycles.
func (f *estimatedFront) cycle(s mem.Server) uint64 {
	if f.width == 1 {
		return uint64(s)
	}
	return uint64(s) / f.width
}

// fetch begins the fetch that is due, and returns its warp and its entry in the pipe.
func (f *estimatedFront) fetch(away uint64) (i int, to *fetched) {
	at, set := f.due, f.open
	first := uint64(never)
	for m := f.ready &^ set; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if f.free[i] <= at {
			set |= 1 << i
		} else {
			first = min(first, f.free[i])
		}
	}
	i = f.chooseOne(view{ready: set, away: away})
	f.ready, f.open = f.ready&^(1<<i), set&^(1<<i)
	f.next.Take(at*f.width, 1)
	to = &f.pipe[(f.head+f.under)%maxFetches]
	*to = fetched{at + fetchToDecode, uint8(i)}
	f.under++
	if f.first = first; f.open != 0 {
		f.first = at
	}
	f.plan()
	return i, to
}

// decodable returns the cycle of the next decode; never: none possible.
func (f *estimatedFront) decodable() uint64 {
	if f.under == 0 {
		return never
	}
	h := &f.pipe[f.head%maxFetches]
	if f.count[h.warp&63] >= f.room {
		return never
	}
	return max(h.at, f.cycle(f.decoded))
}

// decode removes the instruction decoded in this cycle, and returns its warp.
func (f *estimatedFront) decode(at uint64) int {
	i := int(f.pipe[f.head%maxFetches].warp)
	f.head++
	if f.under == f.most {
		f.next = max(f.next, mem.Server((at+fullToFetch)*f.width))
	}
	f.under--
	f.decoded.Take(at*f.width, 1)
	f.count[i&63]++
	f.filled |= 1 << i
	f.plan()
	return i
}

// fetchable reports whether the warp's buffer has slots for a fetch's instructions, or is empty.
func (f *estimatedFront) fetchable(i int) bool {
	n := f.count[i&63]
	return f.block == 0 || n <= 1 || f.room-n >= f.block
}

// more adds a further instruction of the fetch that has just been decoded, if the warp's buffer has a slot.
func (f *estimatedFront) more(i int) bool {
	if f.count[i&63] >= f.room {
		return false
	}
	f.count[i&63]++
	return true
}

// issued removes an instruction from its warp's buffer, which has a slot from the next cycle on.
func (f *estimatedFront) issued(i int, at uint64) {
	n := f.count[i&63] - 1
	if f.count[i&63] = n; n == 0 {
		f.filled &^= 1 << i
	}
	if n == f.room-1 {
		f.decoded = max(f.decoded, mem.Server((at+1)*f.width))
	}
}

// chooseOne asks the policy for one of the ready warps, of which there must be one. If the policy admits none, which
// depends on more state than the estimate has, it returns the lowest.
func (s *selector) chooseOne(v view) int {
	if i := s.pick(v); i >= 0 {
		return i
	}
	return bits.TrailingZeros64(v.ready)
}
