package isa

var zicond = Extension{
	Name: "Zicond",
	Doc:  "Conditional zeroing (RISC-V unprivileged specification, chapter 12), with which compilers write selections without a branch.",
	Rows: []Row{
		{Name: "czero.eqz", Enc: encR(0x33, 5, 7), Format: fmtR, Class: ClassALU, Sem: IntOp(czeroEqz), Doc: "rd = rs1, or 0 if rs2 = 0"},
		{Name: "czero.nez", Enc: encR(0x33, 7, 7), Format: fmtR, Class: ClassALU, Sem: IntOp(czeroNez), Doc: "rd = rs1, or 0 if rs2 ≠ 0"},
	},
}

func czeroEqz(a, b uint32) uint32 {
	if b == 0 {
		return 0
	}
	return a
}

func czeroNez(a, b uint32) uint32 {
	if b != 0 {
		return 0
	}
	return a
}
