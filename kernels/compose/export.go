package compose

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"heddle/components/accel"
	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/host"
	"heddle/kernels/ir"
	"heddle/kernels/workload"
	"heddle/sim"
)

// Exported is a complete graph program in one image: kernels, the loop over super-steps, the graph, and the expected
// result. It needs no host (docs/guide/programs.md describes how to start it), and its exit code is its verdict.
type Exported struct {
	Program *isa.Program
	Plan    *Plan
	Steps   int // super-steps of the functional run that checked it
	// Uses lists the instructions beyond RV32IMF and Vortex's warp control: atomics, votes, shuffles.
	Uses []string
}

// Exit codes of an exported program.
const (
	ExitWrong      = 1 // a result differs from the reference
	ExitShape      = 2 // the machine has other cores, warps or lanes than the program was compiled for
	ExitUnfinished = 3 // the algorithm did not end within the expected super-steps
)

// maxExport bounds an image, since such programs are for machines that are slow to simulate.
const maxExport = 16 << 20

// Export composes a program for machines of a shape. It executes the run functionally first, for the expected result,
// and fails if that is wrong.
func Export(ctx context.Context, s host.Shape, g *graph.Graph, w workload.Workload) (*Exported, error) {
	w, err := ForGraph(w, g)
	if err != nil {
		return nil, err
	}
	p, err := NewPlan(w)
	if err != nil {
		return nil, err
	}
	p.Weights = g.WeightKind()
	if err := p.exportable(w); err != nil {
		return nil, err
	}
	ran, err := functionalResult(ctx, s, g, w)
	if err != nil {
		return nil, fmt.Errorf("%s, run without time: %w", p.Name(), err)
	}
	c, err := compileParts(p, s)
	if err != nil {
		return nil, err
	}
	if ran.Left > 0 && p.Algorithm.Stopped != nil && !p.Algorithm.Stopped.Alike {
		return nil, refuse("max_iterations", " = %d: it stops %s where an image cannot check what it has come to, "+
			"which depends on time: expected 0", w.Iterations, p.Algorithm.Name)
	}
	x := exporter{shape: s, compiled: c, words: map[uint32]uint32{}, ran: &ran}
	if x.run, err = newRun(&x, p, c.Kernels, g, w); err != nil {
		return nil, err
	}
	program, err := x.program()
	if err != nil {
		return nil, err
	}
	return &Exported{Program: program, Plan: p, Steps: len(ran.Steps), Uses: uses(program)}, nil
}

// exportable returns an error for plans that need a host between launches, or have no result that a program can check.
func (p *Plan) exportable(w workload.Workload) error {
	a := p.Algorithm
	for _, no := range []struct {
		is  bool
		why string
	}{
		{p.Schedule.Unit != nil, "schedule " + p.Schedule.Name + " needs a graph unit, which the host sets up"},
		{p.Registers(), "schedule " + p.Schedule.Name + " has a kernel of its own before each gather"},
		{p.Set.Queue, "frontier " + p.Set.Name + " has a kernel of its own before each gather, and the host read " +
			"what it listed"},
		{p.Prepares(p.Direction.Uses[0]), "layout " + p.Layout.Name + " has a kernel of its own before each gather"},
		{p.Settled, "settled has the host look up what a super-step can bring"},
		{p.Order.Piles, "order " + p.Order.Name + " has the host raise its threshold"},
		{len(p.Direction.Uses) > 1, "direction " + p.Direction.Name + " has the host choose in each super-step: " +
			"give push or pull"},
		{a.Seed != nil || a.Back != nil || a.Stop != "", "algorithm " + a.Name + " has the host begin rounds, go " +
			"back, or stop early"},
		{
			!a.Exact && a.Range == nil,
			"algorithm " + a.Name + " has results that an image cannot check: expected pagerank, pagerank-delta, " +
				"spmv, bfs, sssp, cc or in-degree",
		},
		{w.Tolerance > 0, "workload.algorithm.tolerance has the host decide when ranks have converged: give max_iterations"},
	} {
		if no.is {
			return fmt.Errorf("%s cannot be exported: %s", p.Name(), no.why)
		}
	}
	return nil
}

// functionalResult computes the result functionally on a machine of the shape.
func functionalResult(ctx context.Context, s host.Shape, g *graph.Graph, w workload.Workload) (Result, error) {
	d, err := host.NewFunctional(emu.Config{Cores: s.Cores, Warps: s.Warps, Threads: s.Threads,
		ScratchpadBytes: s.ScratchpadBytes}, nil)
	if err != nil {
		return Result{}, err
	}
	return Run(ctx, d, g, w)
}

