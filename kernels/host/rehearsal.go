package host

import (
	"context"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// Rehearsal answers what a host program can ask of a machine before it launches anything, without the machine: what is
// refused on the one is refused on the other. It keeps nothing, and launches nothing.
type Rehearsal struct {
	shape Shape
	unit  accel.Unit // of core 0; nil: none
}

var _ Device = (*Rehearsal)(nil)

// NewRehearsal returns that of a machine.
func NewRehearsal(cfg *configs.Machine) (*Rehearsal, error) {
	unit, err := sim.GraphUnit(cfg, 0)
	if err != nil {
		return nil, err
	}
	return &Rehearsal{shapeOf(cfg), unit}, nil
}

// shapeOf is the shape of a machine.
func shapeOf(cfg *configs.Machine) Shape {
	s := Shape{
		Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads,
		LineBytes: cfg.MemoryLine(), BarriersSignal: cfg.Core.DeviceBarrier == core.BarrierSignal,
	}
	if cfg.Core.Scratchpad {
		s.ScratchpadBytes = cfg.Core.ScratchpadBytes
	}
	if unit := cfg.Core.Unit.Spec; unit != nil {
		s.plug(unit, cfg.UnitShape(0))
	}
	return s
}

// Shape says what the machine is.
func (d *Rehearsal) Shape() Shape { return d.shape }

// WriteWords forgets them.
func (d *Rehearsal) WriteWords(uint32, []uint32) {}

// ShareWords forgets them.
func (d *Rehearsal) ShareWords(uint32, []uint32) {}

// ReadWords reads none.
func (d *Rehearsal) ReadWords(uint32, []uint32) {}

// LaneEdges are none.
func (d *Rehearsal) LaneEdges() []uint64 { return nil }

// Hand is the host's hand on the first core's unit, which is like the others.
func (d *Rehearsal) Hand() accel.Hand { return accel.HandOn([]accel.Unit{d.unit}) }

// Launch completes Device.
func (d *Rehearsal) Launch(context.Context, *isa.Program, uint32) (sim.Result, error) {
	panic("BUG: host: a launch on a rehearsal")
}
