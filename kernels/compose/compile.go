package compose

import (
	"context"
	"fmt"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/codegen"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/workload"
	"heddle/sim"
)

// programBytes is the distance between a plan's programs. They have distinct addresses, so that the L1I cannot confuse
// their lines.
const programBytes = 64 << 10

// Compiled is a plan's program for machines of one shape.
type Compiled struct {
	Plan     *Plan
	Kernels  Kernels
	programs map[*ir.Kernel]*codegen.Compiled
	shape    host.Shape
}

// Compile compiles a plan. The result can run several times, on graphs with the plan's kind of weights.
func Compile(p *Plan, s host.Shape) (*Compiled, error) {
	if p.Fused {
		return compileParts(p, s)
	}
	return compileWith(p, s, func(i int, _ *codegen.Compiled) codegen.Options {
		return codegen.Options{Base: emu.CodeBase + uint32(i)*programBytes, MaskByUnit: s.MaskByUnit}
	})
}

// compileWith compiles each kernel with options that depend on its number and on the previous kernel.
func compileWith(p *Plan, s host.Shape, options func(i int, before *codegen.Compiled) codegen.Options) (*Compiled,
	error) {
	if err := p.Runs(s); err != nil {
		return nil, err
	}
	ks, err := p.Build(coreOf(s))
	if err != nil {
		return nil, err
	}
	c := &Compiled{p, ks, map[*ir.Kernel]*codegen.Compiled{}, s}
	var before *codegen.Compiled
	for i, k := range ks.All() {
		o := options(i, before)
		o.FloatSpills, o.Sink = p.Spill == SpillRegisters, p.Unroll == UnrollAuto
		OnGPU(&o, s)
		if before, err = codegen.Compile(k, o); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name(), err)
		}
		c.programs[k] = before
		switch n := end(c.programs[k].Program) - uint64(o.Base); {
		case n > programBytes && p.Unroll.given():
			return nil, refuse("compiler.unroll", " = %s: kernel %s of %s would have %d bytes: expected at most %d: give a "+
				"lower number", p.Unroll, k.Name, p.Name(), n, programBytes)
		case n > programBytes:
			return nil, fmt.Errorf("%s: kernel %s has %d bytes: expected at most %d", p.Name(), k.Name, n, programBytes)
		}
	}
	return c, nil
}

// OnGPU sets the options of machines that launch kernels as GPUs do.
func OnGPU(o *codegen.Options, s host.Shape) {
	o.ArgumentRegisters, o.SilentExit, o.Zba = s.ArgumentRegisters, s.SilentExit, s.Zba
	if o.Sink && s.ArgumentRegisters > 0 { // elsewhere, recorded cycles are of kernels without
		o.Size, o.Lean = codegen.Size{Cores: s.Cores, Warps: s.Warps, Lanes: s.Threads}, true
	}
}

// end returns the first address after a program.
func end(p *isa.Program) (at uint64) {
	for _, s := range p.Segments {
		at = max(at, uint64(s.Addr)+uint64(s.Size))
	}
	return at
}

// Of returns the compiled form of a kernel.
func (c *Compiled) Of(k *ir.Kernel) *codegen.Compiled { return c.programs[k] }

// Run runs the program on a device of the shape for which it was compiled.
func (c *Compiled) Run(ctx context.Context, d host.Device, g *graph.Graph, w workload.Workload) (Result, error) {
	if d.Shape() != c.shape {
		return Result{}, fmt.Errorf("compiled for %+v, and the device is %+v", c.shape, d.Shape())
	}
	if g.WeightKind() != c.Plan.Weights {
		return Result{}, fmt.Errorf("compiled for weights of kind %s, and the graph has %s", c.Plan.Weights,
			g.WeightKind())
	}
	r, err := c.newRun(d, g, w)
	if err != nil {
		return Result{Plan: c.Plan}, err
	}
	return r.runAndVerify(ctx)
}

// newRun lays out a run in the device's memory.
func (c *Compiled) newRun(d host.Device, g *graph.Graph, w workload.Workload) (*run, error) {
	r, err := newRun(device{d, c}, c.Plan, c.Kernels, g, w)
	if err == nil && c.Plan.Fused {
		err = r.fuse(c)
	}
	return r, err
}

// device runs compiled kernels.
type device struct {
	host.Device
	program *Compiled
}

func (d device) Launch(ctx context.Context, k *ir.Kernel, arg uint32) (sim.Result, error) {
	return d.Device.Launch(ctx, d.program.programs[k].Program, arg)
}

func (d device) BeginStep(n int) error { return host.BeginStep(d.Device, n) }

func (d device) Frontier(n int, vertices, edges uint64) { host.Frontier(d.Device, n, vertices, edges) }

func (d device) Resume(program any) (bool, error) { return host.Resume(d.Device, program) }

func (d device) Keep(step int) { host.Keep(d.Device, step) }

func (d device) Reserved() []graph.Region {
	list := graph.Reserved(d.Shape().Lanes(), nil)
	if d.program.Plan.Fused {
		list = append(list, driverRegion)
	}
	for _, k := range d.program.Kernels.All() {
		for _, s := range d.program.programs[k].Program.Segments {
			list = append(list, graph.Region{Name: "program " + k.Name, Addr: s.Addr, Size: uint64(s.Size)})
		}
	}
	return list
}
