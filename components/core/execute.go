package core

import (
	"errors"
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// dispatch sends instructions with their operands to the units. They take architectural effect here, in program order
// within the warp; only warp control takes effect in the SFU, and memory accesses in the load-store unit.
func (c *Core) dispatch(sl *slice, now uint64) {
	if way := &sl.bypass.operands; !way.Empty() {
		if !way.Ready(now) {
			return
		}
		if id := *way.Front(); c.takes(sl, id, now) && c.dispatchOne(sl, id, now) {
			way.Pop()
			return
		}
		sl.materialise(now)
		if len(sl.collect.id[0]) > 1 {
			sl.arbitrate(now)
		}
		return
	}
	k := &sl.collect
	k.closed = k.second
	if len(k.id[0]) == 1 {
		for n := 0; n < c.spec.Issue.Dispatch && k.out != 0 && c.takes(sl, k.id[2][0], now) &&
			c.dispatchOne(sl, k.id[2][0], now); n++ {
			k.take(0)
		}
		return
	}
	for n := 0; n < c.spec.Issue.Dispatch && !sl.operands.Empty(); n++ {
		if id := *sl.operands.Front(); !c.takes(sl, id, now) || !c.dispatchOne(sl, id, now) {
			break
		}
		sl.operands.Take(now)
	}
	if k.out != 0 {
		sl.arbitrate(now)
	}
}

// takes reports whether an instruction's unit has a slot for it.
func (c *Core) takes(sl *slice, id flightID, now uint64) bool {
	return !sl.dispatch[c.all[id].unit].Closed(now)
}

// dispatchOne sends an instruction to its unit. It reports false if a program error stops the core.
func (c *Core) dispatchOne(sl *slice, id flightID, now uint64) bool {
	f := &c.all[id]
	c.moved = true
	if n := c.lanes[f.unit]; n > 0 && f.class != isa.ClassUnit && f.class != isa.ClassFence {
		f.packetsLeft = uint8(packets(c.warps[f.warp].trace.Mask(), n) - 1)
	}
	if err := c.effect(f); err != nil {
		return c.trapped(sl, id, err, now)
	}
	if f.unit != isa.ALU || !sl.passALU(id, now) {
		sl.dispatch[f.unit].Push(id)
	}
	if f.unit == isa.LSU || f.unit == isa.SFU || c.blocked && c.blocks[f.unit] != 0 {
		c.shared++
	}
	c.hook(HookPosDispatch, now, f.warp, f.op)
	return true
}

// packets counts the groups of that many lanes with an active lane.
func packets(mask uint32, lanes int) (n int) {
	for ; mask != 0; n++ {
		group := bits.TrailingZeros32(mask) / lanes
		mask &^= (1<<lanes - 1) << (group * lanes)
	}
	return n
}

// effect executes the instruction, or reads the operands of a memory access.
func (c *Core) effect(f *inflight) error {
	w := &c.warps[f.warp]
	switch f.class {
	case isa.ClassWarp:
		return nil
	case isa.ClassUnit:
		if w.squashing {
			return errSquashed
		}
		c.readOperands(f)
		return nil
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
		f.access = c.lsu.takeAccess()
		a := &c.lsu.accesses[f.access]
		if err := w.trace.Issue(f.op, a); err != nil {
			c.lsu.free = append(c.lsu.free, f.access)
			return err
		}
		local := localLanes(a)
		if local != 0 && c.lsu.withoutScratchpad {
			c.lsu.free = append(c.lsu.free, f.access)
			return errNoScratchpad
		}
		c.lsu.scratchpadLanes[f.access] = local
		switch {
		case local == 0:
		case local != a.Mask:
			c.Mixed++
		default: // the warp now waits for the scratchpad, not for memory
			w.board.change(waitsMemory, waitsScratchpad, f.op.Writes())
			if w.issueHead != nil {
				c.updateHazard(&c.slices[w.slice], int(f.warp))
			}
		}
		return nil
	case isa.ClassFence:
		c.fenced |= 1 << f.warp
		c.refreshState(int(f.warp))
	}
	return w.trace.Execute(f.op)
}

// errNoScratchpad is the error of a program built for a core with a scratchpad.
var errNoScratchpad = errors.New("access to the scratchpad of a core that has none (core.scratchpad: false)")

// entry is the arbiter between the slices and a unit that they share, or several, each of a group of slices (RTL:
// dispatch_unit).
type entry struct {
	selected int    // group of as many slices as there are units
	last     int    // last group
	buffer   buffer // of the LSU or the SFU; other units have entered
}

// enters reports whether the slices have an instruction for a shared unit, or its arbiter has to return to its idle
// selection.
func (c *Core) enters(u isa.Unit) bool {
	return c.shared != 0 || c.entries[u].selected != c.entries[u].last
}

// enter moves the next instruction for a shared unit into the buffer before it. It comes from the slice selected in the
// cycle before: the lowest with an instruction then, or the last if none had one. A selected slice stays selected until
// the buffer has a slot.
func (c *Core) enter(u isa.Unit, now uint64) {
	e := &c.entries[u]
	next := c.lowest(u)
	if sl := &c.slices[e.selected]; !sl.dispatch[u].Empty() {
		if e.buffer.Closed(now) {
			return
		}
		e.buffer.Push(sl.dispatch[u].Take(now))
		c.shared--
		c.moved = true
		if u == isa.LSU {
			c.lsu.due = min(c.lsu.due, now+1)
		}
	}
	e.selected = next
}

// lowest returns the first slice with an instruction for unit u; if there is none, the last.
func (c *Core) lowest(u isa.Unit) int {
	last := len(c.slices) - 1
	for i := range last {
		if !c.slices[i].dispatch[u].Empty() {
			return i
		}
	}
	return last
}

// enterBlocks moves, from each slice of the selected group, the next instruction or packet into the register before its
// unit. The group stays selected until each of its slices has sent its instruction whole.
func (c *Core) enterBlocks(u isa.Unit, now uint64) {
	e, n := &c.entries[u], c.blocks[u]
	next, done := c.firstGroup(u), true
	for i := range n {
		q, to := &c.slices[e.selected*n+i].dispatch[u], &c.slices[i].entered[u]
		if q.Empty() {
			continue
		}
		if to.Closed(now) {
			done = false
			continue
		}
		last := c.all[*q.Front()].packetsLeft == 0
		to.Push(c.slices[i].packet(q, now), now+1)
		c.moved = true
		if last {
			c.shared--
		} else {
			done = false
		}
	}
	if done {
		e.selected = next
	}
}

// firstGroup returns the first group of slices with an instruction for unit u; if there is none, the last.
func (c *Core) firstGroup(u isa.Unit) int {
	for i := range c.slices {
		if !c.slices[i].dispatch[u].Empty() {
			return i / c.blocks[u]
		}
	}
	return c.entries[u].last
}

// gatherBlock moves the oldest result of a unit that slices share into the register of the slice that it belongs to, in
// the cycle after it came.
func (c *Core) gatherBlock(unit *slice, u isa.Unit, now uint64) {
	var id flightID
	if u == isa.ALU {
		if unit.computed.Empty() {
			return
		}
		id = *unit.computed.Front()
	} else {
		if !unit.result[u].Ready(now) {
			return
		}
		id = *unit.result[u].Front()
	}
	to := &c.slices[c.warps[c.all[id].warp].slice].gathered[u]
	if to.Full() {
		return
	}
	to.Push(id, now+1)
	if u == isa.ALU {
		unit.computed.Take(now)
	} else {
		unit.result[u].Take(now)
		unit.fpuFreed++
	}
	c.moved = true
}

// entering reports whether an instruction waits before a shared unit that has a slot: its slice is then selected in a
// cycle in which nothing moves.
func (c *Core) entering() bool {
	if c.shared == 0 {
		return false
	}
	for i := range c.slices {
		for _, u := range [...]isa.Unit{isa.LSU, isa.SFU} {
			if !c.slices[i].dispatch[u].Empty() && !c.entries[u].buffer.Full() {
				return true
			}
		}
		if !c.blocked {
			continue
		}
		for _, u := range sliceUnits {
			if n := c.blocks[u]; n != 0 && !c.slices[i].dispatch[u].Empty() && !c.slices[i%n].entered[u].Full() {
				return true
			}
		}
	}
	return false
}

// executeSFU executes one instruction, or packet, of the core's SFU.
func (c *Core) executeSFU(now uint64) {
	q := &c.entries[isa.SFU].buffer
	if q.Empty() {
		return
	}
	id := *q.Front()
	f := &c.all[id]
	sl := &c.slices[c.warps[f.warp].slice]
	out := &sl.result[isa.SFU]
	if f.class == isa.ClassUnit {
		c.request(q, now)
		return
	}
	if out.Closed(now) {
		return
	}
	class, drains := f.class, f.op.FloatCSR()
	if drains && !c.warps[f.warp].drained(now) {
		return
	}
	if f.packetsLeft == 0 {
		q.Take(now)
	} else {
		f.packetsLeft--
		id = c.newPacket(f.warp)
		f = &c.all[id]
	}
	c.moved = true
	c.hook(HookPosExecute, now, f.warp, f.op)
	switch {
	case f.op == nil: // a packet that is not the last
	case class == isa.ClassWarp:
		c.control(int(f.warp), f.op, now)
	case drains:
		c.resume(int(f.warp), now+csrToUnlock)
	}
	out.Push(id, now+c.latency[class])
}

// control executes tmc, wspawn, split, join, bar or pred.
func (c *Core) control(w int, op *emu.Op, now uint64) {
	trace := c.warps[w].trace
	if err := trace.Execute(op); err != nil {
		c.trapControl(w, op, err)
		return
	}
	c.startNew(now + executeToUnlock + spawnDelay)
	if c.source.Active()>>w&1 == 0 {
		c.leave(w)
		c.resumeHeld(now + 1) // a wspawn that waited for the others to end
		return
	}
	if trace.Waiting() {
		c.Base.ClockHandle().Finish() // other cores may wait at the same barrier
		c.atBarrier |= 1 << w
		c.refreshState(w)
		return
	}
	if c.spec.OrderedBarrier && op.Name == "bar" && c.delays(w) {
		c.atBarrier |= 1 << w
		c.refreshState(w)
		return
	}
	c.resumeHeld(now + executeToUnlock)
	at := now + executeToUnlock
	if op.Name == "wspawn" || op.Name == "join" {
		at++
	}
	c.resume(w, at)
}
