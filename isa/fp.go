package isa

import "math"

// Rounding modes, as in the rm field and frm.
const (
	RNE       uint8 = iota // to nearest, ties to even
	RTZ                    // towards zero
	RDN                    // down
	RUP                    // up
	RMM                    // to nearest, ties away from zero
	RMDynamic uint8 = 7    // the rm field only: use frm
)

// Exception flags, as in fflags.
const (
	NX uint8 = 1 << iota // inexact
	UF                   // underflow
	OF                   // overflow
	DZ                   // divide by zero
	NV                   // invalid
)

// CanonicalNaN is the result of every operation that makes a NaN.
const CanonicalNaN = 0x7FC00000

const signBit = 1 << 31

// FP is the environment of a floating-point operation: the rounding mode it was given and the flags it raised.
//
// Every finite operand is exact in a float64. The operation is computed in float64 and its exact error determined
// (two-sum, fused multiply-add); if there was an error, the result is *rounded to odd*: of the two float64 neighbours
// of the true value, the one with an odd last bit is taken. Since 53 ≥ 24+2 bits, rounding that to single precision, in
// any mode, gives the rounded true value, and detects inexactness too (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums", IEEE ToC 2008). One function, round, does the last step for all operations.
type FP struct {
	RM    uint8 // RNE..RMM
	Flags uint8
}

func toFloat(a uint32) float64 { return float64(math.Float32frombits(a)) }

func isNaN(a uint32) bool        { return a<<1 > 0xFF<<24 }
func isSignalling(a uint32) bool { return isNaN(a) && a&(1<<22) == 0 }
func isInf(a uint32) bool        { return a<<1 == 0xFF<<24 }
func isZero(a uint32) bool       { return a<<1 == 0 }

// special reports whether a is an infinity or a NaN.
func special(a uint32) bool { return a>>23&0xFF == 0xFF }

// nan returns the canonical NaN, invalid if any operand signals.
func (e *FP) nan(ops ...uint32) uint32 {
	for _, a := range ops {
		if isSignalling(a) {
			e.Flags |= NV
		}
	}
	return CanonicalNaN
}

func (e *FP) invalid() uint32 {
	e.Flags |= NV
	return CanonicalNaN
}

// Add returns a + b.
func (e *FP) Add(a, b uint32) uint32 {
	if special(a) || special(b) {
		return e.addSpecial(a, b)
	}
	return e.sum(toFloat(a), toFloat(b))
}

func (e *FP) addSpecial(a, b uint32) uint32 {
	switch {
	case isNaN(a) || isNaN(b):
		return e.nan(a, b)
	case isInf(a) && isInf(b) && a != b:
		return e.invalid()
	case isInf(a):
		return a
	}
	return b
}

// sum rounds x + y, both exact, once.
func (e *FP) sum(x, y float64) uint32 {
	s := x + y
	t := s - x
	err := (x - (s - t)) + (y - t) // Knuth's two-sum: s + err = x + y exactly
	if err != 0 {
		return e.round(towardsOdd(s, (err > 0) == (s > 0)))
	}
	if s == 0 && math.Signbit(x) != math.Signbit(y) {
		return e.zeroSum()
	}
	return e.round(s)
}

// zeroSum is the sign rule for an exact zero from terms of opposite sign.
func (e *FP) zeroSum() uint32 {
	if e.RM == RDN {
		return signBit
	}
	return 0
}

// towardsOdd rounds to odd: s is the nearest float64 of an inexact value whose
// magnitude is larger (grow) or smaller than that of s.
func towardsOdd(s float64, grow bool) float64 {
	u := math.Float64bits(s)
	if u&1 == 0 {
		if grow {
			u++
		} else {
			u--
		}
	}
	return math.Float64frombits(u)
}

// Mul returns a · b.
func (e *FP) Mul(a, b uint32) uint32 {
	if special(a) || special(b) {
		switch {
		case isNaN(a) || isNaN(b):
			return e.nan(a, b)
		case isZero(a) || isZero(b):
			return e.invalid()
		}
		return (a^b)&signBit | 0xFF<<23
	}
	return e.round(toFloat(a) * toFloat(b)) // 24+24 bits: exact
}

