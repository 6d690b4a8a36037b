package cache

import "slices"

// invalid is the tag of no line: lines have at least 4 bytes.
const invalid = ^uint32(0)

// tags are the tags and the replacement state of a bank. A way has a tag, which is its group's number, and room for the
// group's lines, its sectors; with one sector a group is a line. An index is that of a line; those of a way are
// neighbours.
type tags struct {
	policy  Replacement
	ways    int
	sectors int      // of a way; a power of two
	split   int      // its logarithm
	mask    uint32   // sets-1
	shift   int      // bits of a line's number that tell sectors and banks apart
	inverse uint64   // by which groups' numbers are divided, for a number of banks that is no power of two; else 0
	line    []uint32 // by index
	group   []uint32 // by way: its tag; nil with one sector, where line has it
	dirty   []bool   // by index, write-back: written since it was filled
	used    []uint64 // LRU: time of each way's last use
	clock   uint64   // LRU: number of uses
	next    []uint16 // FIFO: by set, the way of the next fill
	random  uint64
	out     []victim // of the last fill
}

func newTags(s *Spec, bank int) tags {
	ways := s.Sets() * s.Ways
	t := tags{
		policy: s.Replacement, ways: s.Ways, sectors: s.sectors(), split: s.split(), mask: uint32(s.Sets() - 1),
		shift: s.split() + s.bankBits(), inverse: s.inverse(), line: make([]uint32, ways*s.sectors()), out: make([]victim, 0, s.sectors()),
		random: splitmix(s.Seed + uint64(bank)),
	}
	for i := range t.line {
		t.line[i] = invalid
	}
	if t.split > 0 {
		t.group = slices.Repeat([]uint32{invalid}, ways)
	}
	if s.WritePolicy == Back {
		t.dirty = make([]bool, len(t.line))
	}
	switch s.Replacement {
	case FIFO:
		t.next = make([]uint16, s.Sets())
	case LRU:
		t.used = make([]uint64, ways)
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

// set returns the set of a line.
func (t *tags) set(line uint32) int {
	if t.inverse != 0 {
		return int(quotientOf(line>>(t.split&31), t.inverse) & t.mask)
	}
	return int(line >> (t.shift & 31) & t.mask)
}

// find returns the line's index, or -1.
func (t *tags) find(line uint32) int {
	base := t.set(line) * t.ways
	if t.split > 0 {
		return t.sector(base, line)
	}
	for i, l := range t.line[base : base+t.ways] {
		if l == line {
			return base + i
		}
	}
	return -1
}

// sector is find with more than one sector. base is the first way of the line's set.
func (t *tags) sector(base int, line uint32) int {
	if way := t.way(base, line); way >= 0 {
		if i := t.index(way, line); t.line[i] == line {
			return i
		}
	}
	return -1
}

// way returns the way that has the line's group, or -1; base is the first one of its set.
func (t *tags) way(base int, line uint32) int {
	group := line >> (t.split & 31)
	for i, g := range t.group[base : base+t.ways] {
		if g == group {
			return base + i
		}
	}
	return -1
}

// index returns the index that a line has in a way.
func (t *tags) index(way int, line uint32) int { return way<<(t.split&31) | int(line)&(t.sectors-1) }

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
		t.used[i>>(t.split&31)] = t.clock
	}
}

// victim is an evicted line.
type victim struct {
	line         uint32
	valid, dirty bool
}

// holds reports whether index i holds the line.
func (t *tags) holds(i int, line uint32) bool { return t.line[i] == line }

// fill installs the line, which must be absent. It returns the evicted lines, until the next fill, and the new line's
// index.
func (t *tags) fill(line uint32) (out []victim, i int) {
	set := t.set(line)
	t.out = t.out[:0]
	if t.split > 0 {
		i = t.fillSector(set, line)
	} else if i = set*t.ways + t.choose(set); t.line[i] != invalid {
		t.evict(i)
	}
	t.line[i] = line
	t.touch(i)
	return t.out, i
}

// fillSector makes room for a sector: in the way of its group, or in one that all lines of another group leave.
func (t *tags) fillSector(set int, line uint32) (i int) {
	way := t.way(set*t.ways, line)
	if way < 0 {
		way = set*t.ways + t.choose(set)
		for i := way << t.split; i < (way+1)<<t.split; i++ {
			t.evict(i)
		}
		t.group[way] = line >> t.split
	}
	return t.index(way, line)
}

// evict removes the line at an index, if one is there, for a fill.
func (t *tags) evict(i int) {
	if v := t.remove(i); v.valid {
		t.out = append(t.out, v)
	}
}

// remove invalidates an index, and returns its line. A way without lines is free.
func (t *tags) remove(i int) victim {
	out := victim{line: t.line[i], valid: t.line[i] != invalid}
	if t.dirty != nil {
		out.dirty, t.dirty[i] = t.dirty[i], false
	}
	t.line[i] = invalid
	way := i >> (t.split & 31)
	if t.split > 0 {
		if !t.empty(way) {
			return out
		}
		t.group[way] = invalid
	}
	if t.policy == LRU {
		t.used[way] = 0
	}
	return out
}

// empty reports whether a way has no line.
func (t *tags) empty(way int) bool {
	for _, l := range t.line[way<<t.split : (way+1)<<t.split] {
		if l != invalid {
			return false
		}
	}
	return true
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
	tag := t.line
	if t.split > 0 {
		tag = t.group
	}
	for i := range t.ways {
		if tag[set*t.ways+i] == invalid {
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
	for i := set * t.ways << t.split; i < (set+1)*t.ways<<t.split; i++ {
		if t.line[i] != invalid {
			t.remove(i)
		}
	}
}
