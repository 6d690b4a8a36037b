package core

import (
	"math/bits"

	"heddle/components/clock"
	"heddle/components/mem"
	"heddle/isa"
	"heddle/isa/emu"
)

// front is the front end: the choice of the warp to fetch for, and the fetches in flight.
type front struct {
	selector   selector   // chooses the warp to fetch for
	scheduled  buffer     // warps on their way to the instruction cache
	unlocks    warpTimers // warps by the cycle in which they become schedulable
	releasedAt uint64     // first cycle in which warps released by another core go on; 0: none
	out        []*clock.Link[mem.Request]
	in         []*clock.Link[mem.Response]
	brought    uint64 // instructions that came with the fetch of an earlier one
	arrived    uint64 // bit i: in[i] holds an answer, or has one under way
	stuck      uint64 // bit i: out[i] was full, and nothing has been taken from it since
}

// near returns the instruction cache if it trails the core, which it does while all fetches hit; else nil.
func (f *front) near() *clock.Trailing {
	if t := f.out[0].Trailing(); t != nil && t.On {
		return t
	}
	return nil
}

// schedule passes warps that can be fetched for to fetch, and reports whether fetch could have taken one more. A
// scheduled warp is stalled until its instruction has been decoded, and after a control instruction until that is
// resolved.
func (c *Core) schedule(now uint64) (unscheduled bool) {
	f := &c.front
	ready := c.active &^ c.stalled
	unscheduled = ready == 0
	for n := 0; n < c.spec.FetchWidth && ready != 0 && !f.scheduled.Closed(now); n++ {
		if !c.scheduleOne(ready) {
			return true
		}
		ready = c.active &^ c.stalled
	}
	return unscheduled
}

func (c *Core) scheduleOne(ready uint64) bool {
	f := &c.front
	i := f.selector.pick(view{ready: ready, away: c.away()})
	if i < 0 {
		return false
	}
	f.scheduled.Push(flightID(i))
	w := &c.warps[i]
	w.fetching = w.fetchPC
	w.fetchPC += 4
	c.stalled |= 1 << i
	c.moved = true
	c.Scheduled++
	return true
}

// fetch sends requests to the instruction cache, one at each port.
func (c *Core) fetch(now uint64) {
	f := &c.front
	for i, out := range f.out {
		near := f.near()
		if f.stuck>>i&1 != 0 || near == nil && out.Full() || near != nil && near.Full(now) {
			continue
		}
		w := int(f.scheduled.Take(now))
		c.moved = true
		c.hookFront(HookPosFetch, now, w, nil)
		r := mem.Request{Addr: c.warps[w].fetching, Tag: uint32(w), Op: mem.Read}
		switch {
		case near == nil || !near.Holds(r.Addr):
			near.End()
			out.Push(r)
		case near.Express():
			near.Send(r.Addr, r.Tag, now)
		default:
			out.PushAt(r, now)
		}
		if f.scheduled.Empty() {
			return
		}
	}
}

// decode takes an instruction from each port, and reports whether an instruction buffer was full.
func (c *Core) decode(now uint64) (undecoded bool) {
	for m := c.front.arrived; m != 0; m &= m - 1 {
		in := c.front.in[bits.TrailingZeros64(m)]
		if at := in.From(); at > now {
			c.due = min(c.due, at)
		} else if !c.decodeFrom(in, now) {
			undecoded = true
		}
	}
	return undecoded
}

// decodeFrom moves an arriving instruction into its warp's buffer. A full buffer blocks all later answers of the port,
// of all warps and, if cores share the L1I, of the other cores.
func (c *Core) decodeFrom(from *clock.Link[mem.Response], now uint64) bool {
	i := int(from.Front().Tag)
	if c.warps[i].ibuffer.Closed(now) {
		return false
	}
	if c.front.near() != nil {
		from.DropAt(now)
	} else {
		from.Drop()
	}
	c.decodeFor(i, now)
	return true
}

// decodeExpress is decodeFrom for an answer on the express.
func (c *Core) decodeExpress(near *clock.Trailing, now uint64) bool {
	i := int(near.Answer())
	if c.warps[i].ibuffer.Closed(now) {
		return false
	}
	near.Take(now)
	c.decodeFor(i, now)
	return true
}

// decodeFor decodes the instruction that has arrived for warp i.
func (c *Core) decodeFor(i int, now uint64) {
	w := &c.warps[i]
	c.moved = true
	op, err := w.trace.Decode(w.fetching)
	if err != nil { // fetched ahead: the warp may never get here
		c.trapDecode(i, err, now)
		return
	}
	w.ibuffer.Push(op)
	w.pending++
	c.inFlight++
	c.hookFront(HookPosDecode, now, i, op)
	if c.spec.FetchBlock > 1 {
		op = c.decodeMore(i, w, op, now)
	}
	if c.isControl(op) {
		c.branching |= 1 << i
		if op.LatencyClass() == isa.ClassUnit {
			c.awaitingUnit |= 1 << i
		}
		c.refreshState(i)
		return
	}
	if c.mayBlock(i) || c.spec.FetchRoom && !c.fetchable(w) {
		c.fetchBlocked |= 1 << i
		return
	}
	c.front.unlocks.put(now+1, 1<<i)
}

