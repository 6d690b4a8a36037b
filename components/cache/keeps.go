package cache

import "slices"

// passing is the tag index of a fill that is not kept.
const passing = -1

// span is a range of lines, without its end.
type span struct{ from, to uint32 }

// ReadOnly tells the cache of memory that nobody writes, of which it takes whole lines.
func (c *Cache) ReadOnly(addr uint32, bytes uint64) {
	shift := c.lineShift & 31
	s := span{uint32((uint64(addr) + uint64(c.spec.LineBytes) - 1) >> shift), uint32((uint64(addr) + bytes) >> shift)}
	if c.spec.Keeps != ReadOnly || s.from >= s.to {
		return
	}
	i, _ := slices.BinarySearchFunc(c.readOnly, s.from, func(at span, from uint32) int {
		return int(int64(at.from) - int64(from))
	})
	c.readOnly = slices.Insert(c.readOnly, i, s)
}

// keepsLine reports whether a fill of the line is kept.
func (b *bank) keepsLine(line uint32) bool {
	switch b.keeps {
	case All:
		return true
	case Nothing:
		return false
	}
	for _, s := range *b.readOnly {
		if line < s.to {
			return line >= s.from
		}
	}
	return false
}
