// Package softfloat emits double-precision arithmetic for a core without doubles: integer instructions, in the manner
// of a C library's routines.
//
// Every result is IEEE 754's, rounded to nearest even; a NaN is the canonical one. There are no exception flags, as no
// kernel reads them. Numbers that are not normal take a separate path, as in C libraries; otherwise lanes do not
// diverge: the library's branches are replaced by masked computation in all lanes.
package softfloat

import "heddle/kernels/ir"

// Double is a number's IEEE 754 bits, in two u32.
type Double struct{ Hi, Lo ir.Value }

const (
	signBit = 1 << 31
	topBit  = 1 << 31 // a word's most significant bit

	bias       = 1023
	fracBits   = 20 // fraction bits in Hi
	hidden     = 1 << fracBits
	spare      = 31 - fracBits // bits above the hidden bit
	infinite   = 0x7FF         // exponent of infinities and NaNs
	infinity   = infinite << fracBits
	notANumber = infinity | hidden>>1

	bias32       = 127
	fracBits32   = 23
	hidden32     = 1 << fracBits32
	infinite32   = 0xFF
	infinity32   = infinite32 << fracBits32
	notANumber32 = infinity32 | hidden32>>1
	apart        = fracBits32 - fracBits // bits that a high word moves up to be an f32's
	rebias       = bias - bias32
)

// One is 1.
func One(b *ir.Builder) Double { return Double{b.U32(bias << fracBits), b.U32(0)} }

// FromU32 converts x.
func FromU32(b *ir.Builder, x ir.Value) Double {
	there := b.Sub(b.U32(0), some(b, x)) // all ones, or 0
	exponent := b.U32(bias + 31 - 1)     // the hidden bit adds 1 to the exponent
	for log := uint32(4); log < 5; log-- {
		empty := flag(b, b.Eq(b.Shr(x, b.U32(32-1<<log)), b.U32(0)))
		by := b.Shl(empty, b.U32(log))
		x, exponent = b.Shl(x, by), b.Sub(exponent, by)
	}
	hi := b.Add(b.Shl(exponent, b.U32(fracBits)), b.Shr(x, b.U32(spare)))
	return Double{b.And(hi, there), b.Shl(x, b.U32(32-spare))}
}

// FromF32 converts x.
func FromF32(b *ir.Builder, x ir.Value) Double {
	bits := b.And(b.AsU32(x), b.U32(signBit-1))
	exponent := b.Shr(bits, b.U32(fracBits32))
	hi := b.Var(b.Add(b.Shr(bits, b.U32(apart)), b.U32(rebias<<fracBits)))
	lo, minus := b.Var(b.Shl(bits, b.U32(32-apart))), b.Var(sign(b, b.AsU32(x)))
	when(b, outside(b, exponent, 1, infinite32), func() {
		b.If(b.Eq(exponent, b.U32(infinite32)), func() {
			nan := b.Gt(bits, b.U32(infinity32))
			minus.Set(b.Select(nan, b.U32(0), minus.Get()))
			hi.Set(b.Select(nan, b.U32(notANumber), b.U32(infinity)))
			lo.Set(b.U32(0))
		}, func() {
			e, m := b.Var(b.U32(rebias+1)), b.Var(bits)
			b.While(func() ir.Value { return b.And(b.Lt(m.Get(), b.U32(hidden32)), b.Ne(bits, b.U32(0))) }, func() {
				e.Set(b.Sub(e.Get(), b.U32(1)))
				m.Set(b.Shl(m.Get(), b.U32(1)))
			})
			e.Set(b.Select(b.Eq(bits, b.U32(0)), b.U32(1), e.Get()))
			hi.Set(b.Add(b.Shl(b.Sub(e.Get(), b.U32(1)), b.U32(fracBits)), b.Shr(m.Get(), b.U32(apart))))
			lo.Set(b.Shl(m.Get(), b.U32(32-apart)))
		})
	})
	return Double{b.Or(hi.Get(), minus.Get()), lo.Get()}
}

