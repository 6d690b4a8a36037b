package graphpeg

import (
	"fmt"

	"heddle/components/queue"
)

// fifo is a queue of words.
type fifo = queue.Queue[uint32]

// free returns the number of free entries of a queue.
func free(f *fifo) int { return f.Capacity() - f.Len() }

// maxRefills is the number of lines of a list that may be in flight from memory (ours).
const maxRefills = 8

// list is one vertex-list of one core, a FIFO. Its oldest vertices are in head and its newest in tail, both on chip;
// those in between that do not fit are in memory, by line, in a region used as a ring.
//
//	push → tail → (spill) memory (refill) → head → take
//
// While memory and tail are empty, pushes go to head.
type list struct {
	head, tail fifo
	line       int // words
	lines      int // of the region
	region     uint32
	first      int // the oldest line in memory that has not been requested
	spilled    int // lines in memory that have not been requested
	refills    [maxRefills]refill
	oldest     int // index of the oldest refill: refills is a ring
	coming     int // refills that are in flight or wait for an older one
}

// refill is a line in flight to head, which has room for it.
type refill struct {
	addr    uint32
	arrived bool
}

// newList returns a list with that many words on chip: tail takes a line to be spilled and a push of lanes words, head
// the rest.
func newList(words, lanes, line, lines int, of *queue.Owner, name string) list {
	return list{
		head: queue.New[uint32](words-line-lanes, of, name+", oldest"),
		tail: queue.New[uint32](line+lanes, of, name+", newest"),
		line: line, lines: lines,
	}
}

// size returns the number of vertices in the list, on chip and in memory.
func (l *list) size() int { return l.head.Len() + l.tail.Len() + l.line*(l.spilled+l.coming) }

// ready returns the number of vertices that can be taken now.
func (l *list) ready() int {
	if l.spilled+l.coming > 0 {
		return l.head.Len()
	}
	return l.head.Len() + l.tail.Len()
}

// isWhole reports whether all vertices are in head.
func (l *list) isWhole() bool { return l.spilled+l.coming+l.tail.Len() == 0 }

// room reports whether n vertices can be pushed now.
func (l *list) room(n int) bool {
	room := free(&l.tail)
	if l.isWhole() {
		room += free(&l.head)
	}
	return n <= room
}

func (l *list) push(v uint32) {
	if l.isWhole() && free(&l.head) > 0 {
		l.head.Push(v)
		return
	}
	l.tail.Push(v)
}

// take removes the oldest vertex, which must be ready.
func (l *list) take() uint32 {
	if l.head.Len() > 0 {
		return l.head.Pop()
	}
	return l.tail.Pop()
}

// wantsSpill reports whether tail may lack room for the next push.
func (l *list) wantsSpill() bool { return free(&l.tail) < l.tail.Capacity()-l.line }

// overflows reports whether the region has no free line to spill to.
func (l *list) overflows() bool { return l.spilled+l.coming == l.lines }

func (l *list) address(line int) uint32 { return l.region + uint32(line%l.lines*l.line*4) }

// spill moves the oldest line of tail to memory, at addr.
func (l *list) spill(mem Memory) (addr uint32) {
	addr = l.address(l.first + l.spilled)
	for i := range l.line {
		mem.Store32(addr+uint32(4*i), l.tail.Pop())
	}
	l.spilled++
	return addr
}

// wantsRefill reports whether head has room for a line in memory.
func (l *list) wantsRefill() bool {
	return l.spilled > 0 && l.coming < maxRefills && free(&l.head) >= l.line*(l.coming+1)
}

// refill requests the oldest line in memory: it returns its address, and the ticket for arrive.
func (l *list) refill() (addr uint32, ticket int) {
	addr, ticket = l.address(l.first), (l.oldest+l.coming)%maxRefills
	l.refills[ticket] = refill{addr: addr}
	l.coming++
	l.spilled--
	l.first = (l.first + 1) % l.lines
	return addr, ticket
}

// arrive handles the arrival of a line. Lines enter head in order.
func (l *list) arrive(ticket int, mem Memory) {
	l.refills[ticket].arrived = true
	for l.coming > 0 && l.refills[l.oldest].arrived {
		l.load(l.refills[l.oldest].addr, mem)
		l.oldest = (l.oldest + 1) % maxRefills
		l.coming--
	}
}

func (l *list) load(addr uint32, mem Memory) {
	for i := range l.line {
		l.head.Push(mem.Load32(addr + uint32(4*i)))
	}
}

// last removes the newest vertex on chip; ok is false if it is not on chip: memory has newer ones than head, or the
// list is empty.
func (l *list) last() (v uint32, ok bool) {
	switch {
	case l.tail.Len() > 0:
		return l.tail.PopBack(), true
	case l.spilled+l.coming == 0 && l.head.Len() > 0:
		return l.head.PopBack(), true
	}
	return 0, false
}

// unspill removes the newest line in memory from the list, and returns its address.
func (l *list) unspill() (addr uint32) {
	l.spilled--
	return l.address(l.first + l.spilled)
}

// reload returns the newest line in memory to tail, which must be empty, in zero time.
func (l *list) reload(mem Memory) {
	addr := l.unspill()
	for i := range l.line {
		l.tail.Push(mem.Load32(addr + uint32(4*i)))
	}
}

// append is the host's push, in zero time: vertices that do not fit on chip go to memory.
func (l *list) append(v uint32, mem Memory) error {
	for !l.room(1) {
		if l.overflows() {
			return fmt.Errorf("the region of %d bytes is full (list_region)", 4*l.line*l.lines)
		}
		l.spill(mem)
	}
	l.push(v)
	return nil
}

// contents returns all vertices in order.
func (l *list) contents(mem Memory) (all []uint32) {
	for i := range l.head.Len() {
		all = append(all, *l.head.At(i))
	}
	for i := range l.coming {
		all = l.lineAt(l.refills[(l.oldest+i)%maxRefills].addr, mem, all)
	}
	for i := range l.spilled {
		all = l.lineAt(l.address(l.first+i), mem, all)
	}
	for i := range l.tail.Len() {
		all = append(all, *l.tail.At(i))
	}
	return all
}

func (l *list) lineAt(addr uint32, mem Memory, all []uint32) []uint32 {
	for i := range l.line {
		all = append(all, mem.Load32(addr+uint32(4*i)))
	}
	return all
}

// clear empties the list, which must not have a refill in flight.
func (l *list) clear() {
	l.head.Clear()
	l.tail.Clear()
	l.first, l.spilled, l.oldest, l.coming = 0, 0, 0, 0
}
