package clock

import (
	"fmt"
	"math/bits"
)

// Link carries small values from one unit to another, in order, with a latency
// and a bounded number of slots.
//
// A value pushed in cycle n can be read from cycle n+latency of the producer's
// clock on, never in the cycle it was pushed. A slot freed in one cycle is seen
// free by the producer from its next cycle on. Both ends may be on different
// clocks.
type Link[T any] struct {
	linkState
	ring []T // by slot
}

// NewLink makes a link of that many slots between two units. The latency is in
// cycles of the producer's clock, at least 1.
func NewLink[T any](name string, capacity int, latency Cycle, producer, consumer Handle) *Link[T] {
	if capacity < 1 || latency < 1 {
		panic(fmt.Sprintf("BUG: link %s: %d slots, latency %d", name, capacity, latency))
	}
	l := &Link[T]{linkState: newLinkState(name, capacity, latency, producer, consumer)}
	l.ring = make([]T, len(l.ready))
	return l
}

// Push adds a value. The link must not be full.
func (l *Link[T]) Push(v T) {
	l.ring[l.tail] = v
	l.push()
}

// Front returns the value that Pop would take. There must be one.
func (l *Link[T]) Front() *T { return &l.ring[l.head] }

// Pop takes the first value, which must be ready.
func (l *Link[T]) Pop() T {
	v := l.ring[l.head]
	l.Drop()
	return v
}

// Observe has f see every value that is pushed. It must not change it.
func (l *Link[T]) Observe(f func(*T)) {
	l.observe = nil
	if f != nil {
		l.s.Alone()
		l.observe = func(slot int) { f(&l.ring[slot]) }
	}
}

// linkState is a link without its values: when they can be read, and who waits for what.
type linkState struct {
	s              *System
	name           string
	head, tail     int     // the indices of the first value, and of the next that is pushed
	pushed, popped uint64  // how many
	limit          uint64  // the producer may push up to this count; further if values were taken since freedAt
	first          Cycle   // of the consumer's clock, from which the first value can be read; Never: there is none
	ready          []Cycle // by slot: from when its value can be read; a power of two of them
	capacity       uint64
	latency        Femto
	cycles         Cycle // the latency, if both ends are on one clock; else 0
	freedAt        Femto // the instant of the last pop

	producer, consumer Handle
	producerBlocked    *uint64 // the producer's word in which stuckBit is set while it waits for a value to be taken
	producerBlockedBit uint64
	filled             *uint64 // the consumer's word in which filledBit is set while there are values
	filledBit          uint64

	observe func(slot int) // nil: nobody looks

	across bool    // the ends tick at the same time: they see each other's doings when the instant is over
	seen   uint64  // across: values that the consumer may know of
	listed [2]bool // across: among those used in this instant, by the producer and by the consumer
}

func newLinkState(name string, capacity int, latency Cycle, producer, consumer Handle) linkState {
	l := linkState{
		s: producer.d.s, name: name, ready: make([]Cycle, 1<<bits.Len(uint(capacity-1))),
		capacity: uint64(capacity), limit: uint64(capacity), first: Never, freedAt: Femto(Never),
		latency: Femto(latency) * producer.d.period, producer: producer, consumer: consumer,
		producerBlocked: new(uint64), producerBlockedBit: 1, filled: new(uint64), filledBit: 1,
	}
	if producer.d == consumer.d {
		l.cycles = latency
	}
	l.across = l.s.workers > 1 && producer.d != consumer.d
	return l
}

// after returns the slot after one.
func (l *linkState) after(slot int) int { return (slot + 1) & (len(l.ready) - 1) }

// Flag has a bit of a word of the consumer's set while the link holds values, ready or under way. A consumer of many
// links asks the word, and only the links whose bits are set.
func (l *linkState) Flag(word *uint64, bit int) { l.filled, l.filledBit = word, 1<<bit }

// FlagStuck has a bit of a word of the producer's set from when the link was full until a value is taken, for which the
// producer is woken: until then there is no need to ask again.
func (l *linkState) FlagStuck(word *uint64, bit int) {
	l.producerBlocked, l.producerBlockedBit = word, 1<<bit
}

// Latency returns how many of the producer's cycles a value takes.
func (l *linkState) Latency() Cycle { return Cycle(l.latency / l.producer.d.period) }

// Producer returns the producer's clock.
func (l *linkState) Producer() *Domain { return l.producer.d }

// Full tells the producer that there is no slot in this cycle. The producer is
// then woken when there is one.
func (l *linkState) Full() bool { return l.pushed >= l.limit && l.full() }

// full is Full when as much was pushed as is known to be possible. It notes that the producer waits.
func (l *linkState) full() bool {
	if l.across {
		*l.producerBlocked |= l.producerBlockedBit
		return true
	}
	l.see()
	if l.pushed < l.limit {
		return false
	}
	l.wait()
	return true
}

// see has the producer see the slots that were freed before this instant.
func (l *linkState) see() {
	if l.freedAt != l.s.now {
		l.limit = l.popped + l.capacity
	}
}

// wait notes that the producer waits for a value to be taken. If one was at this very instant, it goes on in the next
// cycle.
func (l *linkState) wait() {
	if l.limit != l.popped+l.capacity {
		l.producer.wakeNext()
	} else {
		*l.producerBlocked |= l.producerBlockedBit
	}
}

// Room tells the producer that there are n slots in this cycle. If not, the producer is
// woken when one is taken.
func (l *linkState) Room(n int) bool {
	if !l.across {
		l.see()
	}
	if l.pushed+uint64(n) <= l.limit {
		return true
	}
	if l.across {
		*l.producerBlocked |= l.producerBlockedBit
	} else {
		l.wait()
	}
	return false
}

