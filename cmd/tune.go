package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"heddle/configs"
	"heddle/configs/schema"
	"heddle/internal/experiment"
	"heddle/internal/files"
	"heddle/internal/tune"
)

// tuneFlags are those of heddle tune.
type tuneFlags struct {
	runFlags
	only       []string
	units      bool
	exhaustive bool
	points     int
	budget     time.Duration
}

func newTune() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune EXPERIMENT",
		Short: "Search the choices of a kernel for the fastest on a graph, an algorithm and a machine",
		Long: `Search for the fastest of heddle's kernels for an experiment's algorithm, graph and
machine: over schedules, directions, active sets, layouts, dedup, order, scan, warps
of a core and sizes of thread blocks; the experiment's other keys hold. It begins with
each schedule and what suits it, changes one choice of each at a time as long as that
makes it faster, and ends when no change of one choice makes the best any faster. What
takes longer than the best so far is abandoned there. Every candidate's result is
checked, as heddle run does. In an experiment with a sample, candidates are estimated,
and those that may be the best are simulated whole in the end.

The search is the same on any host, whatever --jobs is. Candidates are stored as they
end, as points of results/<name>-tune; the same command goes on after an interruption.
best.yaml there runs the best beside what the experiment says, and tune.json
has what is printed.

` + exitHelp,
		Example: `  heddle tune my.yaml
  heddle tune quickstart --set workload.algorithm=bfs --only schedule=warp,cta,strict
  heddle tune my.yaml --points 40
  heddle tune my.yaml --budget 30m --json
  heddle run results/my-tune/best.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return f.tune(c, args[0]) },
	}
	f.add(c)
	fl := c.Flags()
	fl.BoolVar(&f.json, "json", false, "print tune.json instead of the tables")
	fl.StringArrayVar(&f.only, "only", nil, "search only those values of a choice, `KEY=VALUE,VALUE` (may be repeated)")
	fl.BoolVar(&f.units, "units", false, "search the schedules of the machine's graph unit too")
	fl.BoolVar(&f.exhaustive, "exhaustive", false, "simulate every candidate to its end")
	fl.IntVar(&f.points, "points", 0, "simulate at most that many candidates (0: no limit)")
	fl.DurationVar(&f.budget, "budget", 0, "begin no candidate after that time on the host, such as 30m (0: no limit)")
	return c
}

func (f *tuneFlags) tune(c *cobra.Command, name string) error {
	if f.points < 0 || f.budget < 0 {
		return errors.New("--points, --budget: expected what is not negative")
	}
	if err := f.check(); err != nil {
		return err
	}
	l, space, err := f.space(name)
	if err != nil {
		return err
	}
	settings := space.AllSettings()
	if l.Value.Sample.On() { // each once more, whole
		for _, s := range space.AllSettings() {
			settings = append(settings, append(s, experiment.Setting{Key: "sample.period", Value: "0"}))
		}
	}
	points, err := experiment.Candidates(l, f.overrides.set, settings)
	if err != nil {
		return err
	}
	f.share(c, l.Value.Run.Threads)
	r := f.runner(points)
	room := f.limitMemory()
	s, err := newSession(c, &f.runFlags, l, r, room)
	if err != nil {
		return err
	}
	defer inOrder(c.Context())()
	if !f.json {
		fmt.Fprintf(c.OutOrStdout(), "%s: %d candidates\n", l.Value.Name, len(space.Candidates))
	}
	t := &tuning{session: s, flags: f, search: &tune.Search{Space: space, First: space.Find(l.Value.Workload)}}
	return t.run(c, l)
}

// space lays out the candidates.
func (f *tuneFlags) space(name string) (*schema.Loaded[configs.Experiment], *tune.Space, error) {
	l, err := configs.LoadExperiment(name, os.Environ(), f.overrides.set)
	if err != nil {
		return nil, nil, err
	}
	e := &l.Value
	if len(e.Compare)+len(e.Sweep)+len(e.Seeds) > 0 {
		return nil, nil, errors.New("compare, sweep, seeds: expected none: heddle tune lays out the points (--set compare={} --set sweep={} --set seeds=[])")
	}
	if w := &e.Workload; w.HasProgram() || w.Trace != "" || w.Kernel != configs.Compiled || w.Recipe != "none" {
		return nil, nil, errors.New("workload: expected heddle's compiled kernels, without program, trace and recipe, since their choices are what is searched")
	}
	e.Name += "-tune"
	axes := tune.Axes(&e.Machine, f.units)
	for _, o := range f.only {
		if err := tune.Restrict(axes, o); err != nil {
			return nil, nil, err
		}
	}
	space, err := tune.NewSpace(e.Workload, &e.Machine, axes)
	return l, space, err
}

// tuning is one search, and the session that keeps what it finds.
type tuning struct {
	*session
	flags  *tuneFlags
	search *tune.Search
}

func (t *tuning) run(c *cobra.Command, l *schema.Loaded[configs.Experiment]) error {
	ctx, stop := context.WithCancelCause(c.Context())
	defer stop(nil)
	t.stop = stop
	t.search.Evaluate = t.evaluate
	if n := len(t.search.Space.Candidates); l.Value.Sample.On() {
		t.search.Exact = func(ctx context.Context, list []int, most uint64) ([]tune.Trial, error) {
			var whole []int
			for _, i := range list {
				whole = append(whole, n+i)
			}
			trials, err := t.evaluate(ctx, whole, most)
			for i := range trials {
				trials[i].Candidate -= n
			}
			return trials, err
		}
	}
	t.search.Budget.Points = t.flags.points
	if t.flags.budget > 0 {
		end := time.Now().Add(t.flags.budget)
		t.search.Budget.Spent = func() bool { return time.Now().After(end) }
	}
	find := t.search.Run
	if t.flags.exhaustive {
		find = t.search.All
	}
	_, err := find(ctx)
	t.watch.Close()
	if _, endErr := t.end(nil); endErr != nil {
		return endErr
	}
	if err != nil {
		return err
	}
	return t.show(c, l)
}

// evaluate simulates candidates, or takes what is stored of them.
func (t *tuning) evaluate(ctx context.Context, list []int, most uint64) ([]tune.Trial, error) {
	var todo []int
	for _, i := range list {
		if _, ok := t.trial(i, most); !ok {
			todo = append(todo, i)
		}
	}
	if len(todo) > 0 {
		t.runner.Abandon = func(int) uint64 { return most }
		outcomes := t.runner.RunSome(ctx, todo)
		if err := context.Cause(ctx); err != nil {
			return nil, failed(err)
		}
		for _, i := range todo {
			if err := outcomes[i].Err; err != nil && experiment.Class(err) != experiment.Limit {
				return nil, t.failure(i, err)
			}
		}
	}
	var trials []tune.Trial
	for _, i := range list {
		trial, _ := t.trial(i, 0)
		trials = append(trials, trial)
	}
	return trials, nil
}

// trial returns the result so far of a candidate; ok reports whether it settles if the candidate has more cycles than most.
func (t *tuning) trial(i int, most uint64) (trial tune.Trial, ok bool) {
	o := t.book.Outcome(i)
	trial = tune.Trial{Candidate: i, Cycles: o.Cycles, Half: o.Half}
	switch {
	case o.Counts():
		return trial, true
	case experiment.Class(o.Err) != experiment.Limit:
		return trial, false
	}
	trial.Abandoned = true
	return trial, most > 0 && o.Cycles >= most
}

// show writes what has been found.
func (t *tuning) show(c *cobra.Command, l *schema.Loaded[configs.Experiment]) error {
	o, found := t.search.Outcome()
	if !found {
		return &codeError{exitFailed, errors.New("no candidate has a result")}
	}
	var b bytes.Buffer
	if err := printJSON(&b, o); err != nil {
		return err
	}
	text := b.Bytes()
	best := l.Value
	best.Compare = o.Compare()
	if t.search.Exact != nil {
		best.Sample = configs.Sample{}
	}
	if err := errors.Join(
		files.Write(filepath.Join(t.dir, "tune.json"), text),
		files.Write(filepath.Join(t.dir, "best.yaml"), configs.ExperimentSchema.YAML(best)),
	); err != nil {
		return err
	}
	if t.flags.json {
		_, err := c.OutOrStdout().Write(text)
		return err
	}
	o.Write(c.OutOrStdout())
	fmt.Fprintf(c.OutOrStdout(), "heddle run %s runs the best beside the first\n", filepath.Join(t.dir, "best.yaml"))
	return nil
}
