package emu

import "heddle/isa"

// Unit is a graph unit as the functional machine drives it: every request is
// answered at once. The state behind it is the one that the unit's timed model
// uses, so the two agree.
type Unit interface {
	// Name is the UnitOp.Unit of the instructions it executes.
	Name() string
	// Launch prepares the unit for a kernel.
	Launch()
	// Exec carries out one request. An error is a program error.
	Exec(r *UnitRequest) error
	// Presence is the unit's bit in the units CSR.
	Presence() uint32
	// CSR returns a CSR that the unit owns.
	CSR(num uint16) (v uint32, ok bool)
}

// MemoryUnit is a unit that reads and writes memory by itself.
type MemoryUnit interface {
	Unit
	UseMemory(m *Memory)
}

// UnitRequest is one unit instruction of one warp. Slices have one element per
// lane; those of inactive lanes mean nothing.
type UnitRequest struct {
	Fn      uint8
	Warp    int
	Mask    uint32
	A, B, C []uint32 // values of rs1, rs2, rs3
	Out     []uint32 // the answer, for instructions with rd
	NewMask uint32   // the warp's mask afterwards; Mask unless the unit changes it
	Retry   bool     // nothing yet: ask again when other warps have moved
	Tag     int      // on a timed machine: its identifier of the request
}

// UnitCall is one unit instruction of one warp on a timed machine, from the read of its operands, through the unit's
// answer, to the delivery of the answer to the warp. Other instructions of the warp execute meanwhile.
type UnitCall struct {
	UnitRequest
	op      *Op
	w       *Warp
	pc      uint32
	a, b, c isa.Lanes
	out     isa.Lanes
}

// Ask reads the operands of a unit instruction. It takes part in the program
// order of the warp's instructions, as Issue does.
func (w *Warp) Ask(o *Op, u *UnitCall) {
	u.a, u.b, u.c = w.regs[o.Rs1], w.regs[o.Rs2], w.regs[o.Rs3]
	w.AskGiven(o, u)
}

// AskGiven is Ask without the operands, which the caller fills in. They have room for MaxThreads lanes.
func (w *Warp) AskGiven(o *Op, u *UnitCall) {
	u.op, u.w, u.pc = o, w, w.pc
	u.UnitRequest = UnitRequest{
		Fn: o.UnitFn(), Warp: w.id, Mask: w.mask, NewMask: w.mask, Tag: u.Tag,
		A: u.a[:w.n], B: u.b[:w.n], C: u.c[:w.n], Out: u.out[:w.n],
	}
	w.count(o)
	w.pc += 4
}

// Answer gives the warp the unit's answer: rd in the lanes that asked, and the mask.
func (w *Warp) Answer(u *UnitCall) {
	w.regs[u.op.rd].Take(&u.out, u.Mask)
	w.AnswerGiven(u)
}

// AnswerGiven gives the warp the mask only.
func (w *Warp) AnswerGiven(u *UnitCall) {
	if u.NewMask != u.Mask {
		w.SetMask(u.NewMask)
	}
}

// Trap is the unit's error as a program error of this instruction.
func (u *UnitCall) Trap(err error) error { return u.w.trap(faultf(UnitError, -1, "%v", err), u.pc) }

// Op returns the instruction.
func (u *UnitCall) Op() *Op { return u.op }

// UnitFn is the function of a unit instruction.
func (o *Op) UnitFn() uint8 { return o.fn }
