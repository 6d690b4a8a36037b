package isa

var rv32i = Extension{
	Name: "RV32I",
	Doc:  "The base integer instructions (RISC-V unprivileged specification, chapter 2).",
	Rows: []Row{
		{Name: "lui", Enc: encOp(0x37), Format: fmtU, Class: ClassALU, Sem: PCOp(func(_, imm uint32) uint32 { return imm }), Doc: "rd = imm20 << 12"},
		{Name: "auipc", Enc: encOp(0x17), Format: fmtU, Class: ClassALU, Sem: PCOp(func(pc, imm uint32) uint32 { return pc + imm }), Doc: "rd = pc + (imm20 << 12)"},
		{Name: "jal", Enc: encOp(0x6F), Format: Format{rd, jumpTo}, Class: ClassBranch, Sem: Jump{}, Doc: "rd = pc+4; go to target"},
		{Name: "jalr", Enc: encI(0x67, 0), Format: Format{rd, memI}, Class: ClassBranch, Sem: Jump{Indirect: true}, Doc: "rd = pc+4; go to (rs1+imm) & ~1, rs1 of the last active lane"},

		{Name: "beq", Enc: encI(0x63, 0), Format: fmtB, Class: ClassBranch, Sem: Branch(equal), Doc: "go to target if rs1 = rs2"},
		{Name: "bne", Enc: encI(0x63, 1), Format: fmtB, Class: ClassBranch, Sem: Branch(notEqual), Doc: "go to target if rs1 ≠ rs2"},
		{Name: "blt", Enc: encI(0x63, 4), Format: fmtB, Class: ClassBranch, Sem: Branch(less), Doc: "go to target if rs1 < rs2, signed"},
		{Name: "bge", Enc: encI(0x63, 5), Format: fmtB, Class: ClassBranch, Sem: Branch(notLess), Doc: "go to target if rs1 ≥ rs2, signed"},
		{Name: "bltu", Enc: encI(0x63, 6), Format: fmtB, Class: ClassBranch, Sem: Branch(below), Doc: "go to target if rs1 < rs2, unsigned"},
		{Name: "bgeu", Enc: encI(0x63, 7), Format: fmtB, Class: ClassBranch, Sem: Branch(notBelow), Doc: "go to target if rs1 ≥ rs2, unsigned"},

		{Name: "lb", Enc: encI(0x03, 0), Format: fmtLoad, Class: ClassLoad, Sem: Load{1, true}, Doc: "rd = sign-extended byte at rs1+imm"},
		{Name: "lh", Enc: encI(0x03, 1), Format: fmtLoad, Class: ClassLoad, Sem: Load{2, true}, Doc: "rd = sign-extended halfword at rs1+imm"},
		{Name: "lw", Enc: encI(0x03, 2), Format: fmtLoad, Class: ClassLoad, Sem: Load{4, true}, Doc: "rd = word at rs1+imm"},
		{Name: "lbu", Enc: encI(0x03, 4), Format: fmtLoad, Class: ClassLoad, Sem: Load{1, false}, Doc: "rd = zero-extended byte at rs1+imm"},
		{Name: "lhu", Enc: encI(0x03, 5), Format: fmtLoad, Class: ClassLoad, Sem: Load{2, false}, Doc: "rd = zero-extended halfword at rs1+imm"},
		{Name: "sb", Enc: encI(0x23, 0), Format: Format{rs2, memS}, Class: ClassStore, Sem: Store{1}, Doc: "byte at rs1+imm = rs2"},
		{Name: "sh", Enc: encI(0x23, 1), Format: Format{rs2, memS}, Class: ClassStore, Sem: Store{2}, Doc: "halfword at rs1+imm = rs2"},
		{Name: "sw", Enc: encI(0x23, 2), Format: Format{rs2, memS}, Class: ClassStore, Sem: Store{4}, Doc: "word at rs1+imm = rs2"},

		{Name: "addi", Enc: encI(0x13, 0), Format: fmtI, Class: ClassALU, Sem: IntOp(add), Doc: "rd = rs1 + imm"},
		{Name: "slti", Enc: encI(0x13, 2), Format: fmtI, Class: ClassALU, Sem: IntOp(slt), Doc: "rd = rs1 < imm, signed"},
		{Name: "sltiu", Enc: encI(0x13, 3), Format: fmtI, Class: ClassALU, Sem: IntOp(sltu), Doc: "rd = rs1 < imm, unsigned"},
		{Name: "xori", Enc: encI(0x13, 4), Format: fmtI, Class: ClassALU, Sem: IntOp(xor), Doc: "rd = rs1 ^ imm"},
		{Name: "ori", Enc: encI(0x13, 6), Format: fmtI, Class: ClassALU, Sem: IntOp(or), Doc: "rd = rs1 | imm"},
		{Name: "andi", Enc: encI(0x13, 7), Format: fmtI, Class: ClassALU, Sem: IntOp(and), Doc: "rd = rs1 & imm"},
		{Name: "slli", Enc: encR(0x13, 1, 0), Format: fmtSh, Class: ClassALU, Sem: IntOp(sll), Doc: "rd = rs1 << shamt"},
		{Name: "srli", Enc: encR(0x13, 5, 0), Format: fmtSh, Class: ClassALU, Sem: IntOp(srl), Doc: "rd = rs1 >> shamt, zeros in"},
		{Name: "srai", Enc: encR(0x13, 5, 0x20), Format: fmtSh, Class: ClassALU, Sem: IntOp(sra), Doc: "rd = rs1 >> shamt, sign in"},

		{Name: "add", Enc: encR(0x33, 0, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(add), Doc: "rd = rs1 + rs2"},
		{Name: "sub", Enc: encR(0x33, 0, 0x20), Format: fmtR, Class: ClassALU, Sem: IntOp(sub), Doc: "rd = rs1 - rs2"},
		{Name: "sll", Enc: encR(0x33, 1, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(sll), Doc: "rd = rs1 << (rs2 & 31)"},
		{Name: "slt", Enc: encR(0x33, 2, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(slt), Doc: "rd = rs1 < rs2, signed"},
		{Name: "sltu", Enc: encR(0x33, 3, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(sltu), Doc: "rd = rs1 < rs2, unsigned"},
		{Name: "xor", Enc: encR(0x33, 4, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(xor), Doc: "rd = rs1 ^ rs2"},
		{Name: "srl", Enc: encR(0x33, 5, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(srl), Doc: "rd = rs1 >> (rs2 & 31), zeros in"},
		{Name: "sra", Enc: encR(0x33, 5, 0x20), Format: fmtR, Class: ClassALU, Sem: IntOp(sra), Doc: "rd = rs1 >> (rs2 & 31), sign in"},
		{Name: "or", Enc: encR(0x33, 6, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(or), Doc: "rd = rs1 | rs2"},
		{Name: "and", Enc: encR(0x33, 7, 0), Format: fmtR, Class: ClassALU, Sem: IntOp(and), Doc: "rd = rs1 & rs2"},

		{Name: "fence", Enc: encI(0x0F, 0).rd0().rs10().plainFM(), Format: Format{fenceSet}, Class: ClassFence, Sem: Fence{}, Doc: "wait until earlier memory operations of the warp are seen"},
		{Name: "fence.tso", Enc: encFixed(0x8330000F), Class: ClassFence, Sem: Fence{}, Doc: "as fence rw, rw here"},
		{Name: "ecall", Enc: encFixed(0x00000073), Class: ClassWarp, Sem: Environment{ExceptionMachineCall}, Doc: "trap; without a handler a program error: no operating system here"},
		{Name: "ebreak", Enc: encFixed(0x00100073), Class: ClassWarp, Sem: Environment{ExceptionBreakpoint}, Doc: "trap; without a handler a program error: no debugger here"},
	},
}

func add(a, b uint32) uint32  { return a + b }
func sub(a, b uint32) uint32  { return a - b }
func xor(a, b uint32) uint32  { return a ^ b }
func or(a, b uint32) uint32   { return a | b }
func and(a, b uint32) uint32  { return a & b }
func sll(a, b uint32) uint32  { return a << (b & 31) }
func srl(a, b uint32) uint32  { return a >> (b & 31) }
func sra(a, b uint32) uint32  { return uint32(int32(a) >> (b & 31)) }
func slt(a, b uint32) uint32  { return flag(less(a, b)) }
func sltu(a, b uint32) uint32 { return flag(below(a, b)) }

func equal(a, b uint32) bool    { return a == b }
func notEqual(a, b uint32) bool { return a != b }
func less(a, b uint32) bool     { return int32(a) < int32(b) }
func notLess(a, b uint32) bool  { return int32(a) >= int32(b) }
func below(a, b uint32) bool    { return a < b }
func notBelow(a, b uint32) bool { return a >= b }

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
