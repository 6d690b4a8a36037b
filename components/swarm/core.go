package swarm

import (
	"heddle/isa"
	"heddle/isa/emu"
)

// mode is the activity of a core.
type mode uint8

const (
	empty mode = iota
	executing
	spilling // as a coalescer or a splitter
	waitsForQueue
	waitsForCommit
	waitsForTurn // after a trap: only the earliest task's is the program's
)

// stalled reports whether the core waits with a task.
func (m mode) stalled() bool { return m >= waitsForQueue }

// core is an in-order core.
type core struct {
	e    *Engine
	id   int
	tile *tile
	l1   array
	s    emu.Scalar

	mode      mode
	since     uint64 // the cycle up to which its cycles are booked
	execution uint64 // events of earlier ones are stale
	task      *task
	last      time          // of the task before
	op        *emu.ScalarOp `checkpoint:"assembled"`
	finishing bool          // the cycles of the finish have passed
	target    *tile         // of the enqueue that waits
	child     emu.Task
	trap      error

	batch    []*task // that a coalescer or splitter has in hand
	restores bool    // it is a splitter

	recorded [recordedLines]recorded
}

// book attributes the core's cycles before now to its activity.
func (c *core) book() {
	n := c.e.now - c.since
	c.since = c.e.now
	switch k := &c.e.Stats.Cycles; {
	case c.mode == executing:
		c.task.busy += n
	case c.mode == empty:
		k.Empty += n
	case c.mode == spilling:
		k.Spill += n
	default:
		k.Stalled += n
	}
}

// become sets the core's activity from now on.
func (c *core) become(m mode) {
	c.book()
	if c.mode == waitsForQueue {
		c.target.waiters--
	}
	if c.mode = m; m == waitsForQueue {
		c.target.waiters++
	}
}

// begin starts a task.
func (c *core) begin(t *task) {
	e := c.e
	c.become(executing)
	t.tie = e.dispatched
	e.dispatched++
	e.Stats.Hosted++
	t.state, t.core, c.task = running, c, t
	t.busy, t.acked = 0, 0
	tile := c.tile
	t.slot = tile.freeSlots[len(tile.freeSlots)-1]
	tile.freeSlots = tile.freeSlots[:len(tile.freeSlots)-1]
	tile.slots[t.slot] = t
	if t.time.before(c.last) && !e.faults.keepL1 {
		c.l1.clear()
		e.Stats.Clears++
	}
	c.last = t.time
	c.s.Begin(e.code, &t.Task)
	c.op, c.finishing, c.target, c.trap = nil, false, nil, nil
	c.execution++
	e.schedule(e.now+uint64(e.spec.TaskOp), coreEvent, c, nil)
}

// leave makes the core empty.
func (c *core) leave() {
	c.become(empty)
	c.task = nil
	c.execution++
	c.e.dirty |= 1 << c.tile.id
}

// longest is the number of instructions between events of a core that does nothing that others see.
const longest = 1000

// step advances the core until it must wait for other events.
func (c *core) step() {
	if c.mode == spilling {
		c.spilled()
		return
	}
	e, execution := c.e, c.execution
	for {
		if c.op == nil {
			n, op, err := c.s.Run(longest)
			if c.op = op; err != nil {
				c.trapped(err)
				return
			}
			if n > 0 && !c.goOn(uint64(n)) {
				return
			}
			if op == nil {
				continue
			}
		}
		cycles, ok := c.perform(c.op)
		if !ok {
			return
		}
		c.op = nil
		if e.settle(); c.execution != execution { // an abort that followed from this has reached the task
			return
		}
		if !c.goOn(cycles) {
			return
		}
	}
}

// goOn passes cycles; if another event precedes the core's next, it schedules that and returns false.
func (c *core) goOn(cycles uint64) bool {
	e := c.e
	if at := e.now + cycles; at < e.events.heap[0].at {
		e.now = at
		return true
	}
	e.schedule(e.now+cycles, coreEvent, c, nil)
	return false
}

// trapped makes a core wait until its task is the earliest: another one's trap may be due to values read out of order.
func (c *core) trapped(err error) {
	c.trap = err
	c.become(waitsForTurn)
	c.e.dirty |= 1 << c.tile.id
}

// perform executes an instruction that others see, and returns its cycles. ok is false if the core has to wait or has
// finished.
func (c *core) perform(op *emu.ScalarOp) (cycles uint64, ok bool) {
	e, t := c.e, c.task
	if !op.IsMemory() {
		if op.Task() == isa.SwarmFinish {
			return 0, c.finish()
		}
		return uint64(e.spec.TaskOp), c.enqueue(op)
	}
	addr, err := c.s.Address(op)
	if err != nil {
		c.trapped(err)
		return 0, false
	}
	if b, ok := c.s.Prints(op, addr); ok {
		t.printed = append(t.printed, printed{addr, b})
		c.s.PC += 4
		return 1, true
	}
	write := op.Writes()
	line := addr >> e.lineShift
	cycles = 1 + e.access(c, t, line, write)
	if op.Reads() {
		e.record(c, t, line, false)
	}
	if write {
		e.record(c, t, line, true)
		t.undo = append(t.undo, undo{addr &^ 3, e.arch.Mem.Load32(addr &^ 3)})
	}
	c.s.Perform(op, addr)
	return cycles, true
}

// enqueue sends a task to a tile; it waits until the tile's task queue has an entry.
func (c *core) enqueue(op *emu.ScalarOp) bool {
	e, t := c.e, c.task
	if c.target == nil {
		child, err := c.s.Enqueued(op, t.TS)
		if err != nil {
			c.trapped(err)
			return false
		}
		c.child, c.target = child, e.target(t, &child)
	}
	to := c.target
	if to.entries >= to.room {
		c.become(waitsForQueue)
		e.dirty |= 1<<c.tile.id | 1<<to.id
		return false
	}
	c.target = nil
	child := e.newTask(c.child, to)
	if !t.settled {
		child.parent = t
	}
	child.state = arriving
	t.children = append(t.children, child)
	arrives := e.send(c.tile, to, e.now+1, e.flits(descriptorBytes))
	t.acked = max(t.acked, e.send(to, c.tile, arrives, control))
	e.schedule(arrives, arriveEvent, nil, child)
	to.spillIfFull()
	return true
}

// admit lets the waiting enqueue proceed.
func (c *core) admit() {
	c.become(executing)
	c.enqueue(c.op)
	c.op = nil
	c.e.schedule(c.e.now+uint64(c.e.spec.TaskOp), coreEvent, c, nil)
}

// finish ends the task, once its children's tiles have answered and the commit queue has an entry.
func (c *core) finish() bool {
	e, t, tile := c.e, c.task, c.tile
	if !c.finishing {
		c.finishing = true
		e.schedule(max(e.now+uint64(e.spec.TaskOp), t.acked), coreEvent, c, nil)
		return false
	}
	if len(tile.commits) >= tile.commitRoom {
		last := tile.commits[0]
		for _, o := range tile.commits {
			if last.time.before(o.time) {
				last = o
			}
		}
		if !t.time.before(last.time) {
			c.become(waitsForCommit)
			e.dirty |= 1 << tile.id
			return false
		}
		e.abort(last, &e.Stats.Aborts.Resource)
	}
	c.op = nil
	t.account()
	c.leave()
	t.state, t.core, t.queued = finished, nil, len(tile.commits)
	tile.commits = append(tile.commits, t)
	return false
}
