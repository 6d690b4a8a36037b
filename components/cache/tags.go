package cache

// invalid is a tag that no line has: lines are at least 4 bytes.
const invalid = ^uint32(0)

// tags says which lines a bank holds. A tag is the whole line number.
type tags struct {
	policy Replacement
	ways   int
	mask   uint32 // sets-1
	shift  int    // bank bits of a line number
	banks  uint32 // what a line number is divided by instead; 0: a power of two
	line   []uint32
	dirty  []bool   // write-back: was written since it came
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
	if s.Banks&(s.Banks-1) != 0 {
		t.banks = uint32(s.Banks)
	}
	for i := range t.line {
		t.line[i] = invalid
	}
	if s.WritePolicy == Back {
		t.dirty = make([]bool, len(t.line))
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

func (t *tags) set(line uint32) int {
	if t.banks != 0 {
		return int(line / t.banks & t.mask)
	}
	return int(line >> (t.shift & 31) & t.mask)
}

// find returns where the line is, or -1.
func (t *tags) find(line uint32) int {
	base := t.set(line) * t.ways
	for i, l := range t.line[base : base+t.ways] {
		if l == line {
			return base + i
		}
	}
	return -1
}

// lookup reports whether the line is there, and notes its use.
func (t *tags) lookup(line uint32) bool {
	i := t.find(line)
	if i >= 0 {
		t.touch(i)
	}
	return i >= 0
}

// write notes that the line, which is there, is newer than the next level's.
func (t *tags) write(line uint32) { t.dirty[t.find(line)] = true }

func (t *tags) touch(i int) {
	if t.policy == LRU {
		t.clock++
		t.used[i] = t.clock
	}
}

// victim is a line that went out.
type victim struct {
	line         uint32
	valid, dirty bool
}

// holds reports whether it is line i.
func (t *tags) holds(i int, line uint32) bool { return t.line[i] == line }

// fill puts the line in, which must not be there. It returns what went out, and where the line is.
func (t *tags) fill(line uint32) (out victim, i int) {
	set := t.set(line)
	i = set*t.ways + t.choose(set)
	out = t.remove(i)
	t.line[i] = line
	t.touch(i)
	return out, i
}

// remove frees a way.
func (t *tags) remove(i int) victim {
	out := victim{line: t.line[i], valid: t.line[i] != invalid}
	if t.dirty != nil {
		out.dirty, t.dirty[i] = t.dirty[i], false
	}
	t.line[i] = invalid
	if t.policy == LRU {
		t.used[i] = 0
	}
	return out
}

// drop takes the line out if it is there.
func (t *tags) drop(line uint32) victim {
	if i := t.find(line); i >= 0 {
		return t.remove(i)
	}
	return victim{}
}

// choose returns the way that a fill of the set takes.
func (t *tags) choose(set int) int {
	switch t.policy {
	case LRU:
		return t.oldest(set)
	case Random:
		return t.free(set, t.draw()%t.ways)
	default:
		return t.turn(set)
	}
}

// turn returns the way whose turn it is in a set, and moves on to the next; ways may be any number.
func (t *tags) turn(set int) int {
	way := int(t.next[set])
	after := way + 1
	if after == t.ways {
		after = 0
	}
	t.next[set] = uint16(after)
	return way
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
		t.remove(i)
	}
}
