#include "textflag.h"
#include "lanes_amd64.h"

// The loops over lanes of IntOps and Branches, eight lanes at a time (AVX2). The tests compare each with the scalar
// function of its name.

// laneShifts moves bit l of a mask to the sign bit of lane l.
DATA ·laneShifts+0x00(SB)/4, $31
DATA ·laneShifts+0x04(SB)/4, $30
DATA ·laneShifts+0x08(SB)/4, $29
DATA ·laneShifts+0x0c(SB)/4, $28
DATA ·laneShifts+0x10(SB)/4, $27
DATA ·laneShifts+0x14(SB)/4, $26
DATA ·laneShifts+0x18(SB)/4, $25
DATA ·laneShifts+0x1c(SB)/4, $24
DATA ·laneShifts+0x20(SB)/4, $23
DATA ·laneShifts+0x24(SB)/4, $22
DATA ·laneShifts+0x28(SB)/4, $21
DATA ·laneShifts+0x2c(SB)/4, $20
DATA ·laneShifts+0x30(SB)/4, $19
DATA ·laneShifts+0x34(SB)/4, $18
DATA ·laneShifts+0x38(SB)/4, $17
DATA ·laneShifts+0x3c(SB)/4, $16
DATA ·laneShifts+0x40(SB)/4, $15
DATA ·laneShifts+0x44(SB)/4, $14
DATA ·laneShifts+0x48(SB)/4, $13
DATA ·laneShifts+0x4c(SB)/4, $12
DATA ·laneShifts+0x50(SB)/4, $11
DATA ·laneShifts+0x54(SB)/4, $10
DATA ·laneShifts+0x58(SB)/4, $9
DATA ·laneShifts+0x5c(SB)/4, $8
DATA ·laneShifts+0x60(SB)/4, $7
DATA ·laneShifts+0x64(SB)/4, $6
DATA ·laneShifts+0x68(SB)/4, $5
DATA ·laneShifts+0x6c(SB)/4, $4
DATA ·laneShifts+0x70(SB)/4, $3
DATA ·laneShifts+0x74(SB)/4, $2
DATA ·laneShifts+0x78(SB)/4, $1
DATA ·laneShifts+0x7c(SB)/4, $0
GLOBL ·laneShifts(SB), RODATA|NOPTR, $128

// ARGS loads the arguments: d in DI, a in SI, b in DX, the mask in CX and in every lane of Y15. Y13 is the
// operation's constant.
#define ARGS \
	MOVQ d+0(FP), DI             \
	MOVQ a+8(FP), SI             \
	MOVQ b+16(FP), DX            \
	MOVL mask+24(FP), CX         \
	VPBROADCASTD mask+24(FP), Y15

// AMOARGS loads the arguments of an AMO's loop; R8 keeps the offset of a word.
#define AMOARGS \
	MOVQ d+0(FP), R11            \
	MOVQ table+8(FP), DI         \
	MOVQ at+16(FP), SI           \
	MOVQ s+24(FP), DX            \
	MOVL mask+32(FP), CX         \
	MOVL $0xFFC, R8

// PAIR loads the arguments of a comparison.
#define PAIR \
	MOVQ a+0(FP), SI \
	MOVQ b+8(FP), DX

#define ADD(o) \
	VMOVDQU o(SI), Y0    \
	VPADDD o(DX), Y0, Y0

TEXT ·addLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(ADD)

#define SUB(o) \
	VMOVDQU o(SI), Y0    \
	VPSUBD o(DX), Y0, Y0

TEXT ·subLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(SUB)

#define AND(o) \
	VMOVDQU o(SI), Y0    \
	VPAND o(DX), Y0, Y0

TEXT ·andLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(AND)

#define OR(o) \
	VMOVDQU o(SI), Y0    \
	VPOR o(DX), Y0, Y0

TEXT ·orLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(OR)

#define XOR(o) \
	VMOVDQU o(SI), Y0    \
	VPXOR o(DX), Y0, Y0

TEXT ·xorLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(XOR)

