package core

import (
	"fmt"
	"strings"
)

// queue is a bounded FIFO whose entries can be taken from a given cycle on.
type queue[T any] struct {
	first   uint64 // the cycle from which the first can; never: there is none
	head, n int
	ring    []timed[T]

	freed   int    // places freed by take in cycle freedAt
	freedAt uint64 //

	overflow *overflow
}

// owner is the unit that queues are in, and its cycle: for panics.
type owner struct {
	unit string
	now  uint64
}

// overflow is what a put into a full buffer panics with; its name begins with the unit's.
func (o *owner) overflow(name, kind string) string {
	return fmt.Sprintf("BUG: %s @%d: %s: put into a full %s", o.unit, o.now, strings.TrimPrefix(name, o.unit+": "), kind)
}

// overflow is what a push to a full queue panics with. An error and not a text, which
// would keep push from being inlined.
type overflow struct {
	*owner
	queue string
}

func (o *overflow) Error() string {
	return fmt.Sprintf("BUG: %s @%d: %s: push to a full queue", o.unit, o.now, o.queue)
}

type timed[T any] struct {
	v  T
	at uint64
}

func newQueue[T any](places int, of *owner, name string) queue[T] {
	return queue[T]{first: never, ring: make([]timed[T], places), overflow: &overflow{of, name}}
}

const never = ^uint64(0)

func (q *queue[T]) full() bool  { return q.n == len(q.ring) }
func (q *queue[T]) empty() bool { return q.n == 0 }

// push adds a value that can be taken from cycle at on. It needs a free place.
func (q *queue[T]) push(v T, at uint64) {
	if q.full() {
		panic(q.overflow)
	}
	i := q.head + q.n
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	e := &q.ring[i]
	e.v = v // by parts: a whole entry would be built on the stack by narrow stores, which a wide load then waits for
	e.at = at
	if q.n == 0 {
		q.first = at
	}
	q.n++
}

// ready reports whether the first value can be taken.
func (q *queue[T]) ready(now uint64) bool { return q.first <= now }

func (q *queue[T]) front() *T { return &q.ring[q.head].v }

func (q *queue[T]) pop() T {
	v := q.ring[q.head].v
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	q.n--
	q.renew()
	return v
}

// renew takes note of when the first value can be taken.
func (q *queue[T]) renew() {
	q.first = never
	if q.n > 0 {
		q.first = q.ring[q.head].at
	}
}

// take is pop from a buffer whose ready flag is a register: producers see the
// place it frees from the next cycle on. RTL: elastic buffers of 2 and more places.
func (q *queue[T]) take(now uint64) T {
	if q.freedAt != now {
		q.freed, q.freedAt = 0, now
	}
	q.freed++
	return q.pop()
}

// closed is full for such a buffer.
func (q *queue[T]) closed(now uint64) bool {
	return q.n == len(q.ring) || q.freedAt == now && q.n+q.freed >= len(q.ring)
}

// next returns the cycle at which the first value can be taken, if that is in the
// future and before at; else at.
func (q *queue[T]) next(now, at uint64) uint64 {
	if q.first > now {
		return min(at, q.first)
	}
	return at
}
