package hwwl

import (
	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/graphpeg"
	"heddle/isa/emu"
)

// What a machine asks of a Spec.
var (
	_ accel.Spec       = (*Spec)(nil)
	_ accel.MemorySpec = (*Spec)(nil)
	_ balance.Own      = (*Spec)(nil)
)

// FitsCore is Fits.
func (s *Spec) FitsCore(at accel.Shape) (key, msg string, ok bool) {
	return s.Fits(at.Threads, at.LineBytes)
}

// NewUnit makes the worklist of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return New(name, *s, at, at.ScratchpadLatency)
}

// NewFunctional makes the worklist's functional model.
func (s *Spec) NewFunctional(at accel.Shape) (emu.Unit, error) {
	return graphpeg.NewFunctionalWorklist(s.PEG(), at)
}

// BypassesL1 is bypass_l1.
func (s *Spec) BypassesL1() bool { return s.BypassL1 }

// Balancer makes the lists equally long.
func (s *Spec) Balancer(units []balance.Unit, done func() bool) balance.Ideal {
	own := make([]Unit, len(units))
	for i, u := range units {
		own[i] = u.(Unit)
	}
	return NewEqualizer("Equalizer", s.Interval, own, done)
}

// Constants are none: the paper counts only what a GraphPEG keeps.
func (u Unit) Constants() (name string, figures any) { return "", nil }