// Shifts take the low five bits of their distance: Y13 is 31.
#define SHIFTS \
	ONES(Y13)            \
	VPSRLD $27, Y13, Y13

#define SLL(o) \
	VPAND o(DX), Y13, Y1   \
	VMOVDQU o(SI), Y0      \
	VPSLLVD Y1, Y0, Y0

TEXT ·sllLanes(SB), NOSPLIT, $0-28
	ARGS
	SHIFTS
	LOOP(SLL)

#define SRL(o) \
	VPAND o(DX), Y13, Y1   \
	VMOVDQU o(SI), Y0      \
	VPSRLVD Y1, Y0, Y0

TEXT ·srlLanes(SB), NOSPLIT, $0-28
	ARGS
	SHIFTS
	LOOP(SRL)

#define SRA(o) \
	VPAND o(DX), Y13, Y1   \
	VMOVDQU o(SI), Y0      \
	VPSRAVD Y1, Y0, Y0

TEXT ·sraLanes(SB), NOSPLIT, $0-28
	ARGS
	SHIFTS
	LOOP(SRA)

#define SLT(o) \
	VMOVDQU o(DX), Y0        \
	VPCMPGTD o(SI), Y0, Y0   \
	VPSRLD $31, Y0, Y0

TEXT ·sltLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(SLT)

#define SLTU(o) \
	VPXOR o(SI), Y13, Y1     \
	VPXOR o(DX), Y13, Y0     \
	VPCMPGTD Y1, Y0, Y0      \
	VPSRLD $31, Y0, Y0

TEXT ·sltuLanes(SB), NOSPLIT, $0-28
	ARGS
	SIGNS
	LOOP(SLTU)

#define MUL(o) \
	VMOVDQU o(SI), Y0     \
	VPMULLD o(DX), Y0, Y0

TEXT ·mulLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(MUL)

// High words: the products of even lanes, and of odd ones moved to even places.
#define HIGH(o, PRODUCT) \
	VMOVDQU o(SI), Y0            \
	VMOVDQU o(DX), Y1            \
	PRODUCT Y1, Y0, Y2           \
	VPSRLQ $32, Y0, Y3           \
	VPSRLQ $32, Y1, Y4           \
	PRODUCT Y4, Y3, Y3           \
	VPSRLQ $32, Y2, Y2           \
	VPBLENDD $0xAA, Y3, Y2, Y2

#define MULH(o) \
	HIGH(o, VPMULDQ)     \
	VMOVDQA Y2, Y0

TEXT ·mulhLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(MULH)

#define MULHU(o) \
	HIGH(o, VPMULUDQ)    \
	VMOVDQA Y2, Y0

TEXT ·mulhuLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(MULHU)

// A negative a counts as a + 2³² in the unsigned product: b too much in the high word.
#define MULHSU(o) \
	HIGH(o, VPMULUDQ)    \
	VPSRAD $31, Y0, Y0   \
	VPAND Y1, Y0, Y0     \
	VPSUBD Y0, Y2, Y0

TEXT ·mulhsuLanes(SB), NOSPLIT, $0-28
	ARGS
	LOOP(MULHSU)

// TESTS gathers the sign bits that OP leaves in Y0 in AX.
#define TESTS(OP) \
	OP(0x60)             \
	VMOVMSKPS Y0, AX     \
	SHLL $8, AX          \
	OP(0x40)             \
	VMOVMSKPS Y0, CX     \
	ORL CX, AX           \
	SHLL $8, AX          \
	OP(0x20)             \
	VMOVMSKPS Y0, CX     \
	ORL CX, AX           \
	SHLL $8, AX          \
	OP(0x00)             \
	VMOVMSKPS Y0, CX     \
	ORL CX, AX           \
	VZEROUPPER

#define EQUAL(o) \
	VMOVDQU o(SI), Y0      \
	VPCMPEQD o(DX), Y0, Y0

TEXT ·equalLanes(SB), NOSPLIT, $0-20
	PAIR
	TESTS(EQUAL)
	MOVL AX, ret+16(FP)
	RET

