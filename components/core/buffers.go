package core

// Buffers calls see with the name, occupancy and capacity of every buffer. It must be called between two instants.
func (c *Core) Buffers(see func(name string, n, capacity int)) {
	for i := range c.warps {
		c.warps[i].ibuffer.Level(see)
	}
	c.front.scheduled.Level(see)
	for i := range c.slices {
		now := c.ClockHandle().Domain().Cycle()
		c.slices[i].buffers(now, c.lsu.delivered(i, now), see)
	}
	for u := range c.entries {
		c.entries[u].buffer.Level(see)
	}
	c.lsu.buffers(c.Name(), c.ClockHandle().Domain().Cycle(), see)
	if c.socket != nil {
		c.socket.Buffers(see)
	}
}

func (l *lsu) buffers(core string, now uint64, see func(string, int, int)) {
	l.requests.Level(see)
	l.switched.Level(see)
	l.pad.packed.Level(see)
	l.whole.Level(see)
	x := l.lsuBypassOccupancy(now)
	see(l.back.Name(), l.back.Len()+x.back, l.back.Capacity())
	see(l.loaded.Name(), l.loaded.Len()+x.loaded, l.loaded.Capacity())
	see(l.stored.Name(), l.stored.Len()+x.stored, l.stored.Capacity())
	see(l.done.Name(), l.done.Len()+x.done, l.done.Capacity())
	see(core+": LSU loads outstanding", l.loads, l.maxLoads)
	see(core+": coalescer batches", len(l.coalescer.tags)-len(l.coalescer.free), len(l.coalescer.tags))
}
