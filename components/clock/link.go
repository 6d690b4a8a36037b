package clock

import (
	"fmt"
	"math/bits"
)

// Link is a bounded FIFO with a latency that carries small values from one unit to another.
//
// A value pushed in cycle n can be read from cycle n+latency of the producer's clock on, never in the cycle in which it
// was pushed. The producer sees a freed slot from its next cycle on. The ends may be on different clocks.
type Link[T any] struct {
	linkState
	ring []T // by slot
}

// NewLink returns a link with that many slots between two units. The latency is in cycles of the producer's clock, at
// least 1.
func NewLink[T any](name string, capacity int, latency Cycle, producer, consumer Handle) *Link[T] {
	if capacity < 1 || latency < 1 {
		panic(fmt.Sprintf("BUG: link %s: %d slots, latency %d", name, capacity, latency))
	}
	l := &Link[T]{linkState: newLinkState(name, capacity, latency, producer, consumer)}
	l.producerBlocked, l.filled = &l.stuck, &l.holds
	l.ring = make([]T, len(l.ready))
	return l
}

// lineBytes is the size of a cache line of the host.
const lineBytes = 64

// Push adds a value. The link must not be full.
func (l *Link[T]) Push(v T) {
	l.ring[l.tail] = v
	l.push()
}

// At returns the i-th value, readable or not.
func (l *Link[T]) At(i int) *T { return &l.ring[(l.head+i)&(len(l.ring)-1)] }

// Front returns the first value, which must be ready, without removing it.
func (l *Link[T]) Front() *T { return &l.ring[l.head] }

// Pop removes and returns the first value, which must be ready.
func (l *Link[T]) Pop() T {
	v := l.ring[l.head]
	l.Drop()
	return v
}

// Observe makes the link call f with every pushed value. f must not change it.
func (l *Link[T]) Observe(f func(*T)) {
	l.observe = nil
	l.trailing.Observe()
	if f != nil {
		l.s.Alone()
		l.observe = func(slot int) { f(&l.ring[slot]) }
	}
}

// linkState is a link without its values: their times, and the ends that wait.
//
// In the ordinary mode both ends run on one goroutine. The producer may push while pushed < limit. Drop frees a slot,
// but lets the producer use it only from the next instant on: freedAt is the instant of the last pop, and limit counts
// the slots as they were when that instant began (see). first is the consumer's view: the cycle from which the head can
// be read.
//
// In the across mode (shards that different goroutines tick) there is no lock, because each field has one writer, and
// no reader on the other side:
//
//   - The producer pushes while pushed < limit. It writes tail, pushed, limit and the slots of the ring that are free.
//   - The consumer takes values while popped < seen. It writes head, popped, seen, first and ready.
//
// Each end posts what it has done in an instant. Once all goroutines have ended the instant, the other end's goroutine
// takes that from the post (arrive and free), before it ticks again, and wakes its end. The barriers of the worker pool
// order these accesses: they are the only synchronisation that the link relies on. Since a value is never readable in
// its own instant and a freed slot is visible only in the next, both modes have the same results. What one end writes
// is kept a cache line apart from what the other writes.
type linkState struct {
	// The producer's part.
	tail     int    // index of the next push
	pushed   uint64 // values since the start
	limit    uint64 // the producer may push up to this count, or beyond if values were taken before this instant
	stuck    uint64 // what producerBlocked points to, of a producer without a word for it
	pushedAt Femto  `checkpoint:"assembled"` // across: instant of the last push
	pushedTo int    `checkpoint:"assembled"` // across: index of its entry in the post
	_        [lineBytes]byte

	s        *System
	name     string
	ready    []Cycle // by slot: cycle from which its value can be read; the length is a power of two
	capacity uint64
	latency  Femto
	cycles   Cycle // latency, if both ends are on one domain; else 0
	across   bool  // the ends tick concurrently: each sees the other's actions after the instant
	leads    bool  // the producer runs the consumer's cycles if that trails

	producer, consumer Handle
	producerBlocked    *uint64 // the producer's word with producerBlockedBit set while it waits for a slot
	producerBlockedBit uint64
	filled             *uint64 // the consumer's word with filledBit set while the link holds values
	filledBit          uint64

	observe  func(slot int) // nil: no observer
	trailing *Trailing      // of an end that can trail; nil: both always tick
	_        [lineBytes]byte

	// The consumer's part.
	head     int    // index of the first value
	popped   uint64 // values since the start
	first    Cycle  // consumer's cycle from which the first value can be read; Never: none
	freedAt  Femto  // instant of the last pop
	freedIn  Cycle  // trailing: the consumer's cycle of the last pop
	seen     uint64 // across: values that have arrived since the start
	holds    uint64 // what filled points to, of a consumer without a word for it
	poppedAt Femto  `checkpoint:"assembled"` // across: instant of the last pop
	poppedTo int    `checkpoint:"assembled"` // across: index of its entry in the post
	_        [lineBytes]byte
}

