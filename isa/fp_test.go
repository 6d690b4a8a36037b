package isa

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Floats by their bits.
const (
	pZero, nZero = 0x00000000, 0x80000000
	pInf, nInf   = 0x7F800000, 0xFF800000
	qNaN         = 0x7FC00000
	qNaNPayload  = 0xFFC12345 // quiet, negative, with a payload
	sNaN         = 0x7F800001
	sNaNPayload  = 0xFFA12345
	minSub       = 0x00000001 // 2^-149
	maxSub       = 0x007FFFFF
	minNormal    = 0x00800000 // 2^-126
	maxFinite    = 0x7F7FFFFF
	one          = 0x3F800000
	two          = 0x40000000
	three        = 0x40400000
	half         = 0x3F000000
	oneUp        = 0x3F800001 // 1 + 2^-23
	oneDown      = 0x3F7FFFFF // 1 - 2^-24
	neg          = 0x80000000 // or it to a positive float
)

// pow2 is the float 2^e, normal.
func pow2(e int) uint32 { return uint32(e+127) << 23 }

var modes = [5]uint8{RNE, RTZ, RDN, RUP, RMM}

// byMode holds the expected results in RNE, RTZ, RDN, RUP and RMM.
type byMode [5]uint32

func always(v uint32) byMode { return byMode{v, v, v, v, v} }

type fpCase struct {
	op      string
	a, b, c uint32
	want    byMode
	flags   byMode
}

func fpRun(op string, rm uint8, a, b, c uint32) (bits uint32, flags uint8) {
	e := FP{RM: rm}
	bits = Lookup(op).Sem.(FPOp)(&e, a, b, c)
	return bits, e.Flags
}

func checkFP(t *testing.T, cases []fpCase) {
	t.Helper()
	for _, c := range cases {
		for i, rm := range modes {
			got, flags := fpRun(c.op, rm, c.a, c.b, c.c)
			what := fmt.Sprintf("%s.%s 0x%08x 0x%08x 0x%08x", c.op, RMNames[rm], c.a, c.b, c.c)
			assert.Equal(t, fmt.Sprintf("0x%08x", c.want[i]), fmt.Sprintf("0x%08x", got), what)
			assert.Equal(t, flagText(uint8(c.flags[i])), flagText(flags), what)
		}
	}
}

func flagText(f uint8) string {
	s := ""
	for i, n := range []string{"NX", "UF", "OF", "DZ", "NV"} {
		if f>>i&1 != 0 {
			s += n + " "
		}
	}
	return s
}

var (
	none      = always(0)
	invalid   = always(uint32(NV))
	inexact   = always(uint32(NX))
	overflown = always(uint32(OF | NX))
	underflow = always(uint32(UF | NX))

	infOrMax    = byMode{pInf, maxFinite, maxFinite, pInf, pInf}
	negInfOrMax = byMode{nInf, neg | maxFinite, nInf, neg | maxFinite, nInf}
	exactZero   = byMode{pZero, pZero, nZero, pZero, pZero} // of opposite terms
)

func TestFPNaN(t *testing.T) {
	var cases []fpCase
	for _, op := range []string{"fadd.s", "fsub.s", "fmul.s", "fdiv.s"} {
		cases = append(cases,
			fpCase{op, qNaNPayload, one, 0, always(CanonicalNaN), none},
			fpCase{op, one, qNaNPayload, 0, always(CanonicalNaN), none},
			fpCase{op, sNaN, one, 0, always(CanonicalNaN), invalid},
			fpCase{op, pInf, sNaNPayload, 0, always(CanonicalNaN), invalid},
			fpCase{op, qNaN, sNaN, 0, always(CanonicalNaN), invalid},
		)
	}
	for _, op := range []string{"fmadd.s", "fmsub.s", "fnmadd.s", "fnmsub.s"} {
		cases = append(cases,
			fpCase{op, qNaNPayload, one, one, always(CanonicalNaN), none},
			fpCase{op, one, one, qNaNPayload, always(CanonicalNaN), none},
			fpCase{op, one, sNaN, one, always(CanonicalNaN), invalid},
			fpCase{op, one, one, sNaNPayload, always(CanonicalNaN), invalid},
			fpCase{op, pInf, pZero, one, always(CanonicalNaN), invalid},
			fpCase{op, pInf, pZero, qNaN, always(CanonicalNaN), invalid}, // ∞·0 + quiet NaN
			fpCase{op, nZero, nInf, qNaNPayload, always(CanonicalNaN), invalid},
			fpCase{op, qNaN, pZero, pInf, always(CanonicalNaN), none},
		)
	}
	checkFP(t, append(cases,
		fpCase{"fsqrt.s", qNaNPayload, 0, 0, always(CanonicalNaN), none},
		fpCase{"fsqrt.s", sNaN, 0, 0, always(CanonicalNaN), invalid},
	))
}

