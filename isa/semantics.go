package isa

// Semantics is the meaning of an instruction. Each of the types below is one shape of meaning: a computation, without
// the walk over lanes, the access to memory or the time, which belong to the executing machine. A machine switches over
// these types once, when it prepares an instruction, never while it runs.
type Semantics interface{ shape() string }

// IntOp: rd = f(rs1, rs2) or, when the format has an immediate, f(rs1, imm).
// f is a named function: its loop over lanes is generated (lanes.go).
type IntOp func(a, b uint32) uint32

// PCOp: rd = f(pc, imm); the same value in every lane.
type PCOp func(pc, imm uint32) uint32

// Branch: the warp goes to pc+imm when taken. All active lanes must agree. The function is named, as IntOp's.
type Branch func(a, b uint32) bool

// Jump: rd = pc+4; the warp goes to pc+imm, or to rs1+imm when Indirect, taken
// from the last active lane.
type Jump struct{ Indirect bool }

// Load: rd = memory[rs1+imm], extended from Size bytes.
type Load struct {
	Size   uint8 // 1, 2 or 4
	Signed bool
}

// Store: memory[rs1+imm] = the low Size bytes of rs2.
type Store struct{ Size uint8 }

// AMO: rd = memory[rs1]; memory[rs1] = f(that, rs2), indivisibly. The function is named, as IntOp's.
type AMO func(mem, src uint32) uint32

// LoadReserved and StoreConditional are the A extension's pair.
type (
	LoadReserved     struct{}
	StoreConditional struct{}
)

// CompareSwap: old = memory[rs1]; if old == rd, memory[rs1] = rs2; rd = old.
type CompareSwap struct{}

// FPOp: rd = f(rs1, rs2, rs3) under the rounding mode of e, raising flags in e.
type FPOp func(e *FP, a, b, c uint32) uint32

// CSROp: rd = csr; csr = f(csr, rs1 or zimm). Set and clear do not write when
// their source is x0 or zimm 0, and csrrw does not read when rd is x0.
type CSROp struct {
	F         func(old, src uint32) uint32
	Immediate bool // the source is zimm
	Swap      bool // csrrw: writes always
}

// Fence orders memory; FenceI orders stores before later fetches.
type (
	Fence  struct{}
	FenceI struct{}
)

// Environment is ecall or ebreak: a trap, and so a program error unless the program handles traps, as this machine has
// no operating system and no debugger.
type Environment struct{ Cause Exception }

// TrapReturn ends a trap's handler.
type TrapReturn struct{}

// Vote: rd = f(active, set) in every active lane, where bit l of set means that lane l is active and bit 0 of its rs1
// is 1.
type Vote func(active, set uint32) uint32

// Shuffle: rd = rs1 of the lane that f names; ok false keeps the lane's own
// value. b, c and mask are the fields of rs2.
type Shuffle func(lane, b, c, mask int) (source int, ok bool)

// Control changes the thread mask, the PC or the set of running warps.
type Control func(w Warp, a ControlArgs) error

// UnitOp is a request to the graph unit of that name behind the core's accelerator socket; the unit defines its effect.
type UnitOp struct {
	Unit string // "weaver", "peg", "eghw", "hwwl"
	Fn   uint8  // which function of that unit: the constants beside its rows
}

// ControlArgs are the operands of a Control instruction.
type ControlArgs struct {
	A, B    uint32 // rs1 and rs2 of the last active lane
	Pred    uint32 // bit l: lane l is active and bit 0 of its rs1 is 1
	Negated bool   // the .n form
}

// Warp is the state that a Control instruction may read and change.
type Warp interface {
	Mask() uint32               // active lanes
	SetMask(m uint32)           // 0 ends the warp
	Jump(pc uint32)             // where the warp goes instead of pc+4
	IPDOM() *IPDOM              // its divergence stack
	NextPC() uint32             // pc+4
	Spawn(n, pc uint32) error   // wspawn
	Barrier(id, n uint32) error // bar
	Return(v uint32)            // rd = v in every active lane
}

func (IntOp) shape() string            { return "IntOp" }
func (PCOp) shape() string             { return "PCOp" }
func (Branch) shape() string           { return "Branch" }
func (Jump) shape() string             { return "Jump" }
func (Load) shape() string             { return "Load" }
func (Store) shape() string            { return "Store" }
func (AMO) shape() string              { return "AMO" }
func (LoadReserved) shape() string     { return "LoadReserved" }
func (StoreConditional) shape() string { return "StoreConditional" }
func (CompareSwap) shape() string      { return "CompareSwap" }
func (FPOp) shape() string             { return "FPOp" }
func (CSROp) shape() string            { return "CSROp" }
func (Fence) shape() string            { return "Fence" }
func (FenceI) shape() string           { return "FenceI" }
func (Environment) shape() string      { return "Environment" }
func (TrapReturn) shape() string       { return "TrapReturn" }
func (Vote) shape() string             { return "Vote" }
func (Shuffle) shape() string          { return "Shuffle" }
func (Control) shape() string          { return "Control" }
func (UnitOp) shape() string           { return "UnitOp" }
