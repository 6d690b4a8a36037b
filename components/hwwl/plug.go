package hwwl

import (
	"heddle/components/accel"
	"heddle/components/balance"
	"heddle/components/graphpeg"
	"heddle/isa/emu"
)

// Interfaces of package accel that a machine uses.
var (
	_ accel.Spec       = (*Spec)(nil)
	_ accel.MemorySpec = (*Spec)(nil)
	_ balance.Own      = (*Spec)(nil)
)

// FitsCore returns the result of Fits.
func (s *Spec) FitsCore(at accel.Shape) (key, msg string, ok bool) {
	return s.Fits(at.Threads, at.LineBytes)
}

// NewUnit returns the worklist of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return New(name, *s, at, at.ScratchpadLatency)
}

// NewFunctional returns the worklist's functional model.
func (s *Spec) NewFunctional(at accel.Shape) (emu.Unit, error) {
	return graphpeg.NewFunctionalWorklist(s.PEG(), at)
}

// BypassesL1 returns bypass_l1.
func (s *Spec) BypassesL1() bool { return s.BypassL1 }

// Balancer returns an Equalizer of the lists.
func (s *Spec) Balancer(units []balance.Unit, done func() bool) balance.Ideal {
	own := make([]Unit, len(units))
	for i, u := range units {
		own[i] = u.(Unit)
	}
	return NewEqualizer("Equalizer", s.Interval, own, done)
}

// Constants returns none: the paper counts only the storage of a GraphPEG.
func (u Unit) Constants() (name string, figures any) { return "", nil }
