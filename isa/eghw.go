package isa

// Functions of the EGHW unit.
const (
	EghwPush uint8 = iota
	EghwPop
	EghwGetOther
	EghwGetWt
)

var eghw = Extension{
	Name: "eghw", Presence: HasEGHW,
	Doc: "Edge-generating hardware, the comparison unit of SparseWeaver §V-H. The paper prints no encodings; these are ours.",
	Rows: []Row{
		{Name: "eghw.push", Enc: encR(0x5B, 0, 4).rd0().rs20(), Format: Format{rs1}, Class: ClassUnit, Sem: UnitOp{"eghw", EghwPush}, Doc: "give vertex rs1 of every active lane to the unit"},
		{Name: "eghw.pop", Enc: encR(0x5B, 1, 4).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"eghw", EghwPop}, Doc: "take the next edge for every active lane; rd = its base vertex, -1 where there is none"},
		{Name: "eghw.get.other", Enc: encR(0x5B, 2, 4).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"eghw", EghwGetOther}, Doc: "rd = opposite vertex of the edge this warp's last pop took"},
		{Name: "eghw.get.wt", Enc: encR(0x5B, 3, 4).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"eghw", EghwGetWt}, Doc: "rd = weight of that edge"},
	},
}
