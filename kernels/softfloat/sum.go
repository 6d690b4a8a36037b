package softfloat

import "heddle/kernels/ir"

// Add is x + y.
func Add(b *ir.Builder, x, y Double) Double {
	swap := less(b, magnitude(b, x), magnitude(b, y))
	large := Double{b.Select(swap, y.Hi, x.Hi), b.Select(swap, y.Lo, x.Lo)}
	small := Double{b.Select(swap, x.Hi, y.Hi), b.Select(swap, x.Lo, y.Lo)}
	m, n := unpack(b, large), unpack(b, small)
	differ := b.Shr(b.Xor(x.Hi, y.Hi), b.U32(31)) // 1: the signs do
	shifted, rest := aligned(b, n.mantissa, b.Sub(m.exponent, n.exponent))

	// A difference is a sum with the complement, in three words.
	mask := b.Sub(b.U32(0), differ)
	rest, carry := sum(b, b.Xor(rest, mask), differ)
	lo, carry1 := sum(b, m.mantissa.Lo, b.Xor(shifted.Lo, mask))
	lo, carry2 := sum(b, lo, carry)
	hi := b.Add(b.Add(m.mantissa.Hi, b.Xor(shifted.Hi, mask)), b.Or(carry1, carry2))
	s := &shifting{b, b.Var(hi), b.Var(lo), b.Var(rest), b.Var(m.exponent)}
	s.halve()
	when(b, b.Lt(s.hi.Get(), b.U32(hidden)), s.normalise)

	zero := b.Eq(b.Or(s.hi.Get(), s.lo.Get()), b.U32(0)) // then the rest is none as well
	exponent := b.Select(zero, b.U32(1), s.exponent.Get())
	total := pack(b, exponent, Double{s.hi.Get(), s.lo.Get()}, s.rest.Get())
	minus := b.Select(zero, sign(b, b.And(x.Hi, y.Hi)), sign(b, large.Hi))
	outHi, outLo := b.Var(b.Or(total.Hi, minus)), b.Var(total.Lo)
	when(b, b.Ge(m.class, b.U32(classInfinite)), func() { // the larger one is, if either is
		cancel := b.And(b.Eq(n.class, b.U32(classInfinite)), b.Ne(differ, b.U32(0)))
		nan := b.Or(cancel, b.Eq(m.class, b.U32(classNaN)))
		outHi.Set(b.Select(nan, b.U32(notANumber), large.Hi))
		outLo.Set(b.U32(0))
	})
	return Double{outHi.Get(), outLo.Get()}
}

// Sub is x - y.
func Sub(b *ir.Builder, x, y Double) Double { return Add(b, x, Neg(b, y)) }

// aligned shifts a mantissa right by so many bits, and returns the bits that leave it, of which the last is sticky.
func aligned(b *ir.Builder, m Double, by ir.Value) (shifted Double, rest ir.Value) {
	by = b.Min(by, b.U32(95)) // behind that only the sticky bit remains
	one, two := b.Eq(b.Shr(by, b.U32(5)), b.U32(1)), b.Eq(b.Shr(by, b.U32(5)), b.U32(2))
	zero := b.U32(0)
	lost := b.Select(two, m.Lo, zero)
	rest = b.Select(two, m.Hi, b.Select(one, m.Lo, zero))
	lo := b.Select(two, zero, b.Select(one, m.Hi, m.Lo))
	hi := b.Select(b.Or(one, two), zero, m.Hi)
	n := b.And(by, b.U32(31))
	up := b.Xor(n, b.U32(31)) // and one more
	over := func(x ir.Value) ir.Value { return b.Shl(b.Shl(x, b.U32(1)), up) }
	lost = b.Or(lost, over(rest))
	rest = b.Or(b.Or(b.Shr(rest, n), over(lo)), some(b, lost))
	return Double{b.Shr(hi, n), b.Or(b.Shr(lo, n), over(hi))}, rest
}

// shifting is a mantissa with a rest.
type shifting struct {
	*ir.Builder
	hi, lo, rest, exponent *ir.Variable
}

// halve shifts a mantissa right by a bit if it has one more than it should.
func (s *shifting) halve() {
	up := s.Shr(s.hi.Get(), s.U32(fracBits+1))
	mask := s.Sub(s.U32(0), up)
	hi, lo, rest := s.hi.Get(), s.lo.Get(), s.rest.Get()
	s.rest.Set(s.Or(s.Or(s.Shr(rest, up), s.And(s.Shl(lo, s.U32(31)), mask)), s.And(rest, up)))
	s.lo.Set(s.Or(s.Shr(lo, up), s.And(s.Shl(hi, s.U32(31)), mask)))
	s.hi.Set(s.Shr(hi, up))
	s.exponent.Set(s.Add(s.exponent.Get(), up))
}

