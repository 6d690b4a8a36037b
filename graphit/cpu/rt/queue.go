package rt

//lint:file-ignore U1000 the programs that it is copied into use it

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
)

// queue is a priority queue, lower priorities first: vertices that wait are in buckets of delta priorities each. A
// vertex may be in several, or twice in one: it counts where its priority is, and once.
type queue[T int32 | uint32] struct {
	m        *machine
	prio     []T
	delta    int64
	shift    int      // log2 of delta; -1: it is no power of two
	waits    []uint32 // by vertex
	current  int64    // priority of the bucket that was taken last
	all      bool
	source   uint32
	rest     buckets   // what no worker holds
	own      []buckets // of each worker, while buckets are fused
	open     int
	fusion   int  // a worker goes on with fewer vertices than this in its own current bucket; 0: never
	outdated bool // priorities have changed, other than through the queue: buckets are to be filled anew
}

// buckets are those from a first one on, and what is in none of them.
type buckets struct {
	first int64
	lists [][]uint32
	low   int // no bucket before it has any
	later []uint32
	lower bool // some of later come before the first bucket

	taken, walked int // vertices, and edges along which their priorities have been passed on
	_             [2]uint64
}

// How many buckets are open, and how many vertices a worker goes on with, if a schedule says nothing (GraphIt's runtime
// library).
const (
	defaultOpen   = 1024
	defaultFusion = 1000
)

// newQueue is new priority_queue(…).
func newQueue[T int32 | uint32](m *machine, at string, prio []T, delta, order, source int64, open,
	fusion int) *queue[T] {
	q := &queue[T]{m: m, prio: prio, delta: delta, shift: -1, waits: make([]uint32, m.n), all: source < 0, open: open,
		fusion: fusion, outdated: true}
	switch {
	case order != 1:
		fail(at, "new priority_queue: buckets in descending order are not supported: expected 1, found %d", order)
	case source >= int64(m.n):
		fail(at, "new priority_queue: there is no vertex %d: the graph has vertices 0 to %d", source, m.n-1)
	case delta < 1:
		fail(at, "the schedule's delta is %d: expected at least 1", delta)
	case open < 1 || fusion < 0:
		fail(at, "the schedule's numbers of open buckets and for merging are %d and %d: expected at least 1 and 0", open,
			fusion)
	}
	if delta&(delta-1) == 0 {
		q.shift = bits.TrailingZeros64(uint64(delta))
	}
	if q.source = uint32(max(0, source)); q.all {
		for v := range q.waits {
			q.waits[v] = 1
		}
	} else if m.n > 0 {
		q.waits[q.source] = 1
	}
	q.own = make([]buckets, m.workers)
	return q
}

// made refuses a variable that holds no queue.
func made[T int32 | uint32](at string, q *queue[T]) *queue[T] {
	if q == nil {
		fail(at, "there is no queue yet: expected new priority_queue before")
	}
	return q
}

// bucket is the number of a priority's.
func (q *queue[T]) bucket(priority T) int64 {
	p := int64(priority)
	if q.shift >= 0 {
		return p >> q.shift
	}
	b := p / q.delta
	if p%q.delta < 0 {
		b--
	}
	return b
}

// put puts a vertex into a bucket.
func (b *buckets) put(v uint32, n int64) {
	i := n - b.first
	if uint64(i) >= uint64(len(b.lists)) {
		b.later = append(b.later, v)
		b.lower = b.lower || i < 0
		return
	}
	b.lists[i] = append(b.lists[i], v)
	b.low = min(b.low, int(i))
}

// begin has buckets begin at a number.
func (b *buckets) begin(first int64, open int) {
	if b.lists == nil {
		b.lists = make([][]uint32, open)
	}
	b.first, b.low, b.lower = first, open, false
}

// next is the first bucket with any; ok is false if all of them are empty.
func (b *buckets) next() (n int64, ok bool) {
	for ; b.low < len(b.lists); b.low++ {
		if len(b.lists[b.low]) > 0 {
			return b.first + int64(b.low), true
		}
	}
	return 0, false
}

// outdate says that priorities have changed other than through the queue. It may be nil.
func (q *queue[T]) outdate() {
	if q != nil {
		q.outdated = true
	}
}

// fill puts all that wait into buckets, from the least one on.
func (q *queue[T]) fill() {
	q.outdated = false
	var list []uint32
	for v, w := range q.waits {
		if w != 0 {
			list = append(list, uint32(v))
		}
	}
	q.refill(list)
}

// refill puts a list into buckets, which are empty, from the least one on. Those that wait no more are left out.
func (q *queue[T]) refill(list []uint32) {
	least := int64(math.MaxInt64)
	for _, v := range list {
		if q.waits[v] != 0 {
			least = min(least, q.bucket(q.prio[v]))
		}
	}
	for i := range q.rest.lists {
		q.rest.lists[i] = q.rest.lists[i][:0]
	}
	q.rest.later = nil
	if least == math.MaxInt64 {
		q.rest.begin(0, q.open)
		return
	}
	q.rest.begin(least, q.open)
	for _, v := range list {
		if q.waits[v] != 0 {
			q.rest.put(v, q.bucket(q.prio[v]))
		}
	}
}

// insert puts those that an operator has changed into their buckets.
func (q *queue[T]) insert(list []uint32) {
	for _, v := range list {
		if q.waits[v] != 0 {
			q.rest.put(v, q.bucket(q.prio[v]))
		}
	}
}

