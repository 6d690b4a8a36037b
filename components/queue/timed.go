package queue

// Never is a cycle that is never reached.
const Never = ^uint64(0)

// Timed is a queue whose entries can be taken from a given cycle on, in order: an entry holds up those behind it.
type Timed[T any] struct {
	first uint64 // cycle from which the first entry can be taken; Never: the queue is empty
	q     Queue[timed[T]]
}

type timed[T any] struct {
	v  T
	at uint64 // Never: the slot is free
}

// NewTimed returns a timed queue of a unit, which may be nil, with at least one slot.
func NewTimed[T any](capacity int, of *Owner, called string) Timed[T] {
	q := Timed[T]{q: New[timed[T]](capacity, of, called)}
	q.Clear()
	return q
}

// Flag sets a bit of a word while the queue is not empty. It must precede the first push.
func (q *Timed[T]) Flag(word *uint64, bit int) { q.q.Flag(word, bit) }

// Len returns the number of entries.
func (q *Timed[T]) Len() int { return q.q.Len() }

// Capacity returns the number of slots.
func (q *Timed[T]) Capacity() int { return q.q.Capacity() }

// Empty reports whether there is no entry.
func (q *Timed[T]) Empty() bool { return q.first == Never }

// Full reports whether there is no free slot.
func (q *Timed[T]) Full() bool { return q.q.Full() }

// Closed reports whether there is no free slot in cycle now for producers that see slots freed by Take a cycle later.
func (q *Timed[T]) Closed(now uint64) bool { return q.q.Closed(now) }

// Push appends a value that can be taken from cycle at on, which must not be Never. There must be a free slot.
func (q *Timed[T]) Push(v T, at uint64) {
	e := q.q.Add()
	e.v = v // by parts: a whole entry would be built on the stack by narrow stores, which stall the wide load
	e.at = at
	if q.first == Never {
		q.first = at
	}
}

// Insert is Push for entries that leave in the order of their cycles, equal ones in the order of insertion.
func (q *Timed[T]) Insert(v T, at uint64) {
	q.Push(v, at)
	for i := q.Len() - 1; i > 0 && q.q.At(i-1).at > at; i-- {
		a, b := q.q.At(i-1), q.q.At(i)
		*a, *b = *b, *a
	}
	q.first = q.q.Front().at
}

// First returns the cycle from which the first entry can be taken, or Never.
func (q *Timed[T]) First() uint64 { return q.first }

// Ready reports whether the first entry can be taken in cycle now.
func (q *Timed[T]) Ready(now uint64) bool { return q.first <= now }

// Next returns the cycle from which the first entry can be taken, if that is after now and before at; else at.
func (q *Timed[T]) Next(now, at uint64) uint64 {
	if q.first > now {
		return min(at, q.first)
	}
	return at
}

// Front returns the first entry. There must be one.
func (q *Timed[T]) Front() *T { return &q.q.Front().v }

// At returns the i-th entry from the front.
func (q *Timed[T]) At(i int) *T { return &q.q.At(i).v }

// Due returns the cycle from which the i-th entry from the front can be taken, once it is the first.
func (q *Timed[T]) Due(i int) uint64 { return q.q.At(i).at }

// Pop removes the first entry, and returns it.
func (q *Timed[T]) Pop() T {
	r := &q.q
	e := r.Front()
	e.at = Never
	r.Drop()
	q.first = r.Front().at
	return e.v
}

// Take is Pop in cycle now, for producers that see the freed slot a cycle later. It repeats the code of Drop, with
// whose calls it would be too long to be inlined.
func (q *Timed[T]) Take(now uint64) T {
	r := &q.q
	if r.freedAt != now {
		r.freed, r.freedAt = 0, now
	}
	r.freed++
	e := &r.ring[r.head&r.mask]
	e.at = Never
	r.Drop()
	q.first = r.ring[r.head&r.mask].at
	return e.v
}

// Clear removes all entries.
func (q *Timed[T]) Clear() {
	q.q.Clear()
	q.first = Never
	for i := range q.q.ring {
		q.q.ring[i].at = Never
	}
}

// Name returns the queue's name, which begins with its unit's.
func (q *Timed[T]) Name() string { return q.q.Name() }

// Level calls see with the queue's name, occupancy and capacity.
func (q *Timed[T]) Level(see func(name string, n, capacity int)) { q.q.Level(see) }
