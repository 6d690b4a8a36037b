package dram

// request is a queued read or write.
type request struct {
	id, line, arrival uint64
	row, column       uint32
	bank              *bank
	write             bool
	started           bool // a command has issued for it
}

// entry is a request in a queue, with its next command and a clock before which that is not ready.
type entry struct {
	request
	next           Command
	bus            uint8 // bus of next
	notBefore      uint64
	older, younger *entry
}

// readyBy returns a clock before which the entry's next command is not ready; a result not after now is exact.
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
	// held is set if a ready PRE had to wait for other requests.
	held  bool
	buses *busTable

	clocks uint64 // sum over requests of the clock of departure less that of arrival: see requestClocks
}

func newQueue(kind queueKind, size int, buses *busTable) queue {
	return queue{kind: kind, size: size, before: [maxBuses]uint64{never, never}, buses: buses}
}

func (q *queue) len() int   { return q.n }
func (q *queue) full() bool { return q.n == q.size }

// inBank returns the number of requests to a bank.
func (q *queue) inBank(b *bank) *uint16 { return &b.queued[q.kind&(numQueues-1)] }

// requestClocks returns the number of queued requests, summed over all clocks before now.
func (q *queue) requestClocks(now uint64) uint64 { return q.clocks + uint64(q.n)*now }

// insert places e behind all entries that arrived no later, and plans its next command.
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

// link places e behind an entry of the queue; nil: at the head.
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

// remove removes e. A PRE that waited for it may now be ready.
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

// plan sets e's next command from the state of its bank.
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

// rowChanged replans the requests to a bank.
func (q *queue) rowChanged(b *bank) {
	for e := q.oldest; e != nil; e = e.younger {
		if e.bank == b {
			q.plan(e)
		}
	}
}

// lower records that a command may issue on a bus from clock at on.
func (q *queue) lower(bus uint8, at uint64) {
	before := &q.before[bus&(maxBuses-1)]
	*before = min(*before, at)
}

// release reconsiders PREs that had to wait.
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

// wants reports whether a request to that row of the bank is queued.
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

// hitWaits reports whether a request that arrived no later than latest waits for the open row of the bank.
func (q *queue) hitWaits(b *bank, latest uint64) bool {
	for e := q.oldest; e != nil && e.arrival <= latest; e = e.younger {
		if e.bank == b && e.row == b.row {
			return true
		}
	}
	return false
}