func TestFPInfinitiesAndZeros(t *testing.T) {
	checkFP(t, []fpCase{
		{"fadd.s", pInf, pInf, 0, always(pInf), none},
		{"fadd.s", pInf, nInf, 0, always(CanonicalNaN), invalid},
		{"fadd.s", nInf, pInf, 0, always(CanonicalNaN), invalid},
		{"fsub.s", pInf, pInf, 0, always(CanonicalNaN), invalid},
		{"fsub.s", nInf, pInf, 0, always(nInf), none},
		{"fadd.s", one, nInf, 0, always(nInf), none},
		{"fadd.s", pInf, neg | maxFinite, 0, always(pInf), none},
		{"fadd.s", pZero, nZero, 0, exactZero, none},
		{"fadd.s", nZero, pZero, 0, exactZero, none},
		{"fadd.s", nZero, nZero, 0, always(nZero), none},
		{"fadd.s", pZero, pZero, 0, always(pZero), none},
		{"fsub.s", one, one, 0, exactZero, none},
		{"fsub.s", neg | one, neg | one, 0, exactZero, none},
		{"fsub.s", nZero, pZero, 0, always(nZero), none},
		{"fsub.s", pZero, pZero, 0, exactZero, none},
		{"fadd.s", nZero, one, 0, always(one), none},

		{"fmul.s", pInf, pZero, 0, always(CanonicalNaN), invalid},
		{"fmul.s", nZero, pInf, 0, always(CanonicalNaN), invalid},
		{"fmul.s", pInf, neg | minSub, 0, always(nInf), none},
		{"fmul.s", nInf, nInf, 0, always(pInf), none},
		{"fmul.s", nZero, one, 0, always(nZero), none},
		{"fmul.s", nZero, neg | one, 0, always(pZero), none},

		{"fdiv.s", pInf, nInf, 0, always(CanonicalNaN), invalid},
		{"fdiv.s", pZero, nZero, 0, always(CanonicalNaN), invalid},
		{"fdiv.s", one, pZero, 0, always(pInf), always(uint32(DZ))},
		{"fdiv.s", one, nZero, 0, always(nInf), always(uint32(DZ))},
		{"fdiv.s", neg | minSub, pZero, 0, always(nInf), always(uint32(DZ))},
		{"fdiv.s", pInf, pZero, 0, always(pInf), none}, // exact, so no DZ
		{"fdiv.s", pInf, neg | two, 0, always(nInf), none},
		{"fdiv.s", two, nInf, 0, always(nZero), none},
		{"fdiv.s", nZero, two, 0, always(nZero), none},

		{"fsqrt.s", pZero, 0, 0, always(pZero), none},
		{"fsqrt.s", nZero, 0, 0, always(nZero), none},
		{"fsqrt.s", pInf, 0, 0, always(pInf), none},
		{"fsqrt.s", nInf, 0, 0, always(CanonicalNaN), invalid},
		{"fsqrt.s", neg | minSub, 0, 0, always(CanonicalNaN), invalid},

		{"fmadd.s", pInf, one, nInf, always(CanonicalNaN), invalid},
		{"fmsub.s", pInf, one, pInf, always(CanonicalNaN), invalid},
		{"fnmadd.s", pInf, one, nInf, always(CanonicalNaN), invalid},
		{"fnmsub.s", pInf, one, pInf, always(CanonicalNaN), invalid},
		{"fmadd.s", pInf, neg | one, nInf, always(nInf), none},
		{"fmadd.s", one, one, nInf, always(nInf), none},
		{"fmadd.s", one, one, neg | one, exactZero, none},
		{"fmadd.s", pZero, one, nZero, exactZero, none},
		{"fmadd.s", nZero, one, nZero, always(nZero), none},
		{"fnmadd.s", one, one, neg | one, exactZero, none},
		{"fnmadd.s", pZero, one, pZero, always(nZero), none}, // -(+0) - (+0)
		{"fnmsub.s", two, one, two, exactZero, none},
	})
}

// The four fused operations differ in two signs only: 2·3 ± 1.
func TestFPFusedSigns(t *testing.T) {
	const five, seven = 0x40A00000, 0x40E00000
	checkFP(t, []fpCase{
		{"fmadd.s", two, three, one, always(seven), none},
		{"fmsub.s", two, three, one, always(five), none},
		{"fnmsub.s", two, three, one, always(neg | five), none},
		{"fnmadd.s", two, three, one, always(neg | seven), none},
	})
}

