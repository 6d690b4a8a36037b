package core

// nextEvent returns the first cycle after now in which the pipeline would do
// something because time has passed; never: there is none. What waits for a link or
// for something before it in the pipeline moves after that, and is not looked at.
func (c *Core) nextEvent(now uint64) uint64 {
	if c.entering() {
		return now + 1
	}
	at := c.front.next(now, c.resolving.next(now))
	for i := range c.slices {
		at = c.slices[i].next(now, at)
	}
	return at
}

func (l *lsu) next(now, at uint64) uint64 {
	at = l.done.Next(now, l.loaded.Next(now, l.stored.Next(now, at)))
	at = l.pad.next(now, l.back.Next(now, at))
	return l.switched.Next(now, l.requests.Next(now, at))
}