// normalise shifts a mantissa left until it has the hidden bit.
func (s *shifting) normalise() {
	for log := uint32(5); log < 6; log-- {
		n := uint32(1) << log
		hi, lo := s.hi.Get(), s.lo.Get()
		var empty ir.Value // the upper bits
		if n == 32 {
			empty = s.Eq(s.Or(hi, s.Shr(lo, s.U32(fracBits+1))), s.U32(0))
		} else {
			empty = s.Eq(s.Shr(hi, s.U32(fracBits+1-n)), s.U32(0))
		}
		rest, zero := s.rest.Get(), s.U32(0)
		if n == 32 {
			s.hi.Set(s.Select(empty, lo, hi))
			s.lo.Set(s.Select(empty, rest, lo))
			s.rest.Set(s.Select(empty, zero, rest))
		} else {
			by, up := s.U32(n), s.U32(32-n)
			s.hi.Set(s.Select(empty, s.Or(s.Shl(hi, by), s.Shr(lo, up)), hi))
			s.lo.Set(s.Select(empty, s.Or(s.Shl(lo, by), s.Shr(rest, up)), lo))
			s.rest.Set(s.Select(empty, s.Shl(rest, by), rest))
		}
		s.exponent.Set(s.Sub(s.exponent.Get(), s.Select(empty, s.U32(n), zero)))
	}
}

// Neg is -x.
func Neg(b *ir.Builder, x Double) Double { return Double{b.Xor(x.Hi, b.U32(signBit)), x.Lo} }

// Abs is |x|.
func Abs(b *ir.Builder, x Double) Double { return magnitude(b, x) }

func magnitude(b *ir.Builder, x Double) Double { return Double{b.And(x.Hi, b.U32(signBit-1)), x.Lo} }

// isNaN reports whether x is none.
func isNaN(b *ir.Builder, x Double) ir.Value {
	return less(b, Double{b.U32(infinity), b.U32(0)}, magnitude(b, x))
}

// ordered reports whether both are numbers.
func ordered(b *ir.Builder, x, y Double) ir.Value { return b.Not(b.Or(isNaN(b, x), isNaN(b, y))) }

// zeros reports whether both are 0.
func zeros(b *ir.Builder, x, y Double) ir.Value {
	return b.Eq(b.Or(b.Shl(b.Or(x.Hi, y.Hi), b.U32(1)), b.Or(x.Lo, y.Lo)), b.U32(0))
}

// Eq reports whether x = y.
func Eq(b *ir.Builder, x, y Double) ir.Value {
	same := b.And(b.Eq(x.Hi, y.Hi), b.Eq(x.Lo, y.Lo))
	return b.And(b.Or(same, zeros(b, x, y)), ordered(b, x, y))
}

// Lt reports whether x < y.
func Lt(b *ir.Builder, x, y Double) ir.Value {
	key := func(x Double) Double { // numbers in their order, as unsigned ones
		minus := b.AsU32(b.Shr(b.AsI32(x.Hi), b.U32(31)))
		return Double{b.Xor(x.Hi, b.Or(minus, b.U32(signBit))), b.Xor(x.Lo, minus)}
	}
	return b.And(b.And(less(b, key(x), key(y)), b.Not(zeros(b, x, y))), ordered(b, x, y))
}

// Le reports whether x ≤ y.
func Le(b *ir.Builder, x, y Double) ir.Value { return b.And(b.Not(Lt(b, y, x)), ordered(b, x, y)) }

// FromI32 converts x.
func FromI32(b *ir.Builder, x ir.Value) Double {
	bits := b.AsU32(x)
	minus := b.AsU32(b.Shr(x, b.U32(31)))
	d := FromU32(b, b.Sub(b.Xor(bits, minus), minus))
	return Double{b.Or(d.Hi, b.And(minus, b.U32(signBit))), d.Lo}
}

// ToI32 truncates x, which an i32 must hold.
func ToI32(b *ir.Builder, x Double) ir.Value {
	e := exponent(b, x)
	word := b.Or(b.Or(b.Shl(b.And(x.Hi, b.U32(hidden-1)), b.U32(spare)), b.Shr(x.Lo, b.U32(32-spare))), b.U32(topBit))
	by := b.Min(b.Sub(b.U32(bias+31), e), b.U32(31)) // of a number below 1, 31 and a bit more
	n := b.Select(b.Lt(e, b.U32(bias)), b.U32(0), b.Shr(word, by))
	minus := b.AsU32(b.Shr(b.AsI32(x.Hi), b.U32(31)))
	return b.AsI32(b.Sub(b.Xor(n, minus), minus))
}

// Floor returns the greatest whole number that is not above x.
func Floor(b *ir.Builder, x Double) Double {
	e := exponent(b, x)
	// the number of bits behind the point, of a number from 1 on
	bits := b.Sub(b.U32(bias+52), b.Max(b.Min(e, b.U32(bias+52)), b.U32(bias)))
	low := b.Lt(bits, b.U32(32))
	mask := b.Sub(b.Shl(b.U32(1), b.And(bits, b.U32(31))), b.U32(1))
	hi := b.Select(low, x.Hi, b.And(x.Hi, b.Not(mask)))
	lo := b.Select(low, b.And(x.Lo, b.Not(mask)), b.U32(0))
	fraction := b.Lt(e, b.U32(bias))
	hi, lo = b.Select(fraction, sign(b, x.Hi), hi), b.Select(fraction, b.U32(0), lo)
	nan := isNaN(b, x)
	outHi := b.Var(b.Select(nan, b.U32(notANumber), hi))
	outLo := b.Var(b.Select(nan, b.U32(0), lo))
	cut := b.Ne(b.Or(b.Xor(hi, x.Hi), b.Xor(lo, x.Lo)), b.U32(0))
	when(b, b.And(cut, b.Ne(sign(b, x.Hi), b.U32(0))), func() {
		one := One(b)
		below := Sub(b, Double{hi, lo}, one)
		outHi.Set(below.Hi)
		outLo.Set(below.Lo)
	})
	return Double{outHi.Get(), outLo.Get()}
}
