package stats

import (
	"encoding/binary"
	"math"
)

// Part holds a tree's statistics of a part of a run, packed to a few bytes each: launches have thousands of parts.
// Ratios keep numerator and denominator. Confidence intervals are not kept, as counted statistics have none. The zero
// value is an empty tree.
type Part struct {
	names *names
	text  string // for each count its value; for each ratio numerator, denominator and, if that is 0, its value
}

// PackPart packs the statistics of a part of a run.
func PackPart(t Tree) Part {
	if len(t) == 0 {
		return Part{}
	}
	w := partWriter{text: make([]byte, 0, len(t))}
	for i := range t {
		s := &t[i]
		if !s.isF {
			w.put(s.count)
			continue
		}
		w.float(s.over)
		w.float(s.under)
		if s.under == 0 {
			w.float(s.ratio)
		}
	}
	w.flush()
	return Part{names: namesOf(t), text: string(w.text)}
}

// partWriter writes numbers, most of which are 0: a 0 is followed by the number of further zeros.
type partWriter struct {
	text  []byte
	zeros uint64
}

func (w *partWriter) put(v uint64) {
	if v == 0 {
		w.zeros++
		return
	}
	w.flush()
	w.text = binary.AppendUvarint(w.text, v)
}

// float writes numbers with few digits in few bytes.
func (w *partWriter) float(x float64) { w.put(reversed(math.Float64bits(x))) }

func (w *partWriter) flush() {
	if w.zeros > 0 {
		w.text = binary.AppendUvarint(append(w.text, 0), w.zeros-1)
		w.zeros = 0
	}
}

// Len is the number of statistics.
func (p Part) Len() int {
	if p.names == nil {
		return 0
	}
	return len(p.names.of)
}

// Tree unpacks it.
func (p Part) Tree() Tree {
	if p.names == nil {
		return nil
	}
	t, v := make(Tree, p.Len()), p.Values()
	for i := range t {
		t[i] = v.Next()
	}
	return t
}

// Plus adds the statistics of the part that follows.
func (p Part) Plus(next Tree) Part {
	t := p.Tree()
	for i := range t {
		t[i] = t[i].Plus(next[i])
	}
	return PackPart(t)
}

// Values unpacks it one statistic after the other.
func (p Part) Values() Values {
	if p.names == nil {
		return Values{}
	}
	return Values{of: p.names.of, rest: p.text}
}

// Values is a reader of a Part.
type Values struct {
	of    []Stat
	rest  string
	zeros uint64
}

// Next returns the next statistic. There must be one.
func (v *Values) Next() Stat {
	s := v.of[0]
	v.of = v.of[1:]
	if !s.isF {
		s.count = v.next()
		return s
	}
	over, under := v.float(), v.float()
	if s = s.of(over, under); under == 0 {
		s.ratio = v.float()
	}
	return s
}

func (v *Values) float() float64 { return math.Float64frombits(reversed(v.next())) }

func (v *Values) next() uint64 {
	if v.zeros > 0 {
		v.zeros--
		return 0
	}
	x := v.uvarint()
	if x == 0 {
		v.zeros = v.uvarint()
	}
	return x
}

// uvarint reads as binary.Uvarint does, of a string.
func (v *Values) uvarint() (x uint64) {
	for i := 0; ; i++ {
		b := v.rest[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			v.rest = v.rest[i+1:]
			return x
		}
	}
}