func TestFPRounding(t *testing.T) {
	checkFP(t, []fpCase{
		// 1 + 2^-24 is half way between 1 and 1+2^-23; 1 is even.
		{"fadd.s", one, pow2(-24), 0, byMode{one, one, one, oneUp, oneUp}, inexact},
		{"fadd.s", neg | one, neg | pow2(-24), 0, byMode{neg | one, neg | one, neg | oneUp, neg | one, neg | oneUp}, inexact},
		// 1+2^-23 + 2^-24 is half way too, with an odd lower neighbour.
		{"fadd.s", oneUp, pow2(-24), 0, byMode{oneUp + 1, oneUp, oneUp, oneUp + 1, oneUp + 1}, inexact},
		// Far below the last place: only the direction counts.
		{"fadd.s", one, minSub, 0, byMode{one, one, one, oneUp, one}, inexact},
		{"fsub.s", one, minSub, 0, byMode{one, oneDown, oneDown, one, one}, inexact},
		{"fadd.s", maxFinite, minSub, 0, byMode{maxFinite, maxFinite, maxFinite, pInf, maxFinite}, byMode{uint32(NX), uint32(NX), uint32(NX), uint32(OF | NX), uint32(NX)}},
		// One third, 0x3EAAAAAA.AA…
		{"fdiv.s", one, three, 0, byMode{0x3EAAAAAB, 0x3EAAAAAA, 0x3EAAAAAA, 0x3EAAAAAB, 0x3EAAAAAB}, inexact},
		{"fdiv.s", neg | one, three, 0, byMode{0xBEAAAAAB, 0xBEAAAAAA, 0xBEAAAAAB, 0xBEAAAAAA, 0xBEAAAAAB}, inexact},
		// √2 = 0x3FB504F3.33…
		{"fsqrt.s", two, 0, 0, byMode{0x3FB504F3, 0x3FB504F3, 0x3FB504F3, 0x3FB504F4, 0x3FB504F3}, inexact},
		{"fsqrt.s", pow2(4), 0, 0, always(pow2(2)), none},
		{"fsqrt.s", 0x00000008, 0, 0, always(pow2(-73)), none}, // √2^-146
		// (1+2^-23)² = 1 + 2^-22 + 2^-46
		{"fmul.s", oneUp, oneUp, 0, byMode{oneUp + 1, oneUp + 1, oneUp + 1, oneUp + 2, oneUp + 1}, inexact},
		// ... and the fused operation keeps the 2^-46.
		{"fmsub.s", oneUp, oneUp, oneUp + 1, always(pow2(-46)), none},
	})
}

func TestFPOverflow(t *testing.T) {
	checkFP(t, []fpCase{
		{"fmul.s", maxFinite, two, 0, infOrMax, overflown},
		{"fmul.s", maxFinite, neg | two, 0, negInfOrMax, overflown},
		{"fmul.s", maxFinite, maxFinite, 0, infOrMax, overflown},
		{"fadd.s", maxFinite, maxFinite, 0, infOrMax, overflown},
		{"fdiv.s", maxFinite, neg | half, 0, negInfOrMax, overflown},
		{"fdiv.s", maxFinite, minSub, 0, infOrMax, overflown},
		// Half an ulp above the largest: rounds to 2^128 to nearest.
		{"fadd.s", maxFinite, pow2(103), 0, infOrMax, byMode{uint32(OF | NX), uint32(NX), uint32(NX), uint32(OF | NX), uint32(OF | NX)}},
		// Just less than half an ulp above.
		{"fadd.s", maxFinite, pow2(103) - 1, 0, byMode{maxFinite, maxFinite, maxFinite, pInf, maxFinite}, byMode{uint32(NX), uint32(NX), uint32(NX), uint32(OF | NX), uint32(NX)}},
		// The product alone would overflow; the sum does not.
		{"fmadd.s", maxFinite, two, neg | maxFinite, always(maxFinite), none},
		{"fmul.s", maxFinite, one, 0, always(maxFinite), none},
	})
}

