package host

import (
	"context"

	"heddle/components/accel"
	"heddle/components/eghw"
	"heddle/components/graphpeg"
	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// Timed is a machine with time.
type Timed struct {
	Machine *sim.Machine
	shape   Shape
}

var _ Device = (*Timed)(nil)

// NewTimed assembles a timed machine.
func NewTimed(cfg configs.Machine, opt sim.Options) (*Timed, error) {
	m, err := sim.New(cfg, opt)
	if err != nil {
		return nil, err
	}
	var unit accel.Unit
	if len(m.Units) > 0 {
		unit = m.Units[0]
	}
	return &Timed{m, shapeOf(&cfg, unit)}, nil
}

// Shape says what the machine is.
func (d *Timed) Shape() Shape { return d.shape }

// WriteWords copies words to the device.
func (d *Timed) WriteWords(addr uint32, words []uint32) { writeWords(d.Machine.Arch.Mem, addr, words) }

// ReadWords copies words from the device.
func (d *Timed) ReadWords(addr uint32, words []uint32) { readWords(d.Machine.Arch.Mem, addr, words) }

// GraphPEG is the host's hand on the cores' units.
func (d *Timed) GraphPEG() graphpeg.Host { return d.Machine.GraphPEG() }

// EGHW is the host's hand on the cores' units.
func (d *Timed) EGHW() eghw.Host { return d.Machine.EGHW() }

// LaneEdges returns how many edges each lane has handled.
func (d *Timed) LaneEdges() []uint64 { return d.Machine.Arch.LaneEdges() }

// Frontier tells those who observe the machine.
func (d *Timed) Frontier(step int, vertices, edges uint64) {
	d.Machine.BeginStep(step, vertices, edges)
}

// Launch runs a program; its cycles count from the launch until the last core is done.
func (d *Timed) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := d.Machine.Launch(ctx, p, arg)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}
