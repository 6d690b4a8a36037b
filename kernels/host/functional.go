package host

import (
	"cmp"
	"context"

	"heddle/components/accel"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Functional is a functional machine: it executes programs without timing.
type Functional struct {
	Machine *emu.Machine
	shape   Shape
	units   []emu.Unit
}

var (
	_ Device = (*Functional)(nil)
	_ Parted = (*Functional)(nil)
)

// lineBytes aligns arrays and is the granularity of a functional unit's reads; programs cannot observe it.
const lineBytes = 64

// UnitShape returns the shape of a functional machine as core n's unit sees it.
func UnitShape(cfg *emu.Config, n int) accel.Shape {
	return accel.Shape{
		Core: n, Cores: cfg.Cores, Warps: cfg.Warps, Threads: cfg.Threads, LineBytes: lineBytes,
		ScratchpadBytes: cfg.ScratchpadBytes,
	}
}

// NewFunctional returns a functional machine whose cores have that graph unit; nil: none.
func NewFunctional(cfg emu.Config, unit accel.Spec) (*Functional, error) {
	d := &Functional{shape: Shape{
		Cores: cfg.Cores, Warps: cfg.Warps, Threads: cfg.Threads, LineBytes: lineBytes,
		ScratchpadBytes:   cmp.Or(cfg.ScratchpadBytes, emu.DefaultScratchpadBytes),
		ArgumentRegisters: cfg.ArgumentRegisters, SilentExit: cfg.SilentExit, Zba: cfg.Zba,
	}}
	if unit != nil {
		for core := range cfg.Cores {
			u, err := unit.NewFunctional(UnitShape(&cfg, core))
			if err != nil {
				return nil, err
			}
			d.units = append(d.units, u)
		}
		cfg.Units = func(core int) []emu.Unit { return d.units[core : core+1] }
		d.shape.plug(unit, UnitShape(&cfg, 0))
	}
	var err error
	d.Machine, err = emu.New(cfg)
	return d, err
}

// Hand returns the host-side interface to the cores' units.
func (d *Functional) Hand() accel.Hand { return accel.HandOn(d.units) }

// Shape returns the machine's parameters.
func (d *Functional) Shape() Shape { return d.shape }

// WriteWords copies words to the device.
func (d *Functional) WriteWords(addr uint32, words []uint32) { d.Machine.Mem.WriteWords(addr, words) }

// ShareWords lets the device read words in place.
func (d *Functional) ShareWords(addr uint32, words []uint32) { d.Machine.Mem.Share(addr, words) }

// ReadWords copies words from the device.
func (d *Functional) ReadWords(addr uint32, words []uint32) { readWords(d.Machine.Mem, addr, words) }

// LaneEdges returns the number of edges that each lane has handled, in n's place if they have room there.
func (d *Functional) LaneEdges(n []uint64) []uint64 { return d.Machine.LaneEdges(n) }

// Launch runs a program; its result has no cycles.
func (d *Functional) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
	before := d.Machine.Stats()
	d.Machine.SetArg(arg)
	d.Machine.Load(p)
	err := d.Machine.Run(ctx)
	r := sim.Result{Stats: d.Machine.Stats().Since(before)}
	if err == nil {
		err = exit(d.Machine, p)
	}
	return r, err
}

// LaunchParts runs a program and reports its parts. An error from ended ends the run after all warps have had their
// turn.
func (d *Functional) LaunchParts(ctx context.Context, p *isa.Program, arg uint32,
	ended func(sim.Part) error) (sim.Result, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	w := partWatch{d.Machine, d.Machine.Stats(), ended, end}
	d.Machine.ObserveParts(w.note)
	defer d.Machine.ObserveParts(nil)
	d.Machine.SetArg(arg)
	d.Machine.Load(p)
	err := d.Machine.Run(ctx)
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = exit(d.Machine, p)
	}
	return sim.Result{Stats: d.Machine.Stats().Since(w.before)}, err
}

// partWatch reports parts to ended.
type partWatch struct {
	machine *emu.Machine
	before  emu.Stats // counts at the beginning of the part
	ended   func(sim.Part) error
	end     context.CancelCauseFunc
}

func (w *partWatch) note(name string) {
	now := w.machine.Stats()
	part := sim.Part{Name: name, Result: sim.Result{Stats: now.Since(w.before)}}
	w.before = now
	if err := w.ended(part); err != nil {
		w.end(err)
	}
}
