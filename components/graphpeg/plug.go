package graphpeg

import (
	"fmt"

	"heddle/components/accel"
	"heddle/isa/emu"
)

// Interfaces of package accel that a machine and the host use.
var (
	_ accel.Spec       = (*Spec)(nil)
	_ accel.MemorySpec = (*Spec)(nil)
	_ accel.ListHand   = Host{}
	_ accel.Managed    = (*PEG)(nil)
	_ accel.Managed    = (*Functional)(nil)
	_ accel.Described  = (*PEG)(nil)

	_ accel.BalancedSpec = (*Spec)(nil)
)

// FitsCore is Fits plus a check that the core's scratchpad is as large as the unit's share of it.
func (s *Spec) FitsCore(at accel.Shape) (key, msg string, ok bool) {
	if s.ScratchpadLimit > at.ScratchpadBytes {
		const why = "%d: the core has a scratchpad of %d bytes (core.scratchpad_bytes): lower the one or raise the other"
		return "scratchpad_limit", fmt.Sprintf(why, s.ScratchpadLimit, at.ScratchpadBytes), false
	}
	return s.Fits(at.Threads, at.LineBytes)
}

// FitsPolicy refuses, for the SystemVerilog, policies that move vertices, or edges in zero time.
func (s *Spec) FitsPolicy(policy string) (key, msg string, ok bool) {
	if s.Model == ModelRTL && policy != "none" && policy != "ef" {
		return "model", fmt.Sprintf("rtl: ctrlproc.policy = %s: the SystemVerilog donates and receives edges alone: "+
			"expected none or ef", policy), false
	}
	return "", "", true
}

// NewUnit returns the unit of a core.
func (s *Spec) NewUnit(name string, at accel.Shape) (accel.Unit, error) {
	return New(name, s.Derived(at.Warps, at.ScratchpadLatency), at)
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
func (p *PEG) Manage(h accel.Hand) accel.Hand { return p.engine.Manage(h) }

// SetUp configures the units. A launch without edge fields runs in vertex-list mode.
func (h Host) SetUp(s accel.Setup) error {
	e := s.Edges
	return h.Configure(Setup{
		VertexMode: e.Fields == 0, Pull: e.Pull, Fields: e.Fields, Vertices: e.Vertices, Offsets: e.Offsets,
		Edges:      e.Edges,
		Neighbours: e.Neighbours, Weights: e.Weights, In: s.In, Out: s.Out, Regions: s.Memory,
	})
}

// Deal distributes vertices in blocks.
func (h Host) Deal(list int, vertices []uint32) error { return h.Fill(list, vertices, Block) }

// Constants returns the storage of the unit.
func (p *PEG) Constants() (name string, figures any) { return "peg.storage", &p.engine.Storage }
