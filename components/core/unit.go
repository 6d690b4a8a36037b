package core

import (
	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
)

// What a core does with the instructions of the graph unit in its accelerator
// socket. They go through the SFU in program order. The unit takes their effect when
// it comes to them; the scoreboard holds rd until its answer has been written.

// Plug connects the core's accelerator socket.
func (c *Core) Plug(s *accel.Socket) { c.socket = s }

// unitLatency is the least number of cycles from the SFU through a unit to the commit
// arbiter, of which two are the socket's wires: that of the SFU's own operations.
func (c *Core) unitLatency() uint64 { return max(3, c.latency[isa.ClassUnit]) }

// readOperands is the part of a request that happens at dispatch.
func (c *Core) readOperands(in *inst) {
	call := c.socket.Begin()
	c.warps[in.warp].trace.Ask(in.op, call)
	in.access = int16(call.Tag)
}

// request gives the SFU's next instruction to the unit, when its queue has a place.
// What has no answer is done with that; it then also needs a way to commit.
func (c *Core) request(q *queue[inst], now uint64) {
	in := *q.front()
	out := &c.slices[c.warps[in.warp].slice].result[isa.SFU]
	answered := c.socket.Traits(in.op).Answered
	if !answered && out.full() || c.socket.Full() {
		return
	}
	q.pop()
	c.moved = true
	c.socket.Send(int(in.access))
	if answered {
		c.hook(HookPosMemory, now, in.warp, in.op)
	} else {
		c.hook(HookPosExecute, now, in.warp, in.op)
		out.push(in, now+c.latency[isa.ClassUnit])
	}
}

// reply takes one answer of the unit: rd is written and the instruction goes to
// commit. A warp whose mask it may have changed goes on.
func (c *Core) reply(now uint64) {
	if err := c.socket.Err(); err != nil {
		c.fail(err)
	}
	if !c.socket.Answered() {
		return
	}
	call := c.socket.Front()
	w, op := call.Warp, call.Op()
	out := &c.slices[c.warps[w].slice].result[isa.SFU]
	if out.full() {
		return
	}
	c.warps[w].trace.Answer(call)
	c.socket.Receive()
	c.moved = true
	out.push(inst{op: op, warp: uint8(w), access: -1}, now+c.unitLatency()-2)
	c.look(w)
	if c.socket.Traits(op).SetsMask {
		c.asking &^= 1 << w
		c.resume(w, now+executeToUnlock)
	}
}

// unitHazard is what warp i's head waits for that waits for k: if for no register,
// maybe for the answer to an earlier request.
func (c *Core) unitHazard(i int, k cause) cause {
	if k == issued && c.socket != nil && !c.socket.CanIssue(i, c.warps[i].staging) {
		return waitsUnit
	}
	return k
}

// isControl tells instructions after which the warp waits for the outcome.
func (c *Core) isControl(op *emu.Op) bool {
	switch op.LatencyClass() {
	case isa.ClassBranch, isa.ClassWarp:
		return true
	case isa.ClassUnit:
		return c.socket.Traits(op).SetsMask
	}
	return false
}

// unitIdle tells that the unit has nothing of this core's left to do.
func (c *Core) unitIdle() bool { return c.socket == nil || c.socket.Idle() }
