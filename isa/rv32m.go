package isa

import "math"

var rv32m = Extension{
	Name: "RV32M",
	Doc:  "Multiplication and division (RISC-V unprivileged specification, chapter 13). Division never traps.",
	Rows: []Row{
		{Name: "mul", Enc: encR(0x33, 0, 1), Format: fmtR, Class: ClassMul, Sem: IntOp(mul), Doc: "rd = low word of rs1·rs2"},
		{Name: "mulh", Enc: encR(0x33, 1, 1), Format: fmtR, Class: ClassMul, Sem: IntOp(mulh), Doc: "rd = high word of rs1·rs2, signed"},
		{Name: "mulhsu", Enc: encR(0x33, 2, 1), Format: fmtR, Class: ClassMul, Sem: IntOp(mulhsu), Doc: "rd = high word of rs1·rs2, rs1 signed, rs2 unsigned"},
		{Name: "mulhu", Enc: encR(0x33, 3, 1), Format: fmtR, Class: ClassMul, Sem: IntOp(mulhu), Doc: "rd = high word of rs1·rs2, unsigned"},
		{Name: "div", Enc: encR(0x33, 4, 1), Format: fmtR, Class: ClassDiv, Sem: IntOp(div), Doc: "rd = rs1 / rs2, signed; by zero: -1; overflow: rs1"},
		{Name: "divu", Enc: encR(0x33, 5, 1), Format: fmtR, Class: ClassDiv, Sem: IntOp(divu), Doc: "rd = rs1 / rs2, unsigned; by zero: 2³²-1"},
		{Name: "rem", Enc: encR(0x33, 6, 1), Format: fmtR, Class: ClassDiv, Sem: IntOp(rem), Doc: "rd = rs1 mod rs2, sign of rs1; by zero: rs1; overflow: 0"},
		{Name: "remu", Enc: encR(0x33, 7, 1), Format: fmtR, Class: ClassDiv, Sem: IntOp(remu), Doc: "rd = rs1 mod rs2, unsigned; by zero: rs1"},
	},
}

func mul(a, b uint32) uint32    { return a * b }
func mulh(a, b uint32) uint32   { return uint32(int64(int32(a)) * int64(int32(b)) >> 32) }
func mulhsu(a, b uint32) uint32 { return uint32(int64(int32(a)) * int64(b) >> 32) }
func mulhu(a, b uint32) uint32  { return uint32(uint64(a) * uint64(b) >> 32) }

func div(a, b uint32) uint32 {
	switch {
	case b == 0:
		return math.MaxUint32
	case int32(a) == math.MinInt32 && int32(b) == -1:
		return a
	}
	return uint32(int32(a) / int32(b))
}

func divu(a, b uint32) uint32 {
	if b == 0 {
		return math.MaxUint32
	}
	return a / b
}

func rem(a, b uint32) uint32 {
	switch {
	case b == 0:
		return a
	case int32(a) == math.MinInt32 && int32(b) == -1:
		return 0
	}
	return uint32(int32(a) % int32(b))
}

func remu(a, b uint32) uint32 {
	if b == 0 {
		return a
	}
	return a % b
}
