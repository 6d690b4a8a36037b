#include "textflag.h"
#include "lanes_amd64.h"

// Float addition, multiplication and fused multiply-add, rounded to nearest, eight lanes at a time (AVX2), in the way
// that fp.go explains. A lane is done here if its result is zero, or neither tiny nor overflown, and rounding the
// float64 nearest to the true value gives what rounding the true value would: unless that float64 is a float32, or lies
// in the middle between two, its own error does not matter. The other lanes are left to the scalar functions.

DATA floatSmallest<>+0x00(SB)/8, $0x3820000000000000 // 2^-125: what rounds to it cannot be tiny
DATA floatSmallest<>+0x08(SB)/8, $0x3820000000000000
DATA floatSmallest<>+0x10(SB)/8, $0x3820000000000000
DATA floatSmallest<>+0x18(SB)/8, $0x3820000000000000
GLOBL floatSmallest<>(SB), RODATA|NOPTR, $32

DATA floatEnd<>+0x00(SB)/8, $0x47F0000000000000 // 2^128
DATA floatEnd<>+0x08(SB)/8, $0x47F0000000000000
DATA floatEnd<>+0x10(SB)/8, $0x47F0000000000000
DATA floatEnd<>+0x18(SB)/8, $0x47F0000000000000
GLOBL floatEnd<>(SB), RODATA|NOPTR, $32

DATA floatMagnitude<>+0x00(SB)/8, $0x7FFFFFFFFFFFFFFF
DATA floatMagnitude<>+0x08(SB)/8, $0x7FFFFFFFFFFFFFFF
DATA floatMagnitude<>+0x10(SB)/8, $0x7FFFFFFFFFFFFFFF
DATA floatMagnitude<>+0x18(SB)/8, $0x7FFFFFFFFFFFFFFF
GLOBL floatMagnitude<>(SB), RODATA|NOPTR, $32

DATA floatBelowHalf<>+0x00(SB)/8, $0x000000000FFFFFFF // of 29 bits that a float64 has more, all but the first
DATA floatBelowHalf<>+0x08(SB)/8, $0x000000000FFFFFFF
DATA floatBelowHalf<>+0x10(SB)/8, $0x000000000FFFFFFF
DATA floatBelowHalf<>+0x18(SB)/8, $0x000000000FFFFFFF
GLOBL floatBelowHalf<>(SB), RODATA|NOPTR, $32

// BEGIN prepares what all loops use: the offset of the lanes in R12, zero in Y14, the address of the results in R11.
#define BEGIN(RESULTS) \
	LEAQ ·laneShifts(SB), R13    \
	LEAQ RESULTS, R11            \
	MOVQ $0, (R11)               \
	VPXOR Y14, Y14, Y14          \
	XORL R12, R12                \
	XORL R10, R10

// NEAREST rounds the float64s of Y2 to FLOATS. GOOD are the lanes for which that is right and all there is to do, of
// those that are not in Y3; INEXACT are those that it changed. (Comparisons: 0x1D at least, 0x11 less, 0x00 equal, 0x04
// not equal; none but the last holds for a NaN.)
#define NEAREST(FLOATS, GOOD, INEXACT) \
	VCVTPD2PSY Y2, FLOATS                        \
	VCVTPS2PD FLOATS, INEXACT                    \
	VANDPD floatMagnitude<>(SB), INEXACT, Y6     \
	VCMPPD $0x1D, floatSmallest<>(SB), Y6, GOOD  \
	VCMPPD $0x11, floatEnd<>(SB), Y6, Y6         \
	VANDPD Y6, GOOD, GOOD                        \
	VCMPPD $0x00, Y14, Y2, Y6                    \
	VORPD Y6, GOOD, GOOD                         \
	VANDNPD GOOD, Y3, GOOD                       \
	VCMPPD $0x04, Y2, INEXACT, INEXACT

// SUM adds Y0 and Y1: Y2 is the float64 nearest to the sum, Y3 are lanes whose error counts (Knuth's two-sum).
#define SUM(sure) \
	VADDPD Y1, Y0, Y2                            \
	VPAND floatBelowHalf<>(SB), Y2, Y3           \
	VPCMPEQQ Y14, Y3, Y3                         \
	VPTEST Y3, Y3                                \
	JZ sure                                      \
	VSUBPD Y0, Y2, Y4                            \
	VSUBPD Y4, Y2, Y5                            \
	VSUBPD Y5, Y0, Y5                            \
	VSUBPD Y4, Y1, Y4                            \
	VADDPD Y4, Y5, Y4                            \
	VCMPPD $0x04, Y14, Y4, Y4                    \
	VPAND Y4, Y3, Y3                             \
