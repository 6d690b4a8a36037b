package eval

import (
	"math"
	"math/bits"
	"slices"

	"heddle/graphit"
)

// Value is a number or a truth value. Which of its fields count follows from the expression's type.
type Value struct {
	// I is an integer that its type holds, or a truth value: 0 or 1.
	I int64
	// F is a real number, computed in float64, and E the error bound of a computation in float32 or float64, whatever the
	// order of sums and whether or not a product and a sum are fused. For a truth value, E above 0 means that rounding
	// decides it.
	F, E float64
	// Any are the values that it may have, if several threads have raced to write it; nil: I is the value.
	Any []int64
	// Unreached marks an integer that equals its type's maximum because the program assigned that literally, to denote
	// unreached, and not as a computed value.
	Unreached bool
}

// Truth is a truth value.
func Truth(b bool) Value {
	if b {
		return Value{I: 1}
	}
	return Value{}
}

// Int is an integer.
func Int(n int64) Value { return Value{I: n} }

// u is the unit roundoff of float32, and tiny the largest error of a result that is subnormal.
const (
	u    = 0x1p-24
	u64  = 0x1p-53 // of float64
	tiny = 0x1p-150
)

// rounded is a real number that a float32 computation has rounded once, with an error that came with its operands.
func rounded(f, e float64) Value {
	if least := math.Abs(f) - e; math.IsInf(float64(float32(least)), 1) { // too large for float32, whatever the error
		return Value{F: math.Copysign(math.Inf(1), f)}
	}
	if e == 0 {
		return Value{F: f, E: distance(f)}
	}
	return Value{F: f, E: e + u*(math.Abs(f)+e) + tiny}
}

// round is rounded, or of a computation in float64 that does the same as this one.
func round(double bool, f, e float64) Value {
	switch {
	case !double:
		return rounded(f, e)
	case e == 0:
		return Value{F: f}
	}
	return Value{F: f, E: e + 2*u64*(math.Abs(f)+e)} // of the two computations
}

// distance returns the distance from a number to the nearest float32.
func distance(f float64) float64 {
	near := float64(float32(f))
	if near == f || math.IsNaN(f) {
		return 0
	}
	return math.Abs(near - f)
}

// wholes is the number from which on not every whole number is one of a type.
func wholes(double bool) float64 {
	if double {
		return 1 << 53
	}
	return 1 << 24
}

// exact reports whether a computation in float32, or in float64, has the same whole number.
func exact(double bool, v Value) bool {
	return v.E == 0 && v.F == math.Trunc(v.F) && math.Abs(v.F) < wholes(double)
}

// convert converts a value between types. double is set if the second has two words.
func convert(v Value, from, to *graphit.Type, double bool) Value {
	switch {
	case to.IsReal() && !from.IsReal():
		return round(double, float64(v.I), 0)
	case to.Kind == graphit.Uint && v.I < 0: // -1 is the greatest
		v.I = int64(uint32(v.I))
		v.Unreached = v.I == math.MaxUint32
	}
	return v
}

// greatest is an integer type's greatest number.
func greatest(t *graphit.Type) int64 {
	if t.Wide {
		return math.MaxInt64
	}
	if t.Kind == graphit.Uint {
		return math.MaxUint32
	}
	return math.MaxInt32
}

// holdsInteger reports whether an integer type has a number.
func holdsInteger(t *graphit.Type, n int64) bool {
	if t.Wide {
		return n >= 0
	}
	if t.Kind == graphit.Uint {
		return n == int64(uint32(n))
	}
	return n == int64(int32(n))
}

// inType is an integer result of a type: of unsigned ones modulo 2^32; false: the type does not hold it.
func inType(t *graphit.Type, n int64) (int64, bool) {
	if t.Kind == graphit.Uint && !t.Wide {
		return int64(uint32(n)), true
	}
	return n, holdsInteger(t, n)
}

// wideArithmetic is an operation on integers of 64 bits from 0 on; false: the result is beyond them.
func wideArithmetic(op string, x, y int64) (int64, bool) {
	switch op {
	case "+":
		return x + y, x+y >= 0
	case "-":
		return x - y, x >= y
	case "*":
		high, low := bits.Mul64(uint64(x), uint64(y))
		return int64(low), high == 0 && int64(low) >= 0
	}
	return x / y, true
}

