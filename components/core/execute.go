package core

import "heddle/isa"

// execute moves the slice's ALU and FPU.
func (c *Core) execute(sl *slice, now uint64) {
	c.finishALU(sl, now)
	if q := &sl.dispatch[isa.ALU]; q.ready(now) {
		c.startALU(sl, q, now)
	}
	if q := &sl.dispatch[isa.FPU]; q.ready(now) && sl.fpuHeld < c.spec.FPUQueue {
		at := now + c.latency[q.front().op.LatencyClass()]
		c.moved = true
		sl.fpuHeld++
		in := packet(q, now)
		c.hook(HookPosExecute, now, in.warp, in.op)
		sl.result[isa.FPU].insert(in, at)
	}
	sl.fpuHeld -= sl.fpuFreed // seen from the next cycle on
	sl.fpuFreed = 0
}

// packet takes from a dispatch buffer what its unit starts in this cycle: the first
// instruction, or one of its packets, of which the last stands for the instruction. The
// others take a turn at commit and release nothing.
func packet(q *queue[inst], now uint64) inst {
	in := q.front()
	if in.rest == 0 {
		return q.take(now)
	}
	in.rest--
	return inst{warp: in.warp, access: -1}
}

// finishALU lets one result a cycle through the switch behind the integer unit and
// the multiplier and divider, in turn when both have one.
func (c *Core) finishALU(sl *slice, now uint64) {
	out := &sl.result[isa.ALU]
	if out.closed(now) {
		return
	}
	from := sl.muldiv(now)
	if alu := sl.alu.ready(now); alu && (from == nil || !sl.muldivNext) {
		from = &sl.alu
	}
	if from == nil {
		return
	}
	sl.muldivNext = from == &sl.alu
	in := from.pop()
	out.push(in, now+1)
	c.moved = true
	if in.op != nil && in.op.LatencyClass() == isa.ClassBranch {
		c.resume(int(in.warp), now+switchToUnlock)
	}
}

// muldiv returns what has a product or a quotient, if any. Of both, the one that was
// ready first (RTL: in turn).
func (sl *slice) muldiv(now uint64) *queue[inst] {
	switch mul, div := sl.mul.ready(now), sl.div.ready(now); {
	case div && !(mul && sl.mul.frontAt() < sl.div.frontAt()):
		return &sl.div
	case mul:
		return &sl.mul
	}
	return nil
}

func (c *Core) startALU(sl *slice, q *queue[inst], now uint64) {
	class := q.front().op.LatencyClass()
	into := &sl.alu
	switch class {
	case isa.ClassMul:
		into = &sl.mul
	case isa.ClassDiv:
		into = &sl.div
	}
	if into.full() {
		return
	}
	in := packet(q, now)
	c.moved = true
	c.hook(HookPosExecute, now, in.warp, in.op)
	into.push(in, now+c.latency[class]-1)
}

// gather moves the next instruction for a unit that all slices share into the buffer
// before it, from the slice that was selected in the cycle before: the lowest with
// one, and the last if none had. A slice that has one keeps it until there is a place.
func (c *Core) gather(u isa.Unit, now uint64) {
	e := &c.entries[u]
	next := c.lowest(u, now)
	if from := &c.slices[e.selected].dispatch[u]; from.ready(now) {
		if e.buffer.closed(now) {
			return
		}
		e.buffer.push(from.take(now), now+1)
		c.moved = true
	}
	e.selected = next
}

// lowest returns the first slice with an instruction for unit u; if there is none, the last.
func (c *Core) lowest(u isa.Unit, now uint64) int {
	last := len(c.slices) - 1
	for i := range last {
		if c.slices[i].dispatch[u].ready(now) {
			return i
		}
	}
	return last
}

// entry is the way of the slices into a unit they share (RTL: dispatch_unit).
type entry struct {
	selected int
	buffer   queue[inst]
}

// executeSFU executes one instruction of the core's only SFU.
func (c *Core) executeSFU(now uint64) {
	q := &c.entries[isa.SFU].buffer
	if !q.ready(now) {
		return
	}
	if q.front().op.LatencyClass() == isa.ClassUnit {
		c.request(q, now)
		return
	}
	out := &c.slices[c.warps[q.front().warp].slice].result[isa.SFU]
	if out.closed(now) {
		return
	}
	class := q.front().op.LatencyClass()
	in := packet(q, now)
	c.moved = true
	c.hook(HookPosExecute, now, in.warp, in.op)
	if class == isa.ClassWarp && in.op != nil {
		c.control(in, now)
	}
	out.push(in, now+c.latency[class])
}

// control executes tmc, wspawn, split, join, bar or pred.
func (c *Core) control(in inst, now uint64) {
	w := int(in.warp)
	trace := c.warps[w].trace
	if err := trace.Execute(in.op); err != nil {
		c.fail(err)
		return
	}
	c.startNew(now + executeToUnlock + spawnDelay)
	if c.source.Active()>>w&1 == 0 {
		c.bookPhase(&c.warps[w], c.warps[w].phase, c.Cycles)
		c.active &^= 1 << w
		c.branching &^= 1 << w
		c.resumeHeld(now + 1) // a wspawn that waited for the others to end
		return
	}
	if trace.Waiting() {
		c.held |= 1 << w
		return
	}
	c.resumeHeld(now + executeToUnlock)
	at := now + executeToUnlock
	if in.op.Name == "wspawn" || in.op.Name == "join" {
		at++
	}
	c.resume(w, at)
}

// commit writes back an instruction a cycle, units in fixed priority; a slice that
// dispatches more writes back as many, of different units.
func (c *Core) commit(sl *slice, now uint64) {
	left := c.spec.Issue.Dispatch
	for _, u := range commitOrder {
		q := &sl.result[u]
		if !q.ready(now) {
			continue
		}
		in := q.take(now)
		c.moved = true
		c.hook(HookPosCommit, now, in.warp, in.op)
		if u == isa.FPU {
			sl.fpuFreed++
		}
		r := release{warp: in.warp}
		if in.op != nil {
			r.regs, r.last, r.phase = destination(in.op), true, in.op.Phase()
		}
		c.released.push(r, now+commitToRelease)
		if left--; left == 0 {
			return
		}
	}
}

// commitOrder is the RTL's numbering of the units.
var commitOrder = [...]isa.Unit{isa.ALU, isa.LSU, isa.SFU, isa.FPU}
