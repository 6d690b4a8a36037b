package core

import (
	"fmt"
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/components/queue"
	"heddle/isa"
	"heddle/isa/emu"
)

// Latencies of the load-store unit's path, in cycles (RTL: request queue, switch between global and local memory,
// coalescer, adapter, and back).
const (
	lsuQueueDelay = 1
	switchDelay   = 1
	answerDelay   = 1 // the switch's register
	resultDelay   = 1 // each of response, arbiter and gather buffer, before the commit arbiter
)

// ScratchpadLatency is the scratchpad's latency without conflicts, in cycles: lanes' buffers, crossbar, bank, crossbar,
// packing, the switch's register.
const ScratchpadLatency = 6

// lsu is the load-store unit: one request queue, a switch between global memory and the scratchpad, and a coalescer.
//
// An access occupies a slot of accesses from dispatch (Core.effect) until nothing refers to it any more. In a unit with
// fewer lanes than the warp, accept splits packets off, each with a slot of its own (packet); the last packet keeps the
// original slot. A slot is freed exactly once:
//
//   - by finish, for loads and atomics with an answer, when pendingLanes reaches zero;
//   - by perform, for stores and for atomics posted as stores, when the effect marked last has been applied at the end
//     of the cycle: a store is acknowledged long before, so its commit does not free the slot;
//   - by Core.effect, when dispatch fails.
//
// Every load slot also counts in loads, from accept to finish. The number of slots bounds the pipeline (Spec.accesses):
// to run out of them is a bug.
type lsu struct {
	*pipe
	due               uint64 // the next cycle in which it can change something
	moved             bool   // something moved in this cycle, so the next one can differ
	slices            []slice
	from              *buffer // instructions from the slices
	accesses          []emu.Access
	free              []int16           // unused slots of accesses
	requests          queue.Timed[inst] // mem_scheduler's request queue
	switched          queue.Timed[inst] // towards the coalescer
	pad               scratchpad
	loads             int // outstanding warp loads
	maxLoads          int
	laden             bool // the next instruction is a load, and as many are outstanding as can be
	coalescer         coalescer
	whole             queue.Queue[inst]   // with gather_answers: loads of which memory has answered the last lanes
	back              queue.Timed[answer] // the switch's register
	loaded            line                // loads, partial ones too, and fences
	stored            line                // stores: done when they are accepted
	done              line                // loaded before stored, on the way to their slices
	bypass            lsuBypass           // the way of results that nothing holds up
	pendingLanes      []int16             // by access: lanes without an answer
	scratchpadLanes   []uint32            // by access: lanes that address the scratchpad
	scratchpadLoads   []inst              // by access: the load that the scratchpad answers
	sharing           [][padLanes]uint8   // by access and lane: lanes that its request serves; nil: 1
	out               []*clock.Link[mem.Request]
	in                []*clock.Link[mem.Response]
	arrived           uint64 // bit i: in[i] holds an answer, or has one under way
	stuck             uint64 // bit i: out[i], of one slot, was full, with nothing taken from it since
	fence             bool   // a fence is under way: nothing else enters
	unlock            bool   // the fence has ended: others enter from the next cycle on
	withoutScratchpad bool   // no scratchpad, and so no switch
	freed             int    // loads whose slot is free from the next cycle on
	atomics           atomics
	effects           []effect // accesses that take effect at the end of the cycle
	handle            clock.Handle
	shifted           isa.Lanes // addresses of a packet for the scratchpad, moved to lane 0
}

// inst is an instruction, or one of its packets, in the load-store unit. It has no more than four fields because the Go
// compiler would copy a larger struct through memory.
type inst struct {
	op     *emu.Op // nil: a partial result, which takes a turn at commit and releases nothing
	warp   uint8
	access int16    // index into lsu.accesses
	id     flightID // of the instruction, until its result leaves
}

// answer is the data of some lanes of a load.
type answer struct {
	inst
	lanes int16
}

