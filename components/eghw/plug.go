package eghw

import (
	"heddle/components/accel"
	"heddle/isa/emu"
)

// Interfaces of package accel that a machine and the host use.
var (
	_ accel.Spec           = (*Spec)(nil)
	_ accel.MemorySpec     = (*Spec)(nil)
	_ accel.ScratchpadSpec = (*Spec)(nil)
	_ accel.Managed        = (*EGHW)(nil)
	_ accel.Managed        = (*Functional)(nil)
)

// FitsCore returns the result of Fits.
func (s *Spec) FitsCore(at accel.Shape) (key, msg string, ok bool) { return s.Fits(at) }

// NewUnit returns the unit of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return New(name, s.Derived(at, at.ScratchpadLatency), at)
}

// NewFunctional returns the unit's functional model.
func (s *Spec) NewFunctional(at accel.Shape) (emu.Unit, error) { return NewFunctional(*s, at) }

// BypassesL1 returns bypass_l1.
func (s *Spec) BypassesL1() bool { return s.BypassL1 }

// Manage adds the unit to the host-side interface h, or to a new one.
func (e *Engine) Manage(h accel.Hand) accel.Hand {
	on, _ := h.(Host)
	return Host{append(on.Units, e)}
}

// Manage adds the unit to the host-side interface h, or to a new one.
func (u *EGHW) Manage(h accel.Hand) accel.Hand { return u.engine.Manage(h) }

// SetUp configures the units. In a launch that takes no edges they stay idle.
func (h Host) SetUp(s accel.Setup) error {
	e := s.Edges
	if e.Fields == 0 {
		return nil
	}
	set := Setup{Vertices: e.Vertices, Offsets: e.Offsets, Edges: e.Edges, Neighbours: e.Neighbours}
	if e.Fields&accel.FieldWeight != 0 {
		set.Weights = e.Weights
	}
	return h.Configure(set)
}
