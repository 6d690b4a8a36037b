package experiment

import (
	"context"
	"fmt"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Unchecked is the verdict on a result that nothing checks: that of a user's program without a check.
const Unchecked = "not checked"

// programKernel begins the names by which launches of a program's kernels are booked.
const programKernel = "program/"

// ownProgram is a program of the user's own.
type ownProgram struct{ base }

func (o ownProgram) label() string    { return "program " + o.workload().Program }
func (o ownProgram) identity() string { return o.workload().Host.SHA256 }
func (o ownProgram) costKey() string  { return programCostKey(o.workload()) }

// programCostKey tells programs apart: the rate of one says nothing about another, nor that of another version.
func programCostKey(w *workload.Workload) string {
	return fmt.Sprint(w.Kind(), " ", w.Program, " ", w.Host.SHA256)
}

func (o ownProgram) check() (string, error) {
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return "", err
	}
	return p.SHA256, nil
}

// limits: a program is no choice of kernels.
func (o ownProgram) limits() (limits, error) { return programLimits(), nil }

// programLimits are those of all programs.
func programLimits() limits {
	return limits{tune: errSearched, export: keyError("workload.program", ": is a program already: expected heddle")}
}

func (o ownProgram) graph() graphUse {
	w := o.workload()
	if w.Host.Check != "" {
		return o.graphFor(w.Host.Check)
	}
	if o.e.Graph.File != "" || w.Source >= 0 || w.Host.CheckFile != "" {
		return thisGraph
	}
	return anyGraph
}

func (o ownProgram) superSteps() uint64 {
	if o.workload().Host.Until != "" {
		return 1
	}
	return uint64(max(1, o.workload().Iterations))
}

func (o ownProgram) lines() *isa.Lines {
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return nil // the run has said so
	}
	return p.Lines
}

// notes name device-wide barriers that lack a fence, on machines where they need one.
func (o ownProgram) notes() []string {
	if !o.e.Machine.BarriersSignal() {
		return nil
	}
	p, err := o.programs.Open(context.Background(), o.workload())
	if err != nil {
		return nil // the run says it
	}
	if note := p.UnfencedBarriers(); note != "" {
		return []string{note}
	}
	return nil
}

func (o ownProgram) rehearse(
	ctx context.Context, _ *vetting, d *host.Rehearsal, g *graph.Graph,
) (compose.Memory, error) {
	p, err := o.programs.Open(ctx, o.workload())
	if err != nil {
		return compose.Memory{}, err
	}
	return p.Rehearse(d, g, *o.workload())
}

// untimed: a check of the program's own counts nowhere.
func (o ownProgram) untimed() bool { return o.workload().Host.CheckKernel != "" }

func (o ownProgram) run(ctx context.Context, d *counted, g *graph.Graph) (r ran, err error) {
	p, err := o.programs.Open(ctx, o.workload())
	if err != nil {
		return r, err
	}
	run, err := p.NewRun(d, g, *o.workload())
	if err != nil {
		return r, err
	}
	err = run.Do(ctx)
	r = ran{
		launched: run.Launched(), prefix: programKernel, steps: run.Steps, seen: balance, source: g.AsRead(run.Source),
		layout: run.Layout,
	}
	if err != nil {
		return r, err
	}
	d.end() // what checks the result counts nowhere
	checked, err := run.Verify(ctx, d)
	r.verified, r.unchecked = checked && err == nil, !checked
	return r, err
}

// ProgramLines are those that a program of the user's own says of its instructions; nil: there is none, or it does not
// say.
func (p *Point) ProgramLines() *isa.Lines { return p.work().lines() }