sure:

// END writes eight floats, X8 and X4, to the lanes of the mask that are good, and goes on with the next eight.
#define END(next) \
	VINSERTF128 $1, X4, Y8, Y8                   \
	VSHUFPS $0x88, Y7, Y9, Y9                    \
	VPERMQ $0xD8, Y9, Y9                         \
	VSHUFPS $0x88, Y5, Y10, Y10                  \
	VPERMQ $0xD8, Y10, Y10                       \
	VPSLLVD (R13)(R12*1), Y15, Y6                \
	VPAND Y9, Y6, Y9                             \
	VMOVUPS (DI)(R12*1), Y7                      \
	VBLENDVPS Y9, Y8, Y7, Y7                     \
	VMOVUPS Y7, (DI)(R12*1)                      \
	VPAND Y9, Y10, Y10                           \
	VMOVMSKPS Y9, R8                             \
	VMOVMSKPS Y10, R9                            \
	MOVB R8, (R11)(R10*1)                        \
	MOVB R9, 4(R11)(R10*1)                       \
	INCL R10                                     \
	ADDL $32, R12                                \
	SHRL $8, CX                                  \
	JNZ next                                     \
	VZEROUPPER                                   \
	RET

// LOAD converts four floats, with their signs turned where FLIP has bits, to float64s in Y.
#define LOAD(P, o, FLIP, X, Y) \
	VXORPS o(P)(R12*1), FLIP, X                  \
	VCVTPS2PD X, Y

// func sumLanes(d, a, b *Lanes, flip, mask uint32) (done, inexact uint32)
TEXT ·sumLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL flip+24(FP), AX
	MOVL mask+28(FP), CX
	SPREAD(AX, X12, Y12)
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
next:
	VCVTPS2PD (SI)(R12*1), Y0
	LOAD(DX, 0, X12, X1, Y1)
	SUM(sureLow)
	NEAREST(X8, Y9, Y10)
	VCVTPS2PD 16(SI)(R12*1), Y0
	LOAD(DX, 16, X12, X1, Y1)
	SUM(sureHigh)
	NEAREST(X4, Y7, Y5)
	END(next)

// func productLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)
// Products of float32s are exact.
TEXT ·productLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
	VPXOR Y3, Y3, Y3
next:
	VCVTPS2PD (SI)(R12*1), Y0
	VCVTPS2PD (DX)(R12*1), Y1
	VMULPD Y1, Y0, Y2
	NEAREST(X8, Y9, Y10)
	VCVTPS2PD 16(SI)(R12*1), Y0
	VCVTPS2PD 16(DX)(R12*1), Y1
	VMULPD Y1, Y0, Y2
	NEAREST(X4, Y7, Y5)
	END(next)

// func mulAddLanes(d, a, b, c *Lanes, flipA, flipC, mask uint32) (done, inexact uint32)
TEXT ·mulAddLanes(SB), NOSPLIT, $0-56
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ c+24(FP), BX
	MOVL flipA+32(FP), AX
	SPREAD(AX, X12, Y12)
	MOVL flipC+36(FP), AX
	SPREAD(AX, X13, Y13)
	MOVL mask+40(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+48(FP))
next:
	LOAD(SI, 0, X12, X0, Y0)
	VCVTPS2PD (DX)(R12*1), Y1
	VMULPD Y1, Y0, Y0
	LOAD(BX, 0, X13, X1, Y1)
	SUM(sureLow)
	NEAREST(X8, Y9, Y10)
	LOAD(SI, 16, X12, X0, Y0)
	VCVTPS2PD 16(DX)(R12*1), Y1
	VMULPD Y1, Y0, Y0
	LOAD(BX, 16, X13, X1, Y1)
	SUM(sureHigh)
	NEAREST(X4, Y7, Y5)
	END(next)

