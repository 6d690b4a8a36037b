package experiment

import (
	"context"
	"errors"
	"fmt"

	"heddle/graph"
	"heddle/isa"
	"heddle/isa/emu"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/pagerank"
	"heddle/kernels/program"
	"heddle/kernels/workload"
)

// Unchecked is the verdict on the result of a user's program that has no check.
const Unchecked = "not checked"

// ownProgramWork runs a program that brings its own kernels: one of the user's, or PageRank in assembly.
type ownProgramWork struct{ base }

// open returns the program that the workload names.
func (o ownProgramWork) open(ctx context.Context) (program.Runnable, error) {
	w := o.workload()
	if w.Program == workload.OwnKernel {
		return pagerank.Open(w)
	}
	if w.Kernel != workload.Compiled {
		return nil, keyError("workload.kernel", " = %s: there is no such kernel beside workload.program %s, which brings "+
			"its own: expected compiled, the default", w.Kernel, w.Program)
	}
	p, err := o.programs.Open(ctx, w)
	if err != nil { // not a nil *Program in the interface
		return nil, err
	}
	return p, nil
}

// opened returns the program after check has succeeded; nil: it has changed since, which the run reports.
func (o ownProgramWork) opened() program.Runnable {
	p, err := o.open(context.Background())
	if err != nil {
		return nil
	}
	return p
}

func (o ownProgramWork) label() string {
	if p := o.opened(); p != nil {
		return p.Name()
	}
	return "program " + o.workload().Program
}

func (o ownProgramWork) identity() string { return o.workload().Host.SHA256 }

func (o ownProgramWork) costKey() string { return programCostKey(o.workload()) }

// programCostKey differs between programs and their versions, whose rates are unrelated.
func programCostKey(w *workload.Workload) string {
	return fmt.Sprint(w.Kind(), " ", w.Program, " ", w.Host.SHA256)
}

func (o ownProgramWork) check() (string, error) {
	p, err := o.open(context.Background())
	if err != nil {
		return "", err
	}
	return p.Digest(), nil
}

// limits: a program has no choices to search.
func (o ownProgramWork) limits() (limits, error) {
	p, err := o.open(context.Background())
	if err != nil {
		return limits{tune: errSearched}, err
	}
	return limits{tune: errSearched, export: p.NotExported()}, nil
}

func (o ownProgramWork) graph() graphUse {
	w, p := o.workload(), o.opened()
	if p != nil && p.Reference() != "" {
		return o.graphFor(p.Reference())
	}
	if o.e.Graph.File != "" || w.Source >= 0 || w.Host.CheckFile != "" {
		return thisGraph
	}
	return anyGraph
}

func (o ownProgramWork) superSteps() uint64 {
	if o.workload().Host.Until != "" {
		return 1
	}
	return uint64(max(1, o.workload().Iterations))
}

func (o ownProgramWork) edges(g *graph.Graph) uint64 {
	if p := o.opened(); p != nil {
		return p.Edges(g, *o.workload())
	}
	return 0
}

func (o ownProgramWork) lines() *isa.Lines {
	if p := o.opened(); p != nil {
		return p.SourceLines()
	}
	return nil
}

// notes names device-wide barriers without a fence, on machines where they need one.
func (o ownProgramWork) notes() []string {
	if !o.e.Machine.BarriersSignal() {
		return nil
	}
	if p := o.opened(); p != nil && p.UnfencedBarriers() != "" {
		return []string{p.UnfencedBarriers()}
	}
	return nil
}

func (o ownProgramWork) rehearse(
	ctx context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph,
) (compose.Memory, error) {
	p, err := o.open(ctx)
	if err != nil {
		return compose.Memory{}, err
	}
	return p.Rehearse(d, g, *o.workload())
}

// functional: a check kernel is launched after the region and not counted.
func (o ownProgramWork) functional() bool { return o.workload().Host.CheckKernel != "" }

func (o ownProgramWork) run(ctx context.Context, d *counted, g *graph.Graph) (r workResult, err error) {
	p, err := o.open(ctx)
	if err != nil {
		return r, err
	}
	run, err := p.Start(d, g, *o.workload())
	if err != nil {
		return r, err
	}
	if accessible := run.Accessible(); d.check && accessible != nil {
		d.bounds = checkBounds(d.machine, accessible, p.SourceLines())
	}
	err = run.Do(ctx)
	done := run.Outcome()
	r = workResult{launched: done.Launched, steps: done.Steps, source: g.AsRead(done.Source), layout: done.Layout}
	if done.Balanced {
		r.seen = balanceStatistics
	}
	if err != nil {
		return r, inSource(err, p.SourceLines())
	}
	d.end() // launches that check the result are not counted
	checked, err := run.Verify(ctx, d)
	err = inSource(err, p.SourceLines())
	r.verified, r.unchecked = checked && err == nil, !checked
	return r, err
}

// inSource adds the source line of a trap's instruction to its error, if it is known.
func inSource(err error, lines *isa.Lines) error {
	var trap *emu.Trap
	if !errors.As(err, &trap) {
		return err
	}
	if file, line, ok := lines.At(trap.PC); ok {
		return fmt.Errorf("%s:%d: %w", file, line, err)
	}
	return err
}

// ProgramLines returns the source lines of the instructions of a user's program; nil: none, or without line
// information.
func (p *Point) ProgramLines() *isa.Lines { return p.work().lines() }
