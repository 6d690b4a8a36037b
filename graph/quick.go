package graph

import (
	"bytes"
	"math"

	"heddle/graph/graphspec"
)

// quickForm is the form of most lines of a text: two or three decimal numbers separated by blanks.
type quickForm struct {
	lead   byte   // that a line begins with, and a blank; 0: none
	base   uint64 // number of the first vertex
	last   uint64 // and the last one
	weight bool   // there is a third column
	always bool   // read even if not needed
	read   weightAt
	lower  bool // the first number is not below the second
	strict bool // it is above it
}

// weightAt reads a weight at b[i], and returns where it ends; 0: it is something else.
type weightAt func(b []byte, i int) (word uint32, end int)

// quick parses lines of a form within the buffer, at most that many, and returns their number. It stops at the first
// line of any other form, which the slow path reads, with precise errors.
func (r *reader) quick(f *quickForm, most int) (lines int) {
	b, _ := r.r.Peek(r.r.Buffered())
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	most = min(most, graphspec.MaxEdges-r.edges.len())
	keep, float := f.weight && r.weights, r.column.kind == FloatWeights
	switch {
	case !keep && !f.always:
		f.read = skipAt
	case float:
		f.read = floatAt
	default:
		f.read = integerAt
	}
	at := 0
	for lines < most && at < len(b) {
		e, next := f.line(b, at)
		if next == 0 {
			break
		}
		if keep && float {
			r.column.words.add(e.weight)
		} else if keep {
			r.column.addInt(int32(e.weight))
		}
		r.edges.add(e.src, e.dst)
		at, lines = next, lines+1
		if top := uint64(max(e.src, e.dst)); top > r.highest {
			r.highest, r.highestLine = top, r.n+lines
		}
	}
	r.n += lines
	r.r.Discard(at) //nolint:errcheck // it is in the buffer
	return lines
}

// quickEdge is an edge as a line has it.
type quickEdge struct{ src, dst, weight uint32 }

// line reads the line at b[i], which ends, and returns where the next begins; 0: it is something else.
func (f *quickForm) line(b []byte, i int) (e quickEdge, next int) {
	if f.lead != 0 {
		if b[i] != f.lead || !blank(b[i+1]) {
			return e, 0
		}
		i += 2
	}
	src, i := decimalAt(b, i)
	if i = blanksAt(b, i); i == 0 {
		return e, 0
	}
	dst, i := decimalAt(b, i)
	switch {
	case i == 0, src < f.base, dst < f.base, src > f.last, dst > f.last:
		return e, 0
	case f.lower && src < dst, f.strict && src == dst:
		return e, 0
	}
	e.src, e.dst = uint32(src-f.base), uint32(dst-f.base)
	if f.weight {
		if i = blanksAt(b, i); i == 0 {
			return e, 0
		}
		if e.weight, i = f.read(b, i); i == 0 {
			return e, 0
		}
	}
	if b[i] != '\n' {
		return e, 0
	}
	return e, i + 1
}

// decimalAt reads digits at b[i], and returns their end; 0: none, or more than ten.
func decimalAt(b []byte, i int) (n uint64, end int) {
	from := i
	for {
		d := uint64(b[i]) - '0'
		if d > 9 {
			break
		}
		n = n*10 + d
		i++
	}
	if i == from || i > from+10 {
		return 0, 0
	}
	return n, i
}

// blanksAt returns the end of the blanks at b[i]; 0: none, or no number before them, which is i = 0.
func blanksAt(b []byte, i int) (end int) {
	from := i
	for b[i] == ' ' || b[i] == '\t' || b[i] == ',' || b[i] == ';' {
		i++
	}
	if i == from || from == 0 {
		return 0
	}
	return i
}

// skipAt reads a weight that is not wanted.
func skipAt(b []byte, i int) (word uint32, end int) {
	from := i
	for !blank(b[i]) && b[i] != '\n' {
		i++
	}
	if i == from {
		return 0, 0
	}
	return 0, i
}

// floatAt reads a number of binary32, which may be an integer. Its digits and its power of ten must be numbers of
// binary32, too: a division of such is rounded as the number that is written there.
func floatAt(b []byte, i int) (word uint32, end int) {
	negative := b[i] == '-'
	if negative {
		i++
	}
	n, end := decimalAt(b, i)
	if end == 0 || b[end] != '.' {
		if negative {
			i--
		}
		word, end = integerAt(b, i)
		return math.Float32bits(float32(int32(word))), end
	}
	point := end
	for end++; b[end]-'0' <= 9; end++ {
		n = n*10 + uint64(b[end]-'0')
	}
	if n > 1<<24 || end-i > 11 {
		return 0, 0
	}
	x := float32(n) / powersOfTen[end-point-1]
	if negative {
		x = -x
	}
	return math.Float32bits(x), end
}

var powersOfTen = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

// integerAt reads an integer of 32 bits, which may have a minus sign.
func integerAt(b []byte, i int) (word uint32, end int) {
	most, sign := uint64(math.MaxInt32), uint32(1)
	if b[i] == '-' {
		i++
		most, sign = most+1, ^uint32(0)
	}
	n, end := decimalAt(b, i)
	if n > most {
		return 0, 0
	}
	return uint32(n) * sign, end
}