// QUOTIENT divides Y0 by Y1: Y2 is the float64 nearest to the quotient, Y3 are lanes whose error counts. The product
// that is compared is exact where that is asked: the quotient has 25 bits there.
#define QUOTIENT(sure) \
	VDIVPD Y1, Y0, Y2                            \
	VPAND floatBelowHalf<>(SB), Y2, Y3           \
	VPCMPEQQ Y14, Y3, Y3                         \
	VPTEST Y3, Y3                                \
	JZ sure                                      \
	VMULPD Y1, Y2, Y4                            \
	VCMPPD $0x04, Y0, Y4, Y4                     \
	VPAND Y4, Y3, Y3                             \
sure:

// func quotientLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)
TEXT ·quotientLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
next:
	VCVTPS2PD (SI)(R12*1), Y0
	VCVTPS2PD (DX)(R12*1), Y1
	QUOTIENT(sureLow)
	NEAREST(X8, Y9, Y10)
	VCVTPS2PD 16(SI)(R12*1), Y0
	VCVTPS2PD 16(DX)(R12*1), Y1
	QUOTIENT(sureHigh)
	NEAREST(X4, Y7, Y5)
	END(next)

// func convertLanes(d, a *Lanes, turn uint32, offset float64, mask uint32) (done, inexact uint32)
// Integers: unsigned ones have their sign bits turned and are 2³¹ more.
TEXT ·convertLanes(SB), NOSPLIT, $0-48
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVL turn+16(FP), AX
	SPREAD(AX, X12, Y12)
	VBROADCASTSD offset+24(FP), Y13
	MOVL mask+32(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+40(FP))
	VPXOR Y3, Y3, Y3
next:
	VPXOR (SI)(R12*1), X12, X0
	VCVTDQ2PD X0, Y2
	VADDPD Y13, Y2, Y2
	NEAREST(X8, Y9, Y10)
	VPXOR 16(SI)(R12*1), X12, X0
	VCVTDQ2PD X0, Y2
	VADDPD Y13, Y2, Y2
	NEAREST(X4, Y7, Y5)
	END(next)

// COMPARE writes 1 or 0 to lanes of which neither float is a NaN.
#define COMPARE(PREDICATE, next) \
	VMOVUPS (SI)(R12*1), Y0                      \
	VMOVUPS (DX)(R12*1), Y1                      \
	VCMPPS $0x07, Y1, Y0, Y9                     \
	VCMPPS PREDICATE, Y1, Y0, Y0                 \
	VPSRLD $31, Y0, Y0                           \
	VPSLLVD (R13)(R12*1), Y15, Y6                \
	VPAND Y9, Y6, Y9                             \
	VMOVUPS (DI)(R12*1), Y7                      \
	VBLENDVPS Y9, Y0, Y7, Y7                     \
	VMOVUPS Y7, (DI)(R12*1)                      \
	VMOVMSKPS Y9, R8                             \
	MOVB R8, (R11)(R10*1)                        \
	INCL R10                                     \
	ADDL $32, R12                                \
	SHRL $8, CX                                  \
	JNZ next                                     \
	VZEROUPPER                                   \
	RET

// func floatLessLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)
TEXT ·floatLessLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
next:
	COMPARE($0x11, next)

// func floatAtMostLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)
TEXT ·floatAtMostLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
next:
	COMPARE($0x12, next)

// func floatEqualLanes(d, a, b *Lanes, mask uint32) (done, inexact uint32)
TEXT ·floatEqualLanes(SB), NOSPLIT, $0-40
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	BEGIN(done+32(FP))
next:
	COMPARE($0x00, next)

// func signLanes(d, a, b *Lanes, keep, turn, mask uint32)
// d = a & keep ^ (b ^ turn) & the sign bit.
#define SIGN(o) \
	VPXOR o(DX), Y11, Y1      \
	VPAND Y13, Y1, Y1         \
	VPAND o(SI), Y12, Y0      \
	VPXOR Y1, Y0, Y0

TEXT ·signLanes(SB), NOSPLIT, $0-36
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVL keep+24(FP), AX
	SPREAD(AX, X12, Y12)
	MOVL turn+28(FP), AX
	SPREAD(AX, X11, Y11)
	MOVL mask+32(FP), CX
	SPREAD(CX, X15, Y15)
	SIGNS
	LOOP(SIGN)
