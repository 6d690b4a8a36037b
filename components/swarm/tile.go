package swarm

// tile is some cores with their task unit, their L2, and a bank of the L3.
type tile struct {
	e     *Engine
	id    int
	x, y  int // in the mesh
	cores []*core
	l2    array
	l3    array

	room       int // entries of the task queue
	waiters    int // cores, of any tile, that wait for one
	entries    int // in use: by tasks on their way, idle, running and finished
	idle       idleTasks
	commitRoom int
	commits    []*task // the commit queue, in no order

	slots               []*task // by slot of the signatures
	freeSlots           []int
	readSigs, writeSigs signatures

	spillAt int  // entries in use at which a coalescer runs
	spills  bool // one is due
	batches batches
	waits   int // updates of global virtual time in which the earliest task has waited here for a core
}

// arrive enters a task that has reached its tile into the queue.
func (t *task) arrive() {
	if t.state == gone { // discarded on its way
		t.tile.e.free = append(t.tile.e.free, t)
		return
	}
	t.rest()
}

// rest makes a task idle.
func (t *task) rest() {
	t.state, t.tie = idle, undispatched
	t.tile.idle.push(t)
	t.tile.e.dirty |= 1 << t.tile.id
}

// settle admits enqueuers that wait for an entry of the task queue, dispatches, and makes way for earlier tasks.
func (t *tile) settle() {
	for t.waiters > 0 && t.entries < t.room {
		c := t.waiting()
		if t.owed(c) {
			break
		}
		c.admit()
	}
	for len(t.commits) < t.commitRoom {
		c := t.finishing()
		if c == nil {
			break
		}
		c.become(executing)
		c.finish()
	}
	for t.dispatch() {
	}
}

// waiting returns the core whose task is the earliest of those that wait to enqueue one here.
func (t *tile) waiting() (first *core) {
	for _, c := range t.e.cores {
		if c.mode == waitsForQueue && c.target == t && (first == nil || c.task.time.before(first.task.time)) {
			first = c
		}
	}
	return first
}

// finishing returns the core whose task is the earliest of those that wait for an entry of the commit queue; nil: none.
func (t *tile) finishing() (first *core) {
	for _, c := range t.cores {
		if c.mode == waitsForCommit && (first == nil || c.task.time.before(first.task.time)) {
			first = c
		}
	}
	return first
}

// owed reports whether the last free entry is for a spilled task that is earlier than a core's, which waits for it too.
// Otherwise the earliest task could remain in memory: later ones would take every entry that was freed for it.
func (t *tile) owed(c *core) bool {
	return t.entries == t.room-1 && len(t.batches) > 0 && t.batches[0].first().TS < c.task.TS
}

// dispatch gives a core something to do, and reports whether it has.
func (t *tile) dispatch() bool {
	if len(t.idle) == 0 && len(t.batches) == 0 {
		return false
	}
	var at *core
	for _, c := range t.cores {
		if c.mode == empty {
			at = c
			break
		}
	}
	if at == nil {
		return t.preempt()
	}
	if t.spills {
		if t.spills = false; at.coalesce() {
			return true
		}
	}
	if len(t.batches) > 0 && t.entries < t.room && (len(t.idle) == 0 || t.batches[0].first().TS <= t.idle[0].TS) {
		at.split()
		return true
	}
	if len(t.idle) == 0 {
		return false
	}
	next := t.idle[0]
	t.idle.remove(next)
	at.begin(next)
	return true
}

// earliest returns the lowest timestamp of the tasks that could be dispatched; ok is false if there is none.
func (t *tile) earliest() (ts uint32, ok bool) {
	if len(t.idle) > 0 {
		ts, ok = t.idle[0].TS, true
	}
	if len(t.batches) > 0 && t.entries < t.room && (!ok || t.batches[0].first().TS < ts) {
		ts, ok = t.batches[0].first().TS, true
	}
	return ts, ok
}

// preempt aborts the latest task that waits on a core for something else, if an earlier one could use the core.
func (t *tile) preempt() bool {
	ts, ok := t.earliest()
	if !ok {
		return false
	}
	var last *task
	for _, c := range t.cores {
		if c.mode.stalled() && c.task.TS > ts && (last == nil || last.time.before(c.task.time)) {
			last = c.task
		}
	}
	if last == nil {
		return false
	}
	t.e.abort(last, &t.e.Stats.Aborts.Resource)
	return true
}

// abort undoes a task's execution: its children are discarded, later tasks that have read or written what it has
// written are aborted, its writes are undone, and it is idle again.
func (e *Engine) abort(t *task, cause *uint64) {
	if t.settled {
		panic(e.bug("the earliest task, at %d.%d, is aborted", t.ts, t.tie))
	}
	if t.state == running {
		t.account()
		t.core.leave()
	} else {
		tile := t.tile
		last := len(tile.commits) - 1
		moved := tile.commits[last]
		tile.commits[t.queued], moved.queued = moved, t.queued
		tile.commits = tile.commits[:last]
		e.dirty |= 1 << tile.id
	}
	t.state, t.core = gone, nil
	t.tile.slots[t.slot] = nil
	for _, c := range t.children {
		e.discard(c)
	}
	t.children = t.children[:0]
	e.dependents(t)
	for i := len(t.undo) - 1; i >= 0 && !e.faults.keepWrites; i-- {
		e.code.Restore(t.undo[i].addr, t.undo[i].old)
	}
	e.Stats.Undone += uint64(len(t.undo))
	*cause++
	e.Stats.Cycles.Aborted += t.busy
	for _, n := range t.counts {
		e.Stats.Wasted += uint64(n)
	}
	t.release()
	t.rest()
}

// account takes the counts of the core's execution.
func (t *task) account() { t.ran, t.counts, t.edges = t.core.id, t.core.s.Counts, t.core.s.Edges }

// release frees the resources that an execution has held.
func (t *task) release() {
	e, tile := t.tile.e, t.tile
	for _, line := range t.reads {
		tile.readSigs.remove(t.slot, e.hash(line))
	}
	for _, line := range t.writes {
		tile.writeSigs.remove(t.slot, e.hash(line))
	}
	tile.slots[t.slot] = nil
	tile.freeSlots = append(tile.freeSlots, t.slot)
	t.reads, t.writes, t.undo, t.printed = t.reads[:0], t.writes[:0], t.undo[:0], t.printed[:0]
}

// discard removes a task whose parent is aborted.
func (e *Engine) discard(t *task) {
	if e.faults.keepChildren {
		t.parent = nil
		return
	}
	if t.parent == nil {
		panic(e.bug("a task at %d, whose parent cannot be aborted, is discarded", t.ts))
	}
	if t.state == running || t.state == finished {
		e.abort(t, &e.Stats.Aborts.Parent)
	}
	on := t.state == arriving
	if t.state == idle {
		t.tile.idle.remove(t)
	}
	t.state = gone
	t.tile.entries--
	e.dirty |= 1 << t.tile.id
	e.live--
	e.Stats.Discarded++
	if !on { // its arrival does it otherwise
		e.free = append(e.free, t)
	}
}
