package graphpeg

import (
	"heddle/components/balance"
	"heddle/components/probe"
	"heddle/components/queue"
)

// Status is the status of an entry of the adjacency list working table (§3.3.1).
type Status uint8

// Statuses.
const (
	IVD         Status = iota // invalid: free
	FI                        // fetching index
	RD                        // ready
	FE                        // fetching edge
	numStatuses               //
)

var statusNames = [numStatuses]string{"ivd", "fi", "rd", "fe"}

func (s Status) String() string { return statusNames[s] }

// entry is one active vertex. start is the first edge that has not been requested.
type entry struct {
	base, start, end uint32
	status           Status
	awaited          uint8 // FI: lines of offsets in flight
	chunks           int   // FE: chunks with data in flight
}

// alwt is the adjacency list working table. Only donations search its entries.
type alwt struct {
	entries []entry
	free    []int32          // stack of IVD entries
	extra   []int32          // the same beyond the table's size, for ideal balancing
	size    int              // of the table, in entries
	of      *queue.Owner     //
	ready   fifo             // RD entries, oldest first
	fe      int              // the FE entry; -1: none
	edges   uint64           // edges not requested: Σ(end - start)
	count   [numStatuses]int // entries by status
	watch   probe.Watch      // nil: no observer
}

func newALWT(entries int, of *queue.Owner) alwt {
	t := alwt{of: of, size: entries, entries: make([]entry, entries), free: make([]int32, entries)}
	t.clear()
	return t
}

func (t *alwt) clear() {
	t.entries, t.free, t.extra = t.entries[:t.size], t.free[:t.size], t.extra[:0]
	t.ready, t.fe, t.edges = t.newReady(t.size), -1, 0
	for i := range t.entries {
		t.entries[i] = entry{}
		t.free[t.size-1-i] = int32(i)
	}
	t.count = [numStatuses]int{IVD: len(t.entries)}
}

func (t *alwt) newReady(capacity int) fifo {
	return queue.New[uint32](capacity, t.of, "entries with edges")
}

// used returns the number of entries that are not free.
func (t *alwt) used() int { return len(t.entries) - t.count[IVD] }

func (t *alwt) set(i int, s Status) {
	if t.watch != nil {
		t.tell(i, s)
	}
	t.count[t.entries[i].status]--
	t.entries[i].status = s
	t.count[s]++
}

// allocate takes an IVD entry, of which there must be one, for a vertex (IVD → FI).
func (t *alwt) allocate(vertex uint32, lines int) int {
	i := int(t.free[len(t.free)-1])
	t.free = t.free[:len(t.free)-1]
	t.entries[i] = entry{base: vertex, awaited: uint8(lines)}
	t.set(i, FI)
	return i
}

// fill sets the edges of an entry (FI → RD); one without edges is freed at once.
func (t *alwt) fill(i int, start, end uint32) {
	e := &t.entries[i]
	e.start, e.end = start, end
	if start == end {
		t.release(i)
		return
	}
	t.edges += uint64(end - start)
	t.set(i, RD)
	t.ready.Push(uint32(i))
}

// promote makes the oldest RD entry the FE entry, if there is none.
func (t *alwt) promote() bool {
	if t.fe >= 0 || t.ready.Empty() {
		return false
	}
	t.fe = int(t.ready.Pop())
	t.set(t.fe, FE)
	return true
}

// release makes an entry IVD.
func (t *alwt) release(i int) {
	t.set(i, IVD)
	if i < t.size {
		t.free = append(t.free, int32(i))
	} else {
		t.extra = append(t.extra, int32(i))
	}
	if t.fe == i {
		t.fe = -1
	}
}

// grow adds an entry beyond the table.
func (t *alwt) grow() {
	t.extra = append(t.extra, int32(len(t.entries)))
	t.entries = append(t.entries, entry{})
	t.count[IVD]++
	larger := t.newReady(len(t.entries))
	for !t.ready.Empty() {
		larger.Push(t.ready.Pop())
	}
	t.ready = larger
}

// insert makes a range an RD entry beyond the table's size.
func (t *alwt) insert(r balance.Range) {
	if len(t.extra) == 0 {
		t.grow()
	}
	i := int(t.extra[len(t.extra)-1])
	t.extra = t.extra[:len(t.extra)-1]
	t.entries[i] = entry{base: r.Base}
	t.set(i, FI)
	t.fill(i, r.Start, r.End)
}

// largest returns the entry with the most edges not requested; -1: none has any.
func (t *alwt) largest() int {
	best, most := -1, uint32(0)
	for i := range t.entries {
		if e := &t.entries[i]; e.status >= RD && e.end-e.start > most {
			best, most = i, e.end-e.start
		}
	}
	return best
}

// cut removes up to n edges from the start of entry i, which must have some.
func (t *alwt) cut(i int, n uint32) (start, end uint32) {
	e := &t.entries[i]
	n = min(n, e.end-e.start)
	start, end = e.start, e.start+n
	e.start = end
	t.edges -= uint64(n)
	if e.start == e.end && e.status == RD {
		t.forget(i)
		t.release(i)
	}
	return start, end
}

// forget removes entry i from the queue of ready entries.
func (t *alwt) forget(i int) {
	for n := t.ready.Len(); n > 0; n-- {
		if r := t.ready.Pop(); r != uint32(i) {
			t.ready.Push(r)
		}
	}
}