// integerArithmetic is an operation on integers of 32 bits, exactly: none of the results is beyond 64 bits.
func integerArithmetic(op string, x, y int64) int64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	return x / y
}

func realArithmetic(op string, x, y Value, double bool) Value {
	switch op {
	case "+":
		return round(double, x.F+y.F, x.E+y.E)
	case "-":
		return round(double, x.F-y.F, x.E+y.E)
	case "*":
		return round(double, x.F*y.F, math.Abs(x.F)*y.E+math.Abs(y.F)*x.E+x.E*y.E)
	}
	f := x.F / y.F
	switch {
	case x.E == 0 && y.E == 0:
		return round(double, f, 0)
	case math.Abs(y.F) <= y.E:
		return Value{F: f, E: math.Inf(1)}
	}
	return round(double, f, (x.E+math.Abs(f)*y.E)/(math.Abs(y.F)-y.E))
}

// compare is a comparison of numbers, of reals or integers. Racing writes and errors may leave it undecided.
func compare(op string, real bool, x, y Value) Value {
	if real {
		v := Truth(holds(op, x.F, y.F))
		if x.E+y.E > 0 && math.Abs(x.F-y.F) <= x.E+y.E {
			v.E = 1
		}
		return v
	}
	v := Truth(holds(op, x.I, y.I))
	for _, a := range all(x) {
		for _, b := range all(y) {
			if holds(op, a, b) != (v.I == 1) {
				v.E = 1
			}
		}
	}
	return v
}

func all(v Value) []int64 {
	if v.Any == nil {
		return []int64{v.I}
	}
	return v.Any
}

func holds[T int64 | float64](op string, x, y T) bool {
	switch op {
	case "==":
		return x == y
	case "!=":
		return x != y
	case "<":
		return x < y
	case "<=":
		return x <= y
	case ">":
		return x > y
	}
	return x >= y
}

// logic is an operation on truth values: decided if one of them decides it.
func logic(op string, x, y Value) Value {
	switch op {
	case "and":
		if x.I == 0 && x.E == 0 || y.I == 0 && y.E == 0 {
			return Value{}
		}
		return Value{I: x.I & y.I, E: max(x.E, y.E)}
	case "or":
		if x.I == 1 && x.E == 0 || y.I == 1 && y.E == 0 {
			return Value{I: 1}
		}
		return Value{I: x.I | y.I, E: max(x.E, y.E)}
	}
	return Value{I: x.I ^ y.I, E: max(x.E, y.E)}
}

// data is a vector of the reference: the fields of Value, by element.
type data struct {
	of   *graphit.Type
	wide bool  // its numbers take two words
	most int64 // the greatest integer
	i    []int64
	f, e []float64

	raced map[int][]int64 // elements that several threads have written different values to in one operator
	epoch uint32          // of the operator that runs

	wrote []uint32 // by element, the epoch in which it was last written by = in an operator
	// For sums in the current operator: the number of terms, and the magnitudes of the terms and of the initial value.
	added []uint32
	terms []uint32
	size  []float64
	whole []bool
	sums  []int // elements that have been added to
	// over are the elements that sums in the operator that runs have made larger than an element may be when it ends.
	over map[int]graphit.Pos
}

func newData(t *graphit.Type, n int, wide bool) *data {
	d := &data{of: t, wide: wide, most: greatest(t), raced: map[int][]int64{}, wrote: make([]uint32, n)}
	if t.Wide && !wide {
		d.most = math.MaxUint32
	}
	if t.IsReal() {
		d.f, d.e = make([]float64, n), make([]float64, n)
		d.added, d.terms, d.size, d.whole = make([]uint32, n), make([]uint32, n), make([]float64, n), make([]bool, n)
	} else {
		d.i = make([]int64, n)
	}
	return d
}

// ElementBytes is the memory of an element of a vector of the reference's.
func ElementBytes(t *graphit.Type) int {
	const integer, real = 8 + 4, 8 + 8 + 4 + 4 + 4 + 8 + 1
	if t.IsReal() {
		return real
	}
	return integer
}

