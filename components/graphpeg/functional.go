package graphpeg

import (
	"fmt"

	"heddle/components/balance"
	"heddle/isa/emu"
)

// Functional answers every request at once: it runs the Engine, with a memory that answers at once, until the answer is
// there. No edges move between cores, so a drained unit is done.
type Functional struct {
	*Engine
	now uint64
}

var _ emu.Unit = (*Functional)(nil)

// NewFunctional returns the unit of one core of a functional machine.
func NewFunctional(s Spec, shape Shape) (*Functional, error) {
	s = s.Derived(shape.Warps, 1)
	if err := s.Check(shape.Threads, shape.LineBytes); err != nil {
		return nil, err
	}
	s.TLBEntries = 0 // no time passes
	return &Functional{Engine: NewEngine(s, shape)}, nil
}

// NewFunctionalWorklist returns the same unit with the instructions of a hardware worklist.
func NewFunctionalWorklist(s Spec, shape Shape) (*Functional, error) {
	u, err := NewFunctional(s, shape)
	if err == nil {
		u.AsWorklist()
	}
	return u, err
}

// Launch begins a kernel.
func (u *Functional) Launch() {
	u.Engine.Launch()
	u.Command(balance.Command{Order: balance.Done, Epoch: u.exchange.epoch})
}

// Exec executes one instruction of one warp.
func (u *Functional) Exec(r *emu.UnitRequest) error {
	head := r
	for idle := 0; ; {
		u.now++
		step := u.Cycle(u.now, head, true, true)
		if step.Took {
			head = nil
		}
		if step.HasRequest && !step.Request.Write {
			u.Arrive(step.Request.Tag)
		}
		if step.Err != nil || u.Err() != nil {
			return firstError(step.Err, u.Err())
		}
		if head == nil && (step.Answer != nil || !u.owes()) {
			break
		}
		if idle++; step.Moved || step.HasRequest {
			idle = 0
		} else if idle > u.spec.BufferLatency+1 {
			panic(fmt.Sprintf("BUG: graphpeg %d @%d: function %d is not answered", u.shape.Core, u.now, r.Fn))
		}
	}
	u.exchange.reports = u.exchange.reports[:0]
	return nil
}

// owes reports whether an answer is pending.
func (u *Functional) owes() bool { return u.pops.Len() > 0 || u.answers.Len() > 0 }

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
