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

// ExperimentOptions configure a run. None of them changes a result.
type ExperimentOptions struct {
	// Dir is the directory for results, written as each point ends; an interrupted run resumes from it. By convention
	// results/NAME. "": results are kept only in memory.
	Dir string
	// Results are folders with directories of other experiments, such as results: verified results of points there are
	// copied instead of simulated. Dir itself is always searched, also for points of an earlier form of the experiment.
	Results []string
	// Fresh moves existing results in Dir aside, and simulates all points. Retry runs failed points again.
	Fresh, Retry bool
	// Jobs is the number of points that run concurrently; 0: 1. Threads is the number of host threads per point; 0:
	// run.threads of the experiment, or the processors divided among the concurrent points.
	Jobs, Threads int
	// MaxCycles fails a point with a launch that exceeds it, TimeLimit a point that takes longer on the host; 0:
	// unlimited.
	MaxCycles uint64
	TimeLimit time.Duration
	// MemoryLimit, in bytes of process memory, ends the most recently started point when exceeded; 0: unlimited, and a
	// point expected to need more memory than the host has is an error before any point starts.
	MemoryLimit uint64
	// Check verifies invariants on every message between units; it costs host time.
	Check bool
	// Running is called periodically with a point's progress, and Finished with its outcome; nil: not called. They are
	// called from several goroutines if Jobs is above 1.
	Running  func(point int, cycle uint64)
	Finished func(point int, r PointResult)
}

// Run runs all points that Dir does not have yet, and continues after a failed one. The error is that of the first
// failed point, or the reason why none was started: a point that cannot run (the error names the key). Results are
// returned, as far as they go, unless no point was started; cancelling ctx ends the run in an orderly way.
func (e *Experiment) Run(ctx context.Context, o ExperimentOptions) (*Results, error) {
	if o.Jobs < 0 || o.Threads < 0 || o.TimeLimit < 0 {
		return nil, fmt.Errorf("options Jobs %d, Threads %d, TimeLimit %v: expected none below 0", o.Jobs, o.Threads,
			o.TimeLimit)
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
	search := experiment.Search{Folders: o.Results}
	if o.Dir != "" && !o.Fresh {
		known, err := r.Find(o.Dir, search, version.Model())
		if err != nil {
			return nil, err
		}
		computed = known.Computed()
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
			Dir:    filepath.Join(o.Dir, experiment.CheckpointDir),
			Every:  time.Duration(e.loaded.Value.Run.Checkpoint * float64(time.Minute)),
			Binary: sync.OnceValue(func() string { return version.Text() + " " + version.Executable() }),
		}
		var err error
		if s.book, err = experiment.OpenBook(o.Dir, e.loaded, r,
			experiment.BookOptions{Fresh: o.Fresh, Retry: o.Retry, Search: search, Steps: true,
				Jobs: jobs}); err != nil {
			return nil, err
		}
	}
	return s.run(ctx, e)
}

// runSession is a run: it passes the outcomes of its points to the directory and to the caller.
type runSession struct {
	options *ExperimentOptions
	runner  *experiment.Runner
	book    *experiment.Book // nil: no directory
	stop    context.CancelCauseFunc
}

func (s *runSession) run(ctx context.Context, e *Experiment) (*Results, error) {
	s.runner.Observer = s
	ctx, s.stop = context.WithCancelCause(ctx)
	defer s.stop(nil)
	outcomes := s.runner.Run(ctx)
	if s.book != nil {
		var err error
		// all are stored
		if _, outcomes, err = s.book.End(outcomes); err != nil && !errors.As(err, new(*experiment.SummaryError)) {
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

// Started is called when a point begins.
func (s *runSession) Started(int, uint64) {}

// Running reports a point's progress.
func (s *runSession) Running(point int, p sim.Progress) {
	if s.options.Running != nil {
		s.options.Running(point, p.Cycle)
	}
}

// Finished stores and reports a point's outcome.
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

// ErrFailed is wrapped by the error of a run with failed points.
var ErrFailed = errors.New("not every point has a result")

// err returns the error of the first failed point.
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
