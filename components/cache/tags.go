package cache

// invalid is a tag that no line has: lines are at least 4 bytes.
const invalid = ^uint32(0)

// tags says which lines a bank holds. A tag is the whole line number.
type tags struct {
	policy Replacement
	ways   int
	mask   uint32 // sets-1
	shift  int    // bank bits of a line number
	line   []uint32
	used   []uint64 // LRU: when each way was used
	clock  uint64   // LRU: uses so far
	next   []uint16 // FIFO: the way of a set's next fill
	random uint64
}

func newTags(s *Spec, bank int) tags {
	t := tags{
		policy: s.Replacement, ways: s.Ways, mask: uint32(s.Sets() - 1), shift: s.bankBits(),
		line:   make([]uint32, s.Sets()*s.Ways),
		random: splitmix(s.Seed + uint64(bank)),
	}
	for i := range t.line {
		t.line[i] = invalid
	}
	switch s.Replacement {
	case FIFO:
		t.next = make([]uint16, s.Sets())
	case LRU:
		t.used = make([]uint64, len(t.line))
	}
	return t
}

// splitmix spreads a seed over all bits; it gives 0 for one seed only, which
// xorshift could not leave.
func splitmix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return max(x^x>>31, 1)
}

func (t *tags) set(line uint32) int { return int(line >> t.shift & t.mask) }

// lookup tells whether the line is there, and notes its use.
func (t *tags) lookup(line uint32) bool {
	base := t.set(line) * t.ways
	for i, l := range t.line[base : base+t.ways] {
		if l == line {
			t.touch(base + i)
			return true
		}
	}
	return false
}

func (t *tags) touch(i int) {
	if t.policy == LRU {
		t.clock++
		t.used[i] = t.clock
	}
}

// fill puts the line in, which must not be there. It returns whether a valid line
// went out.
func (t *tags) fill(line uint32) (evicted bool) {
	set := t.set(line)
	i := set*t.ways + t.victim(set)
	evicted = t.line[i] != invalid
	t.line[i] = line
	t.touch(i)
	return evicted
}

// drop invalidates the line if it is there.
func (t *tags) drop(line uint32) bool {
	base := t.set(line) * t.ways
	for i, l := range t.line[base : base+t.ways] {
		if l == line {
			t.clear(base + i)
			return true
		}
	}
	return false
}

func (t *tags) victim(set int) int {
	switch t.policy {
	case LRU:
		return t.oldest(set)
	case Random:
		return t.free(set, t.draw()%t.ways)
	default:
		way := int(t.next[set])
		t.next[set] = uint16((way + 1) & (t.ways - 1))
		return way
	}
}

// oldest returns a set's way that was not used for longest; free ways are older
// than all.
func (t *tags) oldest(set int) int {
	base, way := set*t.ways, 0
	for i := 1; i < t.ways; i++ {
		if t.used[base+i] < t.used[base+way] {
			way = i
		}
	}
	return way
}

// free returns a free way of a set, or else.
func (t *tags) free(set, or int) int {
	for i := range t.ways {
		if t.line[set*t.ways+i] == invalid {
			return i
		}
	}
	return or
}

// draw is xorshift64.
func (t *tags) draw() int {
	t.random ^= t.random << 13
	t.random ^= t.random >> 7
	t.random ^= t.random << 17
	return int(t.random >> 33)
}

// flush invalidates a set. FIFO's count stays, as in the RTL.
func (t *tags) flush(set int) {
	for i := set * t.ways; i < (set+1)*t.ways; i++ {
		t.clear(i)
	}
}

func (t *tags) clear(i int) {
	t.line[i] = invalid
	if t.policy == LRU {
		t.used[i] = 0
	}
}