func newLSU(p *pipe, slices []slice, from *buffer) lsu {
	s, of := &p.spec, &p.self
	l := lsu{
		pipe: p, due: never, slices: slices, from: from, accesses: make([]emu.Access, s.accesses()),
		requests: queue.NewTimed[inst](2, of, "LSU requests"), switched: queue.NewTimed[inst](1, of, "LSU switch"),
		pad:    newScratchpad(s.LSULanes, of),
		back:   queue.NewTimed[answer](1, of, "LSU switch, back"),
		whole:  queue.New[inst](s.LSUQueue, of, "LSU loads answered"),
		loaded: queue.NewTimed[flightID](2, of, "LSU loaded"), stored: queue.NewTimed[flightID](2, of, "LSU stored"),
		done: queue.NewTimed[flightID](2, of, "LSU done"), maxLoads: s.LSUQueue, withoutScratchpad: !s.Scratchpad,
		bypass:       newLSUBypass(s, of),
		coalescer:    newCoalescer(s),
		pendingLanes: make([]int16, s.accesses()), scratchpadLanes: make([]uint32, s.accesses()),
		scratchpadLoads: make([]inst, s.accesses()),
		atomics:         atomics{Atomics: s.Atomics},
	}
	if s.ScratchpadBroadcast {
		l.sharing = make([][padLanes]uint8, s.accesses())
	}
	for i := len(l.accesses) - 1; i >= 0; i-- {
		l.free = append(l.free, int16(i))
	}
	return l
}

// takeAccess allocates a slot for an access. The number of slots bounds the accesses that the pipeline can hold.
func (l *lsu) takeAccess() int16 {
	n := len(l.free) - 1
	if n < 0 {
		panic(fmt.Sprintf("BUG: %s @%d: no memory access is free", l.self.Unit, l.self.Now))
	}
	i := l.free[n]
	l.free = l.free[:n]
	return i
}

// ConnectData gives the core its links to the data cache, one pair per channel.
func (c *Core) ConnectData(out []*clock.Link[mem.Request], in []*clock.Link[mem.Response]) {
	c.lsu.out, c.lsu.in = out, in
	for ch, link := range in {
		link.Flag(&c.lsu.arrived, ch)
	}
	for ch, link := range out {
		if link.Capacity() == 1 { // else the bit may also mean that the link is not drained
			link.FlagStuck(&c.lsu.stuck, ch)
		}
	}
}

// Channels returns the number of requests that the core can send to the data cache in one cycle.
func (s Spec) Channels() int {
	s = s.Derived()
	return max(1, s.LSULanes*4/s.ChannelBytes)
}

// RequestSlots returns the number of slots of a link between the core and a port of its L1D: the coalescer's register
// alone (RTL: REQ_OUT_BUF 0). Without a coalescer it is the register of the switch before it, which takes an access in
// the cycle in which the previous one leaves, and so needs two slots; so does a batch a cycle.
func (s Spec) RequestSlots() int {
	if s.Derived().ChannelBytes == 4 || s.BatchInterval == 1 {
		return 2
	}
	return 1
}

func (l *lsu) idle() bool {
	return l.requests.Empty() && l.switched.Empty() && l.pad.idle() && l.loads == 0 && l.coalescer.idle() && l.taken()
}

// taken reports whether the L1D has taken all requests, which acknowledges the stores among them. If not, the core is
// woken when it takes one.
func (l *lsu) taken() bool {
	all := true
	for _, out := range l.out {
		all = out.Drained() && all
	}
	return all
}

// tick runs one cycle of the unit and sets its timer.
func (l *lsu) tick(now uint64) {
	l.moved, l.due = false, never
	l.move(now)
	if l.moved {
		l.due = now + 1
	} else {
		l.due = min(l.due, l.next(now, never))
	}
}

// move runs the stages that have an entry ready, back to front.
func (l *lsu) move(now uint64) {
	if l.bypass.way.First() <= now {
		l.deliver(now)
	}
	if min(l.done.First(), l.loaded.First(), l.stored.First()) <= now {
		l.gather(now)
	}
	if l.back.First() <= now {
		l.finish(now)
	}
	switch {
	case l.spec.Gather && (l.arrived != 0 || !l.whole.Empty()):
		l.receiveAll(now)
	case l.arrived != 0:
		l.receive(now)
	}
	if l.withoutScratchpad {
		l.past(now)
	}
	if l.pad.packed.First() <= now {
		l.merge(now)
	}
	l.coalesce(now)
	if !l.pad.idle() {
		moved, conflict := l.pad.step(now)
		l.moved = l.moved || moved
		if conflict {
			l.LocalWaits++
		}
	}
	if !l.withoutScratchpad && l.requests.First() <= now {
		l.route(now)
	}
	if !l.from.Empty() && !l.requests.Full() && !l.laden {
		l.accept(now)
	}
	if l.freed != 0 {
		l.loads -= l.freed
		l.freed, l.laden = 0, false
	}
	l.fence = l.fence && !l.unlock
	l.unlock = false
}

// past moves answers and requests on in the cycle in which they arrive, as there is no switch without a scratchpad.
func (l *lsu) past(now uint64) {
	if l.back.First() <= now {
		l.finish(now)
	}
	if l.requests.First() <= now {
		l.route(now)
	}
}

