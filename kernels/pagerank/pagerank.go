// Package pagerank is a program like a user's own (package program): PageRank with hand-written kernels, one gather for
// each schedule, which verifies its result. Compiled kernels are measured by it.
//
// A run launches init once, and gather and apply in every super-step. All schedules have the same init and apply; only
// gather differs:
//
//	init    rank[v] = 1/n; contribution[v] = rank[v]/outdegree[v]
//	gather  sum[v] = Σ contribution[u] over the in-edges u → v
//	apply   rank[v] = (1-d)/n + d·sum[v]; contribution[v] = rank[v]/outdegree[v]
//
// The rank of a vertex without out-edges is not redistributed, as in GAP and GraphIt.
package pagerank

import (
	"context"
	"fmt"

	"heddle/graph"
	"heddle/kernels/host"
	"heddle/kernels/reference"
	"heddle/sim"
)

// inEdges are the arrays that a gather reads.
type inEdges struct {
	offsets   []uint32 // v's in-edges are offsets[v] to offsets[v+1]; one more than vertices
	sources   []uint32 // the source of each in-edge
	targets   []uint32 // the target of each, ascending; nil if the schedule does not need it
	outDegree []uint32
}

func (in *inEdges) vertices() int { return len(in.outDegree) }

// arrays returns the layout that a schedule needs.
func arrays(g *graph.Graph, s Schedule) inEdges {
	csc := g.CSC()
	in := inEdges{offsets: csc.Offsets, sources: csc.IDs, outDegree: make([]uint32, g.Vertices())}
	for u := range in.outDegree {
		in.outDegree[u] = uint32(g.CSR().Degree(u))
	}
	if s == Edge {
		in.targets = g.COOByDestination().Destinations
	}
	return in
}

// Options of a run.
type Options struct {
	Schedule       Schedule
	Damping        float64 // d, 0..1
	MaxIterations  int     // super-steps, at least 1
	Tolerance      float64 // converged when Σ|change of a rank| is at most this; 0: never, and it is not computed
	LaunchOverhead uint64  // host cycles per launch
}

// DefaultOptions returns 20 super-steps with GAP's damping, and an overhead of about 2 µs.
func DefaultOptions(s Schedule) Options {
	return Options{Schedule: s, Damping: 0.85, MaxIterations: 20, LaunchOverhead: 2000}
}

func (o *Options) validate() error {
	switch {
	case !(o.Damping >= 0 && o.Damping <= 1):
		return fmt.Errorf("pagerank: damping = %g: expected 0..1", o.Damping)
	case o.MaxIterations < 1:
		return fmt.Errorf("pagerank: max_iterations = %d: expected at least 1", o.MaxIterations)
	case !(o.Tolerance >= 0):
		return fmt.Errorf("pagerank: tolerance = %g: expected 0 or more", o.Tolerance)
	}
	return nil
}

// Step is one super-step.
type Step struct {
	Gather, Apply sim.Result
	Residual      float64 // Σ|change of a rank|, if there is a tolerance
}

// Cycles returns the cycles of the super-step's launches.
func (s *Step) Cycles() uint64 { return s.Gather.Cycles + s.Apply.Cycles }

// Result is the result of a run.
type Result struct {
	Ranks     []float32
	Init      sim.Result
	Steps     []Step
	Converged bool
	Verified  bool // the ranks, and residuals if any, agree with the reference
	Times     host.Times
	Layout    []graph.Region // where its arrays were
}

// Run computes PageRank. The error is a wrong option, a failed launch's, ctx's, or reference.ErrWrong; the result then
// covers the super-steps so far.
func Run(ctx context.Context, d host.Device, g *graph.Graph, o Options) (Result, error) {
	r, err := newRun(d, arrays(g, o.Schedule), g.CSR(), o)
	if err != nil {
		return Result{}, err
	}
	err = r.Do(ctx)
	if err == nil {
		err = r.verify()
	}
	r.Times = r.host.Times
	return r.Result, err
}

// run is the state of one run.
type run struct {
	Result
	host     host.Session
	in       inEdges          `checkpoint:"assembled"` // the kernels' input
	out      *graph.Adjacency `checkpoint:"assembled"` // the reference's input
	options  Options
	programs programs     `checkpoint:"assembled"`
	image    *graph.Image `checkpoint:"assembled"`
	args     block
	argsAt   uint32
}

// newRun places everything in the device's memory.
func newRun(d host.Device, in inEdges, out *graph.Adjacency, o Options) (*run, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	r := &run{host: host.Session{Device: d, Overhead: o.LaunchOverhead}, in: in, out: out, options: o}
	var err error
	if r.programs, err = assemble(o.Schedule, d.Shape(), o.Tolerance > 0); err != nil {
		return nil, err
	}
	r.image = graph.NewImage(graph.ArrayBase, d.Shape().LineBytes, r.programs.reserved(d.Shape().Lanes())...)
	if err := r.layout(); err != nil {
		return nil, fmt.Errorf("pagerank: %w", err)
	}
	for _, a := range r.image.Arrays() {
		r.Layout = append(r.Layout, graph.Region{Name: a.Name, Addr: a.Addr, Size: a.Bytes()})
	}
	r.image.Write(d)
	return r, nil
}

// Begin launches init.
func (r *run) Begin(ctx context.Context) (err error) {
	r.Init, err = r.host.Launch(ctx, r.programs.init, r.argsAt)
	return err
}

// Over reports whether the ranks have converged or the limit is reached.
func (r *run) Over() (bool, error) {
	return r.Converged || len(r.Steps) >= r.options.MaxIterations, nil
}

// Next returns the number of the next super-step.
func (r *run) Next() int { return len(r.Steps) + 1 }

// Step runs one super-step.
func (r *run) Step(ctx context.Context) error {
	n := r.Next()
	if err := r.step(ctx); err != nil {
		return fmt.Errorf("super-step %d: %w", n, err)
	}
	return nil
}

func (r *run) step(ctx context.Context) (err error) {
	var s Step
	if s.Gather, err = r.host.Launch(ctx, r.programs.gather, r.argsAt); err != nil {
		return err
	}
	r.host.WriteWords(r.args[argChange], []uint32{0}) // the word that apply adds to
	if s.Apply, err = r.host.Launch(ctx, r.programs.apply, r.argsAt); err != nil {
		return err
	}
	if r.options.Tolerance > 0 {
		s.Residual = float64(r.host.Floats(r.args[argChange], 1)[0])
		r.Converged = s.Residual <= r.options.Tolerance
	}
	r.Steps = append(r.Steps, s)
	return nil
}

// verify compares with the reference.
func (r *run) verify() error {
	r.Ranks = r.host.Floats(r.args[argRank], r.in.vertices())
	c := reference.NewPageRankCheck(r.out, r.options.Damping)
	for i, s := range r.Steps {
		c.Step()
		if n := uint64(len(r.out.IDs)); s.Gather.Edges != n {
			return fmt.Errorf("%w: the gather of super-step %d handled %d edges, and the graph has %d",
				reference.ErrWrong, i+1, s.Gather.Edges, n)
		}
		if r.options.Tolerance == 0 {
			continue
		}
		if err := c.CompareResidual(float32(s.Residual)); err != nil {
			return err
		}
	}
	err := c.Compare(r.Ranks)
	r.Verified = err == nil
	return err
}
