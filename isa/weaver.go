package isa

// Functions of the Weaver unit.
const (
	WeaverReg uint8 = iota
	WeaverSkip
	WeaverDecID
	WeaverDecLoc
)

var weaver = Extension{
	Name: "weaver", Presence: HasWeaver,
	Doc: "The Weaver unit of SparseWeaver (HPCA 2025, §III, Table II). DEC_LOC's function is in funct7: Table II gives it 8, " +
		"which the three bits of funct3 cannot hold.",
	Rows: []Row{
		{Name: "weaver.reg", Enc: encR4(0x2B, 1), Format: Format{rs1, rs2, rs3}, Class: ClassUnit, Sem: UnitOp{"weaver", WeaverReg}, Doc: "register vertex rs1 with its first edge rs2 and degree rs3, at slot warp·threads + lane"},
		{Name: "weaver.skip", Enc: encR4(0x2B, 2).rs20().with(27, 0), Format: Format{rs1}, Class: ClassUnit, Sem: UnitOp{"weaver", WeaverSkip}, Doc: "drop the remaining edges of the entry being decoded if its vertex is rs1 of any active lane"},
		{Name: "weaver.dec.id", Enc: encR(0x0B, 7, 0).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"weaver", WeaverDecID}, Doc: "rd = vertex of the lane's next edge, -1 where there is none"},
		{Name: "weaver.dec.loc", Enc: encR(0x0B, 7, 8).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"weaver", WeaverDecLoc}, Doc: "rd = edge number of the lane's edge in the warp's last batch"},
	},
}

// encR4 is the R4 type with funct3 and rd fixed to 0: all three registers are sources.
func encR4(op, f2 uint32) Encoding { return Encoding{op | f2<<25, 3<<25 | 7<<12 | 31<<7 | 0x7F} }
