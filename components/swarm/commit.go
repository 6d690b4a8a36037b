package swarm

import (
	"slices"

	"heddle/isa/emu"
)

// update computes global virtual time, which is that of the earliest task that has not finished; finished ones before
// it commit. Then it lets that earliest task make progress.
func (e *Engine) update() {
	e.Stats.Updates++
	first := e.earliest()
	e.committing = e.committing[:0]
	for _, t := range e.tiles {
		e.Stats.QueueLevel += uint64(t.entries)
		e.Stats.CommitLevel += uint64(len(t.commits))
		kept := t.commits[:0]
		for _, c := range t.commits {
			if c.time.before(first.time) || e.faults.commitEarly {
				e.committing = append(e.committing, c)
				continue
			}
			c.queued = len(kept)
			kept = append(kept, c)
		}
		clear(t.commits[len(kept):])
		t.commits = kept
	}
	slices.SortFunc(e.committing, func(a, b *task) int {
		if a.time.before(b.time) {
			return -1
		}
		return 1
	})
	for _, t := range e.committing {
		e.commit(t)
	}
	if e.live == 0 {
		e.end()
		return
	}
	e.schedule(e.now+uint64(e.spec.CommitInterval), commitEvent, nil, nil)
	if !e.faults.keepWaiting {
		e.promote(&first)
	}
}

// commit makes a task's effects final.
func (e *Engine) commit(t *task) {
	number := int32(e.Stats.Committed - e.committedBefore)
	for i, c := range t.children {
		c.parent = nil
		c.ofParent = emu.TaskRecord{Parent: number, Child: int32(i)}
	}
	if e.recording {
		e.order = append(e.order, t.ofParent)
	}
	for _, p := range t.printed {
		e.arch.Print(p.addr, p.b)
	}
	e.lastTime = t.ts
	e.Stats.Committed++
	for _, n := range t.counts {
		e.Stats.Instrs += uint64(n)
	}
	e.arch.Count(t.ran, &t.counts, t.edges)
	e.Stats.Cycles.Committed += t.busy
	t.children = t.children[:0]
	t.release()
	t.state = gone
	t.tile.entries--
	e.dirty |= 1 << t.tile.id
	e.live--
	e.free = append(e.free, t)
}

// end ends the program.
func (e *Engine) end() {
	for _, c := range e.cores {
		c.book()
	}
	e.over = true
	e.past += e.now - e.began
	e.arch.SetExit(e.arch.Mem.Load32(emu.ExitAddr))
}

// holder is the earliest task that has not finished: on a core, idle in a tile, or the first of a spilled batch.
type holder struct {
	time
	core *core
	tile *tile
	task *task // idle
}

// earliest finds it. A task on its way is not before its parent, which waits for its arrival.
func (e *Engine) earliest() (first holder) {
	first.time = never
	for _, c := range e.cores {
		if c.task != nil && c.task.time.before(first.time) {
			first = holder{time: c.task.time, core: c, tile: c.tile}
		}
		for _, t := range c.batch {
			if at := (time{t.TS, undispatched}); at.before(first.time) {
				first = holder{time: at, core: c, tile: c.tile}
			}
		}
	}
	for _, t := range e.tiles {
		if len(t.idle) > 0 {
			if at := t.idle[0].time; at.before(first.time) {
				first = holder{time: at, tile: t, task: t.idle[0]}
			}
		}
		if len(t.batches) > 0 {
			if at := (time{t.batches[0].first().TS, undispatched}); at.before(first.time) {
				first = holder{time: at, tile: t}
			}
		}
	}
	return first
}

// promote removes the obstacles to the earliest task. It is the only one that is never aborted, as only earlier
// ones abort a task; so with it the machine makes progress, however small its queues are.
func (e *Engine) promote(first *holder) {
	waits := false
	switch c := first.core; {
	case c != nil && c.mode == waitsForTurn:
		e.err = c.trap
		e.end()
	case c != nil && c.mode == waitsForQueue:
		e.makeRoom(c.target, first.time)
	case c != nil || first.tile == nil:
	case first.task == nil && first.tile.entries >= first.tile.room:
		e.makeRoom(first.tile, first.time)
	default:
		waits = true
	}
	for _, t := range e.tiles {
		switch {
		case !waits || t != first.tile:
			t.waits = 0
		default:
			t.waits++
			if t.waits >= e.spec.PreemptAfter {
				t.evict(first.time)
			}
		}
	}
}

// evict aborts the latest task on a core that is later than a time.
func (t *tile) evict(by time) {
	var last *task
	for _, c := range t.cores {
		if c.mode == empty || c.mode == spilling { // the wait will end
			return
		}
		if by.ts < c.task.ts && (last == nil || last.time.before(c.task.time)) {
			last = c.task
		}
	}
	if last != nil {
		t.waits = 0
		t.e.abort(last, &t.e.Stats.Aborts.Resource)
	}
}

// makeRoom frees entries of a tile's task queue for the earliest task, whose time is by. Tasks that no abort can
// discard go to memory; the entries of others are freed with their parents' executions. The earliest task is not
// aborted any more, so that no abort discards its children.
func (e *Engine) makeRoom(t *tile, by time) {
	for t.entries >= t.room {
		var tied, busy *task
		untied := t.untied(func(o *task) bool { return by.tie != undispatched || by.ts < o.TS })
		for _, o := range t.idle {
			if o.parent != nil && (tied == nil || t.idle.less(tied, o)) {
				tied = o
			}
		}
		for _, o := range t.slots {
			if o != nil && by.before(o.time) && (busy == nil || busy.time.before(o.time)) {
				busy = o
			}
		}
		switch {
		case len(untied) > 0:
			for _, o := range untied {
				t.idle.remove(o)
			}
			t.store(untied)
			e.Stats.Rooms += uint64(len(untied))
		case tied != nil && by.before(tied.parent.time):
			e.abort(tied.parent, &e.Stats.Aborts.Resource)
		case tied != nil && tied.parent.time == by:
			tied.parent.settled = true
			for _, c := range tied.parent.children {
				c.parent = nil
			}
		case busy != nil:
			e.abort(busy, &e.Stats.Aborts.Resource)
		default: // tasks on their way: the next update finds them
			return
		}
	}
	e.dirty |= 1 << t.id
}