// Drained tells the producer that the consumer has taken all values, in an earlier
// cycle. If not, the producer is woken when one is taken.
func (l *linkState) Drained() bool { return l.Room(int(l.capacity)) }

// push counts a value that was put into its slot.
func (l *linkState) push() {
	if l.across {
		l.pushAcross()
		return
	}
	if l.pushed-l.popped >= l.capacity {
		l.bug(l.producer.d, "push to a full link")
	}
	d := l.consumer.d
	ready := d.cycle + l.cycles
	if !d.inTick || l.cycles == 0 {
		ready = l.arrival()
	}
	l.ready[l.tail] = ready
	if l.first == Never {
		l.first = ready
		*l.filled |= l.filledBit
		l.announce(ready)
	}
	if l.observe != nil {
		l.observe(l.tail)
	}
	l.tail = l.after(l.tail)
	l.pushed++
}

// pushAcross is push when the consumer ticks at the same time.
func (l *linkState) pushAcross() {
	if l.pushed >= l.limit {
		l.bug(l.producer.d, "push to a full link")
	}
	l.ready[l.tail] = l.arrival()
	if l.observe != nil {
		l.observe(l.tail)
	}
	l.tail = l.after(l.tail)
	l.pushed++
	l.list(l.producer.d, 0)
}

// list notes that one end has used the link in this instant.
func (l *linkState) list(d *Domain, end int) {
	if !l.listed[end] {
		l.listed[end] = true
		d.crossed = append(d.crossed, l)
	}
}

// meet has both ends of the links see what the other one has done in this instant.
func (d *Domain) meet() {
	for _, l := range d.crossed {
		l.listed = [2]bool{}
		if l.seen != l.pushed {
			l.seen = l.pushed
			if l.first == Never {
				l.first = l.ready[l.head]
				*l.filled |= l.filledBit
				if l.latency == l.consumer.d.period {
					l.consumer.wakeNext()
				} else {
					l.consumer.wakeAt(l.first)
				}
			}
		}
		if limit := l.popped + l.capacity; l.limit != limit {
			l.limit = limit
			l.wakeProducer()
		}
	}
	d.crossed = d.crossed[:0]
}

// wakeProducer wakes the producer if it waits for a slot.
func (l *linkState) wakeProducer() {
	if *l.producerBlocked&l.producerBlockedBit != 0 {
		*l.producerBlocked &^= l.producerBlockedBit
		l.producer.wakeNext()
	}
}

// announce wakes the consumer for a value that sets out.
func (l *linkState) announce(ready Cycle) {
	if l.cycles == 1 && l.consumer.d.inTick {
		l.consumer.wakeNext()
	} else {
		l.consumer.wakeAt(ready)
	}
}

// arrival returns when a value that is pushed now can be read, in cycles of the consumer's clock.
func (l *linkState) arrival() Cycle {
	period := l.consumer.d.period
	return Cycle((l.s.now + l.latency + period - 1) / period)
}

// Ready tells the consumer that a value can be read in this cycle. When the
// first value is still under way, the consumer is woken for it.
func (l *linkState) Ready() bool { return l.first != Never && l.arrived() }

// arrived is Ready for a link with a value. The consumer was told when it set out, but may have set an earlier timer
// since, or raised the cycle from which its part looks. It is a call, so that asking an empty link costs none.
//
//go:noinline
func (l *linkState) arrived() bool {
	if l.first > l.consumer.d.cycle {
		l.consumer.wakeAt(l.first)
		return false
	}
	return true
}

// BackedUp reports to the consumer that every slot holds a value that it could read in this cycle, so that
// the producer has been held up since an earlier one. It does not depend on which of both ticks first.
func (l *linkState) BackedUp() bool {
	return l.known()-l.popped == l.capacity && l.ready[(l.head+int(l.capacity)-1)&(len(l.ready)-1)] <= l.consumer.d.cycle
}

// known is how many values were pushed, as far as the consumer can know.
func (l *linkState) known() uint64 {
	if l.across {
		return l.seen
	}
	return l.pushed
}

// Drop takes the first value, which must be ready, without looking at it.
func (l *linkState) Drop() {
	if l.first > l.consumer.d.cycle {
		l.bug(l.consumer.d, "pop of nothing")
	}
	if l.across {
		l.list(l.consumer.d, 1)
	} else if now := l.s.now; l.freedAt != now {
		l.freedAt, l.limit = now, l.popped+l.capacity
	}
	l.head = l.after(l.head)
	l.popped++
	if l.popped != l.known() {
		l.expose()
	} else {
		l.first = Never
		*l.filled &^= l.filledBit
	}
	if !l.across {
		l.wakeProducer()
	}
}

// expose notes when the value that has become the first can be read.
func (l *linkState) expose() {
	l.first = l.ready[l.head]
	switch d := l.consumer.d; {
	case l.first <= d.cycle:
	case l.first == d.cycle+1:
		l.consumer.wakeNext()
	default:
		l.consumer.wakeAt(l.first)
	}
}

func (l *linkState) bug(d *Domain, what string) {
	panic(fmt.Sprintf("BUG: %s @%d: %s", l.name, d.cycle, what))
}

// Len returns how many values are under way or waiting.
func (l *linkState) Len() int { return int(l.pushed - l.popped) }

// Capacity returns the number of slots.
func (l *linkState) Capacity() int { return int(l.capacity) }

// Name returns the link's name.
func (l *linkState) Name() string { return l.name }

// Traffic returns how many values went in and came out.
func (l *linkState) Traffic() (pushed, popped uint64) { return l.pushed, l.popped }