// decodeMore moves the instructions that came with the fetch of op into warp i's buffer, and returns the last.
func (c *Core) decodeMore(i int, w *warp, op *emu.Op, now uint64) *emu.Op {
	for c.spec.inBlock(w.fetchPC) && !c.isControl(op) && !w.ibuffer.Full() && !c.mayBlock(i) {
		next, err := w.trace.Decode(w.fetchPC)
		if err != nil {
			break // it is fetched by itself, if the warp gets there
		}
		op = next
		w.fetching = w.fetchPC
		w.fetchPC += 4
		w.ibuffer.Push(op)
		w.pending++
		c.inFlight++
		c.front.brought++
		c.hookFront(HookPosDecode, now, i, op)
	}
	return op
}

// inBlock reports whether the fetch of the instruction before pc also brings the one at pc.
func (s *Spec) inBlock(pc uint32) bool { return pc&(4*uint32(s.FetchBlock)-1) != 0 }

// fetchable reports whether the warp's instruction buffer has slots for a fetch's instructions, or is empty.
func (c *Core) fetchable(w *warp) bool {
	b := &w.ibuffer
	return !c.spec.FetchRoom || b.Empty() || b.Capacity()-b.Len() >= c.spec.FetchBlock
}

// unblock makes warps fetchable whose instruction buffers have passed an instruction on, if they now have room.
func (c *Core) unblock(warps, now uint64) {
	open := uint64(0)
	for m := warps; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.fetchable(&c.warps[i]) {
			open |= 1 << i
		}
	}
	if open != 0 {
		c.fetchBlocked &^= open
		c.front.unlocks.put(now+1, open)
	}
}

// mayBlock reports whether the warp's next instruction could block decode for an unbounded time: its buffer is full
// behind a request to the graph unit, and that request's answer may depend on instructions that decode would hold back.
func (c *Core) mayBlock(i int) bool {
	return c.socket != nil && c.socket.Awaits(i) && c.warps[i].ibuffer.Full()
}

// next returns the first cycle after now in which warps become schedulable, or at if that is earlier.
func (f *front) next(now, at uint64) uint64 {
	at = min(at, f.unlocks.next(now))
	if f.releasedAt > now {
		at = min(at, f.releasedAt)
	}
	return at
}

// unlock makes the warps schedulable that are due.
func (c *Core) unlock(now uint64) {
	f := &c.front
	if set := f.unlocks.take(now); set != 0 {
		c.moved = true
		c.stalled &^= set
		c.resolve(set)
	}
	if f.releasedAt != 0 && f.releasedAt <= now {
		f.releasedAt = 0
		if c.halts {
			c.haltWarps(now)
		}
		c.resumeHeld(now)
	}
	if len(c.opening) != 0 && c.open(now) {
		c.resumeHeld(now)
	}
}

// resolve marks the control instructions of these warps as resolved.
func (p *pipe) resolve(warps uint64) {
	for m := warps & p.branching; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		p.branching &^= 1 << i
		p.refreshState(i)
	}
}

// resumeHeld reschedules warps that a barrier or wspawn has released.
func (c *Core) resumeHeld(at uint64) {
	for m := c.atBarrier &^ c.toOpen(); m != 0; m &= m - 1 {
		if w := bits.TrailingZeros64(m); !c.warps[w].trace.Waiting() {
			c.atBarrier &^= 1 << w
			c.refreshState(w)
			c.resume(w, at)
		}
	}
}

// otherCore is called when another core releases warps of this one. They observe it in the next cycle, independently of
// the order in which the two cores tick.
func (c *Core) otherCore() {
	if c.functional != nil && c.functional.on {
		c.functional.released()
		return
	}
	if c.front.releasedAt == 0 {
		c.front.releasedAt = c.ClockHandle().Domain().Cycle() + 1
	}
	c.ClockHandle().Wake()
}

// resume makes warp w schedulable from cycle at on, at its trace's program counter.
func (c *Core) resume(w int, at uint64) {
	c.moved = true
	c.resolved(w)
	c.warps[w].fetchPC = c.warps[w].trace.PC()
	if at <= c.ClockHandle().Domain().Cycle() {
		c.stalled &^= 1 << w
		c.resolve(1 << w)
		return
	}
	c.front.unlocks.put(at, 1<<w)
}

// startNew launches the warps that the source has activated.
func (c *Core) startNew(at uint64) {
	for m := c.source.Active() &^ (c.active | c.functionalWarps); m != 0; m &= m - 1 {
		w := bits.TrailingZeros64(m)
		c.begin(w)
		c.launchOrder.launch(w)
		c.resume(w, at)
		c.warps[w].fetching = c.warps[w].fetchPC // profiles attribute the warp's wait to this address
	}
}