// holds reports whether an element may be a number.
func (d *data) holds(n int64) bool { return holdsInteger(d.of, n) && n <= d.most }

func (d *data) len() int { return len(d.wrote) }

func (d *data) get(n int) Value {
	if d.f != nil {
		return Value{F: d.f[n], E: d.e[n]}
	}
	v := Value{I: d.i[n], Unreached: d.i[n] == d.most}
	if len(d.raced) > 0 {
		v.Any = d.raced[n]
	}
	return v
}

func (d *data) set(n int, v Value) {
	if d.f != nil {
		d.f[n], d.e[n] = v.F, v.E
		return
	}
	d.i[n] = v.I
	if len(d.raced) > 0 || v.Any != nil {
		delete(d.raced, n)
		if v.Any != nil {
			d.raced[n] = v.Any
		}
	}
}

// race records an assignment by an edge's function, which others of the same operator may precede or follow. false: the
// values differ and are real numbers, not all of which are kept.
func (d *data) race(n int, v Value) bool {
	if d.wrote[n] != d.epoch {
		d.wrote[n] = d.epoch
		d.set(n, v)
		return true
	}
	if d.f != nil {
		return d.f[n] == v.F
	}
	was := all(d.get(n))
	for _, x := range all(v) {
		if !slices.Contains(was, x) {
			was = append(slices.Clone(was), x)
		}
	}
	d.i[n] = v.I
	if len(was) > 1 {
		d.raced[n] = was
	}
	return true
}

// add adds a term, and reports whether it changed anything. The sum's error is added when the operator ends, since the
// terms may come in any order; for the same reason a sum of integers may exceed its type in between.
func (d *data) add(n int, v Value, pos graphit.Pos) bool {
	if d.f == nil {
		sum, ok := inType(d.of, d.i[n]+v.I)
		ok = ok && d.holds(sum)
		if d.of.Wide && sum < 0 {
			tooLarge(pos, "the sum", math.MaxInt64, d.of)
		}
		if !ok {
			if d.over == nil {
				d.over = map[int]graphit.Pos{}
			}
			d.over[n] = pos
		}
		d.set(n, Int(sum))
		return v.I != 0
	}
	if d.added[n] != d.epoch {
		d.added[n] = d.epoch
		d.terms[n], d.size[n] = 0, math.Abs(d.f[n])+d.e[n]
		d.whole[n] = exact(d.wide, Value{F: d.f[n], E: d.e[n]})
		d.sums = append(d.sums, n)
	}
	d.terms[n]++
	d.size[n] += math.Abs(v.F) + v.E
	d.whole[n] = d.whole[n] && exact(d.wide, v)
	d.f[n] += v.F
	d.e[n] += v.E
	return v.F != 0
}

// tooLarge returns the first element outside its range when an operator ends; false: none.
func (d *data) tooLarge() (n int, pos graphit.Pos, found bool) {
	for at, p := range d.over {
		if (!found || at < n) && !d.holds(d.i[at]) {
			n, pos, found = at, p, true
		}
	}
	return n, pos, found
}

// settle ends an operator.
func (d *data) settle() {
	clear(d.over)
	for _, n := range d.sums {
		if d.whole[n] && d.size[n] < wholes(d.wide) {
			continue
		}
		k := float64(d.terms[n]) * u
		if d.wide {
			k = float64(d.terms[n]) * 2 * u64 // of the two computations
		}
		d.e[n] += k/(1-k)*d.size[n] + tiny
	}
	d.sums = d.sums[:0]
	d.epoch++
}

// least is min= or max=.
func (d *data) least(n int, v Value, max bool) bool {
	old := d.get(n)
	if d.f != nil {
		if better := v.F < old.F; better != max && v.F != old.F {
			d.set(n, Value{F: v.F, E: math.Max(v.E, old.E)})
			return true
		}
		if v.E+old.E > 0 && math.Abs(v.F-old.F) <= v.E+old.E {
			d.e[n] = math.Max(v.E, old.E)
		}
		return false
	}
	if better := v.I < old.I; better != max && v.I != old.I {
		d.set(n, v)
		return true
	}
	return false
}