func newLinkState(name string, capacity int, latency Cycle, producer, consumer Handle) linkState {
	slots := 1 << bits.Len(uint(capacity-1))
	l := linkState{
		s: producer.d.s, name: name, ready: make([]Cycle, slots, max(slots, lineBytes/8)),
		capacity: uint64(capacity), limit: uint64(capacity), first: Never, freedAt: Femto(Never),
		latency: Femto(latency) * producer.d.period, producer: producer, consumer: consumer,
		producerBlockedBit: 1, filledBit: 1, pushedAt: Femto(Never), poppedAt: Femto(Never),
	}
	if producer.d == consumer.d {
		l.cycles = latency
	}
	l.across = l.s.workers > 1 && producer.d != consumer.d
	return l
}

// after returns the slot after one.
func (l *linkState) after(slot int) int { return (slot + 1) & (len(l.ready) - 1) }

// Flag sets a bit of a consumer's word while the link holds values, readable or not, so that a consumer with many links
// needs to look only at those whose bits are set.
func (l *linkState) Flag(word *uint64, bit int) { l.filled, l.filledBit = word, 1<<bit }

// FlagStuck sets a bit of a producer's word from a failed Full or Room until a value is taken, for which the producer
// is woken: until then it need not ask again.
func (l *linkState) FlagStuck(word *uint64, bit int) {
	l.producerBlocked, l.producerBlockedBit = word, 1<<bit
}

// Latency returns the latency in the producer's cycles.
func (l *linkState) Latency() Cycle { return Cycle(l.latency / l.producer.d.period) }

// Producer returns the producer's clock.
func (l *linkState) Producer() *Domain { return l.producer.d }

// Full reports to the producer whether there is no slot in this cycle. If so, the producer is woken when there is one.
func (l *linkState) Full() bool { return l.pushed >= l.limit && l.full() }

// full is Full when limit, possibly outdated, is reached. It records that the producer waits.
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

// see updates limit by the slots freed before this instant.
func (l *linkState) see() {
	if l.freedAt != l.s.now {
		l.limit = l.popped + l.capacity
	}
}

// wait records that the producer waits for a slot. If one was freed in this very instant, the producer is woken for the
// next cycle.
func (l *linkState) wait() {
	if l.limit != l.popped+l.capacity {
		l.producer.wakeNext()
	} else {
		*l.producerBlocked |= l.producerBlockedBit
	}
}

// Room reports to the producer whether there are n slots in this cycle. If not, the producer is woken when one is
// freed.
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

// Drained reports to the producer whether the consumer has taken all values in earlier cycles. If not, the producer is
// woken when one is taken.
func (l *linkState) Drained() bool { return l.Room(int(l.capacity)) }

// push counts a value that has been stored in its slot.
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
		if l.cycles == 1 && d.inTick {
			l.consumer.wakeTicking()
		} else {
			l.consumer.wakeAt(ready)
		}
	}
	if l.observe != nil {
		l.observe(l.tail)
	}
	l.tail = l.after(l.tail)
	l.pushed++
}

// pushAcross is push when the consumer ticks concurrently.
func (l *linkState) pushAcross() {
	if l.pushed >= l.limit {
		l.bug(l.producer.d, "push to a full link")
	}
	if l.observe != nil {
		l.observe(l.tail)
	}
	l.tail = l.after(l.tail)
	l.pushed++
	p := l.s.post(l.producer.d)
	b := p.to(l.consumer.d)
	if now := l.s.now; l.pushedAt != now {
		ready := l.arrival()
		l.pushedAt, l.pushedTo = now, len(b.pushes)
		b.pushes = append(b.pushes, pushes{l, 0, ready})
		l.s.bound(p, l.consumer.d, ready)
	}
	b.pushes[l.pushedTo].n++
}

