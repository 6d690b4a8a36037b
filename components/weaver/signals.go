package weaver

import (
	"heddle/components/accel"
	"heddle/components/probe"
)

// Signals returns the signals of the unit: its FSM and the paper's registers.
func (w *Weaver) Signals() (l probe.List) {
	f := w.fsm
	l.State("fsm", stateNames[:], func() int { return int(f.at) })
	l.Vector("left", 64, f.left)
	l.Hide()
	l.Word("ced.vid", func() uint32 { return f.ced.VID })
	l.Word("ced.loc", func() uint32 { return f.ced.Loc })
	l.Word("ced.deg", func() uint32 { return f.ced.Deg })
	l.Vector("od.filled", f.threads, func() uint64 { return uint64(f.filled) })
	l.Count("cursor", len(f.st), func() int { return f.cursor })
	l.Count("dt.reads", f.reads.Capacity(), func() int { return f.reads.Len() })
	return l
}

// Kinds returns the kinds of the unit's events.
func (w *Weaver) Kinds() []probe.Kind {
	return append([]probe.Kind{{Name: "fsm", Doc: "the state machine goes from one state to another"}}, accel.Kinds...)
}

// Watch makes the unit and its socket report their events to the observer.
func (w *Weaver) Watch(to probe.Watch) {
	w.watch = to
	w.socket.Watch(to)
}
