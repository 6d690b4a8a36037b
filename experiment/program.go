package experiment

import (
	"context"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/program"
	"heddle/kernels/workload"
	"heddle/sim/stats"
)

// Unchecked is the verdict on a result that nothing checks: that of a user's program without a check.
const Unchecked = "not checked"

// programKernel begins the names by which launches of a program's kernels are booked.
const programKernel = "program/"

// checkProgram refuses programs that cannot be run, and writes down which it is.
func checkProgram(w *workload.Workload, programs *programs) error {
	p, err := programs.Open(context.Background(), w)
	if err == nil {
		w.Host.SHA256 = p.SHA256
	}
	return err
}

// ProgramLines are those that a program of the user's own says of its instructions; nil: there is none, or it does not
// say.
func (p *Point) ProgramLines() *isa.Lines {
	if w := &p.Config.Workload; !w.HasProgram() || w.IsGraphIt() {
		return nil
	}
	own, err := p.programs.Open(context.Background(), &p.Config.Workload)
	if err != nil {
		return nil // the run has said so
	}
	return own.Lines
}

// unfenced names programs of the user's own with device-wide barriers that lack a fence, on machines where they need one.
func unfenced(points []Point) (notes []string) {
	for i := range points {
		p := &points[i]
		w := &p.Config.Workload
		if !w.HasProgram() || w.IsGraphIt() || !p.Config.Machine.BarriersSignal() {
			continue
		}
		own, err := p.programs.Open(context.Background(), w)
		if err != nil {
			continue // the run says it
		}
		if note := own.UnfencedBarriers(); note != "" && !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	return notes
}

// program runs a program of the user's own, and books what is of the region.
func (r *result) program(ctx context.Context, d *counted, g *graph.Graph, w *workload.Workload, programs *programs) error {
	p, err := programs.Open(ctx, w)
	if err != nil {
		return err
	}
	run, err := p.NewRun(d, g, *w)
	if err != nil {
		return err
	}
	r.layout = run.Layout
	err = run.Do(ctx)
	r.bookProgram(g, &run.Result)
	if err != nil {
		return err
	}
	d.end() // what checks the result counts nowhere
	checked, err := run.Verify(ctx, d)
	r.verified, r.unchecked = checked && err == nil, !checked
	return err
}

// bookProgram books the launches of a program that are of the region.
func (r *result) bookProgram(g *graph.Graph, res *program.Result) {
	var counted []program.Launch
	steps := map[int]bool{}
	for i := range res.Launches {
		l := &res.Launches[i]
		r.step(l.Step, programKernel+l.Kernel, &l.Result, spread(1, func(int) (uint64, compose.Balance) { return l.Result.Edges, l.Balance })...)
		if inside(r.region, l.Step) {
			counted = append(counted, *l)
			steps[l.Step] = l.Step > 0
		}
	}
	delete(steps, initStep)
	r.ran, r.superSteps = res.Steps, len(steps)
	r.software = withSource(
		append(stats.Tree{}, spread(len(counted), func(i int) (uint64, compose.Balance) { return counted[i].Result.Edges, counted[i].Balance })...),
		g.AsRead(res.Source))
}
