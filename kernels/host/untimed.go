package host

import (
	"cmp"
	"context"

	"heddle/components/eghw"
	"heddle/components/graphpeg"
	"heddle/components/hwwl"
	"heddle/components/weaver"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Untimed is a machine that says what happens, not when.
type Untimed struct {
	Machine *emu.Machine
	shape   Shape
	units   []emu.Unit
	lists   graphpeg.Host
	eghws   eghw.Host
}

var _ Device = (*Untimed)(nil)

// Units are the graph units of every core of an untimed machine, at most one.
type Units struct {
	Weaver   *weaver.Spec
	GraphPEG *graphpeg.Spec
	HWWL     *hwwl.Spec
	EGHW     *eghw.Spec
}

// lineBytes is the line that arrays begin with, and by which an untimed unit reads: programs cannot tell.
const lineBytes = 64

// maker returns what makes the unit of a core; nil: there is none.
func (u *Units) maker(cfg *emu.Config) func(core int) (emu.Unit, error) {
	shape := func(core int) graphpeg.Shape {
		return graphpeg.Shape{Core: core, Cores: cfg.Cores, Warps: cfg.Warps, Threads: cfg.Threads, LineBytes: lineBytes}
	}
	switch {
	case u.Weaver != nil:
		return func(int) (emu.Unit, error) { return checked(weaver.NewUntimed(*u.Weaver, cfg.Warps, cfg.Threads)) }
	case u.GraphPEG != nil:
		return func(core int) (emu.Unit, error) { return checked(graphpeg.NewUntimed(*u.GraphPEG, shape(core))) }
	case u.EGHW != nil:
		return func(core int) (emu.Unit, error) { return checked(eghw.NewUntimed(*u.EGHW, eghwShape(cfg, core))) }
	case u.HWWL != nil:
		return func(core int) (emu.Unit, error) {
			return checked(graphpeg.NewUntimedWorklist(u.HWWL.PEG(), shape(core)))
		}
	}
	return nil
}

func eghwShape(cfg *emu.Config, core int) eghw.Shape {
	return eghw.Shape{Core: core, Warps: cfg.Warps, Threads: cfg.Threads, LineBytes: lineBytes, ScratchpadBytes: cfg.ScratchpadBytes}
}

func checked[U emu.Unit](u U, err error) (emu.Unit, error) {
	if err != nil {
		return nil, err
	}
	return u, nil
}

// NewUntimed makes an untimed machine whose cores have those units.
func NewUntimed(cfg emu.Config, units Units) (*Untimed, error) {
	d := &Untimed{shape: Shape{Cores: cfg.Cores, Warps: cfg.Warps, Threads: cfg.Threads, ScratchpadBytes: cmp.Or(cfg.ScratchpadBytes, emu.DefaultScratchpadBytes), LineBytes: lineBytes}}
	if make := units.maker(&cfg); make != nil {
		for core := range cfg.Cores {
			u, err := make(core)
			if err != nil {
				return nil, err
			}
			d.plug(u)
		}
		cfg.Units = func(core int) []emu.Unit { return d.units[core : core+1] }
		if units.EGHW != nil {
			d.shape.ScratchpadBytes -= units.EGHW.ScratchpadBytes(eghwShape(&cfg, 0))
		}
		d.shape.MaskByUnit = units.Weaver != nil && units.Weaver.MaskByUnit
	}
	var err error
	d.Machine, err = emu.New(cfg)
	return d, err
}

// plug adds the next core's unit.
func (d *Untimed) plug(u emu.Unit) {
	d.units = append(d.units, u)
	d.shape.Unit = u.Name()
	if p, ok := u.(*graphpeg.Untimed); ok {
		d.lists.Units = append(d.lists.Units, p.Engine)
	}
	if p, ok := u.(*eghw.Untimed); ok {
		d.eghws.Units = append(d.eghws.Units, p.Engine)
	}
}

// GraphPEG is the host's hand on the cores' units.
func (d *Untimed) GraphPEG() graphpeg.Host { return d.lists }

// EGHW is the host's hand on the cores' units.
func (d *Untimed) EGHW() eghw.Host { return d.eghws }

// Shape says what the machine is.
func (d *Untimed) Shape() Shape { return d.shape }

// WriteWords copies words to the device.
func (d *Untimed) WriteWords(addr uint32, words []uint32) { writeWords(d.Machine.Mem, addr, words) }

// ReadWords copies words from the device.
func (d *Untimed) ReadWords(addr uint32, words []uint32) { readWords(d.Machine.Mem, addr, words) }

// LaneEdges returns how many edges each lane has handled.
func (d *Untimed) LaneEdges() []uint64 { return d.Machine.LaneEdges() }

// Launch runs a program; its result has no cycles.
func (d *Untimed) Launch(ctx context.Context, p *isa.Program, arg uint32) (sim.Result, error) {
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
