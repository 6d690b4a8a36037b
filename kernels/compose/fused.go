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

// driverBytes is how many a driver may have. It lies first, with a jump for each kernel behind its first instruction,
// where the kernel returns to; the kernels follow, one behind the other.
const driverBytes = 4 << 10

// compileParts compiles kernels as parts of one program, in which a driver calls them.
func compileParts(p *Plan, s host.Shape) (*Compiled, error) {
	return compileWith(p, s, partOptions(emu.CodeBase, driverBytes, s))
}

// partOptions are those of kernels that a driver calls which lies before them.
func partOptions(base uint32, bytes int, s host.Shape) func(i int, before *codegen.Compiled) codegen.Options {
	return func(i int, before *codegen.Compiled) codegen.Options {
		at := base + uint32(bytes)
		if before != nil {
			at = uint32(end(before.Program)+uint64(lineBytes)-1) &^ (lineBytes - 1)
		}
		return codegen.Options{Base: at, Return: base + 4*uint32(i+1), MaskByUnit: s.MaskByUnit}
	}
}

// newDriver is that of a run's super-steps.
func newDriver(r *run, c *Compiled) driver {
	d := driver{run: r, shape: r.Shape(), base: emu.CodeBase, bytes: driverBytes, programs: c.programs}
	for _, k := range c.Kernels.All() {
		d.members = append(d.members, member{r, k})
	}
	return d
}

// lineBytes is the alignment of a program's kernels.
const lineBytes = 64

// end is the first address behind the kernels.
func (c *Compiled) end() (at uint64) {
	for _, k := range c.Kernels.All() {
		at = max(at, end(c.programs[k].Program))
	}
	return at
}

// freeBarrier is the number of one at which no thread block of the kernels waits; theirs are numbered from 0. Vortex
// has one for every two warps.
func (p *Plan) freeBarrier(s host.Shape) (int, error) {
	core, err := p.core(coreOf(s))
	if err != nil || core.Block <= 1 || core.Block == core.Warps {
		return 0, err
	}
	if n := core.Warps / core.Block; n < s.Warps/2 {
		return n, nil
	}
	return 0, refuse("cta_threads",
		" = %d: a core's %d thread blocks take all of its %d barriers, and the loop over super-steps needs one: give larger blocks",
		p.BlockThreads, core.Warps/core.Block, s.Warps/2)
}

// program puts the driver and the kernels together, and what they are handed into memory. Nothing has been launched.
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
	err = d.lay()
	r.round = 0
	if err != nil {
		return nil, err
	}
	return d.link()
}

// link puts the driver and the kernels together, when everything has been laid.
func (d *driver) link() (*isa.Program, error) {
	code, err := d.assemble()
	if err != nil {
		return nil, err
	}
	p := &isa.Program{Name: d.name(), Entry: code.Entry, Segments: code.Segments, Symbols: code.Symbols}
	if n := end(p) - uint64(d.base); n > uint64(d.bytes) {
		return nil, fmt.Errorf("BUG: compose: the driver of %s has %d bytes", d.name(), n)
	}
	for _, m := range d.members {
		one := d.programs[m.kernel].Program
		p.Segments = append(p.Segments, one.Segments...)
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

// fused is a run that is one launch, in which the loop over super-steps is the device's. The host's loop goes along: it
// decides by the same memory what comes next, books it, and holds the device to it. It changes nothing.
type fused struct {
	run     *run
	device  host.Parted
	driver  driver
	program *isa.Program

	next func() (sim.Part, bool) // nil: it has not begun
	stop func()
	rest sim.Result // behind the last part
	err  error
}

// Loop is the time that a fused run spends between kernels, on work that is otherwise the host's.
type Loop struct {
	Step int // super-steps done before
	sim.Result
}

// fuse makes the run a fused one.
func (r *run) fuse(c *Compiled) (err error) {
	f := &fused{run: r, driver: newDriver(r, c)}
	f.driver.limit = r.maxSteps()
	if f.program, err = f.driver.program(); err != nil {
		return err
	}
	if err := r.setUpGather(); err != nil {
		return err
	}
	f.device = r.machine.(host.Parted)
	r.fused, r.machine = f, onlooker{r.machine}
	return nil
}

// setUpGather writes the units' registers for the only kernel that asks them.
func (r *run) setUpGather() error {
	for _, p := range r.kernels.passes() {
		if err := r.configure(p.kernel); err != nil {
			return err
		}
	}
	return nil
}

// onlooker is the machine of a fused run, as the host's loop sees it.
type onlooker struct{ machine }

func (onlooker) WriteWords(uint32, []uint32) {}
func (onlooker) ShareWords(uint32, []uint32) {}

// Resume and Keep: a run of one launch is kept at no super-step.
func (onlooker) Resume(any) (bool, error) { return false, nil }
func (onlooker) Keep(int)                 {}

// errStopped ends a launch whose parts nobody waits for any more.
var errStopped = errors.New("stopped")

// begin has the device begin, up to the end of the first part.
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

// await has the device go on until it has run a kernel, which is the one that the host would launch.
func (f *fused) await(ctx context.Context, k *ir.Kernel) (sim.Result, error) {
	if f.next == nil {
		f.begin(ctx)
	}
	calls := f.driver.callsOf(k)
	want := calls[0]
	if len(calls) > 1 {
		want = calls[calls[0].run.number]
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

// part is the next one; false: the program has ended.
func (f *fused) part() (p sim.Part, ok bool) {
	if p, ok = f.next(); ok {
		f.run.Times.Cycles += p.Cycles
	}
	return p, ok
}

// kernel is which one a part is of.
func (f *fused) kernel(part string) string {
	for _, c := range f.driver.calls {
		if c.name() == part {
			return part + " " + c.kernel.Name
		}
	}
	return part
}

// finish has the device end, where the host's loop has.
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

// end ends a launch that has not been waited for.
func (f *fused) end() {
	if f != nil && f.stop != nil {
		f.stop()
	}
}

// LaunchParts launches a program whose parts are of interest.
func (d device) LaunchParts(ctx context.Context, p *isa.Program, arg uint32, ended func(sim.Part) error) (sim.Result,
	error) {
	parted, ok := d.Device.(host.Parted)
	if !ok {
		return sim.Result{}, errors.New("workload.fusion: loop, or configKernelFusion: the device does not tell when a kernel has ended within a launch: expected none")
	}
	return parted.LaunchParts(ctx, p, arg, ended)
}

// region of the driver, which is assembled when arrays have their places.
var driverRegion = graph.Region{Name: "driver", Addr: emu.CodeBase, Size: driverBytes}
