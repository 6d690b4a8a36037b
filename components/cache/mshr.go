package cache

import "heddle/components/mem"

// none is the id of no entry.
const none int16 = -1

// request is a request inside a bank.
type request struct {
	mem  mem.Request
	line uint32
	port uint8
}

// mshr holds a bank's requests from acceptance until they hit or are replayed.
// Requests that miss the same line form a list in order of arrival, whose head
// has asked memory for the line and is what memory's answer names.
type mshr struct {
	requests []request
	state    []entryState
	next     []int16 // free list, or the list of a line
	tail     []int16 // of a head: the end of its list
	free     int16   // head of the free list
	used     int
	replay   int16 // the next request to replay
}

type entryState uint8

const (
	entryFree       entryState = iota
	entryLookup                // in the pipeline; hit or miss is open
	entryHead                  // waits for the fill it asked for
	entryJoined                // waits for the fill of a head
	entryPassed                // waits for the next level's answer, which is no line
	entryPerforming            // replayed; an atomic that is under way
)

func newMSHR(size int) mshr {
	m := mshr{
		requests: make([]request, size), state: make([]entryState, size),
		next: make([]int16, size), tail: make([]int16, size), replay: none,
	}
	for i := range m.next {
		m.next[i] = int16(i + 1)
	}
	m.next[size-1] = none
	return m
}

func (m *mshr) full() bool  { return m.used == len(m.requests) }
func (m *mshr) empty() bool { return m.used == 0 }

// allocate takes an entry for an accepted request; one must be free.
func (m *mshr) allocate(r request) int16 {
	id := m.free
	m.free = m.next[id]
	m.requests[id], m.state[id], m.next[id] = r, entryLookup, none
	m.used++
	return id
}

// release frees the entry of a request that needs no fill.
func (m *mshr) release(id int16) {
	m.state[id] = entryFree
	m.next[id] = m.free
	m.free = id
	m.used--
}

// pending returns the head of the list of a line's requests, or none.
func (m *mshr) pending(line uint32) int16 {
	for i, s := range m.state {
		if s == entryHead && m.requests[i].line == line {
			return int16(i)
		}
	}
	return none
}

// miss makes the request the head of a list: it asks memory.
func (m *mshr) miss(id int16) { m.state[id], m.tail[id] = entryHead, id }

// pass makes the request one that the next level answers.
func (m *mshr) pass(id int16) { m.state[id] = entryPassed }

// join appends the request to the list of head.
func (m *mshr) join(head, id int16) {
	m.state[id] = entryJoined
	m.next[m.tail[head]] = id
	m.tail[head] = id
}

// waits tells whether an answer of memory may name the entry.
func (m *mshr) waits(id int16) bool {
	return id >= 0 && int(id) < len(m.state) && (m.state[id] == entryHead || m.state[id] == entryPassed)
}

// passed tells that the answer to the entry's request is no line.
func (m *mshr) passed(id int16) bool { return m.state[id] == entryPassed }

// fill starts the replay of the list of head, and returns its first request.
func (m *mshr) fill(head int16) request {
	m.replay = head
	return m.requests[head]
}

// dequeue takes the next request to replay. Its entry is freed, unless an atomic
// keeps it.
func (m *mshr) dequeue(keep bool) (id int16, r request) {
	id = m.replay
	r = m.requests[id]
	m.replay = m.next[id]
	if keep {
		m.state[id] = entryPerforming
	} else {
		m.release(id)
	}
	return id, r
}
