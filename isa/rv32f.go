package isa

var rv32f = Extension{
	Name: "RV32F",
	Doc: "Single-precision float (RISC-V unprivileged specification, chapter 21): IEEE 754-2008, five rounding modes, " +
		"canonical NaN 0x7fc00000, tininess after rounding.",
	Rows: []Row{
		{Name: "flw", Enc: encI(0x07, 2), Format: Format{fd, memI}, Class: ClassLoad, Sem: Load{4, false}, Doc: "fd = word at rs1+imm"},
		{Name: "fsw", Enc: encI(0x27, 2), Format: Format{fs2, memS}, Class: ClassStore, Sem: Store{4}, Doc: "word at rs1+imm = fs2"},

		{Name: "fmadd.s", Enc: encFR4(0x43), Format: fmtFR4, Class: ClassFMA, Sem: FPOp((*FP).MulAdd), Doc: "fd = fs1·fs2 + fs3, rounded once"},
		{Name: "fmsub.s", Enc: encFR4(0x47), Format: fmtFR4, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, c uint32) uint32 { return e.MulAdd(a, b, c^signBit) }), Doc: "fd = fs1·fs2 - fs3, rounded once"},
		{Name: "fnmsub.s", Enc: encFR4(0x4B), Format: fmtFR4, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, c uint32) uint32 { return e.MulAdd(a^signBit, b, c) }), Doc: "fd = -(fs1·fs2) + fs3, rounded once"},
		{Name: "fnmadd.s", Enc: encFR4(0x4F), Format: fmtFR4, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, c uint32) uint32 { return e.MulAdd(a^signBit, b, c^signBit) }), Doc: "fd = -(fs1·fs2) - fs3, rounded once"},

		{Name: "fadd.s", Enc: encFR(0x00), Format: fmtFR, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Add(a, b) }), Doc: "fd = fs1 + fs2"},
		{Name: "fsub.s", Enc: encFR(0x04), Format: fmtFR, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Add(a, b^signBit) }), Doc: "fd = fs1 - fs2"},
		{Name: "fmul.s", Enc: encFR(0x08), Format: fmtFR, Class: ClassFMA, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Mul(a, b) }), Doc: "fd = fs1 · fs2"},
		{Name: "fdiv.s", Enc: encFR(0x0C), Format: fmtFR, Class: ClassFDiv, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Div(a, b) }), Doc: "fd = fs1 / fs2"},
		{Name: "fsqrt.s", Enc: encFR(0x2C).rs20(), Format: Format{fd, fs1, rm}, Class: ClassFSqrt, Sem: FPOp(func(e *FP, a, _, _ uint32) uint32 { return e.Sqrt(a) }), Doc: "fd = √fs1"},

		{Name: "fsgnj.s", Enc: encR(0x53, 0, 0x10), Format: Format{fd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, b, _ uint32) uint32 { return a&^signBit | b&signBit }), Doc: "fd = fs1 with the sign of fs2"},
		{Name: "fsgnjn.s", Enc: encR(0x53, 1, 0x10), Format: Format{fd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, b, _ uint32) uint32 { return a&^signBit | ^b&signBit }), Doc: "fd = fs1 with the opposite sign of fs2"},
		{Name: "fsgnjx.s", Enc: encR(0x53, 2, 0x10), Format: Format{fd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, b, _ uint32) uint32 { return a ^ b&signBit }), Doc: "fd = fs1 with its sign changed by that of fs2"},
		{Name: "fmin.s", Enc: encR(0x53, 0, 0x14), Format: Format{fd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Min(a, b) }), Doc: "fd = the smaller; -0 < +0; a NaN loses"},
		{Name: "fmax.s", Enc: encR(0x53, 1, 0x14), Format: Format{fd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return e.Max(a, b) }), Doc: "fd = the larger; -0 < +0; a NaN loses"},
		{Name: "fle.s", Enc: encR(0x53, 0, 0x50), Format: Format{rd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return flag(e.Less(a, b, true)) }), Doc: "rd = fs1 ≤ fs2; any NaN: 0 and invalid"},
		{Name: "flt.s", Enc: encR(0x53, 1, 0x50), Format: Format{rd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return flag(e.Less(a, b, false)) }), Doc: "rd = fs1 < fs2; any NaN: 0 and invalid"},
		{Name: "feq.s", Enc: encR(0x53, 2, 0x50), Format: Format{rd, fs1, fs2}, Class: ClassFNCP, Sem: FPOp(func(e *FP, a, b, _ uint32) uint32 { return flag(e.Equal(a, b)) }), Doc: "rd = fs1 = fs2; any NaN: 0; signalling NaN: invalid"},

		{Name: "fcvt.w.s", Enc: encFR(0x60).with(20, 0), Format: Format{rd, fs1, rm}, Class: ClassFCvt, Sem: FPOp(func(e *FP, a, _, _ uint32) uint32 { return e.ToInt(a, -1<<31, 1<<31-1) }), Doc: "rd = fs1 as a signed integer, saturating"},
		{Name: "fcvt.wu.s", Enc: encFR(0x60).with(20, 1), Format: Format{rd, fs1, rm}, Class: ClassFCvt, Sem: FPOp(func(e *FP, a, _, _ uint32) uint32 { return e.ToInt(a, 0, 1<<32-1) }), Doc: "rd = fs1 as an unsigned integer, saturating"},
		{Name: "fcvt.s.w", Enc: encFR(0x68).with(20, 0), Format: Format{fd, rs1, rm}, Class: ClassFCvt, Sem: FPOp(func(e *FP, a, _, _ uint32) uint32 { return e.round(float64(int32(a))) }), Doc: "fd = rs1, signed"},
		{Name: "fcvt.s.wu", Enc: encFR(0x68).with(20, 1), Format: Format{fd, rs1, rm}, Class: ClassFCvt, Sem: FPOp(func(e *FP, a, _, _ uint32) uint32 { return e.round(float64(a)) }), Doc: "fd = rs1, unsigned"},
		{Name: "fmv.x.w", Enc: encR(0x53, 0, 0x70).rs20(), Format: Format{rd, fs1}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, _, _ uint32) uint32 { return a }), Doc: "rd = the bits of fs1"},
		{Name: "fclass.s", Enc: encR(0x53, 1, 0x70).rs20(), Format: Format{rd, fs1}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, _, _ uint32) uint32 { return classify(a) }), Doc: "rd = one bit: -∞ -normal -subnormal -0 +0 +subnormal +normal +∞ sNaN qNaN"},
		{Name: "fmv.w.x", Enc: encR(0x53, 0, 0x78).rs20(), Format: Format{fd, rs1}, Class: ClassFNCP, Sem: FPOp(func(_ *FP, a, _, _ uint32) uint32 { return a }), Doc: "fd = the bits of rs1"},
	},
}

// encFR and encFR4 leave the rounding-mode field open.
func encFR(f7 uint32) Encoding  { return Encoding{0x53 | f7<<25, 0xFE00007F} }
func encFR4(op uint32) Encoding { return Encoding{op, 3<<25 | 0x7F} }
