package cache

import (
	"fmt"
	"math/bits"
)

// queue is a ring of a fixed number of places whose entries may leave from a
// given cycle on.
type queue[T any] struct {
	ring    []entry[T]
	head, n int

	filled   *uint64 // a word in which bit is set while there are entries
	bit      uint64
	overflow *overflow
}

// owner is the unit that queues are in, and its cycle: for panics.
type owner struct {
	unit string
	now  uint64
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

type entry[T any] struct {
	v     T
	ready uint64
}

func newQueue[T any](places int, of *owner, name string) queue[T] {
	return queue[T]{ring: make([]entry[T], places), filled: new(uint64), overflow: &overflow{of, name}}
}

// flag has a bit of a word set while the queue is not empty. It comes before the first push.
func (q *queue[T]) flag(word *uint64, bit int) { q.filled, q.bit = word, 1<<bit }

func (q *queue[T]) full() bool { return q.n == len(q.ring) }

// push needs a free place.
func (q *queue[T]) push(v T, ready uint64) {
	if q.full() {
		panic(q.overflow)
	}
	i := q.head + q.n
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	q.ring[i] = entry[T]{v, ready}
	q.n++
	*q.filled |= q.bit
}

// front returns the first entry if it may leave in this cycle, else nil.
func (q *queue[T]) front(now uint64) *T {
	if q.n == 0 || q.ring[q.head].ready > now {
		return nil
	}
	return &q.ring[q.head].v
}

// pop removes the first entry; there must be one.
func (q *queue[T]) pop() {
	if q.head++; q.head == len(q.ring) {
		q.head = 0
	}
	if q.n--; q.n == 0 {
		*q.filled &^= q.bit
	}
}

// arbiter is the RTL's round robin ("R"): after a grant the next index is looked
// at first. It starts with index 0.
type arbiter struct{ next int }

// pick returns the requester that is served; there must be one. The arbiter moves
// on with grant only: one that is not taken is offered again.
func (a *arbiter) pick(requests uint64) int {
	if later := requests >> a.next; later != 0 {
		return a.next + bits.TrailingZeros64(later)
	}
	return bits.TrailingZeros64(requests)
}

func (a *arbiter) grant(i int) { a.next = (i + 1) & 63 }
