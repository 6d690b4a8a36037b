// Package queue provides the bounded FIFO queues of hardware units, in rings allocated once. It knows neither units nor
// clocks.
//
// Entries of a Queue can be taken at once, those of a Timed from a cycle of their own on. The consumer chooses when
// producers see a freed slot: at once (Pop, Full), or from the next cycle on (Take, Closed), as with the RTL's elastic
// buffers of two and more slots, whose ready flag is a register.
package queue

import (
	"fmt"
	"math/bits"
)

// Owner is the unit that contains queues, and its cycle, for panics.
type Owner struct {
	Unit string
	Now  uint64
}

// name is a queue's name, and the value of the panic of a push without a free slot. It is an error rather than a string
// because building a string would keep pushes from being inlined.
type name struct {
	of    *Owner
	queue string
}

func (n *name) String() string {
	if n.of == nil {
		return n.queue
	}
	return n.of.Unit + ": " + n.queue
}

func (n *name) Error() string {
	if n.of == nil {
		return fmt.Sprintf("BUG: %s: push to a full queue", n.queue)
	}
	return fmt.Sprintf("BUG: %s @%d: %s: push to a full queue", n.of.Unit, n.of.Now, n.queue)
}

// Queue is a queue with a bounded number of slots.
type Queue[T any] struct {
	ring       []T  // length is a power of two
	mask       uint // len(ring) - 1
	head, tail uint // numbers of entries taken and pushed
	capacity   uint

	freed   uint   // slots freed by Take in cycle freedAt
	freedAt uint64 //

	filled *uint64 // word with bit set while there are entries
	bit    uint64
	name   *name
}

// New returns a queue of a unit, which may be nil, with at least one slot.
func New[T any](capacity int, of *Owner, called string) Queue[T] {
	n := &name{of, called}
	if capacity < 1 {
		panic(fmt.Sprintf("BUG: %s: a queue of %d slots", n.String(), capacity))
	}
	ring := make([]T, 1<<bits.Len(uint(capacity-1)))
	return Queue[T]{ring: ring, mask: uint(len(ring) - 1), capacity: uint(capacity), filled: new(uint64), name: n}
}

// Flag sets a bit of a word while the queue is not empty. It must precede the first push.
func (q *Queue[T]) Flag(word *uint64, bit int) { q.filled, q.bit = word, 1<<bit }

// Len returns the number of entries.
func (q *Queue[T]) Len() int { return int(q.tail - q.head) }

// Capacity returns the number of slots.
func (q *Queue[T]) Capacity() int { return int(q.capacity) }

// Empty reports whether there is no entry.
func (q *Queue[T]) Empty() bool { return q.tail == q.head }

// Full reports whether there is no free slot.
func (q *Queue[T]) Full() bool { return q.tail-q.head == q.capacity }

// Closed reports whether there is no free slot in cycle now for producers that see slots freed by Take a cycle later.
func (q *Queue[T]) Closed(now uint64) bool {
	n := q.tail - q.head
	return n == q.capacity || q.freedAt == now && n+q.freed >= q.capacity
}

// Push appends a value. There must be a free slot.
func (q *Queue[T]) Push(v T) { *q.Add() = v }

// Add appends an entry, and returns its slot, which holds an old value. The entry does not move until it is taken.
func (q *Queue[T]) Add() *T {
	if q.tail-q.head == q.capacity {
		panic(q.name)
	}
	e := &q.ring[q.tail&q.mask]
	q.tail++
	*q.filled |= q.bit
	return e
}

// Front returns the first entry. There must be one.
func (q *Queue[T]) Front() *T { return &q.ring[q.head&q.mask] }

// At returns the i-th entry from the front.
func (q *Queue[T]) At(i int) *T { return &q.ring[(q.head+uint(i))&q.mask] }

// Drop removes the first entry. There must be one.
func (q *Queue[T]) Drop() {
	if q.head++; q.head == q.tail {
		*q.filled &^= q.bit
	}
}

// Pop removes the first entry, and returns it.
func (q *Queue[T]) Pop() T {
	e := q.Front()
	q.Drop()
	return *e
}

// Take is Pop in cycle now, for producers that see the freed slot a cycle later.
func (q *Queue[T]) Take(now uint64) T {
	if q.freedAt != now {
		q.freed, q.freedAt = 0, now
	}
	q.freed++
	return q.Pop()
}

// PopBack removes the last entry, and returns it.
func (q *Queue[T]) PopBack() T {
	if q.tail--; q.head == q.tail {
		*q.filled &^= q.bit
	}
	return q.ring[q.tail&q.mask]
}

// Clear removes all entries.
func (q *Queue[T]) Clear() {
	q.head = q.tail
	*q.filled &^= q.bit
}

// Name returns the queue's name, which begins with its unit's.
func (q *Queue[T]) Name() string { return q.name.String() }

// Level calls see with the queue's name, occupancy and capacity.
func (q *Queue[T]) Level(see func(name string, n, capacity int)) {
	see(q.Name(), q.Len(), q.Capacity())
}
