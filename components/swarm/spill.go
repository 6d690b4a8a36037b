package swarm

import "slices"

// batch is spilled tasks in memory, by timestamp. Its splitter is dispatched like a task of the lowest of them.
type batch struct{ tasks []*task }

func (b *batch) first() *task { return b.tasks[0] }

// batches is a heap, by first task.
type batches []*batch

func (q *batches) push(b *batch) {
	*q = append(*q, b)
	h := *q
	for i := len(h) - 1; i > 0; {
		p := (i - 1) / 2
		if !h.less(i, p) {
			return
		}
		h[i], h[p] = h[p], h[i]
		i = p
	}
}

func (q *batches) pop() *batch {
	h := *q
	top, n := h[0], len(h)-1
	h[0], h[n] = h[n], nil
	h = h[:n]
	*q = h
	for i := 0; ; {
		c := 2*i + 1
		if c >= n {
			return top
		}
		if c+1 < n && h.less(c+1, c) {
			c++
		}
		if !h.less(c, i) {
			return top
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}

func (q batches) less(i, j int) bool {
	a, b := q[i].first(), q[j].first()
	return a.TS < b.TS || a.TS == b.TS && a.number < b.number
}

// spillIfFull makes a coalescer due at the occupancy at which it runs.
func (t *tile) spillIfFull() {
	if t.entries >= t.spillAt && !t.spills {
		t.spills = true
		t.e.dirty |= 1 << t.id
	}
}

// store puts tasks, by timestamp, into memory.
func (t *tile) store(tasks []*task) {
	for _, o := range tasks {
		o.state = gone
		t.entries--
	}
	t.batches.push(&batch{tasks})
	t.e.Stats.Spilled += uint64(len(tasks))
	t.e.dirty |= 1 << t.id
}

// untied returns the latest of the idle tasks that no abort can discard and that may go, as many as are spilled at
// once, by timestamp.
func (t *tile) untied(may func(*task) bool) (list []*task) {
	for _, o := range t.idle {
		if o.parent == nil && may(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *task) int {
		if t.idle.less(a, b) {
			return -1
		}
		return 1
	})
	return list[max(0, len(list)-t.e.spec.SpillTasks):]
}

// coalesce makes the core spill the latest of the idle tasks whose parents have committed, but never the next to be
// dispatched. It reports whether there are any.
func (c *core) coalesce() bool {
	t, e := c.tile, c.e
	if len(t.idle) == 0 {
		return false
	}
	untied := t.untied(func(o *task) bool { return o != t.idle[0] })
	if len(untied) == 0 {
		return false
	}
	for _, o := range untied {
		t.idle.remove(o)
		o.state = gone
	}
	c.become(spilling)
	c.batch, c.restores = untied, false
	c.execution++
	e.schedule(e.now+uint64(len(untied)*e.spec.SpillTask), coreEvent, c, nil)
	return true
}

// split makes the core restore the first tasks of the earliest batch, as far as the task queue has entries below the
// occupancy at which it would spill them again.
func (c *core) split() {
	t, e := c.tile, c.e
	b := t.batches.pop()
	n := min(len(b.tasks), t.room-t.entries, max(1, t.spillAt-1-t.entries))
	c.become(spilling)
	c.batch, c.restores = b.tasks[:n:n], true
	if rest := b.tasks[n:]; len(rest) > 0 {
		t.batches.push(&batch{rest})
	}
	t.entries += n
	c.execution++
	e.schedule(e.now+uint64(n*e.spec.SpillTask), coreEvent, c, nil)
}

// spilled ends a coalescer or a splitter.
func (c *core) spilled() {
	tasks := c.batch
	c.batch = nil
	c.leave()
	if !c.restores {
		c.tile.store(tasks)
		return
	}
	c.e.Stats.Restored += uint64(len(tasks))
	for _, t := range tasks {
		t.rest()
	}
}
