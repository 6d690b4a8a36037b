package heddle

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"heddle/experiment"
	"heddle/internal/version"
	"heddle/sim"
)

// ExperimentOptions of a run. None changes a figure.
type ExperimentOptions struct {
	// Dir is where results are stored, each point as it ends, and from where a run that was interrupted goes on: by
	// convention results/NAME. "": results are in memory alone.
	Dir string
	// Fresh puts aside what Dir has; without it, results there of another experiment, graph or program are an error.
	// Retry runs points that have failed again.
	Fresh, Retry bool
	// Jobs is how many points run at the same time; 0: 1. Threads is how many of the host's processors simulate a
	// point; 0: run.threads of the experiment, or those that the points at the same time leave.
	Jobs, Threads int
	// MaxCycles ends a launch that takes more, TimeLimit a point that takes longer on the host: the point has failed
	// then; 0: there is no limit.
	MaxCycles uint64
	TimeLimit time.Duration
	// MemoryLimit ends the point begun last when the process has more bytes of memory; 0: there is no limit, and a
	// point that is expected to need more than the host has is an error before any is begun.
	MemoryLimit uint64
	// Check holds every message between units to the invariants that hold for any run; it costs host time.
	Check bool
	// Running is told now and then how far a point is, and Finished what it has come to; nil: nobody. They are called
	// from several goroutines if Jobs is above 1.
	Running  func(point int, cycle uint64)
	Finished func(point int, r PointResult)
}

// Run runs all points, but those that Dir has already, and goes on when one fails. The error is that of the first point
// that has failed, or why none was begun: a point that cannot run (the key is named), a directory that is another
// experiment's. Results are there, with what was done, unless no point was begun; ctx's end ends the run in order.
func (e *Experiment) Run(ctx context.Context, o ExperimentOptions) (*Results, error) {
	if o.Jobs < 0 || o.Threads < 0 || o.TimeLimit < 0 {
		return nil, fmt.Errorf("options Jobs %d, Threads %d, TimeLimit %v: expected none below 0", o.Jobs, o.Threads, o.TimeLimit)
	}
	jobs := max(1, o.Jobs)
	r := &experiment.Runner{
		Points: e.points, Jobs: jobs, Threads: o.Threads, MaxCycles: o.MaxCycles, Check: o.Check,
		TimeLimit: o.TimeLimit, MemoryLimit: o.MemoryLimit,
	}
	if r.Threads == 0 {
		r.Threads = e.loaded.Value.Run.Threads
	}
	computed := map[int]experiment.Outcome(nil)
	if o.Dir != "" && !o.Fresh {
		computed = experiment.Computed(o.Dir)
	}
	if err := r.Vet(ctx, e.loaded, computed); err != nil {
		return nil, err
	}
	if _, err := r.EstimateMemory(computed).Check(r.Points, experiment.NewRoom(o.MemoryLimit), jobs); err != nil {
		return nil, err
	}
	s := &runSession{options: &o, runner: r}
	if o.Dir != "" {
		r.Checkpoints = experiment.Checkpoints{
			Dir: filepath.Join(o.Dir, experiment.CheckpointDir), Every: time.Duration(e.loaded.Value.Run.Checkpoint * float64(time.Minute)),
			Binary: sync.OnceValue(func() string { return version.Text() + " " + version.Executable() }),
		}
		var err error
		if s.book, err = experiment.OpenBook(o.Dir, e.loaded, r, experiment.BookOptions{Fresh: o.Fresh, Retry: o.Retry, Steps: true, Jobs: jobs}); err != nil {
			return nil, err
		}
	}
	return s.run(ctx, e)
}

// runSession is a run: what it is told of its points goes to the directory and to who asked.
type runSession struct {
	options *ExperimentOptions
	runner  *experiment.Runner
	book    *experiment.Book // nil: there is no directory
	stop    context.CancelCauseFunc
}

func (s *runSession) run(ctx context.Context, e *Experiment) (*Results, error) {
	s.runner.Observer = s
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	outcomes := s.runner.Run(ctx)
	if s.book != nil {
		var err error
		if _, outcomes, err = s.book.End(outcomes); err != nil && !errors.As(err, new(*experiment.SummaryError)) { // all are stored
			return nil, err
		}
	}
	rows := s.runner.Rows(outcomes)
	results := newResults(e.Name(), version.Text(), rows)
	for i := range outcomes {
		results.Points[i].Err = outcomes[i].Err
	}
	return results, results.err()
}

// Started: a point begins.
func (s *runSession) Started(int, uint64) {}

// Running tells how far a point is.
func (s *runSession) Running(point int, p sim.Progress) {
	if s.options.Running != nil {
		s.options.Running(point, p.Cycle)
	}
}

// Finished stores what a point has come to, and tells of it.
func (s *runSession) Finished(o experiment.Outcome) {
	if s.book != nil {
		if err := s.book.Put(o); err != nil {
			s.stop(err)
		}
	}
	if s.options.Finished != nil {
		row := s.runner.Row(&o)
		r := newPointResult(&row)
		r.Err = o.Err
		s.options.Finished(o.Point, r)
	}
}

// ErrFailed is in the error of a run with points that have failed.
var ErrFailed = errors.New("not every point has a result")

// err is that of the first point that has failed.
func (r *Results) err() error {
	var first *PointResult
	failed := 0
	for i := range r.Points {
		if p := &r.Points[i]; p.Err != nil {
			if failed++; first == nil {
				first = p
			}
		}
	}
	if first == nil {
		return nil
	}
	return fmt.Errorf("%w: %d of %d: point %s: %w", ErrFailed, failed, len(r.Points), first.Label(), first.Err)
}
