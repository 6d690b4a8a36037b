package isa

import "math"

var rv32a = Extension{
	Name: "RV32A",
	Doc: "Atomics (RISC-V unprivileged specification, chapter 14), with `amocas.w` of Zacas and heddle's own `amofadd.w`. " +
		"Addresses must be multiples of 4. On the timed machine an atomic with .aq holds back its warp's later accesses until it has been performed, and one with .rl waits for its warp's earlier atomics.",
	Rows: []Row{
		{Name: "lr.w", Enc: encA(0x02).rs20(), Format: Format{aqrl, rd, addr}, Class: ClassAtomic, Sem: LoadReserved{}, Doc: "rd = word at rs1, and reserve it"},
		{Name: "sc.w", Enc: encA(0x03), Format: fmtAMO, Class: ClassAtomic, Sem: StoreConditional{}, Doc: "if still reserved, word at rs1 = rs2 and rd = 0; else rd = 1"},
		{Name: "amoswap.w", Enc: encA(0x01), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amoswap), Doc: "rd = old word at rs1; word = rs2"},
		{Name: "amoadd.w", Enc: encA(0x00), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(add), Doc: "rd = old word at rs1; word = old + rs2"},
		{Name: "amoxor.w", Enc: encA(0x04), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(xor), Doc: "rd = old word at rs1; word = old ^ rs2"},
		{Name: "amoand.w", Enc: encA(0x0C), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(and), Doc: "rd = old word at rs1; word = old & rs2"},
		{Name: "amoor.w", Enc: encA(0x08), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(or), Doc: "rd = old word at rs1; word = old | rs2"},
		{Name: "amomin.w", Enc: encA(0x10), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amomin), Doc: "rd = old word at rs1; word = min(old, rs2), signed"},
		{Name: "amomax.w", Enc: encA(0x14), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amomax), Doc: "rd = old word at rs1; word = max(old, rs2), signed"},
		{Name: "amominu.w", Enc: encA(0x18), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amominu), Doc: "rd = old word at rs1; word = min(old, rs2), unsigned"},
		{Name: "amomaxu.w", Enc: encA(0x1C), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amomaxu), Doc: "rd = old word at rs1; word = max(old, rs2), unsigned"},
		{Name: "amocas.w", Enc: encA(0x05), Format: Format{aqrl, rdIn, rs2, addr}, Class: ClassAtomic, Sem: CompareSwap{}, Doc: "if the word at rs1 = rd, word = rs2; rd = old word"},
		{Name: "amofadd.w", Enc: encA(0x15), Format: fmtAMO, Class: ClassAtomic, Sem: AMO(amofadd), Doc: "rd = old word at rs1; word = old + rs2 as floats, to nearest even; raises no flags (ours)"},
	},
}

// encA leaves the aq and rl bits open.
func encA(f5 uint32) Encoding { return Encoding{0x2F | 2<<12 | f5<<27, 0xF800707F} }

func amoswap(_, s uint32) uint32 { return s }
func amominu(m, s uint32) uint32 { return min(m, s) }
func amomaxu(m, s uint32) uint32 { return max(m, s) }
func amomin(m, s uint32) uint32  { return uint32(min(int32(m), int32(s))) }
func amomax(m, s uint32) uint32  { return uint32(max(int32(m), int32(s))) }

// amofadd is performed where the word is, at the L2 bank, which has no frm and
// no fflags; GPUs' float atomics are the same. The host's addition is IEEE 754's, but for which NaN it makes.
func amofadd(m, s uint32) uint32 {
	sum := math.Float32frombits(m) + math.Float32frombits(s)
	if sum != sum {
		return CanonicalNaN
	}
	return math.Float32bits(sum)
}
