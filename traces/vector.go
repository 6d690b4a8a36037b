package traces

import (
	"math/bits"

	"heddle/isa/emu"
)

// lanes is a value for each lane of a warp.
type lanes [maxLanes]uint32

const maxLanes = emu.MaxThreads

// vector encodes the successive values that one instruction of one warp has in its lanes. It keeps each lane's last
// value.
type vector struct{ last lanes }

// Forms of a vector. A form below formRepeat is itself the zigzag difference, the same in all lanes.
const (
	formRepeat = 240 + iota // each lane's last value plus one difference, which follows
	formStride              // the first lane's difference, and the increment per lane number
	formTime                // each lane's difference from its last value
	formSpace               // the first lane's difference from its last value, then each lane's from the previous lane
	formTimeWide
	formSpaceWide
	numForms
)

// Columns of a vector, from its first: the forms, the differences' low bytes, and their remaining bytes.
const (
	partForm = iota
	partLow
	partHigh
)

func zigzag(d uint32) uint32   { return d<<1 ^ uint32(int32(d)>>31) }
func unzigzag(z uint32) uint32 { return z>>1 ^ -(z & 1) }

// differences of a vector, over time and over lanes.
type differences struct {
	time, space         [32]uint32 // zigzag
	n                   int
	timeBits, spaceBits int
	anyTime, anySpace   uint32
	repeat, strided     bool
	step                uint32 // of a strided one
}

// encode appends the values of the lanes in mask, shifted right, to columns.
func (v *vector) encode(c []column, mask uint32, shift uint8, x *lanes) {
	var d differences
	v.compare(&d, mask, shift, x)
	switch {
	case d.repeat && d.time[0] < formRepeat:
		c[partForm].byte(byte(d.time[0]))
	case d.repeat:
		c[partForm].byte(formRepeat)
		c[partHigh].uvarint(uint64(d.time[0]))
	case d.strided:
		c[partForm].byte(formStride)
		c[partHigh].uvarint(uint64(d.time[0]))
		c[partHigh].uvarint(uint64(zigzag(d.step)))
	case d.timeBits <= d.spaceBits:
		put(c, formTime, formTimeWide, d.time[:d.n], d.anyTime)
	default:
		put(c, formSpace, formSpaceWide, d.space[:d.n], d.anySpace)
	}
}

// compare computes the differences, and keeps the values.
func (v *vector) compare(d *differences, mask uint32, shift uint8, x *lanes) {
	first := bits.TrailingZeros32(mask)
	before := v.last[first&31]
	at, start := first, x[first&31]>>shift
	d.repeat, d.strided = true, true
	for ; mask != 0; mask &= mask - 1 {
		l := bits.TrailingZeros32(mask)
		y := x[l] >> shift
		t, s := zigzag(y-v.last[l]), zigzag(y-before)
		d.time[d.n], d.space[d.n] = t, s
		d.timeBits, d.spaceBits = d.timeBits+bits.Len32(t), d.spaceBits+bits.Len32(s)
		d.anyTime, d.anySpace = d.anyTime|t, d.anySpace|s
		d.repeat = d.repeat && t == d.time[0]
		switch d.n {
		case 0:
		case 1:
			gap := int32(l - at)
			d.step = uint32(int32(y-start) / gap)
			d.strided = d.step*uint32(gap) == y-start
		default:
			d.strided = d.strided && y == start+d.step*uint32(l-first)
		}
		before, v.last[l] = y, y
		d.n++
	}
}

func put(c []column, narrow, wide byte, z []uint32, any uint32) {
	low := &c[partLow]
	if any < 256 {
		c[partForm].byte(narrow)
		for _, x := range z {
			low.byte(byte(x))
		}
		return
	}
	c[partForm].byte(wide)
	for _, x := range z {
		low.byte(byte(x))
		c[partHigh].uvarint(uint64(x >> 8))
	}
}

// decode reads the values of the lanes in mask; those of other lanes are meaningless. Errors are recorded in the
// columns. A decoder's last values are already shifted back.
func (v *vector) decode(c []cursor, mask uint32, shift uint8, x *lanes) {
	switch form := c[partForm].byte(); {
	case form == 0:
	case form < formRepeat:
		v.add(mask, unzigzag(uint32(form))<<shift)
	case form == formRepeat:
		v.add(mask, unzigzag(c[partHigh].uvarint32())<<shift)
	case form == formStride:
		d := unzigzag(c[partHigh].uvarint32()) << shift
		v.stride(mask, d, unzigzag(c[partHigh].uvarint32())<<shift)
	case form < numForms:
		v.each(c, form, mask, shift)
	default:
		c[partForm].fail()
	}
	*x = v.last
}

const allLanes = 1<<32 - 1

func (v *vector) add(mask, d uint32) {
	if mask == allLanes {
		for l := range v.last {
			v.last[l] += d
		}
		return
	}
	for ; mask != 0; mask &= mask - 1 {
		v.last[bits.TrailingZeros32(mask)] += d
	}
}

// stride adds d to the first lane; the other lanes follow from it.
func (v *vector) stride(mask, d, step uint32) {
	first := bits.TrailingZeros32(mask)
	next := v.last[first&31] + d
	if mask == allLanes {
		for l := range v.last {
			v.last[l] = next
			next += step
		}
		return
	}
	for m := mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		v.last[l] = next + step*uint32(l-first)
	}
}

// each reads one difference per lane.
func (v *vector) each(c []cursor, form byte, mask uint32, shift uint8) {
	wide := form == formTimeWide || form == formSpaceWide
	space := form == formSpace || form == formSpaceWide
	before := v.last[bits.TrailingZeros32(mask)&31]
	low := c[partLow].take(bits.OnesCount32(mask))
	for _, b := range low {
		l := bits.TrailingZeros32(mask) & 31
		mask &= mask - 1
		z := uint32(b)
		if wide {
			z |= c[partHigh].uvarint32() << 8
		}
		if !space {
			before = v.last[l]
		}
		before += unzigzag(z) << shift
		v.last[l] = before
	}
}
