package eghw

import "heddle/components/probe"

// StateName is what the unit's oldest pop waits for, by the name of the statistic it is booked under.
func (u *EGHW) StateName() string { return stateDocs[u.engine.state].name }

func stateNames() (names []string) {
	for i := range stateDocs {
		names = append(names, stateDocs[i].name)
	}
	return names
}

// Signals are what the unit shows.
func (u *EGHW) Signals() (l probe.List) {
	e := u.engine
	l.State("state", stateNames(), func() int { return int(e.state) })
	l.Count("pops", len(e.pops.places), func() int { return e.pops.n })
	l.Count("vertices", len(e.vertices.places), func() int { return e.vertices.n })
	l.Count("ahead", len(e.ahead.places), func() int { return e.ahead.n })
	l.Count("chunks", len(e.chunks.places), func() int { return e.chunks.n })
	l.Count("buffer.valid", len(e.buffer.places), func() int { return e.buffer.n })
	l.Count("buffer.reserved", len(e.buffer.places), func() int { return e.buffer.n + e.reserved })
	l.Flag("writing", func() bool { return e.writing })
	l.Flag("port.busy", func() bool { return e.portFree > e.now })
	l.Count("memory", len(e.reads)+len(e.outbox.places), e.outstanding)
	return l
}
