package cache

import (
	"math/bits"

	"heddle/components/mem"
)

// none is the nil entry.
const none int16 = -1

// alone is the pair of a head whose request has left for one line.
const alone int16 = -2

// request is a request inside a bank.
type request struct {
	mem  mem.Request
	line uint32
	port uint8
}

// set initialises q from a port's request.
func (q *request) set(r *mem.Request, lineShift, port int) {
	q.mem, q.line, q.port = *r, r.Addr>>(lineShift&31), uint8(port)
}

// mshr holds a bank's requests from acceptance until they hit or are replayed. Requests that miss the same line form a
// list in order of arrival. The head of the list has requested the line, and memory's answer names it. Heads are found
// through a hash of their line.
type mshr struct {
	entries []mshrEntry
	heads   []int16 // by hash of the line: first of a list of heads
	shift   int     // from a 32-bit hash to an index of heads
	free    int16   // head of the free list
	used    int
	replay  int16 // next request to replay
}

type mshrEntry struct {
	request
	state entryState
	next  int16 // in the free list, or in the list of a line
	tail  int16 // of a head: the end of its list
	peer  int16 // of a head: the next head with the same hash
	pair  int16 // of a head: the one that its request asks for as well; alone: none, and it has left
}

type entryState uint8

const (
	entryFree       entryState = iota
	entryLookup                // in the pipeline; hit or miss undecided
	entryHead                  // waits for the fill that it requested
	entryJoined                // waits for the fill of a head
	entryPassed                // waits for the next level's answer, which carries no line
	entryPerforming            // replayed; an atomic in progress
)

func newMSHR(size int) mshr {
	hash := bits.Len(uint(size))
	m := mshr{entries: make([]mshrEntry, size), heads: make([]int16, 1<<hash), shift: 32 - hash, replay: none}
	for i := range m.entries {
		m.entries[i].next = int16(i + 1)
	}
	m.entries[size-1].next = none
	for i := range m.heads {
		m.heads[i] = none
	}
	return m
}

func (m *mshr) full() bool  { return m.used == len(m.entries) }
func (m *mshr) empty() bool { return m.used == 0 }

// allocate takes an entry for an accepted request; one must be free.
func (m *mshr) allocate(r *request) int16 {
	id := m.free
	e := &m.entries[id]
	m.free = e.next
	e.request, e.state, e.next = *r, entryLookup, none
	m.used++
	return id
}

// release frees the entry of a request that has ended.
func (m *mshr) release(id int16) {
	e := &m.entries[id]
	e.state, e.next = entryFree, m.free
	m.free = id
	m.used--
}

// chain returns the first link of the list of heads with the line's hash.
func (m *mshr) chain(line uint32) *int16 {
	const golden = 0x9E3779B1 // 2^32 / golden ratio: spreads lines of any stride
	return &m.heads[line*golden>>(m.shift&31)]
}

// pending returns the head of the list of a line's requests, or none.
func (m *mshr) pending(line uint32) int16 {
	id := *m.chain(line)
	for id != none && m.entries[id].line != line {
		id = m.entries[id].peer
	}
	return id
}

// miss makes the request, which asks memory for its line, the head of a list.
func (m *mshr) miss(id int16) {
	e := &m.entries[id]
	first := m.chain(e.line)
	e.state, e.tail, e.peer, e.pair = entryHead, id, *first, none
	*first = id
}

// answered removes a head from the hash table.
func (m *mshr) answered(id int16) {
	at := m.chain(m.entries[id].line)
	for *at != id {
		at = &m.entries[*at].peer
	}
	*at = m.entries[id].peer
}

// alongside makes the request of the head of another line, if that has one which has not left and is for that line
// alone, one for this head's line, too. It reports whether it has.
func (m *mshr) alongside(head int16, line uint32) bool {
	other := m.pending(line)
	if other == none || m.entries[other].pair != none {
		return false
	}
	m.entries[other].pair, m.entries[head].pair = head, alone
	return true
}

// left notes that a head's request has left.
func (m *mshr) left(head int16) {
	if e := &m.entries[head]; e.pair == none {
		e.pair = alone
	}
}

// pass marks the request as one that the next level answers.
func (m *mshr) pass(id int16) { m.entries[id].state = entryPassed }

// join appends the request to head's list.
func (m *mshr) join(head, id int16) {
	e, h := &m.entries[id], &m.entries[head]
	e.state = entryJoined
	e.next, m.entries[h.tail].next = m.entries[h.tail].next, id
	h.tail = id
}

// waits reports whether an answer of memory may name the entry.
func (m *mshr) waits(id int16) bool {
	return id >= 0 && int(id) < len(m.entries) &&
		(m.entries[id].state == entryHead || m.entries[id].state == entryPassed)
}

// passed reports whether the answer to the entry's request carries no line.
func (m *mshr) passed(id int16) bool { return m.entries[id].state == entryPassed }

// fill starts the replay of head's list, and returns its first request.
func (m *mshr) fill(head int16) *request {
	m.replay = head
	return &m.entries[head].request
}

// fillSecond puts head's list behind the one whose replay is about to start, and returns its first request.
func (m *mshr) fillSecond(head int16) *request {
	first := &m.entries[m.replay]
	m.entries[first.tail].next = head
	return &m.entries[head].request
}

// dequeue removes the next request to replay, which remains valid until the next allocation. Its entry is freed, unless
// an atomic keeps it.
func (m *mshr) dequeue(keep bool) (id int16, r *request) {
	id = m.replay
	e := &m.entries[id]
	m.replay = e.next
	if e.state == entryHead {
		m.answered(id)
	}
	if keep {
		e.state = entryPerforming
	} else {
		m.release(id)
	}
	return id, &e.request
}
