package core

import "math/bits"

// collectors are a slice's operand collectors. A collector reads one register from each of the four banks per cycle;
// each further operand in the same bank costs another cycle. It has two one-entry stages and a two-entry output.
type collectors struct {
	in, mid, out, second uint32        // sets of collectors whose stage, or output entry, is occupied
	closed               uint32        // output full when the cycle began: the ready flag is a register
	id                   [4][]flightID // of in, mid, out and second
	fresh                uint32        // collectors whose first output entry was filled in this cycle
	collided             []uint8       // by collector: cycles that its input has waited for a bank
	name                 string
}

func newCollectors(n int, name string) (c collectors) {
	for i := range c.id {
		c.id[i] = make([]flightID, n)
	}
	c.collided, c.name = make([]uint8, n), name
	return c
}

// advance moves instructions to the next stage. It reports whether any moved.
func (c *collectors) advance() bool {
	read := c.mid &^ c.closed
	c.fresh = read &^ c.out
	for m := read; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		if c.out>>i&1 == 0 {
			c.id[2][i] = c.id[1][i]
			c.out |= 1 << i
		} else {
			c.id[3][i] = c.id[1][i]
			c.second |= 1 << i
		}
	}
	c.mid &^= read
	begun := c.in &^ c.mid
	for m := begun; m != 0; m &= m - 1 {
		i := bits.TrailingZeros32(m)
		c.id[1][i] = c.id[0][i]
	}
	c.mid |= begun
	c.in &^= begun
	return read|begun != 0
}

// take removes the oldest instruction from collector i's output.
func (c *collectors) take(i int) flightID {
	id := c.id[2][i]
	if c.second>>i&1 != 0 {
		c.id[2][i] = c.id[3][i]
		c.second &^= 1 << i
	} else {
		c.out &^= 1 << i
	}
	return id
}

// buffers shows the collectors' occupancy. more has the collectors that bypassing instructions occupy, by stage: 1, 2,
// output.
func (c *collectors) buffers(more [3]uint32, see func(string, int, int)) {
	for i := range c.id[0] {
		bit := func(set uint32) int { return int(set >> i & 1) }
		see(c.name+"collector stage 1", bit(c.in|more[0]), 1)
		see(c.name+"collector stage 2", bit(c.mid|more[1]), 1)
		see(c.name+"collector output", bit(c.out|more[2])+bit(c.second), 2)
	}
}

// gathers reports whether a stage between issue and dispatch may have something to do: not while its instructions are
// only under way, on the bypass or behind the scoreboard's arbiter.
func (sl *slice) gathers(now uint64) bool {
	c := &sl.collect
	return c.in|c.mid|c.out|c.fresh != 0 || sl.occupied&(1<<bitOperands) != 0 ||
		min(sl.issued.First(), sl.bypass.operands.First()) <= now
}

// gather moves instructions through the operand collectors.
func (sl *slice) gather(now uint64) {
	c := &sl.collect
	c.fresh = 0
	if c.in|c.mid != 0 && c.advance() {
		sl.moved = true
	}
	for range sl.spec.Issue.Dispatch {
		if !sl.issued.Ready(now) || !sl.read(now) {
			return
		}
	}
}

// read gives the slice's next instruction to its warp's collector, if that is free and the instruction has waited out
// its bank conflicts. It reports whether it has.
func (sl *slice) read(now uint64) bool {
	c := &sl.collect
	id := *sl.issued.Front()
	f := &sl.all[id]
	k := sl.warps[f.warp].collector
	if c.in>>k&1 != 0 {
		return false
	}
	sl.moved = true
	if c.collided[k] < f.op.BankConflicts() {
		c.collided[k]++
		sl.Operands++
		return false
	}
	c.collided[k] = 0
	id = sl.issued.Take(now)
	if sl.bypassOpen() {
		sl.bypass.operands.Push(id, now+uint64(sl.bypass.delay))
		return true
	}
	c.id[0][k] = id
	c.in |= 1 << k
	return true
}

// arbitrate moves instructions from the collectors' outputs to the operand buffer, the lowest collector first.
func (sl *slice) arbitrate(now uint64) {
	left := sl.spec.Issue.Dispatch
	for m := sl.collect.out; m != 0; m &= m - 1 {
		if left == 0 || sl.operands.Closed(now) {
			return
		}
		id := sl.collect.take(bits.TrailingZeros32(m))
		sl.operands.Push(id, now+1)
		sl.moved = true
		left--
	}
}
