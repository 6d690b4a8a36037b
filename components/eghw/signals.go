package eghw

import (
	"heddle/components/accel"
	"heddle/components/probe"
)

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

// Kinds are the events of the unit.
func (u *EGHW) Kinds() []probe.Kind {
	return append([]probe.Kind{
		{Name: "state", Doc: "what the oldest pop waits for becomes another"},
		{Name: "request", Doc: "a line is asked for: of offsets, or of edges and weights"},
	}, accel.Kinds...)
}

// Watch has somebody told of them.
func (u *EGHW) Watch(to probe.Watch) {
	u.watch = to
	u.socket.Watch(to)
}

// tell tells of a cycle.
func (u *EGHW) tell(before state, step *Step) {
	e := u.engine
	if step.HasRequest {
		of := "edges"
		if e.reads[step.Request.Tag].row != nil {
			of = "offsets"
		}
		u.watch("request", -1, "line %08x of %s", step.Request.Addr, of)
	}
	if e.state != before {
		u.watch("state", -1, "%s -> %s", stateDocs[before].name, stateDocs[e.state].name)
	}
}
