package dram

// request is a queued read or write.
type request struct {
	id, line, arrival uint64
	row, column       uint32
	bank              *bank
	write             bool
	started           bool // a command has issued for it
}

// entry is a request in a queue, with the command that brings it forward and a clock before
// which that is not ready.
type entry struct {
	request
	next           Command
	bus            uint8 // that carries next
	notBefore      uint64
	older, younger *entry
}

// readyBy returns a clock before which the entry's next command is not ready, and the clock at
// which it is if that is not after now.
func (e *entry) readyBy(now uint64) uint64 {
	if e.notBefore <= now {
		e.notBefore = e.bank.readyAt(e.next)
	}
	return e.notBefore
}

// queueKind is one of a channel's queues.
type queueKind uint8

const (
	readQueue queueKind = iota
	writeQueue
	activeList
	numQueues = 4 // a power of two
)

// queue is a list of requests by age.
type queue struct {
	oldest, youngest *entry
	kind             queueKind
	n, size          int

	// before[b] is a clock before which no command of the queue can issue on
	// command bus b; it saves scanning.
	before [maxBuses]uint64
	// held says that a ready PRE had to wait for other requests.
	held  bool
	buses *busTable

	clocks uint64 // when requests left less when they came, summed: see requestClocks
}

func newQueue(kind queueKind, size int, buses *busTable) queue {
	return queue{kind: kind, size: size, before: [maxBuses]uint64{never, never}, buses: buses}
}

func (q *queue) len() int   { return q.n }
func (q *queue) full() bool { return q.n == q.size }

// inBank is the number of requests to a bank.
func (q *queue) inBank(b *bank) *uint16 { return &b.queued[q.kind&(numQueues-1)] }

// requestClocks returns the requests in the queue, summed over all clocks before now.
func (q *queue) requestClocks(now uint64) uint64 { return q.clocks + uint64(q.n)*now }

// insert puts e behind all that arrived before or with it, and plans its next command.
func (q *queue) insert(e *entry, now uint64) {
	if q.full() {
		panic("BUG: dram: insert into a full queue")
	}
	older := q.youngest
	for older != nil && older.arrival > e.arrival {
		older = older.older
	}
	q.link(e, older)
	q.n++
	*q.inBank(e.bank)++
	q.clocks -= now
	q.plan(e)
}

// link puts e behind an entry of the queue; nil: to its head.
func (q *queue) link(e, older *entry) {
	younger := q.oldest
	if older != nil {
		younger = older.younger
		older.younger = e
	} else {
		q.oldest = e
	}
	if younger != nil {
		younger.older = e
	} else {
		q.youngest = e
	}
	e.older, e.younger = older, younger
}

// remove takes e out; a PRE that waited for it need not any more.
func (q *queue) remove(e *entry, now uint64) {
	if e.older != nil {
		e.older.younger = e.younger
	} else {
		q.oldest = e.younger
	}
	if e.younger != nil {
		e.younger.older = e.older
	} else {
		q.youngest = e.older
	}
	q.n--
	*q.inBank(e.bank)--
	q.clocks += now
	q.release()
}

// plan notes the command that brings e forward, as its bank is now.
func (q *queue) plan(e *entry) {
	switch open := e.bank.row; {
	case open == closedRow:
		e.next = ACT
	case open != e.row:
		e.next = PRE
	case e.write:
		e.next = WR
	default:
		e.next = RD
	}
	e.bus = q.buses[e.next&(numCommands-1)]
	e.notBefore = e.bank.readyAt(e.next)
	q.lower(e.bus, e.notBefore)
}

// rowChanged plans anew for the requests to a bank.
func (q *queue) rowChanged(b *bank) {
	for e := q.oldest; e != nil; e = e.younger {
		if e.bank == b {
			q.plan(e)
		}
	}
}

// lower notes that a command may issue on a bus from clock at on.
func (q *queue) lower(bus uint8, at uint64) {
	before := &q.before[bus&(maxBuses-1)]
	*before = min(*before, at)
}

// release looks again at PREs that had to wait.
func (q *queue) release() {
	if q.held {
		q.lower(q.buses[PRE], 0)
		q.held = false
	}
}

func (q *queue) hasLine(line uint64, b *bank) bool {
	if *q.inBank(b) == 0 {
		return false
	}
	for e := q.oldest; e != nil; e = e.younger {
		if e.line == line {
			return true
		}
	}
	return false
}

// wants reports whether a request to that row of the bank waits.
func (q *queue) wants(b *bank, row uint32) bool {
	if *q.inBank(b) == 0 {
		return false
	}
	for e := q.oldest; e != nil; e = e.younger {
		if e.bank == b && e.row == row {
			return true
		}
	}
	return false
}

// hitWaits reports whether a request that arrived no later than latest waits for the row
// that is open in the bank.
func (q *queue) hitWaits(b *bank, latest uint64) bool {
	for e := q.oldest; e != nil && e.arrival <= latest; e = e.younger {
		if e.bank == b && e.row == b.row {
			return true
		}
	}
	return false
}
