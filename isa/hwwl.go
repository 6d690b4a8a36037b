package isa

// Functions of the HWWL unit.
const (
	HwwlPop uint8 = iota
	HwwlPush
)

var hwwl = Extension{
	Name: "hwwl", Presence: HasHWWL,
	Doc: "Hardware worklist, a comparison unit of GraphPEG §4 (after Kim & Batten, MICRO 2014). The encodings are ours.",
	Rows: []Row{
		{Name: "hwwl.pop", Enc: encR(0x5B, 0, 5).rs10().rs20(), Format: Format{rd}, Class: ClassUnit, Sem: UnitOp{"hwwl", HwwlPop}, Doc: "rd = next vertex of the worklist, -1 where there is none"},
		{Name: "hwwl.push", Enc: encR(0x5B, 1, 5).rd0().rs20(), Format: Format{rs1}, Class: ClassUnit, Sem: UnitOp{"hwwl", HwwlPush}, Doc: "append vertex rs1 of every active lane to the worklist"},
	},
}
