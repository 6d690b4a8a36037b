package softfloat

import (
	"math"

	"heddle/kernels/ir"
)

// LogError bounds the relative error of Log.
const LogError = 4 * 0x1p-53

// Const is a number.
func Const(b *ir.Builder, x float64) Double {
	bits := math.Float64bits(x)
	return Double{b.U32(uint32(bits >> 32)), b.U32(uint32(bits))}
}

// ln 2 in two parts: the first has so few bits that its products with exponents are exact.
const (
	ln2High = 0x1.62e42feep-01
	ln2Low  = 0x1.a39ef35793c76p-33
)

// Log returns the natural logarithm of a positive normal number.
func Log(b *ir.Builder, x Double) Double {
	// x = 2^e·m with m from √½ to √2, and log m = 2·atanh(s) = 2s + 2s³/3 + 2s⁵/5 + … for s = (m-1)/(m+1), |s| < 0.172
	const rootHalf = 0x3FE6A09E // its upper word
	up := b.Add(x.Hi, b.U32(bias<<fracBits-rootHalf))
	e := FromI32(b, b.Sub(b.AsI32(b.Shr(up, b.U32(fracBits))), b.I32(bias)))
	m := Double{b.Add(b.And(up, b.U32(hidden-1)), b.U32(rootHalf)), x.Lo}
	one := One(b)
	f := Sub(b, m, one)
	s := Div(b, f, Add(b, m, one))
	z := Mul(b, s, s)
	rest := Const(b, 2.0/25)
	for n := 23.0; n >= 3; n -= 2 {
		rest = Add(b, Mul(b, rest, z), Const(b, 2/n))
	}
	// 2s = f - s·f, where f carries no rounding error
	tail := Sub(b, Mul(b, Mul(b, rest, z), s), Mul(b, s, f))
	tail = Add(b, tail, Mul(b, e, Const(b, ln2Low)))
	return Add(b, Mul(b, e, Const(b, ln2High)), Add(b, f, tail))
}