// Tininess is detected after rounding: a result is tiny when, rounded to 24
// bits with an unbounded exponent, it is below 2^-126.
func TestFPUnderflow(t *testing.T) {
	const x, u = uint32(NX), uint32(UF | NX)
	up := func(below, above uint32) byMode { return byMode{above, below, below, above, above} }
	checkFP(t, []fpCase{
		// Subnormal but exact: no flag.
		{"fmul.s", minNormal, half, 0, always(minNormal >> 1), none},
		{"fsub.s", minNormal, minSub, 0, always(maxSub), none},
		{"fadd.s", maxSub, minSub, 0, always(minNormal), none},
		{"fadd.s", minSub, minSub, 0, always(2), none},
		// 2^-150: half of the smallest subnormal.
		{"fmul.s", minSub, half, 0, byMode{0, 0, 0, minSub, minSub}, underflow},
		{"fmul.s", neg | minSub, half, 0, byMode{nZero, nZero, neg | minSub, nZero, neg | minSub}, underflow},
		{"fmul.s", 3, half, 0, byMode{2, 1, 1, 2, 2}, underflow},
		{"fmul.s", minSub, minSub, 0, byMode{0, 0, 0, minSub, 0}, underflow},
		{"fmul.s", minSub, neg | minSub, 0, byMode{nZero, nZero, neg | minSub, nZero, nZero}, underflow},
		{"fdiv.s", minSub, maxFinite, 0, byMode{0, 0, 0, minSub, 0}, underflow},
		{"fdiv.s", minSub, three, 0, byMode{0, 0, 0, minSub, 0}, underflow},
		{"fmadd.s", minSub, minSub, minSub, byMode{1, 1, 1, 2, 1}, underflow},
		// 2^-126 - 2^-150 is exact in 24 bits: tiny, though it rounds to 2^-126.
		{"fmul.s", oneDown, minNormal, 0, up(maxSub, minNormal), underflow},
		// 2^-126 - 2^-151 is half way: tiny where it rounds down.
		{"fmadd.s", pow2(-75), neg | pow2(-76), minNormal, up(maxSub, minNormal), byMode{x, u, u, x, x}},
		{"fmadd.s", pow2(-75), pow2(-76), neg | minNormal, byMode{neg | minNormal, neg | maxSub, neg | minNormal, neg | maxSub, neg | minNormal}, byMode{x, u, x, u, x}},
		// 2^-126 - 3·2^-152 is tiny to nearest, and yet rounds to 2^-126.
		{"fmadd.s", pow2(-75) | 1<<22, neg | pow2(-76), minNormal, up(maxSub, minNormal), byMode{u, u, u, x, u}},
		// Just above 2^-126: never tiny.
		{"fmadd.s", pow2(-75), pow2(-76), minNormal, byMode{minNormal, minNormal, minNormal, minNormal + 1, minNormal}, inexact},
		// A subnormal operand, a normal result.
		{"fmul.s", maxSub, two, 0, always(0x00FFFFFE), none},
		{"fsqrt.s", minSub, 0, 0, byMode{0x1A3504F3, 0x1A3504F3, 0x1A3504F3, 0x1A3504F4, 0x1A3504F3}, inexact},
	})
}

func TestFPToInteger(t *testing.T) {
	const i32 = uint32(0x80000000)
	neg1 := ^uint32(0)
	checkFP(t, []fpCase{
		{"fcvt.w.s", qNaN, 0, 0, always(0x7FFFFFFF), invalid},
		{"fcvt.w.s", neg | qNaN, 0, 0, always(0x7FFFFFFF), invalid}, // the sign of a NaN means nothing
		{"fcvt.w.s", sNaN, 0, 0, always(0x7FFFFFFF), invalid},
		{"fcvt.w.s", pInf, 0, 0, always(0x7FFFFFFF), invalid},
		{"fcvt.w.s", nInf, 0, 0, always(i32), invalid},
		{"fcvt.w.s", pow2(31), 0, 0, always(0x7FFFFFFF), invalid},
		{"fcvt.w.s", pow2(31) - 1, 0, 0, always(0x7FFFFF80), none},
		{"fcvt.w.s", neg | pow2(31), 0, 0, always(i32), none},
		{"fcvt.w.s", neg | (pow2(31) + 1), 0, 0, always(i32), invalid},
		{"fcvt.w.s", nZero, 0, 0, none, none},
		{"fcvt.w.s", minSub, 0, 0, byMode{0, 0, 0, 1, 0}, inexact},
		{"fcvt.w.s", neg | minSub, 0, 0, byMode{0, 0, neg1, 0, 0}, inexact},
		{"fcvt.w.s", half, 0, 0, byMode{0, 0, 0, 1, 1}, inexact},
		{"fcvt.w.s", neg | half, 0, 0, byMode{0, 0, neg1, 0, neg1}, inexact},
		{"fcvt.w.s", 0x3FC00000, 0, 0, byMode{2, 1, 1, 2, 2}, inexact},                                    // 1.5
		{"fcvt.w.s", 0x40200000, 0, 0, byMode{2, 2, 2, 3, 3}, inexact},                                    // 2.5
		{"fcvt.w.s", 0xC0200000, 0, 0, byMode{neg1 - 1, neg1 - 1, neg1 - 2, neg1 - 1, neg1 - 2}, inexact}, // -2.5
		{"fcvt.w.s", 0x4B000001, 0, 0, always(8388609), none},

		{"fcvt.wu.s", qNaN, 0, 0, always(neg1), invalid},
		{"fcvt.wu.s", neg | qNaN, 0, 0, always(neg1), invalid},
		{"fcvt.wu.s", pInf, 0, 0, always(neg1), invalid},
		{"fcvt.wu.s", nInf, 0, 0, none, invalid},
		{"fcvt.wu.s", pow2(32), 0, 0, always(neg1), invalid},
		{"fcvt.wu.s", pow2(32) - 1, 0, 0, always(0xFFFFFF00), none},
		{"fcvt.wu.s", pow2(31), 0, 0, always(i32), none},
		{"fcvt.wu.s", neg | one, 0, 0, none, invalid},
		{"fcvt.wu.s", nZero, 0, 0, none, none},
		// -½ is in range wherever it rounds to 0.
		{"fcvt.wu.s", neg | half, 0, 0, none, byMode{uint32(NX), uint32(NX), uint32(NV), uint32(NX), uint32(NV)}},
		{"fcvt.wu.s", neg | minSub, 0, 0, none, byMode{uint32(NX), uint32(NX), uint32(NV), uint32(NX), uint32(NX)}},
	})
}

