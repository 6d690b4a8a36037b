package isa

// Functions of a Swarm tile's task unit.
const (
	SwarmEnqueue uint8 = iota
	SwarmFinish
)

// SwarmUnit is the name of the task unit.
const SwarmUnit = "swarm"

// SwarmArgs is the number of words that a task receives in a0, a1, …: three 64-bit arguments, as in MICRO 2015.
const SwarmArgs = 6

var swarm = Extension{
	Name: SwarmUnit,
	Doc: "Ordered tasks of the Swarm architecture (Jeffrey et al., MICRO 2015), on machines of Swarm tiles. A task begins " +
		"with its arguments in a0 to a5, its timestamp in a6, and all other registers 0; the program's entry is the first, " +
		"at timestamp 0. Tasks appear to run one after another, in the order of their timestamps. The encodings are ours.",
	Rows: []Row{
		{Name: "swarm.enqueue", Enc: encR(0x5B, 0, 7).rd0(), Format: Format{rs1, rs2}, Class: ClassUnit, Sem: UnitOp{SwarmUnit, SwarmEnqueue}, Doc: "new task at address rs1 with timestamp rs2, not below the task's own, and a0 to a5 as arguments"},
		{Name: "swarm.finish", Enc: encR(0x5B, 1, 7).rd0().rs10().rs20(), Format: Format{}, Class: ClassUnit, Sem: UnitOp{SwarmUnit, SwarmFinish}, Doc: "end of the task"},
	},
}
