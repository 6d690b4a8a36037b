package monitor

// ring keeps the last entries of a series, in memory that is allocated once.
type ring[T any] struct {
	slots    []T
	first, n int
}

func newRing[T any](capacity int) ring[T] { return ring[T]{slots: make([]T, capacity)} }

// at returns the entry of that index, from the oldest on.
func (r *ring[T]) at(i int) *T { return &r.slots[(r.first+i)%len(r.slots)] }

// full reports whether the next entry overwrites the oldest one.
func (r *ring[T]) full() bool { return r.n == len(r.slots) }

// push returns the slot of a new entry, with its previous contents.
func (r *ring[T]) push() *T {
	if r.full() {
		r.first = (r.first + 1) % len(r.slots)
	} else {
		r.n++
	}
	return r.at(r.n - 1)
}

// thin drops every second entry but keeps the oldest one.
func (r *ring[T]) thin() {
	kept := 0
	for i := 0; i < r.n; i += 2 {
		a, b := r.at(kept), r.at(i)
		*a, *b = *b, *a // slots may own memory, which stays in the ring
		kept++
	}
	r.n = kept
}
