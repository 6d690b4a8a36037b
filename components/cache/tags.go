package cache

// invalid is the tag of no line: lines have at least 4 bytes.
const invalid = ^uint32(0)

// tags are the tags and the replacement state of a bank. A tag is the whole line number.
type tags struct {
	policy Replacement
	ways   int
	mask   uint32 // sets-1
	shift  int    // number of bank bits in a line number
	banks  uint32 // divisor of line numbers for a number of banks that is no power of two; else 0
	line   []uint32
	dirty  []bool   // write-back: written since it was filled
	used   []uint64 // LRU: time of each way's last use
	clock  uint64   // LRU: number of uses
	next   []uint16 // FIFO: by set, the way of the next fill
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

// splitmix spreads a seed over all bits. It never returns 0, a fixed point of xorshift.
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

// find returns the line's index, or -1.
func (t *tags) find(line uint32) int {
	base := t.set(line) * t.ways
	for i, l := range t.line[base : base+t.ways] {
		if l == line {
			return base + i
		}
	}
	return -1
}

// lookup reports whether the line is present, and records its use.
func (t *tags) lookup(line uint32) bool {
	i := t.find(line)
	if i >= 0 {
		t.touch(i)
	}
	return i >= 0
}

// write marks the line, which must be present, as dirty.
func (t *tags) write(line uint32) { t.dirty[t.find(line)] = true }

func (t *tags) touch(i int) {
	if t.policy == LRU {
		t.clock++
		t.used[i] = t.clock
	}
}

// victim is an evicted line.
type victim struct {
	line         uint32
	valid, dirty bool
}

// holds reports whether index i holds the line.
func (t *tags) holds(i int, line uint32) bool { return t.line[i] == line }

// fill installs the line, which must be absent. It returns the evicted line and the new line's index.
func (t *tags) fill(line uint32) (out victim, i int) {
	set := t.set(line)
	i = set*t.ways + t.choose(set)
	out = t.remove(i)
	t.line[i] = line
	t.touch(i)
	return out, i
}

// remove invalidates a way, and returns its line.
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

// drop removes the line if it is present.
func (t *tags) drop(line uint32) victim {
	if i := t.find(line); i >= 0 {
		return t.remove(i)
	}
	return victim{}
}

// choose returns the way for a fill of the set.
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

// turn returns the next way of a set in FIFO order, and advances it; the number of ways is arbitrary.
func (t *tags) turn(set int) int {
	way := int(t.next[set])
	after := way + 1
	if after == t.ways {
		after = 0
	}
	t.next[set] = uint16(after)
	return way
}

// oldest returns a set's least recently used way; free ways count as older than all others.
func (t *tags) oldest(set int) int {
	base, way := set*t.ways, 0
	for i := 1; i < t.ways; i++ {
		if t.used[base+i] < t.used[base+way] {
			way = i
		}
	}
	return way
}

// free returns a free way of a set, or the value or.
func (t *tags) free(set, or int) int {
	for i := range t.ways {
		if t.line[set*t.ways+i] == invalid {
			return i
		}
	}
	return or
}

// draw returns a pseudo-random number (xorshift64).
func (t *tags) draw() int {
	t.random ^= t.random << 13
	t.random ^= t.random >> 7
	t.random ^= t.random << 17
	return int(t.random >> 33)
}

// flush invalidates a set. FIFO's position stays, as in the RTL.
func (t *tags) flush(set int) {
	for i := set * t.ways; i < (set+1)*t.ways; i++ {
		t.remove(i)
	}
}
