package clock

import "fmt"

// Link carries small values from one unit to another, in order, with a latency
// and a bounded number of places.
//
// A value pushed in cycle n can be read from cycle n+latency of the producer's
// clock on, never in the cycle it was pushed. A place freed in one cycle is seen
// free by the producer from its next cycle on. Both ends may be on different
// clocks.
type Link[T any] struct {
	s       *System
	name    string
	ring    []entry[T]
	head, n int
	latency Femto
	cycles  Cycle // the latency, if both ends are on one clock; else 0

	freed   int   // places freed at the instant freedAt
	freedAt Femto //

	producer, consumer Handle
	waiting            bool    // the producer waits for a value to be taken
	filled             *uint64 // the consumer's word in which bit is set while there are values
	bit                uint64

	pushed, popped uint64   // for conservation laws
	observe        func(*T) // nil: nobody looks
}

type entry[T any] struct {
	v     T
	ready Femto
}

// NewLink makes a link of that many places between two units. The latency is in
// cycles of the producer's clock, at least 1.
func NewLink[T any](name string, places int, latency Cycle, producer, consumer Handle) *Link[T] {
	if places < 1 || latency < 1 {
		panic(fmt.Sprintf("BUG: link %s: %d places, latency %d", name, places, latency))
	}
	l := &Link[T]{
		s: producer.d.s, name: name, ring: make([]entry[T], places),
		latency: Femto(latency) * producer.d.period, producer: producer, consumer: consumer, filled: new(uint64),
	}
	if producer.d == consumer.d {
		l.cycles = latency
	}
	return l
}

// Flag has a bit of a word of the consumer's set while the link holds values, ready or under way. A consumer of many
// links asks the word, and only the links whose bits are set.
func (l *Link[T]) Flag(word *uint64, bit int) { l.filled, l.bit = word, 1<<bit }

// Full tells the producer that there is no place in this cycle. The producer is
// then woken when there is one.
func (l *Link[T]) Full() bool { return l.n+l.freed >= len(l.ring) && l.full() }

// full is Full for a link that has no place, or places that were freed in an earlier cycle only. It notes that the
// producer waits.
func (l *Link[T]) full() bool {
	if l.freedAt != l.s.now {
		l.freed = 0
	}
	switch {
	case l.n+l.freed < len(l.ring):
		return false
	case l.n < len(l.ring):
		l.producer.Wake() // freed at this very instant: there is room in the next cycle
	default:
		l.waiting = true
	}
	return true
}

// Room tells the producer that there are n places in this cycle. If not, the producer is
// woken when one is taken.
func (l *Link[T]) Room(n int) bool {
	free := len(l.ring) - l.n
	if l.freedAt == l.s.now {
		free -= l.freed
	}
	switch {
	case free >= n:
		return true
	case l.freedAt == l.s.now && l.freed > 0:
		l.producer.Wake()
	case l.n > 0:
		l.waiting = true
	}
	return false
}

// Drained tells the producer that the consumer has taken all values, in an earlier
// cycle. If not, the producer is woken when one is taken.
func (l *Link[T]) Drained() bool {
	switch {
	case l.n > 0:
		l.waiting = true
		return false
	case l.freedAt == l.s.now && l.freed > 0:
		l.producer.Wake()
		return false
	}
	return true
}

// Push adds a value. The link must not be full.
func (l *Link[T]) Push(v T) {
	if l.n == len(l.ring) {
		panic(fmt.Sprintf("BUG: %s @%d: push to a full link", l.name, l.producer.d.cycle))
	}
	i := l.head + l.n
	if i >= len(l.ring) {
		i -= len(l.ring)
	}
	ready := l.s.now + l.latency
	l.ring[i] = entry[T]{v, ready}
	l.n++
	l.pushed++
	*l.filled |= l.bit
	if l.observe != nil {
		l.observe(&l.ring[i].v)
	}
	if l.n == 1 || l.cycles == 0 {
		l.announce(ready)
	}
}

// announce wakes the consumer for a value.
func (l *Link[T]) announce(ready Femto) {
	switch d := l.consumer.d; {
	case l.cycles == 0 || !d.inTick:
		l.consumer.WakeAtTime(ready)
	case l.cycles == 1:
		l.consumer.Wake()
	default:
		l.consumer.wakeAt(d.cycle + l.cycles)
	}
}

// Ready tells the consumer that a value can be read in this cycle. When the
// first value is still under way, the consumer is woken for it.
func (l *Link[T]) Ready() bool {
	return l.n != 0 && l.arrived()
}

// arrived is Ready for a link with a value.
func (l *Link[T]) arrived() bool {
	if at := l.ring[l.head].ready; at > l.s.now {
		l.consumer.WakeAtTime(at)
		return false
	}
	return true
}

// BackedUp reports to the consumer that every place holds a value that it could read in this cycle, so that
// the producer has been held up since an earlier one. It does not depend on which of both ticks first.
func (l *Link[T]) BackedUp() bool {
	if l.n < len(l.ring) {
		return false
	}
	last := l.head + l.n - 1
	if last >= len(l.ring) {
		last -= len(l.ring)
	}
	return l.ring[last].ready <= l.s.now
}

// Front returns the value that Pop would take. There must be one.
func (l *Link[T]) Front() *T { return &l.ring[l.head].v }

// Pop takes the first value, which must be ready.
func (l *Link[T]) Pop() T {
	if l.n == 0 || l.ring[l.head].ready > l.s.now {
		panic(fmt.Sprintf("BUG: %s @%d: pop of nothing", l.name, l.consumer.d.cycle))
	}
	v := l.ring[l.head].v
	if l.head++; l.head == len(l.ring) {
		l.head = 0
	}
	l.n--
	l.popped++
	if l.n == 0 {
		*l.filled &^= l.bit
	}
	if l.freedAt != l.s.now {
		l.freedAt, l.freed = l.s.now, 0
	}
	l.freed++
	if l.waiting {
		l.waiting = false
		l.producer.Wake()
	}
	return v
}

// Len returns how many values are under way or waiting.
func (l *Link[T]) Len() int { return l.n }

// Places returns the capacity.
func (l *Link[T]) Places() int { return len(l.ring) }

// Name returns the link's name.
func (l *Link[T]) Name() string { return l.name }

// Observe has f see every value that is pushed. It must not change it.
func (l *Link[T]) Observe(f func(*T)) { l.observe = f }

// Traffic returns how many values went in and came out.
func (l *Link[T]) Traffic() (pushed, popped uint64) { return l.pushed, l.popped }