TEXT ·notEqualLanes(SB), NOSPLIT, $0-20
	PAIR
	TESTS(EQUAL)
	NOTL AX
	MOVL AX, ret+16(FP)
	RET

#define LESS(o) \
	VMOVDQU o(DX), Y0      \
	VPCMPGTD o(SI), Y0, Y0

TEXT ·lessLanes(SB), NOSPLIT, $0-20
	PAIR
	TESTS(LESS)
	MOVL AX, ret+16(FP)
	RET

TEXT ·notLessLanes(SB), NOSPLIT, $0-20
	PAIR
	TESTS(LESS)
	NOTL AX
	MOVL AX, ret+16(FP)
	RET

#define BELOW(o) \
	VPXOR o(SI), Y13, Y1     \
	VPXOR o(DX), Y13, Y0     \
	VPCMPGTD Y1, Y0, Y0

TEXT ·belowLanes(SB), NOSPLIT, $0-20
	PAIR
	SIGNS
	TESTS(BELOW)
	MOVL AX, ret+16(FP)
	RET

TEXT ·notBelowLanes(SB), NOSPLIT, $0-20
	PAIR
	SIGNS
	TESTS(BELOW)
	NOTL AX
	MOVL AX, ret+16(FP)
	RET

// func fillLanes(d *Lanes, v, mask uint32)
#define FILL(o) VMOVDQA Y12, Y0

TEXT ·fillLanes(SB), NOSPLIT, $0-16
	MOVQ d+0(FP), DI
	MOVL mask+12(FP), CX
	MOVL v+8(FP), AX
	SPREAD(AX, X12, Y12)
	SPREAD(CX, X15, Y15)
	LOOP(FILL)

// func keepLanes(d, s *Lanes, mask uint32)
#define COPY(o) VMOVDQU o(SI), Y0

TEXT ·keepLanes(SB), NOSPLIT, $0-20
	MOVQ d+0(FP), DI
	MOVQ s+8(FP), SI
	MOVL mask+16(FP), CX
	SPREAD(CX, X15, Y15)
	LOOP(COPY)

// func oddLanes(a *Lanes) uint32
#define ODD(o) \
	VMOVDQU o(SI), Y0    \
	VPSLLD $31, Y0, Y0

TEXT ·oddLanes(SB), NOSPLIT, $0-12
	MOVQ a+0(FP), SI
	TESTS(ODD)
	MOVL AX, ret+8(FP)
	RET

// func addressLanes(d, base *Lanes, offset, mask uint32) (first, differ uint32)
// Y12 is the address of the first lane of the mask, Y11 the bits in which others differ from it.
#define ADDRESS(o) \
	VPADDD o(SI), Y13, Y0                    \
	VPSLLVD ·laneShifts+o(SB), Y15, Y14     \
	VBLENDVPS Y14, Y0, Y12, Y0               \
	VMOVDQU Y0, o(DI)                        \
	VPXOR Y0, Y12, Y0                        \
	VPOR Y0, Y11, Y11

TEXT ·addressLanes(SB), NOSPLIT, $0-32
	MOVQ d+0(FP), DI
	MOVQ base+8(FP), SI
	BSFL mask+20(FP), AX
	MOVL (SI)(AX*4), AX
	ADDL offset+16(FP), AX
	MOVL AX, first+24(FP)
	SPREAD(AX, X12, Y12)
	MOVL offset+16(FP), AX
	SPREAD(AX, X13, Y13)
	MOVL mask+20(FP), AX
	SPREAD(AX, X15, Y15)
	VPXOR Y11, Y11, Y11
	ADDRESS(0x00)
	ADDRESS(0x20)
	ADDRESS(0x40)
	ADDRESS(0x60)
	VEXTRACTI128 $1, Y11, X0
	VPOR X0, X11, X11
	VPSHUFD $0x4E, X11, X0
	VPOR X0, X11, X11
	VPSHUFD $0xB1, X11, X0
	VPOR X0, X11, X11
	VMOVD X11, AX
	MOVL AX, differ+28(FP)
	VZEROUPPER
	RET

