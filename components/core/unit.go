package core

import (
	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
)

// Instructions of the graph unit in the core's accelerator socket. They pass the SFU in program order. The unit
// performs their effect when it processes them; the scoreboard holds rd until the answer has been written.

// Plug connects the core's accelerator socket.
func (c *Core) Plug(s *accel.Socket) { c.socket, c.units = s, s }

// unitLatency returns the least number of cycles from the SFU through a unit to the commit arbiter: that of the SFU's
// own operations, two of them for the socket's wires.
func (c *Core) unitLatency() uint64 { return max(3, c.latency[isa.ClassUnit]) }

// readOperands reads a request's operands at dispatch.
func (c *Core) readOperands(f *inflight) {
	call := c.socket.Begin()
	c.warps[f.warp].trace.Ask(f.op, call)
	f.access = int16(call.Tag)
}

// request sends the SFU's next instruction to the unit, if its queue has a slot. A request without an answer commits
// then, and also needs a result slot.
func (c *Core) request(q *buffer, now uint64) {
	id := *q.Front()
	f := &c.all[id]
	sl := &c.slices[c.warps[f.warp].slice]
	out := &sl.result[isa.SFU]
	answered := c.socket.Traits(f.op).Answered
	if !answered && out.Full() || c.socket.Full() {
		return
	}
	q.Drop()
	c.moved = true
	c.socket.Send(int(f.access))
	if answered {
		c.hook(HookPosMemory, now, f.warp, f.op)
		c.end(id) // the answer commits as a new instruction
	} else {
		c.hook(HookPosExecute, now, f.warp, f.op)
		out.Push(id, now+c.latency[isa.ClassUnit])
	}
}

// reply takes one answer of the unit: rd is written, and the instruction goes to commit. The warp resumes if the
// instruction can change its mask.
func (c *Core) reply(now uint64) {
	if err := c.socket.Err(); err != nil {
		c.fail(err)
	}
	if !c.socket.Answered() {
		return
	}
	call := c.socket.Front()
	w, op := call.Warp, call.Op()
	if c.functional != nil && c.functional.waiting>>w&1 != 0 {
		return
	}
	sl := &c.slices[c.warps[w].slice]
	out := &sl.result[isa.SFU]
	if out.Full() {
		return
	}
	c.warps[w].trace.Answer(call)
	c.socket.Receive()
	c.moved = true
	out.Push(c.start(op, uint8(w)), now+c.unitLatency()-2)
	if c.warps[w].issueHead != nil {
		c.updateHazard(sl, w)
	}
	if c.socket.Traits(op).SetsMask {
		c.awaitingUnit &^= 1 << w
		c.refreshState(w)
		c.resume(w, now+executeToUnlock)
	}
}

// isControl reports whether the warp waits for the instruction's outcome before its next fetch.
func (c *Core) isControl(op *emu.Op) bool {
	return op.Steers() || op.FloatCSR() || op.LatencyClass() == isa.ClassUnit && c.socket.Traits(op).SetsMask
}

// unitIdle reports whether the unit has no pending work of this core.
func (c *Core) unitIdle() bool { return c.socket == nil || c.socket.Idle() }
