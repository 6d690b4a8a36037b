package host

import (
	"cmp"
	"context"
	"fmt"

	"heddle/components/weaver"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/sim"
)

// Untimed is a machine that says what happens, not when.
type Untimed struct {
	Machine *emu.Machine
	shape   Shape
}

var _ Device = (*Untimed)(nil)

// NewUntimed makes an untimed machine whose cores have a Weaver each, or none.
func NewUntimed(cfg emu.Config, w *weaver.Spec) (*Untimed, error) {
	shape := Shape{Cores: cfg.Cores, Warps: cfg.Warps, Threads: cfg.Threads, ScratchpadBytes: cmp.Or(cfg.ScratchpadBytes, emu.DefaultScratchpadBytes)}
	if w != nil {
		if err := w.Check(cfg.Warps, cfg.Threads); err != nil {
			return nil, err
		}
		shape.Weaver, shape.MaskByUnit = true, w.MaskByUnit
		cfg.Units = func(int) []emu.Unit {
			u, err := weaver.NewUntimed(*w, cfg.Warps, cfg.Threads)
			if err != nil {
				panic(fmt.Sprintf("BUG: host: %v after it was validated", err))
			}
			return []emu.Unit{u}
		}
	}
	m, err := emu.New(cfg)
	if err != nil {
		return nil, err
	}
	return &Untimed{m, shape}, nil
}

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
