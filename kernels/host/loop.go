package host

import "context"

// Steps is a host program of super-steps. Everything that it points to is state, which a checkpoint saves.
type Steps interface {
	// Begin runs everything before the first super-step. A run that resumes from a checkpoint does not begin again.
	Begin(ctx context.Context) error
	// Over reports whether no super-step follows. It is called after Begin and after each super-step, and may turn to
	// the next phase of the program.
	Over() (bool, error)
	// Next returns the number of the next super-step, as the device is told of it, from 1.
	Next() int
	// Step runs one super-step.
	Step(ctx context.Context) error
}

// Loop runs a host program from its beginning, or from a checkpoint of the device's, to its end.
func Loop(ctx context.Context, d interface {
	Keeper
	Stepper
}, s Steps) error {
	resumed, err := d.Resume(s)
	if err == nil && !resumed {
		err = s.Begin(ctx)
	}
	for err == nil {
		over, wrong := s.Over()
		if over || wrong != nil {
			return wrong
		}
		n := s.Next()
		d.Keep(n)
		if err = d.BeginStep(n); err == nil {
			err = s.Step(ctx)
		}
	}
	return err
}

// Notified returns a device for Loop, which is told of checkpoints and super-steps if it asks for them.
func Notified(d Device) interface {
	Keeper
	Stepper
} {
	return notified{d}
}

// notified forwards the notifications that its device implements.
type notified struct{ device Device }

func (n notified) Resume(program any) (bool, error) { return Resume(n.device, program) }
func (n notified) Keep(step int)                    { Keep(n.device, step) }
func (n notified) BeginStep(step int) error         { return BeginStep(n.device, step) }
