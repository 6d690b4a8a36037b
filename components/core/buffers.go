package core

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (c *Core) Buffers(see func(name string, n, capacity int)) {
	for i := range c.warps {
		c.warps[i].ibuffer.Level(see)
	}
	c.front.scheduled.Level(see)
	for i := range c.slices {
		c.slices[i].buffers(c.ClockHandle().Domain().Cycle(), see)
	}
	for u := range c.entries {
		c.entries[u].buffer.Level(see)
	}
	c.lsu.buffers(c.Name(), see)
	if c.socket != nil {
		c.socket.Buffers(see)
	}
}

func (l *lsu) buffers(core string, see func(string, int, int)) {
	l.requests.Level(see)
	l.switched.Level(see)
	l.pad.packed.Level(see)
	l.whole.Level(see)
	l.back.Level(see)
	l.loaded.Level(see)
	l.stored.Level(see)
	l.done.Level(see)
	see(core+": LSU loads outstanding", l.loads, l.maxLoads)
	see(core+": coalescer batches", len(l.coalescer.tags)-len(l.coalescer.free), len(l.coalescer.tags))
}