// through returns the cycle in which an item that reaches the switch now is behind it.
func (l *lsu) through(now, delay uint64) uint64 {
	if l.withoutScratchpad {
		return now
	}
	return now + delay
}

// coalesce runs the coalescer's cycle. Tags freed by answers in this cycle are usable from the next one on.
func (l *lsu) coalesce(now uint64) {
	if co := &l.coalescer; co.sending {
		if uint64(co.sent)&l.stuck == 0 {
			l.stepCoalescer(now)
		}
	} else if l.switched.First() <= now {
		l.stepCoalescer(now)
	}
	l.coalescer.freed = 0
}

// levels returns the latency of an arbiter with that many inputs beyond one cycle.
func levels(inputs int) uint64 {
	if inputs > bigArbiter {
		return 1
	}
	return 0
}

// accept takes an instruction from the dispatch buffers.
func (l *lsu) accept(now uint64) {
	q := l.from
	if l.requests.Closed(now) || l.fence {
		return
	}
	id := *q.Front()
	f := &l.all[id]
	in := inst{op: f.op, warp: f.warp, access: f.access, id: id}
	last := true
	switch k := in.op.LatencyClass(); {
	case k == isa.ClassStore:
		if l.stored.Closed(now) {
			return
		}
		in.access, last = l.packet(in.access)
		l.store(l.resultOf(l.settled(in)), now)
	case k == isa.ClassFence:
		l.fence = true
	case l.posts(in): // commits when it leaves, with its result
		in.access, last = l.packet(in.access)
	default:
		if l.laden = l.loads == l.maxLoads; l.laden {
			return
		}
		in.access, last = l.packet(in.access)
		l.loads++
		l.pendingLanes[in.access] = int16(bits.OnesCount32(l.accesses[in.access].Mask))
	}
	if last {
		q.Take(now)
		l.sent(int(in.warp), in.op, now)
	}
	l.pipe.due = min(l.pipe.due, now+1) // the slot that it frees is usable in the next cycle
	l.moved = true
	l.hook(HookPosExecute, now, in.warp, in.op)
	l.requests.Push(in, now+lsuQueueDelay)
}

// packet splits the next packet off an access, into an access slot of its own. It reports whether that is the last one,
// which keeps the slot of the original access.
func (l *lsu) packet(of int16) (access int16, last bool) {
	a := &l.accesses[of]
	lanes := a.Mask & l.coalescer.group(a.Mask)
	if lanes == a.Mask {
		return of, true
	}
	access = l.takeAccess()
	p := &l.accesses[access]
	*p = *a
	p.Mask = lanes
	a.Mask &^= lanes
	l.scratchpadLanes[access] = l.scratchpadLanes[of] & lanes
	l.scratchpadLanes[of] &^= lanes
	return access, false
}

// settled records the end of an instruction, or of one of its packets, in any order. All but the last take a turn at
// commit and release nothing.
func (l *lsu) settled(in inst) inst {
	if f := &l.all[in.id]; f.packetsLeft > 0 {
		f.packetsLeft--
		in.op = nil
	}
	return in
}

// resultOf returns what takes an instruction's turn at commit: itself, or a packet for a part of it.
func (l *lsu) resultOf(in inst) flightID {
	if in.op == nil {
		return l.flights.newPacket(in.warp)
	}
	return in.id
}

// results returns the queue of the LSU's results in the slice of a result.
func (l *lsu) results(id flightID) *line {
	return &l.slices[l.warps[l.all[id].warp].slice].result[isa.LSU]
}

// gather moves results to their slices in order, one per cycle: partial loads and fences before stores.
func (l *lsu) gather(now uint64) {
	if l.done.Ready(now) {
		switch out := l.results(*l.done.Front()); {
		case !out.Closed(now):
			l.result(out, l.done.Take(now), now+resultDelay)
		default:
			l.inStages(now)
			if !out.Full() {
				l.due = now + 1 // the slot is free in the next cycle
			}
		}
	}
	from := &l.loaded
	if !from.Ready(now) {
		from = &l.stored
	}
	if from.Ready(now) && !l.done.Closed(now) {
		if l.bypass.moves(now) {
			l.due = now + 1
			return
		}
		l.done.Push(from.Take(now), now+resultDelay)
		l.moved = true
	}
}

// result passes a result to its slice, which can commit it from cycle at on.
func (l *lsu) result(out *line, id flightID, at uint64) {
	out.Push(id, at)
	l.backDue = min(l.backDue, at)
	l.moved = true
}

