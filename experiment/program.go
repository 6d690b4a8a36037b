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
	"heddle/kernels/workload"
)

// Unchecked is the verdict on the result of a user's program that has no check.
const Unchecked = "not checked"

// programKernel is the prefix under which launches of a user's program are recorded.
const programKernel = "program/"

// ownProgramWork runs a program of the user's.
type ownProgramWork struct{ base }

func (o ownProgramWork) label() string    { return "program " + o.workload().Program }
func (o ownProgramWork) identity() string { return o.workload().Host.SHA256 }
func (o ownProgramWork) costKey() string  { return programCostKey(o.workload()) }

// programCostKey differs between programs and their versions, whose rates are unrelated.
func programCostKey(w *workload.Workload) string {
	return fmt.Sprint(w.Kind(), " ", w.Program, " ", w.Host.SHA256)
}

func (o ownProgramWork) check() (string, error) {
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return "", err
	}
	return p.SHA256, nil
}

// limits: a program has no choices to search, and needs no export.
func (o ownProgramWork) limits() (limits, error) { return programLimits(), nil }

// programLimits returns the limits that all programs share.
func programLimits() limits {
	return limits{tune: errSearched, export: keyError("workload.program", ": is a program already: expected heddle")}
}

func (o ownProgramWork) graph() graphUse {
	w := o.workload()
	if w.Host.Check != "" {
		return o.graphFor(w.Host.Check)
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

func (o ownProgramWork) lines() *isa.Lines {
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return nil // the run has reported it
	}
	return p.Lines
}

// notes names device-wide barriers without a fence, on machines where they need one.
func (o ownProgramWork) notes() []string {
	if !o.e.Machine.BarriersSignal() {
		return nil
	}
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return nil // the run reports it
	}
	if note := p.UnfencedBarriers(); note != "" {
		return []string{note}
	}
	return nil
}

func (o ownProgramWork) rehearse(
	ctx context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph,
) (compose.Memory, error) {
	p, err := o.programs.Open(ctx, o.workload())
	if err != nil {
		return compose.Memory{}, err
	}
	return p.Rehearse(d, g, *o.workload())
}

// untimed: a check kernel is launched after the region and not counted.
func (o ownProgramWork) untimed() bool { return o.workload().Host.CheckKernel != "" }

func (o ownProgramWork) run(ctx context.Context, d *counted, g *graph.Graph) (r workResult, err error) {
	p, err := o.programs.Open(ctx, o.workload())
	if err != nil {
		return r, err
	}
	run, err := p.NewRun(d, g, *o.workload())
	if err != nil {
		return r, err
	}
	if d.check {
		d.bounds = checkBounds(d.machine, run.Accessible(), p.Lines)
	}
	err = run.Do(ctx)
	r = workResult{
		launched: run.Launched(), prefix: programKernel, steps: run.Steps, seen: balanceStatistics,
		source: g.AsRead(run.Source),
		layout: run.Layout,
	}
	if err != nil {
		return r, inSource(err, p.Lines)
	}
	d.end() // launches that check the result are not counted
	checked, err := run.Verify(ctx, d)
	err = inSource(err, p.Lines)
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
