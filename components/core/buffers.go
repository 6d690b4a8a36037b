package core

import "fmt"

// Buffers shows how full all buffers are, by name, to who looks at a machine between two instants.
func (c *Core) Buffers(see func(name string, n, places int)) {
	for i := range c.warps {
		b := &c.warps[i].ibuffer
		see(fmt.Sprintf("%s: instruction buffer of warp %d", c.Name(), i), b.n, len(b.ring))
	}
	c.front.scheduled.level(see)
	for i := range c.slices {
		c.slices[i].buffers(c.Place().Domain().Cycle(), see)
	}
	for u := range c.entries {
		c.entries[u].buffer.level(see)
	}
	c.lsu.buffers(c.Name(), see)
	if c.socket != nil {
		c.socket.Buffers(see)
	}
}

func (l *lsu) buffers(core string, see func(string, int, int)) {
	l.requests.level(see)
	l.switched.level(see)
	l.pad.packed.level(see)
	l.answers.level(see)
	l.back.level(see)
	l.loaded.level(see)
	l.stored.level(see)
	l.done.level(see)
	see(core+": LSU loads outstanding", l.loads, l.maxLoads)
	see(core+": coalescer batches", len(l.co.tags)-len(l.co.free), len(l.co.tags))
}

func (q *queue[T]) level(see func(string, int, int)) {
	see(fmt.Sprintf("%s: %s", q.overflow.unit, q.overflow.queue), q.n, len(q.ring))
}