// MulAdd returns a·b + c, rounded once.
func (e *FP) MulAdd(a, b, c uint32) uint32 {
	if special(a) || special(b) || special(c) {
		return e.mulAddSpecial(a, b, c)
	}
	return e.sum(toFloat(a)*toFloat(b), toFloat(c))
}

func (e *FP) mulAddSpecial(a, b, c uint32) uint32 {
	if isInf(a) && isZero(b) || isZero(a) && isInf(b) {
		return e.invalid() // even when c is a quiet NaN
	}
	if isNaN(a) || isNaN(b) || isNaN(c) {
		return e.nan(a, b, c)
	}
	if isInf(a) || isInf(b) {
		p := (a^b)&signBit | 0xFF<<23
		return e.addSpecial(p, c)
	}
	return c
}

// Div returns a / b.
func (e *FP) Div(a, b uint32) uint32 {
	sign := (a ^ b) & signBit
	switch {
	case isNaN(a) || isNaN(b):
		return e.nan(a, b)
	case isInf(a) && isInf(b) || isZero(a) && isZero(b):
		return e.invalid()
	case isInf(a):
		return sign | 0xFF<<23
	case isInf(b) || isZero(a):
		return sign
	case isZero(b):
		e.Flags |= DZ
		return sign | 0xFF<<23
	}
	x, y := toFloat(a), toFloat(b)
	q := x / y
	r := math.FMA(-q, y, x) // x - q·y, exact; the true quotient is q + r/y
	if r != 0 {
		above := (r > 0) == (y > 0)
		q = towardsOdd(q, above == (q > 0))
	}
	return e.round(q)
}

// Sqrt returns √a.
func (e *FP) Sqrt(a uint32) uint32 {
	switch {
	case isNaN(a):
		return e.nan(a)
	case isZero(a):
		return a
	case a&signBit != 0:
		return e.invalid()
	case isInf(a):
		return a
	}
	x := toFloat(a)
	q := math.Sqrt(x)
	r := math.FMA(-q, q, x)
	if r != 0 {
		q = towardsOdd(q, r > 0)
	}
	return e.round(q)
}

// round rounds v, exact or rounded to odd, to single precision.
func (e *FP) round(v float64) uint32 {
	if e.RM == RNE {
		f := float32(v)
		u := math.Float32bits(f)
		if x := u >> 23 & 0xFF; x-2 < 0xFD { // 2..0xFE: neither tiny nor overflown
			if float64(f) != v {
				e.Flags |= NX
			}
			return u
		}
	}
	return e.roundSlow(v)
}

// roundSlow is the general case: any mode, subnormal and overflowing results.
func (e *FP) roundSlow(v float64) uint32 {
	u := math.Float64bits(v)
	sign := uint32(u>>32) & signBit
	if u<<1 == 0 {
		return sign
	}
	const bias, minExp = 1023, -126
	exp := int(u>>52&0x7FF) - bias
	sig := u&(1<<52-1) | 1<<52 // v = ±sig · 2^(exp-52); v is never subnormal as a float64

	drop := uint(52 - 23) // bits of sig below the last place kept
	if exp < minExp {
		drop = min(drop+uint(minExp-exp), 54)
	}
	kept := e.roundBits(sig, drop, sign)
	inexact := sig&(1<<drop-1) != 0
	var r uint32
	if exp < minExp {
		r = uint32(kept) // a carry into bit 23 makes the smallest normal
		// Tiny, after rounding: still below 2^-126 with an unbounded exponent.
		tiny := exp < minExp-1 || e.roundBits(sig, 52-23, sign) < 1<<24
		if inexact && tiny {
			e.Flags |= UF
		}
	} else {
		r = uint32(kept) + uint32(exp-minExp)<<23 // the hidden bit adds one to the exponent
	}
	if inexact {
		e.Flags |= NX
	}
	if exp > 127 || r >= 0xFF<<23 {
		return e.overflow(sign)
	}
	return sign | r
}