func TestFPFromInteger(t *testing.T) {
	const big = 1<<24 + 1 // half way between 2^24 and 2^24+2
	minus := uint32(0xFFFFFFFF)
	checkFP(t, []fpCase{
		{"fcvt.s.w", 0, 0, 0, none, none}, // +0 in every mode
		{"fcvt.s.wu", 0, 0, 0, none, none},
		{"fcvt.s.w", minus, 0, 0, always(neg | one), none},
		{"fcvt.s.wu", minus, 0, 0, byMode{pow2(32), pow2(32) - 1, pow2(32) - 1, pow2(32), pow2(32)}, inexact},
		{"fcvt.s.w", 0x80000000, 0, 0, always(neg | pow2(31)), none},
		{"fcvt.s.wu", 0x80000000, 0, 0, always(pow2(31)), none},
		{"fcvt.s.w", 0x7FFFFFFF, 0, 0, byMode{pow2(31), pow2(31) - 1, pow2(31) - 1, pow2(31), pow2(31)}, inexact},
		{"fcvt.s.w", big, 0, 0, byMode{pow2(24), pow2(24), pow2(24), pow2(24) + 1, pow2(24) + 1}, inexact},
		{"fcvt.s.w", big + 2, 0, 0, byMode{pow2(24) + 2, pow2(24) + 1, pow2(24) + 1, pow2(24) + 2, pow2(24) + 2}, inexact},
		{"fcvt.s.w", -big & 0xFFFFFFFF, 0, 0, byMode{neg | pow2(24), neg | pow2(24), neg | (pow2(24) + 1), neg | pow2(24), neg | (pow2(24) + 1)}, inexact},
	})
}

func TestFPMinMaxCompare(t *testing.T) {
	checkFP(t, []fpCase{
		{"fmin.s", one, two, 0, always(one), none},
		{"fmin.s", neg | one, neg | two, 0, always(neg | two), none},
		{"fmin.s", nZero, pZero, 0, always(nZero), none},
		{"fmin.s", pZero, nZero, 0, always(nZero), none},
		{"fmax.s", nZero, pZero, 0, always(pZero), none},
		{"fmax.s", pZero, nZero, 0, always(pZero), none},
		{"fmax.s", neg | one, neg | two, 0, always(neg | one), none},
		{"fmax.s", nInf, neg | maxFinite, 0, always(neg | maxFinite), none},
		{"fmin.s", pInf, minSub, 0, always(minSub), none},
		{"fmin.s", qNaNPayload, two, 0, always(two), none},
		{"fmin.s", two, qNaNPayload, 0, always(two), none},
		{"fmax.s", nInf, qNaN, 0, always(nInf), none},
		{"fmax.s", sNaN, one, 0, always(one), invalid}, // the number wins, and invalid is raised
		{"fmin.s", one, sNaNPayload, 0, always(one), invalid},
		{"fmin.s", qNaNPayload, qNaN, 0, always(CanonicalNaN), none},
		{"fmax.s", qNaNPayload, sNaN, 0, always(CanonicalNaN), invalid},

		{"feq.s", one, one, 0, always(1), none},
		{"feq.s", pZero, nZero, 0, always(1), none},
		{"feq.s", one, oneUp, 0, none, none},
		{"feq.s", qNaN, qNaN, 0, none, none},
		{"feq.s", sNaN, one, 0, none, invalid},
		{"feq.s", one, sNaN, 0, none, invalid},
		{"flt.s", neg | one, one, 0, always(1), none},
		{"flt.s", nZero, pZero, 0, none, none},
		{"flt.s", one, one, 0, none, none},
		{"flt.s", two, one, 0, none, none},
		{"flt.s", nInf, neg | maxFinite, 0, always(1), none},
		{"flt.s", qNaN, one, 0, none, invalid},
		{"flt.s", one, sNaN, 0, none, invalid},
		{"fle.s", pZero, nZero, 0, always(1), none},
		{"fle.s", one, one, 0, always(1), none},
		{"fle.s", two, one, 0, none, none},
		{"fle.s", neg | two, neg | one, 0, always(1), none},
		{"fle.s", one, qNaN, 0, none, invalid},

		{"fsgnj.s", sNaN, nZero, 0, always(neg | sNaN), none}, // moves bits, makes no canonical NaN
		{"fsgnj.s", neg | one, two, 0, always(one), none},
		{"fsgnjn.s", one, two, 0, always(neg | one), none},
		{"fsgnjn.s", qNaNPayload, nInf, 0, always(qNaNPayload &^ neg), none},
		{"fsgnjx.s", neg | one, neg | two, 0, always(one), none},
		{"fsgnjx.s", one, nZero, 0, always(neg | one), none},
		{"fmv.x.w", sNaNPayload, 0, 0, always(sNaNPayload), none},
		{"fmv.w.x", sNaNPayload, 0, 0, always(sNaNPayload), none},
	})
}

