package pagerank

import (
	"context"
	"fmt"
	"slices"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/program"
	"heddle/kernels/workload"
)

// Program is PageRank in assembly as a program beside those of the user's: workload.kernel handwritten.
type Program struct{ options Options }

// Open returns the program of a workload. An error names the workload's key: the kernels have no choices but the
// schedule.
func Open(w *workload.Workload) (*Program, error) {
	if !slices.Contains(Schedules(), Schedule(w.Schedule)) {
		return nil, refuse("there is none under schedule %s: expected vertex, edge or weaver", w.Schedule)
	}
	for _, key := range []struct {
		name       string
		found, has any
	}{
		{"recipe", w.Recipe, compose.NoRecipe}, {"algorithm", w.Algorithm, workload.PageRank},
		{"layout", w.Layout, workload.Layout(workload.Auto)}, {"direction", w.Direction, workload.Choice(workload.Auto)},
		{"frontier", w.ActiveSet, workload.Choice(workload.Auto)}, {"dedup", w.Dedup, workload.Choice(workload.Auto)},
		{"compiler.sum", w.Sum, workload.Choice("register")}, {"compiler.ahead", w.Ahead, true},
		{"direction.settled", w.Settled, false}, {"direction.rule", w.HybridRule, workload.Choice("beamer")},
		{"compiler.fusion", w.Fusion, workload.Choice("none")},
		{"compiler.coefficient", w.Coefficient, workload.Choice("hardware")},
		{"compiler.unroll", w.Unroll, workload.Choice("1")}, {"compiler.spill", w.Spill, workload.Choice("memory")},
		{"schedule.warps_per_core", w.WarpsPerCore, 0}, {"schedule.cta_threads", w.CTAThreads, 0},
		{"schedule.variant", w.Variant, workload.Choice("own")},
	} {
		if key.found != key.has {
			return nil, refuse("its %s is fixed: expected %v, found %v", key.name, key.has, key.found)
		}
	}
	return &Program{Options{
		Schedule: Schedule(w.Schedule), Damping: w.Damping, MaxIterations: max(1, w.Iterations),
		Tolerance: w.Tolerance, LaunchOverhead: uint64(w.LaunchOverhead),
	}}, nil
}

func refuse(format string, args ...any) error {
	return &compose.KeyError{Key: "workload.kernel", Msg: ": handwritten: " + fmt.Sprintf(format, args...)}
}

// Name returns the program's name in tables.
func (p *Program) Name() string { return "handwritten pagerank/" + string(p.options.Schedule) }

// Digest returns "": the program is part of heddle.
func (p *Program) Digest() string { return "" }

// SourceLines returns nil: the source is not among the user's files.
func (p *Program) SourceLines() *isa.Lines { return nil }

// Reference returns the built-in PageRank.
func (p *Program) Reference() string { return string(workload.PageRank) }

// UnfencedBarriers returns "": the kernels have no device-wide barriers.
func (p *Program) UnfencedBarriers() string { return "" }

// NotExported is the error for an export: only compiled kernels are exported.
func (p *Program) NotExported() error { return refuse("expected compiled, as only those are exported") }

// Edges returns all edges for each super-step, the number of which is known without a tolerance.
func (p *Program) Edges(g *graph.Graph, _ workload.Workload) uint64 {
	if p.options.Tolerance > 0 {
		return 0
	}
	return uint64(g.Edges()) * uint64(p.options.MaxIterations)
}

// Rehearse returns the memory of six arrays by vertex, the CSC, and under edge the targets of edges.
func (p *Program) Rehearse(_ host.Device, g *graph.Graph, _ workload.Workload) (compose.Memory, error) {
	vertices, edges := uint64(g.Vertices()), uint64(g.Edges())
	m := compose.Memory{Own: 6 * 4 * vertices, Derived: 4*vertices + 4*edges}
	if p.options.Schedule == Edge {
		m.Derived += 4 * edges
	}
	return m, nil
}

// Start places the kernels' arrays in a device's memory.
func (p *Program) Start(d host.Device, g *graph.Graph, _ workload.Workload) (program.Running, error) {
	return newRun(d, arrays(g, p.options.Schedule), g.CSR(), p.options)
}

// Do launches init, and then gather and apply until the ranks converge or the limit is reached.
func (r *run) Do(ctx context.Context) error { return host.Loop(ctx, host.Notified(r.host.Device), r) }

// Accessible returns nil: gathers of vertices read the word behind their arrays, and do not use it.
func (r *run) Accessible() []graph.Region { return nil }

// Outcome returns the launches so far.
func (r *run) Outcome() program.Outcome {
	o := program.Outcome{Steps: len(r.Steps), Layout: r.Layout}
	o.Launched = append(o.Launched, compose.Launched{Step: compose.InitStep, Kernel: compose.KernelInit, Result: r.Init})
	for i := range r.Steps {
		s, n := &r.Steps[i], i+1
		o.Launched = append(o.Launched,
			compose.Launched{Step: n, Kernel: compose.KernelGather, Result: s.Gather,
				Traversal: &compose.Step{Gather: s.Gather}},
			compose.Launched{Step: n, Kernel: compose.KernelApply, Result: s.Apply})
	}
	return o
}

// Verify compares ranks, and residuals if any, with the reference.
func (r *run) Verify(context.Context, program.Functional) (checked bool, err error) {
	return true, r.verify()
}
