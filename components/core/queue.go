package core

import "fmt"

// queue is a bounded FIFO whose entries can be taken from a given cycle on.
type queue[T any] struct {
	ring    []timed[T]
	head, n int

	freed   int    // places freed by take in cycle freedAt
	freedAt uint64 //

	of   *owner
	name string
}

// owner is the unit that queues are in, and its cycle: for panics.
type owner struct {
	unit string
	now  uint64
}

type timed[T any] struct {
	v  T
	at uint64
}

func newQueue[T any](places int, of *owner, name string) queue[T] {
	return queue[T]{ring: make([]timed[T], places), of: of, name: name}
}

func (q *queue[T]) bug(what string) string {
	return fmt.Sprintf("BUG: %s @%d: %s: %s", q.of.unit, q.of.now, q.name, what)
}

func (q *queue[T]) full() bool  { return q.n == len(q.ring) }
func (q *queue[T]) empty() bool { return q.n == 0 }

// push adds a value that can be taken from cycle at on. It needs a free place.
func (q *queue[T]) push(v T, at uint64) {
	if q.full() {
		panic(q.bug("push to a full queue"))
	}
	i := q.head + q.n
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	q.ring[i] = timed[T]{v, at}
	q.n++
}

// ready tells whether the first value can be taken.
func (q *queue[T]) ready(now uint64) bool { return q.n > 0 && q.ring[q.head].at <= now }

func (q *queue[T]) front() *T { return &q.ring[q.head].v }

// frontAt returns the cycle from which the first value can be taken.
func (q *queue[T]) frontAt() uint64 { return q.ring[q.head].at }

func (q *queue[T]) pop() T {
	v := q.ring[q.head].v
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	q.n--
	return v
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
	if q.n > 0 && q.ring[q.head].at > now {
		return min(at, q.ring[q.head].at)
	}
	return at
}
