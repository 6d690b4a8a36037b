package eghw

// ring is a queue with a fixed number of places.
type ring[T any] struct {
	places  []T
	head, n int
}

func newRing[T any](n int) ring[T] { return ring[T]{places: make([]T, n)} }

func (r *ring[T]) full() bool { return r.n == len(r.places) }

// at is the i-th from the front.
func (r *ring[T]) at(i int) *T {
	if i += r.head; i >= len(r.places) {
		i -= len(r.places)
	}
	return &r.places[i]
}

// push appends a value, and returns where it stays until it is taken out.
func (r *ring[T]) push(v T) *T {
	p := r.at(r.n)
	*p = v
	r.n++
	return p
}

func (r *ring[T]) front() *T { return &r.places[r.head] }

func (r *ring[T]) pop() T {
	v := r.places[r.head]
	if r.head++; r.head == len(r.places) {
		r.head = 0
	}
	r.n--
	return v
}

func (r *ring[T]) clear() { r.head, r.n = 0, 0 }
