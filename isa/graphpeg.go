package isa

// Functions of the GraphPEG unit. A pop or get returns the field named in the
// low two bits.
const (
	PegGet  uint8 = 0 // + PegSrc..PegIdx
	PegPop  uint8 = 4 // + PegSrc..PegIdx
	PegPopV uint8 = 8
	PegPush uint8 = 9

	PegSrc uint8 = 0
	PegDst uint8 = 1
	PegWt  uint8 = 2
	PegIdx uint8 = 3
)

var peg = Extension{
	Name: "peg", Presence: HasPeg,
	Doc: "The edge-gathering unit of GraphPEG (ACM TACO 18(3), 2021). The paper prints no encodings; opcode 0x5B is ours. " +
		"rs2 holds the number of a vertex-list, taken from the last active lane.",
	Rows: []Row{
		{Name: "peg.get.src", Enc: encR(0x5B, 0, 0).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"peg", PegGet + PegSrc}, Doc: "rd = source of the edge this warp's last pop took"},
		{Name: "peg.get.dst", Enc: encR(0x5B, 1, 0).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"peg", PegGet + PegDst}, Doc: "rd = destination of that edge"},
		{Name: "peg.get.wt", Enc: encR(0x5B, 2, 0).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"peg", PegGet + PegWt}, Doc: "rd = weight of that edge"},
		{Name: "peg.get.idx", Enc: encR(0x5B, 3, 0).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"peg", PegGet + PegIdx}, Doc: "rd = number of that edge"},
		{Name: "peg.pop.src", Enc: encR(0x5B, 0, 1).rs10(), Format: Format{rd, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPop + PegSrc}, Doc: "take the next edge of list rs2 for every active lane; rd = its source, -1 where there is none"},
		{Name: "peg.pop.dst", Enc: encR(0x5B, 1, 1).rs10(), Format: Format{rd, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPop + PegDst}, Doc: "the same; rd = its destination"},
		{Name: "peg.pop.wt", Enc: encR(0x5B, 2, 1).rs10(), Format: Format{rd, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPop + PegWt}, Doc: "the same; rd = its weight"},
		{Name: "peg.pop.idx", Enc: encR(0x5B, 3, 1).rs10(), Format: Format{rd, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPop + PegIdx}, Doc: "the same; rd = its number"},
		{Name: "peg.popv", Enc: encR(0x5B, 0, 2).rs10(), Format: Format{rd, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPopV}, Doc: "vertex-list mode: rd = next vertex of list rs2, -1 where there is none"},
		{Name: "peg.push", Enc: encR(0x5B, 0, 3).rd0(), Format: Format{rs1, rs2}, Class: ClassUnit, Sem: UnitOp{"peg", PegPush}, Doc: "append vertex rs1 of every active lane to list rs2"},
	},
}