// ToF32 rounds x.
func ToF32(b *ir.Builder, x Double) ir.Value {
	exponent, high := exponent(b, x), b.And(x.Hi, b.U32(signBit-1))
	low := b.Shr(x.Lo, b.U32(32-apart))
	bits := b.Var(b.Or(b.Shl(b.Sub(high, b.U32(rebias<<fracBits)), b.U32(apart)), low))
	rest, minus := b.Var(b.Shl(x.Lo, b.U32(apart))), b.Var(sign(b, x.Hi))
	when(b, outside(b, exponent, rebias+1, rebias+infinite32), func() {
		b.If(b.Gt(exponent, b.U32(rebias)), func() {
			nan := b.Or(b.Gt(high, b.U32(infinity)), b.And(b.Eq(high, b.U32(infinity)), b.Ne(x.Lo, b.U32(0))))
			minus.Set(b.Select(nan, b.U32(0), minus.Get()))
			bits.Set(b.Select(nan, b.U32(notANumber32), b.U32(infinity32)))
			rest.Set(b.U32(0))
		}, func() {
			fraction := b.Or(b.And(x.Hi, b.U32(hidden-1)), b.U32(hidden))
			bits.Set(b.Or(b.Shl(fraction, b.U32(apart)), low))
			e := b.Var(b.Max(exponent, b.U32(rebias-fracBits32-2))) // below, only the sticky bits remain
			b.While(func() ir.Value { return b.Le(e.Get(), b.U32(rebias)) }, func() {
				rest.Set(b.Or(b.Shl(bits.Get(), b.U32(31)), down(b, rest.Get())))
				bits.Set(b.Shr(bits.Get(), b.U32(1)))
				e.Set(b.Add(e.Get(), b.U32(1)))
			})
		})
	})
	rounded := b.Add(bits.Get(), roundsUp(b, bits.Get(), rest.Get()))
	return b.AsF32(b.Or(rounded, minus.Get()))
}

// Mul is x·y.
func Mul(b *ir.Builder, x, y Double) Double {
	m, n := unpack(b, x), unpack(b, y)
	p := product(b, m.mantissa, n.normalised(b)) // its most significant bit is number 115 or 116
	above := b.Shr(p[3], b.U32(fracBits))        // 1: it is at the hidden bit's position
	up := b.Xor(above, b.U32(1))
	for i := 3; i > 0; i-- {
		p[i] = b.Or(b.Shl(p[i], up), b.And(b.Shr(p[i-1], b.U32(31)), up))
	}
	rest := b.Or(p[1], some(b, b.Shl(p[0], up)))
	exponent := b.Add(b.Sub(b.Add(m.exponent, n.exponent), b.U32(bias)), above)
	return combined(b, pack(b, exponent, Double{p[3], p[2]}, rest), sign(b, b.Xor(x.Hi, y.Hi)), m.class, n.class)
}

// product returns x·y of integers, lowest word first.
func product(b *ir.Builder, x, y Double) [4]ir.Value {
	w1, carry1 := sum(b, b.MulHi(x.Lo, y.Lo), b.Mul(x.Lo, y.Hi))
	w1, carry2 := sum(b, w1, b.Mul(x.Hi, y.Lo))
	w2, carry3 := sum(b, b.MulHi(x.Lo, y.Hi), b.Add(carry1, carry2))
	w2, carry4 := sum(b, w2, b.MulHi(x.Hi, y.Lo))
	w2, carry5 := sum(b, w2, b.Mul(x.Hi, y.Hi))
	w3 := b.Add(b.MulHi(x.Hi, y.Hi), b.Add(b.Add(carry3, carry4), carry5))
	return [4]ir.Value{b.Mul(x.Lo, y.Lo), w1, w2, w3}
}

