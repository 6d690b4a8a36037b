package emu

// Unit is a graph unit as the untimed machine drives it: every request is
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
}
