package core

import (
	"math/bits"

	"heddle/components/mem"
)

// estimatedFront is the front end: of the warps that can be fetched for the policy's is, and a full instruction buffer
// holds up all that was fetched behind.
type estimatedFront struct {
	selector
	pc      [64]uint32 // by warp: of the next fetch
	count   [64]uint8  // by warp: instructions that are decoded and not issued
	filled  uint64     // warps that have some
	room    uint8      // of a warp's buffer, and of the scoreboard's slot behind
	free    [64]uint64 // by warp: when it can be fetched for
	ready   uint64     // warps that can be, or could if the time had come
	first   uint64     // when the first of them can be; never: there is none
	due     uint64     // when the next fetch begins; never: none can
	width   uint64     // fetches in a cycle, and decodes
	next    mem.Server // the next fetch, in parts of a cycle
	decoded mem.Server // the next decode, in parts of a cycle

	pipe        [maxFetches]fetched // a ring
	head, under uint8               // fetches that are under way
	most        uint8

	toL1I, fromL1I uint64 // the links' latencies
}

// fetched is an instruction on its way.
type fetched struct {
	at   uint64 // when it can be decoded
	warp uint8
}

// fullToFetch is the cycles until a slot that decode has freed is seen where warps are scheduled, if all are taken:
// each buffer tells the one before it in the next cycle.
const fullToFetch = 4

// fetches is how many a fetch port has under way: in two buffers, the L1I and its links. maxFetches is for all ports.
const (
	fetches    = 8
	maxFetches = fetches * 8
)

func (f *estimatedFront) build(c *Core) {
	s := &c.spec
	f.selector = newSelector(policies[s.Schedule.Policy].schedule, s.Schedule.Active, 0, 1, s.Warps, &c.launchOrder)
	f.width, f.room, f.most = uint64(s.FetchWidth), uint8(s.IBuffer+1), uint8(fetches*s.FetchWidth)
	f.toL1I, f.fromL1I = c.front.out[0].Latency(), c.front.in[0].Latency()
}

func (f *estimatedFront) begin() {
	f.ready, f.filled, f.under, f.first, f.due = 0, 0, 0, never, never
	f.count = [64]uint8{}
}

func (f *estimatedFront) restart(i int, pc uint32, at uint64) {
	f.count[i], f.filled = 0, f.filled&^(1<<i)
	f.unlock(i, pc, at)
}

// unlock has a warp be fetched for from a cycle on.
func (f *estimatedFront) unlock(i int, pc uint32, at uint64) {
	f.pc[i&63], f.free[i&63] = pc, at
	f.ready |= 1 << i
	f.first = min(f.first, at)
	f.plan()
}

// plan finds out when the next fetch begins.
func (f *estimatedFront) plan() {
	f.due = never
	if f.under < f.most && f.ready != 0 {
		f.due = max(f.first, f.cycle(f.next))
	}
}

// cycle returns the cycle of a server that counts in parts of one.
func (f *estimatedFront) cycle(s mem.Server) uint64 {
	if f.width == 1 {
		return uint64(s)
	}
	return uint64(s) / f.width
}

// fetch begins the one that is due, and returns its warp and its entry in the pipe.
func (f *estimatedFront) fetch(away uint64) (i int, to *fetched) {
	at, set := f.due, uint64(0)
	first := uint64(never)
	for m := f.ready; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if f.free[i] <= at {
			set |= 1 << i
		} else {
			first = min(first, f.free[i])
		}
	}
	i = f.chooseOne(view{ready: set, away: away})
	f.ready &^= 1 << i
	f.next.Take(at*f.width, 1)
	to = &f.pipe[(f.head+f.under)%maxFetches]
	*to = fetched{at + fetchToDecode, uint8(i)}
	f.under++
	if f.first = first; set&^(1<<i) != 0 {
		f.first = at
	}
	f.plan()
	return i, to
}

// decodable returns when the next instruction is decoded; never: none can be.
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

// decode takes it out, and returns its warp.
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

// issued takes an instruction out of its warp's buffer, which has a slot from the next cycle on.
func (f *estimatedFront) issued(i int, at uint64) {
	n := f.count[i&63] - 1
	if f.count[i&63] = n; n == 0 {
		f.filled &^= 1 << i
	}
	if n == f.room-1 {
		f.decoded = max(f.decoded, mem.Server((at+1)*f.width))
	}
}

// chooseOne asks the policy for one of the warps that are ready, of which there is one at least. If it lets none of
// them, which depends on more than an estimate knows, it is the lowest.
func (s *selector) chooseOne(v view) int {
	if i := s.pick(v); i >= 0 {
		return i
	}
	return bits.TrailingZeros64(v.ready)
}
