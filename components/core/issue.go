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
	if sl.issued.full() {
		return
	}
	pick := c.pick(s, now)
	if pick < 0 {
		return
	}
	n, i := len(c.warps)/len(c.slices), pick*len(c.slices)+s
	w := &c.warps[i]
	w.busy |= destination(w.staging)
	sl.issued.push(inst{op: w.staging, warp: uint8(i), access: -1}, now+1+levels(n))
	w.staging = nil
	c.staged &^= 1 << i
	if sl.next = pick + 1; sl.next == n {
		sl.next = 0
	}
	c.Issued++
}

// pick returns which of slice s's warps issues, counted within the slice; -1: none.
func (c *Core) pick(s int, now uint64) int {
	n := len(c.slices)
	can := func(k int) bool {
		w := &c.warps[k*n+s]
		return w.since <= now && registers(w.staging)&w.busy == 0
	}
	set := c.staged & c.slices[s].members
	if set == 0 {
		return -1
	}
	if k := c.slices[s].next; set>>(k*n+s)&1 != 0 && can(k) {
		return k
	}
	for ; set != 0; set &= set - 1 {
		if k := bits.TrailingZeros64(set) / n; can(k) {
			return k
		}
	}
	return -1
}

// collect moves instructions through the operand collectors. A collector reads
// one register of each of the four banks a cycle; two operands in one bank cost
// a cycle more.
func (c *Core) collect(sl *slice, now uint64) {
	for i := range sl.collectors {
		k := &sl.collectors[i]
		if k.st2.ready(now) && !k.out.full() {
			k.out.push(k.st2.pop(), now+1)
		}
		if k.st1.ready(now) && !k.st2.full() {
			k.st2.push(k.st1.pop(), now+1)
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
	if !k.collided && bankConflict(in.op) {
		k.collided = true
		c.BankWaits++
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
	if err := c.effect(&in); err != nil {
		c.fail(err)
		return
	}
	to.push(in, now+1)
}

// effect executes the instruction, or reads the operands of a memory access.
func (c *Core) effect(in *inst) error {
	w := c.warps[in.warp].arch
	switch in.op.LatencyClass() {
	case isa.ClassWarp, isa.ClassUnit:
		return nil
	case isa.ClassLoad, isa.ClassStore, isa.ClassAtomic:
		in.access = c.takeAccess()
		return w.Issue(in.op, &c.accesses[in.access])
	}
	return w.Execute(in.op)
}
