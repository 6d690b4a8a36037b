// Package queue has the bounded queues that hardware units are made of: first in, first out, in a ring that is made
// once. It knows no unit and no clock.
//
// Of a Queue every entry can be taken at once, of a Timed from a cycle of its own on. When producers see a freed slot
// is the consumer's choice: at once (Pop, Full), or from the next cycle on (Take, Closed), as with the RTL's elastic
// buffers of two and more slots, whose ready flag is a register.
package queue

import (
	"fmt"
	"math/bits"
)

// Owner is the unit that queues are in, and its cycle: for panics.
type Owner struct {
	Unit string
	Now  uint64
}

// name is a queue's, for those who look, and what a push without a free slot panics with. An error and not a text,
// which would keep pushes from being inlined.
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

// Queue is a queue with a number of slots.
type Queue[T any] struct {
	ring       []T  // a power of two of them
	mask       uint // their number less 1
	head, tail uint // entries that were taken, and that were pushed
	capacity   uint

	freed   uint   // slots freed by Take in cycle freedAt
	freedAt uint64 //

	filled *uint64 // a word in which bit is set while there are entries
	bit    uint64
	name   *name
}

// New makes a queue of a unit, which may be nil, with at least one slot.
func New[T any](capacity int, of *Owner, called string) Queue[T] {
	n := &name{of, called}
	if capacity < 1 {
		panic(fmt.Sprintf("BUG: %s: a queue of %d slots", n.String(), capacity))
	}
	ring := make([]T, 1<<bits.Len(uint(capacity-1)))
	return Queue[T]{ring: ring, mask: uint(len(ring) - 1), capacity: uint(capacity), filled: new(uint64), name: n}
}

// Flag has a bit of a word set while the queue is not empty. It comes before the first push.
func (q *Queue[T]) Flag(word *uint64, bit int) { q.filled, q.bit = word, 1<<bit }

// Len returns how many entries there are.
func (q *Queue[T]) Len() int { return int(q.tail - q.head) }

// Capacity returns how many there can be.
func (q *Queue[T]) Capacity() int { return int(q.capacity) }

// Empty reports whether there is no entry.
func (q *Queue[T]) Empty() bool { return q.tail == q.head }

// Full reports whether there is no free slot.
func (q *Queue[T]) Full() bool { return q.tail-q.head == q.capacity }

// Closed reports whether producers that see what Take frees a cycle later see no free slot in cycle now.
func (q *Queue[T]) Closed(now uint64) bool {
	n := q.tail - q.head
	return n == q.capacity || q.freedAt == now && n+q.freed >= q.capacity
}

// Push appends a value. There must be a free slot.
func (q *Queue[T]) Push(v T) { *q.Add() = v }

// Add appends an entry, and returns its slot, which holds an old value. There it stays until it is taken.
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

// Level shows how full the queue is, by its name.
func (q *Queue[T]) Level(see func(name string, n, capacity int)) {
	see(q.Name(), q.Len(), q.Capacity())
}
