package host

import (
	"context"

	"heddle/components/accel"
	"heddle/components/core"
	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// Rehearsal answers the queries that a host program makes before its first launch, without building the machine: it
// refuses exactly as the machine would. It stores nothing and launches nothing.
type Rehearsal struct {
	shape Shape
	unit  accel.Unit // of core 0; nil: none
}

var _ Device = (*Rehearsal)(nil)

// NewRehearsal returns the rehearsal of a machine.
func NewRehearsal(cfg *configs.Machine) (*Rehearsal, error) {
	unit, err := sim.GraphUnit(cfg, 0)
	if err != nil {
		return nil, err
	}
	return &Rehearsal{shapeOf(cfg), unit}, nil
}

// shapeOf returns the shape of a machine.
func shapeOf(cfg *configs.Machine) Shape {
	s := Shape{
		Cores: cfg.Sockets * cfg.CoresPerSocket, Warps: cfg.Core.Warps, Threads: cfg.Core.Threads,
		LineBytes: cfg.MemoryLine(), BarriersSignal: cfg.Core.DeviceBarrier == core.BarrierSignal,
		ArgumentRegisters: cfg.Core.ArgumentRegisters, SilentExit: cfg.Core.SilentExit, Zba: cfg.Core.Zba,
	}
	if cfg.Swarm != nil {
		s.LineBytes, s.Tasks = cfg.Swarm.LineBytes, true
		return s
	}
	if cfg.Core.Scratchpad {
		s.ScratchpadBytes = cfg.Core.ScratchpadBytes
	}
	if unit := cfg.Core.Unit.Spec; unit != nil {
		s.plug(unit, cfg.UnitShape(0))
	}
	return s
}

// Shape returns the machine's parameters.
func (d *Rehearsal) Shape() Shape { return d.shape }

// WriteWords discards the words.
func (d *Rehearsal) WriteWords(uint32, []uint32) {}

// ShareWords discards the words.
func (d *Rehearsal) ShareWords(uint32, []uint32) {}

// ReadWords reads nothing.
func (d *Rehearsal) ReadWords(uint32, []uint32) {}

// LaneEdges returns none.
func (d *Rehearsal) LaneEdges([]uint64) []uint64 { return nil }

// Hand returns the host-side interface to the first core's unit, which stands for the others.
func (d *Rehearsal) Hand() accel.Hand { return accel.HandOn([]accel.Unit{d.unit}) }

// Launch does nothing; it completes the Device interface.
func (d *Rehearsal) Launch(context.Context, *isa.Program, uint32) (sim.Result, error) {
	panic("BUG: host: a launch on a rehearsal")
}