func TestFPClassify(t *testing.T) {
	for bit, values := range [10][]uint32{
		{nInf}, {neg | one, neg | minNormal, neg | maxFinite}, {neg | minSub, neg | maxSub}, {nZero},
		{pZero}, {minSub, maxSub}, {minNormal, one, maxFinite}, {pInf},
		{sNaN, sNaNPayload, 0x7FBFFFFF}, {qNaN, qNaNPayload, 0xFFFFFFFF},
	} {
		for _, v := range values {
			checkFP(t, []fpCase{{"fclass.s", v, 0, 0, always(1 << bit), none}})
		}
	}
}

// Flags accumulate: an operation never clears one.
func TestFPFlagsAccumulate(t *testing.T) {
	e := FP{RM: RNE}
	e.Div(one, pZero)
	e.Add(one, one)
	e.Mul(minSub, minSub)
	assert.Equal(t, flagText(DZ|UF|NX), flagText(e.Flags))
}

// What follows is the independent model: an exact value in integers of any
// length, and one rounding function over them.

// exact is num/den · 2^exp; den > 0. A zero has the sign that the operation's
// rule gives it.
type exact struct {
	num, den *big.Int
	exp      int
	zeroSign func(rm uint8) bool // true: -0
}

var bigOne = big.NewInt(1)

// float splits a finite float: ± m · 2^exp.
func float(a uint32) exact {
	m, e := int64(a&0x7FFFFF), int(a>>23&0xFF)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 23
	}
	minus := a>>31 != 0
	if minus {
		m = -m
	}
	return exact{big.NewInt(m), bigOne, e - 150, func(uint8) bool { return minus }}
}

func (x exact) isNegZeroOr(minus func(uint8) bool, rm uint8) bool {
	if x.num.Sign() != 0 {
		return x.num.Sign() < 0
	}
	return minus(rm)
}

func signOf(a uint32) func(uint8) bool { return func(uint8) bool { return a>>31 != 0 } }

func exactMul(a, b uint32) exact {
	x, y := float(a), float(b)
	return exact{new(big.Int).Mul(x.num, y.num), bigOne, x.exp + y.exp, signOf(a ^ b)}
}

// exactSum adds two dyadic numbers. Terms that cancel give +0, or -0 when
// rounding down; two zeros of one sign keep it.
func exactSum(x, y exact) exact {
	e := min(x.exp, y.exp)
	s := new(big.Int).Lsh(x.num, uint(x.exp-e))
	s.Add(s, new(big.Int).Lsh(y.num, uint(y.exp-e)))
	return exact{s, bigOne, e, func(rm uint8) bool {
		p, q := x.isNegZeroOr(x.zeroSign, rm), y.isNegZeroOr(y.zeroSign, rm)
		return p && q || p != q && rm == RDN
	}}
}

func exactDiv(a, b uint32) exact {
	x, y := float(a), float(b)
	if y.num.Sign() < 0 {
		x.num, y.num = new(big.Int).Neg(x.num), new(big.Int).Neg(y.num)
	}
	return exact{x.num, y.num, x.exp - y.exp, signOf(a ^ b)}
}

// exactSqrt gives a number that lies on the same side of everything that a
// rounding compares with: the root cut after 64 bits or more, and half a unit
// added when something was cut.
func exactSqrt(a uint32) exact {
	x := float(a)
	shift := 128
	if (x.exp-shift)%2 != 0 {
		shift++
	}
	n := new(big.Int).Lsh(x.num, uint(shift))
	r := new(big.Int).Sqrt(n)
	cut := new(big.Int).Mul(r, r).Cmp(n) != 0
	r.Lsh(r, 1)
	if cut {
		r.Add(r, bigOne)
	}
	return exact{r, bigOne, (x.exp-shift)/2 - 1, signOf(a)}
}

// roundAt rounds |v| to a multiple of 2^q and returns that multiple.
func (v exact) roundAt(q int, rm uint8) (m *big.Int, isExact bool) {
	n, d := new(big.Int).Abs(v.num), new(big.Int).Set(v.den)
	if s := v.exp - q; s >= 0 {
		n.Lsh(n, uint(s))
	} else {
		d.Lsh(d, uint(-s))
	}
	m, rest := n.QuoRem(n, d, new(big.Int))
	if rest.Sign() == 0 {
		return m, true
	}
	toHalf := rest.Lsh(rest, 1).Cmp(d)
	minus := v.num.Sign() < 0
	if map[uint8]bool{
		RNE: toHalf > 0 || toHalf == 0 && m.Bit(0) == 1,
		RTZ: false,
		RDN: minus,
		RUP: !minus,
		RMM: toHalf >= 0,
	}[rm] {
		m.Add(m, bigOne)
	}
	return m, false
}

