package program

import (
	"context"

	"heddle/graph"
	"heddle/isa"
	"heddle/kernels/compose"
	"heddle/kernels/host"
	"heddle/kernels/workload"
)

// Runnable is a program that brings its own kernels and the host's part of a run: a *Program of the user's, or one that
// is written in Go, as that of package pagerank.
type Runnable interface {
	Name() string // in tables
	// Digest is the SHA-256 of the loaded image; "": the program is part of heddle.
	Digest() string
	// SourceLines returns the source lines of instructions; nil: unknown.
	SourceLines() *isa.Lines
	// Reference returns the built-in algorithm that computes the same result, whose demands on a graph apply; "": none.
	Reference() string
	// Edges returns the number of edges that a run on the graph handles; 0: not known in advance.
	Edges(g *graph.Graph, w workload.Workload) uint64
	// UnfencedBarriers describes barriers that the program must not rely on where a fence is missing; "": there are none.
	UnfencedBarriers() string
	// NotExported is the error for an export of the program.
	NotExported() error
	// Rehearse does everything that Start does, and returns the host memory that this takes.
	Rehearse(d host.Device, g *graph.Graph, w workload.Workload) (compose.Memory, error)
	// Start places the program and its inputs in a device's memory.
	Start(d host.Device, g *graph.Graph, w workload.Workload) (Running, error)
}

// Running is a program in a device's memory.
type Running interface {
	// Do runs all super-steps.
	Do(ctx context.Context) error
	// Outcome describes the run so far.
	Outcome() Outcome
	// Verify checks the result after Do; checked is false if there is no check.
	Verify(ctx context.Context, d Functional) (checked bool, err error)
	// Accessible returns the memory that the program may access; nil: any.
	Accessible() []graph.Region
}

// Outcome describes a run, complete or up to an error.
type Outcome struct {
	Launched []compose.Launched
	Steps    int  // super-steps completed
	Balanced bool // the distribution of edges over lanes is known
	Source   uint32
	Layout   []graph.Region
}

// KernelPrefix is the prefix under which launches of a user's program are recorded.
const KernelPrefix = "program/"

// Digest returns the SHA-256 of the loaded image.
func (p *Program) Digest() string { return p.SHA256 }

// SourceLines returns the source lines of instructions; nil: the file has none.
func (p *Program) SourceLines() *isa.Lines { return p.Lines }

// Reference returns the algorithm of workload.host.check.
func (p *Program) Reference() string { return p.spec.Check }

// Edges returns 0: a user's program need not traverse edges.
func (p *Program) Edges(*graph.Graph, workload.Workload) uint64 { return 0 }

// NotExported is the error for an export of the program, which is an image already.
func (p *Program) NotExported() error {
	return refuse("program", "is a program already: expected heddle")
}

// Start is NewRun.
func (p *Program) Start(d host.Device, g *graph.Graph, w workload.Workload) (Running, error) {
	return p.NewRun(d, g, w)
}

// Outcome returns the launches in the form in which those of all kinds of workload are booked.
func (r *Run) Outcome() Outcome {
	o := Outcome{Steps: r.Steps, Balanced: true, Source: r.Source, Layout: r.Layout}
	for i := range r.Launches {
		l := &r.Launches[i]
		o.Launched = append(o.Launched, compose.Launched{
			Step: l.Step, Kernel: KernelPrefix + l.Kernel, Result: l.Result,
			Traversal: &compose.Step{Gather: l.Result, Balance: l.Balance},
		})
	}
	return o
}
