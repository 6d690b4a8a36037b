package core

import (
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// Cycles of the load-store unit's path (RTL: request queue, switch between
// global and local memory, coalescer, adapter, and back).
const (
	lsuQueueDelay = 1
	switchDelay   = 1
	localDelay    = 6 // switch → scratchpad → back, without conflicts
	answerDelay   = 1 // the switch's register
	responseDelay = 3 // response, arbiter and gather buffers → commit arbiter
	storeToCommit = responseDelay
	fenceToReturn = answerDelay + responseDelay
)

// ScratchpadLatency is the scratchpad's, beyond the load-store unit.
const ScratchpadLatency = localDelay

// lsu is the load-store unit: one request queue, a switch between global
// memory and the scratchpad, and a coalescer.
type lsu struct {
	due      uint64        // the cycle from which it has to look
	requests queue[inst]   // mem_scheduler's request queue
	switched queue[inst]   // towards the coalescer
	local    queue[answer] // scratchpad answers
	localAt  uint64        // the scratchpad is busy before
	loads    int           // outstanding warp loads
	maxLoads int
	co       coalescer
	answers  queue[answer] // partial answers on their way to the unit
	left     []int16       // by access: lanes that have no answer yet
	out      []*clock.Link[mem.Request]
	in       []*clock.Link[mem.Response]
	fence    bool   // a fence is under way: nothing else enters
	far      uint64 // 1 when the lanes' crossbars have two levels, each way
	freed    int    // loads whose place is free from the next cycle on
	atomics  atomics
}

// inst is an instruction in the load-store unit. With more than four fields the Go compiler would
// copy it through memory.
type inst struct {
	op     *emu.Op // nil: a part, which takes a turn at commit and releases nothing
	warp   uint8
	access int16    // index into Core.accesses
	id     flightID // of the instruction, until its result leaves
}

// answer is a part of a load's data: some of its lanes.
type answer struct {
	inst
	lanes int16
}

func newLSU(s *Spec, of *owner) lsu {
	return lsu{
		requests: newQueue[inst](2, of, "LSU requests"), switched: newQueue[inst](1, of, "LSU switch"), local: newQueue[answer](32, of, "scratchpad answers"),
		answers: newQueue[answer](1+4*int(levels(s.Threads)), of, "LSU answers"), maxLoads: s.LSUQueue, co: newCoalescer(s),
		left: make([]int16, s.accesses()), far: levels(s.Threads),
		atomics: atomics{Atomics: s.Atomics},
	}
}

// ConnectData gives the core its links to the data cache, one pair a channel.
func (c *Core) ConnectData(out []*clock.Link[mem.Request], in []*clock.Link[mem.Response]) {
	c.lsu.out, c.lsu.in = out, in
}

// Channels is the number of requests the core can send to the data cache at once.
func (s Spec) Channels() int {
	s = s.Derived()
	return max(1, s.Threads*4/s.ChannelBytes)
}

func (l *lsu) idle() bool {
	return l.requests.empty() && l.switched.empty() && l.local.empty() && l.loads == 0 && l.co.idle() && l.answers.empty() && l.taken()
}

// taken tells whether the L1D has taken all requests: stores are acknowledged with that.
// If not, the core is woken when it takes one.
func (l *lsu) taken() bool {
	all := true
	for _, out := range l.out {
		all = out.Drained() && all
	}
	return all
}

// tick moves the unit, back to front.
func (l *lsu) tick(c *Core, now uint64) {
	l.finish(c, now)
	l.receive(c, now)
	l.co.step(c, now)
	l.co.send(c, now)
	l.route(c, now)
	l.accept(c, now)
	l.loads -= l.freed
	l.freed = 0
}

// levels is what an arbiter of that many inputs costs beyond one cycle.
func levels(inputs int) uint64 {
	if inputs > bigArbiter {
		return 1
	}
	return 0
}

// accept takes an instruction from the dispatch buffers.
func (l *lsu) accept(c *Core, now uint64) {
	q := &c.entries[isa.LSU].buffer
	if q.n == 0 || l.requests.closed(now) || l.fence {
		return
	}
	f := &c.all[q.front()]
	in := inst{op: f.op, warp: f.warp, access: f.access, id: q.front()}
	switch k := in.op.LatencyClass(); {
	case k == isa.ClassStore:
		out := c.result(in)
		if out.full() {
			return
		}
		out.push(in, now+storeToCommit)
	case k == isa.ClassFence:
		l.fence = true
	case c.posted(in): // commits when it leaves, with its result
	default:
		if l.loads == l.maxLoads {
			return
		}
		l.loads++
		l.left[in.access] = int16(bits.OnesCount32(c.accesses[in.access].Mask))
	}
	q.take(now)
	c.due = min(c.due, now+1) // for the place that is free then
	c.moved = true
	c.hook(HookPosExecute, now, in.warp, in.op)
	l.requests.push(in, now+lsuQueueDelay)
}

// result returns where the unit's results of a warp wait for commit.
func (c *Core) result(in inst) outbox { return outbox{c, &c.slices[c.warps[in.warp].slice]} }

// outbox is the way of the load-store unit's results into a slice.
type outbox struct {
	c  *Core
	sl *slice
}

func (o outbox) full() bool { return o.sl.result[isa.LSU].full() }

// push sends a result that can commit from cycle at on.
func (o outbox) push(in inst, at uint64) {
	id := in.id
	if in.op == nil {
		id = o.c.part(in.warp)
	}
	o.sl.send(&o.sl.result[isa.LSU], id, at)
	o.c.backDue = min(o.c.backDue, at)
}

// route sends the head of the queue to the scratchpad or towards the L1D.
func (l *lsu) route(c *Core, now uint64) {
	if !l.requests.ready(now) || c.ordered(l.requests.front()) {
		return
	}
	in := *l.requests.front()
	if in.op.LatencyClass() == isa.ClassFence && c.spec.Fence == FenceWait {
		l.endHere(c, now)
		return
	}
	if in.op.LatencyClass() != isa.ClassFence && isLocal(&c.accesses[in.access]) {
		l.useScratchpad(c, now)
		return
	}
	if !l.switched.full() {
		c.moved = true
		l.switched.push(l.requests.take(now), now+switchDelay)
		c.hookMemory(now, in.warp, in.op)
		if c.acquires(in) {
			l.atomics.acquires[in.warp]++
		}
	}
}

// hookMemory calls the hooks for what is answered: stores are done, as far as the pipeline goes, before they get here.
func (c *Core) hookMemory(now uint64, warp uint8, op *emu.Op) {
	if c.hooks == nil {
		return
	}
	if k := op.LatencyClass(); k == isa.ClassLoad || k == isa.ClassAtomic {
		c.invoke(HookPosMemory, now, warp, op)
	}
}

// isLocal tells whether the access is to the scratchpad; lanes agree in
// programs that a compiler makes, and the first decides.
func isLocal(a *emu.Access) bool {
	return a.Mask != 0 && a.Addr[bits.TrailingZeros32(a.Mask)] >= emu.ScratchpadBase
}

// useScratchpad serves one word a bank a cycle; lanes of one bank wait for each
// other, even for the same word.
func (l *lsu) useScratchpad(c *Core, now uint64) {
	if l.localAt > now || l.local.full() {
		return
	}
	in := l.requests.take(now)
	c.moved = true
	a := &c.accesses[in.access]
	var lanes [32]uint8
	most := uint64(0)
	for m := a.Mask; m != 0; m &= m - 1 {
		b := a.Addr[bits.TrailingZeros32(m)] / 4 % uint32(c.spec.Threads)
		lanes[b]++
		most = max(most, uint64(lanes[b]))
	}
	c.LaneLoads += uint64(bits.OnesCount32(a.Mask))
	c.LocalWaits += most - 1
	l.localAt = now + most
	if err := a.Perform(); err != nil {
		c.fail(err)
		return
	}
	if in.op.LatencyClass() == isa.ClassStore {
		c.free = append(c.free, in.access)
		return
	}
	c.hookMemory(now, in.warp, in.op)
	l.local.push(answer{in, l.left[in.access]}, now+switchDelay+localDelay+2*l.far+most-1)
}

// receive takes the answers of one merged request: those of all channels that
// are there together.
func (l *lsu) receive(c *Core, now uint64) {
	if l.answers.full() {
		return
	}
	first := -1
	var got answer
	for ch, link := range l.in {
		if !link.Ready() {
			continue
		}
		id := int(link.Front().Tag)
		if first >= 0 && id != first || l.blocked(c, id) {
			continue
		}
		link.Pop()
		c.moved = true
		first = id
		got.inst = l.co.tags[id].inst
		got.lanes += c.answer(id, ch)
	}
	switch {
	case first < 0:
	case got.op.LatencyClass() == isa.ClassFence:
		l.endFence(c, got.inst, now)
	default:
		l.answers.push(got, now+answerDelay+2*l.far)
	}
}

// endHere ends the fence at the head of the queue, which nothing has passed, when the
// core has nothing outstanding. It goes no further.
func (l *lsu) endHere(c *Core, now uint64) {
	in := *l.requests.front()
	if l.loads > 0 || !l.switched.empty() || !l.co.idle() || c.result(in).full() || !l.taken() {
		return
	}
	l.requests.take(now)
	c.moved = true
	l.endFence(c, in, now)
}

// endFence lets the unit go on.
func (l *lsu) endFence(c *Core, in inst, now uint64) {
	l.fence = false
	c.touch(now)
	c.fenced &^= 1 << in.warp
	c.restate(int(in.warp))
	c.result(in).push(in, now+fenceToReturn)
}

// blocked tells whether batch id is a fence that cannot end: there is no place for it, or
// something that went before it has no answer or acknowledgement.
func (l *lsu) blocked(c *Core, id int) bool {
	in := &l.co.tags[id].inst
	return in.op.LatencyClass() == isa.ClassFence && (c.result(*in).full() || len(l.co.free) < len(l.co.tags)-1 || !l.taken())
}

// finish passes one answer a cycle on to commit. The last one frees the load.
func (l *lsu) finish(c *Core, now uint64) {
	q := &l.answers
	if !q.ready(now) {
		q = &l.local // RTL: the switch prefers global memory
	}
	if !q.ready(now) {
		return
	}
	a := *q.front()
	out := c.result(a.inst)
	if out.full() {
		return
	}
	q.pop()
	c.moved = true
	if l.left[a.access] -= a.lanes; l.left[a.access] > 0 {
		a.op = nil // a part: takes a turn at commit and releases nothing
	} else {
		l.freed++
		c.free = append(c.free, a.access)
		if c.acquires(a.inst) {
			l.atomics.acquires[a.warp]--
		}
	}
	out.push(a.inst, now+responseDelay)
}
