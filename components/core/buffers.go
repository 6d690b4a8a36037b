package core

import "fmt"

// Buffers shows how full all buffers are, by name, to who looks at a machine between two instants.
func (c *Core) Buffers(see func(name string, n, places int)) {
	for i := range c.warps {
		c.warps[i].ibuffer.level(see)
	}
	c.scheduled.level(see)
	for i := range c.slices {
		c.slices[i].buffers(see)
	}
	for u := range c.entries {
		c.entries[u].buffer.level(see)
	}
	c.lsu.buffers(c.Name(), see)
	c.released.level(see)
	if c.socket != nil {
		c.socket.Buffers(see)
	}
}

func (sl *slice) buffers(see func(string, int, int)) {
	sl.issued.level(see)
	for i := range sl.collectors {
		k := &sl.collectors[i]
		k.st1.level(see)
		k.st2.level(see)
		k.out.level(see)
	}
	sl.operands.level(see)
	for u := range sl.dispatch {
		sl.dispatch[u].level(see)
	}
	sl.alu.level(see)
	sl.mul.level(see)
	sl.div.level(see)
	for u := range sl.result {
		sl.result[u].level(see)
	}
}

func (l *lsu) buffers(core string, see func(string, int, int)) {
	l.requests.level(see)
	l.switched.level(see)
	l.local.level(see)
	l.answers.level(see)
	see(core+": LSU loads outstanding", l.loads, l.maxLoads)
	see(core+": coalescer batches", len(l.co.tags)-len(l.co.free), len(l.co.tags))
}

func (q *queue[T]) level(see func(string, int, int)) {
	see(fmt.Sprintf("%s: %s", q.overflow.unit, q.overflow.queue), q.n, len(q.ring))
}
