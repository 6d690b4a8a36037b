package concentrator

import (
	"fmt"

	"heddle/components/clock"
)

// messages are ways through a port for values that are no memory requests: each value takes the port for a cycle, as a
// request or an answer does.
type messages struct {
	there []relay `checkpoint:"assembled"` // beside the requests of the port's requesters
	back  []relay `checkpoint:"assembled"` // beside its answers
	next  int     // of back: the first to be asked
	last  bool    // a message has come back since an answer was preferred: when both wait next, the answer goes first
}

// relay is a way from one link to another.
type relay interface {
	ready() bool // a value has come, and the other link takes it
	pass()
}

type links[T any] struct{ from, to *clock.Link[T] }

func (l links[T]) ready() bool { return l.from.Ready() && !l.to.Full() }
func (l links[T]) pass()       { l.to.Push(l.from.Pop()) }

// CarryThere lets the values of a link take turns with the requests of port i. It is called before time passes, after
// all requesters are known; the concentrator is the consumer of from and the producer of to.
func CarryThere[T any](c *Concentrator, i int, from, to *clock.Link[T]) error {
	p := &c.ports[i]
	if n := len(c.requesters) + len(p.messages.there); n >= MaxRequesters {
		return fmt.Errorf("%s: %d requesters and messages: expected at most %d", c.Name(), n+1, MaxRequesters)
	}
	p.messages.there = append(p.messages.there, links[T]{from, to})
	return nil
}

// CarryBack lets the values of a link take turns with the answers of port i.
func CarryBack[T any](c *Concentrator, i int, from, to *clock.Link[T]) {
	m := &c.ports[i].messages
	m.back = append(m.back, links[T]{from, to})
}

// ready returns the messages that may leave, a bit each, behind those of requesters.
func (m *messages) ready(requesters int) (ready uint64) {
	for i, way := range m.there {
		if way.ready() {
			ready |= 1 << (requesters + i)
		}
	}
	return ready
}

// comeBack passes a message back, unless an answer that waits is next. It reports whether it has.
func (m *messages) comeBack(answer bool) bool {
	if m.last && answer {
		m.last = false
		return false
	}
	for range m.back {
		way := m.back[m.next]
		m.next = (m.next + 1) % len(m.back)
		if way.ready() {
			way.pass()
			m.last = true
			return true
		}
	}
	return false
}
