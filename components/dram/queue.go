package dram

// request is a queued read or write.
type request struct {
	id, line, arrival uint64
	row, column       uint32
	bank              uint16
	write             bool
	started           bool // a command has issued for it
}

// queue holds requests by age. Of requests[i], next[i] is the command that
// brings it forward, notBefore[i] a clock before which that is not ready, and
// bank[i] its bank: arrays of their own, for the scheduler scans them.
type queue struct {
	requests  []request
	notBefore []uint64
	next      []Command
	bank      []uint16

	inBank []uint16 // number of requests, by bank

	// before[b] is a clock before which no command of the queue can issue on
	// command bus b; it saves scanning.
	before [maxBuses]uint64
	buses  busTable
	// held says that a ready PRE had to wait for other requests.
	held bool
}

func newQueue(size, banks int, buses busTable) queue {
	return queue{
		requests: make([]request, 0, size), notBefore: make([]uint64, 0, size),
		next: make([]Command, 0, size), bank: make([]uint16, 0, size),
		inBank: make([]uint16, banks), before: [maxBuses]uint64{never, never}, buses: buses,
	}
}

func (q *queue) len() int   { return len(q.requests) }
func (q *queue) full() bool { return len(q.requests) == cap(q.requests) }

// insert puts r, whose next command is not ready before at, behind all that
// arrived before or with it.
func (q *queue) insert(r request, next Command, at uint64) {
	if q.full() {
		panic("BUG: dram: insert into a full queue")
	}
	i := len(q.requests)
	for i > 0 && q.requests[i-1].arrival > r.arrival {
		i--
	}
	q.requests = insertAt(q.requests, i, r)
	q.notBefore = insertAt(q.notBefore, i, at)
	q.next = insertAt(q.next, i, next)
	q.bank = insertAt(q.bank, i, r.bank)
	q.inBank[r.bank]++
	q.lower(next, at)
}

// remove takes a request out; a PRE that waited for it need not any more.
func (q *queue) remove(i int) {
	q.inBank[q.bank[i]]--
	q.requests = removeAt(q.requests, i)
	q.notBefore = removeAt(q.notBefore, i)
	q.next = removeAt(q.next, i)
	q.bank = removeAt(q.bank, i)
	q.release()
}

func insertAt[T any](s []T, i int, v T) []T {
	s = append(s, v)
	if i < len(s)-1 {
		copy(s[i+1:], s[i:])
		s[i] = v
	}
	return s
}

func removeAt[T any](s []T, i int) []T {
	copy(s[i:], s[i+1:])
	return s[:len(s)-1]
}

// lower notes a command that may issue from clock at on.
func (q *queue) lower(next Command, at uint64) {
	bus := q.buses[next]
	q.before[bus] = min(q.before[bus], at)
}

// release looks again at PREs that had to wait.
func (q *queue) release() {
	if q.held {
		q.lower(PRE, 0)
		q.held = false
	}
}

func (q *queue) hasLine(line uint64, bank int) bool {
	if q.inBank[bank] == 0 {
		return false
	}
	for i := range q.requests {
		if q.requests[i].line == line {
			return true
		}
	}
	return false
}

// Done is a completed request.
type Done struct {
	ID    uint64
	Clock uint64 // the last data beat
	Write bool
}

// ring is a queue of completions in the order of their clocks.
type ring struct {
	slots      []Done // a power of two
	head, tail uint64
}

func newRing(slots int) ring { return ring{slots: make([]Done, slots)} }

func (r *ring) push(d Done) {
	if r.tail-r.head == uint64(len(r.slots)) {
		panic("BUG: dram: completion ring overflows")
	}
	r.slots[r.tail&uint64(len(r.slots)-1)] = d
	r.tail++
}

// next returns the clock of the first completion.
func (r *ring) next() uint64 {
	if r.head == r.tail {
		return never
	}
	return r.slots[r.head&uint64(len(r.slots)-1)].Clock
}

// last returns the clock of the last completion, 0 if there is none.
func (r *ring) last() uint64 {
	if r.head == r.tail {
		return 0
	}
	return r.slots[(r.tail-1)&uint64(len(r.slots)-1)].Clock
}

func (r *ring) pop() Done {
	d := r.slots[r.head&uint64(len(r.slots)-1)]
	r.head++
	return d
}