// route sends the head of the queue to the scratchpad, towards the L1D, or its lanes to both at once, as soon as every
// destination has a slot.
func (l *lsu) route(now uint64) {
	if l.ordered(l.requests.Front()) {
		return
	}
	in := *l.requests.Front()
	if in.op.LatencyClass() == isa.ClassFence && l.spec.Fence == FenceWait {
		l.retireFence(now)
		return
	}
	global, local := true, uint32(0)
	if in.op.LatencyClass() != isa.ClassFence {
		local = l.scratchpadLanes[in.access]
		global = local != l.accesses[in.access].Mask
	}
	if local != 0 && l.pad.closed() || global && !l.admits(in, now) {
		return
	}
	l.requests.Take(now)
	l.moved = true
	l.hookMemory(now, in.warp, in.op)
	if local != 0 {
		l.useScratchpad(in, local, now)
	}
	if !global {
		return
	}
	if l.acquires(in) {
		l.atomics.acquires[in.warp]++
	}
	if l.coalescer.direct {
		l.pass(in, now)
	} else {
		l.switched.Push(in, l.through(now, switchDelay))
	}
}

// admits reports whether the stage before the L1D has a slot.
func (l *lsu) admits(in inst, now uint64) bool {
	if l.coalescer.direct {
		return l.passes(in, now)
	}
	return !l.switched.Full()
}

// hookMemory calls the hooks for instructions with an answer: stores have left the pipeline before they get here.
func (l *lsu) hookMemory(now uint64, warp uint8, op *emu.Op) {
	if l.hooks == nil {
		return
	}
	if k := op.LatencyClass(); k == isa.ClassLoad || k == isa.ClassAtomic {
		l.hooks(HookPosMemory, now, warp, op)
	}
}

// localLanes returns the lanes of an access that address the scratchpad.
func localLanes(a *emu.Access) uint32 {
	const top = emu.ScratchpadBase // its addresses are those that begin with all of its ones
	return a.Mask & a.Addr.Equal(top, top)
}

// localLanes needs a base that is a run of ones: a negative constant is no uint, and does not compile.
const _ = -uint(emu.ScratchpadBase & (1<<32 - emu.ScratchpadBase - 1))

// global reports whether any lane of an access addresses memory.
func (l *lsu) global(access int16) bool {
	return l.scratchpadLanes[access] != l.accesses[access].Mask
}

// useScratchpad sends lanes of an access to the scratchpad. Their effect follows the order in which they enter; bank
// conflicts affect only their time.
func (l *lsu) useScratchpad(in inst, lanes uint32, now uint64) {
	a := &l.accesses[in.access]
	l.LaneLoads += uint64(bits.OnesCount32(lanes))
	store := in.op.LatencyClass() == isa.ClassStore
	l.deferEffect(effect{in.access, store && lanes == a.Mask, lanes})
	addr := &a.Addr
	if first := l.coalescer.first(lanes); first > 0 {
		copy(l.shifted[:l.coalescer.width], a.Addr[first:])
		addr, lanes = &l.shifted, lanes>>first
	}
	if l.sharing != nil && !store {
		lanes = l.share(in, lanes, addr)
	}
	l.pad.enter(in.access, store, lanes, addr, now)
	if !store {
		l.scratchpadLoads[in.access] = in
	}
}

// receive takes the answers to one merged request that have arrived together on all channels.
func (l *lsu) receive(now uint64) {
	if l.back.Full() {
		return
	}
	first, left := -1, false
	var got answer
	for m := l.arrived; m != 0; m &= m - 1 {
		ch := bits.TrailingZeros64(m)
		link := l.in[ch]
		if at := link.From(); at > now {
			l.due = min(l.due, at)
			continue
		}
		id := int(link.Front().Tag)
		if first >= 0 && id != first || l.blocked(id) {
			left = true
			continue
		}
		link.Pop()
		first, left = id, left || link.From() <= now
		got.inst = l.coalescer.tags[id].inst
		got.lanes += l.answer(id, ch)
	}
	switch {
	case first < 0:
	case got.op.LatencyClass() == isa.ClassFence:
		l.moved = true
		l.endFence(got.inst, now)
	case l.bypass.partial && l.passAnswer(&got, now):
		l.moved = l.moved || left || l.awaitsAnswer(got.op)
	default:
		l.moved = true
		l.back.Push(got, l.through(now, answerDelay))
	}
}

