package traces

import (
	"heddle/isa"
	"heddle/isa/emu"
)

// encoder writes the trace of one warp in one launch.
type encoder struct {
	memory
	columns [numColumns]column
	instrs  uint64 // since the last chunk
	turns   byte   // of the incomplete byte
	turnN   uint8

	asked  queue[answer]
	chosen queue[emu.Outcome]
}

// answer is a unit's answer, once it has arrived.
type answer struct {
	at      *site
	there   bool
	mask    uint32 // requesting lanes
	newMask uint32
	out     lanes
}

// queue holds values not yet known, in program order. Elements do not move until they have been taken.
type queue[T any] struct {
	list []*T // from head on in use; those before it are free
	head int
	free []*T
}

func (q *queue[T]) push() *T {
	var x *T
	if n := len(q.free); n > 0 {
		x, q.free = q.free[n-1], q.free[:n-1]
	} else {
		x = new(T)
	}
	if q.head == len(q.list) || q.head > 64 {
		q.list, q.head = q.list[:copy(q.list, q.list[q.head:])], 0
	}
	q.list = append(q.list, x)
	return x
}

func (q *queue[T]) empty() bool { return q.head == len(q.list) }
func (q *queue[T]) front() *T   { return q.list[q.head] }

func (q *queue[T]) pop() {
	q.free = append(q.free, q.list[q.head])
	q.head++
}

// turn writes one bit.
func (e *encoder) turn(taken bool) {
	if taken {
		e.turns |= 1 << e.turnN
	}
	if e.turnN++; e.turnN == 8 {
		e.endTurns()
	}
}

func (e *encoder) endTurns() {
	if e.turnN > 0 {
		e.columns[colTurns].byte(e.turns)
		e.turns, e.turnN = 0, 0
	}
}

// The parts of a control instruction's operands that changed since its last execution.
const (
	changedA = 1 << iota
	changedB
	changedPred
	changedAll = 1<<iota - 1
)

// control writes a control instruction's operands.
func (e *encoder) control(s *site, a isa.ControlArgs) {
	var changed byte
	for bit, same := range [...]bool{a.A == s.args.A, a.B == s.args.B, a.Pred == s.args.Pred} {
		if !same {
			changed |= 1 << bit
		}
	}
	c := &e.columns[colControl]
	c.byte(changed)
	if changed&changedA != 0 {
		c.uvarint(uint64(zigzag(a.A - s.args.A)))
	}
	if changed&changedB != 0 {
		c.uvarint(uint64(zigzag(a.B - s.args.B)))
	}
	if changed&changedPred != 0 {
		c.uvarint(uint64(a.Pred ^ s.args.Pred))
	}
	s.args = a
}

// address writes an instruction's target.
func (e *encoder) address(pc uint32) { e.columns[colControl].uvarint(uint64(pc)) }

func (e *encoder) addresses(s *site, mask uint32, size uint8, x *lanes) {
	s.vectors[0].encode(e.columns[colForms:], mask, shiftOf(size), x)
}

// shiftOf returns log2 of an access's size, of which addresses are multiples.
func shiftOf(size uint8) uint8 { return size >> 1 }

// settle writes the values that have become known.
func (e *encoder) settle() {
	for !e.asked.empty() && e.asked.front().there {
		a := e.asked.front()
		a.at.vectors[unitAnswer].encode(e.columns[colAnswers:], a.mask, 0, &a.out)
		e.columns[colAnswers].uvarint(uint64(a.mask ^ a.newMask))
		e.asked.pop()
	}
	for !e.chosen.empty() && e.chosen.front().Left == 0 {
		e.columns[colWrote].uvarint(uint64(e.chosen.front().Wrote))
		e.chosen.pop()
	}
}

// full reports whether a chunk should be written.
func (e *encoder) full(limit int) bool {
	return len(e.columns[colLow].b) >= limit || len(e.columns[colHigh].b) >= limit ||
		len(e.columns[colTurns].b) >= limit || len(e.columns[colControl].b) >= limit ||
		len(e.columns[colForms].b) >= limit
}

// holds reports whether there are data for a chunk.
func (e *encoder) holds() bool {
	for i := range e.columns {
		if len(e.columns[i].b) > 0 {
			return true
		}
	}
	return false
}
