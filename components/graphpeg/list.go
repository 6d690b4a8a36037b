package graphpeg

import "fmt"

// fifo is a ring of words.
type fifo struct {
	ring    []uint32
	head, n int
}

func newFIFO(places int) fifo { return fifo{ring: make([]uint32, places)} }

func (f *fifo) free() int { return len(f.ring) - f.n }

func (f *fifo) push(v uint32) {
	i := f.head + f.n
	if i >= len(f.ring) {
		i -= len(f.ring)
	}
	f.ring[i] = v
	f.n++
}

func (f *fifo) pop() uint32 {
	v := f.ring[f.head]
	if f.head++; f.head == len(f.ring) {
		f.head = 0
	}
	f.n--
	return v
}

// popBack takes the newest.
func (f *fifo) popBack() uint32 {
	f.n--
	return f.at(f.n)
}

// at returns the i-th from the front.
func (f *fifo) at(i int) uint32 { return f.ring[(f.head+i)%len(f.ring)] }

// maxRefills is how many lines of a list may be on their way back (ours).
const maxRefills = 8

// list is one vertex-list of one core: first in, first out. Its oldest vertices are in
// head, its newest in tail, both on chip; what does not fit in between has gone to memory, by
// line, to a region that is used as a ring.
//
//	push → tail → (spill) memory (refill) → head → take
//
// While there is nothing in memory or tail, pushes go to head.
type list struct {
	head, tail fifo
	line       int // words
	lines      int // of the region
	region     uint32
	first      int // the oldest line in memory that has not been asked for
	spilled    int // lines in memory that have not
	refills    [maxRefills]refill
	oldest     int // of refills, a ring
	coming     int // how many of them are under way or wait for an older one
}

// refill is a line on its way to head, where its place is reserved.
type refill struct {
	addr    uint32
	arrived bool
}

// newList makes a list with that many words on chip: at the end a line that is to be
// spilled and a push of lanes words, before them the head.
func newList(words, lanes, line, lines int) list {
	return list{head: newFIFO(words - line - lanes), tail: newFIFO(line + lanes), line: line, lines: lines}
}

// size is how many vertices the list has, wherever they are.
func (l *list) size() int { return l.head.n + l.tail.n + l.line*(l.spilled+l.coming) }

// ready is how many can be taken now.
func (l *list) ready() int {
	if l.spilled+l.coming > 0 {
		return l.head.n
	}
	return l.head.n + l.tail.n
}

// isWhole reports whether nothing is behind head.
func (l *list) isWhole() bool { return l.spilled+l.coming+l.tail.n == 0 }

// room reports whether n vertices can be pushed now.
func (l *list) room(n int) bool {
	free := l.tail.free()
	if l.isWhole() {
		free += l.head.free()
	}
	return n <= free
}

func (l *list) push(v uint32) {
	if l.isWhole() && l.head.free() > 0 {
		l.head.push(v)
		return
	}
	l.tail.push(v)
}

// take takes the oldest vertex, which must be ready.
func (l *list) take() uint32 {
	if l.head.n > 0 {
		return l.head.pop()
	}
	return l.tail.pop()
}

// wantsSpill reports whether tail may not take the next push.
func (l *list) wantsSpill() bool { return l.tail.free() < len(l.tail.ring)-l.line }

// overflows reports whether the region has no line left to spill to.
func (l *list) overflows() bool { return l.spilled+l.coming == l.lines }

func (l *list) address(line int) uint32 { return l.region + uint32(line%l.lines*l.line*4) }

// spill moves the oldest line of tail to memory, at addr.
func (l *list) spill(mem Memory) (addr uint32) {
	addr = l.address(l.first + l.spilled)
	for i := range l.line {
		mem.Store32(addr+uint32(4*i), l.tail.pop())
	}
	l.spilled++
	return addr
}

// wantsRefill reports whether a line in memory has a place in head.
func (l *list) wantsRefill() bool {
	return l.spilled > 0 && l.coming < maxRefills && l.head.free() >= l.line*(l.coming+1)
}

// refill asks for the oldest line in memory: its address, and what arrive is to be told.
func (l *list) refill() (addr uint32, ticket int) {
	addr, ticket = l.address(l.first), (l.oldest+l.coming)%maxRefills
	l.refills[ticket] = refill{addr: addr}
	l.coming++
	l.spilled--
	l.first = (l.first + 1) % l.lines
	return addr, ticket
}

// arrive is told that a line has come. Lines go to head in their order.
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
		l.head.push(mem.Load32(addr + uint32(4*i)))
	}
}

// last takes the newest vertex on chip; ok is false if it is not there: memory has newer
// ones than head, or the list is empty.
func (l *list) last() (v uint32, ok bool) {
	switch {
	case l.tail.n > 0:
		return l.tail.popBack(), true
	case l.spilled+l.coming == 0 && l.head.n > 0:
		return l.head.popBack(), true
	}
	return 0, false
}

// unspill asks for the newest line in memory. Its data is at addr.
func (l *list) unspill() (addr uint32) {
	l.spilled--
	return l.address(l.first + l.spilled)
}

// reload brings the newest line in memory back to tail, which is empty, at no cost.
func (l *list) reload(mem Memory) {
	addr := l.unspill()
	for i := range l.line {
		l.tail.push(mem.Load32(addr + uint32(4*i)))
	}
}

// append is the host's push, which takes no time: what does not fit goes to memory.
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

// contents is what the host reads, in order.
func (l *list) contents(mem Memory) (all []uint32) {
	for i := range l.head.n {
		all = append(all, l.head.at(i))
	}
	for i := range l.coming {
		all = l.lineAt(l.refills[(l.oldest+i)%maxRefills].addr, mem, all)
	}
	for i := range l.spilled {
		all = l.lineAt(l.address(l.first+i), mem, all)
	}
	for i := range l.tail.n {
		all = append(all, l.tail.at(i))
	}
	return all
}

func (l *list) lineAt(addr uint32, mem Memory, all []uint32) []uint32 {
	for i := range l.line {
		all = append(all, mem.Load32(addr+uint32(4*i)))
	}
	return all
}

// clear empties the list, which no refill may be under way for.
func (l *list) clear() {
	l.head.head, l.head.n, l.tail.head, l.tail.n = 0, 0, 0, 0
	l.first, l.spilled, l.oldest, l.coming = 0, 0, 0, 0
}
