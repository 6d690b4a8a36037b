package softfloat

import "heddle/kernels/ir"

// Classes of numbers, as bits: the union of two operands' classes determines the class of their product.
const (
	classOrdinary = 0 // normal, or subnormal
	classZero     = 1
	classInfinite = 2
	classNaN      = 4
)

// number is a Double in parts. A subnormal has a normalised mantissa with the hidden bit, and an exponent of 0 or less.
type number struct {
	exponent ir.Value
	mantissa Double
	class    ir.Value
}

// normalised returns the mantissa with the hidden bit as the word's most significant bit.
func (n *number) normalised(b *ir.Builder) Double {
	m := n.mantissa
	return Double{b.Or(b.Shl(m.Hi, b.U32(spare)), b.Shr(m.Lo, b.U32(32-spare))), b.Shl(m.Lo, b.U32(spare))}
}

func unpack(b *ir.Builder, x Double) *number {
	fraction := b.And(x.Hi, b.U32(hidden-1))
	e, hi, lo, class := b.Var(exponent(b, x)), b.Var(b.Or(fraction, b.U32(hidden))), b.Var(x.Lo),
		b.Var(b.U32(classOrdinary))
	when(b, outside(b, e.Get(), 1, infinite), func() {
		empty := b.Eq(b.Or(fraction, x.Lo), b.U32(0))
		b.If(b.Eq(e.Get(), b.U32(infinite)), func() {
			class.Set(b.Select(empty, b.U32(classInfinite), b.U32(classNaN)))
		}, func() {
			class.Set(b.Select(empty, b.U32(classZero), b.U32(classOrdinary)))
			e.Set(b.U32(1))
			hi.Set(fraction)
			b.While(func() ir.Value { return b.And(b.Lt(hi.Get(), b.U32(hidden)), b.Not(empty)) }, func() {
				e.Set(b.Sub(e.Get(), b.U32(1)))
				hi.Set(b.Or(b.Shl(hi.Get(), b.U32(1)), b.Shr(lo.Get(), b.U32(31))))
				lo.Set(b.Shl(lo.Get(), b.U32(1)))
			})
		})
	})
	return &number{e.Get(), Double{hi.Get(), lo.Get()}, class.Get()}
}

// pack rounds a mantissa by the rest behind it: the rest's most significant bit is worth a half, and the others are
// sticky. The number has no sign.
func pack(b *ir.Builder, exponent ir.Value, m Double, rest ir.Value) Double {
	e, hi, lo, r := b.Var(exponent), b.Var(m.Hi), b.Var(m.Lo), b.Var(rest)
	when(b, outside(b, exponent, 1, infinite), func() {
		b.If(b.Gt(b.AsI32(exponent), b.I32(0)), func() { // overflow to infinity
			e.Set(b.U32(infinite))
			hi.Set(b.U32(hidden))
			lo.Set(b.U32(0))
			r.Set(b.U32(0))
		}, func() { // subnormal
			e.Set(b.AsU32(b.Max(b.AsI32(exponent), b.I32(-64)))) // below, only the sticky bits remain
			b.While(func() ir.Value { return b.Lt(b.AsI32(e.Get()), b.I32(1)) }, func() {
				r.Set(b.Or(b.Shl(lo.Get(), b.U32(31)), down(b, r.Get())))
				lo.Set(b.Or(b.Shl(hi.Get(), b.U32(31)), b.Shr(lo.Get(), b.U32(1))))
				hi.Set(b.Shr(hi.Get(), b.U32(1)))
				e.Set(b.Add(e.Get(), b.U32(1)))
			})
		})
	})
	low, carry := sum(b, lo.Get(), roundsUp(b, lo.Get(), r.Get()))
	high := b.Add(b.Shl(b.Sub(e.Get(), b.U32(1)), b.U32(fracBits)), hi.Get()) // the hidden bit adds 1 to the exponent
	return Double{b.Add(high, carry), low}
}

// combined returns the product with its sign if both numbers are ordinary, and otherwise the result of their classes.
func combined(b *ir.Builder, product Double, sign, class, other ir.Value) Double {
	hi, lo := b.Var(b.Or(product.Hi, sign)), b.Var(product.Lo)
	both := b.Or(class, other)
	when(b, b.Ne(both, b.U32(classOrdinary)), func() {
		large := b.Select(b.Eq(both, b.U32(classInfinite)), b.U32(infinity), b.U32(0))
		hi.Set(b.Select(b.Gt(both, b.U32(classInfinite)), b.U32(notANumber), b.Or(large, sign)))
		lo.Set(b.U32(0))
	})
	return Double{hi.Get(), lo.Get()}
}

// inverse returns the class of 1/x.
func inverse(b *ir.Builder, class ir.Value) ir.Value {
	swapped := b.Or(b.Shr(b.And(class, b.U32(classInfinite)), b.U32(1)),
		b.Shl(b.And(class, b.U32(classZero)), b.U32(1)))
	return b.Or(b.And(class, b.U32(classNaN)), swapped)
}

// when runs body in the lanes with p.
func when(b *ir.Builder, p ir.Value, body func()) { b.If(p, body, nil) }

// outside reports whether an exponent lies outside [first, below), the range of normal numbers.
func outside(b *ir.Builder, exponent ir.Value, first, below uint32) ir.Value {
	return b.Ge(b.Sub(exponent, b.U32(first)), b.U32(below-first))
}

// exponent returns x's biased exponent.
func exponent(b *ir.Builder, x Double) ir.Value {
	return b.Shr(b.Shl(x.Hi, b.U32(1)), b.U32(fracBits+1))
}

func sign(b *ir.Builder, word ir.Value) ir.Value { return b.And(word, b.U32(signBit)) }

// roundsUp is 1 if the rest exceeds a half, or equals a half and the number is odd.
func roundsUp(b *ir.Builder, number, rest ir.Value) ir.Value {
	return flag(b, b.Lt(b.Sub(b.U32(topBit), b.And(number, b.U32(1))), rest))
}

// down shifts a rest right by one bit, keeping the lost bit sticky.
func down(b *ir.Builder, rest ir.Value) ir.Value {
	return b.Or(b.Shr(rest, b.U32(1)), b.And(rest, b.U32(1)))
}

func flag(b *ir.Builder, p ir.Value) ir.Value { return b.ToU32(p) }

// some is 1 where x is not 0.
func some(b *ir.Builder, x ir.Value) ir.Value { return flag(b, b.Ne(x, b.U32(0))) }

// sum returns x + y and the carry.
func sum(b *ir.Builder, x, y ir.Value) (s, carry ir.Value) {
	s = b.Add(x, y)
	return s, flag(b, b.Lt(s, y))
}

// plus returns x + y of two words each, and the carry.
func plus(b *ir.Builder, x, y Double) (s Double, carry ir.Value) {
	lo, up := sum(b, x.Lo, y.Lo)
	hi, carry1 := sum(b, x.Hi, y.Hi)
	hi, carry2 := sum(b, hi, up)
	return Double{hi, lo}, b.Or(carry1, carry2)
}

// difference returns x - y of two words each.
func difference(b *ir.Builder, x, y Double) Double {
	borrow := flag(b, b.Lt(x.Lo, y.Lo))
	return Double{b.Sub(b.Sub(x.Hi, y.Hi), borrow), b.Sub(x.Lo, y.Lo)}
}

// less reports whether x < y, of two words each.
func less(b *ir.Builder, x, y Double) ir.Value {
	return b.Or(b.Lt(x.Hi, y.Hi), b.And(b.Eq(x.Hi, y.Hi), b.Lt(x.Lo, y.Lo)))
}
