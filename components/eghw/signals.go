package eghw

import (
	"heddle/components/accel"
	"heddle/components/probe"
)

// StateName returns the cause for which the unit's oldest pop waits, as the name of its statistic.
func (u *EGHW) StateName() string { return stateDocs[u.engine.state].name }

func stateNames() (names []string) {
	for i := range stateDocs {
		names = append(names, stateDocs[i].name)
	}
	return names
}

// Signals returns the signals of the unit.
func (u *EGHW) Signals() (l probe.List) {
	e := u.engine
	l.State("state", stateNames(), func() int { return int(e.state) })
	l.Count("pops", e.pops.Capacity(), func() int { return e.pops.Len() })
	l.Count("vertices", e.vertices.Capacity(), func() int { return e.vertices.Len() })
	l.Count("ahead", e.ahead.Capacity(), func() int { return e.ahead.Len() })
	l.Count("chunks", e.chunks.Capacity(), func() int { return e.chunks.Len() })
	l.Count("buffer.valid", e.buffer.Capacity(), func() int { return e.buffer.Len() })
	l.Count("buffer.reserved", e.buffer.Capacity(), func() int { return e.buffer.Len() + e.reserved })
	l.Flag("writing", func() bool { return e.writing })
	l.Flag("port.busy", func() bool { return e.portFree > e.self.Now })
	l.Count("memory", len(e.reads)+e.outbox.Capacity(), e.outstanding)
	return l
}

// Kinds returns the kinds of the unit's events.
func (u *EGHW) Kinds() []probe.Kind {
	return append([]probe.Kind{
		{Name: "state", Doc: "what the oldest pop waits for becomes another"},
		{Name: "request", Doc: "a line is asked for: of offsets, or of edges and weights"},
	}, accel.Kinds...)
}

// Watch makes the unit and its socket report their events to the observer.
func (u *EGHW) Watch(to probe.Watch) {
	u.watch = to
	u.socket.Watch(to)
}

// tell reports the events of a cycle.
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
