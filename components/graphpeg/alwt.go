package graphpeg

import (
	"math/bits"
	"slices"

	"heddle/components/balance"
	"heddle/components/probe"
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
	older, newer     int32 // RD: the neighbours in the order in which entries became so; -1: none
}

// left returns the number of edges that have not been requested.
func (e *entry) left() uint32 { return e.end - e.start }

// alwt is the adjacency list working table. Only donations search its entries, of large tables by a tree.
type alwt struct {
	entries []entry
	free    []int32          // stack of IVD entries
	extra   []int32          // the same beyond the table's size, for ideal balancing
	size    int              // of the table, in entries
	oldest  int32            // RD entry; -1: none
	newest  int32            // RD entry
	fe      int              // the FE entry; -1: none
	tree    []int32          // of winners by edges left: node n's is that of 2n and 2n+1; empty: of a small table
	edges   uint64           // edges not requested: Σ(end - start)
	count   [numStatuses]int // entries by status
	watch   probe.Watch      // nil: no observer
}

// smallTable is the number of entries up to which the table is searched, and no tree is kept up to date.
const smallTable = 64

func newALWT(entries int) alwt {
	t := alwt{size: entries, entries: make([]entry, entries), free: make([]int32, entries)}
	t.clear()
	return t
}

func (t *alwt) clear() {
	t.entries, t.free, t.extra = t.entries[:t.size], t.free[:t.size], t.extra[:0]
	t.oldest, t.newest, t.fe, t.edges = -1, -1, -1, 0
	for i := range t.entries {
		t.entries[i] = entry{}
		t.free[t.size-1-i] = int32(i)
	}
	t.count = [numStatuses]int{IVD: len(t.entries)}
	t.plant()
}

// plant begins the tree anew, without entries that have edges; none if the table is small.
func (t *alwt) plant() {
	nodes := 0
	if len(t.entries) > smallTable {
		nodes = 2 << bits.Len(uint(len(t.entries)-1))
	}
	t.tree = slices.Grow(t.tree[:0], nodes)[:nodes]
	for i := range t.tree {
		t.tree[i] = -1
	}
}

// leftOf brings the tree up to date with entry i, whose status or edges have changed.
func (t *alwt) leftOf(i int) {
	if len(t.tree) == 0 {
		return
	}
	n := len(t.tree)/2 + i
	t.tree[n] = -1
	if e := &t.entries[i]; e.status >= RD && e.left() > 0 {
		t.tree[n] = int32(i)
	}
	for n /= 2; n > 0; n /= 2 {
		a, b := t.tree[2*n], t.tree[2*n+1]
		if a < 0 || b >= 0 && t.entries[b].left() > t.entries[a].left() {
			a = b
		}
		t.tree[n] = a
	}
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
	e.older, e.newer = t.newest, -1
	if t.newest < 0 {
		t.oldest = int32(i)
	} else {
		t.entries[t.newest].newer = int32(i)
	}
	t.newest = int32(i)
	t.leftOf(i)
}

// request takes the next n edges of the FE entry, whose lines are requested.
func (t *alwt) request(n uint32) {
	t.entries[t.fe].start += n
	t.edges -= uint64(n)
	t.leftOf(t.fe)
}

// promote makes the oldest RD entry the FE entry, if there is none.
func (t *alwt) promote() bool {
	if t.fe >= 0 || t.oldest < 0 {
		return false
	}
	t.fe = int(t.oldest)
	t.unqueue(t.fe)
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
	t.leftOf(i)
}

// grow adds an entry beyond the table.
func (t *alwt) grow() {
	t.extra = append(t.extra, int32(len(t.entries)))
	t.entries = append(t.entries, entry{})
	t.count[IVD]++
	if len(t.entries) <= max(smallTable, len(t.tree)/2) {
		return
	}
	t.plant()
	for i := range t.entries {
		t.leftOf(i)
	}
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

// largest returns the entry with the most edges not requested, the first of equals; -1: none has any.
func (t *alwt) largest() int {
	if len(t.tree) > 0 {
		return int(t.tree[1])
	}
	best, most := -1, uint32(0)
	for i := range t.entries {
		if e := &t.entries[i]; e.status >= RD && e.left() > most {
			best, most = i, e.left()
		}
	}
	return best
}

// cut removes up to n edges from the start of entry i, which must have some.
func (t *alwt) cut(i int, n uint32) (start, end uint32) {
	e := &t.entries[i]
	n = min(n, e.left())
	start, end = e.start, e.start+n
	e.start = end
	t.edges -= uint64(n)
	if e.start == e.end && e.status == RD {
		t.unqueue(i)
		t.release(i)
	} else {
		t.leftOf(i)
	}
	return start, end
}

// unqueue removes entry i from the RD entries' order.
func (t *alwt) unqueue(i int) {
	e := &t.entries[i]
	if e.older < 0 {
		t.oldest = e.newer
	} else {
		t.entries[e.older].newer = e.newer
	}
	if e.newer < 0 {
		t.newest = e.older
	} else {
		t.entries[e.newer].older = e.older
	}
}
