package core

import (
	"math/bits"

	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// estimatedLSU estimates the load-store unit with its coalescer and scratchpad. It takes one access after the other,
// that of the lowest slice first, and a load only while a load slot is free. Each batch of merged requests needs a tag,
// and the link slots to the L1D that the previous batch has released.
type estimatedLSU struct {
	free  mem.Server    // first cycle in which the next access can begin
	loads mem.Entries   // loads in flight
	tags  mem.Entries   // batches in flight
	links []mem.Entries // by channel: requests that the L1D has not taken
	lanes [64]uint8     // by scratchpad bank: lanes of the current access

	due uint64 // cycle of the next access; never: none waits
	of  int    // slice of that access

	there, back uint64 // latencies of the links to and from the L1D
}

func (l *estimatedLSU) build(c *Core) {
	s := &c.spec
	l.loads, l.tags = make(mem.Entries, s.LSUQueue), make(mem.Entries, s.CoalescerTags)
	l.there, l.back = c.lsu.out[0].Latency(), c.lsu.in[0].Latency()
	for _, out := range c.lsu.out {
		l.links = append(l.links, make(mem.Entries, out.Capacity()))
	}
}

// plan computes the cycle of the next access, and its slice: the lowest with an access then.
func (l *estimatedLSU) plan(slices []estimatedSlice) {
	l.due = never
	for n := range slices {
		s := &slices[n]
		if s.queued == 0 {
			continue
		}
		q := s.front()
		begin := max(q.at, uint64(l.free))
		if begin < l.due && q.op.LatencyClass() != isa.ClassStore {
			begin = max(begin, l.loads.First())
		}
		if begin < l.due {
			l.due, l.of = begin, n
		}
	}
}

// last returns the cycle in which everything in flight is over.
func (l *estimatedLSU) last() uint64 {
	at := max(uint64(l.free), l.loads.Last())
	for _, link := range l.links {
		at = max(at, link.Last())
	}
	return at
}

// fence performs a fence that begins at cycle at. It returns the cycle in which the fence ends; no access begins
// before.
func (u *Functional) fence(at uint64) (done uint64) {
	l := &u.estimate.memory
	at = max(at, l.last())
	if u.core.spec.Fence != FenceWait {
		_, at = u.data.Warm(mem.Access{Op: mem.Flush}, at+l.there)
		at += l.back
	}
	l.free = mem.Server(at)
	return at
}

// reach performs a memory access that begins at cycle at: it takes effect and warms the L1D. It returns the cycle in
// which its data is available. A narrow load-store unit takes it packet by packet, each of which counts as a load.
func (u *Functional) reach(a *emu.Access, at uint64) (done uint64, err error) {
	wrote, err := a.PerformLanes(a.Mask)
	if err != nil {
		return 0, err
	}
	l, m := &u.estimate.memory, mem.Access{Op: u.asked(a.Op()), Wrote: wrote}
	co := &u.core.lsu.coalescer
	left := a.Mask
	for {
		base := co.first(left)
		lanes := left & co.group(left)
		left &^= lanes
		free, answered, over := u.packet(a, lanes, base, m, at)
		l.free, done = mem.Server(free), max(done, answered)
		if m.Op != mem.Write {
			l.loads.Take(over)
		}
		if left == 0 {
			return done, nil
		}
		if at = free; m.Op != mem.Write {
			at = max(at, l.loads.First())
		}
	}
}

// packet performs one packet of a memory access, from lane base on. It returns the cycles in which the next packet can
// begin, in which its data is available, and in which its load slot is free.
func (u *Functional) packet(a *emu.Access, lanes uint32, base int, m mem.Access, at uint64) (free, done, over uint64) {
	free, done, over = at+1, at, at
	local := localLanes(a) & lanes
	if local != 0 {
		turns := local
		if u.core.lsu.sharing != nil && m.Op == mem.Read {
			turns = distinct(a, local)
		}
		free = at + u.conflicts(a, turns, m.Op != mem.Write)
		done = free + u.estimate.between.local
		over = done + u.estimate.between.localToFree
	}
	if rest := lanes &^ local; rest != 0 {
		sent, answered := u.coalesce(a, rest, base, m, at+switchToL1D)
		free, done = max(free, sent-switchToL1D), max(done, answered)
		over = max(over, done+u.estimate.between.memoryToFree)
	}
	return free, done, over
}

// coalesce performs the requests of a packet's lanes, from lane base on, batch by batch. It returns the cycle in which
// the coalescer is free for the next packet, and that of the last answer.
func (u *Functional) coalesce(a *emu.Access, rest uint32, base int, m mem.Access, at uint64) (free, done uint64) {
	l, co := &u.estimate.memory, &u.core.lsu.coalescer
	for done = at; rest != 0; {
		if m.Op != mem.Write {
			at = max(at, l.tags.First())
		}
		sent, answered := at, at
		for left := rest; left != 0; {
			first := bits.TrailingZeros32(left) & 31
			ch := (first - base) >> (co.shift & 31)
			of := uint32(1<<co.lanes-1) << (base + ch*co.lanes)
			merged := sameBlock(a, left&of, co.block)
			left, rest = left&^of, rest&^merged
			if m.Addr = a.Addr[first]; m.Op == mem.Atomic {
				m.Operations = uint16(u.core.lsu.spec.Atomics.operations(a, merged))
			}
			leaves := max(at, l.links[ch].First())
			taken, there := u.data.Warm(m, leaves+l.there)
			l.links[ch].Take(taken)
			sent, answered = max(sent, leaves), max(answered, there+l.back)
		}
		if m.Op != mem.Write {
			l.tags.Take(answered)
			done = max(done, answered)
		}
		at = sent + uint64(u.core.spec.BatchInterval)
	}
	return at, done
}

// sameBlock returns the lanes whose address is in the same block, of the given size in bytes, as that of the first.
func sameBlock(a *emu.Access, lanes, bytes uint32) uint32 {
	return lanes & a.Addr.Equal(a.Addr[bits.TrailingZeros32(lanes)&31], -bytes)
}

// distinct returns the lowest lane of each word.
func distinct(a *emu.Access, lanes uint32) (lead uint32) {
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		of := lead
		for of != 0 && a.Addr[bits.TrailingZeros32(of)]/4 != a.Addr[lane]/4 {
			of &= of - 1
		}
		if of == 0 {
			lead |= 1 << lane
		}
	}
	return lead
}

// conflicts returns the number of turns of a scratchpad access: the largest number of lanes in one bank.
func (u *Functional) conflicts(a *emu.Access, lanes uint32, answered bool) uint64 {
	banks := &u.estimate.memory.lanes
	*banks = [64]uint8{}
	most := uint8(0)
	for m := lanes; m != 0; m &= m - 1 {
		n := &banks[a.Addr[bits.TrailingZeros32(m)&31]>>2&uint32(u.core.spec.LSULanes-1)&63]
		*n++
		most = max(most, *n)
	}
	turns := uint64(most)
	if answered && u.core.lsu.pad.slices { // two-level arbiters lose turns: measured on the timed scratchpad
		turns += turns / sliceSize
	}
	return turns
}

// asked returns the operation that an access requests of the L1D.
func (u *Functional) asked(op *emu.Op) mem.Op {
	switch op.LatencyClass() {
	case isa.ClassLoad:
		return mem.Read
	case isa.ClassStore:
		return mem.Write
	}
	switch u.core.lsu.spec.Atomics.Mode {
	case AtomicsSimX24:
		return mem.Read
	case AtomicsSimX25:
		return mem.Write
	}
	return mem.Atomic
}