// next finds the first bucket in which any vertex is with right; false: none waits.
func (q *queue[T]) next() (n int64, ok bool) {
	if q.outdated {
		q.fill()
	}
	for {
		if q.rest.lower {
			q.fill()
		}
		n, ok := q.rest.next()
		switch {
		case ok:
			list := q.rest.lists[q.rest.low]
			kept := list[:0]
			for _, v := range list {
				if q.waits[v] != 0 && q.bucket(q.prio[v]) == n {
					kept = append(kept, v)
				}
			}
			if q.rest.lists[q.rest.low] = kept; len(kept) > 0 {
				return n, true
			}
		case len(q.rest.later) == 0:
			return 0, false
		default:
			q.refill(q.rest.later)
		}
	}
}

// finished reports whether no vertex waits.
func (q *queue[T]) finished() bool {
	_, any := q.next()
	return !any
}

// finishedNode reports whether no vertex waits in a bucket that begins below a vertex's priority.
func (q *queue[T]) finishedNode(at string, v int64) bool {
	n, any := q.next()
	return !any || int64(q.prio[element(at, "finishedNode", v, len(q.prio))]) <= n*q.delta
}

// ready takes the first bucket out.
func (q *queue[T]) ready() *set {
	n, ok := q.next()
	if !ok {
		return q.m.empty()
	}
	q.current = n * q.delta
	bin := &q.rest.lists[q.rest.low]
	list := q.m.spareList()
	for _, v := range *bin {
		if q.waits[v] != 0 { // not there twice
			q.waits[v] = 0
			list = append(list, v)
		}
	}
	*bin = (*bin)[:0]
	return q.m.listSet(list)
}

// wait has a vertex wait, once its priority is lower. If it waits already, whoever takes it will see the priority.
func wait(waits []uint32, v int32) {
	if atomic.LoadUint32(&waits[v]) == 0 {
		atomic.StoreUint32(&waits[v], 1)
	}
}

func waitAlone(waits []uint32, v int32) { waits[v] = 1 }

// take has a vertex wait no more, before its priority is read, and reports whether it did.
func take(waits []uint32, v uint32) bool {
	return atomic.LoadUint32(&waits[v]) != 0 && atomic.SwapUint32(&waits[v], 0) != 0
}

func takeAlone(waits []uint32, v uint32) bool {
	w := waits[v]
	waits[v] = 0
	return w != 0
}

// relaxing lowers the priorities along the edges of a list's vertices, of those that wait, and puts what it has lowered
// into buckets.
type relaxing[T int32 | uint32] func(q *queue[T], list []uint32, b *buckets)

// ordered runs a loop over all buckets. A worker that has done its part of one goes on with what it has put into it
// itself, as long as that is little, and only then waits for the others.
func (q *queue[T]) ordered(at string, alone, together relaxing[T]) {
	defer q.count()
	for {
		n, ok := q.next()
		if !ok {
			return
		}
		q.m.step(at)
		q.current = n * q.delta
		list := q.rest.lists[q.rest.low]
		q.rest.lists[q.rest.low] = nil
		if q.m.alone(q.m.out, list) {
			q.m.each(at, 1, func(int, int) { q.fuse(list, &q.rest, n, alone) })
			continue
		}
		q.together(at, list, n, together)
	}
}

// count adds what the loop has done to the program's counts.
func (q *queue[T]) count() {
	add := func(b *buckets) {
		q.m.taken, q.m.walked = q.m.taken+b.taken, q.m.walked+b.walked
		b.taken, b.walked = 0, 0
	}
	add(&q.rest)
	for w := range q.own {
		add(&q.own[w])
	}
}

// fuse does a list, and what has come into the current bucket meanwhile.
func (q *queue[T]) fuse(list []uint32, b *buckets, n int64, relax relaxing[T]) {
	relax(q, list, b)
	var done []uint32
	for i := n - b.first; ; {
		more := b.lists[i]
		if len(more) == 0 || len(more) >= q.fusion {
			return
		}
		b.lists[i] = done[:0]
		relax(q, more, b)
		done = more
	}
}

// together does a bucket on all workers, each with buckets of its own.
func (q *queue[T]) together(at string, list []uint32, n int64, relax relaxing[T]) {
	for w := range q.own {
		q.own[w].begin(q.rest.first, q.open)
	}
	size := q.m.chunk(len(list))
	parts := (len(list) + size - 1) / size
	var next atomic.Int64
	q.m.each(at, q.m.workers, func(_, w int) {
		b := &q.own[w]
		for {
			p := int(next.Add(1)) - 1
			if p >= parts {
				break
			}
			relax(q, list[p*size:min((p+1)*size, len(list))], b)
		}
		q.fuse(nil, b, n, relax)
	})
	for w := range q.own {
		b := &q.own[w]
		for i := b.low; i < len(b.lists); i++ {
			if l := b.lists[i]; len(l) > 0 {
				q.rest.lists[i] = append(q.rest.lists[i], l...)
				q.rest.low = min(q.rest.low, i)
				b.lists[i] = l[:0]
			}
		}
		q.rest.later = append(q.rest.later, b.later...)
		q.rest.lower = q.rest.lower || b.lower
		b.later = slices.Delete(b.later, 0, len(b.later))
	}
}
