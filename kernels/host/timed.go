package host

import (
	"context"

	"heddle/components/accel"
	"heddle/configs"
	"heddle/isa"
	"heddle/sim"
)

// Timed is a timed machine.
type Timed struct {
	Machine *sim.Machine
	shape   Shape
	execute bool // launches are functional

	alternation *sim.Alternation // nil: every launch is timed throughout
	sampled     sim.Sampled      // of the last launch that was only partly timed
}

var (
	_ Device = (*Timed)(nil)
	_ Parted = (*Timed)(nil)
)

// NewTimed builds a timed machine.
func NewTimed(cfg configs.Machine, opt sim.Options) (*Timed, error) {
	m, err := sim.New(cfg, opt)
	if err != nil {
		return nil, err
	}
	return &Timed{Machine: m, shape: shapeOf(&cfg)}, nil
}

// Shape returns the machine's parameters.
func (d *Timed) Shape() Shape { return d.shape }

// WriteWords copies words to the device.
func (d *Timed) WriteWords(addr uint32, words []uint32) { d.Machine.Arch.Mem.WriteWords(addr, words) }

// ShareWords lets the device read words in place.
func (d *Timed) ShareWords(addr uint32, words []uint32) {
	d.Machine.Arch.Mem.Share(addr, words)
	d.Machine.ReadOnly(addr, 4*uint64(len(words)))
}

// ReadWords copies words from the device.
func (d *Timed) ReadWords(addr uint32, words []uint32) { readWords(d.Machine.Arch.Mem, addr, words) }

// Hand returns the host-side interface to the cores' units.
func (d *Timed) Hand() accel.Hand { return d.Machine.Hand() }

// LaneEdges returns the number of edges that each lane has handled, in n's place if they have room there.
func (d *Timed) LaneEdges(n []uint64) []uint64 { return d.Machine.LaneEdges(n) }

// Frontier notifies the machine's observers.
func (d *Timed) Frontier(step int, vertices, edges uint64) {
	d.Machine.BeginStep(step, vertices, edges)
}

// UseCores makes coming launches use the first cores only; for machines of Swarm tiles.
func (d *Timed) UseCores(n int) error { return d.Machine.UseCores(n) }

// SetFunctional makes coming launches functional, or timed again.
func (d *Timed) SetFunctional(on bool) { d.execute = on }

// SetAlternation makes coming launches alternate between timed and functional execution; nil: timed throughout.
func (d *Timed) SetAlternation(a *sim.Alternation) { d.alternation = a }

// Sampled describes the last launch that was only partly timed.
func (d *Timed) Sampled() *sim.Sampled { return &d.sampled }

// Launch runs a program; its cycles count from the launch until the last core is done.
func (d *Timed) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := d.launch(ctx, p, arg)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}

// LaunchParts runs a program, timed throughout, and reports its parts.
func (d *Timed) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result,
	error) {
	if d.execute || d.alternation != nil {
		panic("BUG: host: the parts of a launch that is not in time")
	}
	r, err := d.Machine.LaunchParts(ctx, p, arg, ended)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}

// Emulate executes a program's instructions alone, and with warm also their accesses to the caches
// (sim.Machine.Emulate).
func (d *Timed) Emulate(ctx context.Context, p *isa.Program, arg uint32, warm bool) (sim.Result, error) {
	r, by, err := d.Machine.Emulate(ctx, p, arg, warm)
	if err == nil {
		err = exit(by, p)
	}
	return r, err
}

// Execute executes a program functionally.
func (d *Timed) Execute(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	r, err := d.Machine.Execute(ctx, p, arg)
	if err == nil {
		err = exit(d.Machine.Arch, p)
	}
	return r, err
}

// LaunchFunctional executes a program functionally, for the check of a result.
func (d *Timed) LaunchFunctional(ctx context.Context, p *isa.Program, arg uint32) error {
	_, err := d.Execute(ctx, p, arg)
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
