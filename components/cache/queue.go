package cache

import (
	"fmt"
	"math/bits"
)

// queue is a ring of a fixed number of places.
type queue[T any] struct {
	ring    []T // a power of two of them
	places  int
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

func newQueue[T any](places int, of *owner, name string) queue[T] {
	return queue[T]{ring: make([]T, 1<<bits.Len(uint(places-1))), places: places, filled: new(uint64), overflow: &overflow{of, name}}
}

// flag has a bit of a word set while the queue is not empty. It comes before the first push.
func (q *queue[T]) flag(word *uint64, bit int) { q.filled, q.bit = word, 1<<bit }

func (q *queue[T]) full() bool { return q.n == q.places }

// push needs a free place.
func (q *queue[T]) push(v T) {
	if q.full() {
		panic(q.overflow)
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
	*q.filled |= q.bit
}

// front returns the first entry; there must be one.
func (q *queue[T]) front() *T { return &q.ring[q.head] }

// pop removes the first entry; there must be one.
func (q *queue[T]) pop() {
	q.head = (q.head + 1) & (len(q.ring) - 1)
	if q.n--; q.n == 0 {
		*q.filled &^= q.bit
	}
}

// arbiter is the RTL's round robin ("R"): after a grant the next index is looked
// at first. It starts with index 0.
type arbiter struct{ next uint }

// pick returns the requester that is served; there must be one. The arbiter moves
// on with grant only: one that is not taken is offered again.
func (a *arbiter) pick(requests uint64) int {
	if later := requests >> (a.next & 63) << (a.next & 63); later != 0 {
		return first(later)
	}
	return first(requests)
}

func (a *arbiter) grant(i int) { a.next = uint(i+1) & 63 }

// most is how many members a set has that is one word.
const most = 64

// bit is the set of one.
func bit(i int) uint64 { return 1 << (uint(i) & (most - 1)) }

// first returns the least of a set, which must not be empty.
func first(set uint64) int { return bits.TrailingZeros64(set) & (most - 1) }