// func gatherLanes(d *Lanes, table *[TableBytes]byte, at *Lanes, mask uint32)
#define GATHER(o) \
	VPAND o(SI), Y13, Y0                    \
	VMOVDQU o(DI), Y1                       \
	VPSLLVD ·laneShifts+o(SB), Y15, Y14    \
	VPGATHERDD Y14, (DX)(Y0*1), Y1          \
	VMOVDQU Y1, o(DI)

TEXT ·gatherLanes(SB), NOSPLIT, $0-28
	MOVQ d+0(FP), DI
	MOVQ table+8(FP), DX
	MOVQ at+16(FP), SI
	MOVL mask+24(FP), CX
	SPREAD(CX, X15, Y15)
	VPCMPEQD Y13, Y13, Y13   // the offset of a word: 0xFFC
	VPSRLD $22, Y13, Y13
	VPSLLD $2, Y13, Y13
	GATHER(0x00)
	SHRL $8, CX
	JZ   done
	GATHER(0x20)
	SHRL $8, CX
	JZ   done
	GATHER(0x40)
	SHRL $8, CX
	JZ   done
	GATHER(0x60)
done:
	VZEROUPPER
	RET

// func matchLanes(a *Lanes, v, care uint32) uint32
#define MATCH(o) \
	VPAND o(SI), Y13, Y0     \
	VPCMPEQD Y12, Y0, Y0

TEXT ·matchLanes(SB), NOSPLIT, $0-20
	MOVQ a+0(FP), SI
	MOVL v+8(FP), AX
	SPREAD(AX, X12, Y12)
	MOVL care+12(FP), AX
	SPREAD(AX, X13, Y13)
	TESTS(MATCH)
	MOVL AX, ret+16(FP)
	RET

// EACH does OP(o) for every lane.
#define EACH8(OP, o) \
	OP(o+0x00)    \
	OP(o+0x04)    \
	OP(o+0x08)    \
	OP(o+0x0c)    \
	OP(o+0x10)    \
	OP(o+0x14)    \
	OP(o+0x18)    \
	OP(o+0x1c)

#define EACH(OP) \
	EACH8(OP, 0x00)    \
	EACH8(OP, 0x20)    \
	EACH8(OP, 0x40)    \
	EACH8(OP, 0x60)

// func scatterLanes(d *Lanes, table *[TableBytes]byte, at *Lanes, mask uint32)
// A run of words is copied at once. Other lanes are stored in their order, as later ones win.

// RUN clears a lane of Y11 if its word is not the one after that of the lane before: the word of lane l is 4·(31 - l)
// before that of lane 31, which is in Y12.
#define RUN(o) \
	VMOVDQU ·laneShifts+o(SB), Y0    \
	VPSLLD $2, Y0, Y0                \
	VPADDD o(SI), Y0, Y0             \
	VPCMPEQD Y12, Y0, Y0             \
	VPAND Y0, Y11, Y11

#define STORE(o) \
	MOVL o(SI), AX          \
	MOVL o(DX), BX          \
	ANDL R8, AX             \
	MOVL BX, (DI)(AX*1)

TEXT ·scatterLanes(SB), NOSPLIT, $0-28
	MOVQ d+0(FP), DX
	MOVQ table+8(FP), DI
	MOVQ at+16(FP), SI
	MOVL mask+24(FP), CX
	MOVL $0xFFC, R8
	CMPL CX, $-1
	JNE  some
	MOVL 124(SI), AX
	ANDL R8, AX
	CMPL AX, $124
	JB   all // the run would begin in another page
	MOVL 124(SI), BX
	SPREAD(BX, X12, Y12)
	VPCMPEQD Y11, Y11, Y11
	RUN(0x00)
	RUN(0x20)
	RUN(0x40)
	RUN(0x60)
	VPMOVMSKB Y11, BX
	CMPL BX, $-1
	JNE  all
	LEAQ -124(DI)(AX*1), DI
	VMOVDQU 0x00(DX), Y0
	VMOVDQU 0x20(DX), Y1
	VMOVDQU 0x40(DX), Y2
	VMOVDQU 0x60(DX), Y3
	VMOVDQU Y0, 0x00(DI)
	VMOVDQU Y1, 0x20(DI)
	VMOVDQU Y2, 0x40(DI)
	VMOVDQU Y3, 0x60(DI)
	VZEROUPPER
	RET
