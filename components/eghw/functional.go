package eghw

import (
	"fmt"

	"heddle/isa/emu"
)

// Functional answers every request at once: it runs the Engine, with a memory that answers at once, until the answer is
// there.
type Functional struct {
	*Engine
	now uint64
}

var _ emu.MemoryUnit = (*Functional)(nil)

// NewFunctional returns the unit of one core of a functional machine.
func NewFunctional(s Spec, shape Shape) (*Functional, error) {
	s = s.Derived(shape, 1)
	if err := s.Check(shape); err != nil {
		return nil, err
	}
	return &Functional{Engine: NewEngine(s, shape)}, nil
}

// Exec executes one instruction of one warp.
func (u *Functional) Exec(r *emu.UnitRequest) error {
	for idle := 0; ; {
		u.now++
		step := u.Cycle(u.now, r, true, true)
		if step.Took {
			r = nil
		}
		if step.HasRequest {
			u.Arrive(step.Request.Tag)
		}
		if step.Err != nil {
			return step.Err
		}
		if u.Err() != nil {
			return u.Err()
		}
		if r == nil && u.pops.Len() == 0 && u.answers.Len() == 0 && u.outstanding() == 0 {
			return nil
		}
		if idle++; step.Moved {
			idle = 0
		} else if idle > u.spec.BufferLatency+u.spec.ReadWords*u.spec.WriteWords*int(u.line) {
			panic(fmt.Sprintf("BUG: eghw %d @%d: a request is not answered", u.shape.Core, u.now))
		}
	}
}