// Sqrt returns the square root of x.
func Sqrt(b *ir.Builder, x Double) Double {
	m := unpack(b, x)
	e := b.Sub(m.exponent, b.U32(bias))
	root, rest := rootOf(b, m.mantissa, b.And(e, b.U32(1)))
	half := b.AsU32(b.Shr(b.AsI32(e), b.U32(1)))
	r := pack(b, b.Add(half, b.U32(bias)), root, rest)
	hi, lo := b.Var(r.Hi), b.Var(r.Lo)
	when(b, b.Ne(b.Or(m.class, sign(b, x.Hi)), b.U32(0)), func() {
		itself := b.Or(b.Eq(m.class, b.U32(classZero)), b.Eq(x.Hi, b.U32(infinity)))
		itself = b.And(itself, b.Ne(m.class, b.U32(classNaN)))
		hi.Set(b.Select(itself, x.Hi, b.U32(notANumber)))
		lo.Set(b.U32(0))
	})
	return Double{hi.Get(), lo.Get()}
}

// rootOf returns the square root of a mantissa, or of twice the mantissa if odd is 1, and the remainder.
func rootOf(b *ir.Builder, m Double, odd ir.Value) (root Double, rest ir.Value) {
	r := &rooting{Builder: b, hi: b.Var(m.Hi), lo: b.Var(m.Lo), rootHi: b.Var(b.U32(0)), rootLo: b.Var(b.U32(0))}
	r.hi.Set(b.Or(b.Shl(m.Hi, odd), b.And(b.Shr(m.Lo, b.U32(31)), odd)))
	r.lo.Set(b.Shl(m.Lo, odd))
	r.next()
	r.eachBit(2*hidden, r.inHi)
	twice := b.Shl(r.rootHi.Get(), b.U32(1))
	r.eachBit(topBit, func(bit ir.Value) { r.inLo(bit, twice) })

	// The root has one bit more than a mantissa, which is never a tie: the square of such a number would have too many
	// bits.
	hi, lo := r.rootHi.Get(), r.rootLo.Get()
	root = Double{b.Shr(hi, b.U32(1)), b.Or(b.Shr(lo, b.U32(1)), b.Shl(hi, b.U32(31)))}
	return root, b.Or(b.Shl(lo, b.U32(31)), b.U32(1))
}

// rooting computes a square root bit by bit: it holds the bits so far and the remainder, which is shifted left with
// every bit.
type rooting struct {
	*ir.Builder
	hi, lo, rootHi, rootLo *ir.Variable
}

// eachBit iterates over a word's bits from the most significant down.
func (r *rooting) eachBit(first uint32, body func(bit ir.Value)) {
	bit := r.Var(r.U32(first))
	r.Loop(func(l *ir.Loop) {
		body(bit.Get())
		r.next()
		bit.Set(r.Shr(bit.Get(), r.U32(1)))
		l.BreakIf(r.Eq(bit.Get(), r.U32(0)))
	})
}

// next shifts the remainder left by a bit.
func (r *rooting) next() {
	lo := r.lo.Get()
	r.hi.Set(r.Or(r.Shl(r.hi.Get(), r.U32(1)), r.Shr(lo, r.U32(31))))
	r.lo.Set(r.Shl(lo, r.U32(1)))
}

// inHi determines a bit of the root's high word: it is 1 if twice the root plus the bit can be subtracted from the
// remainder.
func (r *rooting) inHi(bit ir.Value) {
	hi, part := r.hi.Get(), r.rootHi.Get()
	try := r.Add(r.Shl(part, r.U32(1)), bit)
	fits := r.Sub(flag(r.Builder, r.Lt(hi, try)), r.U32(1)) // all ones, or 0
	r.hi.Set(r.Sub(hi, r.And(try, fits)))
	r.rootHi.Set(r.Add(part, r.And(bit, fits)))
}

// inLo determines a bit of the low word. twice is two times the high word.
func (r *rooting) inLo(bit, twice ir.Value) {
	left, part := Double{r.hi.Get(), r.lo.Get()}, r.rootLo.Get()
	try := Double{r.Or(twice, r.Shr(part, r.U32(31))), r.Add(r.Shl(part, r.U32(1)), bit)}
	// The remainder has at most 24 bits in its high word, so the difference's most significant bit is its sign.
	negative := r.AsU32(r.Shr(r.AsI32(difference(r.Builder, left, try).Hi), r.U32(31)))
	fits := r.Not(negative)
	left = difference(r.Builder, left, Double{r.And(try.Hi, fits), r.And(try.Lo, fits)})
	r.hi.Set(left.Hi)
	r.lo.Set(left.Lo)
	r.rootLo.Set(r.Add(part, r.And(bit, fits)))
}