all:
	VZEROUPPER
	EACH(STORE)
	RET
some:
	BSFL CX, R9
	JZ   done
	MOVL (SI)(R9*4), AX
	MOVL (DX)(R9*4), BX
	ANDL R8, AX
	MOVL BX, (DI)(AX*1)
	LEAL -1(CX), R9
	ANDL R9, CX
	JMP  some
done:
	RET

// The loops over lanes of AMOs: the words of lanes may be one, so that they are done in their order. A word comes in
// BX, with the operand in R10, and what replaces it is left in R10.

// AMO does one lane, whose offset is in o; AMOS does those of the mask.
#define AMO(o, OP) \
	MOVL o(SI), AX          \
	MOVL o(DX), R10         \
	ANDL R8, AX             \
	MOVL (DI)(AX*1), BX     \
	MOVL BX, o(R11)         \
	OP                      \
	MOVL R10, (DI)(AX*1)

#define AMO4(o, OP) \
	AMO(o+0x00, OP)    \
	AMO(o+0x04, OP)    \
	AMO(o+0x08, OP)    \
	AMO(o+0x0c, OP)

#define AMOS(OP) \
	CMPL CX, $-1            \
	JNE  some               \
	AMO4(0x00, OP)          \
	AMO4(0x10, OP)          \
	AMO4(0x20, OP)          \
	AMO4(0x30, OP)          \
	AMO4(0x40, OP)          \
	AMO4(0x50, OP)          \
	AMO4(0x60, OP)          \
	AMO4(0x70, OP)          \
	RET                     \
some:                       \
	BSFL CX, R9             \
	JZ   done               \
	MOVL (SI)(R9*4), AX     \
	MOVL (DX)(R9*4), R10    \
	ANDL R8, AX             \
	MOVL (DI)(AX*1), BX     \
	MOVL BX, (R11)(R9*4)    \
	OP                      \
	MOVL R10, (DI)(AX*1)    \
	LEAL -1(CX), R9         \
	ANDL R9, CX             \
	JMP  some               \
done:                       \
	RET

#define SWAPPED

TEXT ·amoswapLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(SWAPPED)

#define ADDED ADDL BX, R10

TEXT ·amoaddLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(ADDED)

#define XORED XORL BX, R10

TEXT ·amoxorLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(XORED)

#define ANDED ANDL BX, R10

TEXT ·amoandLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(ANDED)

#define ORED ORL BX, R10

TEXT ·amoorLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(ORED)

#define LEAST  \
	CMPL BX, R10    \
	CMOVLLT BX, R10

TEXT ·amominLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(LEAST)

#define MOST  \
	CMPL BX, R10    \
	CMOVLGT BX, R10

TEXT ·amomaxLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(MOST)

#define LEASTU  \
	CMPL BX, R10    \
	CMOVLCS BX, R10

TEXT ·amominuLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(LEASTU)

#define MOSTU  \
	CMPL BX, R10    \
	CMOVLHI BX, R10

TEXT ·amomaxuLanes(SB), NOSPLIT, $0-36
	AMOARGS
	AMOS(MOSTU)

#define FADDED \
	VMOVD BX, X0              \
	VMOVD R10, X1             \
	VADDSS X1, X0, X0         \
	VMOVD X0, R10             \
	VUCOMISS X0, X0           \
	CMOVLPS R12, R10

TEXT ·amofaddLanes(SB), NOSPLIT, $0-36
	AMOARGS
	MOVL $0x7FC00000, R12 // CanonicalNaN
	AMOS(FADDED)
