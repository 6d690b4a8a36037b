package weaver

import (
	"heddle/components/accel"
	"heddle/isa/emu"
)

// Interfaces of package accel that a machine uses.
var (
	_ accel.Spec      = (*Spec)(nil)
	_ accel.MaskSpec  = (*Spec)(nil)
	_ accel.SizedSpec = (*Spec)(nil)
)

// FitsCore returns the result of Fits.
func (s *Spec) FitsCore(at accel.Shape) (key, msg string, ok bool) {
	return s.Fits(at.Warps, at.Threads)
}

// NewUnit returns the Weaver of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return New(name, s.Derived(at.Warps, at.Threads, at.ScratchpadLatency), at.Warps, at.Threads)
}

// NewFunctional returns the Weaver's functional model.
func (s *Spec) NewFunctional(at accel.Shape) (emu.Unit, error) {
	return NewFunctional(*s, at.Warps, at.Threads)
}

// SetsMask returns mask_by_unit.
func (s *Spec) SetsMask() bool { return s.MaskByUnit }

// Enlarge raises the DT to a row for each warp.
func (s *Spec) Enlarge(at accel.Shape) { s.DTEntries = max(s.DTEntries, at.Warps*at.Threads) }
