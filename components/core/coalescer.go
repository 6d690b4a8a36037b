package core

import (
	"math/bits"

	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// coalescer merges the lanes of each channel that access the same block into one request, one block a channel at a
// time. It is the RTL's two-state machine (VX_mem_coalescer: STATE_WAIT, STATE_SEND) and makes at most one batch every
// other cycle.
type coalescer struct {
	sending bool   // STATE_SEND
	rest    uint32 // lanes of the head that have not been sent
	fresh   bool   // the head has not been started

	sent uint32              // channels of the last batch whose request the L1D has not taken
	addr [maxChannels]uint32 // by channel: the block of the batch under construction

	tags     []tag
	free     []uint16
	freed    int // entries of free usable from the next cycle on (RTL: VX_allocator's full is a register)
	channels int
	width    int  // lanes of an access, or of a packet
	lanes    int  // lanes of a channel: 1 << shift
	direct   bool // no coalescer, as there is nothing to merge (RTL: LSU_WORD_SIZE == DCACHE_WORD_SIZE)
	shift    int
	block    uint32 // bytes that one request covers
}

// maxChannels is the largest number of channels: one per lane.
const maxChannels = 32

// tag is an outstanding batch.
type tag struct {
	inst
	mask    uint32 // lanes of the batch
	waiting uint32 // channels without an answer
	atomic  uint32 // waiting channels whose atomic has not been performed
	span    span   // of an atomic's words
	next    uint16 // of an atomic: one more than the warp's next outstanding batch; 0: none
}

func newCoalescer(s *Spec) coalescer {
	co := coalescer{
		channels: s.Channels(), width: s.LSULanes, lanes: max(1, s.ChannelBytes/4), block: uint32(s.ChannelBytes),
		direct: s.ChannelBytes == 4, fresh: true,
	}
	tags := s.CoalescerTags
	if co.direct {
		tags = s.LSUQueue + 1 // one for each load, and one for a fence
	}
	co.tags = make([]tag, tags)
	co.shift = bits.TrailingZeros(uint(co.lanes))
	for i := tags - 1; i >= 0; i-- {
		co.free = append(co.free, uint16(i))
	}
	return co
}

func (co *coalescer) idle() bool {
	return !co.sending && len(co.free) == len(co.tags)
}

// first returns the first lane of the packet that contains the lowest of the lanes; 0 if there are none.
func (co *coalescer) first(lanes uint32) int {
	return bits.TrailingZeros32(lanes) &^ (co.width - 1) & (maxChannels - 1)
}

// group returns all lanes of the packet that contains the lowest of the lanes.
func (co *coalescer) group(lanes uint32) uint32 {
	return uint32(1<<co.width-1) << co.first(lanes)
}

// seeds returns the next batch of an access: for each channel the block of its lowest remaining lane, and all lanes of
// the channel in that block. It leaves the blocks in addr.
func (co *coalescer) seeds(a *emu.Access, rest uint32) (mask, channels uint32) {
	for rest != 0 {
		first := bits.TrailingZeros32(rest)
		ch := first & (co.width - 1) >> co.shift
		lanes := co.of(ch) << co.first(rest)
		block := a.Addr[first] &^ (co.block - 1)
		channels |= 1 << ch
		co.addr[ch] = block
		for part := rest & lanes; part != 0; part &= part - 1 {
			l := bits.TrailingZeros32(part)
			if a.Addr[l&31]-block < co.block {
				mask |= 1 << l
			}
		}
		rest &^= lanes
	}
	return mask, channels
}

// stepCoalescer is one cycle of the two-state machine. WAIT starts the head when a tag is free and no atomic holds the
// access back; SEND builds a batch and returns to WAIT. SEND lasts until the L1D has taken the requests of all channels
// of the batch before, which occupies the coalescer's output register (the links' slots; RTL: VX_stream_unpack); the
// next batch follows at least two cycles after it, or one with BatchInterval 1, which leaves WAIT out. Entering SEND
// early changes nothing, as the state does nothing until then.
func (l *lsu) stepCoalescer(now uint64) {
	co := &l.coalescer
	if co.sending {
		if in := l.switched.Front(); !l.accepted() || l.posted(*in) && l.stored.Closed(now) {
			return
		}
		co.sending = false
		l.moved = true
		l.build(now)
		if l.spec.BatchInterval > 1 {
			return
		}
	}
	if len(co.free) > co.freed && l.switched.Ready(now) && !l.waitsForAtomic(*l.switched.Front()) {
		co.sending = true
		l.moved = true
		l.begin()
	}
}

// begin starts the head of the queue, unless it has been started.
func (l *lsu) begin() {
	co := &l.coalescer
	if !co.fresh {
		return
	}
	co.fresh = false
	co.rest = ^uint32(0)
	if in := l.switched.Front(); in.access >= 0 {
		co.rest = l.accesses[in.access].Mask &^ l.scratchpadLanes[in.access]
	}
}

// passes reports whether an access can go to the L1D in a machine without a coalescer.
func (l *lsu) passes(in inst, now uint64) bool {
	return l.accepted() && !l.waitsForAtomic(in) && !(l.posted(in) && l.stored.Closed(now))
}

// pass sends an access to the L1D without coalescing, each lane on its own channel.
func (l *lsu) pass(in inst, now uint64) {
	l.switched.Push(in, now)
	l.begin()
	l.build(now)
}

// accepted reports whether the L1D took all requests of the last batch in an earlier cycle. If not, the links wake the
// core when it takes one.
func (l *lsu) accepted() bool {
	co := &l.coalescer
	if uint64(co.sent)&l.stuck != 0 {
		return false
	}
	for m := co.sent; m != 0; m &= m - 1 {
		if ch := bits.TrailingZeros32(m); l.out[ch].Room(1) {
			co.sent &^= 1 << ch
		}
	}
	return co.sent == 0
}

// build makes one batch of the head and sends it.
func (l *lsu) build(now uint64) {
	co := &l.coalescer
	in := *l.switched.Front()
	if in.op.LatencyClass() == isa.ClassFence {
		l.out[0].Push(mem.Request{Op: mem.Flush, Tag: uint32(co.take(in, 0, 1))})
		co.sent = 1
		l.endHead()
		return
	}
	a := &l.accesses[in.access]
	mask, channels := co.seeds(a, co.rest)
	co.rest &^= mask
	op := l.requestOp(in)
	id := uint16(0)
	if op != mem.Write {
		id = co.take(in, mask, channels)
	}
	for m := channels; m != 0; m &= m - 1 {
		ch := bits.TrailingZeros32(m)
		r := mem.Request{Addr: co.addr[ch], Tag: uint32(id), Op: op}
		if op == mem.Atomic {
			l.tagAtomic(&r, a, id, ch)
		}
		l.out[ch].Push(r)
	}
	co.sent = channels
	l.count(in, bits.OnesCount32(channels), bits.OnesCount32(mask))
	if co.rest == 0 {
		l.leave(in, now)
	}
}

// count books the requests of a batch and the lanes that they serve.
func (l *lsu) count(in inst, requests, lanes int) {
	l.Coalesced += uint64(requests)
	l.LaneLoads += uint64(lanes)
	switch in.op.LatencyClass() {
	case isa.ClassLoad:
		l.LoadRequests += uint64(requests)
		l.LoadBytes += uint64(lanes) * uint64(in.op.Size())
	case isa.ClassAtomic:
		l.AtomicRequests += uint64(requests)
		l.AtomicLanes += uint64(lanes)
	}
}

// requestOp returns the operation to request of the caches.
func (l *lsu) requestOp(in inst) mem.Op {
	switch {
	case in.op.LatencyClass() == isa.ClassStore || l.posted(in):
		return mem.Write
	case l.remote(in):
		return mem.Atomic
	}
	return mem.Read
}

// leave is called when the last request of an access leaves for the memory system. The access takes effect then, unless
// the L2 performs it.
func (l *lsu) leave(in inst, now uint64) {
	l.endHead()
	if l.remote(in) {
		return
	}
	posted := l.posted(in)
	if posted {
		if l.acquires(in) {
			l.atomics.acquires[in.warp]--
		}
		l.stored.Push(l.resultOf(l.settled(in)), now+resultDelay)
	}
	last := posted || in.op.LatencyClass() == isa.ClassStore
	l.deferEffect(effect{in.access, last, l.accesses[in.access].Mask &^ l.scratchpadLanes[in.access]})
}

// endHead removes the head of the queue.
func (l *lsu) endHead() {
	l.switched.Pop()
	l.coalescer.fresh = true
}

// take allocates a tag for a batch.
func (co *coalescer) take(in inst, mask, channels uint32) uint16 {
	n := len(co.free) - 1
	id := co.free[n]
	co.free = co.free[:n]
	co.tags[id] = tag{inst: in, mask: mask, waiting: channels}
	return id
}

// of returns the lanes of channel ch in a packet that begins with lane 0.
func (co *coalescer) of(ch int) uint32 { return uint32(1<<co.lanes-1) << (ch * co.lanes) }

// lanesOf returns the lanes of a batch that channel ch carries.
func (co *coalescer) lanesOf(id, ch int) uint32 {
	mask := co.tags[id].mask
	return mask & (co.of(ch) << co.first(mask))
}

// answer books the answer of one channel and returns how many lanes it serves.
func (co *coalescer) answer(id, ch int) (lanes int16) {
	t := &co.tags[id]
	lanes = int16(bits.OnesCount32(co.lanesOf(id, ch)))
	if t.waiting &^= 1 << ch; t.waiting == 0 {
		co.free = append(co.free, uint16(id))
		co.freed++
	}
	return lanes
}