// magnitude returns the e for which 2^e ≤ |v| < 2^(e+1).
func (v exact) magnitude() int {
	e := v.num.BitLen() - v.den.BitLen()
	n, d := new(big.Int).Abs(v.num), new(big.Int).Set(v.den)
	if e >= 0 {
		d.Lsh(d, uint(e))
	} else {
		n.Lsh(n, uint(-e))
	}
	if n.Cmp(d) < 0 {
		e--
	}
	return e + v.exp
}

// toFloat rounds v to single precision.
func (v exact) toFloat(rm uint8) (bits uint32, flags uint8) {
	sign := uint32(0)
	if v.isNegZeroOr(v.zeroSign, rm) {
		sign = neg
	}
	if v.num.Sign() == 0 {
		return sign, 0
	}
	e := v.magnitude()
	unbounded, _ := v.roundAt(e-23, rm)
	tiny := e < -126 && !(e == -127 && unbounded.BitLen() == 25)
	q := max(e-23, -149)
	m, isExact := v.roundAt(q, rm)
	if !isExact {
		flags |= NX
		if tiny {
			flags |= UF
		}
	}
	if m.BitLen() == 25 { // 2^24: carried
		m.Rsh(m, 1)
		q++
	}
	if q+23 > 127 {
		return limitOf(sign, rm), flags | OF | NX
	}
	if m.BitLen() < 24 {
		return sign | uint32(m.Uint64()), flags // subnormal: q is -149
	}
	return sign | uint32(q+150)<<23 | uint32(m.Uint64())&0x7FFFFF, flags
}

// limitOf returns the result of an overflow (IEEE 754 §7.4).
func limitOf(sign uint32, rm uint8) uint32 {
	t := infOrMax
	if sign != 0 {
		t = negInfOrMax
	}
	return t[rm]
}

// toInt rounds v to an integer in lo..hi.
func (v exact) toInt(rm uint8, lo, hi int64) (bits uint32, flags uint8) {
	m, isExact := v.roundAt(0, rm)
	if v.num.Sign() < 0 {
		m.Neg(m)
	}
	switch {
	case m.Cmp(big.NewInt(lo)) < 0:
		return uint32(lo), NV
	case m.Cmp(big.NewInt(hi)) > 0:
		return uint32(hi), NV
	case !isExact:
		flags = NX
	}
	return uint32(m.Int64()), flags
}

// The model itself, on values known by heart.
func TestFPModel(t *testing.T) {
	third := exactDiv(one, three)
	bits, flags := third.toFloat(RUP)
	assert.Equal(t, uint32(0x3EAAAAAB), bits)
	assert.Equal(t, NX, flags)
	bits, flags = exactMul(minSub, minSub).toFloat(RUP)
	assert.Equal(t, uint32(minSub), bits)
	assert.Equal(t, UF|NX, flags)
	bits, flags = exactSqrt(two).toFloat(RNE)
	assert.Equal(t, uint32(0x3FB504F3), bits)
	assert.Equal(t, NX, flags)
}

// operands makes finite floats where rounding is hard: exponents at the ends
// and near each other, mantissas with long runs of equal bits.
type operands struct{ *rand.Rand }

func (r operands) mantissa() uint32 {
	switch r.IntN(6) {
	case 0:
		return uint32(r.IntN(4))
	case 1:
		return 0x7FFFFF - uint32(r.IntN(4))
	case 2:
		return 1 << r.IntN(23)
	case 3:
		return 0x400000 + uint32(r.IntN(5)) - 2
	case 4:
		return r.Uint32() & 0x7FFFFF &^ (1<<r.IntN(23) - 1)
	}
	return r.Uint32() & 0x7FFFFF
}

func (r operands) withExponent(e int) uint32 {
	return r.Uint32()&neg | uint32(min(max(e, 0), 254))<<23 | r.mantissa()
}

func (r operands) any() uint32 {
	switch r.IntN(4) {
	case 0:
		return r.withExponent(r.IntN(3))
	case 1:
		return r.withExponent(254 - r.IntN(3))
	case 2:
		return r.withExponent(127 + r.IntN(9) - 4)
	}
	return r.withExponent(r.IntN(255))
}

func exponent(a uint32) int { return int(a >> 23 & 0xFF) }

// near is an operand whose exponent is about e.
func (r operands) near(e, spread int) uint32 { return r.withExponent(e + r.IntN(2*spread+1) - spread) }

