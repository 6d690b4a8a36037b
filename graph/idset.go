package graph

import (
	"maps"
	"math/bits"
	"slices"
)

// idSet numbers the vertices that occur in a list, in the order of their ids.
type idSet interface {
	// collect adds a column's ids.
	collect(c *column)
	// number numbers the collected ids, and returns how many there are.
	number() int
	// rename replaces a column's ids by their numbers.
	rename(c *column)
}

// newIDSet returns a set for that many edges with ids up to highest: a bit vector if it is never much larger than the
// edges.
func newIDSet(highest, edges int) idSet {
	if highest > 32*edges+1<<23 {
		return hashSet{}
	}
	return &bitSet{used: make([]uint64, highest/64+1)}
}

// bitSet has a bit for each possible id.
type bitSet struct {
	used  []uint64
	below []uint32 // how many bits are set in the words before
}

func (s *bitSet) collect(c *column) {
	for _, b := range c.blocks() {
		for _, id := range b {
			s.used[id/64] |= 1 << (id % 64)
		}
	}
}

func (s *bitSet) number() int {
	s.below = make([]uint32, len(s.used))
	n := 0
	for i, w := range s.used {
		s.below[i] = uint32(n)
		n += bits.OnesCount64(w)
	}
	return n
}

func (s *bitSet) rename(c *column) {
	c.change(func(id uint32) uint32 {
		return s.below[id/64] + uint32(bits.OnesCount64(s.used[id/64]&(1<<(id%64)-1)))
	})
}

// hashSet has an entry for each id.
type hashSet map[uint32]uint32

func (s hashSet) collect(c *column) {
	for _, b := range c.blocks() {
		for _, id := range b {
			if _, ok := s[id]; !ok {
				s[id] = 0
			}
		}
	}
}

func (s hashSet) number() int {
	for n, id := range slices.Sorted(maps.Keys(s)) {
		s[id] = uint32(n)
	}
	return len(s)
}

func (s hashSet) rename(c *column) { c.change(func(id uint32) uint32 { return s[id] }) }
