package graphpeg

import "heddle/isa"

// edge is a gathered edge: its fields, indexed by isa's field numbers.
type edge [4]uint32

// buffer is the edge buffer: a ring of slots. A slot is reserved when its line is requested, and valid when its data
// has arrived.
type buffer struct {
	slots     []edge
	valid     []bool
	head, n   int  // reserved and valid slots
	run       int  // valid slots from head on
	filled    int  // valid slots
	byArrival bool // edges take slots in the order of arrival; a reservation is only a number of slots
	limit     int  // slots in use, which depends on the number of fields
}

func newBuffer(slots int, byArrival bool) buffer {
	return buffer{slots: make([]edge, slots), valid: make([]bool, slots), limit: slots, byArrival: byArrival}
}

// clear empties the buffer and sets its number of slots.
func (b *buffer) clear(limit int) {
	clear(b.valid)
	b.head, b.n, b.run, b.filled, b.limit = 0, 0, 0, 0, limit
}

func (b *buffer) free() int { return b.limit - b.n }

func (b *buffer) wrap(i int) int {
	if i >= b.limit {
		i -= b.limit
	}
	return i
}

// reserve reserves n slots, and returns the first.
func (b *buffer) reserve(n int) (slot int) {
	slot = b.wrap(b.head + b.n)
	b.n += n
	return slot
}

// fill makes the i-th slot of a reservation valid, and returns it for its edge. extend must follow when all slots of a
// chunk are filled.
func (b *buffer) fill(slot, i int) *edge {
	at := b.wrap(slot + i)
	if b.byArrival {
		at = b.wrap(b.head + b.filled)
	}
	b.valid[at] = true
	b.filled++
	return &b.slots[at]
}

// extend extends the run over newly valid slots.
func (b *buffer) extend() {
	for b.run < b.n && b.valid[b.wrap(b.head+b.run)] {
		b.run++
	}
}

// pop removes the oldest edge, which must be valid.
func (b *buffer) pop() edge {
	e := b.slots[b.head]
	b.valid[b.head] = false
	b.head = b.wrap(b.head + 1)
	b.n--
	b.run--
	b.filled--
	return e
}

// makeEdge builds an edge in the set-up's direction.
func makeEdge(pull bool, base, neighbour, weight, number uint32) (e edge) {
	e[isa.PegSrc], e[isa.PegDst], e[isa.PegWt], e[isa.PegIdx] = base, neighbour, weight, number
	if pull {
		e[isa.PegSrc], e[isa.PegDst] = neighbour, base
	}
	return e
}