// hard draws three operands for which the operation's result is near a
// boundary: of cancellation, of underflow, or of overflow.
func (r operands) hard(op string) (a, b, c uint32) {
	a, b, c = r.any(), r.any(), r.any()
	limit := [2]int{0, 255}[r.IntN(2)] // of the result's exponent
	if r.IntN(4) == 0 {
		return a, b, c
	}
	switch op {
	case "fadd.s", "fsub.s":
		b = r.near(exponent(a), 27)
	case "fmul.s":
		b = r.near(limit-exponent(a)+127, 26)
	case "fdiv.s":
		b = r.near(exponent(a)+127-limit, 26)
	default:
		b = r.near(limit-exponent(a)+127, 40)
		p, _ := exactMul(a, b).toFloat(RNE)
		if !special(p) {
			c = r.closeTo(p)
		}
	}
	return a, b, c
}

// closeTo changes the low bits or the exponent a little, and sometimes the sign.
func (r operands) closeTo(p uint32) uint32 {
	switch r.IntN(3) {
	case 0:
		return r.near(exponent(p), 30)
	case 1:
		return (p ^ neg) &^ 3
	}
	if q := p ^ neg ^ uint32(r.IntN(8)); !special(q) {
		return q
	}
	return p
}

// model gives the exact value of one operation.
var model = map[string]func(a, b, c uint32) exact{
	"fadd.s":    func(a, b, _ uint32) exact { return exactSum(float(a), float(b)) },
	"fsub.s":    func(a, b, _ uint32) exact { return exactSum(float(a), float(b^neg)) },
	"fmul.s":    func(a, b, _ uint32) exact { return exactMul(a, b) },
	"fdiv.s":    func(a, b, _ uint32) exact { return exactDiv(a, b) },
	"fsqrt.s":   func(a, _, _ uint32) exact { return exactSqrt(a) },
	"fmadd.s":   func(a, b, c uint32) exact { return exactSum(exactMul(a, b), float(c)) },
	"fmsub.s":   func(a, b, c uint32) exact { return exactSum(exactMul(a, b), float(c^neg)) },
	"fnmsub.s":  func(a, b, c uint32) exact { return exactSum(exactMul(a^neg, b), float(c)) },
	"fnmadd.s":  func(a, b, c uint32) exact { return exactSum(exactMul(a^neg, b), float(c^neg)) },
	"fcvt.s.w":  func(a, _, _ uint32) exact { return exact{big.NewInt(int64(int32(a))), bigOne, 0, signOf(0)} },
	"fcvt.s.wu": func(a, _, _ uint32) exact { return exact{big.NewInt(int64(a)), bigOne, 0, signOf(0)} },
}

func TestFPAgainstExactArithmetic(t *testing.T) {
	const casesPerOp = 12_000 // each in five modes
	for op, exactly := range model {
		t.Run(op, func(t *testing.T) {
			r := operands{newRand(10)}
			seen := uint8(0)
			for range casesPerOp {
				a, b, c := r.hard(op)
				switch {
				case op == "fdiv.s" && isZero(b):
					b = one // division by zero has no exact value; see the directed cases
				case op == "fsqrt.s":
					a &^= neg
				case op == "fcvt.s.w" || op == "fcvt.s.wu":
					a = r.Uint32() >> r.IntN(32) << r.IntN(8)
				}
				v := exactly(a, b, c)
				for _, rm := range modes {
					want, wantFlags := v.toFloat(rm)
					got, flags := fpRun(op, rm, a, b, c)
					if got != want || flags != wantFlags {
						require.Failf(t, "wrong", "%s.%s 0x%08x 0x%08x 0x%08x = 0x%08x %s, expected 0x%08x %s",
							op, RMNames[rm], a, b, c, got, flagText(flags), want, flagText(wantFlags))
					}
					seen |= flags
				}
			}
			assert.Equal(t, flagText(reachable(op)), flagText(seen),
				"flags met: the operands do not reach every boundary")
		})
	}
}

// reachable are the flags that finite operands can raise.
func reachable(op string) uint8 {
	switch op {
	case "fsqrt.s", "fcvt.s.w", "fcvt.s.wu":
		return NX
	case "fadd.s", "fsub.s":
		return NX | OF // a tiny sum is exact
	}
	return NX | OF | UF
}

func TestFPToIntegerAgainstExactArithmetic(t *testing.T) {
	r := operands{newRand(11)}
	for range 20_000 {
		a := r.near(127+15, 18)
		v := float(a)
		for _, rm := range modes {
			for _, c := range []struct {
				op     string
				lo, hi int64
			}{{"fcvt.w.s", -1 << 31, 1<<31 - 1}, {"fcvt.wu.s", 0, 1<<32 - 1}} {
				want, wantFlags := v.toInt(rm, c.lo, c.hi)
				got, flags := fpRun(c.op, rm, a, 0, 0)
				if got != want || flags != wantFlags {
					require.Failf(t, "wrong", "%s.%s 0x%08x = 0x%08x %s, expected 0x%08x %s", c.op, RMNames[rm], a, got,
						flagText(flags), want, flagText(wantFlags))
				}
			}
		}
	}
}