// Div returns x/y.
func Div(b *ir.Builder, x, y Double) Double {
	m, n := unpack(b, x), unpack(b, y)
	left, d := m.normalised(b), n.normalised(b)
	// The dividend is x's mantissa, halved unless it is the smaller of the two: the quotient's most significant bit is
	// then known.
	fits := b.Xor(flag(b, less(b, left, d)), b.U32(1))
	left = Double{b.Shr(left.Hi, fits), b.Or(b.Shr(left.Lo, fits),
		b.And(b.Shl(left.Hi, b.U32(31)), b.Sub(b.U32(0), fits)))}
	hi, left := quotient(b, left, d)
	lo, left := quotient(b, left, d)
	rest := b.Or(b.Shl(lo, b.U32(32-spare)), some(b, b.Or(left.Hi, left.Lo)))
	q := Double{b.Shr(hi, b.U32(spare)), b.Or(b.Shl(hi, b.U32(32-spare)), b.Shr(lo, b.U32(spare)))}
	exponent := b.Add(b.Add(b.Sub(m.exponent, n.exponent), b.U32(bias-1)), fits)
	return combined(b, pack(b, exponent, q, rest), sign(b, b.Xor(x.Hi, y.Hi)), m.class, inverse(b, n.class))
}

// quotient returns 2³²·n/d, a word, and the remainder, for integers n < d, where d's most significant bit is set.
func quotient(b *ir.Builder, n, d Double) (q ir.Value, left Double) {
	// The first estimate divides by d's high word and may be too large. n's high word is at most d's; if equal, the
	// word is all ones.
	q, r := divide(b, n.Hi, n.Lo, d.Hi)
	same := b.Eq(n.Hi, d.Hi)
	whole, carry := sum(b, n.Lo, d.Hi)
	q, r = b.Select(same, b.U32(^uint32(0)), q), b.Select(same, whole, r)
	over := b.And(carry, flag(b, same))

	high, low := b.MulHi(q, d.Lo), b.Mul(q, d.Lo)
	borrow := some(b, low)
	left = Double{b.Sub(b.Sub(r, high), borrow), b.Sub(b.U32(0), low)}
	below := b.Or(flag(b, b.Lt(r, high)), b.And(flag(b, b.Eq(r, high)), borrow))
	negative := b.Sub(over, below) // all ones, or 0
	for range 2 {
		q = b.Add(q, negative)
		var more ir.Value
		left, more = plus(b, left, Double{b.And(d.Hi, negative), b.And(d.Lo, negative)})
		negative = b.Add(negative, more)
	}
	return q, left
}

// divide returns hi:lo/d and the remainder, where hi < d and d's most significant bit is set. The core divides words:
// half of the quotient at a time, by d's upper half.
func divide(b *ir.Builder, hi, lo, d ir.Value) (q, left ir.Value) {
	by, rest := b.Shr(d, b.U32(16)), b.And(d, b.U32(0xFFFF))
	half := func(n, more ir.Value) (q, left ir.Value) {
		q = b.Div(n, by)
		left, take := b.Or(b.Shl(b.Rem(n, by), b.U32(16)), more), b.Mul(q, rest)
		short := b.Lt(left, take)
		for range 2 {
			q = b.Sub(q, flag(b, short))
			left = b.Add(left, b.And(d, b.Sub(b.U32(0), flag(b, short))))
			short = b.And(b.Lt(left, take), b.Ge(left, d)) // if left ≥ d, the sum carried out of the word
		}
		return q, b.Sub(left, take)
	}
	first, left := half(hi, b.Shr(lo, b.U32(16)))
	second, left := half(left, b.And(lo, b.U32(0xFFFF)))
	return b.Or(b.Shl(first, b.U32(16)), second), left
}