// arrive shows n values to the consumer, which can be read from cycle ready on. Its domain does not tick meanwhile.
func (l *linkState) arrive(n uint64, ready Cycle) {
	for range n {
		l.ready[(l.head+int(l.seen-l.popped))&(len(l.ready)-1)] = ready
		l.seen++
	}
	if l.first == Never {
		l.first = ready
		*l.filled |= l.filledBit
		l.consumer.wakeAt(ready)
	}
}

// free shows to the producer n slots that were freed at an instant. Its domain does not tick meanwhile.
func (l *linkState) free(n uint64, at Femto) {
	l.limit += n
	if *l.producerBlocked&l.producerBlockedBit != 0 {
		*l.producerBlocked &^= l.producerBlockedBit
		l.producer.wakeAt(l.producer.d.behind(at))
	}
}

// wakeProducer wakes the producer if it waits for a slot.
func (l *linkState) wakeProducer() {
	if *l.producerBlocked&l.producerBlockedBit != 0 {
		*l.producerBlocked &^= l.producerBlockedBit
		l.producer.wakeNext()
	}
}

// arrival returns the consumer's cycle from which a value pushed now can be read.
func (l *linkState) arrival() Cycle {
	period := l.consumer.d.period
	return Cycle((l.s.now + l.latency + period - 1) / period)
}

// Ready reports to the consumer whether a value can be read in this cycle. If the first value is still in flight, the
// consumer is woken for it.
func (l *linkState) Ready() bool {
	return l.first <= l.consumer.d.cycle || l.first != Never && l.early()
}

// From returns the consumer's cycle from which the first value can be read; Never: there is none. A consumer that takes
// it as a timer of its own need not call Ready.
func (l *linkState) From() Cycle { return l.first }

// early is Ready for a value in flight. The consumer was woken for it at the push, but may have replaced the timer by
// an earlier one since, or raised its part's due. It is a separate function so that Ready is inlined.
//
//go:noinline
func (l *linkState) early() bool {
	l.consumer.wakeAt(l.first)
	return false
}

// BackedUp reports to the consumer whether every slot holds a value that is readable in this cycle, so that the
// producer has been blocked since an earlier one. The result does not depend on the order in which the ends tick.
func (l *linkState) BackedUp() bool {
	return l.known()-l.popped == l.capacity &&
		l.ready[(l.head+int(l.capacity)-1)&(len(l.ready)-1)] <= l.consumer.d.cycle
}

// known returns the number of pushed values visible to the consumer.
func (l *linkState) known() uint64 {
	if l.across {
		return l.seen
	}
	return l.pushed
}

// Drop removes the first value, which must be ready.
func (l *linkState) Drop() {
	if l.first > l.consumer.d.cycle {
		l.bug(l.consumer.d, "pop of nothing")
	}
	if now := l.s.now; l.across {
		l.dropAcross(now)
	} else if l.freedAt != now {
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

// dropAcross is the part of Drop for a producer that ticks concurrently.
func (l *linkState) dropAcross(now Femto) {
	p := l.s.post(l.consumer.d)
	b := p.to(l.producer.d)
	if l.poppedAt != now {
		l.poppedAt, l.poppedTo = now, len(b.pops)
		b.pops = append(b.pops, pops{l, 0})
		l.s.bound(p, l.producer.d, l.producer.d.behind(now))
	}
	b.pops[l.poppedTo].n++
}

// expose sets the cycle from which the new first value can be read, and wakes the consumer for it.
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

// Len returns the number of values in the link.
func (l *linkState) Len() int { return int(l.pushed - l.popped) }

// Capacity returns the number of slots.
func (l *linkState) Capacity() int { return int(l.capacity) }

// Name returns the link's name.
func (l *linkState) Name() string { return l.name }

// Traffic returns the numbers of values pushed and popped.
func (l *linkState) Traffic() (pushed, popped uint64) { return l.pushed, l.popped }
