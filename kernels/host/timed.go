package host

import (
	"context"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// Timed is a machine with time.
type Timed struct {
	Machine *sim.Machine
	shape   Shape
	execute bool // launches take no time

	alternation *sim.Alternation // nil: launches are in time throughout
	sampled     sim.Sampled      // the last launch that was not
}

var (
	_ Device = (*Timed)(nil)
	_ Parted = (*Timed)(nil)
)

// NewTimed assembles a timed machine.
func NewTimed(cfg configs.Machine, opt sim.Options) (*Timed, error) {
	m, err := sim.New(cfg, opt)
	if err != nil {
		return nil, err
	}
	return &Timed{Machine: m, shape: shapeOf(&cfg)}, nil
}

// Shape says what the machine is.
func (d *Timed) Shape() Shape { return d.shape }

// WriteWords copies words to the device.
func (d *Timed) WriteWords(addr uint32, words []uint32) { d.Machine.Arch.Mem.WriteWords(addr, words) }

// ShareWords has the device read words where they are.
func (d *Timed) ShareWords(addr uint32, words []uint32) { d.Machine.Arch.Mem.Share(addr, words) }

// ReadWords copies words from the device.
func (d *Timed) ReadWords(addr uint32, words []uint32) { readWords(d.Machine.Arch.Mem, addr, words) }

// Hand is the host's hand on the cores' units.
func (d *Timed) Hand() accel.Hand { return d.Machine.Hand() }

// LaneEdges returns how many edges each lane has handled.
func (d *Timed) LaneEdges() []uint64 { return d.Machine.Arch.LaneEdges() }

// Frontier tells those who observe the machine.
func (d *Timed) Frontier(step int, vertices, edges uint64) {
	d.Machine.BeginStep(step, vertices, edges)
}

// SetUntimed has launches to come take no time, or time again.
func (d *Timed) SetUntimed(on bool) { d.execute = on }

// SetAlternation has launches to come be in time and without by turns; nil: in time throughout.
func (d *Timed) SetAlternation(a *sim.Alternation) { d.alternation = a }

// Sampled describes the last launch that was simulated partly with and partly without timing.
func (d *Timed) Sampled() *sim.Sampled { return &d.sampled }

// Launch runs a program; its cycles count from the launch until the last core is done.
func (d *Timed) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := d.launch(ctx, p, arg)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}

// LaunchParts runs a program, all of it in time, and tells of its parts.
func (d *Timed) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result, error) {
	if d.execute || d.alternation != nil {
		panic("BUG: host: the parts of a launch that is not in time")
	}
	r, err := d.Machine.LaunchParts(ctx, p, arg, ended)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}

// LaunchUntimed executes a program without time: what checks a result.
func (d *Timed) LaunchUntimed(ctx context.Context, p *isa.Program, arg uint32) error {
	_, err := d.Machine.Execute(ctx, p, arg)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return err
}

func (d *Timed) launch(ctx context.Context, p *isa.Program, arg uint32) (r sim.Result, err error) {
	switch {
	case d.execute:
		return d.Machine.Execute(ctx, p, arg)
	case d.alternation != nil:
		d.sampled, err = d.Machine.Alternate(ctx, p, arg, *d.alternation)
		return d.sampled.Result, err
	}
	return d.Machine.Launch(ctx, p, arg)
}
