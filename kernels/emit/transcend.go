package emit

import (
	"math"

	"heddle/kernels/ir"
)

// The machine has no instructions for logarithms and exponentials. These are the usual argument reductions, with series
// truncated below half a unit in the last place.

// ln2 in two parts: the first has so few bits that its products with exponents are exact.
const (
	ln2High = 0x1.62ep-01
	ln2Low  = 0x1.0bfbe8e7bcd5ep-15
)

// Log returns the natural logarithm of a positive normal number, with a relative error of at most LogError.
func (k *Kernel) Log(x ir.Value) ir.Value {
	// x = 2^e·m with m from √½ to √2, and log m = 2·atanh(s) = 2s + 2s³/3 + 2s⁵/5 + … for s = (m-1)/(m+1), |s| < 0.172
	const one, rootHalf = 0x3F800000, 0x3F3504F3
	bits := k.Add(k.AsU32(x), k.U32(one-rootHalf))
	e := k.ToF32(k.Sub(k.AsI32(k.Shr(bits, k.U32(23))), k.I32(127)))
	m := k.AsF32(k.Add(k.And(bits, k.U32(0x007FFFFF)), k.U32(rootHalf)))
	f := k.Sub(m, k.F32(1))
	s := k.Div(f, k.Add(m, k.F32(1)))
	z := k.Mul(s, s)
	rest := k.F32(2.0 / 9)
	for _, n := range []float32{7, 5, 3} {
		rest = k.FMA(rest, z, k.F32(2/n))
	}
	// 2s = f - s·f, where f carries no rounding error
	tail := k.FMA(k.Mul(rest, z), s, k.Neg(k.Mul(s, f)))
	tail = k.FMA(e, k.F32(ln2Low), tail)
	return k.FMA(e, k.F32(ln2High), k.Add(f, tail))
}

// LogError and ExpError bound the relative errors of Log and Exp.
const (
	LogError = 2 * 0x1p-24
	ExpError = 2 * 0x1p-24
)

// Exp returns e to the power of x, for x from about -87 to 0; below that it returns 0.
func (k *Kernel) Exp(x ir.Value) ir.Value {
	// x = n·ln 2 + r with |r| < 0.35, and the series to r⁷/7!
	n := k.ToI32(k.Sub(k.Mul(x, k.F32(math.Log2E)), k.F32(0.5))) // truncates towards 0, hence to the nearest
	by := k.ToF32(n)
	r := k.FMA(by, k.F32(-ln2High), x)
	r = k.FMA(by, k.F32(-ln2Low), r)
	p := k.F32(1.0 / 5040)
	for _, n := range []float32{720, 120, 24, 6, 2, 1, 1} {
		p = k.FMA(p, r, k.F32(1/n))
	}
	y := k.AsF32(k.Add(k.AsU32(p), k.AsU32(k.Shl(n, k.U32(23)))))
	return k.Select(k.Lt(x, k.F32(-87)), k.F32(0), y)
}