// exporter is a machine that consists of memory alone, in which a run is laid out to become the image. It does not
// embed run, which embeds its machine: a method that exporter lacked would be promoted from there, and recurse.
type exporter struct {
	run      *run
	shape    host.Shape
	compiled *Compiled
	words    map[uint32]uint32
	ran      *Result // of the functional run
}

func (x *exporter) Shape() host.Shape           { return x.shape }
func (x *exporter) LaneEdges([]uint64) []uint64 { return nil }
func (x *exporter) Hand() accel.Hand            { return nil }
func (x *exporter) BeginStep(int) error         { return nil }

func (x *exporter) Frontier(int, uint64, uint64) {}

func (x *exporter) Resume(any) (bool, error) { return false, nil }
func (x *exporter) Keep(int)                 {}

func (x *exporter) Launch(context.Context, *ir.Kernel, uint32) (sim.Result, error) {
	return sim.Result{}, errors.New("BUG: compose: an image is laid out, and nothing launched")
}

// Reserved makes arrays begin after the kernels, so that the image is contiguous.
func (x *exporter) Reserved() []graph.Region {
	return append(graph.Reserved(x.shape.Lanes(), nil),
		graph.Region{Name: "programs", Addr: emu.UncachedEnd, Size: x.compiled.end() - emu.UncachedEnd})
}

func (x *exporter) ReadWords(addr uint32, words []uint32) {
	for i := range words {
		words[i] = x.words[addr+uint32(4*i)]
	}
}

func (x *exporter) WriteWords(addr uint32, words []uint32) {
	for i, w := range words {
		x.words[addr+uint32(4*i)] = w
	}
}

func (x *exporter) ShareWords(addr uint32, words []uint32) { x.WriteWords(addr, words) }

// program assembles driver, kernels and arrays.
func (x *exporter) program() (*isa.Program, error) {
	d := newDriver(x.run, x.compiled)
	d.exported, d.limit = true, len(x.ran.Steps)
	if a := x.run.Plan.Algorithm; !a.Dense && !a.Cut && x.ran.Left == 0 { // it ends by itself
		d.limit, d.endless = d.limit+1, true
	}
	if err := d.layVerdict(x.ran.Values, len(x.ran.Steps)); err != nil {
		return nil, err
	}
	p, err := d.program()
	if err != nil {
		return nil, err
	}
	data, err := x.data()
	if err != nil {
		return nil, err
	}
	p.Segments = append(p.Segments, data)
	for _, a := range x.run.image.Arrays() {
		p.Symbols = append(p.Symbols, isa.Symbol{Name: a.Name, Addr: a.Addr})
	}
	slices.SortStableFunc(p.Symbols, func(a, b isa.Symbol) int { return int(int64(a.Addr) - int64(b.Addr)) })
	return p, nil
}

// data returns the segment of all arrays, including those that nothing is written to, as memory of hardware is not
// zeroed.
func (x *exporter) data() (isa.Segment, error) {
	from, to := uint64(math.MaxUint32), uint64(0)
	for _, a := range x.run.image.Arrays() {
		from, to = min(from, uint64(a.Addr)), max(to, uint64(a.Addr)+a.Bytes())
	}
	if to-emu.CodeBase > maxExport {
		return isa.Segment{}, fmt.Errorf("the image has %d bytes: expected at most %d; give a smaller graph",
			to-emu.CodeBase, maxExport)
	}
	data := make([]byte, to-from)
	for addr, w := range x.words {
		binary.LittleEndian.PutUint32(data[uint64(addr)-from:], w)
	}
	return isa.Segment{Addr: uint32(from), Data: data, Size: uint32(len(data))}, nil
}

// uses lists the instructions of a program that some configurations of Vortex lack.
func uses(p *isa.Program) (names []string) {
	for _, s := range p.Segments {
		for o := 0; s.Executable && o+4 <= len(s.Data); o += 4 {
			i, ok := isa.Decode(binary.LittleEndian.Uint32(s.Data[o:]))
			if !ok || !optional(i.Row) || slices.Contains(names, i.Row.Name) {
				continue
			}
			names = append(names, i.Row.Name)
		}
	}
	slices.Sort(names)
	return names
}
