package weaver

import (
	"fmt"

	"heddle/isa"
	"heddle/isa/emu"
)

// Functional answers every request at once, in order of arrival.
type Functional struct {
	State
	identity
	spec Spec
}

var _ emu.Unit = (*Functional)(nil)

// NewFunctional returns the Weaver of one core of a functional machine.
func NewFunctional(s Spec, warps, threads int) (*Functional, error) {
	if err := s.Check(warps, threads); err != nil {
		return nil, err
	}
	return &Functional{State: *NewState(s, warps, threads), identity: s.identity(warps, threads), spec: s}, nil
}

// Launch discards all registrations.
func (u *Functional) Launch() { u.Reset() }

// Exec executes one instruction of one warp.
func (u *Functional) Exec(r *emu.UnitRequest) error {
	switch r.Fn {
	case isa.WeaverReg:
		return u.RegisterLanes(r)
	case isa.WeaverSkip:
		u.Skip(r.Mask, r.A)
		u.Drop()
	case isa.WeaverDecID:
		u.decode(r)
	case isa.WeaverDecLoc:
		copy(r.Out, u.Row(r.Warp))
	default:
		panic(fmt.Sprintf("BUG: weaver: function %d", r.Fn))
	}
	return nil
}

// decode runs the FSM from one request to its answer.
func (u *Functional) decode(r *emu.UnitRequest) {
	if u.Phase() == Registering {
		u.Begin()
	}
	for u.Phase() == Decoding && u.Fill(r.Mask) != 0 {
		slot := u.Next()
		if slot < 0 {
			u.End()
			break
		}
		u.Load(slot)
	}
	filled := u.Emit(r.Warp, r.Mask, r.Out)
	if u.spec.MaskByUnit && filled != 0 {
		r.NewMask = filled
	}
}
