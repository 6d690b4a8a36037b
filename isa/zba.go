package isa

var zba = Extension{
	Name: "Zba",
	Doc: "Shifted additions (RISC-V unprivileged specification, chapter 30), which compute addresses of words, as GPUs' do by LEA (NVIDIA) and v_lshl_add_u32 (AMD). " +
		"Only machines with `core.zba` have it; Vortex lacks it.",
	Optional: true,
	Rows: []Row{
		{Name: "sh1add", Enc: encR(0x33, 2, 0x10), Format: fmtR, Class: ClassALU, Sem: IntOp(sh1add), Doc: "rd = rs1 · 2 + rs2"},
		{Name: "sh2add", Enc: encR(0x33, 4, 0x10), Format: fmtR, Class: ClassALU, Sem: IntOp(sh2add), Doc: "rd = rs1 · 4 + rs2"},
		{Name: "sh3add", Enc: encR(0x33, 6, 0x10), Format: fmtR, Class: ClassALU, Sem: IntOp(sh3add), Doc: "rd = rs1 · 8 + rs2"},
	},
}

func sh1add(a, b uint32) uint32 { return a<<1 + b }

func sh2add(a, b uint32) uint32 { return a<<2 + b }

func sh3add(a, b uint32) uint32 { return a<<3 + b }
