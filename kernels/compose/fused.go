package compose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/codegen"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/reference"
	"heddle/sim"
)

// driverBytes is the room for a driver, at the beginning of a program. After its first instruction, a driver has a jump
// for each kernel, to which the kernel returns. The kernels follow consecutively.
const driverBytes = 4 << 10

// compileParts compiles kernels as parts of one program, where a driver calls them.
func compileParts(p *Plan, s host.Shape) (*Compiled, error) {
	return compileWith(p, s, partOptions(emu.CodeBase, driverBytes, s))
}

// partOptions returns the options of kernels that follow the driver which calls them.
func partOptions(base uint32, bytes int, s host.Shape) func(i int, before *codegen.Compiled) codegen.Options {
	return func(i int, before *codegen.Compiled) codegen.Options {
		at := base + uint32(bytes)
		if before != nil {
			at = uint32(end(before.Program)+uint64(lineBytes)-1) &^ (lineBytes - 1)
		}
		return codegen.Options{Base: at, Return: base + 4*uint32(i+1), MaskByUnit: s.MaskByUnit}
	}
}

// newDriver returns the driver of a run's super-steps.
func newDriver(r *run, c *Compiled) driver {
	d := driver{run: r, body: wholeRun{}, shape: r.Shape(), begins: emu.CodeBase, bytes: driverBytes, programs: c.programs}
	for _, k := range c.Kernels.All() {
		d.members = append(d.members, member{run: r, kernel: k})
	}
	return d
}

// lineBytes is the alignment of a program's kernels.
const lineBytes = 64

// end returns the first address after the kernels.
func (c *Compiled) end() (at uint64) {
	for _, k := range c.Kernels.All() {
		at = max(at, end(c.programs[k].Program))
	}
	return at
}

// freeBarrier returns the number of a barrier at which no thread block of the kernels waits; they use those from 0 on.
// Vortex has one barrier for every two warps.
func (p *Plan) freeBarrier(s host.Shape) (int, error) {
	core, err := p.core(coreOf(s))
	if err != nil || core.Block <= 1 || core.Block == core.Warps {
		return 0, err
	}
	if n := core.Warps / core.Block; n < s.Warps/2 {
		return n, nil
	}
	return 0, refuse("schedule.cta_threads",
		" = %d: a core's %d thread blocks take all of its %d barriers, and the loop over super-steps needs one: give "+
			"larger blocks",
		p.BlockThreads, core.Warps/core.Block, s.Warps/2)
}

// program lays out the driver's arrays and links the program. Nothing may have been launched.
func (d *driver) program() (*isa.Program, error) {
	r := d.run
	var err error
	if d.shape.Cores == 1 || d.exported {
		if d.barrierID, err = d.Plan.freeBarrier(d.shape); err != nil {
			return nil, err
		}
	}
	if err := r.set.Start(r, r.start()); err != nil {
		return nil, err
	}
	if r.kernels.Seed != nil {
		r.round = ^uint32(0) // the one before the first
	}
	err = d.layOut()
	r.round = 0
	if err != nil {
		return nil, err
	}
	return d.link()
}

