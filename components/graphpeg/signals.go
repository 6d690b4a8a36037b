package graphpeg

import (
	"fmt"

	"heddle/components/accel"
	"heddle/components/probe"
)

// state is the cause for which the oldest pop waits.
type state uint8

const (
	idle     state = iota
	answers        // its answer is on its way, or has just left
	offsets        // the offsets of a vertex: no line of edges is in flight
	edges          // a line of edges or weights
	vertices       // in vertex-list mode: vertices in flight from memory
	others         // nothing is left here; other cores may still donate
	numStates
)

var stateNames = [numStates]string{"idle", "answers", "offsets", "edges", "vertices", "others"}

// waitsFor returns the unit's state. In a cycle that the statistics book as a stall it is one of the last four.
func (e *Engine) waitsFor() state {
	switch {
	case e.stalled == undone:
		return others
	case e.stalled == short && e.setup.VertexMode:
		return vertices
	case e.stalled == short && e.buffer.n > e.buffer.filled:
		return edges
	case e.stalled == short:
		return offsets
	case e.pops.Len()+e.answers.Len() > 0:
		return answers
	}
	return idle
}

// StateName returns the name of the cause for which the oldest pop waits.
func (p *PEG) StateName() string { return stateNames[p.engine.waitsFor()] }

// Signals returns the signals of the unit: the state of its oldest pop, the contents of its three functional units
// (§3.1), and the exchange registers (§3.3.2). A worklist has no edges.
func (p *PEG) Signals() (l probe.List) {
	e := p.engine
	l.State("state", stateNames[:], func() int { return int(e.waitsFor()) })
	l.Count("pops", e.shape.Warps, func() int { return e.pops.Len() })
	for i := range e.lists {
		l = append(l, e.lists[i].signals().Under(fmt.Sprintf("list%d", i))...)
	}
	l.Count("memory", len(e.buffer.slots)+len(e.table.entries)+maxRefills, e.port.outstanding)
	if e.dialect == &peg {
		l = append(l, e.edgeSignals()...)
	}
	return l
}

func (e *Engine) edgeSignals() (l probe.List) {
	l.Count("buffer.valid", len(e.buffer.slots), func() int { return e.buffer.filled })
	l.Count("buffer.reserved", len(e.buffer.slots), func() int { return e.buffer.n })
	l.Flag("exchange.pending", func() bool { return e.exchange.pending })
	l.Flag("exchange.standby", func() bool { return e.exchange.standby })
	l.Flag("exchange.done", func() bool { return e.exchange.done })
	l.Word("efs", e.EFS)
	for i := range e.table.size {
		l = append(l, e.table.signals(i).Under(fmt.Sprintf("alwt%d", i))...)
	}
	return l
}

// signals returns the signals of an entry, by index, as entries move when the table grows.
func (t *alwt) signals(i int) (l probe.List) {
	l.State("status", statusNames[:], func() int { return int(t.entries[i].status) })
	l.Word("base", func() uint32 { return t.entries[i].base })
	l.Hide()
	l.Word("left", func() uint32 { return t.entries[i].end - t.entries[i].start })
	l.Hide()
	return l
}

func (l *list) signals() (out probe.List) {
	out.Count("head", l.head.Capacity(), func() int { return l.head.Len() })
	out.Count("tail", l.tail.Capacity(), func() int { return l.tail.Len() })
	out.Count("spilled", l.lines, func() int { return l.spilled })
	return out
}

// Kinds returns the kinds of the unit's events.
func (p *PEG) Kinds() []probe.Kind {
	kinds := append([]probe.Kind{
		{Name: "state", Doc: "what the oldest pop waits for becomes another"},
		{Name: "request", Doc: "a line is asked for, or spilled to: of offsets, of edges and weights, or of a list"},
	}, accel.Kinds...)
	if p.engine.dialect != &peg {
		return kinds
	}
	return append(kinds,
		probe.Kind{Name: "alwt", Doc: "an entry of the adjacency list working table changes its status"},
		probe.Kind{Name: "edges", Doc: "edges come into the edge buffer"},
		probe.Kind{Name: "exchange", Doc: "edges are donated, or received"})
}

// Watch makes the unit and its socket report their events to the observer.
func (p *PEG) Watch(to probe.Watch) {
	p.watch, p.engine.table.watch = to, to
	p.socket.Watch(to)
}

// tell reports the events of a cycle.
func (p *PEG) tell(step *Step) {
	e := p.engine
	if r := step.Request; step.HasRequest && r.Write {
		p.watch("request", -1, "line %08x is written, of a list", r.Addr)
	} else if step.HasRequest {
		p.watch("request", -1, "line %08x of %s", r.Addr, sourceNames[e.port.reads[r.Tag].source])
	}
	if now := e.waitsFor(); now != p.told {
		p.watch("state", -1, "%s -> %s", stateNames[p.told], stateNames[now])
		p.told = now
	}
}

var sourceNames = [numSources]string{offsetSource: "offsets", edgeSource: "edges", spillSource: "a list",
	refillSource: "a list"}

// tell reports the change of an entry's status.
func (t *alwt) tell(i int, s Status) {
	e := &t.entries[i]
	t.watch("alwt", -1, "entry %d: %s -> %s, vertex %d, edges %d..%d", i, e.status, s, e.base, e.start, e.end)
}