// roundBits drops the low bits of sig in the current mode.
func (e *FP) roundBits(sig uint64, drop uint, sign uint32) uint64 {
	kept, rest, half := sig>>drop, sig&(1<<drop-1), uint64(1)<<(drop-1)
	up := false
	switch e.RM {
	case RNE:
		up = rest > half || rest == half && kept&1 == 1
	case RMM:
		up = rest >= half
	case RDN:
		up = sign != 0 && rest != 0
	case RUP:
		up = sign == 0 && rest != 0
	}
	if up {
		kept++
	}
	return kept
}

func (e *FP) overflow(sign uint32) uint32 {
	e.Flags |= OF | NX
	if e.RM == RTZ || e.RM == RDN && sign == 0 || e.RM == RUP && sign != 0 {
		return sign | 0x7F7FFFFF
	}
	return sign | 0xFF<<23
}

// ToInt converts to an integer in lo..hi, saturating.
func (e *FP) ToInt(a uint32, lo, hi int64) uint32 {
	if isNaN(a) {
		e.Flags |= NV
		return uint32(hi)
	}
	v := toFloat(a)
	r := e.roundToIntegral(v)
	switch {
	case r < float64(lo):
		e.Flags |= NV
		return uint32(lo)
	case r > float64(hi):
		e.Flags |= NV
		return uint32(hi)
	case r != v:
		e.Flags |= NX
	}
	return uint32(int64(r))
}

func (e *FP) roundToIntegral(v float64) float64 {
	switch e.RM {
	case RTZ:
		return math.Trunc(v)
	case RDN:
		return math.Floor(v)
	case RUP:
		return math.Ceil(v)
	case RMM:
		return math.Round(v)
	}
	return math.RoundToEven(v)
}

// Min and Max are minimumNumber and maximumNumber of IEEE 754-2019.
func (e *FP) Min(a, b uint32) uint32 { return e.pick(a, b, func(x, y int32) bool { return x < y }) }

// Max returns the larger of a and b.
func (e *FP) Max(a, b uint32) uint32 { return e.pick(a, b, func(x, y int32) bool { return x > y }) }

func (e *FP) pick(a, b uint32, first func(x, y int32) bool) uint32 {
	if isSignalling(a) || isSignalling(b) {
		e.Flags |= NV
	}
	switch {
	case isNaN(a) && isNaN(b):
		return CanonicalNaN
	case isNaN(b) || !isNaN(a) && first(ordered(a), ordered(b)):
		return a
	}
	return b
}

// ordered maps non-NaN floats to integers of the same order, -0 below +0.
func ordered(a uint32) int32 {
	return int32(a) ^ int32(uint32(int32(a)>>31)>>1)
}

// Less is a < b, or a ≤ b; any NaN is invalid.
func (e *FP) Less(a, b uint32, orEqual bool) bool {
	if isNaN(a) || isNaN(b) {
		e.Flags |= NV
		return false
	}
	x, y := toFloat(a), toFloat(b)
	return x < y || orEqual && x == y
}

// Equal is a = b; only a signalling NaN is invalid.
func (e *FP) Equal(a, b uint32) bool {
	if isNaN(a) || isNaN(b) {
		e.nan(a, b)
		return false
	}
	return toFloat(a) == toFloat(b)
}

// classify returns fclass's bit.
func classify(a uint32) uint32 {
	if isNaN(a) {
		return 1 << 9 >> flag(isSignalling(a))
	}
	var n uint32 // distance from zero: 0 zero, 1 subnormal, 2 normal, 3 infinite
	switch {
	case isZero(a):
	case isInf(a):
		n = 3
	case a>>23&0xFF == 0:
		n = 1
	default:
		n = 2
	}
	if a&signBit != 0 {
		return 1 << (3 - n)
	}
	return 1 << (4 + n)
}