// link joins the driver, whose arrays have been laid out, and the kernels.
func (d *driver) link() (*isa.Program, error) {
	code, err := d.assemble()
	if err != nil {
		return nil, err
	}
	p := &isa.Program{Name: d.body.title(d), Entry: code.Entry, Segments: code.Segments, Symbols: code.Symbols}
	if n := end(p) - uint64(d.begins); n > uint64(d.bytes) {
		return nil, fmt.Errorf("BUG: compose: the driver of %s has %d bytes", d.body.title(d), n)
	}
	for _, m := range d.members {
		one := d.programs[m.kernel].Program
		p.Segments = append(p.Segments, one.Segments...)
		p.Listings = append(p.Listings, one.Listings...)
		for _, s := range one.Symbols {
			if s.Name == "_start" {
				s.Name = m.kernel.Name
			}
			p.Symbols = append(p.Symbols, s)
		}
	}
	slices.SortStableFunc(p.Symbols, func(a, b isa.Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	return p, nil
}

// fused is the launch of a fused run, in which the device loops over super-steps. The host executes the same loop
// beside it, as an oracle: it decides what comes next by the same memory, waits for the part of the launch that should
// do that (await), records it, and fails if the device has run anything else. It never writes to memory
// (inLoop).
type fused struct {
	run     *run
	device  host.Parted
	driver  driver
	program *isa.Program

	next func() (sim.Part, bool) // runs the device to the end of the next part; nil: not launched yet
	stop func()
	rest sim.Result // the part after the last kernel
	err  error
}

// Loop is the time that a fused run spends between kernels, in the host's place.
type Loop struct {
	Step int // number of super-steps before it
	sim.Result
}

// fuse turns the run into a fused one.
func (r *run) fuse(c *Compiled) (err error) {
	f := &fused{run: r, driver: newDriver(r, c)}
	f.driver.limit = r.maxSteps()
	if f.program, err = f.driver.program(); err != nil {
		return err
	}
	if err := r.setUpGather(); err != nil {
		return err
	}
	f.attach(r)
	return nil
}

// setUpGather writes the units' registers for the gather, the only kernel that asks them, before the launch.
func (r *run) setUpGather() error {
	for _, p := range r.kernels.passes() {
		if err := r.configure(p.kernel); err != nil {
			return err
		}
	}
	return nil
}

// attach makes the loop run the kernels of a run until detach.
func (f *fused) attach(r *run) {
	m := r.executor.(byHost).machine
	f.device = m.(host.Parted)
	r.executor = inLoop{machine: m, loop: f}
}

func detach(r *run) { r.executor = byHost{r.executor.(inLoop).machine} }

// inLoop awaits kernels that the device's loop calls. Meanwhile, the host only reads memory.
type inLoop struct {
	machine
	loop *fused `checkpoint:"assembled"`
}

func (l inLoop) execute(ctx context.Context, _ *run, k *ir.Kernel) (sim.Result, error) {
	return l.loop.await(ctx, k)
}
func (l inLoop) finish() error { return l.loop.finish() }
func (l inLoop) abort()        { l.loop.end() }

func (inLoop) WriteWords(uint32, []uint32) {}
func (inLoop) ShareWords(uint32, []uint32) {}

// Resume does nothing, like Keep: there are no checkpoints within a launch.
func (inLoop) Resume(any) (bool, error) { return false, nil }
func (inLoop) Keep(int)                 {}

// errStopped ends a launch whose further parts are not awaited.
var errStopped = errors.New("stopped")

// begin prepares the launch; the first call of next starts it.
func (f *fused) begin(ctx context.Context) {
	f.next, f.stop = iter.Pull(func(yield func(sim.Part) bool) {
		f.rest, f.err = f.device.LaunchParts(ctx, f.program, 0, func(p sim.Part) error {
			if !yield(p) {
				return errStopped
			}
			return nil
		})
	})
}

// await runs the device until it has run a kernel, and fails unless that is the kernel which the host would launch.
func (f *fused) await(ctx context.Context, k *ir.Kernel) (sim.Result, error) {
	if f.next == nil {
		f.begin(ctx)
	}
	calls := f.driver.callsOf(k)
	want := calls[0]
	if len(calls) > 1 {
		want = calls[calls[0].run.launchNumber]
	}
	for {
		p, ok := f.part()
		switch {
		case !ok && f.err != nil:
			return f.rest, f.err
		case !ok:
			return sim.Result{}, fmt.Errorf("%w: the device's loop has ended where the host's would run %s",
				reference.ErrWrong, k.Name)
		case p.Name == want.name():
			return p.Result, nil
		case p.Name != loopPart:
			return sim.Result{}, fmt.Errorf("%w: the device's loop has run %s where the host's would run %s",
				reference.ErrWrong, f.kernel(p.Name), want.name()+" "+k.Name)
		}
		f.run.Loops = append(f.run.Loops, Loop{len(f.run.Steps), p.Result})
	}
}

// part runs the device to the end of the next part; false: the program has ended.
func (f *fused) part() (p sim.Part, ok bool) {
	if p, ok = f.next(); ok {
		f.run.Times.Cycles += p.Cycles
	}
	return p, ok
}

// kernel describes the kernel of a part.
func (f *fused) kernel(part string) string {
	for _, c := range f.driver.calls {
		if c.name() == part {
			return part + " " + c.kernel.Name
		}
	}
	return part
}

// finish runs the device to its end, and fails if it runs another kernel before.
func (f *fused) finish() error {
	for {
		p, ok := f.part()
		if !ok {
			break
		}
		if p.Name != loopPart {
			return fmt.Errorf("%w: the device's loop has run %s where the host's ends", reference.ErrWrong,
				f.kernel(p.Name))
		}
		f.run.Loops = append(f.run.Loops, Loop{len(f.run.Steps), p.Result})
	}
	f.run.Loops = append(f.run.Loops, Loop{len(f.run.Steps), f.rest})
	f.run.Times.Add(f.rest, uint64(f.run.workload.LaunchOverhead))
	return f.err
}

// end aborts a launch that has not been awaited.
func (f *fused) end() {
	if f.stop != nil {
		f.stop()
	}
}

// LaunchParts launches a program, and calls ended after each of its parts.
func (d device) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result,
	error) {
	parted, ok := d.Device.(host.Parted)
	if !ok {
		return sim.Result{}, errors.New("workload.compiler.fusion: loop, or configKernelFusion: the device does not tell " +
			"when a kernel has ended within a launch: expected none")
	}
	return parted.LaunchParts(ctx, p, arg, ended)
}

// driverRegion reserves memory for the driver, which is assembled after arrays have been allocated.
var driverRegion = graph.Region{Name: "driver", Addr: emu.CodeBase, Size: driverBytes}
