package core

import (
	"math/bits"

	"heddle/isa"
	"heddle/isa/emu"
)

// registers returns the bits of the registers an instruction reads or writes.
// x0 is never waited for.
func registers(o *emu.Op) uint64 {
	return (1<<o.Rd | 1<<o.Rs1 | 1<<o.Rs2 | 1<<o.Rs3) &^ 1
}

// destination returns the bit of the register it writes, if any.
func destination(o *emu.Op) uint64 { return 1 << o.Rd &^ 1 }

// issue sends the heads of some of the slice's warps whose registers are there to the
// collectors.
func (c *Core) issue(sl *slice, now uint64) {
	if len(sl.groups.of) > 0 {
		c.issueGroups(sl, now)
		return
	}
	b := &sl.booked
	*b = cycle{ready: uint8(bits.OnesCount64(c.ready & sl.members))}
	for int(b.issued) < c.spec.Issue.Dispatch {
		w, why := c.choose(sl, now)
		if b.cause = why; why != issued {
			return
		}
		b.issued++
		b.selected++
		c.issueWarp(&sl.issued, w, now, now+c.issueDelay)
	}
}

// issueWarp moves the head of warp i to where it can be taken from cycle at on.
func (c *Core) issueWarp(to *queue[inst], i int, now, at uint64) {
	w := &c.warps[i]
	in := inst{op: w.staging, warp: uint8(i), access: -1}
	w.board.reserve(causeOf[w.staging.LatencyClass()], destination(w.staging))
	if c.socket != nil {
		c.socket.Issue(i, in.op)
	}
	to.push(in, at)
	c.issuedPhase(w)
	c.moved = true
	w.staging = nil
	c.staged &^= 1 << i
	c.ready &^= 1 << i
	c.picked |= 1 << i
	c.Issued++
	c.hook(HookPosIssue, now, in.warp, in.op)
}

// collect moves instructions through the operand collectors. A collector reads
// one register of each of the four banks a cycle; two operands in one bank cost
// a cycle more.
func (c *Core) collect(sl *slice, now uint64) {
	for i := range sl.collectors {
		k := &sl.collectors[i]
		if k.st2.ready(now) && !k.out.closed(now) {
			k.out.push(k.st2.pop(), now+1)
			c.moved = true
		}
		if k.st1.ready(now) && !k.st2.full() {
			k.st2.push(k.st1.pop(), now+1)
			c.moved = true
		}
	}
	for range c.spec.Issue.Dispatch {
		if !sl.issued.ready(now) || !c.read(sl, now) {
			return
		}
	}
}

// read gives the slice's next instruction to its warp's collector, if that is free and
// no bank is asked twice.
func (c *Core) read(sl *slice, now uint64) bool {
	in := sl.issued.front()
	k := &sl.collectors[c.warps[in.warp].collector]
	if k.st1.full() {
		return false
	}
	c.moved = true
	if !k.collided && bankConflict(in.op) {
		k.collided = true
		c.Operands++
		return false
	}
	k.collided = false
	k.st1.push(sl.issued.take(now), now+1)
	return true
}

// bankConflict tells whether two operands are in one bank (index mod 4).
func bankConflict(o *emu.Op) bool {
	seen, conflict := [4]bool{}, false
	for _, r := range [3]isa.Reg{o.Rs1, o.Rs2, o.Rs3} {
		if r != 0 {
			conflict = conflict || seen[r&3]
			seen[r&3] = true
		}
	}
	return conflict
}

// dispatchStage sends instructions with their operands to the units. Here they take
// their architectural effect, in program order within the warp; only warp
// control waits for the SFU, and memory for the load-store unit.
func (c *Core) dispatchStage(sl *slice, now uint64) {
	from := &sl.operands
	if len(sl.collectors) == 1 {
		from = &sl.collectors[0].out
	}
	for range c.spec.Issue.Dispatch {
		if !from.ready(now) || !c.dispatch(sl, from, now) {
			break
		}
	}
	if len(sl.collectors) > 1 {
		c.arbitrate(sl, now)
	}
}

// arbitrate lets collectors send what they have read, in fixed priority.
func (c *Core) arbitrate(sl *slice, now uint64) {
	left := c.spec.Issue.Dispatch
	for i := range sl.collectors {
		if left == 0 || sl.operands.closed(now) {
			return
		}
		if k := &sl.collectors[i].out; k.ready(now) {
			sl.operands.push(k.take(now), now+1)
			c.moved = true
			left--
		}
	}
}

// dispatch sends the first instruction of q to its unit, if that has a place.
func (c *Core) dispatch(sl *slice, q *queue[inst], now uint64) bool {
	u := q.front().op.LatencyClass().Unit()
	to := &sl.dispatch[u]
	if to.closed(now) {
		return false
	}
	in := q.take(now)
	c.moved = true
	if n := c.lanes[u]; n > 0 && in.op.LatencyClass() != isa.ClassUnit {
		in.rest = uint8(packets(c.warps[in.warp].trace.Mask(), n) - 1)
	}
	if err := c.effect(&in); err != nil {
		c.fail(err)
		return false
	}
	to.push(in, now+1)
	c.hook(HookPosDispatch, now, in.warp, in.op)
	return true
}

// packets counts the groups of that many lanes in which one is active.
func packets(mask uint32, lanes int) (n int) {
	for ; mask != 0; n++ {
		group := bits.TrailingZeros32(mask) / lanes
		mask &^= (1<<lanes - 1) << (group * lanes)
	}
	return n
}

// effect executes the instruction, or reads the operands of a memory access.
func (c *Core) effect(in *inst) error {
	w := &c.warps[in.warp]
	switch in.op.LatencyClass() {
	case isa.ClassWarp:
		return nil
	case isa.ClassUnit:
		c.readOperands(in)
		return nil
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
		in.access = c.takeAccess()
		a := &c.accesses[in.access]
		err := w.trace.Issue(in.op, a)
		if isLocal(a) { // now known: the warp waits for the scratchpad, not for memory
			w.board.change(waitsMemory, waitsScratchpad, destination(in.op))
			c.look(int(in.warp))
		}
		return err
	case isa.ClassFence:
		c.fenced |= 1 << in.warp
	}
	return w.trace.Execute(in.op)
}
