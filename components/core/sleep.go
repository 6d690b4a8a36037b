package core

// nextEvent returns the first cycle after now in which the pipeline changes something merely because time passes;
// never: there is none. Instructions that wait for a link or for a later stage are not considered: they move after such
// an event.
func (c *Core) nextEvent(now uint64) uint64 {
	if c.entering() {
		return now + 1
	}
	at := c.front.next(now, c.nextOpening(now, c.resolving.next(now)))
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
