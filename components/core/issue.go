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

// issue picks one of the slice's warps whose head has its registers. The arbiter
// prefers warps in turn, and falls back to the lowest (RTL's cyclic arbiter).
func (c *Core) issue(s int, now uint64) {
	sl := &c.slices[s]
	sl.booked = c.outcome(sl, now)
	if sl.booked.cause != issued {
		return
	}
	n, pick := len(c.warps)/len(c.slices), c.pick(s)
	i := pick*len(c.slices) + s
	w := &c.warps[i]
	in := inst{op: w.staging, warp: uint8(i), cause: causeOf[w.staging.LatencyClass()], access: -1}
	w.board.reserve(in.cause, destination(w.staging))
	if c.socket != nil {
		c.socket.Issue(i, in.op)
	}
	sl.issued.push(in, now+1+levels(n))
	c.moved = true
	w.staging = nil
	c.staged &^= 1 << i
	c.ready &^= 1 << i
	c.picked |= 1 << i
	if sl.prefer = pick + 1; sl.prefer == n {
		sl.prefer = 0
	}
	c.Issued++
}

// pick returns which of slice s's ready warps issues, counted within the slice.
func (c *Core) pick(s int) int {
	n := len(c.slices)
	if k := c.slices[s].prefer; c.ready>>(k*n+s)&1 != 0 {
		return k
	}
	return bits.TrailingZeros64(c.ready&c.slices[s].members) / n
}

// collect moves instructions through the operand collectors. A collector reads
// one register of each of the four banks a cycle; two operands in one bank cost
// a cycle more.
func (c *Core) collect(sl *slice, now uint64) {
	for i := range sl.collectors {
		k := &sl.collectors[i]
		if k.st2.ready(now) && !k.out.full() {
			k.out.push(k.st2.pop(), now+1)
			c.moved = true
		}
		if k.st1.ready(now) && !k.st2.full() {
			k.st2.push(k.st1.pop(), now+1)
			c.moved = true
		}
	}
	if !sl.issued.ready(now) {
		return
	}
	in := sl.issued.front()
	k := &sl.collectors[int(in.warp)/len(c.slices)%len(sl.collectors)]
	if k.st1.full() {
		return
	}
	c.moved = true
	if !k.collided && bankConflict(in.op) {
		k.collided = true
		c.Operands++
		return
	}
	k.collided = false
	k.st1.push(sl.issued.pop(), now+1)
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
	if len(sl.collectors) == 1 {
		c.dispatchFrom(sl, &sl.collectors[0].out, now)
		return
	}
	c.dispatchFrom(sl, &sl.operands, now)
	if sl.operands.full() {
		return
	}
	for i := range sl.collectors { // fixed priority
		if k := &sl.collectors[i].out; k.ready(now) {
			sl.operands.push(k.pop(), now+1)
			c.moved = true
			return
		}
	}
}

func (c *Core) dispatchFrom(sl *slice, q *queue[inst], now uint64) {
	if !q.ready(now) {
		return
	}
	to := &sl.dispatch[q.front().op.LatencyClass().Unit()]
	if to.full() {
		return
	}
	in := q.pop()
	c.moved = true
	if err := c.effect(&in); err != nil {
		c.fail(err)
		return
	}
	to.push(in, now+1)
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
			in.cause = w.board.change(in.cause, waitsScratchpad, destination(in.op))
			c.look(int(in.warp))
		}
		return err
	case isa.ClassFence:
		c.fenced |= 1 << in.warp
	}
	return w.trace.Execute(in.op)
}