// receiveAll is receive with gather_answers: it takes the first answer of every channel, whatever it belongs to, and
// passes on one load whose lanes memory has all answered. No more loads can wait for that than are outstanding, which
// lsu_queue bounds.
func (l *lsu) receiveAll(now uint64) {
	for m := l.arrived; m != 0; m &= m - 1 {
		ch := bits.TrailingZeros64(m)
		link := l.in[ch]
		if at := link.From(); at > now {
			l.due = min(l.due, at)
			continue
		}
		id := int(link.Front().Tag)
		in := l.coalescer.tags[id].inst
		if in.op.LatencyClass() == isa.ClassFence {
			if l.back.Full() || l.blocked(id) {
				continue
			}
			link.Pop()
			l.answer(id, ch)
			l.endFence(in, now)
		} else {
			link.Pop()
			l.pendingLanes[in.access] -= l.answer(id, ch)
			if l.pendingLanes[in.access] == 0 {
				l.whole.Push(in)
			}
		}
		l.moved = true
	}
	if !l.whole.Empty() && !l.back.Full() {
		l.back.Push(answer{inst: l.whole.Pop()}, l.through(now, answerDelay))
		l.moved = true
	}
}

// merge moves the scratchpad's answer into the switch's register, if memory's has left it free.
func (l *lsu) merge(now uint64) {
	if l.back.Full() {
		return
	}
	if l.bypass.answered == now { // an answer occupies the register
		l.due = now + 1
		return
	}
	p := l.pad.packed.Take(now)
	l.back.Push(answer{l.scratchpadLoads[p.access], l.served(p)}, now+answerDelay)
	l.moved = true
}

// share returns the lanes of a load, or an atomic, that send requests to the scratchpad: for a load, the lowest lane of
// each word, whose request serves all of them.
func (l *lsu) share(in inst, lanes uint32, addr *isa.Lanes) (lead uint32) {
	n := &l.sharing[in.access]
	var leads [padLanes]uint32 // by bank
	for m := lanes; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		bank := &leads[addr[lane]/4&l.pad.banks]
		of := *bank
		for of != 0 && addr[bits.TrailingZeros32(of)]/4 != addr[lane]/4 {
			of &= of - 1
		}
		if of != 0 && in.op.LatencyClass() == isa.ClassLoad {
			n[bits.TrailingZeros32(of)]++
			continue
		}
		*bank |= 1 << lane
		lead |= 1 << lane
		n[lane] = 1
	}
	return lead
}

// served returns the number of lanes that an answer of the scratchpad serves.
func (l *lsu) served(p packed) (n int16) {
	if l.sharing == nil {
		return int16(bits.OnesCount32(p.lanes))
	}
	for m := p.lanes; m != 0; m &= m - 1 {
		n += int16(l.sharing[p.access][bits.TrailingZeros32(m)])
	}
	return n
}

// retireFence ends the fence at the head of the queue, which no instruction has passed, when the core has nothing
// outstanding. The fence does not go to the caches.
func (l *lsu) retireFence(now uint64) {
	if l.loads > 0 || !l.switched.Empty() || !l.coalescer.idle() || l.back.Full() || !l.taken() {
		return
	}
	l.moved = true
	l.endFence(l.requests.Take(now), now)
}

// endFence returns the answer to a fence.
func (l *lsu) endFence(in inst, now uint64) {
	l.touch(now)
	l.fenced &^= 1 << in.warp
	l.refreshState(int(in.warp))
	l.back.Push(answer{inst: in}, l.through(now, answerDelay))
}

// blocked reports whether batch id is a fence that cannot end, because an earlier request has no answer or
// acknowledgement.
func (l *lsu) blocked(id int) bool {
	return l.coalescer.tags[id].op.LatencyClass() == isa.ClassFence &&
		(len(l.coalescer.free) < len(l.coalescer.tags)-1 || !l.taken())
}

// finish takes an answer out of the switch's register. The last answer of a load frees its slot; that of a fence
// reopens the unit.
func (l *lsu) finish(now uint64) {
	if l.loaded.Closed(now) {
		return
	}
	a := l.back.Pop()
	l.moved = true
	switch {
	case a.op.LatencyClass() == isa.ClassFence:
		l.unlock = true
	case l.partial(&a):
		a.op = nil // takes a turn at commit and releases nothing
	default:
		l.freed++
		l.free = append(l.free, a.access)
		if l.acquires(a.inst) {
			l.atomics.acquires[a.warp]--
		}
		a.inst = l.settled(a.inst)
	}
	l.load(l.resultOf(a.inst), now)
}

// partial books an answer, and reports whether lanes are still missing.
func (l *lsu) partial(a *answer) bool {
	l.pendingLanes[a.access] -= a.lanes
	return l.pendingLanes[a.access] > 0
}
